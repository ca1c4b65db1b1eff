"""Data sets, loaders and processes of PyTorch, against the arrays that they hold."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from refusing import refused

from segbench import Accumulator, ArgumentError, Boundaries, Contours, Labels, Pixels, Saliency, evaluate, load_results

torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset  # noqa: E402  see above

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
RNG = np.random.default_rng(0)
TRUTHS = RNG.random((5, 8, 9)) < 0.3
SCORES = RNG.random(TRUTHS.shape).astype(np.float32)


class Pairs(Dataset):
    """Pairs of ground truth and scores, with an index."""

    def __len__(self):
        return len(TRUTHS)

    def __getitem__(self, image):
        return torch.from_numpy(TRUTHS[image]), torch.from_numpy(SCORES[image])


class Stream(IterableDataset):
    """The same, one after another."""

    def __iter__(self):
        return iter(zip(TRUTHS, SCORES, strict=True))


def arrays(images=range(5)):
    return [(TRUTHS[image], SCORES[image]) for image in images]


@pytest.mark.parametrize(
    "images",
    [
        Pairs(),
        TensorDataset(torch.from_numpy(TRUTHS), torch.from_numpy(SCORES)),
        TensorDataset(torch.from_numpy(TRUTHS)[:, None], torch.from_numpy(SCORES)[:, None]),
        DataLoader(Pairs()),
        DataLoader(Pairs(), batch_size=2),
        DataLoader(Pairs(), batch_size=None),
        DataLoader(TensorDataset(torch.from_numpy(TRUTHS)[:, None], torch.from_numpy(SCORES)[:, None]), batch_size=3),
        DataLoader(Stream(), batch_size=2),
        DataLoader(Pairs(), batch_size=2, collate_fn=lambda pairs: tuple(zip(*pairs, strict=True))),
        Stream(),
    ],
)
def test_data_sets_and_loaders_hold_images(images):
    result = evaluate(images)
    assert result.to_dict() == evaluate(arrays()).to_dict()
    assert list(result.counts) == ["0", "1", "2", "3", "4"]


def test_parts_of_data_sets():
    chosen = [3, 1]
    assert evaluate(Subset(Pairs(), chosen)).to_dict() == evaluate(arrays(chosen)).to_dict()
    assert evaluate(DataLoader(Pairs(), 2, sampler=chosen)).to_dict() == evaluate(arrays(chosen)).to_dict()


@pytest.mark.parametrize(
    ("loader", "numbers"),
    [
        (DataLoader(Pairs(), batch_size=2), [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]),
        (DataLoader(Stream(), batch_size=2), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]),
    ],
)
def test_progress_is_in_images(loader, numbers):
    done = []
    evaluate(loader, progress=lambda *of_all: done.append(of_all))
    assert done == numbers


def test_loaders_of_label_maps_take_stacks_of_scores():
    labels = RNG.integers(0, 3, (4, 6, 7))
    stacks = RNG.random((4, 3, 6, 7))
    loader = DataLoader(TensorDataset(torch.from_numpy(labels), torch.from_numpy(stacks)), batch_size=2)
    expected = evaluate(zip(labels, stacks, strict=True), protocol=Labels(classes=3))
    assert evaluate(loader, protocol=Labels(classes=3)).to_dict() == expected.to_dict()


def test_a_loader_of_something_else_is_refused():
    loader = DataLoader([{"labels": labels, "scores": scores} for labels, scores in Pairs()], batch_size=2)
    with refused("not-arrays", ArgumentError, type="dict"):
        evaluate(loader)
    with refused("not-arrays", ArgumentError, type="list"):
        evaluate(DataLoader(TensorDataset(torch.from_numpy(TRUTHS)), batch_size=2))


def test_results_of_loaders_are_saved(tmp_path):
    result = evaluate(DataLoader(Pairs(), batch_size=2), method="net", results=tmp_path / "net.segbench")
    assert load_results(tmp_path / "net.segbench")[0].to_dict() == result.to_dict()


@pytest.mark.parametrize("protocol", [Pixels(), Labels(), Contours(), Saliency(), Boundaries(thresholds=3)])
@pytest.mark.parametrize("device", DEVICES)
def test_gradients_and_half_precision(protocol, device):
    needs_masks = isinstance(protocol, (Labels, Contours))
    scores = torch.from_numpy((SCORES > 0.5).astype(np.float32) if needs_masks else SCORES).to(device, torch.bfloat16)
    truths = torch.from_numpy(TRUTHS).to(device)
    result = evaluate(zip(truths, scores.requires_grad_(), strict=True), protocol=protocol)
    rounded = scores.detach().float().numpy(force=True)
    assert result.to_dict() == evaluate(zip(TRUTHS, rounded, strict=True), protocol=protocol).to_dict()


WORKER = textwrap.dedent("""
    import pickle, sys
    import torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, DistributedSampler
    from segbench import Accumulator, Pixels

    rank, store, arrays, out = int(sys.argv[1]), *sys.argv[2:]
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    truths, scores = torch.load(arrays)
    sampler = DistributedSampler(range(len(truths)), shuffle=False)
    accumulator = Accumulator(Pixels(), method="net", repeated="once")
    for indices in DataLoader(range(len(truths)), batch_size=2, sampler=sampler):
        accumulator.update(truths[indices], scores[indices], names=indices)
    gathered = [None, None]
    dist.all_gather_object(gathered, accumulator)
    for other in gathered[1:]:
        gathered[0].merge(other)
    if rank == 0:
        gathered[0].compute(results=out)
    dist.destroy_process_group()
""")


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch was built without torch.distributed")
def test_two_processes_gather_what_one_counts(tmp_path):
    torch.save((torch.from_numpy(TRUTHS), torch.from_numpy(SCORES)), tmp_path / "arrays.pt")
    places = [str(tmp_path / name) for name in ("store", "arrays.pt", "net.segbench")]
    ranks = [subprocess.Popen([sys.executable, "-c", WORKER, str(rank), *places]) for rank in (0, 1)]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    (gathered,) = load_results(places[-1])
    alone = Accumulator(method="net")
    alone.update(TRUTHS, SCORES, names=range(5))  # of which the sampler gave one to both processes
    assert gathered.to_dict() == alone.compute().to_dict()
