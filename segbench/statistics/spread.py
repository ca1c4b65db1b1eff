"""How the values of single images lie around their mean: standard deviation and quartiles, as in medical papers.

Only metrics that are means over images have a spread (`Metric.mean_over_images`). One of pooled counts, such as mIoU,
is not the mean of the values that images have by themselves: beside it, their deviation would be about another mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.part_means import PartMeans
from segbench.core.table import Table

SpreadForm = Literal["", "sd", "quartiles"]


class Spread(NamedTuple):
    """The values that `images` images have of a metric: their mean, standard deviation (divisor n - 1) and quartiles.

    Quartiles are interpolated between values, as `numpy.quantile` does. Of a single image there is no deviation, nan.
    """

    images: int
    mean: float
    sd: float
    median: float
    lower: float
    upper: float

    @classmethod
    def of(cls, values: FloatArray) -> Spread:
        """Describe values, at least one."""
        sd = float(values.std(ddof=1)) if values.size > 1 else float("nan")
        lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        return cls(values.size, float(values.mean()), sd, median, lower, upper)


def spreads_of(table: Table) -> Mapping[str, Spread]:
    """Describe the values of images by metric, by key; means over groups or classes are no means over images."""
    means = {column: metric for column, metric in enumerate(table.metrics) if metric.key and metric.mean_over_images}
    if not means or not table.images or isinstance(table, PartMeans):
        return {}
    values = table.measure_images()
    defined = {metric.key: values[~np.isnan(values[:, column]), column] for column, metric in means.items()}
    return {key: Spread.of(values_of_images) for key, values_of_images in defined.items() if values_of_images.size}
