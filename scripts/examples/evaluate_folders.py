"""Benchmark every folder of predictions in a folder, keep all counts in one file, and print one table.

    python evaluate_folders.py GROUND_TRUTH PREDICTIONS [-p boundaries] [-o results.segbench] [-j 4]

PREDICTIONS holds one folder per method. The same command goes on after an interruption, and counts only what is new or
has changed; a method that cannot be counted is reported and keeps no other from being counted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import segbench

PROTOCOLS = {"pixels": segbench.Pixels, "boundaries": segbench.Boundaries, "regions": segbench.Regions}
METRICS = {"pixels": "ods_f", "boundaries": "ods_f", "regions": "covering_ods"}


def main() -> int:
    """Count every method, then print the best first; 1 if any could not be counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ground_truth", type=Path)
    parser.add_argument("predictions", type=Path)
    parser.add_argument("-p", "--protocol", choices=PROTOCOLS, default="pixels")
    parser.add_argument("-o", "--output", type=Path, default=Path("results.segbench"))
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    metric = METRICS[options.protocol]
    results, errors = [], 0
    with segbench.process_pool(options.jobs) as pool:
        for folder in sorted(path for path in options.predictions.iterdir() if path.is_dir()):
            try:
                result = segbench.evaluate(
                    options.ground_truth,
                    folder,
                    PROTOCOLS[options.protocol](),
                    results=options.output,
                    executor=pool,
                )
            except segbench.SegbenchError as error:
                print(f"{folder.name}: {error}", file=sys.stderr)
                errors += 1
            else:
                results.append(result)
    for result in sorted(results, key=lambda result: result.summary[metric], reverse=True):
        low, high = result.intervals()[metric]
        print(f"{result.method:<20} {metric} {result.summary[metric]:.4f} [{low:.4f}, {high:.4f}]")
    return int(errors > 0)


if __name__ == "__main__":
    sys.exit(main())
