"""The figure of a paper: which images it shows, how large it is, what is written in it, and what it refuses."""

import re

import numpy as np
import pytest
from cases import write_folder
from click.testing import CliRunner
from PIL import Image
from refusing import refused
from volumes_written import write_nifti

import segbench
from segbench.cli.commands import app
from segbench.protocols.states import State
from segbench.report.figure.cells import as_large
from segbench.report.figure.drawing import LEAST, axes_for, draw_grid
from segbench.report.figure.files import LARGEST, save_figure
from segbench.report.figure.grid import FigureSettings, grid_of
from segbench.report.figure.tiles import save_tiles
from segbench.report.photographs import photographs

NAMES = ("a", "b", "c", "d")
WRONG = {"good": (0, 2, 4, 6), "poor": (40, 2, 60, 6)}
"""Pixels of the 100 positive ones that a method misses, by image."""


def square(missed=0):
    mask = np.zeros((30, 40), np.uint8)
    mask[10:20, 10:20] = 255
    mask[10:20, 10:20].flat[:missed] = 0
    return mask


@pytest.fixture(name="results")
def counted(tmp_path):
    write_folder(tmp_path / "gt", {f"{name}.png": square() for name in NAMES})
    for method, missed in WRONG.items():
        write_folder(tmp_path / method, {f"{name}.png": square(k) for name, k in zip(NAMES, missed, strict=True)})
    photos = np.random.default_rng(1).integers(0, 256, (30, 40, 3), np.uint8)
    write_folder(tmp_path / "photos", {f"{name}.png": photos for name in NAMES})
    methods = {method: tmp_path / method for method in WRONG}
    return [
        segbench.evaluate(tmp_path / "gt", folder, "pixels", method=method, results=tmp_path / "r.segbench")
        for method, folder in methods.items()
    ]


def run(tmp_path, *options):
    place = str(tmp_path / "r.segbench")
    output = [] if "-o" in options else ["-o", str(tmp_path / "f.pdf")]
    return CliRunner().invoke(app, ["figure", place, *output, *options])


def test_rows_are_chosen_by_the_mean_and_by_the_deviation_over_methods(results):
    def chosen(rows):
        return list(dict.fromkeys(view.image for view in grid_of(results, FigureSettings(rows=rows)).views))

    # Mean F is least where most is missed, c before a; d follows with 6 pixels in both; b has 2.
    assert chosen("worst:3") == ["c", "a", "d"]
    assert chosen("best:2") == ["b", "d"]
    assert chosen("disagree:4") == ["c", "a"]  # methods agree on the others
    assert chosen("worst:1,disagree:1,best:1") == ["c", "a", "b"]
    assert chosen("d,worst:1") == ["d", "c"]
    assert chosen(["b", "a"]) == ["b", "a"]


def test_the_rule_is_a_sentence_for_the_caption(tmp_path, results):
    done = run(tmp_path, "--rows", "worst:1,disagree:1")
    assert done.exit_code == 0
    sentence = (
        "Images: the image with the lowest mean F over 2 methods; the image with the largest standard deviation of F "
        "over 2 methods; F of each image at its own best threshold."
    )
    assert sentence in done.stdout
    caption = (tmp_path / "f.txt").read_text()
    assert sentence in caption
    assert "on 2 of 4 images" in caption
    assert "From above: c, a." in caption
    assert f"Signature of good, poor: {results[0].signature}" in caption
    assert "Alternative text: Grid of pictures. The columns are Ground truth, good, poor." in caption
    assert caption.endswith("Colours: blue: true; orange: missed.\n")


def test_an_image_that_is_undefined_for_a_method_is_left_out(tmp_path):
    empty = np.zeros((30, 40), np.uint8)
    write_folder(tmp_path / "gt", {"a.png": square(), "b.png": square(), "none.png": empty})
    write_folder(tmp_path / "pred", {"a.png": square(3), "b.png": square(), "none.png": empty})
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", segbench.Pixels(positive="255"))
    grid = grid_of(result, FigureSettings(rows="worst:3"))
    assert [view.image for view in grid.views] == ["a", "b"]
    assert "of 3 images 1 on which a method is undefined left out" in grid.caption[1]


