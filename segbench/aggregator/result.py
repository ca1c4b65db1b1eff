"""The result of one method: its counts image by image, and every metric computed from them.

Begin with `Result`. `Parts` and `AXES` take it apart by class, object, group, unit or run; `joined` makes one of runs.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from segbench.aggregator.codec import EncodedCounts, encode
from segbench.aggregator.measuring import differing_settings, measured_alike, without_measuring
from segbench.aggregator.part_means import MeanOverParts, MeanOverRuns, innermost
from segbench.aggregator.records import (
    UNNAMED,
    ByName,
    DataDigest,
    Digests,
    Outcome,
    Run,
    notes_on_images,
    parts_of,
    resigned,
    without_selection,
)
from segbench.aggregator.summaries import ImageSummaries, UnitSummaries
from segbench.core.arrays import FloatArray
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError, DataError, Failure, UnknownMetricError
from segbench.core.grouping import grouped
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, Style, as_note, option_of
from segbench.core.metric import Metric, Summary, columns, finite, finite_values, footnotes, headline, refuse_outside
from segbench.core.names import MethodRun, first_names
from segbench.core.numbers import many, of_all
from segbench.core.protocol import ApartByFolder, Divided, Division, MeasuredBySet, Part, Pooling, Protocol, Published
from segbench.core.scores import ScoreCounts, Thresholds
from segbench.core.series import Series
from segbench.core.settings import as_path
from segbench.core.table import CachedPool, Reducing, Table
from segbench.core.text_table import TextTable, data_frame, table_html
from segbench.core.units import unit_metrics
from segbench.curves.mean import MeanCurve
from segbench.loaders.belonging import FOLDER, GROUP, KINDS, UNIT, Assignment, By, assignments, together
from segbench.loaders.pairing import Inputs, natural
from segbench.protocols.guesses import answering, refuse_attribute
from segbench.protocols.pixels.metrics import WITHOUT_NAMES
from segbench.statistics.intervals import Intervals, intervals_of
from segbench.statistics.measured import Measured, as_draws, as_level
from segbench.statistics.runs import are_folds
from segbench.statistics.spread import Spread, spreads_of
from segbench.statistics.tables import by_unit

if TYPE_CHECKING:
    import pandas as pd

_LISTED = 20
_FEWEST_FOR_ERRORS = 2
_ON_THE_TUNING_SET = Note(
    Message("tuned-on-test", "the tuning set is the test set: metrics at its thresholds are optimistic")
)
_BEST_OF_TUNED = Note(
    Message(
        "best-of-tuned",
        "ODS, OIS and mean F still take the best of the tuned thresholds on these images; "
        "F at the ODS threshold of the tuning set is unbiased",
    )
)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The counts of a method on a set of images, and what follows from them.

    Parameters
    ----------
    method : str
        Name of the method.
    rules : Protocol
        The protocol with its settings, which says what is measured and how.
    settings : mapping of str to str
        The protocol's settings, as in the signature.
    signature : str
        All settings that the numbers depend on, the digest of the data and the version.
    counts : mapping of image name to counts
        Integer counts of each image, sorted by name.
    failed : mapping of image name to Failure
        The images that could not be counted, and why: ``str`` writes it; ``kind``, ``path``, ``values`` and
        ``settings`` are for scripts.
    notes : tuple of Note
        What was done to the data while reading.
    inputs : Inputs, optional
        Where the images lay when they were counted; None for results that others counted.
    assigned : mapping of str to Assignment
        What each image belongs to: its ``"group"`` and its ``"unit"``, where these are named.
    digests : mapping of image name to str
        Content of all files of each image when it was counted.
    truths : mapping of image name to str
        Content of the ground truth of each image, of which the signature names the whole.
    published : Published, optional
        The curve or metrics of a method published without images; there are no counts then.
    image_notes : mapping of image name to tuple of Note
        What was done to the data of single images, with what `notes` leaves out, such as their sizes.
    unnamed : ScoreCounts, optional
        Pixels that an `Accumulator` got without the name of an image: part of the pooled metrics and the curve, while
        metrics of single images (OIS, mean F), intervals and comparisons are undefined.
    kept : CachedPool, optional
        What a results file keeps of very many scores or images, which take long to go through: `reduced`, and what that
        does not tell of all counts, such as areas.
    reused : int
        How many images `evaluate` took from the results file, since their files and settings are the same.
    partial : tuple of int and int or None, optional
        How many images of how many were counted, for a run that stopped early; the latter is None where it is not
        known. A partial result is not ranked.
    repeated : int
        How many images the results file holds of a later run of the same that is not complete, and will replace this
        result; 0 where there is none.
    run : str
        Which of the method's trainings or folds this is; empty where it has none. `segbench.join_runs` joins them.
    runs : mapping of str to Result
        The results that were joined to this one by `segbench.join_runs`, by the names of the runs; empty for others.
    of_axis : str
        The axis along which it is a part, or the mean of parts, of another result, see `parts`; empty for a whole.
    place : int, optional
        Its number among the methods of its results file, from 0, which settles its colour; None where it is of no
        file, and of annotators.

    Examples
    --------
    >>> from segbench import evaluate
    >>> images = {"a": ([0, 1, 1], [0.2, 0.9, 0.5]), "b": ([0, 1, 1], [0.6, 0.9, 0.2])}
    >>> result = evaluate(images, method="net")
    >>> result
    Result('net', pixels, 2 images, ods_f 0.8000)
    >>> result.summary["ods_threshold"], result.per_image["a"]["f"], result.counts["b"].scores.tolist()
    (0.2, 1.0, [0.9, 0.6, 0.2])
    >>> result.curve.tp.tolist(), result.curve.fp.tolist()  # at no score, and at .9, .6, .5 and .2
    ([0, 2, 2, 3, 4], [0, 0, 1, 1, 2])
    """

    method: str
    rules: Protocol
    settings: Mapping[str, str]
    signature: str
    counts: Mapping[str, Counts]
    failed: Mapping[str, Failure] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    inputs: Inputs | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    truths: Mapping[str, str] = field(default_factory=dict)
    published: Published | None = None
    image_notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    unnamed: ScoreCounts | None = None
    kept: CachedPool | None = None
    reused: int = 0
    partial: tuple[int, int | None] | None = None
    repeated: int = 0
    place: int | None = None
    assigned: Mapping[str, Assignment] = field(default_factory=dict)
    run: str = ""
    runs: Mapping[str, Result] = field(default_factory=dict)
    of_axis: str = ""

    @property
    def label(self) -> str:
        """The method, with its run if it has any: ``"ours@1"``."""
        return str(MethodRun(self.method, self.run))

    def __repr__(self) -> str:
        """Return one line with the method, the number of images, and the metric that ranks methods."""
        key = headline(self.rules.metrics()).key
        return f"Result({self.label!r}, {self._counted}, {key} {self.summary[key]:.4f})"

    def __str__(self) -> str:
        """Print a metric per line, what was noted, and the signature."""
        notes = [*self.notes, *([self.outdated] if self.outdated else [])]
        return "\n".join([f"{self.label}: {self._counted}", str(self.summary), *map(str, notes), self.signature])

    @property
    def _counted(self) -> str:
        if self.partial:
            images = f"partial: {partial_images(self.partial)}"
        elif self.published:
            images = "published without images"
        elif self.unnamed:
            images = "pixels without names"
        else:
            images = many(len(self.counts), "image")
        counted = [self.protocol]
        if "class" in self.settings:
            counted.append(f"class {self.settings['class']}")
        counted.append(images)
        if self.runs:
            counted.append(many(len(self.runs), "fold" if self.pools_folds else "run"))
        if self.failed:
            counted.append(f"{len(self.failed)} failed")
        return ", ".join(counted)

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        metrics = columns(self.metrics)
        values = [metric.written(self.summary[metric.key]) for metric in metrics]
        notes: tuple[Note | str, ...] = (*footnotes(metrics), *self.summary.notes, self.signature)
        table = TextTable([metric.column_name for metric in metrics], [values], names=0, notes=notes)
        return table_html(table, f"{self.label} ({self._counted})")

    @property
    def protocol(self) -> str:
        """The name of the protocol."""
        return self.rules.name

    @property
    def kind(self) -> type[Protocol]:
        """The class of the protocol; of a mean over parts that of their whole."""
        return type(innermost(self.rules))

    @property
    def pools_folds(self) -> bool:
        """Whether its runs are the folds of a cross-validation: each has images of its own, and all are pooled."""
        return bool(self.runs) and not isinstance(self.rules, MeanOverRuns)

    @property
    def averages_runs(self) -> bool:
        """Whether its runs are trainings on the same images, of which every metric is the mean."""
        return bool(self.runs) and not self.pools_folds

    @property
    def sd(self) -> Mapping[str, float]:
        """The standard deviation of each metric over the runs that it is the mean of; empty for other results."""
        return self.rules.deviations if isinstance(self.rules, MeanOverRuns) else {}

    @cached_property
    def table(self) -> Table:
        """The counts of all images laid out, from which every metric is measured."""
        return self._laid_out(self.kept if self._is_tuned else None)

    @property
    def units(self) -> Assignment | None:
        """The units that images belong to, such as patients; None where images are independent."""
        return self.assigned.get(UNIT)

    @cached_property
    def by_image(self) -> Table:
        """The table of images that statistics take: it pools nothing again that a results file keeps."""
        return self._laid_out(self._keeps) if self._keeps else self.table

    @cached_property
    def measured(self) -> Table:
        """The table that intervals and comparisons take, of images or, where they are given, of units."""
        table = self.by_image
        if (
            self.units is not None and self.counts and not isinstance(self.rules, MeanOverParts)
        ):  # whose parts have units
            table = by_unit(table, self.counts, self.units, self.table_of)
        elif GROUP in self.assigned:
            table = table.in_groups()
        if not self.pools_folds:
            return table
        fold_of = {name: fold for fold, run in self.runs.items() for name in run.counts}
        if self.units is not None:
            self.units.refuse_divided(fold_of, "fold")
        return table.in_folds([fold_of[image] for image in table.image_of_rows])

    @property
    def sampled(self) -> tuple[int, str]:
        """How many images, or units of images, are drawn at random, and what one of them is called."""
        if self.units is None:
            return len(self.counts), "image"
        return len({self.units.of_images[image] for image in self.counts}), self.units.noun

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the protocol, and those of units."""
        metrics = self.rules.metrics_of(self.counts)
        if self.units is None or isinstance(self.rules, MeanOverParts):
            return metrics
        return (*metrics, *unit_metrics(metrics, self.units.noun))

    @property
    def _is_tuned(self) -> bool:
        """Whether it is measured at the thresholds of a tuning set."""
        return "thresholds" in self.settings and self.rules.capability(Pooling) is not None

    @property
    def _notes_on_tuning(self) -> tuple[Note, ...]:
        if not self._is_tuned:
            return ()
        is_tuning_set = f", data {self.data}," in self.settings["thresholds"]
        return (_ON_THE_TUNING_SET if is_tuning_set else _BEST_OF_TUNED,)

    @property
    def _keeps(self) -> CachedPool | None:
        """What the results file keeps, if it was measured as this result is: at all scores."""
        return None if self._is_tuned else self.kept

    def _laid_out(self, kept: CachedPool | None = None) -> Table:
        """Lay out all counts; only a protocol that pools has any beside those of images."""
        pooling = self.rules.capability(Pooling)
        return pooling.table(self.counts, rest=self.unnamed, kept=kept) if pooling else self.rules.table(self.counts)

    def table_of(self, images: Mapping[str, Counts]) -> Table:
        """Lay out some of the images, measured as the whole set decides."""
        by_set = self.rules.capability(MeasuredBySet)
        return by_set.table(images, of_set=self.reduced) if by_set else self.rules.table(images)

    @property
    def data(self) -> str:
        """The part of the signature that names the ground truth's content."""
        return parts_of(self.signature)["data"]

    def digest_of(self, numbers: str, counts: bytes) -> str:
        """Return one digest of the names and content of all images and of what was derived from them, as stored."""
        digest = hashlib.sha256(b"[")
        for index, image in enumerate(sorted(self.digests)):  # not the text of the whole list, which is long
            digest.update(((", " if index else "") + repr((image, self.digests[image]))).encode())
        digest.update(f"]\n{numbers}\n".encode() + counts)
        return digest.hexdigest()

    @property
    def competes(self) -> bool:
        """Whether this is a method to be ranked: not how well annotators agree, and not a partial result."""
        is_mean_of_folds = isinstance(self.rules, MeanOverRuns) and not self.runs
        return self.rules.competes and self.partial is None and not is_mean_of_folds

    @property
    def outdated(self) -> Message:
        """That a later run will replace this result; empty if none is being counted or was cut short."""
        if not self.repeated:
            return NOTHING
        return Message(
            "outdated",
            "a later run of it is not complete ({images:many image} so far), so these are the metrics of the run "
            "before it; repeat it",
            images=self.repeated,
        )

    @property
    def standard_errors(self) -> Mapping[str, Mapping[str, float]]:
        """The standard errors of joined runs by their source, and by metric; empty for other results.

        Of a mean over trainings, ``"images"`` and ``"trainings"`` each add to its variance: the larger one says whether
        more images or more runs would make the mean surer. Of pooled folds the larger one counts, ``"images"`` or
        ``"folds"``.
        """
        if not self.runs or len(self.counts) < _FEWEST_FOR_ERRORS:
            return {}
        components = Measured(self.measured, 0.95, 1, 0).components
        keys = [metric.key for metric in self.measured.metrics]
        return {
            source: {key: error for key, error in zip(keys, component.error.tolist(), strict=True) if key}
            for source, component in components.items()
        }

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write for an attribute of other packages, or a metric."""
            refuse_attribute(self, name)

    @answering
    def intervals(self, *, level: float = 0.95, replicates: int = 2000, seed: int = 0) -> Intervals:
        """Compute confidence intervals over images for every metric; see `segbench.intervals`.

        Of annotators compared with each other, images of one annotator are left out.

        They are nan where there are no images, or images are not distinguished: of a published curve, where every image
        failed, where images have no names.

        Examples
        --------
        >>> from segbench import evaluate
        >>> result = evaluate([([0, 1, 1], [0.1, 0.9, 0.8]), ([0, 1, 1], [0.1, 0.9, 0.0])] * 10)  # F 1 and .8
        >>> low, high = result.intervals()["mean_image_f"]
        >>> round(low, 3), round(result.summary["mean_image_f"], 3), round(high, 3)
        (0.841, 0.9, 0.939)
        """
        level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
        reason = self._why_no_intervals()
        if reason:
            nothing = dict.fromkeys(self.summary, math.nan)
            ends = dict.fromkeys(self.summary, (math.nan, math.nan))
            undefined = dict.fromkeys(self.summary, reason)
            note = Note(Message("no-intervals", "{reason}, so no intervals", reason=reason))
            return Intervals(
                ends,
                self.summary,
                nothing,
                nothing,
                level,
                replicates,
                seed,
                images=0,
                sample_size=many(0, "image"),
                notes=(note,),
                undefined=undefined,
                thresholds=self.summary.thresholds,
            )
        return self.noted(intervals_of(Measured(self.measured, level, replicates, seed)))

    def noted(self, intervals: Intervals) -> Intervals:
        """Add the reasons of the summary to intervals of its metrics."""
        reasons = {key: self.summary.undefined.get(key, reason) for key, reason in intervals.undefined.items()}
        return replace(intervals, undefined=reasons)

    @cached_property
    def spread(self) -> Mapping[str, Spread]:
        """How the values of images lie around each metric that is their mean, by key: standard deviation, quartiles.

        Metrics of pooled counts have none, such as mIoU; ``miou_images``, the mean of the mIoU of images, has one.

        Examples
        --------
        >>> from segbench import evaluate
        >>> result = evaluate([([0, 1, 1], [0.1, 0.9, 0.8]), ([0, 1, 1], [0.1, 0.9, 0.0])])  # F 1 and .8
        >>> f = result.spread["mean_image_f"]
        >>> f.images, round(f.mean, 3), round(f.sd, 3), round(f.median, 3), round(f.lower, 3), round(f.upper, 3)
        (2, 0.9, 0.141, 0.9, 0.85, 0.95)
        """
        has_images = self.published is None and self.unnamed is None and self.counts
        return spreads_of(self.measured) if has_images else {}

    def to_dict(
        self, *, intervals: Intervals | None = None, spread: bool = False, style: Style = "python"
    ) -> dict[str, Any]:
        """Return the result as plain numbers and texts, the object of a run in ``segbench show --format json``.

        Parameters
        ----------
        intervals : Intervals, optional
            What `intervals` gave; they are added with the settings they were drawn with.
        spread : bool
            Add ``spread``, the values of images by metric, see `spread`.
        style : {"python", "options"}, optional
            Whether texts name settings as arguments of Python, which is the default, or as options.

        Returns
        -------
        dict
            ``json.dumps`` takes it. ``summary`` holds the metrics by key, None where undefined, with the reason under
            ``undefined``; ``images`` and ``failed`` are numbers of images,
            and ``failures`` says why: ``kind``, ``path``, ``text``, ``values`` and ``settings`` by image.

        Examples
        --------
        >>> from segbench import evaluate
        >>> run = evaluate([([0, 1], [0.2, 0.9])], method="net").to_dict()
        >>> run["method"], run["images"], run["summary"]["ods_f"]
        ('net', 1, 1.0)
        """
        summary = self.summary
        run: dict[str, Any] = {
            "method": self.method,
            "run": self.run or None,
            "protocol": self.protocol,
            "signature": self.signature,
            "images": len(self.counts),
            "failed": len(self.failed),
            "partial": None if self.partial is None else list(self.partial),
            "summary": finite_values(summary),
            "intervals": {},
            "undefined": {key: why.written(style) for key, why in summary.undefined.items()},
            "optimistic": list(summary.optimistic),
            "settings": dict(self.settings),
            "notes": [note.described(style) for note in (*self.notes, *summary.notes)],
            "failures": {name: failure.described(style) for name, failure in self.failed.items()},
        }
        if self.outdated:
            run["notes"].append(as_note(self.outdated).described(style))
        if self.units is not None:
            number, noun = self.sampled
            run["units"] = {"by": self.units.label, "called": noun, "number": number}
        if isinstance(self.rules, MeanOverRuns):
            run |= {"mean_over": self.rules.plural, "sd": finite_values(self.sd)}
        if spread:
            run["spread"] = {key: finite_values(of_images._asdict()) for key, of_images in self.spread.items()}
        if intervals is None:
            return run
        return run | {
            "signature": f"{self.signature}|{intervals.signature}",
            "intervals": {key: [finite(end) for end in ends] for key, ends in intervals.items()},
            "sampling": {
                "level": intervals.level,
                "standard_errors": finite_values(intervals.standard_errors),
                "freedom": finite_values(intervals.freedom),
                "replicates": intervals.replicates,
                "seed": intervals.seed,
                "undefined": {key: why.written(style) for key, why in intervals.undefined.items()},
                "wider_than_images": dict(intervals.wider),
                "notes": [note.described(style) for note in intervals.notes],
            },
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return the metrics as a pandas table of one row; needs pandas, which segbench does not install by itself.

        Returns
        -------
        pandas.DataFrame
            A column per metric, by key; nan where undefined. The index is named ``method``, and ``pandas.concat`` joins
            the rows of several methods. `Result.per_image` has a ``to_dataframe`` of its own.

        Raises
        ------
        ArgumentError
            If pandas is not installed.

        Examples
        --------
        >>> from segbench import evaluate
        >>> table = evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net").to_dataframe()
        >>> table.index.tolist(), table["ods_f"].tolist()
        (['net'], [0.8])
        """
        return data_frame([self.summary], "method", [self.label], list(self.summary))

    def _why_no_intervals(self) -> Message:
        if self.published:
            return Message("published", "a published curve has no images to resample")
        if self.unnamed:
            return WITHOUT_NAMES
        if isinstance(self.rules, MeanOverRuns) and not self.runs:
            return Message("of-folds", "intervals are those of all folds pooled")
        if not self.counts:
            return Message("no-images", "no image was counted")
        return NOTHING if self.table.images else self.summary.undefined[headline(self.rules.metrics()).key]

    @cached_property
    def pooled(self) -> Counts:
        """The sum of the counts of all images.

        Of more distinct scores than are held in memory (`segbench.core.pooling.SCORES_AT_ONCE`), some are chosen
        (`segbench.curves.pooled.reduced`), and ``threshold_source`` says so; the summary still measures all.
        """
        if self.published:
            raise ArgumentError(
                Message("published", "{method} is a published curve, without counts", method=self.method)
            )
        if isinstance(self.rules, MeanOverRuns):
            raise ArgumentError(
                Message(
                    "mean-of-parts",
                    "{method} is a mean over {parts}, whose counts do not add up; take those of one: "
                    "result.parts('run')[NAME]",
                    method=self.method,
                    parts=self.rules.plural,
                )
            )
        self._refuse_without_images()
        return self.table.pooled

    def _refuse_without_images(self) -> None:
        if not self.counts and not self.unnamed and self.rules.capability(Pooling) is None:
            problem = Message("no-image", "no image was counted, so there is no curve")
            raise DataError(self.method, problem, "fix what failed and run again")

    @cached_property
    def reduced(self) -> Counts:
        """The pooled counts at the points of the curve that plots draw: all, or a choice of very many."""
        if self._keeps:
            return self._keeps.counts
        _ = self.pooled  # which says why there are none
        return self.table.reduced if isinstance(self.table, Reducing) else self.table.pooled

    @property
    def scores(self) -> ScoreCounts | None:
        """The same, of a protocol that pools scores; None of others."""
        return cast("ScoreCounts", self.reduced) if self.rules.capability(Pooling) else None

    @property
    def chosen_points(self) -> str:
        """How many of the pooled scores `drawn` has points at, in words; empty where at all."""
        if self._keeps:
            return getattr(self._keeps.counts, "threshold_source", "")
        if self.published or not (self.counts or self.unnamed):
            return ""
        return self.table.chosen_points if isinstance(self.table, Reducing) else ""

    @cached_property
    def summary(self) -> Summary:
        """The metrics over all images, by the keys of the protocol; NaN where undefined, see ``summary.undefined``."""
        if self.published:
            return self.published.summary
        notes_on_tuning = self._notes_on_tuning
        summary = self.measured.summary()
        return replace(summary, notes=(*notes_on_tuning, *summary.notes)) if notes_on_tuning else summary

    @cached_property
    def curve(self) -> Any:  # noqa: ANN401  a curve of the protocol's own type
        """The pooled precision-recall curve, of several classes that of all added up; of regions metrics by threshold.

        Of a mean over runs it is the mean of their curves. None where the protocol has no curve.
        """
        if self.published:
            return self.published.curve
        self._refuse_without_images()
        if isinstance(self.rules, MeanOverRuns):
            return _mean_curve([run.curve for run in self.runs.values()])
        return self.table.curve

    @cached_property
    def drawn(self) -> Series | None:
        """The curve as plots draw it: at the points of `reduced`; None where the protocol has none."""
        if isinstance(self.rules, MeanOverRuns):
            return _mean_curve([run.drawn for run in self.runs.values()])
        if self.published or not self.counts:
            return self.curve
        table = self.rules.table({"": self._keeps.counts}) if self._keeps else self.table
        return table.drawn if isinstance(table, Reducing) else table.curve

    @property
    def axes(self) -> tuple[str, ...]:
        """What `parts` takes it apart by: classes, objects, and groups, units and runs where they are named."""
        if self.runs:
            first, *others = self.runs.values()
            return ("run", *(axis for axis in first.axes if all(axis in run.axes for run in others)))
        if isinstance(self.rules, MeanOverParts):
            return ()
        divided = self.rules.capability(Divided)
        of_images = [axis for axis in AXES if axis in self.assigned]
        return (*(divided.axes if divided and self.counts else ()), *of_images)

    def parts(self, axis: str, by: By = "") -> Parts:
        """Return the result of each of several things: of each class, each object, or each group of images.

        Parameters
        ----------
        axis : {"class", "object", "group", "unit", "run"}
            ``"class"`` of label maps, of soft maps by class, and of panoptic maps; ``"object"`` of sequences;
            ``"group"`` of any images, such as the categories of a data set; ``"unit"`` of images that belong together,
            such as those of a patient; ``"run"`` of results that `segbench.join_runs` joined, whose other parts are
            joined, too.
        by : str or mapping of str to str
            What the groups are, as ``with_settings(group_by=...)`` takes it; by default those that the run named.

        Returns
        -------
        Parts
            A mapping of name to `Result`, with the result that averages the parts, and the one that pools them. A part
            has parts, too: ``result.parts("group")["bottle"].parts("class")``.

        Raises
        ------
        ArgumentError
            If the result has no such parts, or `by` is none of these or gives no group.
        DataError
            If the CSV file cannot be read, has no such column, or puts an image into two groups.

        Examples
        --------
        >>> import numpy as np
        >>> from segbench import Labels, evaluate
        >>> maps = np.array([[0, 1, 1, 1]]), np.array([[0, 0, 1, 1]])
        >>> classes = evaluate([maps], protocol=Labels(classes=2, names=["road", "car"])).parts("class")
        >>> round(classes["car"].summary["iou"], 3), round(classes.mean.summary["iou"], 3)
        (0.667, 0.583)
        >>> pairs = {"day/a": ([0, 1, 1], [0.2, 0.9, 0.5]), "night/b": ([0, 1, 1], [0.6, 0.9, 0.2])}
        >>> groups = evaluate(pairs).parts("group", by="folder")
        >>> [(name, part.summary["auc_roc"]) for name, part in groups.items()], groups.mean.summary["auc_roc"]
        ([('day', 1.0), ('night', 0.5)], 0.75)
        """
        if axis not in AXES:
            raise ArgumentError(
                Message(
                    "unknown-axis",
                    "axis is {axis}, expected one of {known}",
                    axis=repr(axis),
                    known=list(map(repr, AXES)),
                )
            )
        if isinstance(self.rules, MeanOverParts) and not self.runs:
            raise ArgumentError(
                Message(
                    "mean-of-parts",
                    "{method} is a mean over {parts}; take the parts of one of them",
                    method=self.method,
                    parts=self.rules.plural,
                )
            )
        if by != "":
            if axis != "group":
                raise ArgumentError(
                    Message(
                        "for-groups-only",
                        "by is for groups of images, and the axis is {axis!r}; leave it out",
                        axis=axis,
                    )
                )
            return self.with_settings(group_by=by).parts(axis)
        if axis not in self._parts:
            self._parts[axis] = self._divided(axis)
        return self._parts[axis]

    def _divided(self, axis: str) -> Parts:
        """Take it apart; of joined runs the parts are joined, run by run."""
        if self.runs and axis != "run":
            return PartsOfRuns(self, axis, {name: run.parts(axis) for name, run in self.runs.items()})
        return Parts(self, axis, AXES[axis].divide(self))

    @cached_property
    def _parts(self) -> dict[str, Parts]:
        """The parts along the axes that were asked for."""
        return {}

    def _part(self, part: Part, axis: str) -> Result:
        """Return the result of a part along an axis, signed as such."""
        if part.protocol is self.rules:
            settings = {**self.settings, **part.named}
        else:
            settings = _resettled(self, part.protocol, part.named)
        images = None if len(part.counts) == len(self.counts) else len(part.counts)
        signature = resigned(self.signature, part.protocol.name, settings, images)
        of_part = replace(
            self,
            rules=part.protocol,
            counts=part.counts,
            settings=settings,
            signature=signature,
            kept=None,
            runs={},
            of_axis=axis,
            assigned={kind: belonging for kind, belonging in self.assigned.items() if kind not in part.named},
        )
        if part.holds is None:
            return of_part
        return replace(
            of_part,
            failed={name: why for name, why in self.failed.items() if part.holds(name)},
            digests={name: digest for name, digest in self.digests.items() if part.holds(name)},
            truths={name: digest for name, digest in self.truths.items() if part.holds(name)},
            image_notes={name: notes for name, notes in self.image_notes.items() if part.holds(name)},
        )

    def with_settings(self, **settings: Any) -> Result:  # noqa: ANN401  values of fields
        """Return the same counts measured with other settings.

        Parameters
        ----------
        **settings
            Settings of measuring of the protocol, such as ``at=0.5`` or ``background=0``, by the names of their fields;
            an empty value takes one away (``at=()``, ``calibration=False``). A published result stays as it is.
            Results of every protocol take ``group_by``, the groups of `parts`: ``"folder"`` for the first folder in the
            names of images, ``"meta.csv:weather"`` for a column of a CSV file with the names of images in a column
            called name, image or file, or in its first; ``"#_*"`` for a pattern of names in which ``#`` is the group;
            or the group of each image by its name, or a function of the name; ``"none"`` for none. ``unit`` likewise
            says which images are not independent, such as those of a patient: intervals and tests are then over units,
            and metrics of units are added. Where runs were joined, each run is measured with these.

        Returns
        -------
        Result
            Its signature names the settings of the protocol. Nothing is counted again.

        Raises
        ------
        ArgumentError
            If a setting decides what is counted, or has another value than the protocol takes; if `group_by` or `unit`
            is none of these or gives no group, or an image no unit.
        DataError
            If the CSV file cannot be read, has no such column, or puts an image into two groups.

        Examples
        --------
        >>> from segbench import evaluate
        >>> result = evaluate([([0, 1, 1], [0.2, 0.9, 0.4])])
        >>> result.with_settings(at=0.5).summary["recall@0.5"]
        0.5
        >>> list(result.with_settings(group_by={"0": "day"}).parts("group"))
        ['day']
        """
        if self.published:
            return self
        if self.runs:
            runs = {name: run.with_settings(**settings) for name, run in self.runs.items()}
            return replace(joined(runs), method=self.method, place=self.place)
        of_images = {name: settings.pop(name) for name in KINDS if name in settings}
        if of_images and not of_images.keys() <= self.measuring_settings:
            raise ArgumentError(
                Message(
                    "for-images-only",
                    "{setting} is for images: {method} {why}",
                    setting=Setting(next(iter(of_images)), None),
                    method=self.method,
                    why=self._without_images,
                )
            )
        changed = {KINDS[name] for name in of_images}
        assigned = {kind: part for kind, part in self.assigned.items() if kind not in changed}
        assigned |= assignments(of_images, [*self.counts, *self.failed])
        rules = self.rules.with_settings(**settings)
        texts = {name: text for name, text in _resettled(self, rules).items() if name != UNIT}
        texts |= {UNIT: assigned[UNIT].label} if UNIT in assigned else {}
        signature = resigned(self.signature, rules.name, texts)
        return replace(self, rules=rules, settings=texts, signature=signature, assigned=assigned)

    @property
    def measuring_settings(self) -> frozenset[str]:
        """The settings that `with_settings` takes: those of the protocol, and what says what images belong to."""
        if self.published:
            return frozenset()
        of_images = frozenset() if self._without_images else frozenset(KINDS)
        return self.rules.measuring_settings() | of_images

    @property
    def _without_images(self) -> str:
        """Why images cannot be put into groups, in words; empty where they can."""
        if isinstance(self.rules, MeanOverParts):
            return f"is a mean over {self.rules.plural}; put the images of the whole into groups"
        return "" if (self.counts or self.failed) and not self.unnamed else "has no images with names"

    def with_thresholds(self, thresholds: Thresholds) -> Result:
        """Measure at the thresholds of a tuning set, see `segbench.tuned_thresholds`; nothing is counted again."""
        return self.with_settings(**thresholds.settings)

    def save(self, path: str | PathLike[str], *, fresh: bool = False) -> None:
        """Save the result in a results file, for `load_results` and the commands that read results files.

        Parameters
        ----------
        path : path
            The results file, which is made if it does not exist. Beside other methods the result is added; a run of
            the same method and settings of counting is replaced, as one that `evaluate` writes there is.
        fresh : bool
            Replace a run of the same name, also one of predictions in another folder.

        Raises
        ------
        ArgumentError
            If it is a part of another result, or a mean over parts, or was published without images; or if the file was
            not written by segbench.
        DataError
            If the file cannot be written, or holds a run of the same name with predictions of another folder.

        Warns
        -----
        ReplacedRun
            If a run of other images or another ground truth is replaced.

        Notes
        -----
        What is read is what was saved: counts, settings, notes, groups and units. A result that stopped early stays
        partial (``load_results(path, partial=True)``), pixels without names of images stay without, and joined runs
        are saved run by run (`join_runs` joins them again).

        Examples
        --------
        >>> import tempfile
        >>> from segbench import evaluate, load_results
        >>> best = evaluate({"a": ([0, 1, 1], [0.2, 0.9, 0.5])}, method="net")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     best.save(f"{folder}/best.segbench")
        ...     load_results(f"{folder}/best.segbench")
        [Result('net', pixels, 1 image, ods_f 1.0000)]
        """
        from segbench.aggregator.saving import save_run

        file = Path(as_path(path, "path"))
        self._refuse_without_run()
        for result in self.runs.values() or [self]:
            outcomes = _Outcomes(result)
            signed = replace(result, digests=Digests(sorted(outcomes.digests.items())))
            complete = result.partial is None
            save_run(file, _run_of(result), outcomes, signed, complete=complete, fresh=fresh, stacklevel=3)

    def _refuse_without_run(self) -> None:
        """Refuse to save what is no run, and name the whole that is."""
        if self.published:
            raise ArgumentError(
                Message(
                    "published",
                    "{method} was published without images, so there are no counts to save; "
                    "keep the files that it was imported from, or import them with results=path",
                    method=self.label,
                )
            )
        if self.of_axis:
            raise ArgumentError(
                Message(
                    "part-of-result",
                    "this is {what} the {parts} of {method}, which a results file does not hold by itself; save the "
                    "result that parts({axis!r}) was called on, and take load_results(path)[0].parts({axis!r}) of the "
                    "file",
                    what="a mean over" if isinstance(self.rules, MeanOverParts) else "one of",
                    parts=AXES[self.of_axis].plural,
                    method=self.label,
                    axis=self.of_axis,
                )
            )

    @property
    def per_image(self) -> ImageSummaries:
        """The metrics of each image alone, computed on access; `to_dataframe` gives a row per image."""
        return ImageSummaries(self.counts, self.table_of, lambda: self._scores_of_images)

    @property
    def per_unit(self) -> UnitSummaries:
        """The metrics of each unit: its counts added up and measured as one image, or the mean over its images."""
        trainings = self.runs if self.averages_runs else {"": self}
        measures = {name: (training.counts, training.table_of) for name, training in trainings.items()}
        return UnitSummaries(self.measured, self.units, measures)

    @cached_property
    def _scores_of_images(self) -> Mapping[str, FloatArray]:
        """The scores of all images at once, by their keys for images; empty where rows of the table are no images."""
        if not self.counts or list(self.by_image.names) != list(self.counts):  # such as objects of sequences
            return {}
        metrics, values = self.by_image.metrics, self.by_image.measure_images()
        for ends in (np.fmin, np.fmax):
            refuse_outside(metrics, ends.reduce(values).tolist())
        return {metric.image_key: column for metric, column in zip(metrics, values.T, strict=True) if metric.image_key}


