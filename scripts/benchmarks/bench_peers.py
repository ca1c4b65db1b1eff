"""segbench beside other people's programs: the same work in the same run, numbers compared before times.

    python scripts/benchmarks/bench_peers.py [SUBJECT ...] [--write docs/benchmarks] [--raw FOLDER] [--quick]

Subjects; without any all are measured:

pixels      curves and areas beside scikit-learn and torchmetrics, up to 1e8 pixels, with peak memory
labels      confusion matrices beside NumPy, scikit-learn and torchmetrics
boundaries  the BSDS benchmark at 99 thresholds beside pyEdgeEval and SciPy's matchers
saliency    all metrics beside PySODMetrics
regions     variation of information and adapted Rand error beside scikit-image

Each comparison is kept as a JSON file in the folder as soon as it is measured, and is not measured again: an
interrupted run continues, and the pages can be written again. A program that is not installed is left out, and the
command says how to install it. The environment variables SEGBENCH_BSDS500 and SEGBENCH_SOD name folders with the images
of BSDS500 (as published) and SOD (ground_truth, predictions/METHOD); else the images that ship are used.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import measuring
from peer_tables.contests import Effort, run
from peer_tables.page import HINT, SUBJECTS, page_of, picture_of, write
from peer_tables.programs import PEERS

from segbench import ArgumentError
from segbench.aggregator.writing import refuse_foreign


def main() -> None:
    """Measure what is not kept yet, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], metavar="SUBJECT", help="one of the above")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="for pages; pictures go to images/ beside it")
    parser.add_argument("--raw", type=Path, metavar="FOLDER", help="where comparisons are kept (default: in /tmp)")
    parser.add_argument("--quick", action="store_true", help="little work, to see that it runs")
    asked = parser.parse_args()
    default = Path(tempfile.gettempdir()) / ("segbench-peers-quick" if asked.quick else "segbench-peers")
    folder: Path = asked.raw or default
    pages = asked.write or folder / "benchmarks"
    try:
        written = [page_of(pages, name) for name in ("index", *SUBJECTS)]
        written += [picture_of(pages, name) for name in SUBJECTS]
        refuse_foreign(dict.fromkeys(written), HINT)
    except ArgumentError as error:
        parser.error(str(error))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{measuring.today()}, {measuring.machine()}; kept in {folder}")
    for program in PEERS:
        if program.missing:
            print(program.missing)
    for name in asked.subjects or SUBJECTS:
        with tempfile.TemporaryDirectory() as scratch:
            run(name, list(SUBJECTS[name].contests(Effort(asked.quick, Path(scratch)))), folder)
    write(folder, pages)
    print(f"{measuring.today()}, {measuring.machine()}; written to {pages}")


if __name__ == "__main__":
    main()
