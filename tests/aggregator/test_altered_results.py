"""Results files that were changed by hand, damaged, or made to harm: refused with the file or the image named."""

import functools
import json
import sqlite3

import numpy as np
import pytest
import zstandard
from cases import write_folder, write_papers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusing import refused

import segbench
from segbench import ClassCounts, DataError, Labels, ScoreCounts, ScoredObjectCounts, evaluate, load_results
from segbench.aggregator.codec import EncodedCounts, decode, encode
from segbench.aggregator.records import reference
from segbench.core.joined import JoinedCounts
from segbench.core.messages import Either, Message, Note

COUNTS = ScoreCounts([0.9, 0.5, 0.1], [3, 1, 0], [0, 2, 7])


@pytest.fixture
def results(tmp_path):
    file = tmp_path / "r.segbench"
    evaluate(*write_papers(tmp_path), results=file)
    return file


def change(file, *statement):
    database = sqlite3.connect(file)
    with database:
        database.execute(*statement)
    database.close()


def packed(header, block=b""):
    return zstandard.compress(json.dumps(header).encode() + b"\n" + block)


def in_parts(kind, size, block=b""):
    return json.dumps({"kind": kind, "parts": {"1": size}}).encode() + b"\n" + block


def arrays(**changes):
    one = {"scores": [8, "<f8", 0, 1], "positives": [1, "<i8", 0, 1], "negatives": [1, "<i8", 0, 1]}
    return {"kind": "scores", "arrays": one | changes}


def of_palette(indices, colours):
    """Return what a row holds of the colours of an image's indices."""
    return Message("colours", "{indices: }: {colours: }", indices=indices, colours=colours).to_json()


class TestCounts:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"no frame",
            encode(COUNTS)[:-4],
            packed([]),
            packed({"kind": "scores"}),
            packed({"kind": "builtins.eval", "arrays": {}}),
            packed(arrays(), bytes(3)),
            packed(arrays(scores=[8, "|O", 0, 1]), bytes(10)),
            packed(arrays(scores=[8, "<M8[s]", 0, 1]), bytes(10)),
            packed(arrays(scores=[8, "<f8", 0, 10**12]), bytes(10)),
            packed(arrays(scores=[8, "<f8", 0, -2]), bytes(10)),
            packed(arrays(scores=[1, "<f8", 1e-320, 1]), b"\xff" * 10),
            packed(arrays() | {"ignored": "many"}, bytes(10)),
            packed(arrays() | {"ignored": 10**40}, bytes(10)),
            packed(arrays() | {"unknown": 1}, bytes(10)),
            packed(arrays(scores=[9, "<f8", 0, 1]), bytes(10)),
            packed(arrays(scores=[0, "<f8", 0, 10**12]), bytes(10)),
            zstandard.compress(b"[" * 100_000),
            encode(COUNTS) + b"more",
            b"{",
            in_parts("scores", -5),
            in_parts("scores", "x"),
            in_parts("scores", 3, b"xyz"),
            in_parts("labels", len(encode(COUNTS)), encode(COUNTS)),
            functools.reduce(lambda inner, _: in_parts("scores", len(inner), inner), range(3000), encode(COUNTS)),
        ],
    )
    def test_that_are_none(self, data):
        with refused("damaged-counts", DataError, settings={"fresh": True}) as caught:
            decode(data)
        assert str(caught.value).isprintable()

    def test_a_bomb_does_not_go_off(self):
        bomb = zstandard.compress(bytes(200_000_000))
        with refused("damaged-counts", DataError, reason="unpacks to more than counts do"):
            decode(bomb)

    def test_many_levels_that_shrink_well_are_no_bomb(self):
        levels = np.arange(2_000_000, 0, -1, dtype=np.float32)
        counts = ScoreCounts(levels, np.zeros(levels.size, np.int32), np.ones(levels.size, np.int32))
        assert decode(encode(counts)).total_negatives == levels.size

    @settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_any_change_is_read_or_refused(self, data):
        unpacked = bytearray(zstandard.decompress(encode(COUNTS)))
        for _ in range(data.draw(st.integers(1, 4))):
            unpacked[data.draw(st.integers(0, len(unpacked) - 1))] = data.draw(st.integers(0, 255))
        try:
            decode(zstandard.compress(bytes(unpacked)))
        except DataError as error:
            assert str(error).isprintable()  # noqa: PT017  either outcome will do

    def test_the_image_is_named(self, results):
        change(results, "UPDATE images SET counts = ? WHERE name = 'first'", (b"junk",))
        with refused("damaged-counts", DataError, path=str(results), image="first"):
            _ = load_results(results)[0].summary

    def test_counts_of_another_protocol(self, results):
        other = encode(segbench.BoundaryCounts([0.5], [1], [2], [1], [2]))
        change(results, "UPDATE images SET counts = ?, label_values = '[]'", (other,))
        with refused("other-protocol", DataError, path=str(results), image="first"):
            _ = load_results(results)[0].summary

    def test_a_class_that_is_not_there(self):
        counts = {"x": encode(ClassCounts(("a",), (COUNTS,)))}
        with refused("damaged-counts", DataError, path="x", name="b"):
            EncodedCounts(counts, ClassCounts).of_class("b")