class Parts(ByName[Result]):
    """The results of the parts of a result by name, see `Result.parts`.

    Attributes
    ----------
    axis : str
        What the parts are: ``"class"``, ``"object"``, ``"group"``, ``"unit"`` or ``"run"``.
    notes : tuple of Note
        Which images are in no part, and what names no image.
    undefined : mapping of str to str
        Why `mean` or `pooled` is None, by these names.
    """

    def __init__(self, result: Result, axis: str, division: Division) -> None:
        self.axis, self.notes = axis, division.notes
        self._result, self._division = result, division
        self._names = division.parts
        self._results: dict[str, Result] = dict(result.runs) if axis == "run" else {}
        self.undefined: dict[str, str] = {}
        if isinstance(division.pooled, str):
            self.undefined["pooled"] = division.pooled
        if not division.averaged and not any(part.counts for part in division.parts.values()):
            self.undefined["mean"] = f"no image of a {axis} was counted"
        elif division.no_mean:
            self.undefined["mean"] = division.no_mean
        elif self._mean_protocol is not None and not self._mean_protocol.meant:
            self.undefined["mean"] = f"every {axis} is left out of means"

    def __getitem__(self, name: str) -> Result:
        """Return the result of a part."""
        if name not in self._division.parts:
            raise UnknownMetricError(
                Message(
                    "no-such-part",
                    "{setting}: there is no such {axis}; the {parts} are {known}",
                    setting=Setting(self.axis, name),
                    axis=self.axis,
                    parts=AXES[self.axis].plural,
                    known=first_names(list(self), _LISTED),
                )
            )
        if name not in self._results:
            self._results[name] = self._result._part(self._division.parts[name], self.axis)  # noqa: SLF001  its own
        return self._results[name]

    @cached_property
    def _mean_protocol(self) -> MeanOverParts | None:
        """The protocol of the mean; None where the whole is the mean already."""
        if self._division.averaged or not self:
            return None
        axis = AXES[self.axis]
        if self.axis == "run":
            return MeanOverRuns(inner=self._result.rules, parts=dict(self), plural="folds", is_in_one=True)
        return MeanOverParts(inner=self._result.rules, parts=dict(self), plural=axis.plural, is_in_one=axis.is_in_one)

    @cached_property
    def mean(self) -> Result | None:
        """The result whose metrics are means over the parts that define them; None where `undefined` says why.

        Its intervals are over images: of groups stratified, of classes of all images together.
        """
        if "mean" in self.undefined:
            return None
        return self._result if self._mean_protocol is None else self._averaged(self._mean_protocol)

    def _averaged(self, means: MeanOverParts) -> Result:
        """Return the result of a mean over the parts."""
        counts: Mapping[str, Counts] = self._result.counts
        if means.is_in_one:
            counts = {name: counts for part in means.meant.values() for name, counts in part.counts.items()}
        return self._result._part(Part(means, {}, counts), self.axis)  # noqa: SLF001  its own

    @cached_property
    def pooled(self) -> Result | None:
        """The result of all parts added up; None where `undefined` says why there is none."""
        if isinstance(self._division.pooled, str):
            return None
        pooled = self._division.pooled()
        is_whole = pooled.counts is self._result.counts
        return self._result if is_whole else self._result._part(pooled, self.axis)  # noqa: SLF001  its own

    def __repr__(self) -> str:
        return f"<results by {self.axis} of {self._result.method!r}: {first_names(list(self), _LISTED)}>"


