"""The numbers are those that the golden files record, and the comparison notices what breaks a rule."""

import copy
import json
import os

import golden
import pytest

CASE = {"pixels": {"m": {"summary": {"ods_f": 0.5}, "text": {"notes": ["old"]}, "counts": {"a": "1f"}}}}
CASE["pixels"]["m"]["sampled"] = {"ods_f": [0.25, 0.75]}
BSDS500 = pytest.mark.skipif("SEGBENCH_BSDS500" not in os.environ, reason="SEGBENCH_BSDS500 names no folder")


@pytest.mark.parametrize(
    "name",
    [
        *("papers", "contours", "objects"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("demo", "synthetic")),
        pytest.param("bsds500", marks=[pytest.mark.slow, BSDS500]),
    ],
)
def test_numbers_are_those_recorded(name):
    # The C library may round the last bit of a logarithm or a sum differently on another processor.
    # SciPy 1.15 gives quantiles of Student's t, which intervals are made of, with 11 right digits.
    differing = golden.differences(name, golden.record(name), tolerance=1e-10)
    assert [str(difference) for difference in differing if difference.broken] == []


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Record the case."""
    monkeypatch.setattr(golden, "GOLDEN", tmp_path)
    (tmp_path / "demo.json").write_text(golden.as_json(CASE))
    return tmp_path / "demo.json"


@pytest.fixture
def compared(kept):  # noqa: ARG001  the record that is compared with
    """Change an entry, and return the one difference from the record."""

    def change(*entry, value, **options):
        found = copy.deepcopy(CASE)
        place = found["pixels"]["m"]
        for key in entry[:-1]:
            place = place[key]
        place[entry[-1]] = value
        (difference,) = golden.differences("demo", found, **options)
        return difference

    return change


def test_the_file_holds_what_was_computed():
    assert json.loads(golden.as_json(CASE)) == CASE


def test_an_estimate_stays_the_same_to_the_last_bit(compared):
    moved = compared("summary", "ods_f", value=0.5 + 1e-15)
    assert moved.broken
    assert str(moved) == "BROKEN: demo / pixels / m / summary / ods_f: 0.5 -> 0.500000000000001 (9.99e-16)"
    assert not compared("summary", "ods_f", value=0.5 + 1e-15, tolerance=1e-12).broken


def test_an_interval_may_move_by_rounding(compared):
    assert not compared("sampled", "ods_f", value=[0.25, 0.75 + 1e-13]).broken
    assert compared("sampled", "ods_f", value=[0.25, 0.75 + 1e-11]).broken


@pytest.fixture
def changed(kept, monkeypatch, capsys):
    """Run the program on a set whose numbers differ from the record; give what it printed and what is recorded now."""
    found = copy.deepcopy(CASE)
    found["pixels"]["m"]["summary"] = {"ods_f": 0.75, "f_half": 0.25}
    found["pixels"]["m"]["sampled"]["ods_f"] = [0.25, 0.875]
    monkeypatch.setattr(golden, "record", lambda _name: found)

    def run(action):
        monkeypatch.setattr("sys.argv", ["golden.py", action, "demo"])
        with pytest.raises(SystemExit) as stopped:
            golden.main()
        return (
            stopped.value.code,
            capsys.readouterr().out.splitlines(),
            json.loads(kept.read_text()),
        )

    return run, found


def test_writing_lists_every_change_the_largest_first(changed):
    run, found = changed
    code, lines, recorded = run("write")
    assert (code, recorded) == (0, found)
    assert lines == [
        "summary / f_half: 1 difference",
        "  BROKEN: demo / pixels / m / summary / f_half: nothing -> 0.25",
        "summary / ods_f: 1 difference, largest 0.25",
        "  BROKEN: demo / pixels / m / summary / ods_f: 0.5 -> 0.75 (0.25)",
        "sampled / ods_f: 1 difference, largest 0.125",
        "  BROKEN: demo / pixels / m / sampled / ods_f / 1: 0.75 -> 0.875 (0.125)",
        "demo: 3 differences",
    ]


def test_comparing_lists_the_same_and_fails(changed):
    run, _ = changed
    code, lines, recorded = run("compare")
    assert (code, recorded) == ("3 differences break the rules", CASE)
    assert lines == run("write")[1]


def test_a_text_may_be_reworded(compared):
    assert not compared("text", "notes", value=["new"]).broken


def test_counts_and_entries_stay(compared):
    assert compared("counts", "a", value="2f", tolerance=1).broken
    assert compared("summary", "ods_f", value=float("nan"), tolerance=1).broken
    assert compared("summary", "iou", value=0.5, tolerance=1).broken
    assert compared("summary", value={}, tolerance=1).broken


def test_an_exception_needs_a_reason(compared, tmp_path):
    listed = tmp_path / "exceptions.toml"
    listed.write_text('[[exception]]\nentries = "demo / * / ods_f"\nreason = "ties as in the estimate"\n')
    moved = compared("summary", "ods_f", value=0.75)
    assert not moved.broken
    assert str(moved).startswith("ties as in the estimate: demo / pixels / m / summary / ods_f: 0.5 -> 0.75")
    listed.write_text('[[exception]]\nentries = "demo / * / ods_f"\n')
    with pytest.raises(KeyError, match="reason"):
        compared("summary", "ods_f", value=0.75)
