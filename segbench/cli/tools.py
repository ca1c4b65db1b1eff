"""Verbs that need no results file: ``nms``, ``verify``, ``demo``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from segbench.cli.counting import Jobs, Workers
from segbench.cli.options import argument
from segbench.cli.printing import print_run, print_saved
from segbench.cli.progress import ProgressOption, progress_of
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Note, joined
from segbench.core.numbers import many
from segbench.core.settings import option

if TYPE_CHECKING:
    from segbench.loaders.source import Source


_HINT = "give another folder"


@dataclass(frozen=True, kw_only=True)
class Nms(ProgressOption):
    """``segbench nms``."""

    in_dir: str = argument("IN_DIR", "Folder or archive of soft boundary maps.")
    out_dir: Path = argument("OUT_DIR", "Another folder, for the PNGs, with the same sub-folders.")
    radius: int = option("Compare with neighbours along the normal up to this distance.", 1, least=0)
    border: int = option("Fade a margin of this many pixels to 0.", 5, least=0)
    multiplier: float = option("Multiply a score by this before it is compared; above 1, near ties are kept.", 1.01)
    bits: Literal["8", "16"] = option("Write PNGs of 8 bits, as most scripts do, or of 16.", "8")
    invert: bool = option("Treat low values as boundary, for black edges on white.", False)

    def __call__(self) -> None:
        from segbench.aggregator.writing import identity_of, refuse_foreign, refuse_inputs, write_file
        from segbench.loaders.listing import list_place

        if self.out_dir.resolve() == Path(self.in_dir).resolve():
            raise ArgumentError(
                Message(
                    "input-folder",
                    "{path} is the folder read from; give another to write to",
                    path=str(self.out_dir),
                )
            )
        listing = list_place(self.in_dir)
        failures: dict[Source, DataError] = {}
        notes = dict.fromkeys(listing.notes)
        targets = {image.source: self.out_dir / f"{image.stem}.png" for image in listing.entries}
        refuse_inputs([*targets.values()], targets)
        refuse_foreign(dict.fromkeys(targets.values()), _HINT)
        written: set[tuple[int, int] | None] = set()
        with progress_of("nms", self.progress) as tally:
            for done, (source, target) in enumerate(targets.items(), start=1):
                try:
                    png, map_notes = self._suppressed(source)
                    if identity_of(target) in written:
                        problem = Message(
                            "overwrites",
                            "would overwrite {path}, which was written for another name",
                            path=str(target),
                        )
                        raise DataError(str(source), problem, "rename one")  # noqa: TRY301  as those of decoders
                except DataError as error:
                    failures[source] = DataError(str(source), error.what, error.hint)
                else:
                    write_file(target, png, hint=_HINT, make_folder=True)
                    written.add(identity_of(target))
                    notes |= dict.fromkeys(map_notes)
                tally(done, len(targets))
        for note in notes:
            click.echo(note.written("options"), err=True)
        click.echo(f"written: {many(len(targets) - len(failures), 'map')} in {self.out_dir}", err=True)
        if failures:
            problem = Message(
                "unusable-files",
                "{files:many map} could not be used:\n  {failures}",
                files=len(failures),
                failures=joined((failure.failure.sentence for failure in failures.values()), between="\n  "),
            )
            raise DataError(self.in_dir, problem)

    def _suppressed(self, source: Source) -> tuple[bytes, tuple[Note, ...]]:
        """Return one suppressed map as a PNG, and notes on how it was read."""
        import numpy as np
        from PIL import Image

        from segbench.aggregator.writing import signed_png
        from segbench.core.levels import as_shares, mirrored, note_on_levels
        from segbench.loaders.images import decode
        from segbench.loaders.source import read_bytes
        from segbench.protocols.boundaries.suppression import nms as suppress

        decoded = decode(read_bytes(source), source, role="prediction")
        soft = as_shares(decoded.array)
        if self.invert:
            soft = mirrored(soft)
        thin = suppress(soft, radius=self.radius, border=self.border, multiplier=self.multiplier)
        if thin.min(initial=0) < 0 or thin.max(initial=0) > 1:
            problem = Message("outside", "scores up to {most:g}, expected 0 to 1", most=thin.max())
            raise DataError(str(source), problem, "a PNG holds no others")
        bits = int(self.bits)
        levels = np.rint(thin * (2**bits - 1)).astype(f"u{bits // 8}")
        notes = (*decoded.notes, *note_on_levels(decoded.array.dtype, scalable=False))
        return signed_png(Image.fromarray(levels)), notes


@dataclass(frozen=True, kw_only=True)
class Verify(ProgressOption, Jobs):
    """``segbench verify``."""

    bsds500: Path | None = option("Also check BSDS500, unpacked in this folder.", metavar="DIR")
    curves: Path | None = option(
        "Also check the published curves in this folder: METHOD_bdry_thr.txt, METHOD_bdry.txt.", metavar="DIR"
    )
    saliency: Path | None = option(
        "Also check the saliency maps in this folder: ground_truth, predictions/METHOD, *_per_image.csv.",
        metavar="DIR",
    )
    form: Literal["table", "json"] = option("Choose how the checks are printed.", "table", flag="--format")

    def __call__(self) -> None:
        from rich.console import Console

        from segbench.verification.checks import Check
        from segbench.verification.terminal import checks_json, show_part, show_verdict
        from segbench.verification.verifying import parts

        wanted = parts(bsds500=self.bsds500, curves=self.curves, saliency=self.saliency)
        images = max(part.images for part in wanted)
        console = Console()
        checks: list[Check] = []
        with Workers(jobs=self.jobs if images else 1).open((), images) as executor:
            for part in wanted:
                with progress_of("verify", self.progress) as tally:
                    part_checks = part.checks(executor, tally)
                if self.form == "table":
                    show_part(part_checks, console)
                checks += part_checks
        if self.form == "table":
            show_verdict(checks, console)
        else:
            click.echo(checks_json(checks), nl=False)
        if any(check.state == "off" for check in checks):
            raise click.exceptions.Exit(1)


@dataclass(frozen=True, kw_only=True)
class Demo:
    """``segbench demo``."""

    output: Path = option("Write to this folder.", Path("segbench-demo"), flag="-o --output", metavar="DIR")

    def __call__(self) -> None:
        from segbench.aggregator.writing import refuse_foreign
        from segbench.cli.command import stopping
        from segbench.cli.counting import count_methods
        from segbench.core.names import MethodRun
        from segbench.inputs.files import find_files
        from segbench.loaders.pairing import Inputs
        from segbench.loaders.presets import shipped
        from segbench.protocols.pixels.settings import Pixels
        from segbench.report.page.document import export_report

        output = self.output
        kept, page = output / "results.segbench", output / "report.html"
        refuse_foreign({page: None}, _HINT)
        output.mkdir(parents=True, exist_ok=True)
        data = shipped("demo") / "objects"
        folders = sorted(folder for folder in (data / "predictions").iterdir() if folder.is_dir())
        where = {
            folder.name: Inputs(ground_truth=str(data / "ground_truth"), prediction=str(folder)) for folder in folders
        }
        click.echo(f"segbench pixels {data / 'ground_truth'} {data / 'predictions'}/* -o {kept}", err=True)
        with stopping(lambda: "to continue, repeat segbench demo"):
            pairings = {MethodRun(method): find_files(inputs, Pixels()) for method, inputs in where.items()}
            results = count_methods(pairings, Pixels(), output=kept)
        # Before the table: whoever reads it may have enough after a line, as head has.
        export_report(results, page, images=data.parent / "images")
        print_run(results, "table", per_class=False, intervals=())
        print_saved(kept)
        click.echo(f"Report: {page}")
        click.echo("Your own images: segbench pixels GT PRED -o results.segbench")