class PartsOfRuns(Parts):
    """The parts of the runs of a method, each joined over the runs that have it."""

    def __init__(self, result: Result, axis: str, of_runs: Mapping[str, Parts]) -> None:
        self.axis, self._result, self._of_runs = axis, result, of_runs
        first, *others = of_runs.values()
        self.notes = tuple(note for note in first.notes if all(note in parts.notes for parts in others))
        self._names = list(dict.fromkeys(name for parts in of_runs.values() for name in parts))
        self._results = {}
        self.undefined = {name: why for parts in of_runs.values() for name, why in parts.undefined.items()}

    def __getitem__(self, name: str) -> Result:
        """Return the result of a part, joined over runs."""
        if name not in self._names:
            return next(iter(self._of_runs.values()))[name]  # which says which there are
        if name not in self._results:
            parts = {run: parts[name] for run, parts in self._of_runs.items() if name in parts}
            self._results[name] = self._joined(parts)
        return self._results[name]

    @cached_property
    def mean(self) -> Result | None:
        """The mean over parts, joined over runs; of folds over the parts of all folds together."""
        means = {run: parts.mean for run, parts in self._of_runs.items()}
        is_averaged = any(parts.mean is parts._result for parts in self._of_runs.values())  # noqa: SLF001  its own
        if self._result.pools_folds and self and not is_averaged:
            axis = AXES[self.axis]
            of_all = MeanOverParts(
                inner=self._result.rules, parts=dict(self), plural=axis.plural, is_in_one=axis.is_in_one
            )
            return replace(self._averaged(of_all), runs=self._result.runs) if of_all.meant else None
        return None if None in means.values() else self._joined(cast("dict[str, Result]", means))

    @cached_property
    def pooled(self) -> Result | None:
        """The result of all parts added up, joined over runs."""
        pooled = {run: parts.pooled for run, parts in self._of_runs.items()}
        return None if None in pooled.values() else self._joined(cast("dict[str, Result]", pooled))

    def _joined(self, parts: Mapping[str, Result]) -> Result:
        """Join the parts of runs, which have the names of the whole."""
        return replace(joined(parts), method=self._result.method, place=self._result.place)


