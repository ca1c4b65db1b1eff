"""File lists: which columns there are, what is read, and every problem with its line."""

from pathlib import Path

import pytest
from noted import noted, problems_of
from refusing import refused

from segbench.core.errors import ArgumentError, DataError
from segbench.loaders.file_list import column_of, method_columns
from segbench.loaders.pairing import Inputs, pair


@pytest.fixture
def write(tmp_path):
    for name in ("g1.png", "g2.png", "h1.png", "p1.npy", "p2.npy", "q1.npy", "q2.npy", "m.png"):
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files" / name).write_bytes(b"x")

    def write(*lines, name="pairs.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes("\n".join(lines).encode(encoding))
        return str(path)

    return write


def read(place, column="prediction"):
    return pair(Inputs(pairs=place, column=column)).require_complete()


def inside(tmp_path, *sources):
    return [Path(source).relative_to(tmp_path / "files").name for source in sources]


def test_one_method(write, tmp_path):
    place = write(
        "prediction,name,ground_truth,split",
        f"files/p2.npy,b,{tmp_path}/files/g2.png,test",
        "",
        'files/../files/p1.npy,"a, the first",files/g1.png,test',
        encoding="utf-8-sig",
    )
    pairing = read(place)
    assert [file.name for file in pairing.files] == ["a, the first", "b"]
    assert [file.prediction.name for file in pairing.files] == ["p1.npy", "p2.npy"]
    assert noted(pairing.notes) == [("", "columns-left-out", {"place": str(place), "columns": ("split",)})]
    assert method_columns(place) == {"pairs": "prediction"}
    assert column_of(place, None) == column_of(place, "any name") == "prediction"


def test_backslashes_are_slashes_unless_there_is_such_a_file(write, tmp_path):
    (tmp_path / "files\\p1.npy").write_bytes(b"x")
    place = write(
        "name,ground_truth,prediction", r"val\a,files\g1.png,files\p1.npy", r"val\b,files\g2.png,files\p2.npy"
    )
    first, second = read(place).files
    assert (first.name, second.name) == ("val/a", "val/b")
    assert first.prediction == f"{tmp_path}/files\\p1.npy"
    assert inside(tmp_path, *first.ground_truths, second.prediction) == ["g1.png", "p2.npy"]


def test_annotators_scales_and_fields(write, tmp_path):
    place = write(
        "name,ground_truth,ground_truth,ground_truth:third,prediction,prediction,field",
        "a,files/g1.png,files/h1.png,,files/p1.npy,files/q1.npy,files/m.png",
        "b,,,files/g2.png,files/p2.npy,,files/m.png",
    )
    first, second = read(place).files
    assert inside(tmp_path, *first.ground_truths) == ["g1.png", "h1.png"]
    assert inside(tmp_path, *second.ground_truths, second.field) == ["g2.png", "m.png"]
    assert inside(tmp_path, first.prediction, *first.scales) == ["p1.npy", "q1.npy"]
    assert second.scales == ()
    alone = read(place, None).files
    assert inside(tmp_path, alone[0].prediction) == ["g1.png"]


def test_several_methods(write, tmp_path):
    place = write("name,ground_truth,prediction:hed,prediction:rcf", "a,files/g1.png,files/p1.npy,files/q1.npy")
    assert method_columns(place) == {"hed": "prediction:hed", "rcf": "prediction:rcf"}
    assert inside(tmp_path, read(place, column_of(place, "rcf")).files[0].prediction) == ["q1.npy"]
    for method in (None, "other"):
        with refused("unknown-method", ArgumentError, methods=("hed", "rcf"), method=method):
            column_of(place, method)
    alone = write("name,ground_truth,prediction:hed")
    assert column_of(alone, None) == column_of(alone, "hed") == "prediction:hed"
    with refused("unknown-method", ArgumentError, methods=("hed",), problem="not 'rcf'", method="rcf"):
        column_of(alone, "rcf")


def test_two_columns_of_one_method(write):
    place = write("name,ground_truth,prediction,prediction:A", name="A.csv")
    with refused("repeated-column", DataError, first="prediction", second="prediction:A", method="A"):
        method_columns(place)


def test_every_problem_is_said_at_once_with_its_line(write):
    place = write(
        "name,ground_truth,prediction",
        "a,files/g1.png,files/p1.npy",
        "b,files/g2.png",
        ",files/g2.png,files/p2.npy",
        "c,,",
        '"two\nlines",files/none.png,files/p2.npy',
        "a,files/g2.png,files/p2.npy",
        "e,files/g2.txt,files",
        "f,files/\0.png,files/p2.npy",
    )
    with refused("wrong-lines", DataError, path=place, count=9) as caught:
        read(place)
    files = Path(place).parent / "files"
    assert problems_of(caught.value) == [
        (3, "other-length", {"found": 2, "expected": 3}),
        (4, "empty-cell", {"lacking": "name"}),
        (5, "empty-cell", {"lacking": "ground_truth"}),
        (5, "empty-cell", {"lacking": "prediction"}),
        (7, "missing", {"file": str(files / "none.png")}),
        (8, "repeated-name", {"name": "a"}),
        (9, "unknown-extension", {"file": str(files / "g2.txt")}),
        (9, "unknown-extension", {"file": str(files)}),
        (10, "missing", {"file": str(files / r"\x00.png")}),
    ]
    many = write("name,ground_truth,prediction", *(f"{i},no.png,no.png" for i in range(300)))
    with refused("wrong-lines", DataError, count=600) as caught:
        read(many)
    assert len(problems_of(caught.value)) == 600
    written = str(caught.value).splitlines()
    assert len(written) == 13
    assert sum("590" in line for line in written) == 1


@pytest.mark.parametrize(
    ("lines", "kind", "values"),
    [
        ([], "empty", {}),
        ([""], "empty", {}),
        (["\n"], "empty", {}),
        (["name,prediction"], "wrong-columns", {"missing": ("ground_truth",), "columns": ("name", "prediction")}),
        (["name;ground_truth;prediction"], "wrong-columns", {"missing": ("name", "ground_truth", "prediction")}),
        (["name,name,ground_truth,prediction"], "wrong-columns", {"missing": (), "repeated": ("name",)}),
        (["name,ground_truth,prediction"], "no-images", {}),
        (["name,ground_truth,prediction", '"a'], "wrong-line", {"line": 2, "reason": "unexpected end of data"}),
    ],
)
def test_lists_that_are_none(write, lines, kind, values):
    with refused(kind, DataError, **values):
        read(write(*lines))


def test_lists_that_are_no_text(write):
    with refused("not-utf-8", DataError, byte=1, expected="a CSV file"):
        read(write("näme", encoding="latin-1"))
    with refused("missing-column", DataError, missing=("prediction",), columns=("name",)):
        method_columns(write("name"))