@pytest.mark.usefixtures("results")
def test_the_width_is_that_of_the_venue_and_the_height_follows_from_the_images(tmp_path):
    for width, inches in (("cvpr-column", 3.25), ("lncs", 4.8), ("5", 5.0)):
        run(tmp_path, "--width", width, "--rows", "worst:2")
        box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", (tmp_path / "f.pdf").read_bytes())
        across, down = (float(points) for points in box.groups())
        assert across == pytest.approx(72 * inches, abs=0.1)
        cell = (72 * inches - 2 * 2) / 3
        assert 0 < down - 2 * 0.75 * cell < 30  # names, the gap and the legend


def test_no_letter_is_below_six_points_and_none_covers_another(results):
    from matplotlib.figure import Figure

    for width in ("cvpr", "2"):
        long = {"good": "a_very_long_name_of_a_method_that_has_no_end", "poor": "x"}
        figure = Figure(figsize=(1, 1), dpi=300)
        settings = FigureSettings(rows="worst:2", width=width, names=long)
        figure.set_figwidth(settings.inches)
        ax = draw_grid(grid_of(results, settings), axes_for(figure))
        figure.draw_without_rendering()
        assert min(text.get_fontsize() for text in ax.texts) >= LEAST
        boxes = [text.get_window_extent() for text in ax.texts]
        assert all(not one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
        assert all(box.x0 >= -1 and box.x1 <= figure.bbox.width + 1 for box in boxes)


@pytest.mark.usefixtures("results")
def test_files_name_no_place_and_no_user_and_are_the_same_again(tmp_path):
    for name in ("f.pdf", "f.png"):
        output = ["-o", str(tmp_path / name), "--images", str(tmp_path / "photos")]
        done = CliRunner().invoke(app, ["figure", str(tmp_path / "r.segbench"), *output])
        assert done.exit_code == 0, done.stderr
        written = (tmp_path / name).read_bytes() + (tmp_path / "f.txt").read_bytes()
        for word in (str(tmp_path), tmp_path.name, "/Author", "/CreationDate"):
            assert word.encode() not in written
        CliRunner().invoke(app, ["figure", str(tmp_path / "r.segbench"), *output])
        assert (tmp_path / name).read_bytes() + (tmp_path / "f.txt").read_bytes() == written


@pytest.mark.usefixtures("results")
def test_pictures_are_at_most_300_dots_to_the_inch(tmp_path):
    run(tmp_path, "--rows", "worst:2", "-o", str(tmp_path / "f.png"))
    with Image.open(tmp_path / "f.png") as picture:
        assert picture.width == int(6.875 * 300)
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=1)
        assert picture.text == {"Software": "segbench"}


@pytest.mark.slow
def test_a_figure_of_six_by_eight_noisy_photographs_takes_at_most_5_mb(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"{k}.png" for k in range(6)]
    truth = np.zeros((600, 800), np.uint8)
    truth[100:500, 100:700] = 255
    write_folder(tmp_path / "gt", dict.fromkeys(names, truth))
    write_folder(tmp_path / "photos", {name: rng.integers(0, 256, (600, 800, 3), np.uint8) for name in names})
    results = []
    for k in range(6):
        predicted = {name: np.where(rng.random(truth.shape) < 0.1, 255 - truth, truth) for name in names}
        write_folder(tmp_path / f"m{k}", {name: mask.astype(np.uint8) for name, mask in predicted.items()})
        results.append(segbench.evaluate(tmp_path / "gt", tmp_path / f"m{k}"))
    grid = grid_of(results, FigureSettings(images=tmp_path / "photos", rows="worst:6"))
    assert len(grid.views) * len(grid.columns) == 48
    for suffix in (".pdf", ".png"):
        save_figure(grid, tmp_path / f"f{suffix}")
        assert (tmp_path / f"f{suffix}").stat().st_size <= LARGEST


def test_masks_are_repeated_or_picked_and_never_interpolated():
    states = np.array([[State.NOTHING, State.TRUE], [State.MISSED, State.FALSE]], np.uint8)
    assert as_large(states, (4, 4)).tolist() == np.repeat(np.repeat(states, 2, 0), 2, 1).tolist()
    ranks = np.array([0, 2, 3, 1])[states]
    assert as_large(states, (1, 1), ranks).tolist() == [[State.FALSE]]
    wide = np.arange(12, dtype=np.uint8).reshape(2, 6)
    assert as_large(wide, (2, 3), wide.astype(np.int64)).tolist() == [[1, 3, 5], [7, 9, 11]]


