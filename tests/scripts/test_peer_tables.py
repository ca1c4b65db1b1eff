"""The benchmarks beside peers: that numbers agree where they should, never how long anything took."""

import numpy as np
import pytest
from peer_tables import boundaries, pixel_programs, pixels, regions, saliency
from peer_tables.images import EdgeImage, MaskImage, shipped_edges, shipped_masks
from peer_tables.programs import PYEDGEEVAL, PYSODMETRICS, Program
from peer_tables.workers import Limits

import segbench

ABSENT = Program("Absent", ("no_such_module",), "absent-package", "absent")
EXACT = 1e-12
SINGLE = 2e-6
"""What float32 loses: torchmetrics computes in it."""


def test_a_missing_program_is_named_with_the_command_that_installs_it():
    assert ABSENT.missing == "Absent: not installed; pip install absent-package"
    assert not Program("NumPy", ("numpy",), "numpy", "numpy").missing


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    return pixels.write_arrays(tmp_path_factory.mktemp("arrays") / "some", 3000)


@pytest.mark.parametrize("kind", pixels.KINDS)
@pytest.mark.parametrize("work", pixel_programs.WORKS)
@pytest.mark.parametrize("contestant", pixel_programs.CONTESTANTS, ids=lambda contestant: contestant.name)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_curves_and_areas_agree_with_every_program(arrays, contestant, work, kind):
    if contestant.program.missing:
        pytest.skip(contestant.program.missing)
    labels, scores = pixels.load(str(arrays), kind)
    answer, ours = (
        pixel_programs.at_levels(name, work, kind, pixels.do(name, work, labels, scores))
        for name in (contestant.name, pixel_programs.OURS)
    )
    assert len(answer) == (2 * 255 if "curve" in work else 1)
    assert answer == pytest.approx(ours, abs=tolerance(contestant, work, kind))


def tolerance(contestant, work, kind):
    if contestant.program is not pixel_programs.TORCHMETRICS:
        return EXACT
    if str(pixel_programs.LEVELS) not in contestant.name:
        return SINGLE
    # Its thresholds are rounded otherwise than k / 255, so some levels fall below their own threshold; and 256
    # thresholds give the area of float scores only roughly.
    if "curve" in work:
        return 0.05 if kind == "8-bit" else 1e-3
    return 0.01


@pytest.mark.slow
def test_the_table_of_pixels_has_a_cell_for_every_program_that_is_here(tmp_path, monkeypatch):
    few = [c for c in pixel_programs.CONTESTANTS if c.program is not pixel_programs.TORCHMETRICS]
    monkeypatch.setattr(pixels, "CONTESTANTS", [*few, pixel_programs.Contestant("absent", ABSENT, str)])
    table = pixels.measure(
        tmp_path, [1000], pixel_programs.WORKS, pixels.Effort(Limits(60, 2**33), budget=60, rounds=1)
    )
    assert len(table) == len(pixels.KINDS) * len(pixel_programs.WORKS)
    for cells in table.values():
        assert all(len(cell.seconds) == 1 and not cell.missing for cell in cells.values())
        assert max(pixels.difference(cell, cells[pixel_programs.OURS]) for cell in cells.values()) < EXACT
    report = pixels.report(table)
    assert "absent" not in report
    assert report.count("| 1e3 | 8-bit | AP |") == 2


@pytest.mark.slow
def test_what_a_smaller_size_rules_out_is_not_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(pixels, "CONTESTANTS", pixel_programs.CONTESTANTS[:2])
    monkeypatch.setattr(pixels, "KINDS", ("8-bit",))
    table = pixels.measure(tmp_path, [1000, 2000], ["AP"], pixels.Effort(Limits(1e-9, 2**33), budget=60, rounds=1))
    large = table[pixels.Row(2000, "8-bit", "AP")]
    assert all(cell.missing.startswith("not tried: ") and cell.missing.endswith("at 1e+03") for cell in large.values())


@pytest.fixture(scope="module")
def edges():
    image = shipped_edges(most=1)[0]
    part = np.s_[:90, :120]
    return [EdgeImage(image.name, image.scores[part], [truth[part] for truth in image.ground_truths])]


