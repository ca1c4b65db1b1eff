"""From many images to one result: work is spread over workers, counts are kept per image.

What enters are files or arrays with a protocol, or a results file. `executors` counts images, here or in workers, and
answers with an `Outcome` of each (`records`), whose counts are packed (`codec`) and may be kept in a results file
(`store`); `assembling` makes them a `Result`. What leaves is that `Result`: it measures every metric from the counts,
and is taken apart, joined, compared, merged and saved without counting again. Begin with `evaluate_pairing` in
`benchmark`, which has these steps in order; then read `Result`. `accumulator` is the way of arrays to the same result.
"""