class _CountsOfRuns(ByName[Any]):
    """The counts of trainings by the name of the image: a mapping from run to counts for each."""

    def __init__(self, runs: Mapping[str, Result]) -> None:
        self._runs = runs
        self._names = next(iter(runs.values())).counts

    def __getitem__(self, name: str) -> dict[str, Counts]:
        return {run: result.counts[name] for run, result in self._runs.items()}


class _CountsOfFolds(ByName[Any]):
    """The counts of all images of a cross-validation, each from its fold."""

    def __init__(self, folds: Mapping[str, Result]) -> None:
        self._folds = folds
        self._fold_of = {name: fold for fold, result in folds.items() for name in result.counts}
        self._names = sorted(self._fold_of)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  counts of the protocol
        return self._folds[self._fold_of[name]].counts[name]


def joined(runs: Mapping[str, Result]) -> Result:
    """Return the mean over trainings on the same images, or the images of all folds pooled; of one run that itself."""
    first = next(iter(runs.values()))
    if len(runs) == 1:
        return replace(first, run="")
    if any(run.unnamed or run.published for run in runs.values()):
        raise ArgumentError(
            Message(
                "needs-names", "{method}: runs are joined by images, and {why}", method=first.method, why=WITHOUT_NAMES
            )
        )
    images = {name: run.counts.keys() for name, run in runs.items()}
    notes = grouped((note, name) for name, run in runs.items() for note in run.notes)
    repeated = sum(run.repeated for run in runs.values())
    merged_notes = [
        note if len(names) == len(runs) else note.said_of(f"run {', '.join(names)}") for note, names in notes.items()
    ]
    all_notes = (*_notes_on_copies(runs), *merged_notes)
    alike = replace(first, run="", notes=all_notes, repeated=repeated, kept=None, runs=dict(runs), reused=0)
    if are_folds(first.method, images):
        return _pooled_folds(alike)
    if len({run.data for run in runs.values()}) > 1:
        listed = ", ".join(f"{run.data} in {run.label}" for run in runs.values())
        problem = Message(
            "other-ground-truth",
            "runs are trainings measured on the same ground truth, but its content differs ({listed})",
            listed=listed,
        )
        raise DataError(first.method, problem, "count all runs on one set")
    rules = MeanOverRuns(inner=first.rules, parts=dict(runs))
    settings = _resettled(first, rules)
    signature = resigned(first.signature, first.protocol, settings)
    counts = _CountsOfRuns(runs)
    nothing: dict[str, Any] = {}
    return replace(
        alike,
        rules=rules,
        settings=settings,
        signature=signature,
        counts=counts,
        digests=nothing,
        image_notes=nothing,
        truths=nothing,
    )


