import functools
import itertools
import math
import pickle
import sys
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from cases import DEMO, FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, accumulated, demo, write_folder
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

import segbench
from segbench import Accumulator, ArgumentError, Boundaries, DataError, Pixels, Regions, ScoreCounts, count

NAMES = sorted(path.stem for path in (DEMO / "ground_truth").iterdir())


def same(result, other):
    assert dict(result.counts) == dict(other.counts)
    assert str(dict(result.summary)) == str(dict(other.summary))
    assert result.signature == other.signature
    assert result.unnamed == other.unnamed


@pytest.fixture(scope="module")
def evaluated():
    return segbench.evaluate(DEMO / "ground_truth", DEMO / "predictions" / "soft_otsu")


@pytest.fixture(scope="module")
def whole():
    return accumulated(NAMES).compute()


def noise(seed, images, shape=(3, 5), levels=None):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (images, *shape))
    scores = rng.random((images, *shape)) + labels / 4
    return labels, scores if levels is None else np.rint(scores * levels / 2).astype(np.uint8)


@functools.cache
def straight(levels):
    accumulator = Accumulator()
    accumulator.update(*noise(7, 12, levels=255 if levels else None), names=[f"im{k:02}" for k in range(12)])
    return accumulator.compute()


@pytest.mark.parametrize(
    ("scores", "kind", "values"),
    [
        ([[0.0, 200.0]], "outside-unit", {"settings": {"scale": 255}}),
        ([[-4.0, 4.0]], "outside-unit", {"settings": {"scale": "sigmoid"}}),
    ],
)
def test_scores_beyond_one_are_told_what_mends_them(scores, kind, values):
    with refused(kind, DataError, **values):
        Accumulator(Boundaries()).update(np.array([[0, 1]]), np.array(scores), name="a")


def test_wide_integers_are_levels_and_it_is_said():
    accumulator, other = Accumulator(), Accumulator()
    accumulator.update(np.array([[0, 1]]), np.array([[0, 1]], np.uint8), name="a")
    assert accumulator.compute().notes == ()
    other.update(np.array([[0, 1]]), np.array([[0, 1]], np.int64), name="b")
    accumulator.merge(pickle.loads(pickle.dumps(other)))  # noqa: S301
    with warnings.catch_warnings(record=True, action="always") as warned:
        (note,) = accumulator.compute().notes
    assert [str(warning.message) for warning in warned] == [str(note)]
    assert (note.kind, note.values["dtype"], note.values["largest"]) == ("wide-levels", "int64", 2**63 - 1)
    accumulator.reset()
    accumulator.update(np.array([[0, 1]]), np.array([[0.0, 1]]), name="a")
    assert accumulator.compute().notes == ()


