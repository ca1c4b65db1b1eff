"""Comparisons of methods: an answer for the terminal, one table for a paper, and everything for other programs."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from rich.console import Console

from segbench.aggregator.result import AXES, Result
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note
from segbench.core.metric import finite
from segbench.core.names import shortened
from segbench.core.numbers import exact, many, number, signed, verb
from segbench.core.text_table import Mark, TextTable
from segbench.report.metric_table import MetricTable, TableRow
from segbench.report.remarks import remarks
from segbench.report.tables import method_table
from segbench.report.terminal import say, say_wrapped, show_table
from segbench.statistics.answer import Answer, letters_text, p_number
from segbench.statistics.comparison import Comparison, Difference, compared
from segbench.statistics.pairs import Test
from segbench.statistics.signed_rank import fewest_differences
from segbench.statistics.worse import BaselineCheck, BaselineOutcome

SCHEMA = 3
_PAIR = 2  # methods
_LONGEST_NAME = 15  # of a method, as the title of a column
_OF_RANKS = {
    "hodges_lehmann": "difference",
    "hodges_lehmann_low": "low",
    "hodges_lehmann_high": "high",
    "signed_rank_p": "p_value",
    "signed_rank_p_holm": "p_holm",
}
"""The fields of a difference that come from the signed-rank test, and what JSON calls them there."""


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """What a command compares, by the parts along an axis; of all at once a single comparison of the name "".

    `measured` is the signature of a run, of all its parts where these are compared. Methods are compared by the
    `metrics` of some keys, each pair of them or all `against` one; `left_out` says which runs are not compared, and
    `check` whether methods are worse than that one.
    """

    comparisons: Mapping[str, Comparison]
    results: Mapping[str, Sequence[Result]]
    axis: str
    measured: str
    metrics: Sequence[str] | None = None
    against: str | None = None
    left_out: Sequence[Note] = ()
    check: BaselineCheck | None = None

    @property
    def first(self) -> Comparison:
        """The first comparison, for what all have in common."""
        return next(iter(self.comparisons.values()))

    @property
    def images(self) -> int:
        """Number of images compared: of all groups, or those that all classes have."""
        return self._of_all([comparison.number_of_images for comparison in self.comparisons.values()])

    @property
    def units(self) -> int | None:
        """Number of the units that images belong to, counted likewise; None where images are independent."""
        units = self._of_all([comparison.images for comparison in self.comparisons.values()])
        return None if self.first.noun == "image" else units

    @property
    def sample_size(self) -> str:
        """How many images, and units of images, are compared, in words."""
        images = many(self.images, "image")
        return images if self.units is None else f"{many(self.units, self.first.noun)}, {images}"

    def _of_all(self, numbers: Sequence[int]) -> int:
        """Add up what is in one group alone; of classes all have the same."""
        return sum(numbers) if self.axis and AXES[self.axis].is_in_one else numbers[0]

    @property
    def signature(self) -> str:
        """How methods were measured and compared."""
        return f"{self.measured}|{self.first.signature}"

    def keys(self, *, every: bool) -> list[str]:
        """Return the keys of the chosen metrics; by default the one that ranks methods, or all of them."""
        if self.metrics is not None:
            return list(self.metrics)
        shown = self.first.metrics if every else [self.first.metric()]
        return [metric.key for metric in shown]

    def notes(self, keys: Sequence[str]) -> list[Note]:
        """Return what a reader must not miss beside answers by some metrics, each once."""
        notes: list[tuple[Note, str]] = []
        for name, comparison in self.comparisons.items():
            own = [remark.note for remark in remarks(self.results[name], keys=keys) if remark.kind != "table"]
            of_pairs = [*comparison.notes_about(keys), *_untested(comparison, keys)]
            notes += [(note, name) for note in (*comparison.disagreements(keys), *own, *of_pairs)]
        shown = [*self.left_out]
        for note, parts in grouped(dict.fromkeys(notes)).items():
            shown.append(note if len(parts) == len(self.comparisons) else note.said_of(", ".join(parts)))
        tuned = Message("optimistic", "{metrics}: optimistic: thresholds of the hulls were tuned on the test images")
        optimistic = [metric.key for metric in self.first.metrics if metric.optimistic]
        shown += [Note(tuned, metrics=((key, key),)) for key in optimistic if key in keys]
        return list(dict.fromkeys(shown))

    def on_correction(self, keys: Sequence[str]) -> str:
        """Say what Holm's correction does; empty where no p-value is corrected."""
        answers = (comparison.answer(key) for comparison in self.comparisons.values() for key in keys)
        return next((answer.on_correction for answer in answers if answer.on_correction), "")


