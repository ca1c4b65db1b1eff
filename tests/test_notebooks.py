"""The notebooks of the documentation show what happens: they are executed, and print what is stored in them."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

RENEW = "SEGBENCH_NEW_PAGES"
ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# Jupyter's own libraries leave sockets open and ask for event loops in ways that Python will give up.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_says(path, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel", reason="needs pip install '.[notebooks]'")
    nbclient = pytest.importorskip("nbclient", reason="needs pip install '.[notebooks]'")
    nbformat = pytest.importorskip("nbformat")
    (tmp_path / "segbench").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m segbench "$@"\n')
    (tmp_path / "segbench").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    stored = nbformat.read(path, as_version=4)
    for package in stored.metadata.get("needs", []):
        pytest.importorskip(package, reason=f"the notebook shows {package}")
    if "transformers" in stored.metadata.get("needs", []):
        # It would take the folder `datasets` of the checkout for the package of that name.
        (tmp_path / "packages").mkdir()
        (tmp_path / "packages" / "segbench").symlink_to(ROOT / "segbench")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    executed = nbformat.from_dict(json.loads(json.dumps(stored)))
    nbclient.NotebookClient(executed, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    if os.environ.get(RENEW):
        for cell in executed.cells:
            cell.metadata.pop("execution", None)
        executed.metadata = stored.metadata
        nbformat.write(executed, path)
    else:
        assert [printed(cell) for cell in executed.cells] == [printed(cell) for cell in stored.cells]


def printed(cell):
    """Return what a cell printed: its texts, and of pictures that there are some."""
    texts = []
    for output in cell.get("outputs", []):
        assert output.output_type != "error"
        data = output.get("data", {})
        texts.append(output.get("text") or ("a picture" if "image/png" in data else data["text/plain"]))
    # A version changes with each release, and a digest with the notebook's images.
    return re.sub(r"segbench:[^|\s<]+", "segbench:...", "".join(texts))
