"""File lists: which columns there are, what is read, and every problem with its line."""

from pathlib import Path

import pytest
from noted import noted

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
    for method, found in [(None, "none is named"), ("other", "not 'other'")]:
        with pytest.raises(ArgumentError, match=f"holds the methods hed, rcf; {found}"):
            column_of(place, method)
    alone = write("name,ground_truth,prediction:hed")
    assert column_of(alone, None) == column_of(alone, "hed") == "prediction:hed"
    with pytest.raises(ArgumentError, match="holds the methods hed; not 'rcf'"):
        column_of(alone, "rcf")


def test_two_columns_of_one_method(write):
    place = write("name,ground_truth,prediction,prediction:A", name="A.csv")
    with pytest.raises(DataError, match="'prediction' and 'prediction:A' are both for the method 'A'"):
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
    with pytest.raises(DataError) as caught:
        read(place)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"{place}: 9 problems:"
    assert [line.split(":")[0].strip() for line in lines[1:10]] == [
        "line 3", "line 4", "line 5", "line 5", "line 7", "line 8", "line 9", "line 9", "line 10",
    ]  # fmt: skip
    for what in ("2 cells, expected 3", "no name", "no ground_truth", "no prediction", "'a' occurs twice",
                 "files/g2.txt has no known extension", r"files/\x00.png: there is no such file"):  # fmt: skip
        assert what in str(caught.value)
    many = write("name,ground_truth,prediction", *(f"{i},no.png,no.png" for i in range(300)))
    with pytest.raises(DataError, match="600 problems") as caught:
        read(many)
    assert "and 590 more" in str(caught.value)
    assert str(caught.value).count("\n") == 12


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], "is empty"),
        ([""], "is empty"),
        (["\n"], "holds no line"),
        (["name,prediction"], r"no column 'ground_truth' \(columns: name, prediction\)"),
        (["name;ground_truth;prediction"], "no column 'name'.*separated by commas"),
        (["name,name,ground_truth,prediction"], "two columns 'name'"),
        (["name,ground_truth,prediction"], "lists no image"),
        (["name,ground_truth,prediction", '"a'], "line 2: unexpected end of data"),
    ],
)
def test_lists_that_are_none(write, lines, found):
    with pytest.raises(DataError, match=found):
        read(write(*lines))


def test_lists_that_are_no_text(write):
    with pytest.raises(DataError, match="is not in UTF-8"):
        read(write("näme", encoding="latin-1"))
    with pytest.raises(DataError, match=r"has no column of predictions \(columns: name\)"):
        method_columns(write("name"))
