"""The benchmarks beside peers: that numbers agree where they should, never how long anything took."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from peer_tables import boundaries, labels, page, pixels, regions, saliency
from peer_tables.contests import Effort
from peer_tables.images import EdgeImage, MaskImage, shipped_edges, shipped_masks
from peer_tables.programs import PYEDGEEVAL, PYSODMETRICS, TORCHMETRICS, Program

DOCS = Path(__file__).parents[2] / "docs"
ABSENT = Program("Absent", ("no_such_module",), "absent-package", "absent")
EXACT = 1e-12
SINGLE = 2e-6
"""What float32 loses: torchmetrics computes in it."""


def test_a_missing_program_is_named_with_the_command_that_installs_it():
    assert ABSENT.missing == "Absent: not installed; pip install absent-package"
    assert not Program("NumPy", ("numpy",), "numpy", "numpy").missing


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return str(tmp_path_factory.mktemp("arrays"))


@pytest.mark.parametrize("work", pixels.WORKS)
@pytest.mark.parametrize(
    ("contestant", "kind"),
    [
        pytest.param(contestant, kind, id=f"{contestant.name}, {kind}")
        for contestant in pixels.CONTESTANTS
        for kind in contestant.kinds
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_curves_and_areas_agree_with_every_program(scratch, contestant, work, kind):
    if contestant.program.missing:
        pytest.skip(contestant.program.missing)
    arrays = pixels.load(scratch, 3000, kind)
    answer, ours = (
        pixels.at_levels(work, kind, pixels.do(name, work, *arrays)) for name in (contestant.name, pixels.OURS)
    )
    assert len(answer) == (2 * 255 if "curve" in work else 1)
    assert answer == pytest.approx(ours, abs=tolerance(contestant, work, kind))


def tolerance(contestant, work, kind):
    if contestant.program is not TORCHMETRICS:
        return EXACT
    if str(pixels.LEVELS) not in contestant.name:
        return SINGLE
    # Its thresholds are rounded otherwise than k / 255, so some levels fall below their own threshold; and 256
    # thresholds give the area of float scores only roughly.
    if "curve" in work:
        return 0.05 if kind == "8-bit" else 1e-3
    return 0.01


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_confusion_matrices_agree():
    for contest in labels.contests(Effort(quick=True, scratch=Path("unused"))):
        maps = contest.load(*contest.arguments)
        ours = labels.by_segbench(*maps)
        assert ours.sum() == np.count_nonzero(maps[0] != labels.VOID)
        for way in contest.ways:
            assert way.program.missing or labels.cells_of(way.work(*maps)) == labels.cells_of(ours), way.title


@pytest.fixture(scope="module")
def edges():
    image = shipped_edges(most=1)[0]
    part = np.s_[:90, :120]
    return EdgeImage(image.name, image.scores[part], [truth[part] for truth in image.ground_truths])


def test_boundary_counts_are_scipys_and_near_the_official_matchers(edges):
    assert len(edges.ground_truths) == 1
    cuts = np.array([0.2, 0.4, 0.6])
    ours = boundaries.by_segbench(edges, cuts)
    assert ours.matched_gt.min() > 0
    for counter in (boundaries.by_scipy, *([] if PYEDGEEVAL.missing else [boundaries.by_pyedgeeval])):
        theirs = counter(edges, cuts)
        assert np.array_equal(theirs.total_gt, ours.total_gt)
        assert np.array_equal(theirs.total_pred, ours.total_pred)
        allowed = 0 if counter is boundaries.by_scipy else 0.01 * ours.matched_gt
        assert np.all(np.abs(theirs.matched_gt - ours.matched_gt) <= allowed)
        assert np.all(np.abs(theirs.matched_pred - ours.matched_pred) <= allowed)


def test_all_matchers_find_as_many_pairs_at_the_same_distance():
    on, truth, reach = boundaries.load_one("", shipped_edges(most=1)[0].name)
    maps = on[:90, :120], truth[:90, :120], reach
    ours = boundaries.match_segbench(*maps)
    assert ours.pairs > 20
    for matcher in (boundaries.sparse_matching, boundaries.dense_matching):
        assert boundaries.match_scipy(matcher, *maps) == ours
    assert boundaries.difference([5, -1], [5, 700]) == "as many pairs, distance not given"


@pytest.mark.filterwarnings("ignore:This class will be removed")  # which later versions of PySODMetrics say
@pytest.mark.skipif(bool(PYSODMETRICS.missing), reason="PySODMetrics is not installed")
def test_saliency_metrics_are_those_of_pysodmetrics():
    masks = [MaskImage(m.name, m.scores[::4, ::4], m.ground_truth[::4, ::4]) for m in shipped_masks()]
    ours = saliency.by_segbench(masks)
    assert saliency.by_pysodmetrics(masks) == pytest.approx(ours, abs=EXACT)


def test_information_and_rand_error_are_those_of_scikit_image():
    for alone, numbers in ((False, 2), (True, 1)):
        (images,) = regions.shipped_label_maps(1, 2, alone)
        ours = regions.values(regions.by_segbench(images))
        assert len(ours) == 2 * numbers
        assert np.allclose(ours, regions.values(regions.by_scikit_image(images)), atol=1e-9, rtol=0)


@pytest.mark.parametrize("quick", [True, False])
def test_every_subject_has_contests_with_names_of_their_own(quick, monkeypatch):
    monkeypatch.delenv("SEGBENCH_BSDS500", raising=False)
    monkeypatch.delenv("SEGBENCH_SOD", raising=False)
    for subject in page.SUBJECTS.values():
        names = [contest.title for contest in subject.contests(Effort(quick, Path("unused")))]
        assert len(set(names)) == len(names) > 0


def test_pages_without_a_new_measurement_stay_as_they_are(tmp_path):
    pages = Path(shutil.copytree(DOCS / "benchmarks", tmp_path / "benchmarks"))
    page.write(tmp_path / "nothing", pages)
    by_another_script = "volumes"  # bench_volumes.py
    subjects = (*page.SUBJECTS, by_another_script)
    assert {path.name for path in pages.iterdir()} == {"index.md", *(f"{subject}.md" for subject in subjects)}
    for path in pages.iterdir():
        assert path.read_text() == (DOCS / "benchmarks" / path.name).read_text()
        assert "Not measured" not in path.read_text()
