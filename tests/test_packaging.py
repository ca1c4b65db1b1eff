"""What the package index and the repository's host read: one version, one placeholder, whole addresses."""

import re
import tomllib
from pathlib import Path

import pytest

from segbench import __version__

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")
SOURCE = SETTINGS["project"]["urls"]["Source"]


def on_the_index():
    """Return the README as the build changes it for the package index."""
    text = README
    for change in SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    return text.replace("$HFPR_VERSION", __version__)


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("README.md", r"^  version = \{(.+)\},$"),
        ("CITATION.cff", r'^version: "(.+)"$'),
        ("CHANGELOG.md", r"^## (\S+)"),
    ],
)
def test_the_version_is_the_same_wherever_it_stands(file, pattern):
    assert re.findall(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)[:1] == [__version__]


def test_the_index_shows_whole_addresses_of_files_that_exist():
    link = r"(!?)\[[^\]]*\]\(([^)#]+)[^)]*\)"
    links = [(picture, path) for picture, path in re.findall(link, README) if not path.startswith("https:")]
    shown = [address for _, address in re.findall(link, on_the_index()) if address.startswith(SOURCE)]
    assert shown == [f"{SOURCE}/{'raw' if picture else 'blob'}/v{__version__}/{path}" for picture, path in links]
    assert not [path for _, path in links if not (ROOT / path).is_file()]


def test_the_owner_of_the_repository_is_named_in_one_file():
    elsewhere = [*ROOT.glob("*.md"), ROOT / "CITATION.cff", *(ROOT / "docs").glob("*.md")]
    named = re.compile(r"github\.com/([\w-]+)/segbench")
    assert not [path.name for path in elsewhere if named.search(path.read_text("utf-8"))]
    assert set(named.findall((ROOT / "pyproject.toml").read_text("utf-8"))) == {SOURCE.split("/")[3]}
