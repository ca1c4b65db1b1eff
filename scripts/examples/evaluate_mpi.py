"""Benchmark one method with MPI: rank 0 hands out images, the others count.

    mpiexec -n 3 python -m mpi4py.futures evaluate_mpi.py GROUND_TRUTH PREDICTION [-p boundaries] [-o FILE]

Under SLURM ``srun`` takes the place of ``mpiexec -n 3``. A job that is cut short goes on with the same command where
``-o`` names a results file, which rank 0 alone writes.
"""

from __future__ import annotations

import argparse

from mpi4py.futures import MPIPoolExecutor

import segbench

PROTOCOLS = {"pixels": segbench.Pixels, "boundaries": segbench.Boundaries, "regions": segbench.Regions}


def main() -> None:
    """Count, and print the metrics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ground_truth")
    parser.add_argument("prediction")
    parser.add_argument("-p", "--protocol", choices=PROTOCOLS, default="pixels")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    with MPIPoolExecutor() as executor:
        print(f"{executor.num_workers} workers")
        result = segbench.evaluate(
            options.ground_truth,
            options.prediction,
            PROTOCOLS[options.protocol](),
            results=options.output,
            executor=executor,
        )
    for name, value in result.summary.items():
        print(f"{name:<20} {value:.6g}")
    print(result.signature)


if __name__ == "__main__":
    main()
