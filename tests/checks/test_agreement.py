"""Random folders: check and run agree, and advice leads to the right number; correct sets are not doubted."""

import numpy as np
import pytest
from check_agreement import disagreements
from check_correct_sets import correct_sets, doubts_on
from drawn_folders import random_folder


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_random_folders(tmp_path, seed):
    for number in range(15):
        folder = random_folder(np.random.default_rng([seed, number]))
        found = [text for text in disagreements(folder, tmp_path / str(number)) if not text[0].startswith("(")]
        assert found == [], folder.kind


@pytest.mark.parametrize("seed", range(6))
def test_correct_sets(tmp_path, seed):
    for number, folder in enumerate(list(correct_sets(seed, 160))[seed::6][:8]):
        assert doubts_on(folder, tmp_path / str(number)) == [], folder.kind
