"""The conventions in which tools differ."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Surface: TypeAlias = Literal["pixels", "lengths", "voxels", "areas"]
"""What a contour is made of: the pixels of the inner boundary, or elements at corners of pixels with their lengths; and
the surface in a volume: voxels of the inner boundary, or elements at corners of voxels, with their areas."""

Percentile: TypeAlias = Literal["larger", "union"]
"""Whose 95th percentile HD95 is: the larger of the two of both directions, or that of both directions together."""

Convention: TypeAlias = Literal["metrics-reloaded", "medpy", "deepmind", "brats", "davis"]
"""The tools with conventions of their own."""

PIXELS_OF_VOXELS: Mapping[str, Surface] = MappingProxyType({"voxels": "pixels", "areas": "lengths"})
"""What corresponds in two dimensions to the surfaces of volumes."""
VOXELS_OF_PIXELS: Mapping[str, Surface] = MappingProxyType({"pixels": "voxels", "lengths": "areas"})

SETTINGS_OF_TOOLS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "metrics-reloaded": {"surface": "pixels", "hd95": "larger", "sequences": False},
        "medpy": {"surface": "pixels", "hd95": "union", "sequences": False},
        "brats": {"surface": "lengths", "hd95": "larger", "sequences": False, "empty": 374.0},
        "deepmind": {"surface": "lengths", "hd95": "larger", "sequences": False},
        "davis": {"surface": "pixels", "hd95": "larger", "sequences": True},
    }
)
"""The settings that a convention stands for; of volumes the surface is what corresponds to it.

The first that fits settings names them in signatures.
"""
MEASURED_AS_TOOL = ("hd95", "empty")
"""Those of them that change no counts."""
VERSIONS: Mapping[str, str] = MappingProxyType(
    {"medpy": "medpy>=0.5.2", "brats": "brats 2023", "deepmind": "deepmind surface-distance 0.1"}
)
"""How the signature calls tools of which versions differ."""
