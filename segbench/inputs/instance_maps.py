"""How instance label maps are read; light to import, as settings are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.core.sample import DescribedFiles
from segbench.loaders.reading import LABEL_MAPS, LabelMapFiles

if TYPE_CHECKING:
    from segbench.loaders.pairing import Pairing


@dataclass(frozen=True, kw_only=True)
class InstanceMaps(LabelMapFiles, DescribedFiles):
    """Label maps whose values are objects."""

    def completed(self, pairing: Pairing) -> Pairing:
        """Say how a file for each object is read, as Kaggle's Data Science Bowl has them, where no pattern does."""
        files = [name for name in pairing.missing or pairing.extra if fnmatchcase(name, "*/masks/*")]
        if pairing.files or not files:
            return pairing
        true = bool(pairing.missing)
        folder = pairing.inputs.ground_truth if true else pairing.inputs.prediction
        problem = Message(
            "file-for-each-object",
            "holds a file for each object, such as {file}, expected a label map for each image",
            file=files[0],
        )
        hint = Message(
            "fix",
            "take the files of an image together: {pattern}",
            pattern=Setting("gt_pattern" if true else "pred_pattern", "*/masks/#"),
        )
        return replace(pairing, problem=DataError(str(folder), problem, hint), missing=(), extra=())


def _as_instances(maps: Any) -> InstanceMaps:
    own = {"name": "instances", "same_labels": 1, "without_negatives": "objects", "instances": "numbers"}
    return InstanceMaps(**{**vars(maps), **own})


INSTANCE_MAPS = _as_instances(LABEL_MAPS)
