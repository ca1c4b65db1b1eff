"""The names of skeletons, for settings, which import nothing heavy."""

from typing import Literal, TypeAlias

Skeleton: TypeAlias = Literal["zhang", "lee", "thin", "medial-axis"]
