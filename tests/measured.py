"""Metrics of counts, as the protocols measure them."""

from segbench.protocols.boundaries.settings import Boundaries
from segbench.protocols.pixels.class_metrics import ClassTable
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.regions.settings import Regions

PIXELS, BOUNDARIES, REGIONS = Pixels(), Boundaries(), Regions()


def pixel_summary(images, unnamed=None):
    return PIXELS.table(images, rest=unnamed).summary()


def pixel_image_summary(counts, of_set=None):
    return PIXELS.table({"": counts}, of_set=of_set).image_summary()


def class_summary(images):
    return ClassTable(images).summary()


def class_image_summary(counts, of_set=None):
    return ClassTable({"": counts}, of_set).image_summary()


def boundary_summary(images):
    return BOUNDARIES.table(images).summary()


def boundary_image_summary(counts):
    return BOUNDARIES.table({"": counts}).image_summary()


def region_summary(images):
    return REGIONS.table(images).summary()


def region_image_summary(counts):
    return REGIONS.table({"": counts}).image_summary()


def keys_of(table):
    return [metric.key for metric in table.metrics if metric.key]
