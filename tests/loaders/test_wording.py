"""The sentences of loaders that users read most, as Python and as the command line write them."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from cases import write_folder
from loaders.encoders import COLOUR8, GREY8, MASK, cell, mat, npy, npz, pillow, png_of
from wording import texts_of_refusal

from segbench.loaders.file_list import as_images, read_list
from segbench.loaders.images import decode
from segbench.loaders.listing import list_archive
from segbench.loaders.matlab import annotators, read_mat
from segbench.loaders.pairing import Inputs, pair
from segbench.loaders.reading import Repairs
from segbench.loaders.source import read_bytes


def of_file(data, name):
    """Return what reads a file of these bytes as a prediction."""
    return lambda: decode(data, Path(name), role="prediction")


def of_folders(truths, predictions, **patterns):
    """Return what pairs two folders of masks with these names."""

    def run():
        for side, names in (("gt", truths), ("pred", predictions)):
            write_folder(Path(side), dict.fromkeys((f"{name}.png" for name in names), MASK))
        pair(Inputs(ground_truth="gt", prediction="pred", **patterns)).require_complete()

    return run


def of_list(*lines):
    """Return what reads a list of pairs."""

    def run():
        Path("pairs.csv").write_text("\n".join(lines))
        read_list("pairs.csv", "prediction")

    return run


def of_archive():
    """List an archive with a link and a locked member."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("locked.png", b"aaaa")
    raw = bytearray(data.getvalue())
    raw[raw.index(b"PK\1\2") + 8] |= 1
    Path("a.zip").write_bytes(raw)
    list_archive("a.zip")


