import os
from pathlib import Path

import pytest
from cases import write_texts
from refusing import refused

from segbench import BoundaryCurve, DataError
from segbench.protocols.boundaries.curve import measured
from segbench.verification.published import published_part

CURVES = os.environ.get("SEGBENCH_CURVES")
ROWS = "0.25 0.5 0.4 0.444444\n0.75 0.3 0.75 0.428571\n"
CURVE = BoundaryCurve([0.25, 0.75], [0.5, 0.3], [0.4, 0.75])


def best(*, area=None):
    ods = measured(CURVE)
    keys = ("ods_threshold", "ods_recall", "ods_precision", "ods_f")
    figures = (*(ods[key] for key in keys), 0.35, 0.5, 0.411765, ods["area_pr"])
    return " ".join(f"{value:.6g}" for value in (*figures[:-1], figures[-1] if area is None else area))


def checks_of(folder):
    return published_part(folder).checks()


def test_what_follows_from_the_rows(tmp_path):
    checks = checks_of(
        write_texts(tmp_path, HED_bdry_thr=ROWS, HED_bdry=best(), SE_bdry_thr=ROWS, SE_bdry=best(area=0.2))
    )
    assert [check.what for check in checks[:4]] == ["ods_recall", "ods_precision", "ods_f", "area_pr"]
    assert [(check.group, check.what) for check in checks if check.state == "off"] == [("SE", "area_pr")]
    assert {check.source for check in checks} == {"HED_bdry.txt", "SE_bdry.txt"}


def test_nothing_is_compared_with_itself(tmp_path):
    one_row = "0.5 0.6 0.8 0.685714"
    checks = checks_of(write_texts(tmp_path, A_bdry_thr=one_row, A_bdry="0.5 0.6 0.8 0.685714 0.7 0.7 0.7 0.65"))
    assert [check.what for check in checks] == ["ods_recall", "ods_precision", "ods_f"]


def test_from_counts_the_ois_follows_too(tmp_path):
    counts = "0.25 8 10 3 6\n0.75 5 10 2 2\n"
    write_texts(tmp_path / "mine", a_ev1=counts, eval_bdry="0.5 0.9 0.9 0.9 0.5 1 0.666667 0")
    states = {check.what: check.state for check in checks_of(tmp_path)}
    assert (states["ois_f"], states["ods_f"]) == ("as expected", "off")


def test_half_a_method_is_not_checked(tmp_path):
    write_texts(tmp_path, A_bdry_thr=ROWS, A_bdry=best(), B_bdry_thr=ROWS)
    missing = {check.group: check.missing for check in checks_of(tmp_path) if check.state == "not checked"}
    assert missing == {"B": "there is no *_bdry.txt of B"}


def test_folders_that_will_not_do(tmp_path):
    with refused("unreadable", DataError, path=str(tmp_path / "nowhere")):
        published_part(tmp_path / "nowhere")
    with refused("no-results", DataError, path=str(tmp_path / "other")):
        published_part(write_texts(tmp_path / "other", readme="hello"))
    with refused("no-known-values", DataError, path=str(tmp_path / "half")):
        published_part(write_texts(tmp_path / "half", A_bdry_thr=ROWS))
    with refused("wrong-line", DataError, path=str(tmp_path / "damaged" / "A_bdry_thr.txt"), line=1, found="hello"):
        published_part(write_texts(tmp_path / "damaged", A_bdry_thr="hello", A_bdry=best()))


@pytest.mark.skipif(not CURVES, reason="SEGBENCH_CURVES does not say where published curves are")
def test_published_curves():
    checks = checks_of(Path(CURVES))
    assert {check.state for check in checks} == {"as expected"}
    assert len(checks) == 4 * 11
