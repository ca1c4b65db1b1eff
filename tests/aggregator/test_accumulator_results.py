"""Accumulators that keep their counts in a results file: the same numbers, little memory, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from refusing import refused

from segbench import Accumulator, Anomalies, ArgumentError, DataError, Pixels, ReplacedRun, Setting, load_results


def batches(number=3):
    """Yield masks and float maps of two images each, of which the counts are large."""
    random = np.random.default_rng(0)
    for k in range(number):
        masks = np.zeros((2, 200, 200), bool)
        masks[1, 40:90, 30:80] = True
        maps = random.normal(size=masks.shape).astype(np.float32) + masks
        yield masks, maps, [f"{k}/normal", f"{k}/broken"]


def added(**options):
    accumulator = Accumulator(**options)
    for masks, maps, names in batches():
        accumulator.update(masks, maps, names=names)
    return accumulator


@pytest.mark.parametrize("protocol", [Anomalies(), Anomalies(quantize=None, image_score="top1"), Pixels()])
def test_a_file_gives_the_same(tmp_path, protocol):
    kept = added(protocol=protocol, results=tmp_path / "r").compute()
    held = added(protocol=protocol).compute()
    assert repr(kept.summary) == repr(held.summary)
    assert kept.signature == held.signature
    (stored,) = load_results(tmp_path / "r")
    assert repr(stored.summary) == repr(held.summary)


def test_large_counts_are_not_held(tmp_path):
    sizes = [len(pickle.dumps(added(protocol=Anomalies(), **more))) for more in ({}, {"results": tmp_path / "r"})]
    assert sizes[0] > 300_000
    assert sizes[1] < 5_000


def test_more_may_be_added_after_it_was_computed(tmp_path):
    accumulator = added(protocol=Anomalies(), results=tmp_path / "r")
    first = accumulator.compute()
    masks, maps, _ = next(batches())
    accumulator.update(masks[1], maps[1], name="more")
    assert len(accumulator.compute().counts) == len(first.counts) + 1 == len(load_results(tmp_path / "r")[0].counts)


def test_what_the_set_decided_is_decided_once(tmp_path):
    kept, held = (Accumulator(Pixels(), **more) for more in ({"results": tmp_path / "r"}, {}))
    for number, image in enumerate(([0, 255], [255, 255], [0, 0])):
        for accumulator in (kept, held):
            accumulator.update(image, [0.25, 0.75], name=number)
        found, expected = (dict(accumulator.compute().counts) for accumulator in (kept, held))
        assert found == expected
    assert dict(load_results(tmp_path / "r")[0].counts) == expected


def test_another_accumulator_begins_anew(tmp_path):
    masks, maps, names = next(batches())
    Accumulator(Anomalies(), results=tmp_path / "r").update(masks, maps, names=names)
    again = Accumulator(Anomalies(), results=tmp_path / "r")
    again.update(masks[0], maps[0], name="only")
    again.compute()
    assert list(load_results(tmp_path / "r")[0].counts) == ["only"]


def test_results_read_before_the_file_changed_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr("segbench.aggregator.store._HELD", 0)
    added(protocol=Anomalies(), results=tmp_path / "r").compute()
    (result,) = load_results(tmp_path / "r")
    other = Accumulator(Anomalies(), results=tmp_path / "r")
    masks, maps, _ = next(batches())
    other.update(masks[1], maps[1], name="other")
    with pytest.warns(ReplacedRun):
        other.compute()
    with refused("changed-meanwhile", DataError, path=str(tmp_path / "r"), image="0/broken"):
        result.counts["0/broken"].components  # noqa: B018  which reads the counts


def test_names_that_repeat_are_refused(tmp_path):
    with refused("beside-results", ArgumentError, given=Setting("repeated", "add")):
        Accumulator(results=tmp_path / "r", repeated="add")


def test_pixels_need_names(tmp_path):
    with refused("needs-names", ArgumentError):
        Accumulator(results=tmp_path / "r").update([0, 1], [0.2, 0.9])


class TestReplacing:
    """What the last run saved under a name takes the place of."""

    def saved(self, path, images, *, factor=1.0, **options):
        accumulator = Accumulator(Anomalies(), **options)
        for masks, maps, names in itertools.islice(batches(), images):
            accumulator.update(masks, maps * factor, names=names)
        accumulator.compute(results=path)
        return accumulator

    def test_fewer_images_are_warned_of(self, tmp_path):
        self.saved(tmp_path / "r", 3, method="net")
        with pytest.warns(ReplacedRun) as warned:
            self.saved(tmp_path / "r", 1, method="net")
        (message,) = warned[0].message.args
        assert (message.kind, message.values["run"]) == ("replaced-run", "net")
        assert (message.values["lacking"], message.values["images"]) == (4, 6)
        assert [len(one.counts) for one in load_results(tmp_path / "r")] == [2]

    def test_the_next_epoch_of_a_method_is_not(self, tmp_path):
        for factor in (1, 2):
            self.saved(tmp_path / "r", 2, factor=factor, method="net")
        self.saved(tmp_path / "r", 3, method="net")

    def test_another_accumulator_without_a_name_is_warned_of(self, tmp_path):
        self.saved(tmp_path / "r", 2)
        with pytest.warns(ReplacedRun) as warned:
            self.saved(tmp_path / "r", 2, factor=2)
        (message,) = warned[0].message.args
        assert (message.kind, message.values["run"], message.values["lacking"]) == ("replaced-run", "accumulated", 0)

    def test_the_same_accumulator_without_a_name_is_not(self, tmp_path):
        accumulator = self.saved(tmp_path / "r", 2)
        accumulator.reset()
        for masks, maps, names in itertools.islice(batches(), 2):
            accumulator.update(masks, maps * 2, names=names)
        accumulator.compute(results=tmp_path / "r")