class TestManyAtATime:
    """Images unpacked in batches are what they are one by one, or refused with the same words."""

    IMAGES = (
        COUNTS,
        ScoreCounts(np.arange(255, -1, -1) / 255, np.arange(256), np.full(256, 70_000), ignored=3),
        ScoreCounts(np.array([1, 0.2, 0], np.float32), [2**40, 0, 1], [0, 0, 5], of_predictions=True),
        ScoreCounts(np.array([np.pi, 1e-30, -7.5], np.float32), [1, 1, 1], [0, 3, 0]),
        ScoreCounts([], [], []),
        ScoreCounts.from_points([5], [5], 20, 2000),
    )

    @staticmethod
    def assert_same(images):
        encoded = EncodedCounts({str(place): data for place, data in enumerate(images)}, ScoreCounts, "r.segbench")
        try:
            alone = [encoded[name] for name in encoded]
        except DataError as error:
            with refused(error.kind, DataError, path=error.path, **error.values):
                list(encoded.in_batches())
            return
        for name in ("scores", "positives", "negatives"):
            found = np.concatenate([getattr(some, name) for some in encoded.in_batches()])
            np.testing.assert_array_equal(found, np.concatenate([getattr(one, name) for one in alone]))
        assert sum(some.ignored for some in encoded.in_batches()) == sum(one.ignored for one in alone)
        assert [source for some in encoded.in_batches() for source in some.sources] == [
            one.threshold_source for one in alone
        ]
        sizes = [np.diff(some.ends, prepend=0) for some in encoded.in_batches()]
        assert np.concatenate(sizes).tolist() == [one.scores.size for one in alone]

    @pytest.mark.parametrize("shift", range(len(IMAGES)))
    def test_of_any_kind(self, shift):
        self.assert_same([encode(one) for one in (*self.IMAGES[shift:], *self.IMAGES[:shift])])

    @pytest.mark.parametrize("chosen", [(1,), (2,), (1, 2), (2, 2)])
    def test_their_total_is_the_sum(self, chosen):
        images = [self.IMAGES[place] for place in chosen]
        encoded = EncodedCounts({str(k): encode(one) for k, one in enumerate(images)}, ScoreCounts)
        (batch,) = encoded.in_batches()
        expected, total = ScoreCounts.sum(images), batch.total()
        assert total == expected
        assert total.scores.dtype == expected.scores.dtype
        assert total.of_predictions == expected.of_predictions

    def test_none(self):
        (batch,) = EncodedCounts({}, ScoreCounts).in_batches()
        assert batch.ends.size == batch.scores.size == 0

    @settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_with_any_change(self, data):
        images = [encode(one) for one in self.IMAGES]
        which = data.draw(st.integers(0, 2))
        unpacked = bytearray(zstandard.decompress(images[which]))
        for _ in range(data.draw(st.integers(1, 3))):
            unpacked[data.draw(st.integers(0, len(unpacked) - 1))] = data.draw(st.integers(0, 255))
        images[which] = zstandard.compress(bytes(unpacked))
        self.assert_same(images)

    @pytest.mark.parametrize(
        ("changes", "block"),
        [
            ({}, bytes(7) + b"\x40" + bytes(2)),  # a score by its bits
            ({"scores": [1, "<f8", 255, 1]}, bytes(3)),
            ({"scores": [1, "<f8", 255, 1]}, bytes(4)),  # too long
            ({"scores": [2, "<f8", 255, 1]}, bytes(3)),  # too short
            ({"scores": [1, "<f8", 1e-320, 1]}, b"\xff" * 3),
            ({"scores": [1, "<f8", -255, 1]}, bytes(3)),
            ({"scores": [1, "<f8", 1, 2], "positives": [1, "<i8", 0, 2], "negatives": [1, "<i8", 0, 2]}, bytes(6)),
            ({"scores": [1, "<f8", 1, 1], "positives": [8, "<i8", 0, 1]}, bytes([1, *bytes(7), 128, 0])),
            ({"scores": [1, "<f8", 1, 1], "positives": [8, "<i8", 0, 1]}, bytes([1, *bytes(7), 64, 0])),
            ({"scores": [1, "<f8", 1, 1], "positives": [1, "<i8", 0, 2]}, bytes(4)),
            ({"scores": [1, "<f8", 1, 1], "positives": [1, "<f8", 2, 1]}, bytes(3)),
            ({"scores": [1, "<i8", 1, 1]}, bytes(3)),
            ({"scores": [9, "<f8", 1, 1]}, bytes(11)),
            ({"scores": [1, "<f8", 1, -1]}, bytes(1)),
        ],
    )
    def test_made_by_hand(self, changes, block):
        self.assert_same([encode(COUNTS), packed(arrays(**changes), block), encode(COUNTS)])

    def test_with_ignored_pixels_below_0(self):
        self.assert_same([packed(arrays(scores=[1, "<f8", 1, 1]) | {"ignored": -1}, bytes(3))])