def test_boundary_counts_are_scipys_and_near_the_official_matchers(edges):
    assert len(edges[0].ground_truths) == 1
    cuts = np.array([0.2, 0.4, 0.6])
    ours = boundaries.by_segbench(edges[0], cuts)
    assert ours.matched_gt.min() > 0
    for counter in (boundaries.by_scipy, *([] if PYEDGEEVAL.missing else [boundaries.by_pyedgeeval])):
        theirs = counter(edges[0], cuts)
        assert np.array_equal(theirs.total_gt, ours.total_gt)
        assert np.array_equal(theirs.total_pred, ours.total_pred)
        allowed = 0 if counter is boundaries.by_scipy else 0.01 * ours.matched_gt
        assert np.all(np.abs(theirs.matched_gt - ours.matched_gt) <= allowed)
        assert np.all(np.abs(theirs.matched_pred - ours.matched_pred) <= allowed)


def test_all_matchers_find_as_many_pairs_at_the_same_distance(edges):
    image = edges[0]
    on = segbench.thin(image.scores / 255 >= 0.3)
    found = {name: match() for name, match in boundaries.matchings(on, image.ground_truths[0], image).items()}
    ours = found.pop("segbench")
    assert ours.pairs > 20
    exact = [found[name] for name in found if name.startswith("SciPy")]
    assert exact == [ours, ours]


def test_boundary_tables_leave_a_missing_program_out(edges, monkeypatch):
    monkeypatch.setattr(boundaries, "PYEDGEEVAL", ABSENT)
    report = boundaries.report(edges, thresholds=3)
    assert "pyEdgeEval" not in report
    assert report.count("| SciPy, ") == 3


@pytest.fixture(scope="module")
def masks():
    return [MaskImage(image.name, image.scores[::4, ::4], image.ground_truth[::4, ::4]) for image in shipped_masks()]


def test_f_at_every_level_is_what_thresholding_gives(masks):
    image = masks[0]
    positive = image.ground_truth > 128
    counts = segbench.count_pixels(positive, image.scores)
    curve = saliency.f_at_levels(counts)[::-1]
    for level in range(saliency.LEVELS):
        on = image.scores >= level
        tp = np.count_nonzero(on & positive)
        assert curve[level] == pytest.approx(1.3 * tp / (0.3 * positive.sum() + on.sum()), abs=EXACT)
    on = image.scores / 255 >= min(2 * (image.scores / 255).mean(), 1)
    tp = np.count_nonzero(on & positive)
    assert saliency.adaptive_f(counts) == pytest.approx(1.3 * tp / (0.3 * positive.sum() + on.sum()), abs=EXACT)


@pytest.mark.skipif(bool(PYSODMETRICS.missing), reason="PySODMetrics is not installed")
def test_f_of_256_levels_is_that_of_pysodmetrics(masks):
    ours, theirs = saliency.by_segbench(masks), saliency.by_pysodmetrics(masks, stretch=False)
    assert theirs == pytest.approx({key: ours[key] for key in theirs}, abs=EXACT)
    stretched = [MaskImage(m.name, _stretched(m.scores), m.ground_truth) for m in masks]
    again = saliency.by_pysodmetrics(stretched, stretch=True)
    assert again == pytest.approx(saliency.by_pysodmetrics(stretched, stretch=False), abs=EXACT)


def _stretched(scores):
    """Make a map that spans 0 to 255 already, so that stretching changes nothing."""
    stretched = scores.copy()
    stretched.flat[:2] = 0, 255
    return stretched


def test_saliency_table_leaves_a_missing_program_out(masks, monkeypatch):
    monkeypatch.setattr(saliency, "PYSODMETRICS", ABSENT)
    report = saliency.report(masks[:1], rounds=1)
    assert len(report.splitlines()) == 3


def test_information_and_rand_error_are_those_of_scikit_image():
    for maps in regions.shipped_label_maps([0.2, 0.3])[:3]:
        assert np.allclose(regions.by_segbench(maps), regions.by_scikit_image(maps), atol=1e-9, rtol=0)
    rows = regions.rows_of("one", regions.one_to_one(regions.shipped_label_maps([0.3])[:1]), rounds=1)
    assert [row[1] for row in rows] == ["segbench", "scikit-image"]