def _untested(comparison: Comparison, keys: Sequence[str]) -> list[Note]:
    """Say which of several metrics have no p-values, and why; of a single one, its verdict does."""
    if len(keys) < 2:
        return []
    notes = []
    for why, untested in grouped((comparison.pairs(key).reason, key) for key in keys).items():
        if why and len(untested) == len(keys):
            notes.append(Note(Message("untested", "{why}", why=why)))
        elif why:
            metrics = tuple((key, key) for key in untested)
            notes.append(Note(Message("untested", "{metrics}: {why}", why=why), metrics=metrics))
    return notes


def _of_part(name: str) -> str:
    """Begin a line with its class or group, if there are several."""
    return f"{name}: " if name else ""


def comparison_json(report: ComparisonReport) -> str:
    """Write a comparison as JSON, see ``docs/answers.md``; what is not defined is null, with the reason beside it."""
    keys = report.keys(every=True)
    document = {
        "schema": SCHEMA,
        "signature": report.signature,
        "images": report.images,
        "units": report.units,
        "level": report.first.level,
        "replicates": report.first.replicates,
        "test": report.first.test,
        "judged_by": report.first.metric().key,
        "against": report.against,
        "answers": [
            ({report.axis: name} if name else {}) | _answer(comparison, key, report.against)
            for name, comparison in report.comparisons.items()
            for key in keys
        ],
        "notes": [note.described("options") for note in report.notes(keys)],
    }
    if report.check is not None:
        outcomes = [_outcome(outcome, report.axis) for outcome in report.check.outcomes]
        check = dataclasses.asdict(report.check) | {"outcomes": outcomes}
        document["check"] = check | {"exit_code": report.check.exit_code}
    return json.dumps(document, indent=2) + "\n"


def _outcome(outcome: BaselineOutcome, axis: str) -> dict[str, Any]:
    fields = dataclasses.asdict(outcome) | {"reason": outcome.reason.written("options")}
    name = fields.pop("part")
    return ({axis: name} if name else {}) | fields


def _answer(comparison: Comparison, key: str, against: str | None) -> dict[str, Any]:
    answer, ranks = comparison.answer(key), comparison.rank_shares[key]
    methods = [standing.method for standing in answer.standings]
    rows = comparison.rows(key, against=against)
    return {
        "metric": key,
        "title": answer.metric.name,
        "measured_in": answer.metric.measured_in,
        "better": answer.metric.better,
        "optimistic": answer.metric.optimistic,
        "verdict": answer.verdict,
        "leader": answer.leader or None,
        "not_worse": list(answer.not_worse),
        "standings": [
            {
                "method": standing.method,
                "letter": standing.letter,
                "estimate": finite(standing.estimate),
                "low": finite(standing.interval.ends[0]),
                "high": finite(standing.interval.ends[1]),
                "standard_error": finite(standing.interval.error),
                "freedom": finite(standing.interval.freedom),
                "better_than": [methods[answer.ranks[letter]] for letter in standing.better_than],
                "rank_shares": [finite(share) for share in ranks[standing.method]],
                "undefined": {"interval": standing.interval.reason.written("options")}
                if standing.interval.reason
                else {},
            }
            for standing in answer.standings
        ],
        "differences": [_difference(comparison, row) for row in rows],
    }


def _difference(comparison: Comparison, row: Difference) -> dict[str, Any]:
    """Write a pair: what the t-test has, wins, ties and losses, and by itself what the signed-rank test has."""
    fields = {name: value for name, value in dataclasses.asdict(row).items() if name not in ("metric", *_OF_RANKS)}
    known = {name: finite(value) if isinstance(value, float) else value for name, value in fields.items()}
    ranked = None
    if not comparison.signed_rank_tests(row.metric).reason:
        values = {name: finite(getattr(row, field)) for field, name in _OF_RANKS.items()}
        ranked = values | {"undefined": _why_none(comparison, row, "signed-rank")}
    undefined = _why_none(comparison, row, "t-test")
    return known | {"signed_rank": ranked, "undefined": undefined}


def _why_none(comparison: Comparison, row: Difference, test: Test) -> dict[str, str]:
    """Write why a pair lacks a difference, an interval or a p-value."""
    why = comparison.why_none(row.metric, row.a, row.b, test)
    return {lacking: reason.written("options") for lacking, reason in why.items()}