def test_a_crop_is_a_row_of_its_own_and_refused_outside_the_image(tmp_path, results):
    grid = grid_of(results, FigureSettings(rows="a,b", crops=["a:10,10,20,10"]))
    assert [(view.image, view.box, view.shape) for view in grid.views] == [
        ("a", None, (30, 40)),
        ("a", (10, 10, 20, 10), (10, 20)),
        ("b", None, (30, 40)),
    ]
    zoomed = grid.paint(grid.views[1], 2, (10, 20))
    whole = grid.paint(grid.views[0], 2, (30, 40))
    assert (zoomed == whole[10:20, 10:30]).all()
    for crop in ("a:30,0,20,10", "a:0,25,5,6", "a:0,0,0,5"):
        with refused("outside-image", segbench.ArgumentError, across=40, down=30):
            grid_of(results, FigureSettings(rows="a", crops=[crop]))
    with refused("no-such-image", segbench.ArgumentError):
        grid_of(results, FigureSettings(rows="a", crops=["c:0,0,5,5"]))
    assert run(tmp_path, "--crop", "a:90,0,5,5", "--rows", "a").exception.kind == "outside-image"


def test_what_is_too_high_says_how_many_rows_fit(results):
    # Cells of 3 inches are 2.25 high: 3 of them fit 9 inches with names and legend.
    with refused("too-high", segbench.ArgumentError, fitting=3, total=4):
        segbench.plot(results[0], "figure", rows="worst:4", width=6.1)


@pytest.mark.parametrize("style", ["errors", "contours", "labels"])
@pytest.mark.parametrize("transpose", [False, True])
def test_each_style_and_the_other_way_round(results, tmp_path, style, transpose):
    settings = {"images": tmp_path / "photos", "style": style, "transpose": transpose, "rows": "worst:3"}
    ax = segbench.plot(results, "figure", **settings)
    written = [text.get_text() for text in ax.texts]
    assert {"Photograph", "Ground truth", "good", "poor"} <= {*written}
    assert len(ax.images) == 12


def test_the_number_in_the_corner_is_that_of_the_picture(results):
    grid = grid_of(results, FigureSettings(rows="a"))
    values = [grid.value(grid.views[0], column) for column in (1, 2)]
    assert values == pytest.approx([1, 2 * 60 / (100 + 60)])
    of_images = grid_of(results, FigureSettings(rows="a", metric="f"))
    assert of_images.value(of_images.views[0], 2) == pytest.approx(results[1].per_image["a"]["f"])


def test_errors_have_their_colours_over_a_pale_photograph(results, tmp_path):
    grid = grid_of(results, FigureSettings(rows="a", images=tmp_path / "photos"))
    picture = grid.paint(grid.views[0], 3, (30, 40))
    outside = picture[:10].reshape(-1, 3)
    assert outside.min() >= 204
    assert (outside == outside[:, :1]).all()
    missed = picture[10:14, 10:20].reshape(-1, 3).astype(int)
    assert (missed[:, 0] > missed[:, 2] + 100).all()  # orange
    true = picture[15:20, 10:20].reshape(-1, 3).astype(int)
    assert (true[:, 2] > true[:, 0] + 100).all()  # blue


@pytest.mark.usefixtures("results")
def test_methods_are_printed_by_other_names(tmp_path):
    place = str(tmp_path / "r.segbench")
    named = ["--names", "good=Ours,poor=Theirs (2020)"]
    done = run(tmp_path, *named, "--rows", "a")
    assert "Signature of Ours, Theirs (2020):" in done.stdout
    shown = CliRunner().invoke(app, ["show", place, *named, "--format", "csv"])
    assert "Theirs (2020)" in shown.stdout
    compared = CliRunner().invoke(app, ["compare", place, *named])
    assert "Ours" in compared.stdout
    assert "good" not in compared.stdout
    unknown = run(tmp_path, "--names", "best=Ours")
    assert unknown.exception.kind == "unknown-method"
    assert run(tmp_path, "--names", "good=poor").exception.kind == "same-name"


