"""``python -m segbench`` is the command ``segbench``."""

from segbench.cli.main import program

program()