def exact_comparison(report: ComparisonReport) -> TextTable:
    """Return one row per metric and pair, every field with all its digits, for other programs."""
    rows = []
    for (name, comparison), key in itertools.product(report.comparisons.items(), report.keys(every=True)):
        column, ranks = comparison.place(key), comparison.rank_shares[key]
        for row in comparison.rows(key, against=report.against):
            cells = {report.axis: name} if name else {}
            cells |= {field: _plain(value) for field, value in dataclasses.asdict(row).items()}
            measured = comparison.measured_of(key, row.a, row.b)
            for side, method, method_measured in zip("ab", (row.a, row.b), measured, strict=True):
                low, high = method_measured.interval(column).ends
                ends = {"low": low, "high": high, "first": ranks[method][0]}
                cells |= {f"{end}_{side}": exact(value) for end, value in ends.items()}
            applied = [test for test in get_args(Test) if test == "t-test" or not comparison.pairs(key, test).reason]
            lacking = [_why_none(comparison, row, test).values() for test in applied]
            reasons = dict.fromkeys(itertools.chain.from_iterable(lacking))
            rows.append(cells | {"undefined": "; ".join(reasons)})
    return TextTable.of(rows, names=3)


def show_comparison(report: ComparisonReport, console: Console, *, every: bool, digits: int, zeros: bool) -> None:
    """Print the answer by each chosen metric, or the differences to one method; with `every` all there is."""
    keys, listed = report.keys(every=False), report.keys(every=every)

    def show(table: TextTable) -> None:
        console.print()
        show_table(table.with_leading_zeros() if zeros else table, console)

    for position, (sentences, tables) in enumerate(_answers(report, keys, digits)):
        if position:
            console.print()
        _say(console, sentences)
        for table in tables:
            show(table)
    for name, table in _every_pair(report, listed, digits) if every else ():
        if name:
            console.print()
            say(console, name, "bold")
        show(table)
    if report.on_correction(listed):
        say_wrapped(console, report.on_correction(listed), "dim")
    for note in report.notes(listed):
        say_wrapped(console, note, "yellow")
    if not every:
        more = "--all for every pair and metric, --metrics KEYS for some"
        say_wrapped(console, f"{more}; --format csv and json hold everything", "dim")
    say(console, report.signature, "dim")


def show_verdict(comparison: Comparison, console: Console, known: Sequence[Note] = ()) -> None:
    """Print the answer without its tables, and the notes on it that are not `known`."""
    answer = comparison.answer()
    _say(console, answer.sentences())
    for note in comparison.notes_about([answer.metric.key]):
        if note not in known:
            say_wrapped(console, note, "yellow")


def _say(console: Console, sentences: Iterable[str]) -> None:
    """Print the sentences of an answer."""
    for sentence in sentences:
        say_wrapped(console, sentence, "bold")


def _every_pair(report: ComparisonReport, keys: Sequence[str], digits: int) -> Iterator[tuple[str, TextTable]]:
    """Yield the pairs of methods as each test has them, the one that decides first, and the shares of ranks.

    A title stands above the first table of each comparison.
    """
    for name, comparison in report.comparisons.items():
        rows = {key: comparison.rows(key, against=report.against) for key in keys}
        tests = sorted(get_args(Test), key=lambda test: test != comparison.test)
        tables = [*(_pairs_table(comparison, rows, test, digits) for test in tests), _rank_table(comparison, keys)]
        titles = itertools.chain([f"{_of_part(name)}every pair of methods by every metric"], itertools.repeat(""))
        yield from zip(titles, (table for table in tables if table.rows), strict=False)


def _answers(report: ComparisonReport, keys: Sequence[str], digits: int) -> Iterator[tuple[list[str], list[TextTable]]]:
    """Yield the sentences and tables of each answer; two methods have a single one by all classes, or other parts."""
    methods = {comparison.methods for comparison in report.comparisons.values()}
    if report.axis and len(methods) == 1 and len(report.first.methods) == _PAIR:
        yield from (_answer_by_parts(report, key, digits) for key in keys)
        return
    for (name, comparison), key in itertools.product(report.comparisons.items(), keys):
        (first, *others), tables = _said(comparison, key, report.against, digits)
        yield [f"{_of_part(name)}{first}", *others], tables[:1] if name else tables


