"""Groups of images: which images they hold, their means, what is wrong with a grouping, and every format."""

import csv
import io
import json

import imageio.v3 as iio
import numpy as np
import pytest
from noted import kinds
from refusing import refused

from segbench import (
    Accumulator,
    Anomalies,
    ArgumentError,
    DataError,
    Labels,
    Regions,
    Saliency,
    compare,
    compare_results,
    count,
    evaluate,
    export_report,
    import_bsds,
    load_results,
    merge_results,
)
from segbench.core.messages import Setting

FORMATS = ("table", "json", "csv", "markdown", "latex")


def pairs(skill=0.3, sizes=(("city", 8), ("road", 5), ("sea", 6))):
    """Return labels and soft maps by image name, in folders of several sizes."""
    random = np.random.default_rng(3)
    found = {}
    for folder, number in sizes:
        for k in range(number):
            labels = random.random((16, 16)) > 0.6
            found[f"{folder}/{k}"] = labels, skill * labels + (1 - skill) * random.random((16, 16))
    return found


def written(folder, images):
    """Write pairs as PNG files; give both folders."""
    for name, (labels, soft) in images.items():
        for kind, array in (("gt", labels * 255), ("pred", np.rint(soft * 255))):
            path = folder / kind / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            iio.imwrite(path, array.astype(np.uint8))
    return folder / "gt", folder / "pred"


def listed(path, *rows):
    path.write_text("\n".join(rows))
    return path


def test_a_group_is_what_its_images_alone_would_be():
    images = pairs()
    groups = evaluate(images).parts("group", "folder")
    assert list(groups) == ["city", "road", "sea"]
    road = evaluate({name: pair for name, pair in images.items() if name.startswith("road")})
    assert groups["road"].summary == road.summary
    assert groups["road"].intervals()["ods_f"] == road.intervals()["ods_f"]


def test_the_mean_counts_groups_alike():
    groups = evaluate(pairs()).parts("group", "folder")
    each = [group.summary["auc_roc"] for group in groups.values()]
    assert groups.mean.summary["auc_roc"] == pytest.approx(np.mean(each), abs=1e-15)


def test_all_images_are_the_result_itself():
    result = evaluate(pairs(), group_by="folder")
    assert result.parts("group").pooled is result


@pytest.mark.parametrize(
    ("protocol", "key"),
    [("boundaries", "ods_f"), (Labels(classes=2), "miou"), (Saliency(positive=1), "mae"), (Regions(), "pri_ods")],
)
def test_every_protocol_has_groups(protocol, key):
    images = {
        name: (labels.astype(np.uint8), (soft > 0.5).astype(np.uint8)) for name, (labels, soft) in pairs().items()
    }
    groups = evaluate(images, protocol=protocol).parts("group", "folder")
    each = [group.summary[key] for group in groups.values()]
    assert groups.mean.summary[key] == pytest.approx(np.mean(each), abs=1e-12)


def test_the_mean_has_the_stratified_standard_error():
    groups = evaluate(pairs()).parts("group", "folder")
    errors = [group.intervals().standard_errors["ods_f"] for group in groups.values()]
    found = groups.mean.intervals().standard_errors["ods_f"]
    assert found == pytest.approx(np.sqrt(np.sum(np.square(errors))) / 3, rel=1e-12)


def test_images_weigh_by_their_positives_within_their_group():
    def without_one(skill):
        images = pairs(skill, (("city", 8), ("road", 5)))
        return evaluate(images | {"city/0": (np.zeros((16, 16), bool), images["city/0"][1])})

    result = without_one(0.3)
    positives = {name: counts.positives.sum() for name, counts in result.counts.items()}
    groups = [[positives[name] for name in positives if name.startswith(folder)] for folder in ("city", "road")]
    weights = np.concatenate([np.array(group) / sum(group) for group in groups])
    means = {"a": result.parts("group", "folder").mean, "b": without_one(0.2).parts("group", "folder").mean}
    (row,) = compare(means).rows("auc_roc")
    assert row.freedom == pytest.approx(weights.sum() ** 2 / (weights**2).sum() - 1)


