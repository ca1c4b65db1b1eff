"""Texts that repositories hold in place of large files are named, with the command that fetches these."""

import numpy as np
import pytest
from cases import write_folder
from refusing import within

from segbench import FailedImages, Labels, evaluate

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1234\n"
ANNEX = b"/annex/objects/MD5E-s1234--0cc175b9c0f1b6a831c399e269772661.png\n"


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "npy", "npz", "mat", "pgm"])
@pytest.mark.parametrize(
    ("text", "what", "command"),
    [(LFS, "a Git LFS pointer", "git lfs pull"), (ANNEX, "a git-annex pointer", "git annex get .")],
)
def test_a_pointer_in_place_of_a_map(segbench, tmp_path, suffix, text, what, command):
    truth = write_folder(tmp_path / "gt", {f"{k}.npy": np.eye(8, dtype=np.uint8) for k in range(2)})
    predictions = write_folder(tmp_path / "pred", {"0.npy": np.eye(8, dtype=np.uint8)})
    (predictions / f"1.{suffix}").write_bytes(text)
    with pytest.warns(FailedImages):
        (failure,) = evaluate(truth, predictions, Labels(classes=2)).failed.values()
    assert (failure.path, failure.kind, failure.values) == (
        str(predictions / f"1.{suffix}"),
        "pointer",
        {"pointer": what},
    )
    assert failure.hint.values == {"command": command}
    answer = segbench("labels", truth, predictions)
    assert answer.code == 1
    assert str(failure.hint) in answer.err


@pytest.mark.parametrize("name", ["pred.zip", "pred.tar.gz", "pairs.csv"])
def test_a_pointer_in_place_of_an_archive_or_a_list(segbench, tmp_path, name):
    truth = write_folder(tmp_path / "gt", {"0.npy": np.eye(8, dtype=np.uint8)})
    (tmp_path / name).write_bytes(LFS)
    given = ("--pairs", tmp_path / name) if name == "pairs.csv" else (truth, tmp_path / name)
    answer = segbench("labels", *given)
    assert answer.code == 1
    assert answer.error.path == str(tmp_path / name)
    assert within(answer.error, "pointer") == {"pointer": "a Git LFS pointer"}
    assert within(answer.error, "fix") == {"command": "git lfs pull"}


def test_a_web_page_in_place_of_a_map(tmp_path):
    truth = write_folder(tmp_path / "gt", {"0.npy": np.eye(8, dtype=np.uint8)})
    (tmp_path / "pred").mkdir()
    (tmp_path / "pred" / "0.png").write_bytes(b"<!DOCTYPE html><title>404</title>")
    with pytest.warns(FailedImages):
        (failure,) = evaluate(truth, tmp_path / "pred", Labels(classes=2)).failed.values()
    assert (failure.path, failure.kind) == (str(tmp_path / "pred" / "0.png"), "other-format")
    assert failure.values == {"found": "HTML or XML", "expected": "PNG"}