def _answer_by_parts(report: ComparisonReport, key: str, digits: int) -> tuple[list[str], list[TextTable]]:
    """Say in how many parts which of two methods is better, and list values, difference and p of each part."""
    test, metric = report.first.test, report.first.metric(key)
    answers = {name: comparison.answer(key) for name, comparison in report.comparisons.items()}
    rows = {
        name: comparison.rows(key, against=report.against, tallied=False)[0].by(test)
        for name, comparison in report.comparisons.items()
    }
    a, b = next((row.a, row.b) for row in rows.values())
    sides = {name: answer.side(a, b) for name, answer in answers.items()}
    cells: list[list[str]] = []
    marks: dict[tuple[int, int], Mark] = {}
    for number_of_row, (name, row) in enumerate(rows.items()):
        values = (number(estimate, digits=digits) for estimate in (row.estimate_a, row.estimate_b))
        difference = "-" if math.isnan(row.difference) else signed(row.difference, digits=digits)
        cells.append([name, *values, difference, _ends(row, digits) or "-", p_number(row.p_holm)])
        if sides[name]:
            marks[number_of_row, 1 if sides[name] > 0 else 2] = "best"
    estimate, p = _on_test(report.first, test, rows.values())
    lower = "lower is better" if metric.better == "lower" else ""
    notes = ["; ".join(filter(None, (f"difference: {a} - {b}", estimate, lower)))]
    notes.append(f"{p}, {report.first.answer(key).correction}")
    notes_of = grouped((answer.on_pair(a, b), name) for name, answer in answers.items())
    notes += [f"{', '.join(names)}: {note}" for note, names in notes_of.items() if note]
    interval = f"{100 * report.first.level:g} % interval"
    header = [report.axis, *shortened([a, b], _LONGEST_NAME), "difference", interval, "p"]
    table = TextTable(header, cells, marks=marks, notes=tuple(notes)).fitted(0)
    return [_compared_by_parts(report, key, (a, b), sides)], [table]


def _compared_by_parts(report: ComparisonReport, key: str, methods: tuple[str, str], sides: Mapping[str, int]) -> str:
    """Say in how many parts the first of two methods is better or worse."""
    counts = Counter(sides.values())
    (a, b), plural, why = methods, AXES[report.axis].plural, report.first.answer(key).why_judged_by
    title, parts = report.first.metric(key).name, f"{len(sides)} {plural}"
    untested = [name for name, comparison in report.comparisons.items() if "p_value" in comparison.why_none(key, a, b)]
    if len(untested) == len(sides):
        return f"{a} and {b} by {title} in {parts}, without a test{why}"
    alike = counts[0] - len(untested)
    without = f"{len(untested)} {verb(len(untested), 'are')} without a test" if untested else ""
    if not counts[1] + counts[-1]:
        sentence = f"By {title}, {a} and {b} cannot be told apart in {alike if untested else 'any'} of {parts}"
        return "; ".join(filter(None, (sentence, without))) + why
    sentence = (
        f"By {title}, {a} is better than {b} in {counts[1] or 'none'} of {parts}, worse in {counts[-1] or 'none'}"
    )
    others = [f"in {alike} they cannot be told apart"] if alike else []
    return "; ".join(filter(None, (sentence, *others, without))) + why


def _said(comparison: Comparison, key: str, against: str | None, digits: int) -> tuple[list[str], list[TextTable]]:
    """Return the sentences and the tables of an answer."""
    answer = comparison.answer(key)
    if against is None:
        return answer.sentences(), answer.tables(digits=digits)
    order = [standing.method for standing in answer.standings]
    differences = comparison.rows(answer.metric.key, against=against, tallied=False)
    rows = sorted(differences, key=lambda row: order.index(row.a))
    tallied = comparison.test == "signed-rank"
    table = _pairs_table(comparison, {answer.metric.key: rows}, comparison.test, digits, tallied=tallied)
    verdict = _compared_with(answer, [row.by(comparison.test) for row in rows], against)
    return ["; ".join(filter(None, (answer.lack_more, verdict, answer.lacking)))], [table]


