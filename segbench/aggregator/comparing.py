"""Results compared: only what was measured the same way on the same images, or on those that all methods have.

The tests themselves are in `segbench.statistics.comparison`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from shlex import quote
from typing import Any

from segbench.aggregator.codec import EncodedCounts
from segbench.aggregator.joining import join_runs
from segbench.aggregator.measuring import differing_settings, measured_alike, measured_apart, without_measuring
from segbench.aggregator.part_means import MeanOverParts
from segbench.aggregator.records import DataDigest, resigned, without_selection
from segbench.aggregator.result import Result, joined, names_of
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, Setting, as_note, option_of, part_of
from segbench.core.names import few_names, first_names
from segbench.core.protocol import Protocol
from segbench.loaders.belonging import KINDS, MAPPING, By
from segbench.loaders.reading import Repairs
from segbench.protocols.guesses import answering
from segbench.protocols.pixels.metrics import WITHOUT_NAMES
from segbench.statistics.comparison import Comparison, by_reason
from segbench.statistics.comparison import compare as compare_tables
from segbench.statistics.pairs import Test
from segbench.statistics.runs import named_runs
from segbench.statistics.tables import as_runs, protocol_measuring, refuse_different, table_of_counts

_LISTED = 8
_NAMED_IMAGES = 5
_EXPECTED = "expected results, or counts by the names of methods and images: {'ours': {'1': counts}, 'theirs': ..}"

Runs = Mapping[str, Any] | Result | Sequence[Mapping[str, Any] | Result]
"""A method: its counts by the name of the image or its result, or a list of these, one per run."""


def compare(
    methods: Mapping[str, Runs] | Sequence[Result],
    *,
    protocol: Protocol | None = None,
    unit: By = None,
    common: bool = False,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
    test: Test = "t-test",
) -> Comparison:
    """Compare methods, each pair of them, by every metric but totals and thresholds.

    Parameters
    ----------
    methods : sequence of Result, or mapping of str to Result or counts
        Results, as `compare_results` takes them; in a mapping by the names to be shown. Or counts by the method's name
        and the image's name. All methods over the same images and ground truth. A list in a mapping holds the runs of a
        method: trainings, all on the same images, or the folds of a cross-validation, each on images of its own. Then
        what differs by training counts as chance, too; see docs/random.md.
    protocol : Protocol, optional
        What measures counts; by default the protocol that ships for counts of their type. Not for results, which have
        theirs.
    unit : str, mapping of str to str, or function of the name, optional
        Which images belong together, such as those of a patient, see `intervals`: units are then compared. Results
        have units of their own; here they are measured with these.
    common : bool
        Compare on the images that all methods have, where some lack some, and note which these lack; otherwise that
        is an error.
    level : float
        Confidence level of the intervals, between 0 and 1.
    replicates, seed : int
        Of the resamples behind ranks, and behind intervals of metrics that jump, see `intervals`.
    test : {"t-test", "signed-rank"}
        Which test decides the answer: the paired jackknife t-test, of any metric, or the signed-rank test, of means
        over images. Choose before you look; see docs/comparing.md. `Difference` has both.

    Returns
    -------
    Comparison
        ``answer()`` says which methods are best, and which cannot be told apart; `differences` holds each pair and
        metric.

    Raises
    ------
    ArgumentError
        For fewer than two methods, or other settings: it says what differs. For the signed-rank test where no metric
        is a mean over images.
    DataError
        For other images or ground truth, or runs that share some images, but not all.

    Examples
    --------
    >>> from segbench import ScoreCounts
    >>> def images(hits):
    ...     return {str(k): ScoreCounts([2, 1], [hits, 10 - hits], [k % 4, 20 - k % 4]) for k in range(12)}
    >>> result = compare({"good": images(8), "poor": images(6)})
    >>> print(result.answer().verdict)
    good leads poor by .1348 ODS F (p < .0001)
    >>> (row,) = result.rows("ods_f")
    >>> row.wins, row.losses, row.p_value < 0.01, result.rank_shares["ods_f"]["good"]
    (12, 0, True, (1.0, 0.0))
    """
    results_or_counts = methods.values() if isinstance(methods, Mapping) else methods
    if not isinstance(results_or_counts, Iterable):
        raise ArgumentError(
            Message("not-results", "methods is {given}, {expected}", given=f"{methods!r:.60}", expected=_EXPECTED)
        )
    by_method: list[Any] = list(results_or_counts)
    kinds = (Result, Mapping, list, tuple) if isinstance(methods, Mapping) else (Result,)
    wrong_types = [type(of_method).__name__ for of_method in by_method if not isinstance(of_method, kinds)]
    if wrong_types:
        raise ArgumentError(
            Message("not-results", "methods holds {given}, {expected}", given=wrong_types[0], expected=_EXPECTED)
        )
    runs_of = [list(of_method) if isinstance(of_method, (list, tuple)) else [of_method] for of_method in by_method]
    all_runs = [run for of_method in runs_of for run in of_method]
    names = [*methods] if isinstance(methods, Mapping) else [result.method for result in all_runs]
    settings: dict[str, Any] = {"level": level, "replicates": replicates, "seed": seed, "test": test}
    if all_runs and all(isinstance(run, Result) for run in all_runs):
        if protocol is not None:
            raise ArgumentError(
                Message(
                    "for-counts-only",
                    "{argument} is for counts without results; results are measured by their own protocol",
                    argument="protocol",
                )
            )
        named_results = [
            result for name, of_method in zip(names, runs_of, strict=True) for result in _named(name, of_method)
        ]
        if unit is not None:
            named_results = [result.with_settings(unit=unit) for result in named_results]
        return compare_results(named_results, common=common, **settings)
    runs = {name: as_runs(name, of_method) for name, of_method in zip(names, runs_of, strict=True)}
    measuring = protocol or protocol_measuring(
        *(counts for of_method in runs.values() for counts in of_method.values())
    )
    named_counts = _of_methods(runs)
    notes: tuple[Note, ...] = ()
    if common and named_counts:
        images, notes = common_images(named_counts, measuring)
        runs = {name: _restricted(of_method, frozenset(images)) for name, of_method in runs.items()}
        named_counts = _of_methods(runs)
    if len(named_counts) > 1:
        refuse_different(named_counts)
    tables = {name: table_of_counts(name, of_method, measuring, unit) for name, of_method in runs.items()}
    comparison = compare_tables(tables, **settings)
    return replace(comparison, general_notes=(*notes, *comparison.general_notes))


def _of_methods(runs: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Mapping[str, Any]]:
    """Return the counts of each run of each method; those of folds together."""
    return dict(
        counts_of_run for name, of_method in runs.items() for counts_of_run in named_runs(name, of_method).items()
    )


def _restricted(runs: Mapping[str, Mapping[str, Any]], images: frozenset[str]) -> dict[str, Mapping[str, Any]]:
    """Return the counts of some images; of folds without any nothing stays."""
    common = {run: {name: counts[name] for name in counts if name in images} for run, counts in runs.items()}
    return {run: counts for run, counts in common.items() if counts}


def _named(method: str, results: Sequence[Result]) -> list[Result]:
    """Name results as those of a method; several as its runs, which have numbers where they have no names."""
    if len(results) == 1:
        return [replace(results[0], method=method)]
    return [replace(result, method=method, run=result.run or str(k)) for k, result in enumerate(results, 1)]


@answering
def compare_results(
    results: Sequence[Result],
    *,
    common: bool = False,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
    test: Test = "t-test",
) -> Comparison:
    """Compare methods pair by pair on the same images.

    Parameters
    ----------
    results : sequence of Result
        At least two, of one protocol, the same settings and the same ground truth; those of the runs of a method are
        joined, see `join_runs`. Of imported counts the ground truth
        is not known; images and their totals must be the same. Settings that change nothing but predictions may differ
        (`scale`, `resize`, `invert`, `quantize`, `pred_map`), and a note says so.
    common, level, replicates, seed, test
        As in `segbench.compare`.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        If methods were measured differently: it says in which settings.
    DataError
        If they were measured on different images or ground truth.

    Examples
    --------
    >>> from segbench import evaluate
    >>> ours = evaluate([([0, 1, 1], [0.1, 0.9, 0.8])] * 2, method="ours")
    >>> theirs = evaluate([([0, 1, 1], [0.1, 0.9, 0.0])] * 2, method="theirs")
    >>> (row,) = compare_results([ours, theirs]).rows("mean_image_f")
    >>> row.estimate_a, row.estimate_b, row.wins, row.losses
    (1.0, 0.8, 2, 0)
    """
    # Those that have their name keep what they have computed.
    results = [
        result if (result.method, result.run) == (result.label, "") else replace(result, method=result.label, run="")
        for result in join_runs(results)
    ]
    if not results:
        raise ArgumentError(Message("too-few-methods", "a comparison needs at least two methods"))
    _refuse_namesakes(results)
    results, notes_on_images = _measured_alike(results), tuple[Note, ...]()
    if common:
        results, notes_on_images = on_common_images(results)
    counts = {result.method: result.counts for result in results}
    # The digest of imported counts is that of the files that held them.
    same_truth = len({result.data for result in results}) == 1 and not any(map(_imported, results))
    if len(counts) > 1 and not same_truth:
        refuse_different(counts)
        _refuse_different_data(results)
    tables = {result.method: result.measured for result in results}
    comparison = compare_tables(tables, level=level, replicates=replicates, seed=seed, test=test)
    undefined = {key: _why(key, results) for key in comparison.undefined}
    later = grouped((result.outdated, result.method) for result in results if result.outdated)
    outdated = [as_note(reason).said_of(few_names(methods, len(results))) for reason, methods in later.items()]
    notes = (*notes_on_images, *outdated, *differing_repairs(results), *comparison.general_notes)
    return replace(comparison, undefined=undefined, general_notes=notes)


def _measured_alike(results: list[Result]) -> list[Result]:
    """Return results as they are compared; refuse those that were not measured the same way."""
    published = [result.method for result in results if result.published]
    if published:
        raise ArgumentError(
            Message("published", "{methods}: published without images, so it cannot be compared", methods=published)
        )
    unnamed = [result.method for result in results if result.unnamed]
    if unnamed:
        raise ArgumentError(
            Message(
                "needs-names",
                "{methods}: {why}; give names to Accumulator.update",
                methods=unnamed,
                why=WITHOUT_NAMES,
            )
        )
    of_protocols = grouped((result.protocol, result.method) for result in results)
    if len(of_protocols) > 1:
        listed = ", ".join(f"{name} ({few_names(methods, len(results))})" for name, methods in of_protocols.items())
        choose = Either("compare those of each by themselves", f"choose one with --only protocol:{results[0].protocol}")
        raise ArgumentError(
            Message(
                "several-protocols",
                "found results of {found}, expected results of one protocol; {choose}",
                found=listed,
                choose=choose,
                protocols=list(of_protocols),
            )
        )
    results = measured_alike(results)
    differing = different_settings(results)
    if differing:
        raise ArgumentError(
            Message(
                "other-settings",
                "methods are compared under the same settings, but {refused}; count again with the same, or {choose}",
                refused=_said_of_each(results, differing),
                choose=Either("leave some out", "compare some with --methods or --only"),
                differing=list(differing),
            )
        )
    refuse_measured_apart(results)
    return results


def refuse_measured_apart(results: Sequence[Result]) -> None:
    """Refuse results of one protocol that differ in a setting of measuring, and say how to choose one of its values."""
    apart = measured_apart(results)
    if apart:
        raise ArgumentError(
            Message(
                "measured-apart",
                "methods are measured alike, but {refused}; {choice}",
                refused=_said_of_each(results, apart),
                choice=choice_of(apart),
                differing=list(apart),
            )
        )
    for name, kind in KINDS.items():
        of_kind = [result for result in results if kind in result.assigned]
        for result in of_kind[1:]:
            _refuse_assigned_otherwise(of_kind[0], result, name)


def _refuse_assigned_otherwise(first: Result, other: Result, name: str) -> None:
    """Refuse results of which an image belongs to different groups, as where a CSV file changed between two runs."""
    kind = KINDS[name]
    ours, theirs = first.assigned[kind].of_images, other.assigned[kind].of_images
    if ours == theirs:
        return
    for image in sorted({*first.counts}.intersection(other.counts)):
        our_group, their_group = ours.get(image, "none"), theirs.get(image, "none")
        if our_group != their_group:
            raise ArgumentError(
                Message(
                    "other-group",
                    "the {belonging} of {image!r} is {here} in {method}, {there} in {other}; {choice}",
                    belonging=kind,
                    image=image,
                    here=our_group,
                    method=first.method,
                    there=their_group,
                    other=other.method,
                    choice=choice_of({name: [first.assigned[kind].by]}),
                )
            )


def choice_of(apart: Mapping[str, Sequence[str]]) -> Message:
    """Say how to measure by one value of each of some settings, given the values that results have."""
    choices: list[Either] = []
    settings: list[Setting] = []
    for name, values in apart.items():
        if name == "thresholds_source":  # which names a tuning set
            choices.append(
                Either("result.with_thresholds(...)", "--tuning-results with the file of one, or --tuning-results none")
            )
            continue
        typable = dict.fromkeys("none" if value == MAPPING else value for value in values)
        typed = " or ".join(f"{option_of(name)} {quote(value)}" for value in typable)
        choices.append(Either(f"result.with_settings({name}=...)", typed))
        settings += [Setting(name, value) for value in typable]
    return Message("choose", "choose one: {choices: and }", choices=choices, values=settings)


def differing_repairs(results: Sequence[Result]) -> list[Note]:
    """Say in which settings results differ that change only the predictions; nothing where in none."""
    of_predictions = _of_predictions(results)
    differences = {key: values for key, values in _differences(results).items() if key in of_predictions}
    differing = _said_of_each(results, differences)
    message = Message(
        "other-repairs",
        "compared, since different settings change only the predictions: {differing}",
        differing=differing,
    )
    return [Note(message)] if differing else []


def different_settings(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the settings whose differences forbid a comparison of results of one protocol, with the values of each."""
    of_predictions = _of_predictions(results)
    return {key: values for key, values in _differences(results).items() if key not in of_predictions}


