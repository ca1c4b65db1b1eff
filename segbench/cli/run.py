"""``segbench run``: two folders to figures."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, ProtocolName, print_results
from segbench.errors import ArgumentError


def run(
    ground_truth: Annotated[Path, typer.Argument(help="Folder of ground truth, or one file.")],
    prediction: Annotated[
        list[str], typer.Argument(help="Folder of soft predictions (or one file), one a method; may be name=FOLDER.")
    ],
    protocol: Annotated[ProtocolName, typer.Option("-p", "--protocol", help="What counts as right.")] = (
        ProtocolName.PIXELS
    ),
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Results file to write, or to go on with (.segbench).")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Worker processes [default: as many as the work fills].")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Ground-truth values that are positive: 255, '>=128' or 1,3 [default: the larger of two]."),
    ] = None,
    void: Annotated[str | None, typer.Option(help="Ground-truth values to leave out, as in 255 or 254,255.")] = None,
    field: Annotated[
        Path | None, typer.Option(help="Folder of masks (fields of view): pixels where the mask is 0 are left out.")
    ] = None,
    invert: Annotated[bool, typer.Option("--invert", help="Low predictions mean positive: black edges on white.")] = (
        False
    ),
    exact: Annotated[bool, typer.Option("--exact", help="Keep every distinct float score, never bins.")] = False,
    gt_pattern: Annotated[
        str, typer.Option(help="How ground-truth names hold the image's name, * standing for it: '*_manual1'.")
    ] = "*",
    pred_pattern: Annotated[str, typer.Option(help="The same for predictions: '*_pred'.")] = "*",
    field_pattern: Annotated[str, typer.Option(help="The same for masks: '*_mask'.")] = "*",
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
) -> None:
    """Count two folders of images and print the pooled figures of each method."""
    from segbench.aggregator.benchmark import FailedImages, evaluate
    from segbench.aggregator.executors import jobs_for, process_pool
    from segbench.cli.progress import progress_bar
    from segbench.loaders.pairing import pair
    from segbench.protocols.pixels import Pixels

    settings = {ProtocolName.PIXELS: Pixels}[protocol](
        positive=positive, void=_numbers(void, "--void"), invert=invert, exact=exact
    )
    patterns = {"gt_pattern": gt_pattern, "pred_pattern": pred_pattern, "field_pattern": field_pattern}
    methods = _methods(prediction)
    # Pairing is quick and counting is not: every folder is checked before the first image is read.
    pairs = sum(len(pair(ground_truth, folder, field=field, **patterns).files) for folder in methods.values())
    workers = jobs_for(pairs, jobs)
    results = []
    with (
        process_pool(workers) if workers > 1 else nullcontext() as executor,
        warnings.catch_warnings(action="ignore", category=FailedImages),
    ):
        for method, folder in methods.items():
            with progress_bar(method) as progress:
                results.append(
                    evaluate(
                        ground_truth,
                        folder,
                        settings,
                        field=field,
                        **patterns,
                        method=method,
                        results=output,
                        executor=executor,
                        progress=progress,
                    )
                )
    print_results(results, form)
    if output:
        typer.echo(f"kept in {output}: segbench show {output}, segbench plot {output} -o pr.pdf", err=True)
    if any(result.failed for result in results):
        raise typer.Exit(1)


def _methods(predictions: list[str]) -> dict[str, Path]:
    methods: dict[str, Path] = {}
    for text in predictions:
        name, equals, folder = text.partition("=")
        path = Path(folder) if equals and not Path(text).exists() else Path(text)
        method = name if path != Path(text) else path.absolute().stem
        if method in methods:
            raise ArgumentError(f"two methods are called {method!r}; name them: {method}2={path}")
        if not method:
            raise ArgumentError(f"{text!r} gives no name; write name=FOLDER")
        methods[method] = path
    return methods


def _numbers(text: str | None, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(",")) if text else ()
    except ValueError:
        raise ArgumentError(f"{option} {text!r} is no list of numbers; write 255 or 254,255") from None
