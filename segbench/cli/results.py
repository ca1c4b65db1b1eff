"""Verbs that show results files, and that read and write them: ``show``, ``export``, ``import``, ``merge``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segbench.cli.options import argument, given
from segbench.cli.printing import Lines, Printed, Rounded, print_results, print_saved
from segbench.cli.selection import OneClass, OneFile, Only, Resampling, chosen_results, results_files, results_of_sets
from segbench.core.errors import ArgumentError
from segbench.core.numbers import many

if TYPE_CHECKING:
    from segbench.aggregator.result import Result


@dataclass(frozen=True, kw_only=True)
class Show(OneClass, Only, Resampling, Rounded):
    """``segbench show``."""

    results: tuple[str, ...] = argument(
        "RESULTS", "Results file, as written with -o, or one for each of several data sets: ECSSD=a.segbench."
    )
    per_image: bool = given("Print one row per image and method.", False)
    per_class: bool = given("Print one row per class and method.", False)
    per_threshold: bool = given("Print one row per threshold of the pooled curve; all of them in csv and json.", False)
    metrics: str | None = given(
        "Show these metrics in this order: ods_f,auc_pr.", metavar="KEYS", shown="all that have a column"
    )
    sort: str | None = given("With --per-image, list the images that are worst by this metric first: f.", metavar="KEY")

    def run(self) -> None:
        """Print the metrics of a results file."""
        if self.intervals is None:
            self.refuse_idle("add --intervals 95")
        wanted: dict[Lines, bool] = {"image": self.per_image, "class": self.per_class, "threshold": self.per_threshold}
        lines, *others = [line for line, is_wanted in wanted.items() if is_wanted] or ["method"]
        if others:
            raise ArgumentError(f"--per-{lines} and --per-{others[0]} are two tables; choose one")
        if lines == "class" and self.class_name is not None:
            raise ArgumentError("--class shows one class and --per-class one row per class; choose one of the two")
        if lines in ("image", "threshold") and self.intervals is not None and self.form != "json":
            raise ArgumentError(
                f"--per-{lines} has no intervals, which describe metrics over all images; choose one of the two"
            )
        files = results_files(self.results)
        if len(files) > 1 and lines != "method":
            raise ArgumentError(f"--per-{lines} is a table of one data set; give one results file")
        of_sets = results_of_sets(files, self.only, self.class_name)
        loaded = [result for several in of_sets.values() for result in several]
        sets = [name for name, several in of_sets.items() for _ in several] if len(files) > 1 else []
        keys = self.metrics.split(",") if self.metrics else None
        if self.sort is not None and lines != "image":
            raise ArgumentError("--sort lists the worst images first; add --per-image")
        _refuse_unknown("--metrics", keys or (), loaded, lines)
        _refuse_unknown("--sort", () if self.sort is None else (self.sort,), loaded, lines)
        drawn = [] if self.intervals is None else [result.intervals(**self.settings) for result in loaded]
        more = {"intervals": drawn, "keys": keys, "sets": sets, "sort": self.sort}
        print_results(loaded, self.form, rows=lines, **more, **self.rounding)


def _refuse_unknown(option: str, keys: Sequence[str], results: Sequence[Result], lines: Lines) -> None:
    """Refuse keys that no column of a table has."""
    from segbench.report.tables import metric_keys

    unknown = sorted(set(keys) - set(known := metric_keys(results, lines))) if keys else []
    if not unknown:
        return
    listed = f"expected some of {', '.join(known)}"
    if lines == "image":
        keys_of = {metric.key: metric.image_key for one in results for metric in one.rules.metrics()}
        same = [f"{keys_of[key]} for {key}" for key in unknown if keys_of.get(key)]
        listed = f"keys of single images differ ({', '.join(same)}); {listed}" if same else listed
    raise ArgumentError(f"{option} {', '.join(unknown)}: {listed}")


@dataclass(frozen=True, kw_only=True)
class Export(OneFile):
    """``segbench export``."""

    bsds: Path = given(
        "Write official files to this folder: *_ev1.txt, eval_bdry*.txt, eval_cover*.txt, eval_RI_VOI*.txt.",
        MISSING,
        metavar="DIR",
    )

    def run(self) -> None:
        """Write results as the text files of the official benchmark."""
        from segbench.report.bsds import export_bsds

        loaded = chosen_results(self.results, self.only)
        for result in loaded:
            if result.failed and not result.counts:
                click.echo(f"{result.method}: no image was counted, so it has no curve to write", err=True)
        for path in export_bsds(loaded, self.bsds):
            click.echo(f"written: {path}", err=True)


@dataclass(frozen=True, kw_only=True)
class Import(Printed):
    """``segbench import``."""

    folder: Path = argument(
        "DIR",
        "Folder with *_ev1.txt, eval_bdry*.txt, eval_cover*.txt or eval_RI_VOI*.txt, or with folders of them.",
    )
    output: Path = given("Write this results file (.segbench), or add to it.", MISSING, flag="-o --output")
    name: str | None = given("Name the method.", metavar="NAME", shown="the name of its folder")

    def run(self) -> None:
        """Read results of the official benchmarks."""
        from segbench.aggregator.importing import import_bsds

        print_results(import_bsds(self.folder, method=self.name, results=self.output), self.form)
        print_saved(self.output)


@dataclass(frozen=True, kw_only=True)
class Merge:
    """``segbench merge``."""

    results: tuple[Path, ...] = argument("RESULTS", "Results files, as written with -o.")
    output: Path = given("Write this results file (.segbench).", MISSING, flag="-o --output")
    leave_out: tuple[str, ...] = given(
        "Leave out this run, by its name in tables: 'net (invert:no)'; give it once per run.", (), metavar="NAME"
    )
    leave_out_unfinished: bool = given("Leave out incomplete runs instead of refusing them.", False)

    def run(self) -> None:
        """Put the runs of several results files into one."""
        from segbench.aggregator.merging import lacking, merge_results

        merged = merge_results(
            self.results, self.output, leave_out=self.leave_out, leave_out_unfinished=self.leave_out_unfinished
        )
        places: dict[str, None] = {}  # of the ground truth of runs that were put together
        for result in merged:
            images = "a published curve" if result.published else many(len(result.counts), "image")
            failed = f", {len(result.failed)} failed" if result.failed else ""
            parts = (result.inputs, *result.inputs.merged) if result.inputs else ()
            joined = f" of {len(parts)} parts" if len(parts) > 1 else ""
            if len(parts) > 1:
                places |= dict.fromkeys(part.pairs or part.ground_truth for part in parts)
            click.echo(f"{result.method}: {images}{joined}{failed}  {result.signature}", err=True)
            if text := lacking(result):
                click.secho(f"{result.method}: {text}", fg="yellow", err=True)
        if len(places) > 1:
            click.echo(
                f"note: parts with different ground truth became one set: {', '.join(places)}. If these are different "
                "test sets, keep their files apart and show them side by side: segbench show A=FILE B=FILE",
                err=True,
            )
        print_saved(self.output)