def test_an_image_alone_in_its_group_leaves_no_interval():
    intervals = evaluate(pairs(sizes=(("city", 8), ("road", 1)))).parts("group", "folder").mean.intervals()
    assert np.isnan(intervals["auc_roc"]).all()
    reason = intervals.undefined["auc_roc"]
    assert (reason.kind, reason.values["name"]) == ("undefined-without", "road/0")


def test_two_images_of_a_group_can_be_left_out_in_turn():
    intervals = evaluate(pairs(sizes=(("city", 8), ("road", 2)))).parts("group", "folder").mean.intervals()
    assert not np.isnan(intervals["auc_roc"]).any()


def test_means_of_methods_are_compared():
    ours, theirs = (evaluate(pairs(skill)).parts("group", "folder").mean for skill in (0.5, 0.2))
    (row,) = compare({"ours": ours, "theirs": theirs}).rows("auc_roc")
    assert row.difference == pytest.approx(ours.summary["auc_roc"] - theirs.summary["auc_roc"])
    assert row.p_value < 0.01
    assert row.wins + row.ties + row.losses == 19


def test_means_are_compared_over_groups_that_both_have():
    images = pairs(sizes=(("city", 8), ("road", 5), ("sea", 6)))
    masks = {name: (labels, soft > 0.5) for name, (labels, soft) in images.items()}
    silent = {name: (labels, mask & (not name.startswith("sea"))) for name, (labels, mask) in masks.items()}
    some, every = (evaluate(each, protocol=Labels()).parts("group", "folder") for each in (silent, masks))
    assert some.mean.summary["precision"] != every.mean.summary["precision"]
    for means in ({"some": some.mean, "every": every.mean}, {"every": every.mean, "some": some.mean}):
        (row,) = compare(means).rows("precision")
        assert (row.difference, row.p_value) == (0, 1)
        assert row.estimate_a == pytest.approx(
            (every["city"].summary["precision"] + every["road"].summary["precision"]) / 2
        )


def test_false_alarms_in_a_group_without_ground_truth_count():
    images = pairs(sizes=(("city", 8), ("road", 5), ("sea", 6)))
    blank = {name: labels & (not name.startswith("sea")) for name, (labels, _) in images.items()}
    masks = {name: soft > 0.5 for name, (_, soft) in images.items()}
    predicted = {"quiet": {name: mask & (not name.startswith("sea")) for name, mask in masks.items()}, "loud": masks}
    means = {
        method: evaluate({name: (blank[name], of[name]) for name in blank}, protocol=Labels())
        .parts("group", "folder")
        .mean
        for method, of in predicted.items()
    }
    (row,) = compare(means).rows("precision")
    assert row.difference == pytest.approx(means["quiet"].summary["precision"] - means["loud"].summary["precision"])
    assert row.difference > 0


def test_a_metric_that_a_group_lacks_is_averaged_over_the_others():
    images = pairs(sizes=(("city", 4), ("road", 3)))
    blank = {name: (labels & (not name.startswith("road")), soft) for name, (labels, soft) in images.items()}
    mean = evaluate(blank, protocol=Anomalies()).parts("group", "folder").mean.summary
    (note,) = mean.notes
    assert (note.kind, note.values["count"], note.values["total"]) == ("undefined-parts", 1, 2)
    assert note.values["without"] == ("road",)
    assert "aupro" in dict(note.metrics)


def test_images_of_a_mean_are_measured_in_their_group():
    groups = evaluate(pairs(), protocol=Anomalies()).parts("group", "folder")
    for key in ("auc_roc", "aupro"):
        assert groups.mean.per_image["sea/2"][key] == groups["sea"].per_image["sea/2"][key]


def test_anomalies_of_folders_are_not_pooled():
    result = evaluate(pairs(), protocol=Anomalies())
    assert result.parts("group", "folder").pooled is None
    weather = {name: "dry" if name.endswith("1") else "wet" for name in pairs()}
    assert result.parts("group", weather).pooled.counts is result.counts


def anomalies(*names):
    """Return labels and soft maps by image name; those called good hold nothing anomalous."""
    scores = np.linspace(0, 1, 16).reshape(4, 4)
    return {name: (np.eye(4, dtype=bool) & ("good" not in name), scores) for name in names}


