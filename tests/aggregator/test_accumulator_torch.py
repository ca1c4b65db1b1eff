"""PyTorch tensors, counted by its own operations on the CPU and on a GPU if there is one, against NumPy arrays."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused

from segbench import Accumulator, ArgumentError, DataError, Labels, Pixels

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
LABELS = ("bool", "uint8", "uint16", "int64", "float32", "bfloat16")
SCORES = ("bool", "uint8", "uint16", "uint32", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
PROTOCOLS = (
    Pixels(),
    Pixels(invert=True),
    Pixels(positive="1", void=(0, 7)),
    Pixels(void=(0,), positive="1,2", invert=True),
)


def tensors(seed, label_type, score_type, shape=(2, 9, 7), device="cpu"):
    rng = np.random.default_rng(seed)
    labels = torch.from_numpy(rng.integers(0, 2, shape)).to(getattr(torch, label_type))
    numbers = rng.normal(0, 1, shape).round(1) if "float" in score_type else rng.integers(0, 100, shape)
    scores = torch.from_numpy(numbers).to(getattr(torch, score_type))
    return labels.to(device), scores.to(device), rng.random(shape) < 0.8


def plain(tensor):
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)


def same(accumulator, other):
    """Compare all that is held, to the last byte."""
    one, two = (pickle.loads(pickle.dumps(held)).__getstate__() for held in (accumulator, other))  # noqa: S301  our own
    assert one["counts"] == two["counts"]


@pytest.mark.parametrize("device", DEVICES)
@given(
    st.integers(0, 1000), st.sampled_from(LABELS), st.sampled_from(SCORES), st.sampled_from(PROTOCOLS), st.booleans()
)
@settings(max_examples=50)
def test_torch_operations_count_what_numpy_counts(device, seed, label_type, score_type, protocol, masked):
    labels, scores, valid = tensors(seed, label_type, score_type, device=device)
    by_torch, on_host, by_numpy = (
        Accumulator(protocol, count_on="device"),
        Accumulator(protocol, count_on="host"),
        Accumulator(protocol),
    )
    mask = torch.from_numpy(valid).to(device) if masked else None
    for given_names in ({}, {"names": ["a", "b"]}):
        by_torch.update(labels, scores, mask, **given_names)
        on_host.update(labels, scores, mask, **given_names)
        by_numpy.update(plain(labels), plain(scores), valid if masked else None, **given_names)
    same(by_torch, by_numpy)
    same(on_host, by_numpy)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("quantize", [None, 8, 16])
@pytest.mark.parametrize("score_type", ["float16", "float32", "float64"])
@pytest.mark.parametrize("device", DEVICES)
def test_scores_of_networks(device, invert, quantize, score_type):
    rng = np.random.default_rng(5)
    labels = rng.random((2, 300, 300)) < 0.2
    scores = (1 / (1 + np.exp(-rng.normal(0, 8, labels.shape)))).astype(score_type)
    scores[0, :4] = np.array([[-0.0], [0.0], [1.0], [127.5 / 255]])
    protocol = Pixels(invert=invert, quantize=quantize)
    by_torch, by_numpy = (Accumulator(protocol, count_on=on) for on in ("device", "host"))
    truth, soft = (torch.from_numpy(array).to(device) for array in (labels, scores))
    by_torch.update(truth, soft, names=["a", "b"])
    by_torch.update(truth, soft)
    by_numpy.update(labels, scores, names=["a", "b"])
    by_numpy.update(labels, scores)
    same(by_torch, by_numpy)


@pytest.mark.parametrize("device", ["device", "host"])
def test_scores_outside_0_to_1_are_not_rounded(device):
    accumulator = Accumulator(Pixels(quantize=8), count_on=device)
    with refused("outside-unit", DataError, path="scores", settings={"scale": "sigmoid"}, lowest=-2, highest=3):
        accumulator.update(torch.tensor([0, 1]), torch.tensor([-2.0, 3.0]))


@pytest.mark.parametrize("count_on", ["auto", "device", "host"])
@pytest.mark.parametrize("device", DEVICES)
def test_gradients_strides_and_mixed_arrays(device, count_on):
    labels, scores, valid = tensors(3, "int64", "float32", device=device)
    accumulator, expected = Accumulator(count_on=count_on), Accumulator()
    turned = scores.transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    accumulator.update(labels, turned * 1, names=torch.arange(2))
    accumulator.update(plain(labels)[:, ::-1], scores.flip(1), valid[:, ::-1])
    expected.update(plain(labels), plain(scores), names=["0", "1"])
    expected.update(plain(labels), plain(scores), valid)
    same(accumulator, expected)
    assert turned.grad is None


@pytest.mark.parametrize("count_on", ["auto", "device"])
@pytest.mark.parametrize("device", DEVICES)
def test_errors_are_those_of_arrays(device, count_on):
    accumulator = Accumulator(count_on=count_on)
    labels = torch.tensor([[0, 1], [0, 1]], device=device)
    with refused("not-finite", DataError, path="scores of 'b'", nan=1, infinite=1):
        accumulator.update(labels, torch.tensor([[0.1, 0.2], [math.nan, -math.inf]], device=device), names=["a", "b"])
    with refused("several-values", DataError, path="labels", count=3, values=(0, 1, 2)):
        accumulator.update(torch.tensor([0, 1, 2]), torch.rand(3, device=device))
    with refused("not-a-number", DataError, path="labels", nan=1):
        accumulator.update(torch.tensor([0, math.nan]), torch.rand(2, device=device))
    with refused("no-numbers", DataError, path="scores") as raised:
        accumulator.update(torch.tensor([0, 1]), torch.zeros(2, dtype=torch.complex64, device=device))
    assert "complex64" in raised.value.values["dtype"]
    with refused("other-shape", ArgumentError) as raised:
        accumulator.update(torch.zeros(2, 3, 3), torch.zeros(2, 1, 3, 3))
    assert raised.value.values["hint"].values == {"taken": "scores[:, 0]"}
    with refused("other-field", ArgumentError, shape=(2,), expected=(2,)) as raised:
        accumulator.update(labels[0], torch.rand(2), labels[0])
    assert "int64" in raised.value.values["dtype"]
    with refused("unreadable-array", ArgumentError, name="labels", type="Tensor"):
        accumulator.update(labels.to("meta"), torch.rand(2, 2, device="meta"))
    with refused("nothing-added", DataError):
        accumulator.compute()


@pytest.mark.parametrize("device", DEVICES)
def test_no_pixel_counts(device):
    by_torch, by_numpy = Accumulator(count_on="device"), Accumulator()
    nothing = np.zeros((2, 3), bool)
    by_torch.update(torch.ones(2, 3), torch.rand(2, 3, device=device), torch.from_numpy(nothing), names=["a", "b"])
    by_numpy.update(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), nothing, names=["a", "b"])
    same(by_torch, by_numpy)
    assert by_torch.compute().summary["ignored"] == 6


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
@pytest.mark.parametrize("count_on", ["auto", "device", "host"])
@pytest.mark.parametrize("score_type", ["float32", "float64", "bfloat16", "int64", "uint8"])
@pytest.mark.parametrize("device", DEVICES)
def test_logits_are_reduced_where_they_lie(device, count_on, score_type):
    rng = np.random.default_rng(0)
    truth = rng.choice([0, 1, 2, 255], (2, 7, 9))
    stack = torch.from_numpy(rng.integers(0, 4, (2, 3, 7, 9))).to(device, getattr(torch, score_type))  # with ties
    valid = rng.random(truth.shape) < 0.8
    protocol = Labels(classes=3, pred_map="0=1,1=0")
    by_torch, by_numpy = Accumulator(protocol, count_on=count_on), Accumulator(protocol)
    by_torch.update(torch.from_numpy(truth), stack, torch.from_numpy(valid), names=["a", "b"])
    last = stack[0].permute(1, 2, 0)
    if score_type == "uint8":
        with refused("colour-or-scores", DataError, path="scores of 'c'", classes=3):
            by_torch.update(torch.from_numpy(truth[0]), last, name="c")
        last = last.to(torch.int16)
    by_torch.update(torch.from_numpy(truth[0]), last, name="c")
    by_torch.update(torch.from_numpy(truth), stack[:, :1], names=["d", "e"])  # labels, with an axis of one channel
    by_numpy.update(truth, plain(stack), valid, names=["a", "b"])
    by_numpy.update(truth[0], plain(stack[0]), name="c")
    by_numpy.update(truth, plain(stack[:, 0]), names=["d", "e"])
    same(by_torch, by_numpy)
    (note,) = by_torch.compute().notes  # of 'd' and 'e'
    assert (note.side, note.kind) == ("prediction", "labels-outside")
    assert by_torch.compute().counts["c"].matrix.sum() == (truth[0] != 255).sum()


@pytest.mark.parametrize("count_on", ["auto", "device"])
@pytest.mark.parametrize("device", DEVICES)
def test_logits_that_are_no_numbers_or_of_another_shape(device, count_on):
    accumulator = Accumulator(Labels(classes=3), count_on=count_on)
    broken = torch.zeros(3, 2, 3, device=device)
    broken[1, :, 2] = math.nan
    with refused("not-a-number", DataError, path="scores of 'a'", nan=2):
        accumulator.update(torch.zeros(2, 3), broken, name="a")
    with refused("other-size", DataError, shape=(4, 2, 3), first=(3, 2, 3), last=(2, 3, 3)):
        accumulator.update(torch.zeros(2, 3), torch.zeros(4, 2, 3), name="a")
    with refused("other-size", DataError, shape=(2, 2), expected=(2, 3)):
        accumulator.update(torch.zeros(2, 3), torch.zeros(2, 2), name="a")


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_of_a_boundary_benchmark_are_counted_on_the_host(device):
    from segbench import Boundaries

    labels, scores, _ = tensors(1, "uint8", "uint8", (2, 1, 12, 15), device)
    one, other = Accumulator(Boundaries(thresholds=3), count_on="device"), Accumulator(Boundaries(thresholds=3))
    one.update(labels, scores, names=["a", "b"])
    other.update(plain(labels), plain(scores), names=["a", "b"])
    same(one, other)