def _notes_on_copies(runs: Mapping[str, Result]) -> Iterator[Note]:
    """Say which runs have the predictions of another one, so that they are no trainings of their own."""
    digests = {name: run.digests for name, run in runs.items() if isinstance(run.digests, Digests) and run.digests}
    for (first, contents), (second, others) in combinations(digests.items(), 2):
        if contents.are_those_of(others):
            yield Note(
                Message(
                    "same-predictions",
                    "runs {first} and {second} have the same predictions, byte for byte",
                    first=first,
                    second=second,
                )
            )


def _mean_curve(curves: Sequence[Series | None]) -> MeanCurve | None:
    """Return the mean of the curves of runs; None where there are none."""
    defined = [curve for curve in curves if curve is not None]
    return MeanCurve(defined) if defined and len(defined) == len(curves) else None


def _pooled_folds(alike: Result) -> Result:
    """Return the result of the images of all folds, each counted in its own."""
    folds = list(alike.runs.values())
    failed = {name: why for fold in folds for name, why in fold.failed.items()}
    truths = {name: truth for fold in folds for name, truth in fold.truths.items()}
    counts = _CountsOfFolds(alike.runs)
    chosen = _selection_of(folds, len(counts) + len(failed))
    settings = {**without_selection(alike.settings), "folds": str(len(folds)), **chosen}
    data = DataDigest(sorted((name, truths[name]) for name in counts))
    inputs = [fold.inputs for fold in folds if fold.inputs is not None]
    return replace(
        alike,
        counts=counts,
        settings=settings,
        signature=resigned(alike.signature, alike.protocol, settings, len(counts), data),
        failed=failed,
        digests=Digests(sorted((name, digest) for fold in folds for name, digest in fold.digests.items())),
        image_notes={name: notes for fold in folds for name, notes in fold.image_notes.items()},
        truths=truths,
        assigned=together([fold.assigned for fold in folds]),
        inputs=replace(inputs[0], merged=tuple(inputs[1:])) if inputs else None,
    )