CATEGORIES = anomalies("bottle/good/0", "bottle/broken/0", "cable/good/0", "cable/bent/0")
DEFECT_TYPES = anomalies("good/0", "good/1", "crack/0", "broken_large/0")


def test_anomalies_of_several_categories_say_that_they_are_pooled():
    result = evaluate(CATEGORIES, protocol=Anomalies())
    (note,) = result.summary.notes
    assert (note.kind, note.values["count"], note.values["categories"]) == ("several-categories", 2, "bottle, cable")
    assert str(note) in str(result)
    groups = result.parts("group", by="folder")
    assert not any("several-categories" in kinds(one.summary.notes) for one in (*groups.values(), groups.mean))


@pytest.mark.parametrize(
    "images",
    [
        DEFECT_TYPES,
        {f"bottle/{name}": maps for name, maps in DEFECT_TYPES.items()},
        anomalies("bottle/good/0", "bottle/broken/0", "cable/good/0"),
        anomalies("good_0", "broken_0", "bottle/good_1", "bottle/broken_1"),
    ],
    ids=["defect types", "one category", "a category of normal images", "images in no folder"],
)
def test_anomalies_of_one_category_are_pooled_without_a_word(images):
    assert evaluate(images, protocol=Anomalies()).summary.notes == ()


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_the_command_line_names_the_option_that_groups_categories(segbench, tmp_path, form):
    run = "anomalies", *written(tmp_path, CATEGORIES), "--format", form
    answer = segbench(*run)
    pooled = "2 categories are pooled as those of one model: bottle, cable; --group-by folder measures each by itself"
    assert pooled in answer.out + answer.err
    answer = segbench(*run, "--group-by", "folder")
    assert "pooled" not in answer.out + answer.err


class TestColumns:
    """Groups by a column of a CSV file."""

    @pytest.fixture
    def result(self):
        return evaluate(pairs())

    def test_are_read_with_or_without_suffixes(self, result, tmp_path):
        rows = [f"{name}{'.png' * (k % 2)},{'wet' if k < 9 else 'dry'}" for k, name in enumerate(result.counts)]
        groups = result.parts("group", f"{listed(tmp_path / 'meta.csv', 'name,weather', *rows)}:weather")
        assert {name: len(group.counts) for name, group in groups.items()} == {"dry": 10, "wet": 9}

    def test_the_column_of_names_is_found(self, result, tmp_path):
        file = listed(tmp_path / "meta.csv", "weather,image", "wet,city/0", "dry,city/1")
        assert list(result.parts("group", f"{file}:weather")) == ["dry", "wet"]

    def test_images_and_rows_without_partner_are_noted(self, result, tmp_path):
        file = listed(tmp_path / "meta.csv", "name,weather", "city/0,wet", "city/1,", "ghost,wet")
        notes = result.parts("group", f"{file}:weather").notes
        assert kinds(notes) == ["images-without-part", "rows-without-image"]
        without, rows = (note.values for note in notes)
        assert (without["images"], without["total"], without["part"]) == (18, 19, "group")
        assert (rows["rows"], rows["names"]) == (1, "ghost")

    @pytest.mark.parametrize(
        ("rows", "column", "kind", "values"),
        [
            (("name,weather", "city/0,wet"), "light", "missing-column", {"column": "light"}),
            (
                ("name,weather", "city/0,wet", "city/0,dry"),
                "weather",
                "several-parts",
                {"image": "city/0", "first": "wet", "second": "dry"},
            ),
        ],
    )
    def test_faults_of_the_file_are_named(self, result, tmp_path, rows, column, kind, values):
        with refused(kind, DataError, **values):
            result.parts("group", f"{listed(tmp_path / 'meta.csv', *rows)}:{column}")

    def test_an_image_named_with_two_suffixes_has_one_group(self, result, tmp_path):
        file = listed(tmp_path / "meta.csv", "name,weather", "city/0.png,wet", "city/0.jpg,dry")
        with refused("several-parts", ArgumentError, image="city/0", first="wet", name="city/0.jpg", second="dry"):
            result.parts("group", f"{file}:weather")

    @pytest.mark.parametrize("name", ["all images", "mean of 2 groups"])
    def test_a_group_cannot_have_the_name_of_another_row(self, result, name):
        with refused("reserved-name", image="city/0", part="group") as raised:
            result.parts("group", {"city/0": name})
        assert isinstance(raised.value, ArgumentError)
        assert raised.value.values["name"] == name

    @pytest.mark.parametrize("name", ["a|b", "a:b", "two\nlines"])
    def test_any_name_is_a_group(self, result, name):
        groups = result.parts("group", dict.fromkeys(result.counts, name) | {"city/0": "other"})
        assert groups[name].data == result.data
        assert groups[name].signature.isprintable()

    def test_a_file_of_other_images_gives_no_group(self, result, tmp_path):
        with refused("images-without-part", ArgumentError, images=19):
            result.parts("group", f"{listed(tmp_path / 'meta.csv', 'name,weather', 'a,wet')}:weather")


