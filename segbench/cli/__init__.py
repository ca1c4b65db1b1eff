"""The commands, each a thin call of the library.

What enters is a command line; what leaves is printed, written and told by the exit code. `main.py` is the program.
Begin with `commands.py`, which lists all commands; `command.py` has what they share: help and errors. Options are
fields of dataclasses, of which `options.py` makes parameters of Click. `benchmark.py` has the verbs of protocols and
``check``, with the options of `data.py`; `counting.py` counts for them. `results.py` has the verbs that read results
files, by `selection.py` (which runs) and `measuring.py` (other settings of measuring); `tools.py` has the others.
"""
