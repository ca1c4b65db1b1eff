"""Metrics: what each one is (`Metric`), and the values of a benchmark (`Summary`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NoReturn

from segbench.core.errors import ArgumentError, UnknownMetricError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, part_of
from segbench.core.names import latex_name
from segbench.core.numbers import DIGITS, by_key, number, number_below, shortest
from segbench.core.text_table import TextTable, aligned, data_frame, table_html

if TYPE_CHECKING:
    import pandas as pd

Better = Literal["higher", "lower"]
Spread = Literal["smooth", "biased", "jumps", "erratic"]

PIXELS, VOXELS = "px", "voxels"
OPTIMISTIC = "optimistic"
"""The kind of notes on metrics that were tuned on the images they describe."""
LINE = 120
"""Columns of a line of footnotes."""
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Metric:
    r"""One metric of a protocol. Tables, rankings, intervals, comparisons, JSON, CSV and pages follow from its fields.

    Parameters
    ----------
    key : str
        Its name in ``summary``, JSON and CSV. Empty for a metric that only single images have.
    title : str
        Its column title, as papers call it, below that of its `group`. Metrics without a title are in no table, but in
        JSON and CSV.
    measured_in : str
        The unit of its values, such as px or mm; empty for shares and whatever else has none.
    symbol : str
        What LaTeX prints for the title, in math mode: ``S_\alpha``; the title itself if left out.
    better : {"higher", "lower"}, optional
        Which values are better; None for metrics without a best value, such as precision at a chosen threshold.
    range : tuple of float and float, optional
        Between which values it lies, so that intervals of differences hold none that cannot be; None if it has no ends.
        An estimate outside is an error.
    image_key : str
        Its name for a single image; empty if it has none.
    image_title : str
        Its column title for single images; by default made from `image_key`.
    group : str
        What metrics side by side are called together, in headers of tables and in notes: ``"ODS"`` of F, P and R.
    kind : {"score", "total", "threshold"}
        A total (``positives``) is a whole number without intervals; totals and thresholds are never compared.
    headline : bool
        Whether it ranks methods. Each protocol has one headline, which images have, too.
    mean_over_images : bool
        Whether it is the mean of what `Table.measure_images` has of it in each row: of each image by itself, or of each
        unit or object, over those where that is defined. The signed-rank test is for such metrics, and only these have
        a standard deviation and quartiles of images (`segbench.statistics.spread`).
    compared : bool
        Whether tables of comparisons show it; JSON and CSV hold all scores.
    spread : {"smooth", "biased", "jumps", "erratic"}
        How it moves with the images, which decides its intervals (`segbench.statistics.measured`): smoothly; too high
        in small sets; or in jumps, as what is read at a threshold that was itself chosen. Quantiles of resamples hold
        the value of the population often enough for metrics that jump, not for erratic ones.
    adds_up : bool, optional
        Whether the counts of several images added up, measured as one image, have it, as units are measured; by default
        unless it is a mean over images. So the Dice of masks, not distances.
    optimistic : bool
        Whether its thresholds were chosen on the images that it describes.
    priority : int
        In a terminal that is too narrow columns of priority 1 go to a second block first, then those of 2, and so on;
        0 stays.
    note : str
        What the footnote below a table says about it.

    Examples
    --------
    >>> metric = Metric(key="pixel_error", title="error", better="lower", range=(0.0, 1.0))
    >>> metric.name, metric.direction
    ('error', -1)
    """

    key: str
    title: str = ""
    measured_in: str = ""
    symbol: str = ""
    better: Better | None = None
    range: tuple[float, float] | None = None
    image_key: str = ""
    image_title: str = ""
    group: str = ""
    kind: Literal["score", "total", "threshold"] = "score"
    headline: bool = False
    mean_over_images: bool = False
    compared: bool = False
    spread: Spread = "smooth"
    adds_up: bool | None = None
    optimistic: bool = False
    priority: int = 0
    note: str = ""

    @property
    def name(self) -> str:
        """What it is called outside a table with groups, for instance ``"ODS F"``."""
        return f"{self.group} {self.title}".strip() if self.title else self.key

    @property
    def heading(self) -> str:
        """What a column of it is called below its group: the title, with its unit unless that is pixels."""
        return self.title if self.measured_in in ("", PIXELS) else f"{self.title} ({self.measured_in})"

    @property
    def column_name(self) -> str:
        """What a column of it is called in a table without groups, for instance ``"HD95 (mm)"``."""
        return f"{self.group} {self.heading}".strip() if self.title else self.key

    @property
    def quantity(self) -> str:
        """What an axis along its values is called, for instance ``"HD95 (px)"``."""
        return f"{self.name} ({self.measured_in})" if self.measured_in else self.name

    def amount(self, difference: str, *, better: bool = True) -> str:
        """Write by how much a method is better, or worse: ``.013 ODS F``, ``10.8 px lower HD95``."""
        side = "lower" if better else "higher"
        words = [self.with_unit(difference), side if self.better == "lower" else "", self.name]
        return " ".join(filter(None, words))

    def with_unit(self, value: str) -> str:
        """Write the unit, if there is one, behind a value."""
        return f"{value} {self.measured_in}" if self.measured_in else value

    @property
    def label(self) -> str:
        """What it is called where metrics of sets and of single images lie together: its key, or that for images."""
        return self.key or self.image_key

    @property
    def name_for_images(self) -> str:
        """What a column of single images is called."""
        return self._title_for_images(self.heading)

    @property
    def quantity_of_images(self) -> str:
        """What an axis along values of single images is called."""
        return self._title_for_images(f"{self.title} ({self.measured_in})" if self.measured_in else self.title)

    def _title_for_images(self, title: str) -> str:
        same = title if self.image_key == self.key else ""
        return self.image_title or same or self.image_key.replace("_", " ")

    @property
    def is_share(self) -> bool:
        """Whether its values are shares of 1, which may be written in percent."""
        return self.kind == "score" and self.range is not None and self.range[1] == 1.0 and not self.measured_in

    @property
    def is_of_sums(self) -> bool:
        """Whether the counts of several images added up have it, measured as one image."""
        return not self.mean_over_images if self.adds_up is None else self.adds_up

    @property
    def is_of_units(self) -> bool:
        """Whether a unit has it, of its counts added up, as an image has."""
        return self.is_of_sums and self.kind == "score" and bool(self.key and self.image_key)

    @property
    def direction(self) -> int:
        """What a value is multiplied by so that higher is better: -1 where lower values are, else 1."""
        return -1 if self.better == "lower" else 1

    def written(self, value: float, *, digits: int = DIGITS) -> str:
        """Write a value for readers; a threshold is rounded down, so that it cuts as the exact one when typed."""
        return (number_below if self.kind == "threshold" else number)(value, digits=digits)

    def latex(self, title: str) -> str:
        """Write a title of its column for LaTeX, with an arrow towards better values; its symbol, if it has one."""
        arrow = {"higher": r"\uparrow", "lower": r"\downarrow"}.get(self.better or "", "")
        if self.symbol:
            return f"${self.symbol}{arrow}$"
        return latex_name(title) + (f" ${arrow}$" if arrow else "")

    def prefixed(self, prefix: str, **changes: object) -> Metric:
        """Return the metric of a part or a mean of parts, with another key: ``prefixed("macro")``."""
        image_key = self.image_key and f"{prefix}_{self.image_key}"
        return replace(self, key=f"{prefix}_{self.key}", image_key=image_key, **changes)  # type: ignore[arg-type]  # checked by replace


def key_at(name: str, threshold: float) -> str:
    """Return the key of a metric at a threshold, an IoU or a distance: ``f@0.5``, ``nsd@2``."""
    return f"{name}@{shortest(threshold)}"


def key_of_images(key: str) -> str:
    """Return the key of the mean over images of a metric: ``dice_images``, ``f1_images@0.5``."""
    name, sign, threshold = key.partition("@")
    return f"{name}_images{sign}{threshold}"


CLASSES_PRESENT = Metric(
    key="classes_present", title="classes", image_key="classes_present", kind="total", note="those in the ground truth"
)


def shares(*metrics: Metric) -> tuple[Metric, ...]:
    """Return the metrics of a protocol with scores between 0 and 1, except those that name a range."""
    return tuple(
        replace(metric, range=(0.0, 1.0)) if metric.kind == "score" and metric.range is None else metric
        for metric in metrics
    )


def refuse_outside(metrics: Iterable[Metric], values: Iterable[float]) -> None:
    """Refuse estimates outside the range that their metric gives."""
    for metric, value in zip(metrics, values, strict=True):
        low, high = metric.range or (-math.inf, math.inf)
        if not math.isnan(value) and not low - _ROUNDING <= value <= high + _ROUNDING:
            name = metric.key or metric.image_key
            raise ArgumentError(
                Message(
                    "outside-range",
                    "the metric {metric} is {value:g}, expected {low:g} to {high:g}: "
                    "correct its formula or Metric.range",
                    metric=name,
                    value=value,
                    low=low,
                    high=high,
                )
            )


def headline(metrics: Iterable[Metric]) -> Metric:
    """Return the metric that ranks methods."""
    return next(metric for metric in metrics if metric.headline)


def image_headline(metrics: Iterable[Metric]) -> Metric:
    """Return the metric that ranks images: the headline, or the first that images have."""
    metrics = tuple(metrics)
    ranking = headline(metrics)
    return ranking if ranking.image_key else image_columns(metrics)[0]


def best_threshold(metrics: Iterable[Metric]) -> Metric | None:
    """Return the best threshold for all images, at which pictures are drawn; None where there is no single one."""
    return next((metric for metric in metrics if metric.key and metric.kind == "threshold"), None)


def images_at_their_best(metrics: Iterable[Metric]) -> bool:
    """Return whether each image is measured at its own best threshold."""
    return any(metric.kind == "threshold" and metric.image_key for metric in metrics)


def columns(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics that have a column in tables of methods."""
    return tuple(metric for metric in metrics if metric.key and metric.title)


