"""Numbers on the command line: any that cannot be meant is a clear line and exit code 2."""

import pytest
from refusing import insist


@pytest.fixture
def results(segbench, tmp_path, papers):
    file = tmp_path / "r.segbench"
    assert segbench("pixels", *papers, "-o", file).code == 0
    return file


RUN = """
boundaries --nms 999999,5,1.01
boundaries --nms nan,5,1.01
boundaries --nms 1,-5,1.01
boundaries --nms 1,5,0
boundaries --max-dist nan
boundaries --max-dist 1e200
boundaries --thresholds -1
boundaries --thresholds 99999999999
boundaries --thresholds ²
boundaries --category 0
regions --void inf
regions --void -1
regions --thresholds x
pixels --void nan
pixels --classes 0-x
pixels --classes 0-1 --void nan
pixels --positive nan
pixels --positive >=x
pixels --scale nan
pixels --scale 1e400
pixels -j -1
pixels --intervals nan
pixels --intervals 100
"""
SHOW = """
show --intervals 99.99999999999999
show --digits 0
show --digits 99
compare --seed -1
compare --replicates 0
compare --replicates 99999999999
compare --seed 1.5
compare --intervals nan
plot -o p.svg --size nan,3
plot -o p.svg --size 1e9,3
report -o p.html --intervals nan
overlay -o out --threshold nan
"""


def refused(answer):
    assert answer.code == 2, answer
    assert "Traceback" not in answer.err
    assert "Error" not in answer.err.replace("Error:", "")
    assert answer.err.strip()


@pytest.mark.parametrize("line", RUN.strip().splitlines())
def test_of_a_run(segbench, papers, line):
    verb, *others = line.split()
    refused(segbench(verb, *papers, *others))


@pytest.mark.parametrize("line", SHOW.strip().splitlines())
def test_of_what_is_shown(segbench, results, line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    verb, *others = line.split()
    refused(segbench(verb, results, *others))


@pytest.mark.parametrize(
    "options",
    [("--radius", "-1"), ("--radius", "999999"), ("--multiplier", "nan"), ("--bits", "7")],
    ids=" ".join,
)
def test_of_suppression(segbench, papers, tmp_path, options):
    refused(segbench("nms", papers[1], tmp_path / "thin", *options))


def test_the_line_names_the_option(segbench, papers):
    answer = segbench("boundaries", *papers, "--nms", "999999,5,1.01")
    insist(answer.error, "wrong-value", argument="radius", value="999999", expected="a whole number from 0 to 100")