@pytest.mark.parametrize(
    ("by", "kind", "values"),
    [
        ("", "no-parts", {"why": "was counted without groups", "parts": "groups"}),
        ("weather", "wrong-value", {"given": Setting("group_by", "weather")}),
        ("folder", "images-without-part", {"given": Setting("group_by", "folder"), "images": 19}),
    ],
)
def test_groupings_that_make_no_sense_are_refused(by, kind, values):
    flat = {name.replace("/", "-"): pair for name, pair in pairs().items()}
    with refused(kind, ArgumentError, **values):
        evaluate(flat).parts("group", by)


LIGHT = {name: "day" if name.endswith(("0", "1")) else "night" for name in pairs()}


class TestSetting:
    """Groups are a setting of measuring of every run: taken by results, kept by results files, counting nothing."""

    def test_with_settings_names_and_takes_away_groups(self):
        result = evaluate(pairs())
        assert result.axes == ()
        named = result.with_settings(group_by="folder")
        assert (named.axes, list(named.parts("group"))) == (("group",), ["city", "road", "sea"])
        light = named.with_settings(group_by=LIGHT)
        assert {name: len(part.counts) for name, part in light.parts("group").items()} == {"day": 6, "night": 13}
        assert [light.with_settings(group_by=none).axes for none in ("none", "", {}, None)] == [()] * 4

    def test_groups_and_settings_of_the_protocol_go_together(self):
        both = evaluate(pairs(), group_by="folder").with_settings(at=0.5, group_by=LIGHT)
        assert "f@0.5" in both.parts("group")["day"].summary

    @pytest.mark.parametrize(
        ("protocol", "axis", "settings"),
        [
            ("pixels", "group", {"at": 0.5}),
            (Labels(classes=2), "group", {"background": 0}),
            (Labels(classes=3), "class", {"background": 0}),
        ],
    )
    def test_a_mean_over_parts_is_measured_with_other_settings_as_its_whole_is(self, protocol, axis, settings):
        images = {
            name: (labels.astype(np.uint8), (soft > 0.5).astype(np.uint8)) for name, (labels, soft) in pairs().items()
        }
        result = evaluate(pairs() if protocol == "pixels" else images, protocol=protocol, group_by="folder")
        mean = result.parts(axis).mean.with_settings(**settings)
        expected = result.with_settings(**settings).parts(axis).mean
        assert mean.summary == expected.summary
        assert mean.summary != result.parts(axis).mean.summary
        assert mean.signature == expected.signature
        assert mean.intervals() == expected.intervals()

    def test_a_mean_has_no_groups_of_its_own(self):
        mean = evaluate(pairs()).parts("group", "folder").mean
        with refused(
            "for-images-only", ArgumentError, why="is a mean over groups; put the images of the whole into groups"
        ):
            mean.with_settings(group_by="folder")

    def test_a_group_is_in_no_groups_and_a_class_is(self):
        images = {
            name: (labels.astype(np.uint8), (soft > 0.5).astype(np.uint8)) for name, (labels, soft) in pairs().items()
        }
        result = evaluate(images, protocol=Labels(classes=2), group_by="folder")
        assert result.parts("group")["sea"].axes == ("class",)
        assert list(result.parts("class")["1"].parts("group")) == ["city", "road", "sea"]

    def test_a_results_file_keeps_them_and_another_run_replaces_them(self, tmp_path):
        folders, file = written(tmp_path, pairs()), tmp_path / "r.segbench"
        evaluate(*folders, results=file, group_by=LIGHT)
        (stored,) = load_results(file)
        assert list(stored.parts("group")) == ["day", "night"]
        again = evaluate(*folders, results=file, group_by="folder")
        assert again.reused == 19
        (stored,) = load_results(file)
        assert list(stored.parts("group")) == ["city", "road", "sea"]
        (other,) = load_results(file, group_by=LIGHT, at=0.5)
        assert "f@0.5" in other.parts("group").mean.summary
        assert [one.axes for one in load_results(file, group_by="none")] == [()]
        assert evaluate(*folders, results=file).axes == load_results(file)[0].axes == ()

    def test_halves_are_merged_with_their_groups(self, tmp_path):
        folders = written(tmp_path, pairs())
        meta = [tmp_path / place / "meta.csv" for place in ("here", "there")]
        for part, file in zip(("city", "sea"), meta, strict=True):
            file.parent.mkdir()
            listed(file, "name,light", *(f"{name},{light}" for name, light in LIGHT.items()))
            chosen = {"images": [f"{part}/*"], "group_by": f"{file}:light"}
            evaluate(*folders, method="net", results=tmp_path / part, **chosen)
        (merged,) = merge_results([tmp_path / "city", tmp_path / "sea"], tmp_path / "both")
        of_images = {name: light for name, light in LIGHT.items() if not name.startswith("road")}
        assert merged.parts("group").mean.summary == merged.parts("group", of_images).mean.summary
        assert merged.parts("group").notes == ()

    @pytest.mark.parametrize("option", ["mapping", "csv"])
    def test_methods_in_other_groups_are_not_compared(self, tmp_path, option):
        file = tmp_path / "meta.csv"
        results = []
        for method, of_images in (("a", LIGHT), ("b", LIGHT | {"sea/0": "night"})):
            listed(file, "name,light", *(f"{name},{light}" for name, light in of_images.items()))
            by = of_images if option == "mapping" else f"{file}:light"
            results.append(evaluate(pairs(), method=method, group_by=by))
        with refused(
            "other-group",
            ArgumentError,
            belonging="group",
            image="sea/0",
            here="day",
            method="a",
            there="night",
            other="b",
        ):
            compare_results([result.parts("group").mean for result in results])
        alike = [result.with_settings(group_by=LIGHT).parts("group").mean for result in results]
        assert compare_results(alike).rows("auc_roc")[0].difference == 0

    def test_published_results_and_pixels_without_names_have_none(self, tmp_path):
        (tmp_path / "eval_bdry_thr.txt").write_text("0.5 0.6 0.7 0.646154\n")
        (published,) = import_bsds(tmp_path, method="print", results=tmp_path / "r.segbench")
        assert published.with_settings(group_by="folder") is published
        with refused("not-measuring", ArgumentError, settings={"group_by": None}):
            load_results(tmp_path / "r.segbench", group_by="folder")
        accumulator = Accumulator()
        accumulator.update([0, 1, 1], [0.1, 0.2, 0.9])
        with refused(
            "for-images-only",
            ArgumentError,
            settings={"group_by": None},
            method="accumulated",
            why="has no images with names",
        ):
            accumulator.compute().with_settings(group_by="folder")