def _selection_of(folds: Sequence[Result], images: int) -> dict[str, str]:
    """Say which part of a set folds have together, given what each says of itself."""
    chosen = total = 0
    for fold in folds:
        of_fold = len(fold.counts) + len(fold.failed)
        if "missing" in fold.settings:
            of_fold = int(fold.settings["missing"].partition(" of ")[2])
        chosen = max(chosen, of_fold)
        if "subset" in fold.settings:
            total = max(total, int(fold.settings["subset"].partition(" of ")[2]))
    if total:
        return {"subset": f"{images} of {total}"} if images < total else {}
    missing = chosen - images
    return {"missing": f"{missing} of {chosen}"} if missing > 0 else {}


def _by_run(result: Result) -> Division:
    """Take joined runs apart."""
    if not result.runs:
        raise ArgumentError(
            Message(
                "no-parts",
                "{method} has no {parts}; count several trainings or folds of a method with {option}",
                method=result.label,
                parts="runs",
                option=Either("run='1' and run='2', and join_runs", "ours@1=PRED1 ours@2=PRED2"),
            )
        )
    parts = {name: Part(run.rules, {"run": name}, run.counts) for name, run in result.runs.items()}
    if result.pools_folds:
        return Division(parts, partial(Part, result.rules, {}, result.counts))
    return Division(parts, "each run is a training of its own, and their counts do not add up", averaged=True)


