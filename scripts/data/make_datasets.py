"""Make `datasets/`: the papers' small examples and the demo set. Needs no network.

Usage: python scripts/data/make_datasets.py [FOLDER]
"""

import argparse
import tempfile
from pathlib import Path

from demo_data.demo import make_demo
from demo_data.papers import make_papers

from segbench import ArgumentError
from segbench.aggregator.writing import refuse_foreign, write_file

_HINT = "give another folder"


def main() -> None:
    """Write both data sets into the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Make the data sets that ship with segbench.")
    default = Path(__file__).resolve().parents[2] / "datasets"
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="default: datasets/ of this repository")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as made:
        make_papers(Path(made) / "papers")
        make_demo(Path(made) / "demo")
        paths = [path for path in Path(made).rglob("*") if path.is_file()]
        files = {folder / path.relative_to(made): path.read_bytes() for path in paths}
    try:
        refuse_foreign(files, _HINT)
    except ArgumentError as error:
        parser.error(str(error))
    for path, data in files.items():
        write_file(path, data, hint=_HINT, make_folder=True)
    print(f"{len(files)} files, {sum(map(len, files.values())) / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main()