def _of_predictions(results: Sequence[Result]) -> frozenset[str]:
    """Name the settings that change only the predictions."""
    return Repairs.may_differ | {
        setting.name
        for setting in fields(results[0].kind)  # type: ignore[arg-type]  # protocols are dataclasses
        if setting.metadata.get("of_predictions")
    }


def _why(key: str, results: Sequence[Result]) -> Message:
    lacking = (result for result in results if key in result.summary.undefined)
    return by_reason((result.summary.undefined[key], result.method) for result in lacking)


def _refuse_namesakes(results: Sequence[Result]) -> None:
    """Refuse several runs of one name; name the choices as tables do."""
    names = [result.method for result in results]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        choices = names_of(results)
        listed = first_names([*map(repr, choices)], _LISTED)
        choose = Either(
            "name them: compare({name: result, ...})",
            f"choose some of {listed} with --methods, or those of one setting with --only",
        )
        raise ArgumentError(
            Message(
                "several-of-one-name",
                "{methods}: several runs of one name; {choose}, or give each a name of its own when it is counted: "
                "{again}",
                methods=doubled,
                choices=choices,
                choose=choose,
                again=Either("method=...", "NAME=PRED"),
            )
        )


def _differences(results: Sequence[Result]) -> dict[str, list[str]]:
    """Return the settings of counting in which results differ, with the value of each result."""
    settings = [without_selection(without_measuring(result)) for result in results]
    return {name: [of_result.get(name, "none") for of_result in settings] for name in differing_settings(settings)}