class TestAgainstFiles:
    @pytest.mark.slow
    def test_the_demo_gives_the_figures_of_evaluate_to_the_last_bit(self, whole, evaluated):
        assert dict(whole.counts) == dict(evaluated.counts)
        assert dict(whole.summary) == dict(evaluated.summary)
        assert whole.intervals(seed=1)["ods_f"] == evaluated.intervals(seed=1)["ods_f"]
        assert whole.curve.area == evaluated.curve.area

    @pytest.mark.parametrize("protocol", [Boundaries(thresholds=3), Boundaries(nms=(1, 5, 1.01), thresholds=3)])
    def test_boundaries(self, tmp_path, protocol):
        truths, edges = (noise(seed, 4, (20, 30), levels=255) for seed in (0, 1))
        files = [f"im{k}.png" for k in range(4)]
        folders = (
            write_folder(tmp_path / "gt", dict(zip(files, (truths[0] * 255).astype(np.uint8), strict=True))),
            write_folder(tmp_path / "pred", dict(zip(files, edges[1], strict=True))),
        )
        accumulator = Accumulator(protocol)
        accumulator.update(truths[0][:3, None], edges[1][:3, None], names=["im0", "im1", "im2"])
        accumulator.update(truths[0][3], edges[1][3], name="im3")
        expected = segbench.evaluate(*folders, protocol)
        result = accumulator.compute()
        assert dict(result.counts) == dict(expected.counts)
        assert dict(result.summary) == dict(expected.summary)

    def test_several_annotators(self):
        truths, scores = noise(2, 3, (20, 30))
        accumulator = Accumulator(Boundaries(thresholds=4))
        accumulator.update(list(truths), np.clip(scores[0], 0, 1), name="a")
        accumulator.update([list(truths[:2]), truths[2]], np.clip(scores[:2], 0, 1), names=["b", "c"])
        counts = accumulator.compute().counts
        for name, drawn, k in (("a", truths, 0), ("b", truths[:2], 0), ("c", truths[2:], 1)):
            assert counts[name] == segbench.count(
                list(drawn), np.clip(scores[k], 0, 1), segbench.Boundaries(thresholds=4)
            )

    @pytest.mark.parametrize("protocol", [Boundaries(thresholds=4), Regions(thresholds=4)])
    def test_several_annotators_as_an_axis(self, protocol):
        truths, scores = noise(2, 6, (20, 30))
        drawn, scores = truths.reshape(2, 3, 20, 30), np.clip(scores[:2], 0, 1)
        if protocol.name == "regions":
            scores = (5 * scores).astype(int)
        listed = Accumulator(protocol)
        listed.update([list(image) for image in drawn], scores, names=["a", "b"])
        expected = listed.compute()
        for labels in (drawn, list(drawn), drawn.tolist()):
            accumulator = Accumulator(protocol)
            accumulator.update(labels, scores[:, None], names=["a", "b"])
            assert accumulator.compute().signature == expected.signature
            assert dict(accumulator.compute().counts) == dict(expected.counts)
        images = {name: (truth, one) for name, truth, one in zip("ab", drawn, scores, strict=True)}
        assert segbench.evaluate(images, protocol=protocol).signature == expected.signature

    def test_annotators_in_front_of_images_are_refused(self):
        truths, scores = noise(2, 6, (20, 30))
        drawn = truths.reshape(2, 3, 20, 30).swapaxes(0, 1)
        for labels in (drawn, list(drawn)):
            with refused("other-length", ArgumentError, names=2, images=2, truths=3):
                Accumulator(Boundaries()).update(labels, np.clip(scores[:2], 0, 1), names=["a", "b"])

    def test_masks_of_several_annotators_are_refused(self):
        truths, scores = noise(2, 6, (20, 30))
        drawn, predicted = np.ma.masked_array(truths.reshape(2, 3, 20, 30)), (5 * scores[:2]).astype(int)
        drawn[0, 1, 3, 4] = np.ma.masked
        with refused("masked-values", ArgumentError, argument="labels", masked=1, total=3600):
            Accumulator(Regions(thresholds=4)).update(drawn, predicted, names=["a", "b"])
        alone = Accumulator(Regions(thresholds=4))
        alone.update(drawn[:, 1], predicted, names=["a", "b"])
        assert len(alone.compute().counts) == 2

    def test_several_annotators_of_pixels_are_given_image_by_image(self):
        accumulator = Accumulator(Pixels(annotators="each"))
        accumulator.update([np.array([0, 1, 1]), np.array([0, 1, 0])], [0.2, 0.9, 0.2], name="a")
        assert accumulator.compute().counts["a"].positives.tolist() == [2, 1]

    def test_the_data_part_follows_the_ground_truth(self):
        labels, scores = noise(0, 2)

        def data(labels, scores, names=("a", "b")):
            accumulator = Accumulator()
            accumulator.update(labels, scores, names=names)
            return accumulator.compute().data

        assert data(labels, scores) == data(labels > 0, scores / 2)
        assert data(labels, scores) != data(labels, scores, names=("a", "c"))
        assert data(labels, scores) != data(1 - labels, scores)