def _compared_with(answer: Answer, rows: Sequence[Difference], against: str) -> str:
    """Say how the other methods compare to one."""
    title, reason = answer.metric.name, answer.pairs.reason
    if reason:
        return f"{title} compared with {against}, without a test ({reason})"
    sides = [answer.side(row.a, against) for row in rows]
    better, worse = sides.count(1), sides.count(-1)
    if len(rows) > 1:
        counts = f"{better} better, {worse} worse, {len(rows) - better - worse}"
        never = f" ({answer.never})" if answer.never else ""
        summary = f"{answer.begin('Compared')} with {against} by {title}: {counts} that cannot be told apart"
        return f"{summary}{never}{answer.why_judged_by}"
    (row,), standings = rows, {standing.method: standing for standing in answer.standings}
    methods, pair = (standings[row.a], standings[against]), answer.pair_of(row.a, against)
    on = f" on {answer.compared_on(pair)}"
    if not better + worse:
        evidence = answer.evidence(*methods)
        return f"{row.a} and {against} cannot be told apart by {title}{on} ({evidence}){answer.why_judged_by}"
    side, ahead = "better" if better else "worse", answer.amount(pair, answer.metric.direction * row.difference)
    evidence = answer.evidence(*methods, leads=True)
    on = on if answer.is_restricted(pair) else ""
    return f"{row.a} is {side} than {against} by {ahead}{on} ({evidence}){answer.why_judged_by}"


def _pairs_table(
    comparison: Comparison, rows: Mapping[str, Sequence[Difference]], test: Test, digits: int, *, tallied: bool = True
) -> TextTable:
    """Return one row per metric and pair as a test has them; metrics that no pair has are left out."""
    # Of a single pair, the correction changes nothing.
    one_pair = len(comparison.methods) < 3 and not comparison.beside
    cells = []
    for row in (row.by(test) for row in itertools.chain(*rows.values())):
        if math.isnan(row.difference):
            continue
        difference = signed(row.difference, digits=digits)
        named = {
            "metric": row.metric,
            "a": row.a,
            "b": row.b,
            "of a": number(row.estimate_a, digits=digits),
            "of b": number(row.estimate_b, digits=digits),
            "a - b": f"{difference} {_ends(row, digits)}".rstrip(),
            "p": p_number(row.p_value),
        }
        named |= {} if one_pair else {"Holm": p_number(row.p_holm)}
        tallies = {"wins": row.wins, "ties": row.ties, "losses": row.losses} if tallied else {}
        cells.append(named | {name: str(count) for name, count in tallies.items()})
    lower = [metric.key for metric in comparison.metrics if metric.better == "lower" and metric.key in rows]
    estimate, p = _on_test(comparison, test, itertools.chain(*rows.values()))
    interval = f"with its {100 * comparison.level:g} % interval"
    wins = f"; wins: {comparison.noun}s with a better value of a" if tallied else ""
    notes = [f"a - b: {', '.join(filter(None, (estimate, interval)))}{wins}", p]
    of_all = f" of all {comparison.parts}" if comparison.beside else ""
    notes[1] += "" if one_pair else f"; Holm: corrected for all pairs{of_all}"
    notes += [f"lower is better: {', '.join(lower)}"] if lower else []
    return TextTable.of(cells, names=3, notes=notes)


def _on_test(comparison: Comparison, test: Test, rows: Iterable[Difference]) -> tuple[str, str]:
    """Say how a test estimates differences, if in a way of its own, and whose p-values these are."""
    noun = comparison.noun
    if test == "t-test":
        return "", f"p: two-sided, of Student's t over {comparison.over(f'{noun}s')}"
    p = f"p: two-sided, of the signed-rank test over {noun}s"
    fewest = fewest_differences(comparison.level)
    if any(row.wins + row.losses < fewest for row in rows if not math.isnan(row.signed_rank_p)):
        least = number(1 - comparison.level, digits=2)
        p += f", which cannot be {least} or less with fewer than {fewest} wins and losses"
    return f"Hodges-Lehmann estimate of the differences of {noun}s", p


def _rank_table(comparison: Comparison, keys: Sequence[str]) -> TextTable:
    """Return one row per metric and method, with the share of resamples in which it is first, second, ..."""
    cells = []
    for key in keys:
        shares = comparison.rank_shares[key]
        if any(math.isnan(ranks[0]) for ranks in shares.values()):
            continue
        for name in sorted(shares, key=lambda name: [-share for share in shares[name]]):
            of_ranks = {f"rank {k}": f"{share:.1%}" for k, share in enumerate(shares[name], 1)}
            cells.append({"metric": key, "method": name, **of_ranks})
    note = f"{comparison.replicates} resamples; tied methods share the better rank"
    return TextTable.of(cells, names=2, notes=[note])


