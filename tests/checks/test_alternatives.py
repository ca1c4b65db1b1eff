"""Fixes of which one is enough are alternatives as data; those that belong together are given together."""

import numpy as np
import pytest
from cases import write_folder

import segbench
from segbench.checks.findings import finding
from segbench.core.messages import Message, alternatives
from segbench.core.messages import Setting as Set

MASK = np.kron(np.arange(24).reshape(4, 6) % 5 < 2, np.ones((6, 6), bool))
COLUMNS = np.arange(MASK.shape[1])
SOFT = np.where(MASK, 140 + COLUMNS, 20 + COLUMNS).astype(np.uint8)
GREY = np.where(MASK, 210 + COLUMNS, COLUMNS).astype(np.uint8)
LABELS = np.where(MASK, 2, COLUMNS // 12 % 2).astype(np.uint8)


def named(*settings):
    return tuple((name, value) for name, value in settings)


CASES = {
    "grey levels": (segbench.Pixels(), GREY, SOFT, [named(("positive", ">=128")), named(("positive", ">0"))]),
    "labels of a mask": (
        segbench.Contours(at=0.5),
        LABELS,
        SOFT,
        [named(("positive", 2)), named(("positive", ">0"))],
    ),
    "a value that may be void": (
        segbench.Labels(classes=2),
        np.where(LABELS == 2, 250, LABELS),
        MASK.astype(np.uint8),
        [named(("void", (250, 255))), named(("gt_map", "250=LABEL")), named(("classes", "0-1,250"))],
    ),
    "labels from 1": (
        segbench.Labels(classes=3),
        LABELS + 1,
        LABELS,
        [
            named(("classes", "1-3")),
            named(("gt_map", "1-3=0-2"), ("pred_map", "1-3=0-2")),
            named(("classes", "0-3")),
        ],
    ),
    "background or class": (
        segbench.Labels(classes="1-2"),
        LABELS,
        LABELS,
        [named(("classes", "0-2"), ("background", 0)), named(("classes", "0-2"))],
    ),
    "a label and void": (
        segbench.Labels(classes="0-1", void=()),
        np.where(COLUMNS < 6, 255, LABELS),
        LABELS,
        [
            named(("classes", "0-2"), ("void", (255,))),
            named(("gt_map", "2=LABEL"), ("void", (255,))),
            named(("classes", "0-2"), ("background", 2), ("void", (255,))),
        ],
    ),
    "label maps for scores": (
        segbench.Pixels(),
        LABELS,
        np.where(COLUMNS < 2, 0, LABELS),
        [named(("classes", "0-2")), named(("positive", "2"))],
    ),
    "label maps for masks": (
        segbench.Contours(),
        MASK,
        LABELS,
        [named(("classes", "0-2"), ("background", 0))],
    ),
    "a pixel more": (
        segbench.Pixels(),
        MASK,
        np.pad(SOFT, ((0, 1), (0, 1))),
        [named(("crop", True)), named(("resize", "nearest"))],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_alternatives_of_a_finding(tmp_path, name):
    protocol, truth, predicted, expected = CASES[name]
    where = write_folder(tmp_path / "gt", {"a.npy": truth}), write_folder(tmp_path / "pred", {"a.npy": predicted})
    (error,) = segbench.check(*where, protocol).errors
    found = [named(*((setting.name, setting.value) for setting in settings)) for settings in error.alternatives]
    assert found == expected


def test_alternatives_within_what_is_done_together():
    either = alternatives([Set("positive", 1), Set("positive", 2)])
    fix = Message("fix", "{void}, and {either}", void=Set("void", 255), either=either)
    (made,) = finding(Message("labels", ""), fix, [], whole=True)
    assert made.alternatives == (
        (Set("void", 255), Set("positive", 1)),
        (Set("void", 255), Set("positive", 2)),
    )