def _by_protocol(axis: str, result: Result) -> Division:
    """Take the counts of a result apart along an axis of its protocol."""
    divided = result.rules.capability(Divided)
    if divided is None or axis not in divided.axes:
        others = f"; it has parts along {' and '.join(map(repr, result.axes))}" if result.axes else ""
        raise ArgumentError(
            Message(
                "no-parts",
                "{method} has no {parts}: it is a result of the {protocol} protocol{others}",
                method=result.method,
                parts=AXES[axis].plural,
                protocol=result.protocol,
                others=others,
            )
        )
    if not result.counts:
        raise ArgumentError(
            Message(
                "no-image",
                "{method} has no {parts}, since no image was counted",
                method=result.method,
                parts=AXES[axis].plural,
            )
        )
    return divided.divided(axis, result.counts)


def _by_image(kind: str, result: Result) -> Division:
    """Take the images of a result apart by their groups or units."""
    assignment = result.assigned.get(kind)
    if assignment is None:
        why = f"was counted without {kind}s" if result.counts else "has no images with names"
        raise ArgumentError(
            Message(
                "no-parts",
                "{method} {why}; name them: {option}",
                method=result.method,
                why=why,
                option=AXES[kind].option(result.counts),
                parts=AXES[kind].plural,
            )
        )
    names = grouped((group, name) for name, group in assignment.of_images.items())
    parts = {}
    for group in sorted(names, key=natural):
        images = frozenset(names[group])
        counts = {name: result.counts[name] for name in result.counts if name in images}
        parts[group] = Part(result.rules, {kind: group}, counts, images.__contains__)
    pooled: Callable[[], Part] | str = partial(Part, result.rules, {}, result.counts)
    if kind == UNIT:
        no_mean = "means over units are metrics of the whole, such as dice_units, with intervals"
        return Division(parts, pooled, notes=assignment.notes, no_mean=no_mean)
    if result.units is not None:
        result.units.refuse_divided(assignment.of_images, kind)
    if assignment.by == FOLDER and isinstance(result.rules, ApartByFolder) and len(parts) > 1:
        pooled = "each folder has scores of a model of its own, which are not pooled"
    return Division(parts, pooled, notes=assignment.notes)


