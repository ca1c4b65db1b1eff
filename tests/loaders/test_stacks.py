import numpy as np
import pytest
import tifffile
from refusing import refused

import segbench
from segbench.core.errors import DataError
from segbench.core.messages import Setting
from segbench.loaders.images import decode_stack
from segbench.loaders.source import read_bytes

STACK = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "stored",
    [
        STACK,
        STACK.astype(">u2"),
        STACK.astype("<f2"),
        STACK.astype(">f8"),
        STACK[None],
        np.asfortranarray(STACK),
        STACK[0],
    ],
)
def test_a_stack_is_read_as_stored_in_native_order(tmp_path, stored):
    for path, save in ((tmp_path / "a.npy", np.save), (tmp_path / "a.npz", np.savez_compressed)):
        save(path, stored)
        array = decode_stack(read_bytes(path), path)
        assert array.dtype.isnative
        assert array.tolist() == (STACK[0] if stored.ndim == 2 else STACK).tolist()


def test_signed_levels_become_unsigned(tmp_path):
    np.save(tmp_path / "a.npy", STACK.astype(np.int16))
    assert decode_stack(read_bytes(tmp_path / "a.npy"), tmp_path / "a.npy").dtype == np.uint16


@pytest.mark.parametrize(
    ("stored", "kind", "values"),
    [
        (np.array([[["x"]]], dtype=object), "python-objects", {}),
        (np.zeros(7), "wrong-shape", {"shape": (7,)}),
        (np.zeros((2, 2, 2, 2)), "wrong-shape", {"shape": (2, 2, 2, 2)}),
        (np.zeros((0, 2, 2)), "no-pixels", {"shape": (0, 2, 2)}),
        (np.full((2, 2, 2), -1), "negative-levels", {"smallest": -1}),
        (np.zeros((2, 2, 2), complex), "wrong-type", {"dtype": "complex128"}),
    ],
)
def test_what_is_no_stack_is_refused(tmp_path, stored, kind, values):
    path = tmp_path / "a.npy"
    np.save(path, stored, allow_pickle=True)
    with refused(kind, DataError, path=str(path), **values):
        decode_stack(read_bytes(path), path)


def test_damaged_stacks_are_our_error(tmp_path):
    for path, save in ((tmp_path / "a.npy", np.save), (tmp_path / "a.npz", np.savez)):
        save(path, STACK)
        data = read_bytes(path)
        for cut in range(1, len(data) - 1, 7):
            with pytest.raises(DataError):
                decode_stack(data[:cut], path)
    np.savez(tmp_path / "two.npz", a=STACK, b=STACK)
    with refused("several-arrays", DataError, count=2, names=("a", "b")):
        decode_stack(read_bytes(tmp_path / "two.npz"), tmp_path / "two.npz")


@pytest.mark.parametrize("protocol", ["contours", "labels", "objects", "centerlines", "pixels"])
@pytest.mark.parametrize("name", ["a.npy", "a.tif"])
def test_volumes_in_files_are_refused_with_the_setting_that_reads_them(tmp_path, protocol, name):
    volume = np.zeros((5, 12, 9), np.uint8)
    volume[1:4, 3:6, 2:5] = 1
    for folder in ("gt", "pred"):
        (tmp_path / folder).mkdir()
        if name == "a.npy":
            np.save(tmp_path / folder / name, volume)
        else:
            tifffile.imwrite(tmp_path / folder / name, volume, photometric="minisblack")
    (finding,) = segbench.check(tmp_path / "gt", tmp_path / "pred", protocol).errors
    assert Setting("volumes", True, of="Repairs") in finding.fix.settings
    report = segbench.check(tmp_path / "gt", tmp_path / "pred", protocol, repairs=segbench.Repairs(volumes=True))
    assert "unreadable" not in [finding.kind for finding in report.errors]
