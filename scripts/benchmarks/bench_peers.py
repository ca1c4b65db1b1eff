"""segbench beside other people's programs: the same work in the same run, numbers compared before times.

    python scripts/benchmarks/bench_peers.py [pixels] [boundaries] [saliency] [regions] [--quick]

Prints Markdown tables (`docs/benchmarks.md` holds those of one run). Without a subject all four are measured:

pixels      curves and areas, beside scikit-learn and torchmetrics, up to 1e8 pixels, with peak memory
boundaries  the BSDS benchmark, beside pyEdgeEval and SciPy's matchers
saliency    F at 256 levels, beside PySODMetrics
regions     variation of information and adapted Rand error, beside scikit-image

A program that is not installed is left out and named with the command that installs it. BSDS500's images are used for
boundaries and regions where the environment variable SEGBENCH_BSDS500 names the folder; else the pictures that ship.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bsds500
import measuring
from peer_tables import boundaries, pixels, regions, saliency
from peer_tables.images import bsds_edges, shipped_edges, shipped_masks
from peer_tables.pixel_programs import WORKS
from peer_tables.programs import PACKAGES, PEERS
from peer_tables.workers import Limits

SUBJECTS = ("pixels", "boundaries", "saliency", "regions")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "subjects", nargs="*", type=subject, default=SUBJECTS, metavar="subject", help="one of the above"
    )
    parser.add_argument("--quick", action="store_true", help="little work, to see that it runs")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e7, 1e8], help="pixels of the arrays")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=WORKS, help="what is asked of pixels")
    parser.add_argument("--seconds", type=float, default=120, help="limit of a call on pixels, processor time")
    parser.add_argument("--memory", type=float, default=14, metavar="GIB", help="limit of a process on pixels")
    parser.add_argument("--budget", type=float, default=15, help="seconds after which a cell is not repeated")
    parser.add_argument("--images", type=int, default=2, help="images of BSDS500")
    asked = parser.parse_args()
    print(f"{measuring.today()}, {measuring.machine()}", measuring.versions(PACKAGES), sep="\n")
    for program in PEERS:
        if program.missing:
            print(program.missing)
    if "pixels" in asked.subjects:
        sizes = [10**4, 10**5] if asked.quick else [int(size) for size in asked.sizes]
        with tempfile.TemporaryDirectory() as folder:
            table = pixels.measure(
                Path(folder),
                sizes,
                asked.works,
                pixels.Effort(Limits(asked.seconds, int(asked.memory * measuring.GIB)), asked.budget),
            )
        print(pixels.report(table))
    for about in ("boundaries", "saliency", "regions"):
        if about in asked.subjects:
            for heading, text in tables(about, images=1 if asked.quick else asked.images, quick=asked.quick):
                print(f"\n{heading}\n\n{text}", flush=True)
    print(f"finished {measuring.today()}, {measuring.machine()}")


def subject(word: str) -> str:
    """Check a subject of the command line."""
    if word not in SUBJECTS:
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(SUBJECTS)}")
    return word


def tables(about: str, *, images: int, quick: bool) -> Iterator[tuple[str, str]]:
    """Give headings and tables of a subject about whole images."""
    most = 1 if quick else None
    folder = bsds500.folder()
    if about == "saliency":
        masks = shipped_masks(most=most)
        yield f"F at 256 levels, {len(masks)} images that ship", saliency.report(masks)
    elif about == "regions":
        sets = {"images that ship": regions.shipped_label_maps()[:most]}
        if folder is not None:
            sets[f"{images} of BSDS500"] = regions.bsds_label_maps(folder, images, thresholds=9 if quick else 99)
        yield "Label maps", regions.report(sets, rounds=1 if quick else 3)
    else:
        thresholds = 9 if quick else 99
        shipped = shipped_edges(most=most)
        heading = f"Boundaries, {len(shipped)} images that ship, {thresholds} thresholds"
        yield heading, boundaries.report(shipped, thresholds)
        if folder is not None:
            few = 9  # pyEdgeEval takes minutes an image at 99
            heading = f"Boundaries, {images} images of BSDS500, {few} thresholds"
            yield heading, boundaries.report(bsds_edges(folder, images), few)


if __name__ == "__main__":
    main()