class TestWhichIsPositive:
    def test_images_of_one_value_are_settled_by_the_others(self):
        one = Accumulator()
        one.update(np.full((2, 2), 255), FIRST_SCORES[:2, :2], name="all")
        one.update(np.zeros((2, 2)), FIRST_SCORES[:2, :2], name="none")
        other = Accumulator()
        other.update(FIRST_TRUTH * 255, FIRST_SCORES, name="both")
        one.merge(other)
        totals = {name: (c.total_positives, c.total_negatives) for name, c in one.compute().counts.items()}
        assert totals == {"all": (4, 0), "both": (5, 11), "none": (0, 4)}

    def test_tiles_of_one_image_are_settled_before_they_are_added(self):
        accumulator = Accumulator(repeated="add")
        accumulator.update([255, 255], [0.9, 0.8], name="tiles")
        accumulator.update([0, 0], [0.1, 0.8], name="tiles")
        accumulator.update([255], [0.1], name="tiles")
        assert accumulator.compute().counts["tiles"] == ScoreCounts([0.9, 0.8, 0.1], [1, 1, 1], [0, 1, 1])

    def test_unnamed_pixels_too(self):
        accumulator = Accumulator()
        for labels in ([3, 3], [0, 0], [0, 3]):
            accumulator.update(labels, [0.9, 0.2])
        assert accumulator.compute().pooled == ScoreCounts([0.9, 0.2], [1, 2], [2, 1])

    def test_a_third_value_is_refused_when_it_comes(self):
        accumulator = Accumulator()
        accumulator.update([0, 1], [0.1, 0.2], name="a")
        with refused("several-values", DataError, count=3, values=(0, 1, 255)):
            accumulator.update([0, 255], [0.1, 0.2], name="b")
        accumulator.update([0, 1], [0.1, 0.2], name="b")
        assert accumulator.compute().summary["positives"] == 2

    def test_one_value_alone_leaves_it_open(self):
        accumulator = Accumulator()
        accumulator.update([0, 0], [0.1, 0.2], name="a")
        with refused("several-values", DataError, count=1):
            accumulator.compute()
        accumulator = Accumulator(Pixels(positive="1"))
        accumulator.update([0, 0], [0.1, 0.2], name="a")
        assert accumulator.compute().summary.undefined["ods_f"].kind == "no-positives"


class TestWithoutNames:
    def test_pixels_are_pooled_and_figures_over_images_say_why_they_are_undefined(self):
        accumulator = Accumulator()
        accumulator.update(FIRST_TRUTH, FIRST_SCORES)
        accumulator.update([SECOND_TRUTH], [SECOND_SCORES])
        result = accumulator.compute()
        assert result.pooled == count(np.stack([FIRST_TRUTH, SECOND_TRUTH]), np.stack([FIRST_SCORES, SECOND_SCORES]))
        assert result.summary["ods_f"] == pytest.approx(14 / 19)
        assert result.curve.area == pytest.approx(0.6531311, abs=1e-7)
        for key in ("ois_f", "ois_precision", "ois_recall", "mean_image_f"):
            assert math.isnan(result.summary[key])
            assert result.summary.undefined[key].kind == "unnamed"
        assert math.isnan(result.intervals()["ods_f"][0])
        assert result.intervals().undefined["ods_f"].kind == "unnamed"
        assert "images:unnamed|" in result.signature
        assert not result.per_image

    def test_some_with_names_are_figures_of_their_own_but_not_of_the_whole(self):
        accumulator = Accumulator()
        accumulator.update(FIRST_TRUTH, FIRST_SCORES, name="first")
        accumulator.update(SECOND_TRUTH, SECOND_SCORES)
        result = accumulator.compute()
        assert result.per_image["first"]["positives"] == 5
        assert result.summary["positives"] == 9
        assert math.isnan(result.summary["ois_f"])
        with refused("needs-names", ArgumentError):
            segbench.compare_results([result, accumulated(NAMES, method="other").compute()])
        assert segbench.tuned_thresholds(result).source.startswith("tuning set of unnamed images")

    def test_of_rounded_scores_what_it_holds_does_not_grow(self):
        accumulator, rng = Accumulator(Pixels(quantize=16)), np.random.default_rng(0)
        labels = rng.random((32, 32)) < 0.3
        sizes = []
        for batch in range(1000):
            accumulator.update(labels, rng.random(labels.shape))
            if batch % 250 == 249:
                sizes.append(len(pickle.dumps(accumulator)))
        pooled = accumulator.compute().pooled
        assert pooled.scores.size <= 2**16
        assert pooled.total_positives + pooled.total_negatives == 1000 * labels.size
        assert max(sizes) < 200_000

    def test_only_pixels_can_do_without(self):
        for protocol in (Boundaries(), Regions()):
            with refused("needs-names", ArgumentError, protocol=protocol.name):
                Accumulator(protocol).update(FIRST_TRUTH, FIRST_SCORES)


