"""Results files that were damaged: every verb ends with exit code 1 and a line that names the file and what to do."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import zstandard
from cases import write_papers

from segbench import BoundaryCounts, ScoreCounts, evaluate
from segbench.aggregator.codec import encode


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return write_papers(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
def sound(tmp_path_factory, places):
    """Count two methods once; each test damages a copy."""
    file = tmp_path_factory.mktemp("results") / "r.segbench"
    truth, scores = places
    for method in ("one", "two"):
        evaluate(truth, scores, method=method, results=file)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    return file


@pytest.fixture
def results(sound, tmp_path):
    return Path(shutil.copy(sound, tmp_path))


def change(file, *statement):
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(*statement)
    database.close()


VERBS = {
    "show": lambda file, _: ("show", file),
    "show image by image": lambda file, _: ("show", file, "--per-image"),
    "show thresholds": lambda file, _: ("show", file, "--per-threshold", "--format", "json"),
    "compare": lambda file, _: ("compare", file, "--replicates", 5),
    "plot": lambda file, folder: ("plot", file, "-o", folder / "pr.svg"),
    "report": lambda file, folder: ("report", file, "-o", folder / "page.html"),
    "merge": lambda file, folder: ("merge", file, "-o", folder / "merged.segbench"),
}


def counts(data):
    return lambda file: change(file, "UPDATE images SET counts = ? WHERE name = 'first'", (data,))


def sql(statement):
    return lambda file: change(file, statement)


def cut(file):
    file.write_bytes(file.read_bytes()[:-5000])


def overwritten(file):
    data = bytearray(file.read_bytes())
    data[4096:12_000] = np.random.default_rng(0).bytes(12_000 - 4096)
    file.write_bytes(data)


NEGATIVE = zstandard.decompress(encode(ScoreCounts([1], [7], [1])))
NEGATIVE = NEGATIVE.replace(b'"positives":[1,"<i8",0,1]', b'"positives":[1,"<i8",-1,1]')
DAMAGE = {
    "cut": cut,
    "cut in the header": lambda file: file.write_bytes(file.read_bytes()[:50]),
    "empty": lambda file: file.write_bytes(b""),
    "overwritten": overwritten,
    "text": lambda file: file.write_text("method,ods_f\n"),
    "counts that are none": counts(b"junk"),
    "counts cut": counts(encode(ScoreCounts([1], [1], [1]))[:-3]),
    "counts of another protocol": counts(encode(BoundaryCounts([0.5], [1], [1], [1], [1]))),
    "counts of nothing known": counts(zstandard.compress(b'{"kind":"x","arrays":{}}\n')),
    "counts below zero": counts(zstandard.compress(NEGATIVE)),
    "settings": sql("UPDATE runs SET settings = '{'"),
    "no signature": sql("UPDATE runs SET signature = ''"),
    "another signature": sql("UPDATE runs SET signature = replace(signature, 'data:', 'data:0')"),
    "no such protocol": sql("UPDATE runs SET protocol = 'pixel'"),
    "images of no run": sql("UPDATE images SET run = 77 WHERE name = 'first' AND run = (SELECT max(run) FROM images)"),
    "an image lost": sql("DELETE FROM images WHERE name = 'first'"),
    "an image renamed": sql("UPDATE images SET name = 'third' WHERE name = 'first'"),
    "a run neither complete nor begun": sql("UPDATE runs SET complete = 2 WHERE method = 'two' AND complete"),
    "label values": sql("UPDATE images SET label_values = '[1, 2, 3]'"),
    "seconds": sql("UPDATE images SET seconds = 'NaN'"),
    "a name that is no text": sql("UPDATE images SET name = x'ff' WHERE name = 'first'"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_named(segbench, results, tmp_path, verb, damage):
    DAMAGE[damage](results)
    answer = segbench(*VERBS[verb](results, tmp_path))
    assert answer.code == 1, answer
    assert (answer.error.path, answer.err[:10]) == (str(results), "segbench: ")
    assert answer.error.hint
    assert not (tmp_path / "merged.segbench").exists()


class TestGoingOn:
    """``run -o`` into a damaged file."""

    @pytest.mark.parametrize("damage", ["cut", "overwritten", "counts that are none", "counts cut", "seconds"])
    def test_it_is_named(self, segbench, results, places, damage):
        DAMAGE[damage](results)
        truth, scores = places
        answer = segbench("pixels", truth, f"one={scores}", "-o", results)
        assert (answer.code, answer.error.path) == (1, str(results))

    @pytest.mark.parametrize("damage", ["counts that are none", "counts cut", "an image lost", "an image renamed"])
    def test_counting_again_repairs_it(self, segbench, results, places, damage):
        expected = segbench("show", results, "--format", "json").out
        DAMAGE[damage](results)
        truth, scores = places
        assert segbench("pixels", truth, f"one={scores}", f"two={scores}", "-o", results, "--fresh").code == 0
        assert segbench("show", results, "--format", "json").out == expected


def test_thresholds_that_differ_from_image_to_image(segbench, tmp_path, places):
    file = tmp_path / "edges.segbench"
    assert segbench("boundaries", *places, "--positive", "255", "-o", file).code == 0
    counts(encode(BoundaryCounts([0.5], [1], [1], [1], [1])))(file)
    answer = segbench("show", file)
    assert (answer.code, answer.error.kind, answer.error.path) == (1, "not-alike", str(file))
    assert (answer.error.values["image"], answer.error.values["first"]) == ("second", "first")


def test_settings_that_are_unknown(segbench, tmp_path, places):
    file = tmp_path / "r.segbench"
    assert segbench("pixels", *places, "-o", file).code == 0
    change(file, "UPDATE runs SET counting = replace(counting, '\"quantize\": null', '\"quantize\": 7')")
    answer = segbench("overlay", file, "-o", tmp_path / "out")
    assert (answer.code, answer.error.kind, answer.error.path) == (1, "damaged-row", str(file))


@pytest.mark.parametrize("seed", range(25))
def test_bytes_changed_at_random(segbench, results, seed):
    """Anything may be read that is still consistent; nothing else than exit code 1 with the file's name may follow."""
    rng = np.random.default_rng(seed)
    data = bytearray(results.read_bytes())
    for _ in range(rng.choice([1, 10, 200])):
        data[rng.integers(len(data))] = rng.integers(256)
    if seed % 5 == 0:
        del data[rng.integers(len(data)) :]
    results.write_bytes(data)
    answer = segbench("show", results)
    assert answer.code == 0 or (answer.code == 1 and answer.error.path == str(results)), answer
