"""The conventions in which tools differ."""

from typing import Literal, TypeAlias

Surface: TypeAlias = Literal["pixels", "lengths"]
"""What a contour is made of: the pixels of the inner boundary, or elements at corners of pixels, with their lengths."""

Percentile: TypeAlias = Literal["larger", "union"]
"""Whose 95th percentile HD95 is: the larger of the two of both directions, or that of both directions together."""

Empty: TypeAlias = Literal["undefined", "diagonal"]
"""What distances are where a mask is empty: undefined, or the diagonal of the image."""

Convention: TypeAlias = Literal["metrics-reloaded", "medpy", "deepmind", "davis"]
"""The tools with conventions of their own."""
