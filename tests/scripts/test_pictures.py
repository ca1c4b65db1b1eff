"""The programs that draw the documentation keep files that segbench did not write."""

import runpy
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "scripts" / "data"


@pytest.fixture
def draw(monkeypatch, tmp_path):
    """Draw a picture of the pages of metrics into a folder, as the command line does."""

    def run(name):
        monkeypatch.syspath_prepend(str(DATA))
        monkeypatch.setattr(sys, "argv", ["metric_pictures.py", name, "-o", str(tmp_path)])
        runpy.run_path(str(DATA / "metric_pictures.py"), run_name="__main__")

    return run


@pytest.mark.slow
def test_pictures_are_drawn_again_and_foreign_files_are_kept(draw, tmp_path, capsys):
    for _ in range(2):
        draw("spro")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert before.keys() == {"spro.png", "spro-dark.png"}
    (tmp_path / "pimo-dark.png").write_bytes(b"drawn by hand")
    with pytest.raises(SystemExit) as ended:
        draw("pimo")
    assert ended.value.code == 2
    assert "pimo-dark.png" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before | {"pimo-dark.png": b"drawn by hand"}
