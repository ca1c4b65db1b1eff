"""Tables of `bench_peers.py`: segbench beside other people's programs, on the same work in the same run."""
