"""One results file with runs of all nine verbs: shown, compared and reported."""

import json

import numpy as np
import pytest
from cases import write_folder
from refusing import insist

VERBS = {
    "pixels": ("soft", ()),
    "labels": ("hard", ()),
    "boundaries": ("edges", ("--label-maps", "--thresholds", "5")),
    "regions": ("hard", ()),
    "contours": ("soft", ("--at", "0.5")),
    "centerlines": ("soft", ("--at", "0.5")),
    "saliency": ("soft", ()),
    "anomalies": ("soft", ()),
    "objects": ("soft", ("--kind", "components", "--at", "0.5")),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Discs, one image without any, and two methods that find them more or less well."""
    root, rng = tmp_path_factory.mktemp("discs"), np.random.default_rng(5)
    rows, columns = np.mgrid[:40, :48]
    inside = {
        f"im{k}.png": rng.uniform(4, 11) - np.hypot(rows - rng.uniform(12, 28), columns - rng.uniform(12, 36))
        for k in range(7)
    } | {"normal.png": np.full((40, 48), -20.0)}
    write_folder(root / "gt", {name: np.uint8(255 * (distance > 0)) for name, distance in inside.items()})
    for method, shift in (("near", 0.5), ("far", 2)):
        soft = {
            name: np.uint8(np.rint(255 / (1 + np.exp(-distance - rng.normal(0, shift)))))
            for name, distance in inside.items()
        }
        write_folder(root / "soft" / method, soft)
        edges = {
            name: np.uint8(np.rint(255 * np.exp(-((distance + rng.normal(0, shift)) ** 2) / 2)))
            for name, distance in inside.items()
        }
        write_folder(root / "edges" / method, edges)
        write_folder(root / "hard" / method, {name: np.uint8(255 * (values > 127)) for name, values in soft.items()})
    return root


@pytest.fixture(scope="module")
def file(folders):
    return folders / "all.segbench"


@pytest.fixture
def counted(folders, file, segbench):
    if not file.exists():
        for verb, (kind, options) in VERBS.items():
            methods = [folders / kind / method for method in ("near", "far")]
            answer = segbench(verb, folders / "gt", *methods, *options, "--no-check", "-o", file)
            assert answer.code == 0, answer.err
    return file


def test_show_lists_every_run(segbench, counted):
    runs = json.loads(segbench("show", counted, "--format", "json").out)["runs"]
    assert [(run["protocol"], run["method"]) for run in runs] == [
        (verb, method) for verb in VERBS for method in ("near", "far")
    ]
    assert {run["images"] for run in runs} == {8}


@pytest.mark.parametrize("verb", VERBS)
def test_compare_answers_by_one_protocol(segbench, counted, verb):
    answer = segbench("compare", counted, "--only", f"protocol:{verb}", "--format", "json")
    assert answer.code == 0, answer.err
    (standings,) = {tuple(one["method"] for one in by["standings"]) for by in json.loads(answer.out)["answers"][:1]}
    assert sorted(standings) == ["far", "near"]


def test_compare_asks_for_one_protocol(segbench, counted):
    answer = segbench("compare", counted)
    assert answer.code == 2
    names = tuple(f"{method} ({verb})" for verb in VERBS for method in ("near", "far"))
    insist(answer.error, "several-of-one-name", methods=("far", "near"), choices=names)


def test_the_page_has_a_part_for_each_protocol(segbench, counted, tmp_path):
    page = tmp_path / "report.html"
    assert segbench("report", counted, "-o", page).code == 0
    text = page.read_text("utf-8")
    assert [verb for verb in VERBS if f"protocol:{verb}|" not in text] == []