@pytest.mark.usefixtures("results")
def test_tiles_are_written_with_a_tabular(tmp_path):
    done = run(tmp_path, "--rows", "a,b", "--images", str(tmp_path / "photos"), "--tiles", str(tmp_path / "tiles"))
    assert done.exit_code == 0, done.stderr
    tabular = (tmp_path / "tiles/figure.tex").read_text()
    named = re.findall(r"\\includegraphics\[.*?\]\{(.*?)\}", tabular)
    assert len(named) == 8
    assert {path.name for path in (tmp_path / "tiles").iterdir()} == {*named, "figure.tex"}
    assert str(tmp_path) not in tabular
    for name in named:
        with Image.open(tmp_path / "tiles" / name) as tile:
            assert tile.width / tile.height == pytest.approx(40 / 30, rel=0.02)


@pytest.mark.parametrize("transpose", [False, True])
def test_the_tabular_escapes_names_and_has_as_many_cells_in_each_row(results, tmp_path, transpose):
    strange = {"good": "50% & more_{x}#1", "poor": "a_very_long_name_of_a_method_in_parts"}
    settings = FigureSettings(rows="a,b", names=strange, crops=["a:5,5,20,10"], width=2, transpose=transpose)
    tabular = save_tiles(grid_of(results, settings), tmp_path / "tiles").read_text()
    body = tabular[tabular.index("\\begin{tabular}") : tabular.index("\\end{tabular}")]
    rows = body.split("\n", 1)[1].split(r"\\[2pt]")
    down, across = (3, 4) if transpose else (4, 3)
    assert [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows] == [across] * down
    assert r"50\% \allowbreak \& \allowbreak more\_\allowbreak \{x\}\#1" in body or r"50\% \& more\_\{x\}\#1" in body
    without_escapes = re.sub(r"\\[{}%&#_]", "", tabular)
    assert without_escapes.count("{") == without_escapes.count("}")
    assert not re.search(r"[#_&%]", without_escapes.split("\\begin{tabular}")[1].replace("&", "").replace("}%\n", ""))
    tiles = [path.name for path in (tmp_path / "tiles").glob("*.png")]
    assert len(tiles) == 9
    assert all(re.fullmatch(r"[A-Za-z0-9-]+\.png", name) for name in tiles)


@pytest.mark.usefixtures("results")
def test_what_cannot_be_drawn_is_named_and_nothing_at_all_is_an_error(tmp_path):
    (tmp_path / "poor/a.png").write_bytes((tmp_path / "poor/b.png").read_bytes())
    (tmp_path / "photos/b.png").unlink()
    done = run(tmp_path, "--rows", "a,b", "--images", str(tmp_path / "photos"))
    assert done.exit_code == 1
    assert "has changed since it was counted" in done.stderr
    cure = "expected a single file called b.* or b_*"
    assert f"b: has no photograph in {tmp_path / 'photos'}; {cure}" in done.stderr
    assert (tmp_path / "f.pdf").exists()
    (tmp_path / "f.pdf").unlink()
    for method in WRONG:
        (tmp_path / method / "a.png").unlink()
    none = run(tmp_path, "--rows", "a")
    assert isinstance(none.exception, segbench.DataError)
    assert not (tmp_path / "f.pdf").exists()


