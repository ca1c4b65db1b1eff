"""Texts that repositories hold in place of large files are named, with the command that fetches these."""

import numpy as np
import pytest
from cases import write_folder

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
    answer = segbench("labels", truth, predictions)
    assert answer.code == 1
    assert (
        f"1.{suffix}: is {what}, not the file itself"
        in answer.err + segbench("check", "labels", truth, predictions).out
    )
    assert f"fetch the files: {command} in its repository" in answer.err
    assert "rename" not in answer.err


@pytest.mark.parametrize("name", ["pred.zip", "pred.tar.gz", "pairs.csv"])
def test_a_pointer_in_place_of_an_archive_or_a_list(segbench, tmp_path, name):
    truth = write_folder(tmp_path / "gt", {"0.npy": np.eye(8, dtype=np.uint8)})
    (tmp_path / name).write_bytes(LFS)
    given = ("--pairs", tmp_path / name) if name == "pairs.csv" else (truth, tmp_path / name)
    answer = segbench("labels", *given)
    assert answer.code in (1, 2)
    assert f"{name}: is a Git LFS pointer, not the file itself" in answer.err
    assert "git lfs pull" in answer.err


def test_a_web_page_in_place_of_a_map(segbench, tmp_path):
    truth = write_folder(tmp_path / "gt", {"0.npy": np.eye(8, dtype=np.uint8)})
    (tmp_path / "pred").mkdir()
    (tmp_path / "pred" / "0.png").write_bytes(b"<!DOCTYPE html><title>404</title>")
    answer = segbench("labels", truth, tmp_path / "pred")
    assert "0.png: looks like HTML or XML although its name says PNG" in answer.err
    assert "download it again if a server sent a page instead of it" in answer.err
