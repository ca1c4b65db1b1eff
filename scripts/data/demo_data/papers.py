"""The small examples of "ROC and PR" (Sun, Zheng and Huang, 2013) as folders of images and arrays."""

from pathlib import Path

import numpy as np

from demo_data.files import write_array, write_levels, write_mask

TABLE_2 = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
TABLE_3 = [[128, 0, 0, 0], [0, 255, 0, 0], [0, 64, 192, 0], [0, 0, 0, 64]]
TABLE_6 = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
TABLE_7 = [[0.5, 0, 0, 0], [0, 1, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 0, 0.25]]
TABLE_8 = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
TABLE_9 = [[0.6, 0, 0, 0], [0.8, 0.4, 0, 0], [0, 0.7, 0.8, 0], [0, 0, 0, 0]]

SCORE_1 = [1, 1, 2, 2, 0, 2, 3, 0, 0, 0, 2, 1, 1, 0, 0, 2, 1, 0, 0, 0]
SCORE_2 = [1, 3, 2, 2, 0, 1, 1, 2, 2, 0, 3, 1, 1, 2, 2, 0, 0, 0, 0, 0]


def make_papers(folder: Path) -> None:
    """Write every example into its own folder under `folder`."""
    tables_2_to_5(folder / "tables_2_to_5")
    tables_6_to_9(folder / "tables_6_to_9", TABLE_6)
    # The paper counts four positives, so the last entry of its table 6 is a misprint.
    tables_6_to_9(folder / "tables_6_to_9_corrected", TABLE_2)
    picture_32x32(folder / "picture_32x32")
    section_6_3(folder / "section_6_3")
    for positives in range(50, 1000, 100):
        section_6_4(folder / f"section_6_4_t{positives}", positives)


def tables_2_to_5(folder: Path) -> None:
    """One 4 x 4 image, its prediction in 8 bits."""
    write_mask(folder / "ground_truth" / "table.png", np.array(TABLE_2))
    write_levels(folder / "predictions" / "table.png", np.array(TABLE_3))


def tables_6_to_9(folder: Path, first: list[list[int]]) -> None:
    """Two 4 x 4 images to be pooled; 8 bits do not hold .4, .6 and .7, so the predictions are arrays."""
    write_mask(folder / "ground_truth" / "first.png", np.array(first))
    write_mask(folder / "ground_truth" / "second.png", np.array(TABLE_8))
    write_array(folder / "predictions" / "first.npy", np.array(TABLE_7, dtype=np.float64))
    write_array(folder / "predictions" / "second.npy", np.array(TABLE_9, dtype=np.float64))


def picture_32x32(folder: Path) -> None:
    """Four grey levels in bands of rows: the first row is false, the last one is missed."""
    target = np.zeros((32, 32))
    target[15:] = 1
    score = np.zeros((32, 32))
    score[0] = 64
    score[15:20] = 64
    score[20:25] = 128
    score[25:31] = 192
    write_mask(folder / "ground_truth" / "picture.png", target)
    write_levels(folder / "predictions" / "picture.png", score)


def section_6_3(folder: Path) -> None:
    """Two methods on twenty samples, of which the first ten are positive; their curves cross."""
    target = np.repeat(np.array([1, 0], dtype=np.uint8), 10)[np.newaxis]
    write_array(folder / "ground_truth" / "samples.npy", target)
    write_array(folder / "predictions_1" / "samples.npy", np.array([SCORE_1], dtype=np.float64))
    write_array(folder / "predictions_2" / "samples.npy", np.array([SCORE_2], dtype=np.float64))


def section_6_4(folder: Path, positives: int) -> None:
    """A thousand samples scored 0 to 99 ten times over, of which the first `positives` are positive."""
    target = (np.arange(1000) < positives).astype(np.uint8)[np.newaxis]
    write_array(folder / "ground_truth" / "samples.npy", target)
    write_array(folder / "predictions" / "samples.npy", np.tile(np.arange(100.0), 10)[np.newaxis])
