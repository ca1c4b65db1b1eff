"""How long it takes to find the files of many images, before the first is read.

    python scripts/benchmarks/bench_listing.py [--images 100000] [--half]

Makes folders of that many small files in 100 sub-folders, and the same as archives, and prints the seconds of the
processor to list and to pair them, to find the flag that mends names, and to read every member of each kind of archive
in random order beside the files of the folder. ``--half`` repeats it with half the images: twice the images must take
about twice the time.
"""

from __future__ import annotations

import argparse
import random
import tarfile
import tempfile
import zipfile
from pathlib import Path

from measuring import processor_seconds as seconds

from segbench.core.errors import DataError
from segbench.loaders.listing import list_archive, list_folder
from segbench.loaders.pairing import Inputs, pair
from segbench.loaders.source import read_bytes


def make(root: Path, images: int) -> None:
    """Write ground truth, predictions, predictions under other names, a file list, and archives of the first."""
    bytes_of = random.Random(0).randbytes  # noqa: S311  not for secrets
    names = [f"{i % 100:03}/img{i:06}" for i in range(images)]
    for side, form in (("gt", "{}.png"), ("pred", "{}.png"), ("odd", "{}_out.png")):
        for name in names:
            path = root / side / form.format(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes_of(200))
    rows = "".join(f"{name},gt/{name}.png,pred/{name}.png\n" for name in names)
    (root / "pairs.csv").write_text("name,ground_truth,prediction\n" + rows)
    with zipfile.ZipFile(root / "gt.zip", "w") as archive:
        for name in names:
            archive.write(root / "gt" / f"{name}.png", f"{name}.png")
    for ending in ("tar", "tar.gz"):
        with tarfile.open(root / f"gt.{ending}", f"w:{ending[4:]}") as tar:
            for name in names:
                tar.add(root / "gt" / f"{name}.png", f"{name}.png")


def refused(inputs: Inputs) -> None:
    """Pair what does not, and insist that the flag that mends it is named."""
    try:
        pair(inputs).require_complete()
    except DataError as error:
        if "pred_pattern='*_out'" in error.hint:
            return
    raise AssertionError("the names should not pair, and a flag should mend them")


def report(root: Path) -> None:
    """Print all times."""
    gt = str(root / "gt")
    folders = Inputs(ground_truth=gt, prediction=str(root / "pred"))
    print(f"  list a folder               {seconds(lambda: list_folder(root / 'gt')):6.2f} s")
    print(f"  pair two folders            {seconds(lambda: pair(folders)):6.2f} s")
    odd = Inputs(ground_truth=gt, prediction=str(root / "odd"))
    print(f"  find the flag that mends    {seconds(lambda: refused(odd)):6.2f} s")
    listed = Inputs(pairs=str(root / "pairs.csv"), column="prediction")
    print(f"  read a file list            {seconds(lambda: pair(listed)):6.2f} s")
    sources = {"folder": [image.source for image in list_folder(root / "gt").entries]}
    for ending in ("zip", "tar", "tar.gz"):
        path = str(root / f"gt.{ending}")
        print(f"  list a .{ending:20}{seconds(lambda path=path: list_archive(path)):6.2f} s")  # type: ignore[misc]
        sources[f".{ending}"] = [image.source for image in list_archive(path).entries]
    for name, files in sources.items():
        sample = random.Random(1).sample(files, min(2000, len(files)))  # noqa: S311  as above
        taken = seconds(lambda sample=sample: [read_bytes(file) for file in sample]) / len(sample)  # type: ignore[misc]
        print(f"  read a file, {name:15}{taken * 1e6:6.0f} us, random order")


def main() -> None:
    """Make the files, and time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--half", action="store_true", help="also with half the images")
    options = parser.parse_args()
    for images in (options.images // 2, options.images) if options.half else (options.images,):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), images)
            print(f"{images} images")
            report(Path(folder))


if __name__ == "__main__":
    main()
