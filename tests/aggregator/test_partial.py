"""Partial results: what a run counted before it stopped, marked wherever it is shown."""

import csv
import json
import sqlite3
from contextlib import closing

import pytest
from methods import write_methods
from noted import of_kind
from refusing import refused, within

from segbench import DataError, compare_results, evaluate, export_report, load_results
from segbench.aggregator.store import ResultsFile
from segbench.report.documents import document, json_document, markdown_table
from segbench.report.latex import latex_table
from segbench.report.tables import method_table

MARK = "partial: 4 of 9 images"


def stop_after(images):
    def progress(done, _total):
        if done == images:
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def folders(tmp_path):
    return write_methods(tmp_path, {"a": 2, "b": 1, "c": 0.5}, images=9)


@pytest.fixture
def file(folders, tmp_path):
    """Complete runs of b and c; one of a, the best, that stopped after 4 of 9 images."""
    truth, a, b, c = folders
    file = tmp_path / "r.segbench"
    for folder in (b, c):
        evaluate(truth, folder, results=file)
    with pytest.raises(KeyboardInterrupt):
        evaluate(truth, a, results=file, progress=stop_after(4))
    return file


def partial_of(file):
    return next(result for result in load_results(file, partial=True) if result.partial)


def test_they_are_given_on_request_only(file, folders):
    assert [result.method for result in load_results(file)] == ["b", "c"]
    assert [result.method for result in load_results(file, partial=True)] == ["b", "c", "a"]
    partial = partial_of(file)
    assert partial.partial == (4, 9)
    alone = evaluate(*folders[:2], images=list(partial.counts))
    assert dict(partial.summary) == dict(alone.summary)
    assert partial.data == alone.data
    assert "|partial:4 of 9|images:4|" in partial.signature
    assert partial.inputs == evaluate(*folders[:2]).inputs


def test_a_file_without_a_complete_run_says_how_to_see_what_there_is(folders, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        evaluate(*folders[:2], results=tmp_path / "r", progress=stop_after(4))
    with refused("no-run", DataError, path=str(tmp_path / "r"), sought="complete run"):
        load_results(tmp_path / "r")
    (partial,) = load_results(tmp_path / "r", partial=True)
    assert partial.partial == (4, 9)


@pytest.mark.parametrize("partial", [False, True])
def test_a_run_that_saved_no_image_says_so(tmp_path, partial):
    with ResultsFile(tmp_path / "r", create=True):
        pass
    with refused("nothing-saved", DataError, path=str(tmp_path / "r")):
        load_results(tmp_path / "r", partial=partial)


def test_it_is_gone_once_the_run_is_complete(file, folders):
    result = evaluate(*folders[:2], results=file)
    assert result.reused == 4
    assert all(run.partial is None for run in load_results(file, partial=True))


REPEATED = (
    "a later run of it is not complete (4 images so far), so these are the metrics of the run before it; repeat it"
)


@pytest.fixture
def repeated(folders, tmp_path):
    """Complete runs of b and c, the former being repeated."""
    truth, _, b, c = folders
    file = tmp_path / "repeated.segbench"
    for folder in (b, c):
        evaluate(truth, folder, results=file)
    with pytest.raises(KeyboardInterrupt):
        evaluate(truth, b, results=file, fresh=True, progress=stop_after(4))
    return file


class TestRepeated:
    """A complete run is shown until the one that repeats it is complete, and says so."""

    def test_the_complete_one_is_given(self, repeated):
        assert [(one.method, one.partial) for one in load_results(repeated, partial=True)] == [("b", None), ("c", None)]

    def test_it_says_so(self, repeated):
        first, other = load_results(repeated)
        assert (first.outdated.kind, first.outdated.values) == ("outdated", {"images": 4})
        assert not other.outdated
        assert REPEATED in str(first)

    @pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
    @pytest.mark.parametrize("verb", ["show", "compare"])
    def test_each_form_says_so(self, segbench, repeated, verb, form):
        answer = segbench(verb, repeated, "--format", form)
        assert REPEATED in (answer.err if form == "csv" else answer.out)

    def test_the_page_says_so_once(self, repeated, tmp_path):
        export_report(load_results(repeated), tmp_path / "page.html", most_panels=0, replicates=10)
        assert (tmp_path / "page.html").read_text().count(f": {REPEATED}") == 1

    def test_a_comparison_in_python_says_so(self, repeated):
        (note,) = of_kind(compare_results(load_results(repeated), replicates=10).notes, "outdated")
        assert (note.values, note.before) == ({"images": 4}, "b: ")

    def test_one_that_counted_nothing_anew_does_not(self, folders, repeated):
        truth, _, b, _ = folders
        evaluate(truth, b, results=repeated)
        with pytest.raises(KeyboardInterrupt):
            evaluate(truth, b, results=repeated, progress=stop_after(4))
        assert not load_results(repeated)[0].outdated


def test_they_are_marked_wherever_they_are_shown(file, tmp_path):
    results = load_results(file, partial=True)
    assert repr(results[2]).startswith(f"Result('a', pixels, {MARK}, ods_f 0.")
    (note,) = results[2].notes
    assert (note.kind, note.values["done"], note.values["total"]) == ("stopped", 4, 9)
    table = method_table(results).text()
    assert [row[0] for row in table.rows] == ["b", "c", f"a ({MARK})"]
    assert MARK in markdown_table(table)
    assert MARK in latex_table(table)
    rows = list(csv.DictReader(document(results, "csv").splitlines()))
    assert [row["partial"] for row in rows] == ["", "", "4 of 9"]
    assert "partial" not in document(results[:2], "csv").splitlines()[0]
    assert [run["partial"] for run in json.loads(json_document(results))["runs"]] == [None, None, [4, 9]]
    export_report(results, tmp_path / "page.html", most_panels=0, replicates=10)
    page = (tmp_path / "page.html").read_text()
    assert MARK in page
    assert "3 methods on up to 9 images" in page


def test_they_are_not_ranked(file):
    results = load_results(file, partial=True)
    table = method_table(results).text()
    assert results[2].summary["ods_f"] > results[0].summary["ods_f"]
    assert {row for (row, _), mark in table.marks.items() if mark == "best"} == {0}
    assert all(mark == "" for (row, _), mark in table.marks.items() if row == 2)
    alone = method_table([results[2], results[2]]).text()
    assert not alone.marks


def test_they_are_compared_on_the_same_images_only(file, folders):
    partial = partial_of(file)
    with refused("other-images", DataError, methods=("a", "b")) as raised:
        compare_results([partial, load_results(file)[0]])
    lacking = within(raised.value, "lacking-images")
    assert (lacking["absent"], lacking["present"], lacking["images"]) == ("a", "b", 5)
    truth, _, b, _ = folders
    same = evaluate(truth, b, images=list(partial.counts))
    assert compare_results([partial, same], replicates=10).images == 4


def test_of_files_that_do_not_say_how_many_images_there_are(file):
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE runs SET signature = '' WHERE NOT complete")
    partial = partial_of(file)
    assert partial.partial == (4, None)
    assert "partial: 4 images" in repr(partial)


@pytest.mark.parametrize("change", ["signature = 'images:many'", "signature = 'x'", 'settings = \'{"subset": "a"}\''])
def test_what_segbench_did_not_write_is_refused(file, change):
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"UPDATE runs SET {change} WHERE NOT complete")  # noqa: S608  texts of this test
    with refused("damaged-row", DataError, path=str(file)):
        load_results(file, partial=True)


