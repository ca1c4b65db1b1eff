"""Arrays that callers give: masked arrays, and arrays in the byte order of another machine."""

from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from noted import noted
from refusing import refused

import segbench
from segbench import Accumulator, ArgumentError, Boundaries, DataError, Pixels, ScoreCounts

LABELS = np.array([[0, 1, 1, 0], [1, 0, 0, 1]])
SCORES = np.array([[0.2, 0.9, 0.4, 0.1], [0.8, 0.3, 0.6, 0.7]])
SWAPPED = (">i2", ">u2", ">i4", ">u4", ">i8", ">u8", ">f2", ">f4", ">f8", "<i8", "<f8")

# Every public function of pixels, boundaries or regions that has no notion of ignored pixels in this argument.
WHOLE = {
    "valid": lambda a: segbench.count(LABELS, SCORES, valid=a != 0),
    "boundary scores": lambda a: segbench.count(LABELS, a / 9, "boundaries"),
    "boundary truth": lambda a: segbench.count(a > 4, SCORES, "boundaries"),
    "boundary truths": lambda a: segbench.count([LABELS, a > 4], SCORES, "boundaries"),
    "matched prediction": lambda a: segbench.match_boundaries(LABELS, a, 1),
    "matched truth": lambda a: segbench.match_boundaries(a, LABELS, 1),
    "thin": segbench.thin,
    "nms": lambda a: segbench.nms(a / 9),
    "label_boundaries": segbench.label_boundaries,
    "ucm2": lambda a: segbench.count([[1]], np.ma.concatenate([a, a])[:3, :3] * 0.0, "regions"),
    "region valid": lambda a: segbench.count(LABELS, LABELS, "regions", a != 0),
    "scores of counts": lambda a: ScoreCounts(-a[0], [1, 2, 3, 4], [1, 2, 3, 4]),
    "counts": lambda a: ScoreCounts([4, 3, 2, 1], a[0], [1, 2, 3, 4]),
    "points": lambda a: ScoreCounts.from_points(a[0], [1, 2, 3, 4], 9, 9),
    "thresholds": lambda a: ScoreCounts([1.0], [1], [1]).at(a[0]),
    "boundary thresholds": lambda a: segbench.count(LABELS, SCORES, segbench.Boundaries(thresholds=a[0])),
    "boundary counts": lambda a: segbench.BoundaryCounts([1, 2, 3, 4], [0] * 4, a[0], [0] * 4, [0] * 4),
    "recall": lambda a: segbench.from_pr(a[0] / 9, [0.5] * 4, positives=9, negatives=99),
    "accumulated boundaries": lambda a: segbench.Accumulator(Boundaries()).update(LABELS, a / 9, name="a"),
    "accumulated annotators": lambda a: segbench.Accumulator(Boundaries()).update([LABELS, a > 1], SCORES, name="a"),
    "region truths": lambda a: segbench.count([LABELS, a], LABELS, "regions"),
    "accumulated valid": lambda a: segbench.Accumulator().update(LABELS, SCORES, a != 0),
}


def rising():
    return np.ma.array([[1, 2, 3, 4], [5, 6, 7, 8]])


class Unreadable:
    """What NumPy cannot read, as a tensor that lies on a GPU."""

    def __array__(self, *_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy.\nUse Tensor.cpu() first.")


class TestUnreadable:
    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("ground_truth", lambda a: segbench.count(a, SCORES)),
            ("prediction", lambda a: segbench.count(LABELS, a)),
            ("valid", lambda a: segbench.count(LABELS, SCORES, valid=a)),
            ("prediction", lambda a: segbench.count(LABELS, a, "boundaries")),
            ("ground_truth", lambda a: segbench.count(a, LABELS, segbench.Labels(classes=2))),
            ("mask", segbench.thin),
        ],
    )
    def test_the_argument_and_what_to_do_are_named(self, name, call):
        why = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first."
        fix = "give a NumPy array; for a PyTorch tensor, tensor.detach().cpu()"
        with refused("no-array", ArgumentError, argument=name, reason=why, fix=fix) as caught:
            call(Unreadable())
        assert isinstance(caught.value.__cause__, TypeError)

    @pytest.mark.parametrize("kind", ["float32", "bfloat16"])
    def test_tensors_with_gradients_and_of_types_that_numpy_lacks_are_counted(self, kind):
        torch = pytest.importorskip("torch")
        scores = torch.rand(2, 4, requires_grad=True).to(getattr(torch, kind))
        counts = segbench.count(torch.tensor(LABELS), scores)
        assert counts == segbench.count(LABELS, scores.detach().float().numpy())