class TestSplits:
    @given(st.lists(st.integers(0, 3), max_size=8), st.randoms(use_true_random=False), st.booleans())
    def test_any_split_over_batches_and_workers_is_the_same(self, cuts, order, levels):
        labels, scores = noise(7, 12, levels=255 if levels else None)
        names = [f"im{k:02}" for k in range(12)]
        workers = [Accumulator(), Accumulator(), Accumulator()]
        edges = sorted({0, 12, *(4 * cut + k % 4 for k, cut in enumerate(cuts))})
        for start, stop in itertools.pairwise(edges):
            part = slice(start, stop)
            order.choice(workers).update(labels[part], scores[part], names=names[part])
        order.shuffle(workers)
        first, *others = workers
        for other in others:
            first.merge(other)
        same(first.compute(), straight(levels))

    @given(st.permutations(range(6)))
    def test_unnamed_batches_in_any_order(self, order):
        batches = [noise(seed, 2) for seed in range(6)]
        one, other = Accumulator(), Accumulator()
        for k in order[:3]:
            one.update(*batches[k])
        for k in order[3:]:
            other.update(*batches[k])
        other.merge(one)
        straight = Accumulator()
        straight.update(*(np.concatenate(arrays) for arrays in zip(*batches, strict=True)))
        same(other.compute(), straight.compute())

    def test_pickled_in_another_process_and_merged(self, whole):
        with segbench.process_pool(1) as pool:
            merged = pool.submit(accumulated, NAMES[4:]).result()
            with_torch = pool.submit(eval, "'torch' in __import__('sys').modules").result()
        assert not with_torch  # only tensors need it
        merged.merge(pickle.loads(pickle.dumps(accumulated(NAMES[:4]))))  # noqa: S301  what we just dumped
        same(merged.compute(), whole)

    def test_more_may_be_added_after_computing_and_nothing_is_left_after_reset(self, whole):
        accumulator = accumulated(NAMES[:5])
        before = accumulator.compute()
        for name in NAMES[5:]:
            accumulator.update(*demo(name), name=name)
        same(accumulator.compute(), whole)
        assert len(before.counts) == 5
        accumulator.reset()
        with refused("nothing-added", DataError):
            accumulator.compute()
        accumulator.update([0, 9], [0.1, 0.2], name=NAMES[0])
        assert list(accumulator.compute().counts) == [NAMES[0]]


class TestThreads:
    def test_many_threads_lose_nothing(self):
        batches = [noise(seed, 2, levels=20) for seed in range(30)]
        shared, straight = Accumulator(), Accumulator()
        for k, batch in enumerate(batches):
            straight.update(*batch)
            straight.update(*batch, names=[f"{k}a", f"{k}b"])
        ready = threading.Barrier(6)

        def work(first):
            ready.wait()
            for k in range(first, 30, 6):
                shared.update(*batches[k])
                shared.update(*batches[k], names=[f"{k}a", f"{k}b"])
                shared.compute()

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work, args=(first,)) for first in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        same(shared.compute(), straight.compute())