TRANSPARENT = np.dstack([COLOUR8, np.where(np.arange(GREY8.size).reshape(GREY8.shape) < 2, 254, 255)]).astype(np.uint8)
SAID = {
    "transparent": (
        of_file(pillow(TRANSPARENT, "PNG"), "a.png"),
        (
            "a.png: 2 of 437 pixels are not opaque, so their value is unknown; flatten it onto a background, "
            "or save it without transparency"
        ),
    ),
    "other format": (
        of_file(pillow(GREY8, "JPEG"), "a.png"),
        "a.png: looks like JPEG although its name says PNG; rename or convert it",
    ),
    "a web page": (
        of_file(b"<!DOCTYPE html><html>not found</html>", "a.png"),
        (
            "a.png: looks like HTML or XML although its name says PNG; download it again if a server sent a "
            "page instead of it, or convert it"
        ),
    ),
    "a pointer": (
        of_file(b"version https://git-lfs.github.com/spec/v1\noid", "a.npy"),
        "a.npy: is a Git LFS pointer, not the file itself; fetch the files: git lfs pull in its repository",
    ),
    "garbage": (
        of_file(b"garbage, nothing else", "a.png"),
        "a.png: is not a PNG file (starts with b'garbage,'); write the file again",
    ),
    "colours in 16 bits": (
        of_file(png_of(np.dstack([GREY8.astype(np.uint16)] * 3)), "a.png"),
        "a.png: colour or transparency in 16 bits; save it in grey, or with 8 bits",
    ),
    "another maximum": (
        of_file(b"P5 2 1 15\n\x03\x04", "a.pgm"),
        "a.pgm: declares the maximum 15, expected 255, or 65535 in grey; save it as PNG",
    ),
    "a volume": (
        of_file(npy(np.zeros((4, 5, 6))), "a.npy"),
        (
            "a.npy: shape (4, 5, 6) and type float64, expected one prediction of shape (H, W); for one map "
            "per class use Labels(classes=...) or Classes(...); if it is a volume, give "
            "repairs=Repairs(volumes=True); otherwise save one map per file"
        ),
        (
            "a.npy: shape (4, 5, 6) and type float64, expected one prediction of shape (H, W); for one map "
            "per class use segbench labels or segbench pixels with --classes; if it is a volume, give --volumes; "
            "otherwise save one map per file"
        ),
    ),
    "truncated": (
        of_file(npy(GREY8)[:-7], "a.npy"),
        "a.npy: truncated: 430 of 437 values are there; write the file again",
    ),
    "several arrays": (
        of_file(npz(a=GREY8, b=MASK), "a.npz"),
        "a.npz: 2 arrays (a, b), expected one; name the one to read 'prediction'",
    ),
    "complex numbers": (
        of_file(npy(np.zeros((4, 5), complex)), "a.npy"),
        "a.npy: values of type complex128, expected booleans, integers or floats of up to 64 bits",
    ),
    "no struct": (
        lambda: annotators(read_mat(mat(other=GREY8), "a.mat"), "a.mat", "Segmentation"),
        "a.mat: has no groundTruth, only other; check that this is the file meant",
    ),
    "no map": (
        lambda: annotators(read_mat(mat(groundTruth=cell({"Boundaries": MASK})), "a.mat"), "a.mat", "Segmentation"),
        "a.mat: annotator 1 has no map Segmentation; expected a struct as in BSDS500",
    ),
    "no sets": (
        of_file(mat(segs=cell(GREY8)), "a.mat"),
        "a.mat: 0 of the variables (segs) are maps, expected one; choose the boundaries or regions protocol",
    ),
    "MATLAB 7.3": (
        lambda: read_mat(b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "a.mat"),
        "a.mat: is a MAT-file of version 7.3 (HDF5), expected version 5; save it with -v7 in MATLAB",
    ),
    "no file": (lambda: read_bytes(Path("none.png")), "none.png: there is no such file; check the path"),
    "no folder": (
        lambda: pair(Inputs(ground_truth="none", prediction="none")),
        "none: there is no such folder; check the path",
    ),
    "an archive": (
        of_archive,
        (
            "a.zip: 1 of its members cannot be read:\n  locked.png is encrypted\n"
            "-> pack the files themselves (tar --dereference --hard-dereference), stored or deflated, "
            "without a password"
        ),
    ),
    "a pattern": (
        of_folders(["1_gt", "2_gt"], ["1", "2"]),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  1_gt\n  2_gt\n"
            "2 predictions have no ground truth:\n  1\n  2\n-> try gt_pattern='*_gt'"
        ),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  1_gt\n  2_gt\n"
            "2 predictions have no ground truth:\n  1\n  2\n-> try --gt-pattern '*_gt'"
        ),
    ),
    "several patterns": (
        of_folders(["a", "b"], ["a-edge", "a-pred", "b-edge", "b-pred"]),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  a\n  b\n"
            "4 predictions have no ground truth:\n  a-edge\n  a-pred\n  b-edge\n  b-pred\n"
            "-> name the files that are meant: pred_pattern='*-edge', or pred_pattern='*-pred'"
        ),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  a\n  b\n"
            "4 predictions have no ground truth:\n  a-edge\n  a-pred\n  b-edge\n  b-pred\n"
            "-> name the files that are meant: --pred-pattern '*-edge', or --pred-pattern '*-pred'"
        ),
    ),
    "a list is needed": (
        of_folders(["A", "B"], ["a", "b"]),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  A\n  B\n"
            "2 predictions have no ground truth:\n  a\n  b\n"
            "-> names differ only in upper and lower case: rename the files of one side, or list which "
            "belong together: pairs=..."
        ),
        (
            "pred against gt: 2 of 2 ground truths have no prediction:\n  A\n  B\n"
            "2 predictions have no ground truth:\n  a\n  b\n"
            "-> names differ only in upper and lower case: rename the files of one side, or list which "
            "belong together: --pairs"
        ),
    ),
    "one is missing": (
        of_folders("abc", "ab"),
        (
            "pred against gt: 1 of 3 ground truths has no prediction:\n  c\n"
            "-> add or remove files so that names pair, or say which part of a file's name is the image's: "
            "gt_pattern=... and pred_pattern=..., or list which belong together: pairs=...; "
            "allow_missing=True leaves out images without a prediction"
        ),
        (
            "pred against gt: 1 of 3 ground truths has no prediction:\n  c\n"
            "-> add or remove files so that names pair, or say which part of a file's name is the image's: "
            "--gt-pattern and --pred-pattern, or list which belong together: --pairs; --allow-missing leaves "
            "out images without a prediction"
        ),
    ),
    "others": (
        of_folders("ab", "abc"),
        (
            "pred against gt: 1 prediction has no ground truth:\n  c\n"
            "-> add or remove files so that names pair, or say which part of a file's name is the image's: "
            "gt_pattern=... and pred_pattern=..., or list which belong together: pairs=...; images=... "
            "restricts the run to the images named, here those with a ground truth"
        ),
        (
            "pred against gt: 1 prediction has no ground truth:\n  c\n"
            "-> add or remove files so that names pair, or say which part of a file's name is the image's: "
            "--gt-pattern and --pred-pattern, or list which belong together: --pairs; --images restricts the "
            "run to the images named, here those with a ground truth"
        ),
    ),
    "numbers": (
        of_folders([f"im_{k}" for k in range(12)], [f"im_{k}" for k in range(1, 13)]),
        (
            "pred against gt: 1 of 12 ground truths has no prediction:\n  im_0 (nearest: im_12)\n"
            "1 prediction has no ground truth:\n  im_12\n"
            "-> the numbers of ground truth seem to be one lower than those of predictions; compare an image "
            "with its prediction, and if they are: rename the files of one side, or list which belong "
            "together: pairs=..."
        ),
        (
            "pred against gt: 1 of 12 ground truths has no prediction:\n  im_0 (nearest: im_12)\n"
            "1 prediction has no ground truth:\n  im_12\n"
            "-> the numbers of ground truth seem to be one lower than those of predictions; compare an image "
            "with its prediction, and if they are: rename the files of one side, or list which belong "
            "together: --pairs"
        ),
    ),
    "annotators or sequences": (
        of_folders(["bear/1", "bear/2", "camel/1", "camel/2"], ["1", "2"]),
        (
            "pred against gt: 4 of 4 ground truths have no prediction:\n  bear/1\n  bear/2\n  camel/1\n"
            "  camel/2\n2 predictions have no ground truth:\n  1\n  2\n"
            "-> if bear, camel are annotators of the same images: gt_pattern='#/*'; otherwise name the files "
            "that are meant: gt_pattern='bear/*', or gt_pattern='camel/*'"
        ),
        (
            "pred against gt: 4 of 4 ground truths have no prediction:\n  bear/1\n  bear/2\n  camel/1\n"
            "  camel/2\n2 predictions have no ground truth:\n  1\n  2\n"
            "-> if bear, camel are annotators of the same images: --gt-pattern '#/*'; otherwise name the "
            "files that are meant: --gt-pattern 'bear/*', or --gt-pattern 'camel/*'"
        ),
    ),
    "methods": (
        of_folders(["a", "b"], ["hed/a", "hed/b", "rcf/a", "rcf/b"]),
        (
            "pred: holds the predictions of 2 methods in sub-folders: hed, rcf; call evaluate once per "
            "sub-folder, as in pred/hed"
        ),
        (
            "pred: holds the predictions of 2 methods in sub-folders: hed, rcf; give each sub-folder as a "
            "method, as in pred/hed"
        ),
    ),
    "an impossible pattern": (
        of_folders("a", "a", gt_pattern="name"),
        "gt_pattern='name' has 0 *, expected one, in place of the image's name",
        "--gt-pattern name has 0 *, expected one, in place of the image's name",
    ),
    "a pattern that fits nothing": (
        of_folders("a", "a", gt_pattern="*_mask"),
        (
            "gt: none of 1 file matches the pattern '*_mask' (the first is 'a'); in a pattern * is the "
            "image's name; the extension may be left out"
        ),
    ),
    "columns": (
        of_list("name;ground_truth;prediction"),
        (
            "pairs.csv: no column 'name' and no column 'ground_truth' and no column 'prediction' (columns: "
            "name;ground_truth;prediction); columns are name, ground_truth, prediction or prediction:METHOD, "
            "and optionally field, separated by commas"
        ),
    ),
    "lines": (
        of_list("name,ground_truth,prediction", "a,g.png,", ",g.png,p.png"),
        (
            "pairs.csv: 5 problems:\n  line 2: no prediction\n  line 2: FOLDER/g.png: there is no such file\n"
            "  line 3: no name\n  line 3: FOLDER/g.png: there is no such file\n"
            "  line 3: FOLDER/p.png: there is no such file\n"
            "-> correct the list; its paths are relative to FOLDER; allow_missing=True leaves out images "
            "without a prediction"
        ),
        (
            "pairs.csv: 5 problems:\n  line 2: no prediction\n  line 2: FOLDER/g.png: there is no such file\n"
            "  line 3: no name\n  line 3: FOLDER/g.png: there is no such file\n"
            "  line 3: FOLDER/p.png: there is no such file\n"
            "-> correct the list; its paths are relative to FOLDER; --allow-missing leaves out images "
            "without a prediction"
        ),
    ),
    "no names": (
        lambda: as_images([]),
        "images is empty, expected names or patterns of images, as in ['coins', 'c*'], or None",
        "--images is empty, expected names or patterns of images, as in coins,c*",
    ),
    "no file of names": (
        lambda: as_images("none.txt"),
        "none.txt: there is no such file; images is a text file of names, or several names: images=['coins', 'c*']",
        "none.txt: there is no such file; --images is a text file of names, or several names: --images 'coins,c*'",
    ),
    "a resizing": (
        lambda: Repairs(resize="cubic"),
        "resize='cubic' is not a resizing method; choose nearest or bilinear",
        "--resize-predictions 'cubic' is not a resizing method; choose nearest or bilinear",
    ),
    "repairs": (
        lambda: Repairs(resize="nearest", crop=True),
        "resize=... and crop=True exclude each other; give one",
        "--resize-predictions and --crop exclude each other; give one",
    ),
}


@pytest.mark.parametrize("case", SAID.values(), ids=SAID)
def test_the_sentence(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, python, *options = case
    said = [text.replace(str(tmp_path), "FOLDER") for text in texts_of_refusal(run)]
    assert said == [python, options[0] if options else python]