def _said_of_each(results: Sequence[Result], differing: Mapping[str, Sequence[str]]) -> str:
    """Say in which settings results differ; empty if in none."""
    methods = [result.method for result in results]
    return "; ".join(
        f"{key} is {', '.join(f'{value} in {method}' for value, method in zip(values, methods, strict=True))}"
        for key, values in differing.items()
    )


def _refuse_different_data(results: Sequence[Result]) -> None:
    digests = {result.method: result.data for result in results if not _imported(result)}
    if len(set(digests.values())) > 1:
        listed = first_names([f"{digest} for {method}" for method, digest in digests.items()], _LISTED)
        problem = Message(
            "other-ground-truth",
            "methods are compared on the same ground truth, but its content differs ({listed})",
            listed=listed,
            methods=list(digests),
        )
        hint = "count all on one set"
        if any(result.settings.get("source") == "arrays" for result in results):
            hint += ", in the same order if images are numbered, without random crops or flips, and in the same tiles"
        raise DataError(first_names(list(digests), _LISTED), problem, hint)


def _imported(result: Result) -> bool:
    return result.settings.get("source") == "imported"


def on_common_images(results: Sequence[Result]) -> tuple[list[Result], tuple[Note, ...]]:
    """Return results on the images that all of them have, and what to say of those that are left out."""
    names, notes = common_images({result.method: result.counts for result in results}, results[0].rules)
    return [restricted(result, names) for result in results], notes