class TestRepeatedNames:
    def test_an_epoch_counted_twice_is_refused_and_changes_nothing(self, whole):
        accumulator = accumulated(NAMES)
        with refused("counted-before", ArgumentError):
            accumulator.update(*demo(NAMES[0]), name=NAMES[0])
        with refused("counted-before", ArgumentError):
            accumulator.update(*noise(0, 2), names=["new", "new"])
        with refused("counted-before", ArgumentError):
            accumulator.merge(accumulated(NAMES[:1]))
        same(accumulator.compute(), whole)

    def test_samplers_that_repeat_images_count_them_once(self, whole):
        accumulator = accumulated(NAMES[:6], repeated="once")
        accumulator.merge(accumulated([*NAMES[6:], NAMES[0]]))
        same(accumulator.compute(), whole)
        with refused("not-same-image", ArgumentError):
            accumulator.update(*demo(NAMES[1]), name=NAMES[0])
        labels, scores = demo(NAMES[0])
        with refused("not-same-image", ArgumentError):
            accumulator.update(labels[::-1], scores[::-1], name=NAMES[0])

    def test_tiles_are_added(self, whole):
        accumulator = Accumulator(repeated="add")
        for name in NAMES:
            labels, scores = demo(name)
            accumulator.update(labels[:90], scores[:90], name=name)
            accumulator.update(labels[90:], scores[90:], name=name)
        added = accumulator.compute()
        same(replace(added, signature=whole.signature), whole)  # where a tile lies in its image is not known
        assert added.signature.replace(added.data, whole.data) == whole.signature

    def test_tiles_come_in_any_order(self):
        labels, scores = noise(0, 3)
        found = set()
        for order in itertools.permutations(range(3)):
            accumulator = Accumulator(repeated="add")
            for k in order:
                accumulator.update(labels[k], scores[k], name="a")
            found.add(accumulator.compute().signature)
        assert len(found) == 1


