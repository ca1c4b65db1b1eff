import sqlite3
from contextlib import closing

import numpy as np
import pytest
from cases import FIRST_SCORES, write_folder
from refusing import refused

from segbench import ArgumentError, DataError, Inputs, Pixels, evaluate, load_results, merge_results
from segbench.aggregator import store
from segbench.aggregator.codec import EncodedCounts, decode, encode
from segbench.core.scores import ScoreCounts
from segbench.protocols.boundaries.counts import BoundaryCounts


class TestResultsFile:
    def test_gives_back_what_was_evaluated(self, papers, tmp_path):
        file = tmp_path / "r.segbench"
        made = [
            evaluate(*papers, method="a", results=file),
            evaluate(*papers, Pixels(positive="255"), method="b", results=file),
        ]
        read = load_results(file)
        for before, after in zip(made, read, strict=True):
            assert (after.method, after.signature) == (before.method, before.signature)
            assert dict(after.summary) == dict(before.summary)
            assert dict(after.settings) == dict(before.settings)
            assert all(after.counts[name] == before.counts[name] for name in before.counts)

    @pytest.mark.parametrize("page", [1, 2**20])
    def test_counts_that_stay_in_the_file_are_read_when_wanted(self, papers, tmp_path, monkeypatch, page):
        monkeypatch.setattr(store, "_HELD", 0)
        monkeypatch.setattr(store, "_PAGE", page)
        held, file = evaluate(*papers), tmp_path / "r.segbench"
        for result in (evaluate(*papers, results=file), *load_results(file), evaluate(*papers, results=file)):
            assert dict(result.counts) == dict(held.counts)
            assert dict(result.summary) == dict(held.summary)
            assert result.signature == held.signature
        (merged,) = merge_results([file], tmp_path / "m.segbench")
        (unread,) = load_results(file)
        file.unlink()
        assert dict(merged.counts) == dict(held.counts)
        with refused("not-found", DataError, path=str(file)):
            _ = unread.counts["second"]

    def test_unchanged_images_are_not_counted_again_and_changed_ones_are(self, papers, tmp_path, decoded):
        file = tmp_path / "r.segbench"
        before = evaluate(*papers, results=file)
        decoded.clear()
        assert evaluate(*papers, results=file).signature == before.signature
        assert decoded == []
        write_folder(papers[1], {"first.npy": FIRST_SCORES / 2})
        after = evaluate(*papers, results=file)
        assert decoded == ["first"]
        assert after.counts["first"] != before.counts["first"]
        assert len(load_results(file)) == 1

    def test_no_database_is_called_a_table(self, papers, tmp_path):
        with refused("not-a-database", ArgumentError, name="r.segbench"):
            evaluate(*papers, results=tmp_path / "r.csv")
        assert not (tmp_path / "r.csv").exists()

    def test_other_settings_count_anew(self, papers, tmp_path, decoded):
        file = tmp_path / "r.segbench"
        evaluate(*papers, results=file)
        decoded.clear()
        evaluate(*papers, Pixels(invert=True), results=file)
        assert decoded == ["first", "second"]
        assert len(load_results(file)) == 2

    def test_images_no_longer_there_are_forgotten(self, papers, tmp_path):
        file = tmp_path / "r.segbench"
        evaluate(*papers, results=file)
        for folder, name in zip(papers, ("first.png", "first.npy"), strict=True):
            (folder / name).unlink()
        evaluate(*papers, results=file)
        assert list(load_results(file)[0].counts) == ["second"]

    def test_a_run_stopped_half_way_keeps_what_was_counted(self, papers, tmp_path, decoded):
        file = tmp_path / "r.segbench"

        def stop(_done, _total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evaluate(*papers, results=file, progress=stop)
        with refused("no-run", DataError, path=str(file), sought="complete run"):
            load_results(file)
        decoded.clear()
        evaluate(*papers, results=file)
        assert decoded == ["second"]
        assert load_results(file)[0].summary["positives"] == 9


class TestForeignFiles:
    def test_a_text_file_is_left_as_it_is(self, tmp_path, papers):
        file = tmp_path / "notes.segbench"
        file.write_text("my notes, which are long enough to be taken for a header " * 20)
        before = file.read_bytes()
        with refused("foreign", ArgumentError) as raised:
            evaluate(*papers, results=file)
        assert raised.value.values["path"] == str(file)
        with refused("not-a-results-file", DataError, path=str(file)):
            load_results(file)
        assert file.read_bytes() == before

    def test_the_database_of_another_program(self, tmp_path, papers):
        file = tmp_path / "other.sqlite"
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("CREATE TABLE notes (text)")
        database.close()
        before = file.read_bytes()
        with refused("foreign", ArgumentError) as raised:
            evaluate(*papers, results=file)
        assert raised.value.values["path"] == str(file)
        with refused("foreign", DataError, path=str(file)):
            load_results(file)
        assert file.read_bytes() == before

    @pytest.mark.parametrize("schema", [3, 99])
    def test_a_file_of_another_version(self, tmp_path, papers, schema):
        file = tmp_path / "r.segbench"
        evaluate(*papers, results=file)
        with closing(sqlite3.connect(file)) as database, database:
            database.execute(f"PRAGMA user_version = {schema}")
        database.close()
        with refused("other-version", DataError, path=str(file)):
            load_results(file)

    @pytest.mark.parametrize(("place", "kind"), [("", "folder"), ("no/such/folder/r.segbench", "no-folder")])
    def test_no_place_for_a_file(self, tmp_path, papers, place, kind):
        with refused(kind, DataError, path=str(tmp_path / place)):
            evaluate(*papers, results=tmp_path / place)


class TestCodec:
    rng = np.random.default_rng(0)

    @pytest.mark.parametrize(
        "counts",
        [
            ScoreCounts([], [], [], 7),
            ScoreCounts(np.arange(255, -1, -1) / 255, rng.integers(0, 3000, 256), rng.integers(0, 2**40, 256)),
            ScoreCounts(np.array([0.3, 0.1], np.float32), np.array([1, 2], np.int32), np.array([3, 4], np.int32)),
            ScoreCounts([2.0, -np.inf], [1, 1], [0, 5], 3, threshold_source="tuning set"),
            ScoreCounts.from_points([1, 2], [0, 1], 5, 9),
            ScoreCounts(np.sort(rng.random(500))[::-1], *rng.integers(0, 9, (2, 500))),
            ScoreCounts([0.5, 0.25], [1, 0], [0, 1]),
            ScoreCounts([1.0, 0.0], [1, 0], [0, 1], of_predictions=True),
            BoundaryCounts(np.arange(1, 100) / 100, *np.arange(4 * 99).reshape(4, 99)[[0, 1, 2, 3]]),
        ],
    )
    def test_gives_back_every_bit(self, counts):
        packed = encode(counts)
        again = decode(packed)
        assert again == counts
        assert encode(again) == packed
        if isinstance(counts, ScoreCounts):
            assert again.scores.dtype == counts.scores.dtype
            assert again.threshold_source == counts.threshold_source
            assert again.of_predictions == counts.of_predictions

    def test_an_image_of_256_levels_takes_under_two_kilobytes(self):
        counts = ScoreCounts(np.arange(255, -1, -1) / 255, *self.rng.integers(0, 3000, (2, 256)))
        assert len(encode(counts)) < 2000

    def test_images_come_in_order_of_names(self):
        packed = encode(ScoreCounts([0.5], [1], [1]))
        assert list(EncodedCounts({"b": packed, "a": packed}, "pixels")) == ["a", "b"]


def test_a_result_knows_where_its_images_lay(papers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ground_truth, prediction = (path.relative_to(tmp_path) for path in papers)
    result = evaluate(ground_truth, prediction, results="r.segbench")
    assert result.inputs == Inputs(ground_truth=str(papers[0]), prediction=str(papers[1]))
    (read,) = load_results("r.segbench")
    assert read.inputs == result.inputs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [4097, 70_000])
def test_counts_of_continuous_scores_are_packed_in_ranges(dtype, size):
    random = np.random.default_rng(size)
    scores = np.unique(random.normal(size=size).astype(dtype))[::-1]
    positives = random.integers(0, 2, scores.size)
    negatives = np.where(np.arange(scores.size) % 2000 == 7, 40, 1 - positives)
    counts = ScoreCounts(scores, positives, negatives, ignored=3, of_predictions=True)
    packed = encode(counts)
    assert packed.startswith(b"{") == (size > 2**16)
    assert len(packed) < 0.85 * scores.nbytes
    again = decode(packed)
    assert again == counts
    assert again.scores.dtype == dtype
    assert again.of_predictions
    assert encode(again) == packed
    middle = scores[size // 2]
    only = EncodedCounts({"a": packed}, ScoreCounts).between("a", middle, np.inf)
    assert only == counts.between(middle, np.inf)
    flipped = packed[:-300] + bytes([packed[-300] ^ 1]) + packed[-299:]
    for damaged in (flipped, packed[:-8], packed[:-2000]):
        with refused("damaged-counts", DataError):
            decode(damaged)
