"""Make `datasets/`: the papers' small examples and the demo set. Needs no network.

Usage: python scripts/data/make_datasets.py [FOLDER]
"""

import argparse
from pathlib import Path

from demo_data.demo import make_demo
from demo_data.papers import make_papers


def main() -> None:
    """Write both data sets into the folder that the command line names."""
    parser = argparse.ArgumentParser(description="Make the data sets that ship with segbench.")
    default = Path(__file__).resolve().parents[2] / "datasets"
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="default: datasets/ of this repository")
    folder = parser.parse_args().folder
    make_papers(folder / "papers")
    make_demo(folder / "demo")
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    print(f"{len(sizes)} files, {sum(sizes) / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main()