def common_images(
    images: Mapping[str, Collection[str]], protocol: Protocol | None = None
) -> tuple[list[str], tuple[Note, ...]]:
    """Return the images that all methods have, sorted, and what to say of others; `protocol` says what stays whole."""
    of_methods = {method: set(names) for method, names in images.items()}
    all_images = sorted(set().union(*of_methods.values()))
    lacking = {method: [name for name in all_images if name not in names] for method, names in of_methods.items()}
    incomplete = set(_wholes({name for names in lacking.values() for name in names}, protocol))
    wholes = _wholes(all_images, protocol)
    common = [name for name, whole in zip(all_images, wholes, strict=True) if whole not in incomplete]
    if not common:
        listed = "; ".join(
            f"{method} has {first_names(sorted(names), _NAMED_IMAGES) or 'none'}"
            for method, names in of_methods.items()
        )
        hint = "name predictions as the ground truth is named, or leave out a method"
        problem = Message("no-common-image", "there is no image that all methods have: {had}", had=listed)
        raise DataError(first_names(list(images), _NAMED_IMAGES), problem, hint)
    if len(common) == len(all_images):
        return common, ()
    without = grouped((first_names(names, _NAMED_IMAGES), method) for method, names in lacking.items() if names)
    listed = "; ".join(f"{', '.join(methods)}: {names}" for names, methods in without.items())
    message = Message(
        "common-images",
        "compared on the {number} that all methods have; {left_out} left out, which are missing in {missing}",
        number=part_of(len(common), len(all_images)),
        left_out=len(all_images) - len(common),
        missing=listed,
    )
    return common, (Note(message),)