@pytest.mark.parametrize(
    "protocol", ["boundaries", "regions", "saliency", "contours", "anomalies", "objects", "centerlines"]
)
def test_tiles_are_refused_where_pixels_depend_on_others(protocol):
    with refused("no-tiles", ArgumentError, protocol=protocol):
        Accumulator(protocol, repeated="add")


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("labels", "scores", "kind", "values"),
        [
            (np.zeros((8, 4, 4)), np.zeros((8, 1, 4, 4)), "axis-of-one", {"taken": "scores[:, 0]"}),
            (
                np.zeros((1, 4, 4)),
                np.zeros((4, 4)),
                "batch-of-one",
                {"taken": "labels[0]", "other": "scores"},
            ),
            (
                np.zeros((4, 4)),
                np.zeros((4, 5)),
                "other-pixels",
                {},
            ),
        ],
    )
    def test_arrays_that_do_not_fit(self, labels, scores, kind, values):
        with refused("other-shape", ArgumentError, shape=labels.shape, expected=scores.shape) as raised:
            Accumulator().update(labels, scores)
        hint = raised.value.values["hint"]
        assert (hint.kind, hint.values) == (kind, values)

    def test_rows_of_different_lengths(self):
        with refused("no-array", ArgumentError, argument="labels"):
            Accumulator().update([[0, 1], [1]], [0.1, 0.2])

    @pytest.mark.parametrize(
        ("options", "kind", "values"),
        [
            ({"name": "a", "names": ["a", "b"]}, "excluding-arguments", {}),
            ({"names": "ab"}, "not-names", {"given": "ab"}),
            ({"names": ["a"]}, "other-length", {"names": 1, "images": 2, "truths": 2}),
            ({"names": ["a", 1.5]}, "not-a-name", {"given": "1.5"}),
            ({"valid": [[True, False]]}, "other-field", {"shape": (1, 2), "dtype": "bool", "expected": (2, 2)}),
            ({"valid": [[1, 0], [1, 1]]}, "other-field", {"dtype": "int64"}),
        ],
    )
    def test_names_and_masks_that_do_not_fit(self, options, kind, values):
        accumulator = Accumulator()
        with refused(kind, ArgumentError, **values):
            accumulator.update([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]], **options)
        with refused("nothing-added", DataError):
            accumulator.compute()

    @pytest.mark.parametrize(
        "protocol",
        ["boundaries", "regions", "saliency"],
    )
    def test_batches_as_one_image(self, protocol):
        batch = np.stack([np.eye(8, dtype=np.uint8)] * 2) * 255
        for labels in (batch, batch[0, 0]):
            with refused("other-shape", ArgumentError):
                Accumulator(protocol).update(labels, labels, name="a")

    def test_volumes_of_saliency(self):
        volumes = np.full((1, 3, 8, 8), 255, np.uint8)
        with refused("other-shape", ArgumentError, shape=(1, 3, 8, 8)):
            Accumulator("saliency").update(volumes, volumes, names=["a"])

    @pytest.mark.parametrize("protocol", ["saliency", "anomalies"])
    def test_several_maps_for_one_ground_truth(self, protocol):
        truth = np.eye(8, dtype=np.uint8) * 255
        with refused("other-size", DataError, size=(2, 8, 8), expected=(8, 8)):
            Accumulator(protocol).update(truth, np.stack([truth] * 2), name="a")

    def test_valid_that_does_not_fit_an_image(self):
        mask = np.eye(8, dtype=bool)
        for valid in (mask[:3], mask.astype(np.uint8)):
            with refused("other-field", ArgumentError, shape=valid.shape, dtype=str(valid.dtype), expected=(8, 8)):
                Accumulator("labels").update(mask, mask, valid, name="a")

    def test_no_axis_of_images(self):
        with refused("other-length", ArgumentError, names=1, images=0, truths=0):
            Accumulator().update(1, 0.5, names=["a"])

    def test_a_bad_image_leaves_out_its_whole_batch_and_is_named(self):
        accumulator = Accumulator()
        with refused("not-finite", DataError, path="scores of 'b'", nan=1, infinite=1):
            accumulator.update([[0, 1], [0, 1]], [[0.1, 0.2], [math.nan, math.inf]], names=["a", "b"])
        with refused("several-values", DataError, path="labels of 'b'", count=3):
            accumulator.update([[0, 1, 0], [0, 1, 2]], np.zeros((2, 3)), names=["a", "b"])
        with refused("nothing-added", DataError):
            accumulator.compute()

    def test_options(self):
        for name, value in (("repeated", "twice"), ("count_on", "gpu")):
            with refused("wrong-value", ArgumentError, argument=name, value=repr(value)):
                Accumulator(**{name: value})
        with refused("unknown-protocol", ArgumentError, name="'no such'"):
            Accumulator(protocol="no such")
        with refused("from-files", ArgumentError):
            Accumulator(segbench.Annotators(settings=Boundaries()))

    def test_merging_what_was_counted_otherwise_or_itself(self):
        accumulator = Accumulator()
        with refused("other-settings", ArgumentError):
            accumulator.merge(Accumulator(Pixels(void=(255,))))
        with refused("with-itself", ArgumentError):
            accumulator.merge(accumulator)

    def test_a_field_of_view_of_boundaries(self):
        with refused("no-field", ArgumentError):
            Accumulator(Boundaries()).update(FIRST_TRUTH, FIRST_SCORES, FIRST_TRUTH > 0, name="a")


