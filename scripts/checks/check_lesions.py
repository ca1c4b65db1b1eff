"""Whether HD95 of whole regions and the lesion-wise metrics are those of the code of BraTS 2023.

    git clone https://github.com/rachitsaluja/BraTS-2023-Metrics
    python scripts/checks/check_lesions.py BraTS-2023-Metrics [--volumes 25]

That code needs `pip install connected-components-3d pandas`, and is older than NumPy 2 and pandas 2: replace ``np.Inf``
by ``np.inf``, ``DataFrame.append`` by ``pd.concat``, and infinities in the column of HD95 alone. Draws random volumes
with random spacings as label 3, so that WT, TC and ET are one region, and compares each under the rules of GLI, MEN and
MET. The code reads spacings in single precision.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import nibabel
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import segbench

RULES = {"BraTS-GLI": (3, 50), "BraTS-MEN": (1, 50), "BraTS-MET": (1, 2)}
"""Of each challenge how many times lesions are dilated, and the size in mm³ up to which they are left out."""
KEYS = ("LesionWise_Score_Dice", "LesionWise_Score_HD95", "Legacy_HD95")


def drawn(seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[float, ...]]:
    """Draw two masks that resemble each other, and how far voxels are apart."""
    rng = np.random.default_rng(seed)
    smooth = gaussian_filter(rng.standard_normal((2, 24, 26, 28)), (0, 1.4, 1.4, 1.4))
    smooth[1] = smooth[1] * rng.uniform(0.2, 1.2) + smooth[0]
    share = rng.uniform(1.3, 2.2)
    truth, predicted = (scores > share * scores.std() for scores in smooth)
    return truth, predicted, tuple(rng.choice([0.9, 1.0, 1.5], 3).tolist())


def compare(seed: int, official: ModuleType) -> list[float]:
    """Return the largest differences of a pair of volumes under the rules of all challenges."""
    truth, predicted, sizes = drawn(seed)
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        for name, mask in (("truth", truth), ("predicted", predicted)):
            image = nibabel.Nifti1Image((3 * mask.T).astype(np.uint8), np.diag([*sizes[::-1], 1]))
            nibabel.save(image, Path(folder, f"{name}.nii.gz"))
        for challenge, (dilate, min_size) in RULES.items():
            files = (f"{folder}/predicted.nii.gz", f"{folder}/truth.nii.gz")
            theirs = official.get_LesionWiseResults(*files, challenge).set_index("Labels").loc["ET"]
            rules = segbench.Objects(kind="components", dilate=dilate, min_size=min_size, spacing=sizes)
            lesions = segbench.count(truth, predicted, rules).metrics()
            whole = segbench.count(truth, predicted, segbench.Contours(convention="brats", spacing=sizes)).metrics()
            ours = (lesions["lesion_dice"], lesions["lesion_hd95"], whole["hd95"])
            differences.append([abs(value - float(theirs[key])) for value, key in zip(ours, KEYS, strict=True)])
    return [float(largest) for largest in np.max(differences, axis=0)]


def main() -> None:
    """Print the largest differences over all volumes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", help="folder with the metrics.py of BraTS 2023")
    parser.add_argument("--volumes", type=int, default=25)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.code)
    official = importlib.import_module("metrics")
    differences = [compare(seed, official) for seed in range(arguments.volumes)]
    for key, largest in zip(KEYS, np.max(differences, axis=0), strict=True):
        print(f"{key:24} differs by at most {largest:.1e} on {arguments.volumes} volumes")


if __name__ == "__main__":
    main()
