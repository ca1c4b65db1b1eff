"""Verbs that print and draw results files, and that read and write them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from segbench.cli.counting import Jobs, Workers
from segbench.cli.guesses import metric_keys_of, titles_of
from segbench.cli.methods import method_places, places_by_name
from segbench.cli.options import argument
from segbench.cli.printing import DrawnNumbers, Printed, Rounded, ShownForm, print_results, print_saved
from segbench.cli.progress import ProgressOption, progress_of
from segbench.cli.selection import (
    EVERY_PART,
    KEYS,
    LEVEL,
    ChosenParts,
    Leveled,
    OneFile,
    Only,
    Renaming,
    by_group,
    chosen_methods,
    chosen_runs,
    comparable,
    joined_if_alike,
    means_over_groups,
    named_as_in_tables,
    names_listed,
    on_common,
    outdated,
    parts_of,
    refuse_unpooled,
    results_of_parts,
    results_of_sets,
    tell,
    words_of_results,
)
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Setting, as_note, option_of, write
from segbench.core.names import first_names
from segbench.core.numbers import many
from segbench.core.settings import option
from segbench.report.figure.settings import STYLES, USUAL_ROWS, VENUES
from segbench.report.plots.kinds import KINDS, kind_of

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.cli.selection import Chosen
    from segbench.core.metric import Metric
    from segbench.report.comparisons import ComparisonReport
    from segbench.report.tables import RowKind
    from segbench.statistics.pairs import Test

_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Show(Only, ChosenParts, Leveled, Renaming, Rounded):
    """``segbench show``."""

    form: ShownForm = option(  # type: ignore[assignment]  # one more than others print
        "Choose how to print: as table, json, csv, markdown or latex; nnunet: one method as nnU-Net's summary.json.",
        "table",
        flag="--format",
        metavar="FORMAT",
    )

    results: tuple[str, ...] = argument(
        "RESULTS", "Results file, as written with -o, or one for each of several data sets: ECSSD=a.segbench."
    )
    per_image: bool = option("Print one row per image and method; with --per-class also per class.", False)
    per_unit: bool = option("Print one row per unit, such as a patient, and method; takes --unit.", False, rare=True)
    per_class: bool = option("Print one row per class and method, classes in the order of --classes.", False)
    per_object: bool = option(
        "Print one row per object of sequences and method, and the mean over objects.", False, rare=True
    )
    runs: bool = option(
        "Print one row per run (training or fold) of each method, their mean, and what images and trainings add to its "
        "standard error.",
        False,
        rare=True,
    )
    per_threshold: bool = option("Print one row per threshold of the pooled curve; all of them in csv and json.", False)
    metrics: str | None = option(
        "Show these metrics in this order: ods_f,auc_pr.",
        metavar="KEYS",
        shown="all that have a column",
        complete=KEYS,
    )
    spread: Literal["sd", "quartiles"] | None = option(
        "Print mean ± SD or median [quartiles] over images, of metrics that are means over images: sd, quartiles.",
        metavar="FORM",
    )
    mark: Literal["best", "none"] = option(
        "In latex, mark the best, the second and what is not significantly different from the best: best, none.",
        "best",
        choices=("best", "none"),
        metavar="MARK",
        rare=True,
    )
    sort: str | None = option(
        "With --per-image, list the images that are worst by this metric first: f.", metavar="KEY", rare=True
    )

    def lines(self) -> RowKind:
        """Say what a row is, by the options for it; of several the first that do not go together are refused."""
        wanted: dict[RowKind, bool] = {
            "image": self.per_image,
            "unit": self.per_unit,
            "class": self.per_class,
            "object": self.per_object,
            "run": self.runs,
            "threshold": self.per_threshold,
        }
        lines, *others = [line for line, is_wanted in wanted.items() if is_wanted] or ["method"]
        typed = _flag_of(lines)
        if [lines, *others] == ["image", "class"]:
            lines, others = "class image", []
        if others:
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "{option} and {other} are two tables; choose one",
                    option=typed,
                    other=_flag_of(others[0]),
                )
            )
        if self.form == "nnunet" and (lines != "method" or self.metrics or self.intervals or self.spread):
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "--format nnunet has the fields of nnU-Net's summary.json; leave out options of rows, metrics and "
                    "intervals",
                )
            )
        if self.per_class and self.class_name is not None:
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "--class shows one class and --per-class one row per class; choose one of the two",
                )
            )
        if lines != "method" and self.group is None and self.measuring.get("group_by", "none") != "none":
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "--group-by prints one row per group and {option} one per {rows}; choose one of the two, or one "
                    "group with {group}",
                    option=typed,
                    rows=lines,
                    group=Setting("group", "NAME"),
                )
            )
        alone = lines in ("image", "unit", "class image", "threshold")
        if alone and self.intervals is not None and self.form != "json":
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "{option} has no intervals, which describe metrics over all images; choose one of the two",
                    option=typed,
                )
            )
        if self.sort is not None and not (self.per_image or self.per_unit):
            raise ArgumentError(
                Message(
                    "needs-option",
                    "--sort lists the worst images or units first; add {image} or {unit}",
                    image=Setting("per_image", True),
                    unit=Setting("per_unit", True),
                )
            )
        self._refuse_spread(typed, lines)
        return lines

    def __call__(self) -> None:
        lines = self.lines()
        files = {name: Path(path) for name, path in places_by_name(self.results, "data sets").items()}
        if len(files) > 1 and lines != "method":
            raise ArgumentError(
                Message(
                    "several-files",
                    "{option} is a table of one data set; give one results file",
                    option=_flag_of(lines),
                )
            )
        join = lines not in ("run", "threshold")
        of_sets = results_of_sets(files, self.only, self.parts, self.measuring, join=join)
        if lines == "run":
            of_sets = {name: joined_if_alike(several) for name, several in of_sets.items()}
        if self.names is not None:
            of_sets = {name: self.with_names(several) for name, several in of_sets.items()}
        loaded = [result for several in of_sets.values() for result in several]
        sets = [name for name, several in of_sets.items() for _ in several] if len(files) > 1 else []
        if lines == "method" and by_group(loaded):
            lines = "group"
        keys = _keys("--metrics", self.metrics, loaded, lines)
        sort = next(iter(_keys("--sort", self.sort, loaded, lines) or ()), None)
        level = self.level
        drawn = [] if level is None else [result.intervals(level=level) for result in loaded]
        more = {"intervals": drawn, "keys": keys, "sets": sets, "sort": sort, "spread": self.spread or ""}
        print_results(loaded, self.form, rows=lines, marked=self.mark == "best", **more, **self.rounding)
        if self.form == "csv" or lines not in ("method", "group", "object", "run"):  # which have no notes on runs
            tell(*outdated(loaded))

    def _refuse_spread(self, typed: str, lines: RowKind) -> None:
        """Refuse a spread over images in rows of single images or thresholds, and beside intervals."""
        if self.spread is None:
            return
        if lines in ("image", "class image", "threshold"):
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "--spread is over images, and {option} has rows of its own; choose one of the two",
                    option=typed,
                )
            )
        if self.intervals is not None and self.form not in ("json", "csv"):
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "--spread and --intervals both stand beside the value; choose one, or {json}",
                    json=Setting("format", "json"),
                )
            )


def _flag_of(lines: RowKind) -> str:
    """Return the option that asks for rows of a kind."""
    return "--runs" if lines == "run" else f"--per-{'image' if lines == 'class image' else lines}"


def _keys(option: str, typed: str | None, results: Sequence[Result], lines: RowKind) -> list[str] | None:
    """Return the keys of the metrics that were typed, which are columns of a table; None if none were."""
    from segbench.report.tables import image_metrics, metric_keys, part_rows

    if not typed:
        return None
    if lines == "class image":
        results = [row.result for row in part_rows(results, "class")]
    every = {metric.key: metric for result in results for metric in result.metrics}
    if lines in ("image", "unit", "class image"):
        of_set = grouped((metric.image_key, metric.key) for metric in every.values())
        titles = {key: [metric.image_title, *of_set[key]] for key, metric in image_metrics(results).items()}
    else:
        titles = {key: titles_of(every[key]) if key in every else [] for key in metric_keys(results, lines)}
    return metric_keys_of(option, typed.split(","), titles)


@dataclass(frozen=True, kw_only=True)
class Compare(OneFile, ChosenParts, Leveled, Renaming, Rounded):
    """``segbench compare``."""

    methods: str | None = option(
        "Compare only these methods, by their names in tables: ours,theirs.",
        metavar="NAMES",
        shown="all but human annotators",
    )
    metrics: str | None = option(
        "Answer by each of these metrics: ods_f,auc_pr.",
        metavar="KEYS",
        shown="the metric that ranks methods; csv, json: all",
        complete=KEYS,
    )
    test: str = option(
        "Choose the test: t-test, of any metric, or signed-rank, of means over images.",
        "t-test",
        choices=("t-test", "signed-rank"),
        metavar="TEST",
    )
    every: bool = option(
        "Print every pair of methods by every metric, and how often each is first.", False, flag="--all"
    )
    common: bool = option("Compare on the images that all methods have, where some lack some.", False)
    against: str | None = option(
        "Print only the differences to this method.",
        metavar="METHOD",
        complete=words_of_results(lambda result: [result.method]),
    )
    fail_if_worse: float | None = option(
        "Exit with 3 if a method is worse than that of --against by more than this, with 4 if that is undecided: 0.01.",
        metavar="MARGIN",
    )
    intervals: float | None = option(
        "Set the confidence level of the intervals; in markdown and latex, print them: 95.",
        metavar="PERCENT",
        shown="95",
    )
    replicates: int = option("Set the number of resamples for ranks and jumping metrics.", 2000, least=1, rare=True)
    seed: int = option("Set the seed of the resamples.", 0, least=0, rare=True)

    def __call__(self) -> None:
        from segbench.report.comparisons import comparison_json, exact_comparison, paper_table, show_comparison
        from segbench.report.documents import csv_table, markdown_table
        from segbench.report.latex import latex_table

        rounding, form = self.rounding, self.form
        percent = rounding.pop("percent")
        if percent and form == "table":
            raise ArgumentError(
                Message(
                    "other-form",
                    "--percent of a comparison is for markdown and latex; add {form}",
                    form=Setting("format", "latex"),
                )
            )
        if self.every and form != "table":
            hint = "csv and json hold everything" if form in ("csv", "json") else "--metrics KEYS chooses columns"
            raise ArgumentError(
                Message("other-form", "--all is for --format table; leave it out: {hint}", hint=hint, form=form)
            )
        axis = self._axis()
        runs = self._runs(axis)
        by_part = results_of_parts(self.results, runs.results, axis) if axis else {"": runs.results}
        for several in by_part.values():
            self._refuse_baseline([result.method for result in several])
        report = self._compared(by_part, axis, runs)
        same = grouped(
            ((result.signature, result.digest_of("", b"")), result.method) for result in runs.results if result.digests
        )
        for methods in filter(lambda methods: len(methods) > 1, same.values()):
            same_predictions = Message(
                "same-predictions",
                "{methods: and } have the same predictions, byte for byte, so that no metric differs",
                methods=methods,
            )
            tell(same_predictions)
        if form == "json":
            click.echo(comparison_json(report), nl=False)
        elif form == "csv":
            click.echo(csv_table(exact_comparison(report)), nl=False)
            tell(*runs.left_out, *outdated(runs.results))
        elif form == "table":
            from rich.console import Console

            show_comparison(report, Console(), every=self.every, **rounding)
        else:
            write = markdown_table if form == "markdown" else latex_table
            marked = {"intervals": self.intervals is not None, "underlined": form == "latex"}
            table = paper_table(report, percent=percent, **marked, **rounding)
            click.echo(write(table), nl=False)
        if report.check is not None:
            code = report.check.exit_code
            click.secho(str(report.check), fg={3: "red", 4: "yellow"}.get(code), err=True)
            raise click.exceptions.Exit(code)

    def _axis(self) -> str:
        """Return the axis along which methods are compared by every part; empty where they are compared once."""
        every = [axis for axis, name in self.parts.items() if name == EVERY_PART]
        if len(every) > 1:
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "{option} all and {other} all are two comparisons; choose one",
                    option=option_of(every[0]),
                    other=option_of(every[1]),
                )
            )
        return every[0] if every else ""

    def _runs(self, axis: str) -> Chosen:
        """Read the runs to compare, by the parts that are named along other axes."""
        parts = {part_axis: name for part_axis, name in self.parts.items() if part_axis != axis}
        runs = chosen_runs(self.results, self.only, parts, measuring=self.measuring)
        runs = replace(runs, results=self.with_names(runs.results))  # which --methods and --against take
        runs.require([self.against or ""])
        if self.methods:
            runs = chosen_methods(runs, self.methods)
        else:
            alone = comparable(runs.results)
            in_tables = named_as_in_tables(alone)
            # As a table names it, which is one of several:
            named = self.against in {result.method for result in in_tables}
            runs = replace(runs, results=in_tables if named else alone)
        if len(runs.results) == 1 and runs.stopped:
            raise runs.not_complete(runs.stopped[0])
        return on_common(runs) if self.common else runs

    def _compared(self, runs_by_part: Mapping[str, Sequence[Result]], axis: str, runs: Chosen) -> ComparisonReport:
        """Compare methods, class by class, or by the parts along another axis."""
        from segbench.aggregator.comparing import compare_results
        from segbench.aggregator.result import AXES
        from segbench.report.comparisons import ComparisonReport
        from segbench.statistics.comparison import together
        from segbench.statistics.worse import check_not_worse

        by_part = {name: means_over_groups(several) for name, several in runs_by_part.items()}
        whole = runs.results[0] if axis == "group" else means_over_groups(runs.results[:1])[0]
        settings: dict[str, Any] = {"replicates": self.replicates, "seed": self.seed, "test": self.test}
        part_comparisons = (
            compare_results(results, level=self.level or LEVEL, **settings) for results in by_part.values()
        )
        comparisons = together([*part_comparisons], AXES[axis].plural if axis else "")
        by_name = dict(zip(by_part, comparisons, strict=True))
        known = {metric.key: metric for metric in next(iter(by_name.values())).metrics}
        typed, titles = self.metrics, {key: titles_of(metric) for key, metric in known.items()}
        metrics = metric_keys_of("--metrics", typed.split(","), titles) if typed else None
        report = ComparisonReport(
            by_name, by_part, axis, whole.signature, metrics, self.against, left_out=runs.left_out
        )
        if self.against is None or self.fail_if_worse is None:
            return report
        keys = report.keys(every=False)
        neutral = [key for key in keys if known[key].better is None]
        if neutral:
            raise ArgumentError(
                Message(
                    "neutral-metric",
                    "--fail-if-worse: neither side of {metrics} is worse; choose other metrics with --metrics",
                    metrics=", ".join(neutral),
                )
            )
        self._refuse_whole_range([known[key] for key in keys])
        check = check_not_worse(
            by_name, keys, baseline=self.against, margin=self.fail_if_worse, unfinished=runs.unfinished()
        )
        return replace(report, check=check)

    def _refuse_whole_range(self, metrics: Sequence[Metric]) -> None:
        """Refuse a margin that no difference can exceed, as a percentage is, under which a check never fails."""
        margin = self.fail_if_worse or 0.0
        for metric in metrics:
            low, high = metric.range or (-math.inf, math.inf)
            if margin >= high - low:
                raise ArgumentError(
                    Message(
                        "whole-range",
                        "--fail-if-worse {margin:g}: {metric} cannot differ by more than {range:g}; "
                        "{margin:g} % is {share:g}",
                        margin=margin,
                        metric=metric.key,
                        range=high - low,
                        share=margin / 100,
                    )
                )

    def _refuse_baseline(self, methods: list[str]) -> None:
        """Refuse a baseline that is not compared, and a margin without baseline or below 0."""
        against, margin = self.against, self.fail_if_worse
        listed = first_names(methods, _LISTED)
        if margin is not None and not 0 <= margin < math.inf:
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "--fail-if-worse {value:g}: expected a margin of 0 or more, such as 0.01",
                    value=margin,
                )
            )
        if against is None and margin is not None:
            raise ArgumentError(
                Message(
                    "no-baseline",
                    "--fail-if-worse takes a baseline, too: add {against}, one of {methods}",
                    against=Setting("against", "METHOD"),
                    methods=listed,
                )
            )
        if against is not None and against not in methods:
            raise ArgumentError(
                Message(
                    "unknown-baseline",
                    "--against {method}: expected one of the methods compared, {methods}",
                    method=against,
                    methods=listed,
                )
            )


@dataclass(frozen=True, kw_only=True)
class Export(OneFile):
    """``segbench export``."""

    bsds: Path = option(
        "Write official files to this folder: *_ev1.txt, eval_bdry*.txt, eval_cover*.txt, eval_RI_VOI*.txt.",
        MISSING,
        metavar="DIR",
    )

    def __call__(self) -> None:
        from segbench.report.bsds import export_bsds

        loaded = self.chosen(join=False)
        for result in loaded:
            if result.failed and not result.counts:
                click.echo(f"{result.label}: no image was counted, so it has no curve to write", err=True)
        for path in export_bsds(loaded, self.bsds):
            click.echo(f"written: {path}", err=True)


@dataclass(frozen=True, kw_only=True)
class Import(Printed):
    """``segbench import``."""

    places: tuple[str, ...] = argument(
        "PLACE",
        "Folder with *_ev1.txt or *_bdry_thr.txt, or with folders of them; or a summary.json of nnU-Net, or the folder "
        "that holds it, once for each method or fold: a=A/summary.json b=B/summary.json.",
    )
    output: Path = option("Write this results file (.segbench), or add to it.", MISSING, flag="-o --output")
    name: str | None = option("Name the method.", metavar="NAME", shown="the name of its folder")
    classes: str | None = option(
        "Name the classes of summary.json: liver=1,tumour=2, or dataset.json.",
        metavar="CLASSES",
        shown="their labels",
    )

    def __call__(self) -> None:
        print_results(self._imported(), self.form)
        print_saved(self.output)

    def _imported(self) -> list[Result]:
        """Read the summaries of nnU-Net, or one folder of official files."""
        from segbench.aggregator.importing import import_bsds
        from segbench.aggregator.nnunet import import_nnunet, is_summary
        from segbench.loaders.source import method_name

        places = method_places(self.places)
        typed = [None if name == method_name(path) else name for (name, _), path in places.items()]
        names = [self.name or name for name in typed]
        of_others = [path for path in places.values() if not is_summary(path)]
        if len(places) > 1 and (of_others or self.name):
            raise ArgumentError(
                Message(
                    "several-places",
                    "several places are for summaries of nnU-Net, each with a name of its own: a=A/summary.json "
                    "b=B/summary.json; import {others} one by one, with --name",
                    others=", ".join(of_others) or "methods",
                )
            )
        if of_others:
            if self.classes is not None:
                raise ArgumentError(
                    Message(
                        "no-meaning",
                        "{classes} names the classes of a summary.json, and {place} is none; leave it out",
                        classes=Setting("classes", None),
                        place=of_others[0],
                    )
                )
            return import_bsds(of_others[0], method=names[0], results=self.output)
        of_places = zip(places.items(), names, strict=True)
        return [
            import_nnunet(path, method=name, run=method.run, classes=self.classes, results=self.output)
            for (method, path), name in of_places
        ]


@dataclass(frozen=True, kw_only=True)
class Merge:
    """``segbench merge``."""

    results: tuple[Path, ...] = argument("RESULTS", "Results files, as written with -o.")
    output: Path = option("Write this results file (.segbench).", MISSING, flag="-o --output")
    leave_out: tuple[str, ...] = option(
        "Leave out this run, by its name in tables: 'net (invert:no)'; give it once per run.", (), metavar="NAME"
    )
    join: tuple[str, ...] = option(
        "Put together parts of this method although their predictions lie in different folders: net.",
        (),
        metavar="METHOD",
    )

    def __call__(self) -> None:
        from segbench.aggregator.merging import in_no_part, merge_results

        notes: list[Message | str] = []
        with warnings.catch_warnings(action="always", category=UserWarning):
            warnings.showwarning = lambda warning, *_, **__: notes.extend(warning.args)
            merged = merge_results(self.results, self.output, leave_out=self.leave_out, join=self.join)
        ground_truths: dict[str, None] = {}  # of the ground truth of runs that were put together
        for result in named_as_in_tables(merged):
            images = "a published curve" if result.published else many(len(result.counts), "image")
            failed = f", {len(result.failed)} failed" if result.failed else ""
            parts = (result.inputs, *result.inputs.merged) if result.inputs else ()
            joined = f" of {len(parts)} parts" if len(parts) > 1 else ""
            if len(parts) > 1:
                ground_truths |= dict.fromkeys(part.pairs or part.ground_truth for part in parts)
            click.echo(f"{result.method}: {images}{joined}{failed}  {result.signature}", err=True)
            message = in_no_part(result)
            if message:
                tell(as_note(message).said_of(result.method))
        for (method, _), runs in grouped(((result.label, result.protocol), result) for result in merged).items():
            if len(runs) > 1:
                number = f"note: {method} is {len(runs)} runs, since their settings differ"
                click.echo(f"{number}; count parts of one set with the same options", err=True)
        for note in notes:
            click.echo(f"note: {write(note, 'options')}", err=True)
        if len(ground_truths) > 1:
            click.echo(
                f"note: parts with different ground truth became one set: {', '.join(ground_truths)}. If these are "
                "different test sets, keep their files apart and show them side by side: segbench show A=FILE B=FILE",
                err=True,
            )
        print_saved(self.output)


_WORTH_PAIRS = 5
"""Drawing an image for the page takes as long as counting this many."""


@dataclass(frozen=True, kw_only=True)
class Plot(OneFile, ChosenParts, Leveled, Renaming, DrawnNumbers):
    """``segbench plot``."""

    output: Path | None = option(
        "Write this picture: .pdf, .svg or .png.", flag="-o --output", shown="KIND.pdf, such as pr.pdf"
    )
    kind: str | None = option(
        f"Choose the plot: {', '.join(f'{kind} ({description})' for kind, (_, description) in KINDS.items())}.",
        choices=tuple(KINDS),
        metavar="KIND",
        shown="pr; regions: f, label maps: images",
    )
    size: str | None = option(
        "Set the size in inches: 3.5x3 for one column of a paper.",
        metavar="WIDTHxHEIGHT",
        shown="that of Matplotlib",
    )
    methods: str | None = option(
        "Draw only these methods, by their names in tables: ours,theirs.", metavar="NAMES", shown="all"
    )
    metric: str | None = option(
        "Choose the metric of images, box, scatter, intervals, checkpoints, classes and what compares: f.",
        metavar="KEY",
        shown="the one that ranks methods",
        complete=KEYS,
    )
    grey: bool = option("Draw in greys, as print without colours shows it.", False)

    def __call__(self) -> None:
        from segbench.aggregator.result import names_of
        from segbench.aggregator.writing import refuse_place
        from segbench.report.plots.methods import usual_kind
        from segbench.report.plots.saving import save_plot
        from segbench.report.remarks import not_ranked_together
        from segbench.statistics.intervals import few_images

        compares = self.kind is not None and kind_of(self.kind).compares
        level, size = self.level, None if self.size is None else _inches(self.size)
        joins = self.kind is None or kind_of(self.kind).joins
        runs = chosen_runs(self.results, self.only, self.parts, join=joins, measuring=self.measuring)
        runs = chosen_methods(runs, self.methods) if self.methods else runs
        tell(*runs.left_out, *outdated(runs.results))
        loaded = self.with_names(runs.results)
        if compares:
            loaded = means_over_groups(comparable(loaded))
        else:
            refuse_unpooled(loaded)
        output = self.output or Path(f"{self.kind or usual_kind(loaded)}.pdf")
        refuse_place(output)
        options: dict[str, Any] = {"metric": self.metric, "level": level, "size": size, "grey": self.grey}
        drawn = save_plot(loaded, output, kind=self.kind, digits=self.digits, zeros=self.zeros, say=tell, **options)
        for sentence in drawn.caption:
            click.echo(sentence)
        if self.intervals is not None and drawn.kind.level == "band":
            nouns = " and ".join(dict.fromkeys(f"{result.sampled[1]}s" for result in loaded))
            click.echo(f"shaded: pointwise {self.intervals:g} % bootstrap bands over {nouns}", err=True)
        if self.intervals is not None or compares:
            for note in dict.fromkeys(note for result in loaded for note in few_images(*result.sampled)):
                click.echo(note.written("options"), err=True)
        apart = None if compares else not_ranked_together(loaded, names_of(loaded))
        if apart is not None:
            click.echo(apart.written("options"), err=True)
        click.echo(f"written: {output}", err=True)


def _inches(text: str) -> tuple[float, float]:
    """Read ``WIDTHxHEIGHT``."""
    try:
        width, height = map(float, text.split("x"))
    except ValueError:
        width = height = 0.0
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise ArgumentError(
            Message("wrong-value", "--size {value!r} is not a size from 1 to 100 inches; write 3.5x3", value=text)
        )
    return width, height


@dataclass(frozen=True, kw_only=True)
class ReportCommand(OneFile, ChosenParts, ProgressOption, Jobs, Leveled, Renaming):
    """``segbench report``."""

    output: Path = option("Write this page: .html.", Path("report.html"), flag="-o --output")
    images: str | None = option(
        "Show the photographs of this folder or archive, named as the images.", metavar="FOLDER"
    )
    title: str | None = option("Set the heading of the page.", rare=True)
    panels: int | None = option(
        "Draw this many images: those of the gallery, then the worst.",
        shown="as many as keep the page below 6 MB",
        least=0,
        rare=True,
    )
    paths: bool = option("Show the paths of files, which the page otherwise hides for blind review.", False, rare=True)
    intervals: float | None = option("Set the confidence level of intervals and bands.", metavar="PERCENT", shown="95")
    test: str = option(
        "Choose the test of the comparison: t-test, or signed-rank, of means over images.",
        "t-test",
        choices=("t-test", "signed-rank"),
        metavar="TEST",
        rare=True,
    )
    no_intervals: bool = option("Leave out intervals, bands and the comparison.", False, rare=True)

    def __call__(self) -> None:
        from segbench.aggregator.writing import refuse_place
        from segbench.report.page.document import export_report

        refuse_place(self.output)
        loaded = self.with_names(self.chosen(self.parts, partial=True))
        counted = [len(result.counts) for result in loaded]
        pictures = sum(counted) if self.panels is None else sum(min(self.panels, images) for images in counted)
        workers = Workers(jobs=self.jobs).open((), _WORTH_PAIRS * pictures)
        with workers as executor, progress_of("pictures", self.progress) as tally:
            missing = export_report(
                loaded,
                self.output,
                title=self.title,
                intervals=None if self.no_intervals else self.level or LEVEL,
                test=cast("Test", self.test),
                images=self.images,
                most_panels=self.panels,
                paths=self.paths,
                executor=executor,
                progress=tally,
            )
        tell(*missing)
        click.echo(f"written: {self.output} ({self.output.stat().st_size / 1e6:.1f} MB)", err=True)


@dataclass(frozen=True, kw_only=True)
class FigureCommand(OneFile, Renaming, DrawnNumbers):
    """``segbench figure``."""

    output: Path = option("Write this figure: .pdf or .png.", Path("figure.pdf"), flag="-o --output")
    images: str | None = option(
        "Show the photographs of this folder or archive, named as the images.", metavar="FOLDER"
    )
    rows: str = option(
        "Choose images: worst:3,best:1,disagree:2 by the mean, or the SD, over methods; or by name.",
        USUAL_ROWS,
        metavar="RULES",
    )
    metric: str | None = option(
        "Choose images by this metric, and write it into the corners: f.",
        metavar="KEY",
        shown="the one that ranks images",
        complete=KEYS,
    )
    methods: str | None = option(
        "Draw these methods, in this order, by their names in tables: theirs,ours.",
        metavar="NAMES",
        shown="all, the best first",
    )
    style: str = option("Choose what is drawn: errors, contours or labels.", "errors", choices=STYLES, metavar="STYLE")
    transpose: bool = option("Draw images in columns, and methods in rows.", False)
    threshold: float | None = option("Draw at this threshold.", shown="each method's best over all images")
    crop: tuple[str, ...] = option(
        "Show a box of an image larger, in pixels from its upper left corner; may be given several times.",
        (),
        metavar="NAME:x,y,w,h",
    )
    width: str = option(f"Set the width in inches, or that of a venue: {', '.join(VENUES)}.", "6.875", metavar="INCHES")
    tiles: Path | None = option(
        "Write each picture as PNG to this folder, with a LaTeX tabular that sets them.", metavar="DIR", rare=True
    )

    def __call__(self) -> None:
        from segbench.drawing.numerals import numerals_as
        from segbench.report.figure.files import refuse_figure_place, save_figure
        from segbench.report.figure.grid import FigureSettings, grid_of
        from segbench.report.figure.tiles import save_tiles

        refuse_figure_place(self.output, self.tiles)
        results = self.with_names(self.chosen())
        settings = FigureSettings(
            images=self.images,
            rows=self.rows,
            style=self.style,
            transpose=self.transpose,
            metric=self._metric_key(results),
            methods=names_listed(self.methods),
            threshold=self.threshold,
            crops=self.crop,
            width=self.width,
        )
        with numerals_as(self.digits, zeros=self.zeros):
            grid = grid_of(results, settings)
            for path in save_figure(grid, self.output, say=tell):
                click.echo(f"written: {path}", err=True)
            if self.tiles is not None:
                click.echo(f"written: {save_tiles(grid, self.tiles)}", err=True)
            for line in grid.caption:
                click.echo(line)
        for problem in grid.problems:
            click.secho(problem.written("options"), fg="red", err=True)
        if grid.problems:
            raise click.exceptions.Exit(1)

    def _metric_key(self, results: Sequence[Result]) -> str | None:
        """Return the key of the metric that was typed, as a key, a title, or a name of papers."""
        keys = _keys("--metric", self.metric, results, "image")
        if keys and len(keys) > 1:
            raise ArgumentError(
                Message("wrong-value", "--metric {value!r}: expected a single metric", value=self.metric)
            )
        return keys[0] if keys else None


@dataclass(frozen=True, kw_only=True)
class Overlay(OneFile, ProgressOption):
    """``segbench overlay``."""

    output: Path = option(
        "Write the pictures to this folder, one folder per method.", MISSING, flag="-o --output", metavar="DIR"
    )
    threshold: float | None = option("Draw at this threshold.", shown="each method's best over all images")
    image: tuple[str, ...] = option("Draw only this image; may be given several times.", (), metavar="NAME")
    classes: bool = option("Draw the classes of label maps, ground truth and prediction, beside the errors.", False)

    def __call__(self) -> None:
        from segbench.aggregator.rereading import best_cut, why_no_pictures
        from segbench.core.metric import best_threshold
        from segbench.drawing.palette import class_colours
        from segbench.report.overlays import export_overlays, legend

        threshold, classes, output = self.threshold, self.classes, self.output
        results = self.chosen(join=False)
        chosen = [result for result in results if not why_no_pictures(result)] or results
        for result in results:
            if result not in chosen:
                click.echo(f"{result.label}: left out, since it {why_no_pictures(result)}", err=True)
        with progress_of("overlays", self.progress) as tally:
            problems = export_overlays(
                chosen, output, threshold=threshold, names=self.image, classes=classes, progress=tally
            )
        for problem in problems:
            click.secho(problem.written("options"), fg="red", err=True)
        for result in chosen if threshold is None and not classes else ():
            metric = best_threshold(result.metrics)
            if metric is not None:
                click.echo(f"{result.label}: at threshold {metric.written(best_cut(result))} ({metric.key})", err=True)
        if classes:
            for names in dict.fromkeys(tuple(parts_of(result, "class")) for result in chosen):
                colours = class_colours(len(names))
                named = (f"{colour}: {name}" for name, colour in zip(names, colours, strict=True))
                click.echo(", ".join(named), err=True)
        for protocol in {result.protocol: result.rules for result in chosen if not classes}.values():
            click.echo(f"{protocol.name} in {output}: {legend(protocol)}", err=True)
        if problems:
            raise click.exceptions.Exit(1)