class TestMasks:
    @pytest.mark.parametrize("call", WHOLE.values(), ids=WHOLE.keys())
    def test_masked_pixels_are_refused_where_nothing_can_be_ignored(self, call):
        masked = rising()
        masked[0, 1] = np.ma.masked
        with pytest.raises(ArgumentError) as raised:
            call(masked)
        assert raised.value.kind in ("masked-values", "masked-stack", "no-field")

    @pytest.mark.parametrize("call", WHOLE.values(), ids=WHOLE.keys())
    def test_a_mask_that_is_false_everywhere_means_nothing(self, call):
        call(np.ma.array(rising().data, mask=np.zeros((2, 4), bool)))

    def test_masked_labels_and_scores_are_ignored_pixels(self):
        labels = np.ma.array(LABELS, mask=[[1, 0, 0, 0], [0, 0, 0, 0]])
        scores = np.ma.array(SCORES, mask=[[0, 1, 0, 0], [0, 0, 0, 0]])
        valid = np.array([[1, 1, 0, 1], [1, 1, 1, 1]], bool)
        counts = segbench.count(labels, scores, valid=valid)
        assert counts.ignored == 3
        left = np.array([[0, 0, 0, 1], [1, 1, 1, 1]], bool)
        assert counts == segbench.count(LABELS, SCORES, valid=left)

    def test_what_lies_under_a_mask_does_not_matter(self):
        labels = np.ma.array([0, 255, 1], mask=[0, 1, 0])
        scores = np.ma.array([0.5, 0.5, np.nan], mask=[0, 0, 1])
        assert segbench.count(labels, scores) == ScoreCounts([0.5], [0], [1], 2)

    def test_the_accumulator_ignores_what_count_ignores(self):
        labels = np.ma.array(LABELS, mask=[[1, 0, 0, 0], [0, 0, 0, 0]])
        scores = np.ma.array(SCORES, mask=[[0, 1, 0, 0], [0, 0, 0, 0]])
        accumulator = segbench.Accumulator()
        accumulator.update(labels, scores, names=["a", "b"])
        result = accumulator.compute()
        assert result.counts["a"] == segbench.count(labels[0], scores[0])
        assert result.counts["b"].ignored == 0

    def test_the_error_says_what_to_do(self):
        with refused("masked-values", ArgumentError, argument="mask", masked=1, total=4):
            segbench.thin(np.ma.array([[1, 1], [1, 1]], mask=[[0, 0], [0, 1]]))


