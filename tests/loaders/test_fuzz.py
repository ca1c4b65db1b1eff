"""Whatever the bytes, a file is read or refused with a DataError that names it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusing import result_or_error

from segbench.core.errors import DataError
from segbench.loaders.images import EXTENSIONS, decode
from segbench.loaders.listing import SampleFiles
from segbench.loaders.reading import BOUNDARIES, MASKS, REGIONS, RawFiles, decode_sample

from .encoders import GREY8, GREY16, MASK, cell, mat, npy, sound_files

SOUND = {name: data for name, (data, _) in sound_files().items()}
SOUND |= {
    "truth.mat": mat(groundTruth=cell(*[{"Boundaries": MASK, "Segmentation": GREY16}] * 2)),
    "segs.mat": mat(segs=cell(GREY16, GREY16)),
    "ucm2.mat": mat(ucm2=np.zeros((39, 47))),
}
ROLES = st.sampled_from(["prediction", "ground truth", "field"])
READS = st.sampled_from([MASKS, BOUNDARIES, REGIONS])
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def survives(data, name, role):
    found = result_or_error(lambda: decode(data, Path(name), role=role).array)
    if isinstance(found, DataError):
        assert found.path == name
        assert str(found).isprintable()
    else:
        assert found.ndim == 2
        assert found.size
        assert found.dtype.kind in "biuf"
        assert found.flags.c_contiguous


@SETTINGS
@given(data=st.binary(min_size=1, max_size=400), extension=st.sampled_from(EXTENSIONS), role=ROLES)
def test_random_bytes(data, extension, role):
    survives(data, f"a{extension}", role)


@st.composite
def damaged(draw, data):
    """Cut a file short, or change, insert or drop a few bytes, more often near its start where headers are."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.one_of(st.integers(0, min(len(changed), 200) - 1), st.integers(0, len(changed) - 1)))
        how = draw(st.sampled_from(["flip", "set", "insert", "drop", "cut"]))
        if how == "flip":
            changed[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "set":
            changed[at] = draw(st.sampled_from([0, 1, 127, 128, 254, 255]))
        elif how == "insert":
            changed[at:at] = draw(st.binary(min_size=1, max_size=4))
        elif how == "drop" and len(changed) > 4:
            del changed[at : at + draw(st.integers(1, 3))]
        elif how == "cut" and at:
            del changed[at:]
    return bytes(changed) or b"\0"


@pytest.mark.parametrize("name", SOUND)
@SETTINGS
@given(choose=st.data())
def test_damaged_files(name, choose):
    survives(choose.draw(damaged(SOUND[name])), name, choose.draw(ROLES))


@pytest.mark.parametrize("name", ["truth.mat", "segs.mat", "ucm2.mat"])
@SETTINGS
@given(choose=st.data())
def test_damaged_mat_files_as_truth_and_prediction(name, choose):
    data = choose.draw(damaged(SOUND[name]))
    good = npy(GREY8)
    for truth, prediction in [((data, name), (good, "b.npy")), ((good, "a.npy"), (data, name))]:
        files = SampleFiles("a", (Path(truth[1]),), Path(prediction[1]))
        raw = RawFiles(files, {Path(name): content for content, name in (truth, prediction)})
        reads = choose.draw(READS)
        found = result_or_error(lambda raw=raw, reads=reads: decode_sample(raw, reads))
        if isinstance(found, DataError):
            assert found.path.startswith((name, "b.npy"))
        else:
            assert found.ground_truths
            assert found.predictions