def paper_table(
    report: ComparisonReport, *, intervals: bool, underlined: bool, digits: int, zeros: bool, percent: bool = False
) -> TextTable:
    """Return one table for a paper: methods by several metrics, the best in bold, significance as superscripts."""
    keys = compared(report.first) if report.metrics is None else list(report.metrics)
    columns = method_table(next(iter(report.results.values())), keys=keys).columns
    rows: list[TableRow] = []
    sets: list[range] = []
    raised: dict[tuple[int, int], str] = {}
    for name, comparison in report.comparisons.items():
        standings = comparison.answer(report.metrics[0] if report.metrics else None).standings
        letters = {standing.method: standing.letter for standing in standings}
        by_method = {result.method: result for result in report.results[name]}
        marks = [_superscripts(comparison, metric.key, letters, report.against) for metric in columns]
        sets.append(range(len(rows), len(rows) + len(letters)))
        column_of = {metric.key: comparison.place(metric.key) for metric in columns if intervals}
        for method, letter in letters.items():
            measured = comparison.measured[method]
            ends = {key: measured.interval(column).ends for key, column in column_of.items()}
            labels = (name, letter, method) if name else (letter, method)
            for printed_column, superscripts in enumerate(marks, len(labels)):
                raised[len(rows), printed_column] = superscripts[method]
            rows.append(TableRow(labels, by_method[method].summary, ends, sd=by_method[method].sd))
    labels = ("", "method") if "" in report.comparisons else (report.axis, "", "method")
    text = MetricTable(labels, columns, rows, sets=sets, percent=percent).text(digits=digits, zeros=zeros)
    lower = ", ".join(metric.name for metric in columns if metric.better == "lower")
    second = underlined and "second" in text.marks.values()
    notes: list[Note | str] = [*text.notes, _legend(report, keys, second=second, intervals=intervals)]
    if set(report.comparisons) == {""} and len(report.first.methods) == 2:  # which no letters tell apart
        notes += [report.first.answer(key).verdict for key in keys]
    notes += [f"lower is better: {lower}"] if lower else []
    means = (remarks([result for result in results if result.sd], keys=keys) for results in report.results.values())
    notes += dict.fromkeys(remark.note for several in means for remark in several if remark.kind == "table")
    return replace(text, raised=raised, notes=(*notes, *report.notes(keys), report.signature))


def _superscripts(comparison: Comparison, key: str, letters: Mapping[str, str], against: str | None) -> dict[str, str]:
    """Return the superscript of each method by one metric; `letters` are those of the table, in its order."""
    if against is not None:
        answer = comparison.answer(key)
        return {name: "*" if answer.side(name, against) else "" for name in comparison.methods}
    standings = comparison.answer(key).standings
    rank_of = {letter: rank for rank, letter in enumerate(letters.values())}
    own = {standing.letter: letters[standing.method] for standing in standings}
    raised = {}
    for standing in standings:
        beaten = sorted((own[letter] for letter in standing.better_than), key=lambda letter: rank_of[letter])
        raised[standing.method] = letters_text(beaten, rank_of, ",")
    return raised


def _legend(report: ComparisonReport, keys: Sequence[str], *, second: bool, intervals: bool) -> str:
    """Explain the marks of the table for a paper."""
    explanations = ["bold: best", *(["underlined: second best"] if second else [])]
    compared_by = itertools.product(report.comparisons.values(), keys)
    if not all(comparison.pairs(key).reason for comparison, key in compared_by):
        better = "superscript: significantly better than the methods of these letters"
        mark = better if report.against is None else f"star: significantly different from {report.against}"
        correction = report.first.answer().correction
        how = f"{report.first.answer().pairs.test} over {report.first.over(report.sample_size)}"
        how += f", {correction} by each metric" if correction else ""
        explanations.append(f"{mark} (p at most {number(1 - report.first.level, digits=2)}, {how})")
    never = grouped((report.first.answer(key).never, report.first.metric(key).name) for key in keys)
    explanations += [f"{', '.join(titles)}: {why}" for why, titles in never.items() if why]
    explanations += [f"brackets: {100 * report.first.level:g} % intervals"] if intervals else []
    return "; ".join(explanations)


def _ends(row: Difference, digits: int) -> str:
    """Write the interval of a difference; nothing where there is none."""
    ends = (signed(end, digits=digits) for end in (row.low, row.high))
    return "" if math.isnan(row.low) else f"[{', '.join(ends)}]"


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else exact(value)
