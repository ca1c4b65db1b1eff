"""Numbers on the command line: any that cannot be meant is a clear line and exit code 2."""

import pytest
from cases import write_papers


@pytest.fixture
def places(tmp_path):
    return write_papers(tmp_path)


@pytest.fixture
def results(segbench, tmp_path, places):
    file = tmp_path / "r.segbench"
    assert segbench("run", *places, "-o", file).code == 0
    return file


RUN = [
    ("-p", "boundaries", "--nms", "999999,5,1.01"),
    ("-p", "boundaries", "--nms", "nan,5,1.01"),
    ("-p", "boundaries", "--nms", "inf,5,1.01"),
    ("-p", "boundaries", "--nms", "-1,5,1.01"),
    ("-p", "boundaries", "--nms", "1,-5,1.01"),
    ("-p", "boundaries", "--nms", "1,5,0"),
    ("-p", "boundaries", "--nms", "1,5,nan"),
    ("-p", "boundaries", "--nms", "1,5,inf"),
    ("-p", "boundaries", "--max-dist", "nan"),
    ("-p", "boundaries", "--max-dist", "-1"),
    ("-p", "boundaries", "--max-dist", "1e200"),
    ("-p", "boundaries", "--thresholds", "0"),
    ("-p", "boundaries", "--thresholds", "-1"),
    ("-p", "boundaries", "--thresholds", "nan"),
    ("-p", "boundaries", "--thresholds", "99999999999"),
    ("-p", "boundaries", "--thresholds", "²"),
    ("-p", "boundaries", "--category", "0"),
    ("-p", "regions", "--void", "nan"),
    ("-p", "regions", "--void", "inf"),
    ("-p", "regions", "--void", "-1"),
    ("-p", "regions", "--thresholds", "x"),
    ("--void", "nan"),
    ("--void", "x"),
    ("--classes", "0-x"),
    ("--classes", "0-1", "--void", "nan"),
    ("--positive", "nan"),
    ("--positive", ">=x"),
    ("--scale", "nan"),
    ("--scale", "-1"),
    ("--scale", "1e400"),
    ("-j", "0"),
    ("-j", "-1"),
    ("--intervals", "nan"),
    ("--intervals", "0"),
    ("--intervals", "100"),
    ("--intervals", "x"),
    ("--intervals", "95", "--seed", "-1"),
    ("--intervals", "95", "--replicates", "0"),
    ("--intervals", "95", "--replicates", "99999999999"),
]
SHOW = [
    ("show", "--intervals", "95", "--seed", "-1"),
    ("show", "--intervals", "95", "--seed", "1.5"),
    ("show", "--intervals", "99.99999999999999"),
    ("show", "--intervals", "95", "--replicates", "99999999999"),
    ("show", "--digits", "0"),
    ("show", "--digits", "99"),
    ("compare", "--seed", "-1"),
    ("compare", "--permutations", "0"),
    ("compare", "--permutations", "99999999999"),
    ("compare", "--intervals", "nan"),
    ("plot", "-o", "p.svg", "--intervals", "nan"),
    ("plot", "-o", "p.svg", "--intervals", "95", "--seed", "-1"),
    ("plot", "-o", "p.svg", "--size", "nan,3"),
    ("plot", "-o", "p.svg", "--size", "-1,3"),
    ("plot", "-o", "p.svg", "--size", "1e9,3"),
    ("report", "-o", "p.html", "--intervals", "nan"),
    ("report", "-o", "p.html", "--seed", "-1"),
    ("report", "-o", "p.html", "--replicates", "99999999999"),
    ("overlay", "-o", "out", "--threshold", "nan"),
]


def refused(answer):
    assert answer.code == 2, answer
    assert "Traceback" not in answer.err
    assert "Error" not in answer.err.replace("Error:", "")
    assert answer.err.strip()


@pytest.mark.parametrize("options", RUN, ids=" ".join)
def test_of_a_run(segbench, places, options):
    refused(segbench("run", *places, *options))


@pytest.mark.parametrize("options", SHOW, ids=" ".join)
def test_of_what_is_shown(segbench, results, options, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    verb, *others = options
    refused(segbench(verb, results, *others))


@pytest.mark.parametrize(
    "options",
    [("--radius", "-1"), ("--radius", "999999"), ("--smoothing", "999999"), ("--multiplier", "nan"), ("--bits", "7")],
    ids=" ".join,
)
def test_of_suppression(segbench, places, tmp_path, options):
    refused(segbench("nms", places[1], tmp_path / "thin", *options))


def test_the_line_names_the_option(segbench, places):
    assert "radius is 999999, expected a whole number from 0 to 100" in (
        segbench("run", *places, "-p", "boundaries", "--nms", "999999,5,1.01").err
    )
