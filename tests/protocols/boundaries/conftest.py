"""Numba keeps a kernel when a helper in another file has changed: compiled files older than any source are removed."""

from contextlib import suppress
from pathlib import Path

import segbench.protocols.boundaries as package

FOLDER = Path(package.__file__).parent
newest = max(path.stat().st_mtime for path in FOLDER.glob("*.py"))
for compiled in (FOLDER / "__pycache__").glob("*.nb?"):
    with suppress(FileNotFoundError):  # another worker of the tests removed it
        if compiled.stat().st_mtime < newest:
            compiled.unlink()