def _wholes(names: Iterable[str], protocol: Protocol | None) -> list[str]:
    """Name what each image is measured with: its sequence, or itself."""
    return [protocol.measured_with(name) if protocol else name for name in names]


def restricted(result: Result, names: Sequence[str]) -> Result:
    """Return a result on some of its images, signed as a run on these is."""
    if len(names) == len(result.counts):
        return result
    if result.runs:
        runs = {name: restricted(run, _among(run.counts, names)) for name, run in result.runs.items()}
        with_images = {name: run for name, run in runs.items() if run.counts}  # of folds some may have none
        return replace(joined(with_images), method=result.method, place=result.place)
    rules = result.rules
    if isinstance(rules, MeanOverParts):
        parts = {name: restricted(part, _among(part.counts, names)) for name, part in rules.parts.items()}
        rules = replace(rules, parts=parts)
    truths = {name: result.truths[name] for name in names if name in result.truths}
    data = DataDigest(truths.items())
    return replace(
        result,
        rules=rules,
        signature=resigned(result.signature, rules.name, result.settings, len(names), data),
        counts=_of_images(result.counts, names),
        failed={},
        digests={name: result.digests[name] for name in names if name in result.digests},
        truths=truths,
        image_notes={name: result.image_notes[name] for name in names if name in result.image_notes},
        kept=None,
    )


def _among(images: Iterable[str], names: Collection[str]) -> list[str]:
    """Return those of some images that are among others."""
    wanted = frozenset(names)
    return [image for image in images if image in wanted]


def _of_images(counts: Mapping[str, Counts], names: Sequence[str]) -> Mapping[str, Counts]:
    """Return the counts of some images, which stay packed where they are."""
    return counts.of_images(names) if isinstance(counts, EncodedCounts) else {name: counts[name] for name in names}
