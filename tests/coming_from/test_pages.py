"""What docs/coming_from/ says to users of other tools: each row is typed as it stands there, and gives its number."""

import functools

import pytest
from check_coming_from import PAGES, TOOLS, evaluated, is_printed, names_of, rows_of
from coming_from import instances, label_maps, soft_maps, surfaces

DEFINITIONS = {
    "anomalib": soft_maps.anomalib,
    "bsds500": soft_maps.bsds500,
    "cityscapesscripts": label_maps.cityscapesscripts,
    "mmsegmentation": label_maps.mmsegmentation,
    "monai_nnunet": surfaces.monai_nnunet,
    "panopticapi": instances.panopticapi,
    "pycocotools": TOOLS["pycocotools"],  # itself: the tests install it
    "pysodmetrics": soft_maps.pysodmetrics,
    "scikit_learn": TOOLS["scikit_learn"],
    "stardist_cellpose": instances.stardist_cellpose,
    "surface_distance_medpy": surfaces.surface_distance_medpy,
    "torchmetrics": label_maps.torchmetrics,
}
ROWS = [
    pytest.param(page, row, id=f"{page}-{number}")
    for page in sorted(DEFINITIONS)
    for number, row in enumerate(rows_of(page))
]
names = functools.cache(names_of)
defined = functools.cache(lambda page: DEFINITIONS[page](names(page)))


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch):
    monkeypatch.chdir(PAGES.parents[1])


def test_each_page_has_rows_and_a_definition_and_runs_beside_its_tool():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert pages == set(DEFINITIONS) == set(TOOLS)
    assert all(rows_of(page) for page in pages)


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_segbench_gives_the_number_of_the_page(page, row):
    number = evaluated(row.segbench, names(page))
    assert is_printed(row.here, number), number


@pytest.mark.parametrize(("page", "row"), ROWS)
def test_the_definition_of_the_tool_gives_the_number_of_the_page(page, row):
    if DEFINITIONS[page] is TOOLS[page]:
        pytest.importorskip({"scikit_learn": "sklearn"}.get(page, page))
    number = evaluated(row.tool, {**names(page), **defined(page)})
    assert is_printed(row.there, number), number