def _how_to_name(setting: str, images: Iterable[str]) -> Either:
    """Write what puts these images into groups or units."""
    usual = "folder" if any("/" in name for name in images) else "meta.csv:COLUMN"
    return Either(f"with_settings({setting}={usual!r})", f"{option_of(setting)} {usual}")


@dataclass(frozen=True)
class Axis:
    """What several things in a set of images are called, and how a result is taken apart by them."""

    plural: str
    divide: Callable[[Result], Division]
    option: Callable[[Iterable[str]], Either]
    """Returns what counts, or names, several of them in some images."""
    is_in_one: bool = False
    """Whether each image is in one part alone."""
    has_rows: bool = False
    """Whether tables of the parts end with rows of their mean and of all of them, as do those of a run by itself."""


AXES: Mapping[str, Axis] = {
    "class": Axis("classes", partial(_by_protocol, "class"), lambda _: Either("classes=", "--classes 0-18")),
    "object": Axis(
        "objects",
        partial(_by_protocol, "object"),
        lambda _: Either("Contours(sequences=True)", "segbench contours GT PRED --sequences"),
        has_rows=True,
    ),
    "group": Axis(
        "groups", partial(_by_image, "group"), partial(_how_to_name, "group_by"), is_in_one=True, has_rows=True
    ),
    UNIT: Axis("units", partial(_by_image, UNIT), partial(_how_to_name, UNIT), is_in_one=True),
    "run": Axis(
        "runs", _by_run, lambda _: Either("run='1', and join_runs", "ours@1=PRED1 ours@2=PRED2"), has_rows=True
    ),
}
"""What `Result.parts` takes results apart by."""


def parts_if_any(result: Result, axis: str) -> Mapping[str, Result]:
    """Return the parts of a result along an axis, of a result without such parts none."""
    return result.parts(axis) if axis in result.axes else {}


def _resettled(result: Result, rules: Protocol, named: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the settings of a result with those of its protocol replaced; what names a part comes before them."""
    replaced, names = result.rules.settings_as_text, list(result.settings)
    of_protocol = (index for index, name in enumerate(names) if replaced.get(name) == result.settings[name])
    first = next(of_protocol, len(names))
    leading = {name: result.settings[name] for name in names[:first]} | dict(named)
    new = {name: text for name, text in rules.settings_as_text.items() if name not in leading}
    trailing = {name: result.settings[name] for name in names[first:] if name not in replaced}
    return leading | new | trailing


def _run_of(result: Result) -> Run:
    """Return the run that a results file holds of a result."""
    run = Run.of(
        result.rules, method=result.method, run=result.run, inputs=result.inputs, assigned=dict(result.assigned)
    )
    imported = result.settings.get("source") == "imported"  # of which no settings of the protocol are known
    of_protocol = {} if imported else run.fields
    settings = {name: text for name, text in result.settings.items() if name not in {*of_protocol, UNIT, "partial"}}
    derived = notes_on_images(result.image_notes, result.settings, len(result.digests))
    derived += [] if result.partial is None else [note_on_stop(result.partial)]
    notes = tuple(note for note in result.notes if note not in derived)
    images = None if result.partial is None else result.partial[1]
    return replace(run, settings=settings, notes=notes, images=images, signature=result.signature)


class _Outcomes:
    """What came of each image of a result, as a results file holds it; pixels without names last."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._names = [*result.counts, *([] if result.unnamed is None else [UNNAMED])]
        digests = result.digests
        self.digests = {
            name: digests.get(name) or hashlib.sha256(self._packed(name)).hexdigest() for name in self._names
        }

    def _packed(self, name: str) -> bytes:
        """Return the packed counts of an image, or of the pixels without names."""
        counts = self._result.counts
        if name == UNNAMED:
            return encode(cast("ScoreCounts", self._result.unnamed))
        return counts.packed(name) if isinstance(counts, EncodedCounts) else encode(counts[name])

    def __iter__(self) -> Iterator[Outcome]:
        truths, notes = self._result.truths, self._result.image_notes
        for name in self._names:
            counts = self._packed(name)
            yield Outcome(name, self.digests[name], truths.get(name, ""), counts, notes=tuple(notes.get(name, ())))
        for name, failure in self._result.failed.items():
            yield Outcome(name, failure=failure)


def note_on_stop(partial: tuple[int, int | None]) -> Note:
    """Say that a run stopped early."""
    done, total = partial
    images = partial_images(partial)
    message = Message(
        "stopped", "the run stopped after {images}; repeat it to count the rest", images=images, done=done, total=total
    )
    return Note(message)


def partial_text(partial: tuple[int, int | None]) -> str:
    """Write how many images of how many were counted."""
    done, total = partial
    return str(done) if total is None else f"{done} of {total}"


def partial_images(partial: tuple[int, int | None]) -> str:
    """Write the same with its noun."""
    done, total = partial
    return many(done, "image") if total is None else of_all(done, total, "image")


def as_results(argument: object) -> list[Result]:
    """Return a result, or several, as a list."""
    if isinstance(argument, Result):
        return [argument]
    if isinstance(argument, Mapping):
        raise ArgumentError(
            Message("not-results", "results is a mapping, expected a list: give list(results.values())", given="dict")
        )
    results = []
    for result in argument if isinstance(argument, Iterable) else [argument]:
        if not isinstance(result, Result):
            raise ArgumentError(
                Message(
                    "not-results",
                    "expected results, as segbench.evaluate gives them, got {given}",
                    given=type(result).__name__,
                )
            )
        results.append(result)
    return measured_alike(results)


def names_of(results: Sequence[Result], sets: Sequence[str] = ()) -> list[str]:
    """Name the method of each result; of runs that share a name, with the settings in which they differ.

    A partial result says so in its name. Where `sets` names the data set of each result, runs of one set share a name,
    and the settings in which these differ are part of the name in all sets.
    """
    names = []
    in_sets = zip(sets or [""] * len(results), results, strict=True)
    by_label = grouped((result.label, (name, result)) for name, result in in_sets)
    for result in results:
        namesakes = by_label[result.label]
        settings_by_set = grouped(
            (name, without_measuring(other)) for name, other in namesakes if other.protocol == result.protocol
        )
        differing = dict.fromkeys(key for settings in settings_by_set.values() for key in differing_settings(settings))
        differing.pop("partial", None)
        protocols_by_set = grouped((name, other.protocol) for name, other in namesakes)
        several_protocols = any(len(set(protocols)) > 1 for protocols in protocols_by_set.values())
        added = [result.protocol] if several_protocols else []
        added += [f"{key}:{result.settings.get(key, 'none')}" for key in differing]
        added += [f"partial: {partial_images(result.partial)}"] if result.partial else []
        names.append(f"{result.label} ({', '.join(added)})" if added else result.label)
    return names
