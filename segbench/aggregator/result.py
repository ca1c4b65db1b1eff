"""What came of one method: counts image by image, and every figure drawn from them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from segbench.aggregator.codec import Counts
from segbench.aggregator.figures import PROTOCOLS
from segbench.aggregator.signature import resigned
from segbench.counts import BoundaryCounts, ScoreCounts
from segbench.curves import Curve, Intervals, Summary, bootstrap, pixel_summary
from segbench.curves.boundary import BoundaryCurve
from segbench.curves.boundary_summary import annotators_summary, boundary_image_figures, has_pixels
from segbench.curves.classes import micro_of, of_class
from segbench.curves.intervals import IntervalMethod
from segbench.curves.masks import pixel_curve
from segbench.curves.pooled import REDUCED_ABOVE, PooledPixels, pool_pixels, reduced
from segbench.curves.published import PublishedCurve
from segbench.curves.published_regions import PublishedRegions
from segbench.curves.regions import RegionCurve
from segbench.curves.replicates import as_draws, as_level
from segbench.curves.summary import WITHOUT_NAMES
from segbench.display import Displayed
from segbench.errors import ArgumentError, DataError
from segbench.loaders.inputs import Inputs
from segbench.protocols.annotators import ONE_ANNOTATOR
from segbench.protocols.class_names import read_classes

_HEADLINES = ("ods_f", "macro_ods_f", "covering_ods")


@dataclass(frozen=True, eq=False, repr=False)
class Result(Displayed):
    """The counts of a method on a set of images, and what follows from them.

    Parameters
    ----------
    method : str
        Name of the method.
    protocol : str
        ``"pixels"``, ``"classes"``, ``"boundaries"`` or ``"regions"``.
    settings : mapping of str to str
        The protocol's settings, as in the signature.
    signature : str
        All it takes to get the same numbers again.
    counts : mapping of image name to counts
        Integer counts of each image, sorted by name.
    failed : mapping of image name to str
        The images that could not be counted, and why.
    notes : tuple of str
        What was done to the data while reading.
    inputs : Inputs, optional
        Where the images lay when they were counted; None for results that others counted.
    protocol_json : str
        The protocol with all its settings, from which pictures are drawn; empty for results that others counted.
    digests : mapping of image name to str
        Content of all files of each image when it was counted.
    published : PublishedCurve or PublishedRegions, optional
        The curve or figures of a method known from print; there are no counts then.
    image_notes : mapping of image name to tuple of str
        What was done to the data of single images, with what `notes` leaves out, such as their sizes.
    unnamed : ScoreCounts, optional
        Pixels that an `Accumulator` got without the name of an image: part of the pooled figures and the curve, while
        what rests on single images (OIS, mean F, intervals, comparisons) is undefined.
    kept : Summary and ScoreCounts, optional
        The summary and `reduced` as a results file keeps them of very many scores, which take long to pool.
    reused : int
        How many images `evaluate` took from the results file, since their files and settings are the same.
    """

    method: str
    protocol: str
    settings: Mapping[str, str]
    signature: str
    counts: Mapping[str, Counts]
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    inputs: Inputs | None = None
    protocol_json: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    published: PublishedCurve | PublishedRegions | None = None
    image_notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unnamed: ScoreCounts | None = None
    kept: tuple[Summary, ScoreCounts] | None = None
    reused: int = 0

    def __repr__(self) -> str:
        """Say in a line whose result it is, of how many images, and the figure by which methods are ranked."""
        images = f"{len(self.counts)} image{'s'[: len(self.counts) != 1]}"
        images = "known from print" if self.published else "pixels without names" if self.unnamed else images
        failed = f", {len(self.failed)} failed" if self.failed else ""
        ranked = [f", {key} {self.summary[key]:.4f}{self._bounds_of(key)}" for key in _HEADLINES if key in self.summary]
        return f"Result({self.method!r}, {self.protocol}, {images}{failed}{''.join(ranked)})"

    def _bounds_of(self, key: str) -> str:
        return " ({:.4f} to {:.4f})".format(*self.summary.bounds[key]) if key in self.summary.bounds else ""

    @property
    def data(self) -> str:
        """The part of the signature that names the ground truth's content."""
        return dict(part.split(":", 1) for part in self.signature.split("|"))["data"]

    def digest_of(self, summary: str, counts: bytes) -> str:
        """Give one digest for the names and content of all images and what was derived from them, as stored."""
        return hashlib.sha256(f"{sorted(self.digests.items())!r}\n{summary}\n".encode() + counts).hexdigest()

    @property
    def human(self) -> bool:
        """Whether this is how well annotators agree, a point to compare methods with and no method itself."""
        return self.settings.get("thresholds") == "annotators"

    def intervals(
        self,
        *,
        level: float = 0.95,
        method: IntervalMethod = "percentile",
        replicates: int = 2000,
        seed: int = 0,
    ) -> Intervals:
        """Draw bootstrap intervals over images of every figure; see `segbench.bootstrap`.

        Of annotators compared with each other, images of one annotator are left out.

        They are nan where there are no images to draw from, or images are not told apart: of a published curve, where
        every image failed, where images have no names.
        """
        level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
        reason = self._nothing_to_draw_from()
        if reason:
            nothing = dict.fromkeys(self.summary, (math.nan, math.nan))
            undefined = dict.fromkeys(self.summary, reason)
            note = f"{reason}, so no intervals"
            return Intervals(nothing, self.summary, {}, method, level, replicates, seed, 0, (note,), undefined)
        drawn = bootstrap(self._resampled(), level=level, method=method, replicates=replicates, seed=seed)
        reasons = {key: self.summary.undefined.get(key, reason) for key, reason in drawn.undefined.items()}
        notes = (*drawn.notes, "intervals are those of binned values") if self.summary.bounds else drawn.notes
        return replace(drawn, undefined=reasons, notes=notes)

    def _resampled(self) -> Mapping[str, Counts]:
        """Give the images to resample: of annotators, those that compare at least two."""
        if not self.human:
            return self.counts
        compared = cast("Mapping[str, BoundaryCounts]", self.counts)
        return {name: counts for name, counts in compared.items() if has_pixels(counts)}

    def _nothing_to_draw_from(self) -> str:
        if self.published:
            return "a published curve has no images to draw from"
        if self.unnamed:
            return WITHOUT_NAMES
        if not self.counts:
            return "no image was counted"
        return self.summary.undefined.get("ods_f", "") if self.human else ""

    @cached_property
    def pooled(self) -> Counts:
        """The sum of the counts of all images.

        Of more distinct scores than are held in memory (`segbench.counts.pooling.SCORES_AT_ONCE`), some are chosen
        (`segbench.curves.pooled.reduced`), and ``threshold_source`` says so; the summary still measures all.
        """
        if self.published:
            raise ArgumentError(f"{self.method} is a published curve, without counts")
        if not self.counts and self.protocol != "pixels":
            raise DataError(self.method, "no image was counted, so there is no curve", "mend what failed and run again")
        if self.protocol == "pixels":
            return self._pixels.counts
        pooled: Counts = PROTOCOLS[self.protocol].pool(self.counts.values())
        return pooled

    @cached_property
    def reduced(self) -> Counts:
        """The pooled counts at the points of the curve that plots draw: all, or a choice of very many."""
        if self.kept:
            return self.kept[1]
        return reduced(self.pooled) if isinstance(self.pooled, ScoreCounts) else self.pooled

    @property
    def chosen_points(self) -> str:
        """How many of the pooled scores `drawn` has points at, in words; empty where at all."""
        if self.protocol == "classes" and self.counts:
            return self.micro.chosen_points
        many = self.protocol == "pixels" and not self.published and (self.kept is not None or self.has_many_scores)
        return cast("ScoreCounts", self.reduced).threshold_source if many else ""

    @property
    def has_many_scores(self) -> bool:
        """Whether so many distinct scores were pooled that `reduced` holds a choice of them."""
        return self._pixels.scores > REDUCED_ABOVE

    @cached_property
    def _pixels(self) -> PooledPixels:
        return pool_pixels(
            cast("Mapping[str, ScoreCounts]", self.counts), () if self.unnamed is None else (self.unnamed,)
        )

    @cached_property
    def summary(self) -> Summary:
        """The figures over all images, by the keys of the protocol; NaN where undefined, see ``summary.undefined``."""
        if self.published:
            return self.published.summary
        if self.kept:
            return self.kept[0]
        if self.human:
            return annotators_summary(cast("Mapping[str, BoundaryCounts]", self.counts))
        if self.protocol == "pixels":
            per_image = cast("Mapping[str, ScoreCounts]", self.counts)
            return pixel_summary(per_image, unnamed=self.unnamed, pool=self._pixels)
        return PROTOCOLS[self.protocol].summary(self.counts)

    @cached_property
    def curve(self) -> Curve | BoundaryCurve | RegionCurve:
        """The pooled precision-recall curve, of several classes that of `micro`; of regions figures by threshold."""
        if self.protocol == "classes" and self.counts:
            return self.micro.curve
        return self.published.curve if self.published else PROTOCOLS[self.protocol].curve(self.pooled)

    @cached_property
    def drawn(self) -> Curve | BoundaryCurve | RegionCurve:
        """The curve as plots draw it: at the points of `reduced`."""
        if self.published or not self.counts or self.protocol in {"boundaries", "regions"}:
            return self.curve
        return self.micro.drawn if self.protocol == "classes" else pixel_curve(cast("ScoreCounts", self.reduced))

    @cached_property
    def classes(self) -> Mapping[str, Result]:
        """The result of each class against all others, as the pixels protocol gives it; empty of other protocols."""
        if not self.counts or self.protocol != "classes":
            return {}
        labels, names = read_classes(self.settings["classes"])
        return {
            name: self._as_pixels(of_class(self.counts, name), {"class": name, "positive": str(label)})
            for label, name in zip(labels, names, strict=True)
        }

    @cached_property
    def micro(self) -> Result:
        """Of several classes the result of all added up, each pixel a case of every class, as the pixels protocol.

        Raises
        ------
        ArgumentError
            If this is a result of another protocol.
        """
        if self.protocol != "classes":
            raise ArgumentError(f"{self.method} is a result of the {self.protocol} protocol, not of several classes")
        counts = micro_of(self.counts)
        return self._as_pixels(counts, {"class": "micro", "positive": self.settings["classes"]})

    def _as_pixels(self, counts: Mapping[str, Counts], fields: Mapping[str, str]) -> Result:
        settings = {**fields, **{key: value for key, value in self.settings.items() if key != "classes"}}
        signature = resigned(self.signature, "pixels", settings)
        return replace(self, protocol="pixels", settings=settings, signature=signature, counts=counts, kept=None)

    def of_class(self, name: str) -> Result:
        """Give the result of one class against all others; its curve, intervals and images are those of pixels.

        Raises
        ------
        ArgumentError
            If there is no such class.
        """
        if name not in self.classes:
            raise ArgumentError(f"no class {name!r} in {self.method}; there are {', '.join(self.classes) or 'none'}")
        return self.classes[name]

    @property
    def per_image(self) -> Mapping[str, Summary]:
        """The figures of each image alone, drawn when asked for."""
        return _ImageFigures(self)


class _ImageFigures(Mapping[str, Summary]):
    def __init__(self, result: Result) -> None:
        self._result = result

    def __getitem__(self, name: str) -> Summary:
        counts = self._result.counts[name]
        if self._result.human and isinstance(counts, BoundaryCounts):
            alone = ONE_ANNOTATOR in self._result.image_notes.get(name, ())
            why = ONE_ANNOTATOR if alone else "no boundaries of two annotators"
            return boundary_image_figures(counts, without_pixels=why)
        protocol = PROTOCOLS[self._result.protocol]
        return protocol.image(counts, self._result.reduced) if protocol.by_set else protocol.image(counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._result.counts)

    def __len__(self) -> int:
        return len(self._result.counts)

    def __repr__(self) -> str:
        return f"<figures of {len(self)} image{'s'[: len(self) != 1]} by name>"
