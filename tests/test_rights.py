"""Every file that ships has a source and a licence, and the metadata names all of these licences."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "datasets"
PAGE = (DATA / "README.md").read_text("utf-8")
PICTURES = sorted((DATA / "demo" / "images").iterdir())
PUBLIC_DOMAIN = ROOT / "LICENSES" / "LicenseRef-Public-Domain.txt"
WRITTEN_FOR_SEGBENCH = {".py", ".pyi", ".typed", ".toml", ".js", ".css", ".html"}


def rows(first_cell):
    """Return the cells of the rows of the table whose first column has this title."""
    table = PAGE[PAGE.index(f"| {first_cell} |") :].split("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


@pytest.mark.parametrize("path", [path.relative_to(DATA).as_posix() for path in files(DATA)])
def test_every_data_file_has_one_source(path):
    places = [place for cells in rows("files") for place in re.findall(r"`([^`]+)`", cells[0])]
    assert len([place for place in places if path == place or (place.endswith("/") and path.startswith(place))]) == 1


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_every_picture_that_ships_may_be_shared(picture):
    (row,) = (cells for cells in rows("id") if cells[0] == picture.stem)
    named = str(picture.relative_to(ROOT).as_posix()) in PUBLIC_DOMAIN.read_text("utf-8")
    assert row[4] == ("public domain" if named else "CC0-1.0")


def test_the_package_holds_nothing_but_what_was_written_for_it_and_its_data():
    others = [path for path in files(ROOT / "segbench") if path.suffix not in WRITTEN_FOR_SEGBENCH]
    assert not others, "name their source and licence in datasets/README.md"


def test_the_metadata_name_each_licence_and_its_text():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    named = set(project["license"].split(" AND "))
    texts = {path.stem for path in (ROOT / "LICENSES").iterdir()}
    assert named == {"BSD-3-Clause"} | texts
    assert texts == {"Apache-2.0", "BSD-2-Clause", "CC0-1.0", PUBLIC_DOMAIN.stem}
    assert {path for pattern in project["license-files"] for path in ROOT.glob(pattern)} == {
        ROOT / "LICENSE",
        *(ROOT / "LICENSES").iterdir(),
    }
