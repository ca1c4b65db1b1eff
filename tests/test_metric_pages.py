"""Every metric has a page in the documentation, and every page is found."""

import json
import re
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

import segbench
from segbench.protocols.registry import protocols, verb_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "metrics"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem != "index")
PARTS = ["Formula", "Picture", "Range and edge cases", "In segbench", "Differences", "Reference"]
ROW = re.compile(r"^\| `segbench (\w+)[^|]*\| ([^|]+) \|", re.MULTILINE)
LINK = re.compile(r"^\| \[[^]]+\]\(([\w-]+)\.md\)", re.MULTILINE)
PICTURE = re.compile(r"^!\[[^]]+\]\((\S+)\)$", re.MULTILINE)
LARGEST = 40_000
AT = re.compile(r"(?<!component_f1)@[\d.]+$")
"""A threshold in a key that may be any number, for which pages write T."""


@pytest.fixture
def settings(tmp_path):
    """Return settings under which the protocols have all of their metrics."""
    defects = tmp_path / "defects_config.json"
    rule = {"pixel_value": 255, "saturation_threshold": 8, "relative_saturation": False}
    defects.write_text(json.dumps([rule]), "utf-8")
    every = {"at": (0.5,), "calibration": True}
    return (
        segbench.Pixels(**every),
        segbench.Classes(labels=range(3), **every),
        segbench.Labels(),
        segbench.Labels(classes=3),
        segbench.Boundaries(crispness=True),
        segbench.Regions(),
        segbench.Saliency(),
        segbench.Contours(),
        segbench.Contours(classes=3),
        segbench.Contours(sequences=True),
        segbench.Centerlines(thresholds=19),
        *(segbench.Objects(kind=kind, iou=(0.5,)) for kind in ("instances", "panoptic")),
        segbench.Objects(kind="components", at=0.5),
        segbench.ScoredObjects(),
        segbench.Objects(kind="components", dilate=3, min_size=50),
        segbench.Anomalies(),
        segbench.Anomalies(defects=defects),
    )


def named():
    """Return the pages that name each metric of each command."""
    found = defaultdict(list)
    for page in PAGES:
        for verb, keys in ROW.findall(page.read_text("utf-8")):
            for key in re.findall(r"`([^`]+)`", keys):
                found[verb, key].append(page.stem)
    return found


def test_every_metric_has_one_page(settings):
    assert {type(each).name for each in settings} == set(protocols()), "add settings of the new protocol"
    expected = set()
    for protocol in settings:
        for metric in protocol.metrics():
            if metric.key and metric.kind != "total":
                expected.add((verb_of(type(protocol)), AT.sub("@T", metric.key)))
    pages = named()
    assert not expected - set(pages), "name them under 'In segbench' of a page in docs/metrics"
    assert not set(pages) - expected, "no metric has these keys"
    assert not {key: on for key, on in pages.items() if len(on) > 1}


def test_every_page_is_listed_under_its_commands():
    text = (FOLDER / "index.md").read_text("utf-8")
    sections = re.split(r"^## segbench (\w+)$", text, flags=re.MULTILINE)[1:]
    listed = [
        (verb, page) for verb, part in zip(sections[::2], sections[1::2], strict=True) for page in LINK.findall(part)
    ]
    assert set(listed) == {(verb, page) for (verb, _), pages in named().items() for page in pages}
    assert len(set(listed)) == len(listed)
    assert sorted(re.findall(r"<([\w-]+)>$", text, re.MULTILINE)) == sorted(page.stem for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_the_same_parts(page):
    text = page.read_text("utf-8")
    parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert parts == [part for part in PARTS if part in parts]
    assert set(PARTS) - set(parts) <= {"Differences"}
    assert "**Use " in text.split("##")[0]
    assert "```{math}" in text
    assert ">>> " in text
    assert re.search(r"\b(19|20)\d\d\b", text.split("## Reference")[1])


def test_every_picture_is_drawn_by_the_script_and_shown():
    drawn = set(runpy.run_path(str(ROOT / "scripts" / "data" / "metric_pictures.py"))["PICTURES"])
    shown = [picture for page in PAGES for picture in PICTURE.findall(page.read_text("utf-8"))]
    assert all((FOLDER / picture).is_file() for picture in shown)
    assert {Path(picture).stem for picture in shown if picture.startswith("images/")} == drawn
    files = list((FOLDER / "images").iterdir())
    assert {path.stem.removesuffix("-dark") for path in files} == drawn
    assert not [path.name for path in files if path.stat().st_size > LARGEST]
