"""The page put together, and written."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote, urlencode

from markupsafe import Markup

from segbench._version import __version__
from segbench.aggregator.joining import first_run, join_runs
from segbench.aggregator.measuring import measured_with
from segbench.aggregator.result import AXES, Result, as_results, names_of, parts_if_any
from segbench.aggregator.writing import refuse_foreign, write_file
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting
from segbench.core.metric import Metric, footnotes, headline, image_headline, images_at_their_best
from segbench.core.names import shortened
from segbench.core.numbers import exact, many, number, of_all
from segbench.core.protocol import Pictured, states_called
from segbench.core.settings import as_path, as_whole, check_choice
from segbench.drawing import palette
from segbench.drawing.palette import class_colours, styles_by_rank
from segbench.loaders.belonging import By
from segbench.loaders.source import shown
from segbench.protocols.states import State
from segbench.report import grounds
from segbench.report.metric_table import MetricTable
from segbench.report.page.answer import Opening, compared_results, opening_of, sentence
from segbench.report.page.cells import laid_out, titled, value_cell, written_remarks
from segbench.report.page.charts import figures, images_of, readings
from segbench.report.page.classes import chart_of_classes, class_table
from segbench.report.page.lines import FOLDED
from segbench.report.page.panels import GalleryRow, Panels, chosen_rows, gallery, panels
from segbench.report.page.pictures import alphas
from segbench.report.photographs import no_photograph, photographs
from segbench.report.plots.methods import Method, pooled_classes, styles_of
from segbench.report.ranking import headline_order
from segbench.report.remarks import remarks
from segbench.report.tables import (
    by_protocol,
    image_metrics,
    image_table,
    method_table,
    part_rows,
    part_table,
)
from segbench.statistics.comparison import Comparison
from segbench.statistics.intervals import Intervals
from segbench.statistics.measured import as_draws, as_level
from segbench.statistics.pairs import Test
from segbench.statistics.runs import with_trainings

if TYPE_CHECKING:
    from jinja2 import Template

PICTURES = 5_600_000
"""Characters that pictures may take, of all protocols together, so that a page stays below 6 MB."""

_HINT = "name another file"
_IMAGE_ROWS = 3_000
"""Rows of the table of images; a browser sorts this many without a pause."""

_PRINTED_ACROSS = 6
"""Most thumbnails beside each other on A4."""

_SCRIPTS = ("page.js", "pictures.js", "states.js", "charts.js", "gallery.js", "saving.js", "panels.js")
_PRINTED_CLASSES = 24
"""Most classes beside each other on A4; of more, the values of a method go on in the next line."""

_IN_A_LINE = 32  # letters of a name
_SUMMARIES_FIRST = ("mean", "all", "part")
_BREAKS = re.compile(r"(?<=[_\-/])")


def export_report(
    results: Result | Sequence[Result],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    group_by: By = "",
    intervals: float | None = 0.95,
    replicates: int = 2000,
    seed: int = 0,
    test: Test = "t-test",
    images: str | PathLike[str] | None = None,
    most_panels: int | None = None,
    paths: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, ...]:
    """Write results as one HTML page that needs nothing else: tables, curves to hover over, pictures of the images.

    Parameters
    ----------
    results : Result or sequence of Result
        Of any protocols; each gets a section.
    path : path
        The file to write, ending in .html or .htm.
    title : str, optional
        Heading of the page; by default it says how many methods and images there are.
    group_by : str or mapping of str to str, optional
        What puts images into groups, see `Result.with_settings`, for a table of them; by default as each run named it,
        and ``"none"`` for none. Where folders have scores of a model each, the page is that of the means over groups.
    intervals : float, optional
        Level of intervals over images, for instance 0.95; None for none, and for no comparison.
    replicates, seed : int
        Of the resamples; see `Result.intervals`.
    test : {"t-test", "signed-rank"}
        Which test decides the comparison; see `segbench.compare`.
    images : path, optional
        Folder or archive of the photographs, named as the images are, perhaps with ``_`` and more behind, shown beside
        the pictures.
    most_panels : int, optional
        How many images get pictures: those of the gallery, then the worst; 0 for none. By default as many as keep the
        page below 6 MB, and as large as that allows.
    paths : bool
        Whether the page shows where files lie; by default it says ``GT`` and ``PRED``, for blind review.
    executor : concurrent.futures.Executor, optional
        Where to draw pictures; by default here.
    progress : callable, optional
        Called with the number of images drawn and the number of all.

    Returns
    -------
    tuple of str
        Where pictures could not be drawn, how many and why, one line per protocol; the page says it, too. Another line
        where images have no photograph.

    Raises
    ------
    ArgumentError
        For an unknown ending, without results, for results of many classes, for a number out of range, or if the path
        is that of a results file or of a file that segbench did not write.
    DataError
        If the photographs cannot be found, or the page cannot be written; an older page is then unchanged. Where
        files are gone or have changed since they were counted, a sentence says so instead of their pictures.

    Notes
    -----
    The page runs its own scripts only, which its content-security policy names by their digests, and loads nothing. The
    same results and files give the same page, byte for byte.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from segbench import evaluate
    >>> demo = "datasets/demo/objects"
    >>> result = evaluate(f"{demo}/ground_truth", f"{demo}/predictions/soft_otsu", images=["coins"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_report(result, f"{folder}/page.html", title="Coins")
    ...     "<title>Coins</title>" in Path(folder, "page.html").read_text("utf-8")
    ()
    True
    """
    target = Path(as_path(path, "path"))
    if target.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(
            Message(
                "other-suffix",
                "{path}: a report is an HTML page; give a name that ends in .html",
                path=shown(target),
            )
        )
    refuse_foreign({target: None}, _HINT)
    results = as_results(results)
    results = join_runs(measured_with(results, {"group_by": group_by}) if group_by else results)
    if not results:
        raise ArgumentError(Message("no-results", "no results to report"))
    if any(pooled_classes(result) is not None for result in results):
        choice = Either("result.parts('class')[NAME]", "--class NAME, or other runs with --only")
        raise ArgumentError(
            Message("several-classes", "a report shows one of several classes: choose it with {choice}", choice=choice)
        )
    if intervals is not None:
        intervals = as_level(intervals, "intervals")
    replicates, seed = as_draws(replicates, seed)
    check_choice(test, Setting("test", None), get_args(Test))
    if most_panels is not None:
        most_panels = as_whole(most_panels, "most_panels")
    every = set().union(*(result.counts for result in results))
    folder = None if images is None else os.fspath(images)
    photos = {} if folder is None else photographs(folder, every)
    hide = str if paths else _hiding(results, folder)
    protocols = by_protocol(results, by_group=True).values()
    sections: list[dict[str, Any]] = []
    missing: list[str] = []
    reported: list[Result] = []
    for members in protocols:
        protocol_results = [results[k] for k in members]
        parts = []
        if any("group" in result.axes for result in protocol_results):
            group_rows = sorted(part_rows(protocol_results, "group"), key=lambda row: _SUMMARIES_FIRST.index(row.kind))
            of_groups = part_table(group_rows, protocol_results, "group", keys=None, every=False)
            parts.append(laid_out(of_groups, 2, "Groups of images"))
            protocol_results = [_pooled_or_mean(result) for result in protocol_results]
        methods, comparison, why = _compared(protocol_results, intervals, replicates, seed, test)
        rows = chosen_rows(methods)
        pictures = panels(
            methods,
            gallery=[row.image for row in rows],
            photos=photos,
            most=most_panels,
            budget=PICTURES // len(protocols),
            executor=executor,
            progress=progress,
        )
        opening = opening_of(methods, comparison, why)
        section = _section(methods, opening, rows, pictures.hidden(hide), hide)
        sections.append(section | {"parts": [*section["parts"], *parts]})
        missing += [pictures.missing] if pictures.missing else []
        without = [image for image in pictures.by_image if image not in photos]
        if folder is not None and without:
            count = of_all(len(without), len(pictures.by_image), "image", "have")
            missing.append(f"{count} no photograph; the first: {no_photograph(without[0], folder)}")
        reported += protocol_results
    page = _html(sections, title or _title(reported))
    write_file(target, page.encode("utf-8", "backslashreplace"), hint=_HINT)
    return tuple(missing)


def _hiding(results: Sequence[Result], images: str | None) -> Callable[[str], str]:
    """Return a function that writes paths in a message as ``GT`` and ``PRED/method``, for blind review."""
    known: dict[str | None, str] = {images: "IMAGES"}
    for inputs in (result.inputs for result in results if result.inputs):
        for part in (inputs, *inputs.merged):
            known |= {
                part.ground_truth: "GT",
                part.prediction: f"PRED/{PurePath(part.prediction or '').name}",
                part.field: "FIELD",
                part.pairs: PurePath(part.pairs or "").name,
            }
    named = {path.rstrip("/\\"): name for path, name in known.items() if path}
    named.pop("", None)
    if not named:
        return str
    # Methods and images are called by their names, also where a folder has the same one.
    names = {name for result in results for name in (result.method, *result.counts, *result.failed)}
    longest_first = sorted(named, key=len, reverse=True)
    pattern = re.compile("|".join(_path_in_message(path, is_name=path in names) for path in longest_first))
    return lambda text: pattern.sub(lambda match: named[match[0]], text)


def _path_in_message(path: str, *, is_name: bool) -> str:
    """Return the regular expression that finds a path in a message, but no word that is the same.

    A path of one word, such as ``images``, may be a word of the message, too. It is a path where a path goes on behind
    it (``images/7.png``), or where the message is about it (``images: no such folder``).
    """
    begins = rf"(?<![\w./\\-]){re.escape(path)}"
    if re.search(r"[/\\]|\.\w", path):
        return rf"{begins}(?![\w-]|\.\w)"
    goes_on = rf"{begins}(?=[/\\])"
    return goes_on if is_name else rf"{goes_on}|(?:^|(?<=: )){re.escape(path)}(?=: )"


def _compared(
    unordered: Sequence[Result], level: float | None, replicates: int, seed: int, test: Test
) -> tuple[list[Method], Comparison | None, str]:
    """Order and compare results of one protocol; without a comparison say why there is none."""
    # Human annotators do not compete: they come last, whatever their value.
    order = sorted(headline_order(unordered), key=lambda k: not unordered[k].rules.competes)
    results, styles = [unordered[k] for k in order], styles_of(unordered)
    ranked = styles_by_rank([styles[k] for k in order])
    names = names_of(results)
    comparison, why = None, ""
    drawn: list[Intervals | None] = [None] * len(results)
    if level is not None:
        resampled: dict[str, Any] = {"level": level, "replicates": replicates, "seed": seed}
        comparison, why = compared_results(results, test=test, **resampled)
        known = comparison.intervals if comparison else {}
        drawn = [
            result.noted(known[name]) if name in known else result.intervals(**resampled)
            for name, result in zip(names, results, strict=True)
        ]
    methods = [
        Method(name, result, style, intervals=known)
        for name, result, style, known in zip(names, results, ranked, drawn, strict=True)
    ]
    return methods, comparison, why


def _pooled_or_mean(result: Result) -> Result:
    """Return the result of all images, or the mean over groups that are not pooled."""
    if "group" not in result.axes:
        return result
    groups = result.parts("group")
    return groups.pooled or groups.mean or result


def _with_first(table: MetricTable, key: str) -> MetricTable:
    """Return the table with the metric that sorts its rows first."""
    return replace(table, columns=tuple(sorted(table.columns, key=lambda column: column.key != key)))


def _sorts(metric: Metric, table: MetricTable) -> bool:
    """Return whether a metric sorts all rows, the best first; methods that do not compete are sorted apart."""
    values = [metric.direction * row.summary.get(metric.key, math.nan) for row in table.rows]
    defined = [value for value in values if not math.isnan(value)]
    return values[: len(defined)] == sorted(defined, reverse=True)  # undefined ones come last


def _section(
    methods: Sequence[Method],
    opening: Opening,
    rows: Sequence[GalleryRow],
    pictures: Panels,
    hide: Callable[[str], str],
) -> dict[str, Any]:
    """Return the variables of the template for one protocol."""
    results = [method.result for method in methods]
    drawn = [method.intervals for method in methods if method.intervals is not None]
    names = [method.name for method in methods]
    rules = next((result.rules for result in results if result.rules.competes), results[0].rules)
    metrics = rules.metrics()
    ranking, image_key = headline(metrics), image_headline(metrics).image_key
    titles = {metric.key: metric.name for metric in metrics}
    whole = _with_first(method_table(results, intervals=drawn), ranking.key)
    scores = [key for key, metric in image_metrics(results).items() if metric.kind != "total"]
    images = _with_first(image_table(results, keys=scores, sort=image_key, most=_IMAGE_ROWS), image_key)
    defined = [intervals for intervals in drawn if not all(math.isnan(low) for low, _ in intervals.values())]
    embedded, cuts = pictures.for_scripts()
    pictured = rules.capability(Pictured)
    classes = list((pictured and pictured.classes_drawn) or parts_if_any(results[0], "class"))
    parts = []
    for axis in ("class", "object"):
        if any(axis in result.axes for result in results):
            of_parts = part_table(part_rows(results, axis), results, axis, keys=None, every=False)
            parts.append(laid_out(of_parts, 2, AXES[axis].plural.capitalize()))
    of_classes = class_table(methods)
    charts = figures(methods)
    if of_classes is not None:
        charts.insert(0, chart_of_classes(methods, of_classes))
    over = with_trainings(f"{results[0].measured.noun}s", (result.measured for result in results))
    return {
        "protocol": rules.name,
        "lead": rules.title,
        "facts": f"{_methods(results)}, {_facts(results)}",
        "methods": methods,
        "names": names,
        "opening": opening,
        "headline": ranking.name,
        "whole": laid_out(whole, 1, sorted_by=ranking.key if _sorts(ranking, whole) else ""),
        "classes": of_classes,
        "parts": parts,
        "images": images,
        "images_sorted_by": image_key,
        "left_out": sum(len(result.counts) for result in results) - len(images.rows),
        "footnotes": footnotes(metrics),
        "level": f"{100 * defined[0].level:g} % intervals over {over}" if defined else "",
        "remarks": written_remarks(
            [
                remark
                for remark in remarks(results, drawn, keys=[metric.key for metric in whole.columns])
                if sentence(titled(remark.note, titles).written("options"), methods) not in opening.notes
            ],
            titles,
            hide,
        ),
        "charts": charts,
        "charts_first": [
            figure.kind for figure in charts if len(methods) <= FOLDED or figure.lines or figure is charts[0]
        ],
        "gallery": gallery(rows, methods, pictures.by_image),
        "states": [(State(state).name.lower(), words) for state, words in states_called(rules).items()],
        "at": _chosen_how(methods, at_their_best=images_at_their_best(metrics)),
        "best_threshold": images_at_their_best(metrics),
        "panels": pictures,
        "embedded": embedded,
        "photo_numbers": {name: index for index, name in enumerate(pictures.by_image)},
        "data": {
            "names": names,
            "images": pictures.opened,
            "states": [states_called(rules).get(state, "") for state in State],
            "alphas": alphas(1),
            "css": [method.style.css for method in methods],
            "cuts": cuts,
            "classes": {"names": classes, "colours": class_colours(len(classes))},
            "readings": readings(methods),
            "images_of_chart": images_of(methods),
        },
        "signatures": _signatures(methods, opening.comparison),
    }


def _signatures(methods: Sequence[Method], comparison: Comparison | None) -> dict[str, list[str]]:
    """Return the signatures of results, intervals and comparison, each once, with what it is of."""
    signed = [(method.result.signature, method.name) for method in methods]
    drawn = [method.intervals for method in methods if method.intervals is not None]
    signed += [(intervals.signature, "intervals") for intervals in drawn[:1]]
    signed += [(comparison.signature, "comparison")] if comparison else []
    return grouped(signed)


def _chosen_how(methods: Sequence[Method], *, at_their_best: bool) -> str:
    """Say how the rows of the gallery were chosen, and at which threshold they are shown."""
    by = "means over methods" if len(methods) > 1 else "the metric of each image"
    chosen_by = f"Rows are chosen by {by}"
    chosen_by += ", each image at its own best threshold" if at_their_best else ""
    curves = [method.curve for method in methods if method.curve is not None]
    if any(curve.columns["threshold"].size > 1 for curve in curves):
        chosen_by += "; pictures, and the metrics below them, are at the best threshold for all images"
    pictured = [(method.result, first_run(method.result)) for method in methods]
    firsts = [run.label for result, run in pictured if run is not result]
    return f"{chosen_by}; of methods with several runs they are those of {', '.join(firsts)}" if firsts else chosen_by


def _facts(results: Sequence[Result]) -> str:
    """Say how many images there are, and which: by the digest of their ground truth."""
    images = dict.fromkeys(
        f"{many(len(result.counts), 'image')}, data {result.data}"
        for result in results
        if result.counts and result.competes
    )
    means = dict.fromkeys(f"means over {result.settings['mean']}, " for result in results if "mean" in result.settings)
    return "".join(means) + (" or ".join(images) or "published without images")


def _html(sections: Sequence[Mapping[str, Any]], title: str) -> str:
    scripts = [_part(name) for name in _SCRIPTS]
    styles = _styles(sections)

    def link(section: Mapping[str, Any], image: str, method: int) -> str:
        fields = {"in": section["protocol"]} if len(sections) > 1 else {}
        return "#" + urlencode(fields | {"image": image, "method": section["names"][method]}, quote_via=quote)

    return _template().render(
        sections=sections,
        title=title,
        version=__version__,
        policy=_security_policy(scripts, styles),
        styles=styles,
        link=link,
        scripts=scripts,
    )


def _styles(sections: Sequence[Mapping[str, Any]]) -> str:
    """Return the styles of the page: colours of methods and states, and how many columns its tables have."""
    colours = {f"p{index}": colour for index, colour in enumerate((*palette.COLOURS, palette.HUMAN))}
    colours |= grounds.COLOURS
    own = "".join(f"--{name}: {colour}; " for name, colour in colours.items())
    counts = ""
    for section in sections:
        methods = section["gallery"].columns if section["gallery"].methods else 0
        down = math.ceil(methods / _PRINTED_ACROSS)  # lines of thumbnails, of about the same length
        across = math.ceil(methods / max(down, 1))
        columns = max(len(part["table"].columns) for part in (section["whole"], *section["parts"]))
        if section["classes"]:
            counts += f"#{section['protocol']} .by-class {{ --columns: {len(section['classes'].columns)}; }}\n"
        counts += f"#{section['protocol']} {{ --columns: {columns}; "
        counts += f"--n: {methods}; --across: {across}; --down: {down}; }}\n"
    return f":root {{ {own}}}\n{counts}{_part('style.css')}"


def _methods(results: Sequence[Result]) -> str:
    """Say how many methods there are, and if there are human annotators, too."""
    methods = len({result.method for result in results if result.rules.competes})
    human = "human annotators" if any(not result.rules.competes for result in results) else ""
    return " and ".join(filter(None, (many(methods, "method") if methods else "", human)))


def _title(results: Sequence[Result]) -> str:
    counted = [set(result.counts) for result in results if result.rules.competes and not result.published]
    images = max(map(len, counted), default=0)
    up_to = "" if all(names == counted[0] for names in counted) else "up to "
    methods = _methods(results)
    return f"{methods} on {up_to}{many(images, 'image')}" if images else methods


def _breaking(name: str) -> Markup:
    """Let a name break after ``_ - /``, and nowhere else."""
    return Markup("<wbr>").join(_BREAKS.split(name))


def _part(name: str) -> str:
    return (files("segbench.report.page") / name).read_text("utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.globals.update(number=number, exact=exact, value_cell=value_cell, breaking=_breaking, folded=FOLDED)
    environment.globals.update(printed_classes=_PRINTED_CLASSES, shortened=partial(shortened, longest=_IN_A_LINE))
    return environment.from_string(_part("template.html"))


def _security_policy(scripts: Sequence[str], styles: str) -> str:
    """Write a content-security policy: these scripts and styles alone, pictures are data, nothing is loaded or sent."""
    of_scripts = " ".join(map(_digest, scripts))
    own = f"default-src 'none'; script-src {of_scripts}; style-src {_digest(styles)}; img-src data:"
    return f"{own}; connect-src 'none'; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