def scored(*scores, called=""):
    """Return counts of two classes, of which the second has all detections."""
    numbers = np.arange(len(scores))
    matched = 2 ** (numbers % 40)
    objects = [[0, 0, 0, 0], [300, 2, 1, 0]]
    none = 0 * numbers
    return ScoredObjectCounts([1, 70000], called, objects, [0, len(scores)], scores, numbers, matched, none, none)


class TestAllImagesAtOnce:
    IMAGES = (
        scored(),
        scored(0.7, 0.3),
        scored(1, 51 / 255, 0, called='["a", "b"]'),
        scored(*np.geomspace(1, 1e-9, 70)),
    )

    @staticmethod
    def assert_same(images):
        encoded = EncodedCounts(
            {str(place): data for place, data in enumerate(images)}, ScoredObjectCounts, "r.segbench"
        )
        try:
            alone = JoinedCounts.of_each([encoded[name] for name in encoded], ScoredObjectCounts)
        except DataError as error:
            with refused(error.kind, DataError, path=error.path, **error.values):
                encoded.joined()
            return
        joined = encoded.joined()
        for name in alone.arrays:
            np.testing.assert_array_equal(joined.arrays[name], alone.arrays[name])
            np.testing.assert_array_equal(joined.sizes[name], alone.sizes[name])
        assert joined.scalars == alone.scalars

    @pytest.mark.parametrize("number", range(len(IMAGES) + 1))
    def test_of_any_kind(self, number):
        self.assert_same([encode(counts) for counts in self.IMAGES[:number]])

    def test_no_image_is_unpacked_alone(self, monkeypatch):
        encoded = EncodedCounts({str(k): encode(counts) for k, counts in enumerate(self.IMAGES)}, ScoredObjectCounts)
        monkeypatch.setattr(EncodedCounts, "__getitem__", None)
        assert encoded.joined().sizes["scores"].tolist() == [0, 2, 3, 70]

    @settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
    @given(data=st.data())
    def test_with_any_change(self, data):
        images = [encode(counts) for counts in self.IMAGES]
        changed = data.draw(st.integers(0, len(images) - 1))
        unpacked = bytearray(zstandard.decompress(images[changed]))
        for _ in range(data.draw(st.integers(1, 3))):
            unpacked[data.draw(st.integers(0, len(unpacked) - 1))] = data.draw(st.integers(0, 255))
        images[changed] = zstandard.compress(bytes(unpacked))
        self.assert_same(images)