LEFT_OUT = "left out because incomplete: a (4 of 9 images); repeat the run to count the rest"


def test_verbs_that_leave_it_out_say_so(segbench, file, tmp_path):
    answer = segbench("export", file, "--bsds", tmp_path / "official")
    assert answer.err.startswith(f"{LEFT_OUT}\n")
    assert "left out" not in segbench("show", file).err


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_a_comparison_in_each_form_names_what_it_leaves_out(segbench, file, form):
    answer = segbench("compare", file, "--format", form)
    assert LEFT_OUT in (answer.err if form == "csv" else answer.out)


class TestGate:
    """Whether a method is worse is undecided as long as its run is not complete."""

    def gate(self, segbench, file, *options, against="c"):
        return segbench("compare", file, "--against", against, "--fail-if-worse", "0.5", *options)

    def test_an_incomplete_run_is_undecided(self, segbench, file):
        answer = self.gate(segbench, file, "--format", "json")
        assert answer.code == 4
        found = {one["method"]: one for one in json.loads(answer.out)["check"]["outcomes"]}
        assert {name: one["outcome"] for name, one in found.items()} == {"a": "undecided", "b": "not worse"}
        assert found["a"]["reason"] == "its run is not complete (4 of 9 images); repeat it"

    def test_one_that_is_not_chosen_decides_nothing(self, segbench, file):
        assert self.gate(segbench, file, "--methods", "b,c").code == 0

    @pytest.mark.parametrize(
        ("against", "options"), [("c", ["--methods", "a,c"]), ("a", ["--methods", "b,c"]), ("c", ["--only", "a"])]
    )
    def test_a_comparison_that_names_it_says_that_it_is_not_complete(self, segbench, file, against, options):
        answer = self.gate(segbench, file, *options, against=against)
        assert answer.code == 1
        assert (answer.error.kind, answer.error.path) == ("incomplete-run", str(file))
        assert answer.error.values == {"run": "a", "so_far": "4 of 9 images"}

    def test_a_comparison_with_one_other_says_that_it_is_not_complete(self, segbench, folders, tmp_path):
        truth, a, b, _ = folders
        evaluate(truth, b, results=tmp_path / "two")
        with pytest.raises(KeyboardInterrupt):
            evaluate(truth, a, results=tmp_path / "two", progress=stop_after(4))
        answer = segbench("compare", tmp_path / "two")
        assert answer.code == 1
        assert (answer.error.kind, answer.error.values["run"]) == ("incomplete-run", "a")

    def test_a_complete_run_is_undecided_while_another_repeats_it(self, segbench, file, folders):
        truth, a, b, _ = folders
        evaluate(truth, a, results=file)
        assert self.gate(segbench, file).code == 0
        with pytest.raises(KeyboardInterrupt):
            evaluate(truth, b, results=file, fresh=True, progress=stop_after(4))
        answer = self.gate(segbench, file)
        assert answer.code == 4
        assert answer.err == f"undecided: whether b is worse than c by more than .5 ODS F is open: {REPEATED}\n"
        evaluate(truth, b, results=file)
        assert self.gate(segbench, file).code == 0


def test_a_run_of_a_protocol_that_is_not_installed_names_the_remedy(file):
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE runs SET protocol = 'found_objects'")
    with refused(
        "unknown-protocol",
        DataError,
        protocol="found_objects",
        known=(
            "pixels",
            "classes",
            "labels",
            "boundaries",
            "regions",
            "contours",
            "centerlines",
            "saliency",
            "anomalies",
            "objects",
            "scored",
        ),
    ):
        load_results(file)