def image_columns(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of single images, scores before totals."""
    of_images = [metric for metric in metrics if metric.image_key]
    return tuple(sorted(of_images, key=lambda metric: metric.kind == "total"))


def keys_and_names(metrics: Iterable[Metric]) -> tuple[tuple[str, str], ...]:
    """Return metrics as notes name them: key and name of each."""
    return tuple((metric.key, metric.name) for metric in metrics)


def left_out_note(
    metrics: Iterable[Metric], why: str, left_out: int, total: int, noun: str = "image"
) -> tuple[Note, ...]:
    """Return a note on how many images means over images leave out; empty if none or all are left out."""
    names = keys_and_names(metrics)
    if not names or not 0 < left_out < total:
        return ()
    number = part_of(left_out, total, noun)
    message = Message("left-out", "left out of {metrics}, {why}: {number}", why=why, number=number)
    return (Note(message, metrics=names),)


def zero_note(metrics: Iterable[Metric], empty: int, total: int, noun: str = "image") -> tuple[Note, ...]:
    """Return a note on how many images with empty ground truth count as 0 in means; empty if there are none."""
    names = keys_and_names(metrics)
    if not names or not empty:
        return ()
    number = part_of(empty, total, noun)
    message = Message("counted-as-0", "counted as 0 in {metrics}, ground truth empty: {number}", number=number)
    return (Note(message, metrics=names),)


def held_note(metric: Metric, images_of_class: Mapping[str, int], images: int) -> tuple[Note, ...]:
    """Return a note on over how many images each class is averaged; empty if each class is in all images."""
    present = {name: count for name, count in images_of_class.items() if count}
    if not present or min(present.values()) == images:
        return ()
    rarest, commonest = min(present, key=present.__getitem__), max(present, key=present.__getitem__)
    message = Message(
        "unequal-classes",
        "{metrics} averages each class over the images that hold it: from {fewest} ({rarest}) to {most} ({commonest}) "
        "of {images} images",
        rarest=rarest,
        fewest=present[rarest],
        commonest=commonest,
        most=present[commonest],
        images=images,
    )
    return (Note(message, metrics=keys_and_names([metric])),)


def footnotes(metrics: Sequence[Metric], width: int = LINE) -> tuple[str, ...]:
    """Explain the columns of a table of these metrics, in lines of this width where single explanations fit."""
    shown = columns(metrics)
    notes = [(metric.note, metric) for metric in shown if metric.note]
    notes += [("lower is better", metric) for metric in shown if metric.better == "lower"]
    lines: list[str] = []
    line = ""
    by_names = grouped((_named(with_note, shown), note) for note, with_note in grouped(notes).items())
    for names, of_names in by_names.items():
        footnote = f"{names}: {', '.join(of_names)}"
        longer = f"{line}; {footnote}" if line else footnote
        if line and len(longer) > width:
            lines.append(line)
            longer = footnote
        line = longer
    return (*lines, line) if line else ()


def _named(metrics: Sequence[Metric], shown: Sequence[Metric]) -> str:
    """Label metrics, using the group name where possible."""
    first = {metric.group: metric for metric in reversed(shown)}
    leading = [metric for metric in metrics if metric.group and metric.kind == "score"]
    whole = {metric.group for metric in leading if first[metric.group] is metric}
    return ", ".join(dict.fromkeys(metric.group if metric.group in whole else metric.name for metric in metrics))


def optimistic_notes(metrics: Iterable[Metric]) -> tuple[Note, ...]:
    """Return a note for each column that was tuned on the images it describes, for tables that leave the page."""
    return tuple(
        Note(Message("optimistic", "{metrics}: {why}", why=metric.note), metrics=keys_and_names([metric]))
        for metric in columns(metrics)
        if metric.optimistic
    )


def finite(value: float) -> float | None:
    """Replace NaN and infinity by None."""
    return value if math.isfinite(value) else None


def finite_values(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """Return metrics as JSON holds them: None where undefined."""
    return {key: finite(value) for key, value in metrics.items()}


@dataclass(frozen=True, eq=False)
class Summary(Mapping[str, float | int]):
    """Metrics by key, in the order in which they are reported.

    Parameters
    ----------
    metrics : mapping of str to float or int
        nan where a metric is undefined.
    undefined : mapping of str to Message
        Why a metric is nan; `str` writes it.
    optimistic : tuple of str
        Metrics with thresholds that were chosen on the images they describe.
    threshold_source : str
        Where thresholds come from when they are not the scores themselves, for instance a tuning set.
    notes : tuple of Note
        What has to be said beside the metrics.
    thresholds : tuple of str
        Metrics that are thresholds, which are printed rounded down.

    Examples
    --------
    >>> why = Message("no-positives", "no positive pixels")
    >>> summary = Summary({"ods_f": float("nan")}, undefined={"ods_f": why})
    >>> summary["ods_f"], summary.undefined["ods_f"].kind
    (nan, 'no-positives')
    >>> print(summary)
    ods_f  -  no positive pixels
    """

    metrics: Mapping[str, float | int]
    undefined: Mapping[str, Message] = field(default_factory=dict)
    optimistic: tuple[str, ...] = ()
    threshold_source: str = ""
    notes: tuple[Note, ...] = ()
    thresholds: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> float | int:
        try:
            return self.metrics[key]
        except KeyError:
            raise UnknownMetricError(
                Message(
                    "unknown-metric",
                    "no metric {metric!r} here; expected one of {known}",
                    metric=key,
                    known=tuple(self.metrics),
                )
            ) from None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say that metrics are looked up by their keys."""
            is_metric = not name.startswith("_") and name in self.__dict__.get("metrics", ())
            advice = f"; write summary[{name!r}]" if is_metric else ""
            raise AttributeError(f"Summary has no attribute {name!r}{advice}", name=name, obj=self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __str__(self) -> str:
        """Print a metric per line, with the reason where it is undefined, and the notes."""
        return "\n".join([aligned(self._rows(), "<><"), *map(str, self.notes)])

    def _repr_html_(self) -> str:
        columns = 3 if self.undefined else 2
        rows = [row[:columns] for row in self._rows()]
        return table_html(TextTable(["metric", "value", "undefined"][:columns], rows))

    def _rows(self) -> list[list[str]]:
        return [
            [key, by_key(key, value, self.thresholds), str(self.undefined.get(key, ""))] for key, value in self.items()
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return a data frame with a row per metric: value, and the reason where it is undefined.

        Takes pandas, which segbench does not install by itself.
        """
        rows = [{"value": value, "undefined": str(self.undefined.get(key, ""))} for key, value in self.items()]
        return data_frame(rows, "metric", list(self))

    @property
    def empty(self) -> bool:
        """Whether no metric is defined and there are only totals."""
        return all(isinstance(value, int) or math.isnan(value) for value in self.metrics.values())