class TestSettings:
    @pytest.mark.parametrize("protocol", ["labels", "contours", "anomalies", "centerlines", "regions"])
    def test_masked_pixels_are_left_out_as_those_outside_valid(self, protocol):
        mask = np.eye(8, dtype=bool)
        truth, predicted = mask | mask.T[::-1], mask.copy()
        predicted[2:4, 5] = True
        masked, valid = Accumulator(protocol), Accumulator(protocol)
        masked.update(np.ma.masked_array(truth, mask[::-1]), predicted, name="a")
        valid.update(truth, predicted, ~mask[::-1], name="a")
        assert masked.compute().counts["a"] == valid.compute().counts["a"]

    def test_saliency_maps_of_one_channel(self):
        truth, scores = np.eye(8) * 255, np.random.default_rng(0).random((8, 8))
        batch, one = Accumulator("saliency"), Accumulator("saliency")
        batch.update(truth[None, None], scores[None, None], names=["a"])
        one.update(truth, scores, name="a")
        assert batch.compute().summary == one.compute().summary

    def test_void_and_valid_are_ignored(self):
        accumulator = Accumulator(Pixels(void=(255,)))
        valid = np.array([[True, True, False]])
        accumulator.update([[0, 1, 1]], [[0.1, 0.9, math.nan]], valid, names=["a"])
        accumulator.update([0, 1, 255], [0.1, 0.9, math.nan], name="b")
        summary = accumulator.compute().summary
        assert (summary["positives"], summary["negatives"], summary["ignored"]) == (2, 2, 2)

    def test_what_it_holds_is_shown(self):
        accumulator = Accumulator(method="net")
        accumulator.update([0, 1], [0.2, 0.3])
        assert repr(accumulator).startswith("<Accumulator 'net' of Pixels(")
        assert repr(accumulator).endswith("0 images and unnamed pixels>")


class TestResultsFiles:
    @pytest.mark.parametrize(
        "protocol", [Pixels(), Boundaries(thresholds=3), Pixels(quantize=8)], ids=["pixels", "boundaries", "8 bits"]
    )
    def test_what_is_saved_is_what_was_computed(self, tmp_path, protocol):
        labels, scores = noise(3, 12, (8, 9), levels=255)
        accumulator = Accumulator(protocol, method="net")
        accumulator.update(labels, scores, names=range(12))
        result = accumulator.compute(results=tmp_path / "r.segbench")
        same(result, accumulator.compute())
        (read,) = segbench.load_results(tmp_path / "r.segbench")
        same(read, result)
        assert read.method == "net"

    def test_methods_are_side_by_side_and_an_epoch_replaces_the_last(self, tmp_path):
        for method, epoch in (("a", 1), ("b", 1), ("a", 2)):
            accumulator = Accumulator(method=method)
            labels, _ = noise(1, 3)
            accumulator.update(labels, noise(epoch, 3)[1], names=["x", "y", "z"])
            saved = accumulator.compute(results=tmp_path / "r.segbench")
        found = {read.method: read for read in segbench.load_results(tmp_path / "r.segbench")}
        assert list(found) == ["a", "b"]
        same(found["a"], saved)


class TestDLPack:
    def test_whatever_speaks_dlpack_is_read(self):
        class Capsule:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        accumulator, plain = Accumulator(), Accumulator()
        labels, scores = noise(3, 4)
        accumulator.update(Capsule(labels[::2]), Capsule(scores[::2]), names=["a", "b"])
        plain.update(labels[::2], scores[::2], names=["a", "b"])
        same(accumulator.compute(), plain.compute())

    def test_what_lies_on_another_device_is_refused_by_name(self):
        class Elsewhere:
            def __dlpack__(self, **options):
                raise BufferError("data are on a device")

            def __dlpack_device__(self):
                return (2, 0)

        with refused("unreadable-array", ArgumentError, name="labels", type="Elsewhere", reason="data are on a device"):
            Accumulator().update(Elsewhere(), [0.1])


def test_nested_lists_of_numbers_are_one_array_and_no_annotators():
    accumulator = Accumulator(Boundaries())
    accumulator.update([[0, 1]], np.zeros((1, 2)), name="a")
    assert accumulator.compute().counts["a"].total_gt[0] == 1
    with refused("other-shape", ArgumentError, name="labels", shape=(4,)):
        accumulator.update([np.zeros(4), np.zeros(4)], np.zeros((1, 2)), name="b")
