import pytest
from measuring import duration, factor, in_turn, machine, markdown, paired, times_as_long, today, versions


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(123.4, "123 s"), (12.34, "12 s"), (1.234, "1.2 s"), (0.1234, "123 ms"), (1.234e-3, "1.2 ms"), (4e-5, "0.04 ms")],
)
def test_durations_keep_two_digits(seconds, written):
    assert duration(seconds) == written


def test_ratios_keep_two_digits():
    assert [factor(ratio) for ratio in (123.4, 12.34, 1.234, 0.1234)] == ["123 x", "12 x", "1.2 x", "0.12 x"]


def test_ratios_are_taken_round_by_round():
    assert times_as_long([2.0, 30.0, 8.0], [1.0, 10.0, 2.0]) == 3.0
    assert times_as_long([2.0], [1.0, 100.0]) == 2.0


def test_calls_take_turns():
    calls = []
    taken = in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=2)
    assert calls == ["a", "b", "a", "b"]
    assert {name: len(each) for name, each in taken.items()} == {"a": 2, "b": 2}
    calls.clear()
    pair = paired(lambda: calls.append("ours"), lambda: calls.append("other"), rounds=3)
    assert calls == ["ours", "other"] * 3
    assert pair.ratio > 0


def test_tables_and_descriptions():
    assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert "cores" in machine()
    assert today().endswith("UTC")
    assert versions(["numpy", "no-such-package"]).count(",") == 1