class TestRows:
    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("settings", "[1]"),
            ("settings", '{"subset": 7}'),
            ("settings", "{"),
            ("settings", b"\xff\xfe"),
            ("signature", "no parts"),
            ("protocol", "os.system"),
            ("method", b"x"),
            ("notes", '{"a": 1}'),
            ("notes", "[" * 100_000),
            ("measuring", '{"at": ["x"]}'),
            ("measuring", "[0.5]"),
            ("measuring", '{"thresholds": [0.5, null]}'),
            ("assigned", "[]"),
            ("assigned", '{"team": {"by": "folder", "of_images": {}}}'),
            ("assigned", '{"group": {"by": "meta.csv:sky", "of_images": {"first": 7}}}'),
            ("inputs", '{"command": "rm"}'),
            ("inputs", '{"ground_truth": 5}'),
            ("counting", "[]"),
            ("counting", "{}"),
            ("counting", '{"class": "Pixels", "quantize": 7}'),
            ("published", '{"recall": "x"}'),
        ],
    )
    def test_of_runs(self, results, column, value):
        change(results, f"UPDATE runs SET {column} = ?", (value,))  # noqa: S608  our own names
        with refused("damaged-row", DataError, path=str(results)):
            load_results(results)

    @pytest.mark.parametrize(
        ("column", "value"),
        [("counts", "text"), ("label_values", "7"), ("notes", '"x"'), ("seconds", "x"), ("name", b"x")],
    )
    def test_of_images(self, results, column, value):
        change(results, f"UPDATE images SET {column} = ? WHERE name = 'first'", (value,))  # noqa: S608  as above
        with refused("damaged-run", DataError, path=str(results), run="pred") as raised:
            load_results(results)
        assert raised.value.values["reason"].kind == "damaged-row"

    @pytest.mark.parametrize(
        "colours",
        [
            "zz",
            7,
            of_palette([0], ["zz"]),
            of_palette(["a"], ["000000"]),
            of_palette([1, 1], ["00ff00"]),
            of_palette([10**30], ["00ff00"]),
            of_palette([-1], ["00ff00"]),
            of_palette([], []),
        ],
    )
    def test_colours_of_a_palette_that_are_none(self, tmp_path, colours):
        file, labels = tmp_path / "r.segbench", np.arange(12, dtype=np.uint8).reshape(3, 4) % 3
        for side in ("gt", "pred"):
            write_folder(tmp_path / side, {f"{k}.png": labels for k in range(2)})
        evaluate(tmp_path / "gt", tmp_path / "pred", Labels(classes=3), results=file)
        note = Note(Message("palette-indices", "coloured palette: its indices are taken as labels"), "ground truth")
        change(file, "INSERT INTO notes VALUES (?, ?, ?)", reference(note))
        for name, detail in (("0", colours), ("1", of_palette([1], ["00ff00"]))):
            row = json.dumps([[reference(note)[0], detail]])
            change(file, "UPDATE images SET notes = ? WHERE name = ?", (row, name))
        (result,) = load_results(file)
        assert result.image_notes.keys() == {"0", "1"}
        (noted,) = result.notes
        assert (noted.side, noted.kind, noted.images, noted.total) == ("ground truth", "palette-indices", 2, 2)
        assert str(noted).isprintable()

    def test_a_note_that_only_python_can_write(self, results):
        row = reference(Note(Message("given-by", "given by {how}", how=Either("Python", 5))))
        change(results, "INSERT INTO notes VALUES (?, ?, ?)", row)
        change(results, "UPDATE runs SET notes = ?", (json.dumps(row[:1]),))
        with refused("damaged-row", DataError, path=str(results)):
            load_results(results)

    def test_what_a_terminal_would_obey_is_shown_as_text(self, results):
        change(results, "UPDATE runs SET method = ?", ("\x1b[2Jgone",))
        assert load_results(results)[0].method == r"\x1b[2Jgone"


class TestTables:
    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TRIGGER t AFTER INSERT ON images BEGIN DELETE FROM images; END",
            "CREATE VIEW v AS SELECT 1",
            "CREATE TABLE other (x)",
            "ALTER TABLE images ADD COLUMN x AS (length(counts))",
        ],
    )
    def test_beside_ours_are_refused(self, results, statement):
        change(results, statement)
        with refused("other-tables", DataError, path=str(results)):
            load_results(results)

    def test_a_view_in_place_of_a_table_is_never_asked(self, results):
        change(results, "DROP TABLE images")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS run FROM n"
        change(results, f"CREATE VIEW images AS {endless}")
        with refused("other-tables", DataError, path=str(results)):
            load_results(results)

    def test_an_empty_file_is_left_empty(self, tmp_path):
        file = tmp_path / "r.segbench"
        file.touch()
        with refused("empty", DataError, path=str(file)):
            load_results(file)
        assert file.stat().st_size == 0

    def test_names_too_long_for_a_file(self, tmp_path, results):
        long = tmp_path / ("n" * 300)
        with pytest.raises(DataError):
            load_results(long)
        with pytest.raises(DataError):
            segbench.merge_results([results], long)