class TestCommands:
    """The options of run, show, compare, plot and report."""

    @pytest.fixture
    def folders(self, tmp_path):
        return written(tmp_path, pairs())

    @pytest.fixture
    def file(self, folders, tmp_path, segbench):
        file = tmp_path / "r.segbench"
        segbench("pixels", folders[0], f"ours={folders[1]}", "-o", file)
        return file

    def test_rows_of_json(self, segbench, file):
        runs = json.loads(segbench("show", file, "--group-by", "folder", "--format", "json").out)["runs"]
        named = [(run.get("group", "pooled"), run.get("mean", False), run["images"]) for run in runs]
        assert named == [
            ("city", False, 8),
            ("road", False, 5),
            ("sea", False, 6),
            (None, True, 19),
            ("pooled", False, 19),
        ]

    def test_the_mean_says_how_many_groups_were_counted(self, segbench, tmp_path):
        gt, pred = written(tmp_path, pairs())
        for path in (pred / "sea").iterdir():
            path.write_text("no image")
        segbench("pixels", gt, pred, "-o", tmp_path / "failed.segbench")
        shown = segbench("show", tmp_path / "failed.segbench", "--group-by", "folder", "--metrics", "auc_roc")
        assert "mean of 2 groups" in shown.out

    @pytest.mark.parametrize("form", FORMATS)
    def test_every_format_has_the_mean(self, segbench, file, form):
        out = segbench("show", file, "--group-by", "folder", "--format", form, "--metrics", "auc_roc").out
        assert ('"mean": true' if form == "json" else "mean of 3 groups") in out

    def test_csv_has_intervals(self, segbench, file):
        options = "--group-by", "folder", "--intervals", "90", "--metrics", "auc_roc", "--format", "csv"
        rows = list(csv.DictReader(io.StringIO(segbench("show", file, *options).out)))
        assert [row["group"] for row in rows] == ["city", "road", "sea", "mean of 3 groups", "all images"]
        assert all(float(row["auc_roc_low"]) < float(row["auc_roc"]) < float(row["auc_roc_high"]) for row in rows)

    def test_a_run_stores_its_groups(self, segbench, folders, tmp_path):
        meta = listed(tmp_path / "meta.csv", "name,light", *(f"{name},{name[-1]}" for name in pairs()))
        file = tmp_path / "g.segbench"
        ran = segbench("pixels", *folders, "--group-by", f"{meta}:light", "-o", file, "--format", "csv").out
        meta.unlink()
        assert segbench("show", file, "--format", "csv").out == ran
        assert "mean of 8 groups" in ran
        assert "mean of" not in segbench("show", file, "--group-by", "none").out

    def test_groups_are_no_other_run(self, folders, file):
        again = evaluate(folders[0], folders[1], method="ours", results=file, group_by="folder")
        assert again.reused == len(again.counts) > 0

    def test_one_group(self, segbench, file, folders):
        (shown,) = json.loads(segbench("show", file, "--group-by", "folder", "--group", "sea", "--format", "json").out)[
            "runs"
        ]
        (ran,) = json.loads(segbench("pixels", *folders, "--group", "sea", "--format", "json").out)["runs"]
        assert shown["images"] == ran["images"] == 6
        assert shown["summary"] == ran["summary"]
        assert ran["settings"]["subset"] == "6 of 19"
        other = segbench("show", file, "--group-by", "folder", "--group", "x")
        assert (other.code, other.error.kind, other.error.values["known"]) == (2, "no-such-part", "city, road, sea")

    @pytest.mark.parametrize("lines", ["image", "class", "threshold"])
    @pytest.mark.parametrize("form", ["table", "csv", "json"])
    def test_rows_of_images_are_not_those_of_groups(self, segbench, file, lines, form):
        refused = segbench("show", file, "--group-by", "folder", f"--per-{lines}", "--format", form)
        assert (refused.code, refused.out) == (2, "")
        assert (refused.error.kind, refused.error.values["option"]) == ("excluding-options", f"--per-{lines}")
        if lines != "class":
            one = segbench("show", file, "--group-by", "folder", "--group", "sea", f"--per-{lines}", "--format", form)
            assert one.code == 0

    def test_the_comparison_is_that_of_means(self, segbench, tmp_path):
        ours, theirs = (written(tmp_path / name, pairs(skill)) for name, skill in (("a", 0.5), ("b", 0.2)))
        file = tmp_path / "two.segbench"
        segbench("pixels", ours[0], f"ours={ours[1]}", f"theirs={theirs[1]}", "-o", file, "--group-by", "folder")
        means = json.loads(segbench("compare", file, "--format", "json").out)
        pooled = json.loads(segbench("compare", file, "--group-by", "none", "--format", "json").out)
        assert "mean:3 groups" in json.dumps(means)
        assert means != pooled

    def test_methods_are_compared_in_every_group(self, segbench, tmp_path):
        ours, theirs = (written(tmp_path / name, pairs(skill)) for name, skill in (("a", 0.5), ("b", 0.2)))
        file = tmp_path / "two.segbench"
        segbench("pixels", ours[0], f"ours={ours[1]}", f"theirs={theirs[1]}", "-o", file, "--group-by", "folder")
        options = "--metrics", "auc_roc", "--format", "json"
        document = json.loads(segbench("compare", file, "--group", "all", *options).out)
        assert (document["images"], "mean:" in document["signature"]) == (19, False)
        rows = {each["group"]: each["differences"][0] for each in document["answers"]}
        alone = json.loads(segbench("compare", file, "--group", "city", *options).out)["answers"][0]
        assert list(rows) == ["city", "road", "sea"]
        assert rows["city"]["difference"] == alone["differences"][0]["difference"]
        defined = sorted(row["p_value"] for row in rows.values() if row["p_value"] is not None)
        assert min(row["p_holm"] for row in rows.values() if row["p_holm"] is not None) == min(1, 2 * defined[0])
        text = segbench("compare", file, "--group", "all", "--format", "latex", "--metrics", "auc_roc,auc_pr").out
        assert "all pairs of all 3 groups" in text
        assert "road: 5 images: differences have intervals and p-values from 6 images on" in text
        refused = segbench("compare", file, "--group", "all", "--class", "all")
        assert (refused.code, refused.error.kind) == (2, "excluding-options")
        assert refused.error.values == {"option": "--class", "other": "--group"}

    def test_runs_without_groups_are_answered_with_the_option_that_names_them(self, segbench, file):
        for group in ("sea", "all"):
            refused = segbench("compare", file, "--group", group)
            assert (refused.code, refused.error.kind, refused.error.values["parts"]) == (2, "no-parts", "groups")
            assert refused.err.count("--group-by folder") == 1
        assert segbench("show", file, "--group", "sea", "--group-by", "folder").code == 0

    def test_published_runs_have_no_images_to_group(self, segbench, tmp_path):
        (tmp_path / "eval_bdry_thr.txt").write_text("0.5 0.6 0.7 0.646154\n")
        segbench("import", tmp_path, "-o", tmp_path / "print.segbench")
        refused = segbench("show", tmp_path / "print.segbench", "--group-by", "folder")
        assert (refused.code, refused.error.kind) == (2, "needs-names")

    def test_the_page_has_the_groups(self, file, tmp_path, segbench):
        segbench("report", file, "-o", tmp_path / "r.html", "--group-by", "folder")
        page = (tmp_path / "r.html").read_text()
        assert "Groups of images" in page
        assert "mean of 3 groups" in page

    def test_plots_of_folders_that_are_not_pooled_need_one(self, segbench, folders, tmp_path):
        file = tmp_path / "a.segbench"
        segbench("anomalies", *folders, "-o", file, "--group-by", "folder")
        refused = segbench("plot", file, "--kind", "pro", "-o", tmp_path / "p.png")
        assert (refused.code, refused.error.kind) == (2, "not-pooled")
        assert refused.error.values["groups"] == ("city", "road", "sea")
        assert segbench("plot", file, "--kind", "pro", "--group", "sea", "-o", tmp_path / "p.png").code == 0


def test_a_page_of_means_says_why_it_has_no_pictures(tmp_path):
    result = evaluate(*written(tmp_path, pairs()), Anomalies())
    export_report(result, tmp_path / "r.html", group_by="folder")
    page = (tmp_path / "r.html").read_text()
    assert "is a mean over groups, of which each has its own pictures" in page
    assert "means over 3 groups, 19 images" in page


def test_counts_of_groups_add_up():
    images = pairs()
    groups = evaluate(images).parts("group", "folder")
    assert groups["road"].pooled == sum(
        (count(*pair) for name, pair in images.items() if name.startswith("road")), count([], [])
    )