class TestByteOrder:
    @pytest.mark.parametrize("dtype", SWAPPED)
    def test_pixels(self, dtype):
        scores = (SCORES * 10).astype(dtype)
        native = scores.astype(scores.dtype.newbyteorder("="))
        assert segbench.count(LABELS.astype(dtype), scores) == segbench.count(LABELS, native)

    @pytest.mark.parametrize("dtype", SWAPPED)
    @pytest.mark.parametrize("quantize", [None, 8])
    @pytest.mark.filterwarnings("ignore:.* values are levels")
    def test_the_accumulator(self, dtype, quantize):
        scores = (SCORES * (10 if quantize is None or np.dtype(dtype).kind != "f" else 1)).astype(dtype)
        results = []
        for order in (">", "="):
            accumulator = segbench.Accumulator(Pixels(quantize=quantize))
            accumulator.update(LABELS.astype(f"{order}i4"), scores.astype(scores.dtype.newbyteorder(order)), name="a")
            results.append(accumulator.compute().counts["a"])
        assert results[0] == results[1]

    @pytest.mark.parametrize("dtype", [">u2", ">f2", ">f4", ">f8"])
    def test_boundaries(self, dtype):
        top = 65535 if dtype == ">u2" else 1
        soft = (SCORES * top).astype(dtype)
        native = soft.astype(soft.dtype.newbyteorder("="))
        truth = LABELS.astype(">i4")
        assert segbench.count(truth, soft, "boundaries") == segbench.count(LABELS, native, "boundaries")
        assert np.array_equal(segbench.nms(soft), segbench.nms(native))

    def test_masks_and_label_maps(self):
        swapped = LABELS.astype(">i8")
        assert np.array_equal(segbench.thin(swapped), segbench.thin(LABELS))
        assert np.array_equal(segbench.label_boundaries(swapped), segbench.label_boundaries(LABELS))
        assert segbench.count(swapped, swapped, "regions") == segbench.count(LABELS, LABELS, "regions")
        ucm2 = np.zeros((5, 9), ">f8")
        assert segbench.count(swapped, ucm2, "regions") == segbench.count(LABELS, ucm2.astype("f8"), "regions")
        assert segbench.match_boundaries(swapped, swapped, 1).count == 4

    def test_counts(self):
        one = ScoreCounts(np.array([2, 1], ">f4"), np.array([1, 2], ">i4"), np.array([3, 4], ">i8"))
        assert segbench.auc_roc(one + one) == segbench.auc_roc(ScoreCounts([2, 1], [1, 2], [3, 4]))
        assert one.at(np.array([2.0], ">f8")).scores.tolist() == [2.0, -np.inf]


@pytest.mark.parametrize(
    "call",
    [
        lambda a: segbench.count(a, [0.5, 0.5]),
        lambda a: segbench.count([1, 0], a),
        segbench.thin,
        segbench.nms,
        segbench.label_boundaries,
        lambda a: segbench.count(LABELS, a, "boundaries"),
        lambda a: ScoreCounts([2, 1], a, [1, 1]),
    ],
)
def test_lists_of_different_lengths_are_no_array(call):
    with refused("no-array", ArgumentError, fix="give lists of one length"):
        call([[1], [0, 1]])


class TestSignallingNan:
    """A NaN that sets a flag of the processor whenever it is read, of which NumPy makes a warning."""

    PROTOCOLS = (Pixels(), Pixels(invert=True), Pixels(quantize=8), segbench.Saliency(), Boundaries())

    @staticmethod
    def among_scores(kind):
        scores = SCORES.astype(kind)
        scores.view(f"u{scores.itemsize}")[0, 0] = {2: 0x7D00, 4: 0x7FA00000, 8: 0x7FF4 << 48}[scores.itemsize]
        return scores

    @pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
    @pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
    def test_it_is_refused_without_a_warning_among_scores(self, protocol, kind):
        with refused("not-finite", DataError, path="scores of '0'", nan=1, infinite=0):
            segbench.evaluate([(LABELS == 1, self.among_scores(kind))], protocol=protocol)

    @pytest.mark.parametrize("kind", ["f4", "f8"])
    def test_it_is_refused_without_a_warning_among_labels(self, kind):
        with refused("not-a-number", DataError, path="labels of '0'", nan=1):
            segbench.evaluate(
                [(self.among_scores(kind), np.stack([SCORES, SCORES]))], protocol=segbench.Classes(labels=(0, 1))
            )


