"""Options that say what files are and how they pair, shared by the verbs that read folders."""

from __future__ import annotations

import typer

from segbench.core.errors import ArgumentError

GROUND_TRUTH = typer.Argument(
    help="Folder of ground truth, archive, URL, or one file; with --preset the data set's folder.", show_default=False
)
PREDICTION = typer.Argument(help="The same of soft predictions, one a method; may be name=FOLDER.", show_default=False)
PAIRS = typer.Option(
    metavar="CSV", help="In place of both, a list of files: columns name, ground_truth, prediction[:METHOD], field."
)
PROTOCOL = typer.Option("-p", "--protocol", help="What counts as right.")
POSITIVE = typer.Option(help="Ground-truth values that are positive: 255, '>=128' or 1,3 [default: the larger of two].")
VOID = typer.Option(help="Ground-truth values to leave out, as in 255 or 254,255.")
CLASSES = typer.Option(
    help="Pixels: many classes from label maps: 0-18, road=0,car=13, or a file with a label and a name a line; "
    "void is 255 unless --void says another or none.",
    show_default=False,
)
FIELD = typer.Option(help="Folder of masks (fields of view): pixels where the mask is 0 are left out.")
INVERT = typer.Option("--invert", help="Low predictions mean positive: black edges on white.")
THRESHOLDS = typer.Option(
    help="Boundaries, regions: how many, or which, as in 0.25,0.5 [default: 99].", show_default=False
)
NMS = typer.Option(help="Boundaries: suppress first; radius,border,multiplier as in 1,5,1.01.")
LABEL_MAPS = typer.Option("--label-maps", help="Boundaries: ground-truth images are label maps; take their borders.")
GT_PATTERN = typer.Option(
    help="How ground-truth names hold the image's name, *, and an annotator, #: '*_manual1', '*.#'."
)
PRED_PATTERN = typer.Option(
    help="The same for predictions, # being one of several label maps or a class: '*_pred', '*/#', 'class_#/*'."
)
FIELD_PATTERN = typer.Option(help="The same for masks: '*_mask'.")
ANNOTATORS = typer.Option(
    metavar="any|all|majority|each",
    help="Pixels, several annotators: positive where any, all or most of them say so; or count each.",
    show_default=False,
)
MAX_DIST = typer.Option(
    help="Boundaries: tolerance as a fraction of the diagonal [default: 0.0075].", show_default=False
)
CATEGORY = typer.Option(min=1, help="Boundaries: which category of an SBD ground truth counts.", show_default=False)
NEGATIVES = typer.Option(help="Predictions that need no ground truth, since all is negative: 'good/*'.")


def typed(context: typer.Context, name: str) -> bool:
    """Tell whether an option stands on the command line, and not in a preset or among the defaults."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_idle_pattern(context: typer.Context, field: str | None) -> None:
    """Refuse a pattern for masks where there are none.

    Raises
    ------
    ArgumentError
        If it was typed; a preset's may wait for masks.
    """
    if field is None and typed(context, "field_pattern"):
        raise ArgumentError("--field-pattern says how masks are named; name their folder with --field")