def test_results_without_pictures_are_an_error_of_the_data():
    result = segbench.evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net")
    with pytest.raises(segbench.DataError, match="its images are not known"):
        segbench.plot(result, "figure")


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ({"rows": "worst"}, "no-such-image"),
        ({"style": "outline"}, "wrong-value"),
        ({"width": "neurips"}, "wrong-value"),
        ({"metric": "iou3"}, "unknown-metric"),
        ({"crops": ["a"]}, "wrong-value"),
        ({"colour": "red"}, "unknown-setting"),
        ({"threshold": 900}, "above-all-scores"),
        ({"rows": "worst:0"}, "no-such-image"),
        ({"methods": ["good", "best"]}, "unknown-methods"),
        ({"names": {"best": "Ours"}}, "unknown-method"),
        ({"names": {"good": "poor"}}, "same-name"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(results, setting, kind):
    with refused(kind, segbench.ArgumentError):
        segbench.plot(results, "figure", **setting)


def test_classes_have_a_legend_of_their_colours(tmp_path):
    truth = np.zeros((20, 20), np.uint8)
    truth[5:15, 5:15] = 1
    write_folder(tmp_path / "gt", {"a.png": truth})
    write_folder(tmp_path / "pred", {"a.png": np.roll(truth, 2, 1)})
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", segbench.Labels(classes="sky=0,cat=1,dog=2"))
    entries = dict(map(reversed, grid_of(result, FigureSettings(rows="a")).legend()))
    assert {"wrong", "sky", "cat"} == entries.keys()  # there is no dog
    grid = grid_of(result, FigureSettings(rows="a", style="labels"))
    picture = grid.paint(grid.views[0], 0, (20, 20))
    assert "#" + bytes(picture[10, 10]).hex() == entries["cat"]
    assert "#" + bytes(picture[0, 0]).hex() == entries["sky"]


def test_of_a_volume_the_slice_with_most_errors_is_shown_of_all_methods(tmp_path):
    truth = np.zeros((4, 20, 30), np.uint8)
    truth[:, 5:15, 5:25] = 1
    poor, good = truth.copy(), truth.copy()
    poor[2, 5:15, 5:20] = 0
    good[0, 5, 5] = 0
    for name, volume in (("gt", truth), ("poor", poor), ("good", good)):
        (tmp_path / name).mkdir()
        write_nifti(tmp_path / name / "a.nii.gz", volume, np.eye(4))
    results = [
        segbench.evaluate(tmp_path / "gt", tmp_path / name, segbench.Pixels(positive=">0")) for name in ("poor", "good")
    ]
    grid = grid_of(results, FigureSettings(rows="a"))
    assert grid.views[0].shape == (20, 30)
    assert grid.problems == ()
    # The best method comes first, and its slice is that of all.
    assert any(re.fullmatch(r"a is a volume: axial slice 0 of 0 to 3.", line) for line in grid.caption), grid.caption
    assert [np.count_nonzero(grid.layers["a", k].states == State.MISSED) for k in (0, 1)] == [1, 0]


def test_ground_truth_of_areas_is_outlined_where_states_are_lines(tmp_path):
    write_folder(tmp_path / "gt", {"a.png": square()})
    write_folder(tmp_path / "pred", {"a.png": square(3)})
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", "contours")
    grid = grid_of(result, FigureSettings(rows="a", style="contours"))
    picture = grid.paint(grid.views[0], 0, (300, 400))
    assert picture[150, 150].tolist() == [255] * 3  # inside there is the ground, which is white without a photograph
    is_case = (picture == 16).all(axis=2)
    assert is_case[100:200, 95:105].any()
    assert not is_case[120:180, 120:180].any()


def test_the_gallery_of_the_page_has_photograph_and_ground_truth_beside_the_methods(results, tmp_path):
    segbench.export_report(results, tmp_path / "page.html", images=tmp_path / "photos", intervals=None)
    page = (tmp_path / "page.html").read_text()
    gallery = page[page.index('<table class="gallery') :].split("</table>")[0]
    heads = re.findall(r"<th scope=\"col\"[^>]*>(image|photograph|ground truth)", gallery)
    assert heads == ["image", "photograph", "ground truth"]
    assert len(re.findall('aria-label="photograph of ', gallery)) == gallery.count('<th scope="row">')
    assert len(re.findall('aria-label="ground truth of ', gallery)) == gallery.count('<th scope="row">')


def test_methods_are_shown_in_an_order_of_ones_own(results, tmp_path):
    assert grid_of(results, FigureSettings(methods=["poor", "good"])).methods == ("poor", "good")
    done = run(tmp_path, "--names", "good=Ours", "--methods", "poor,Ours", "--metric", "IoU", "--rows", "a")
    assert done.exit_code == 0, done.exception
    assert "The columns are Ground truth, poor, Ours." in (tmp_path / "f.txt").read_text()
    assert "Number in the corner: IoU of the image." in done.stdout


def test_rules_that_take_nothing_are_not_in_the_sentence(results):
    assert grid_of(results[:1], FigureSettings(rows="worst:1,disagree:1,b,b")).caption[1] == (
        "Images: the image with the lowest F; b; F of each image at its own best threshold."
    )
    with refused(
        "no-such-image",
        segbench.ArgumentError,
        why="count images from 1, as in worst:2; a single method does not disagree",
    ):
        grid_of(results[:1], FigureSettings(rows="disagree:1"))


def test_a_photograph_of_another_shape_is_not_stretched(results, tmp_path):
    write_folder(tmp_path / "photos", {"a.png": np.zeros((60, 60), np.uint8), "b.png": np.zeros((60, 80), np.uint8)})
    grid = grid_of(results, FigureSettings(rows="a,b", images=tmp_path / "photos"))
    assert [problem.kind for problem in grid.problems] == ["other-shape"]
    assert grid.photos.keys() == {"b"}


def test_names_that_would_be_cut_are_turned_and_whole(results):
    from matplotlib.figure import Figure

    long = {"good": "method_of_the_first_kind_version_1", "poor": "method_of_the_first_kind_version_2"}
    settings = FigureSettings(rows="a", names=long, width=1.2)
    ax = draw_grid(grid_of(results, settings), axes_for(Figure(figsize=(1.2, 1), dpi=300)))
    turned = {text.get_text() for text in ax.texts if text.get_rotation() == 90}
    assert turned == {"Ground truth", *long.values()}


def test_lines_are_at_least_two_dots_wide_however_small_they_are_printed():
    line = np.zeros((100, 400), np.uint8)
    line[:, 200] = State.MISSED
    small = as_large(line, (10, 40), np.array(line, np.int64), thickness=2)
    assert np.count_nonzero(small, axis=1).tolist() == [2] * 10
    assert np.count_nonzero(as_large(line, (200, 800), np.array(line, np.int64), thickness=2), axis=1)[0] == 2


def test_boundaries_at_a_best_threshold_above_all_that_were_counted_are_drawn(tmp_path):
    line = np.zeros((40, 60), np.uint8)
    line[20] = 255
    write_folder(tmp_path / "gt", {"a.png": line})
    write_folder(tmp_path / "pred", {"a.png": np.roll(line, 1, 0)})
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", "boundaries")
    grid = grid_of(result, FigureSettings(rows="a", threshold=1.0))
    assert grid.value(grid.views[0], 1) == pytest.approx(result.per_image["a"]["f"])


def test_ground_truth_of_classes_shows_their_contours_where_they_fill_the_image(tmp_path):
    truth = np.zeros((20, 20), np.uint8)
    truth[:, 10:] = 1
    write_folder(tmp_path / "gt", {"a.png": truth})
    write_folder(tmp_path / "pred", {"a.png": truth})
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", segbench.Contours(classes="0,1"))
    drawn = grid_of(result, FigureSettings(rows="a")).layers["a", 0].truth
    assert drawn[10, 9] == drawn[10, 10] == 255
    assert drawn[10, 5] == drawn[10, 14] == 0


def test_human_annotators_are_no_problem_unless_they_are_asked_for(tmp_path):
    kept, settings = tmp_path / "r.segbench", segbench.Boundaries(thresholds=5)
    write_folder(tmp_path / "drawn", {f"a.{number}.png": square() for number in (1, 2)})
    write_folder(tmp_path / "net", {"a.png": square()})
    segbench.evaluate(tmp_path / "drawn", tmp_path / "net", settings, gt_pattern="*.#", results=kept)
    segbench.evaluate(tmp_path / "drawn", None, segbench.Annotators(settings=settings), gt_pattern="*.#", results=kept)
    done = run(tmp_path)
    assert (done.exit_code, "compares annotators" in done.stderr) == (0, False)
    assert (tmp_path / "f.pdf").exists()
    asked = run(tmp_path, "--methods", "net,human")
    assert (asked.exit_code, "human: compares annotators" in asked.stderr) == (1, True)


def test_photographs_may_lie_deeper_and_have_longer_names_but_a_file_belongs_to_one_image(tmp_path):
    photo = np.zeros((2, 2), np.uint8)
    names = ("a/x_left.png", "val/a/y_left.png", "a/z.png", "a/z_mask.png", "a/v_1.png", "a/v_2.png", "a/x_1_left.png")
    write_folder(tmp_path / "photos", dict.fromkeys(names, photo))
    images = {"a/x", "a/x_1", "a/y", "a/z", "a/v", "a", "left"}
    named = {image: path.name for image, path in photographs(str(tmp_path / "photos"), images).items()}
    # v has two files, of which neither is its own.
    assert {image: named[image] for image in images & set(named)} == {
        "a/x": "x_left.png",
        "a/x_1": "x_1_left.png",
        "a/y": "y_left.png",
        "a/z": "z.png",
    }


def test_without_a_single_photograph_there_is_no_column_of_them(results, tmp_path):
    write_folder(tmp_path / "others", {"else.png": square()})
    grid = grid_of(results, FigureSettings(images=tmp_path / "others", rows="a"))
    assert grid.columns == ("Ground truth", "good", "poor")
    assert "has no photograph in" in str(grid.problems[0])