COUNTING = {
    "pixels": partial(segbench.count, protocol="pixels"),
    "labels": lambda truth, found: segbench.count(truth, found, segbench.Labels(classes=3)),
    "objects": partial(segbench.count, protocol="objects"),
    "components": lambda truth, found: segbench.count(truth, found, segbench.Objects(kind="components")),
    "panoptic": lambda truth, found: segbench.count(
        truth, found, segbench.Objects(kind="panoptic", divisor=10, classes=3)
    ),
    "boundaries": partial(segbench.count, protocol="boundaries"),
    "regions": partial(segbench.count, protocol="regions"),
    "saliency": partial(segbench.count, protocol="saliency"),
    "contours": partial(segbench.count, protocol="contours"),
    "contours of classes": lambda truth, found: segbench.count(truth, found, segbench.Contours(classes=3)),
    "centerlines": partial(segbench.count, protocol="centerlines"),
    "anomalies": partial(segbench.count, protocol="anomalies"),
}
EXTREME = {
    np.float16: (65504, np.inf, np.nan, -1),
    np.float32: (3e38, -3e38, np.inf, 2**24, 0.5),
    np.float64: (1e300, -1e300, 1e-320, np.inf, np.nan, 2.0**63, -(2.0**63)),
    np.longdouble: (1e300, 2.0**64, 1),
    np.int64: (2**63 - 1, -(2**63), 2**53),
    np.uint64: (2**64 - 1, 2**63),
}


class TestNumbersAtTheEndsOfTheirTypes:
    """They are counted, or refused in words; NumPy neither warns, which the tests make an error, nor raises."""

    @pytest.mark.filterwarnings("ignore:.*logits|.*outside the classes:UserWarning")
    @pytest.mark.parametrize("call", COUNTING.values(), ids=COUNTING)
    @pytest.mark.parametrize("dtype", EXTREME)
    def test_no_warning_of_numpy_leaks(self, call, dtype):
        labels = np.zeros((12, 12), np.uint8)
        labels[2:5, 2:5], labels[7:10, 6:11] = 1, 2
        given = [labels.astype(dtype)]
        for value in EXTREME[dtype]:
            given += [np.where(labels == 1, dtype(value), given[0]), np.full_like(given[0], value)]
        for odd in given:
            for pair in ((odd, odd), (labels, odd), (odd, labels)):
                with suppress(segbench.SegbenchError):
                    call(*pair)

    def test_objects_of_half_precision_are_counted(self):
        objects = np.zeros((8, 8), np.float16)
        objects[2:5, 2:5], objects[6, 6] = 1, 2
        assert segbench.count(objects, objects, "objects").metrics()["f1@0.5"] == 1

    def test_labels_beyond_every_table_are_refused_with_their_range(self):
        with refused("far-apart", DataError, path="prediction", lowest=0, highest=1e300):
            segbench.count([0, 1, 2], [0, 1e300, 2], segbench.Labels(classes=3))

    def test_labels_that_begin_high_are_counted(self):
        found = segbench.count(
            [100_000.0, 100_001.0], [100_000.0, 100_000.0], segbench.Labels(classes=[100_000, 100_001])
        )
        assert found.matrix.tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(("full", "dtype"), [(1, "bool"), (255, "uint8"), (65535, "uint16")])
def test_wide_integers_that_would_all_be_0_are_refused(full, dtype):
    edges = np.zeros((9, 9), np.int64)
    edges[4] = full
    with refused("low-levels", DataError, path="scores of 'a'", dtype="int64", highest=full) as raised:
        Accumulator(Boundaries()).update(edges > 0, edges, name="a")
    assert raised.value.hint.values["use"].python == f"floats from 0 to 1 or {dtype}"
    for as_advised in (edges / full, edges.astype(dtype)):
        accumulator = Accumulator(Boundaries())
        accumulator.update(edges > 0, as_advised, name="a")
        assert accumulator.compute().summary["ods_f"] == 1


def test_masks_of_0_and_1_in_levels_are_noted():
    edges = np.zeros((9, 9), np.uint8)
    edges[4] = 1
    accumulator = Accumulator(Boundaries())
    accumulator.update(edges, edges, name="a")
    assert noted(accumulator.compute().notes) == [("", "ones-as-levels", {"dtype": "uint8", "largest": 255})]
