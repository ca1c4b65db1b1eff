"""Write the tables of the documentation from what `check_statistics.py` measured: `statistics.csv`, and over images.

    python scripts/checks/statistics_tables.py

A page has a table between the lines `<!-- NAME begins -->` and `<!-- NAME ends -->`; NAME is a key of `TABLES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from check_statistics import CELLS, OF_MASKS, TRAININGS, read

DOCS = Path(__file__).parents[2] / "docs"
TITLES = {
    "ods_f": "ODS F", "ois_f": "OIS F", "auc_roc": "AUC-ROC", "average_precision": "AP", "mean_image_f": "mean F",
    "iou": "IoU", "dice_images": "mean Dice", "dice_units": "mean Dice of units", "pixel_accuracy": "accuracy",
    "miou": "mIoU", "mean_dice": "mDice", "area_pr": "AP", "s_measure": "S", "f_max": "F max", "e_max": "E max",
    "weighted_f": "Fw", "mae": "MAE", "covering_ods": "covering", "pri_ods": "PRI", "voi_ods": "VOI", "are_ods": "ARE",
    "hd95": "mean HD95", "assd": "mean ASSD", "nsd@2": "mean NSD", "dice": "mean Dice", "pq": "PQ", "f1@0.5": "F1",
    "f1_images@0.5": "mean F1", "aji": "AJI", "cldice": "clDice", "cldice_images": "mean clDice", "aupro": "AUPRO",
    "betti0_error": "Betti-0 error", "image_auc_roc": "AUC-ROC of images",
    "coco_ap": "AP of COCO", "ap_exact": "AP exact",
}  # fmt: skip
DRAWN = {
    "g/pixels": "pixels, log-normal sizes",
    "g/pixels-large": "pixels, one image in ten is ten times as large",
    "g/labels": "masks and volumes, log-normal sizes",
    "f/rare-classes": "labels, 3 of 8 classes in 5 to 10 % of the images",
    "g/boundaries": "boundaries, 24 thresholds",
    "g/saliency": "saliency, 256 levels",
    "g/regions": "regions, 24 thresholds",
    "g/contours": "contours, log-normal distances",
    "f/failures": "contours, one image in twenty ten times as far",
    "f/failures-of-one": "contours, the same of one method alone",
    "g/objects": "objects",
    "g/detections": "detections of 5 classes, the rarest in 15 % of the images",
    "f/detections-rare": "the same, the rarest in 6 %",
    "g/centerlines": "centerlines",
    "g/anomalies": "anomalies",
}
IN_UNITS = {
    "c/miou": "labels, 4 to 8 images each",
    "c/ods": "pixels, log-normal sizes",
    "c/pq": "objects",
    "c/aupro": "anomalies",
    "c/hd95": "contours, log-normal distances",
    "f/units-rare-classes": "labels, 3 of 8 classes in 5 to 10 % of the units",
    "f/units-failing": "masks, each method fails in one unit of ten",
}
LEAST_COVERAGE = 0.9
"""Below this, after rounding, coverage is bold."""
NUMBERS = (8, 10, 30, 100, 300)
UNMEASURED = "–"  # noqa: RUF001  a dash
Rows = Iterable[tuple[str, ...]]


class Shares:
    """What was measured, as text for tables."""

    def __init__(self, *, images_alone: bool = False) -> None:
        measured = read(images_alone=images_alone)
        self._rows = {(row["cell"], row["metric"]): row for rows in measured.values() for row in rows}

    @cached_property
    def over_images(self) -> Shares:
        """What the same sets have where images are taken as independent, and methods as trained once."""
        return Shares(images_alone=True)

    def value(self, cell: str, metric: str, column: str) -> float | None:
        """Return a share of a cell; None where it was not measured."""
        text = self._rows.get((cell, metric), {}).get(column)
        return float(text) if text else None

    def coverage(self, cell: str, metric: str) -> str:
        """Write the share of intervals that hold the metric, in bold below .90."""
        share = self.value(cell, metric, "coverage")
        if share is None:
            return UNMEASURED
        written = f"{share:.2f}".lstrip("0")
        return f"**{written}**" if round(share, 2) < LEAST_COVERAGE else written

    def size(self, cell: str, metric: str) -> str:
        """Write the share of p-values below .05."""
        share = self.value(cell, metric, "size")
        return UNMEASURED if share is None else f"{share:.3f}".lstrip("0")

    def sizes(self, cell: str, metrics: Iterable[str]) -> str:
        """Write the least and the greatest share of p-values below .05 of some metrics."""
        known = sorted(text for metric in metrics if (text := self.size(cell, metric)) != UNMEASURED)
        return UNMEASURED if not known else known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def beside(texts: Iterable[str], separator: str = " ") -> str:
    """Write shares side by side; a single dash where none was measured."""
    shares = list(texts)
    return UNMEASURED if set(shares) == {UNMEASURED} else separator.join(shares)


def table(header: tuple[str, ...], rows: Rows, labels: int) -> str:
    """Write a table in Markdown, without the rows of which nothing was measured: all cells behind their labels."""
    measured = (cells for cells in rows if set(cells[labels:]) != {UNMEASURED})
    lines = [header, ("---",) * len(header), *measured]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def metrics_of(start: str) -> tuple[str, ...]:
    """Return the metrics of the cells whose names are this and a number."""
    return next(cell.metrics for name, cell in CELLS.items() if name.rpartition("-")[0] == start)


def coverage(shares: Shares) -> str:
    """Make the table of intervals over images that are independent."""

    def rows() -> Iterator[tuple[str, ...]]:
        for start, title in DRAWN.items():
            if start != "f/failures-of-one":
                for number, metric in enumerate(metrics_of(start)):
                    values = (shares.coverage(f"{start}-{number}", metric) for number in NUMBERS)
                    yield title if number == 0 else "", TITLES[metric], *values

    return table(("images", "metric", "8 images", *map(str, NUMBERS[1:])), rows(), 2)


def size(shares: Shares) -> str:
    """Make the table of tests over images that are independent."""
    rows = (
        (
            f"{title}: {', '.join(TITLES[metric] for metric in metrics_of(start))}",
            *(shares.sizes(f"{start}-{number}", metrics_of(start)) for number in NUMBERS[:-1]),
        )
        for start, title in DRAWN.items()
    )
    return table(("p below .05", "8 images", *map(str, NUMBERS[1:-1])), rows, 1)


def units(shares: Shares) -> str:
    """Make the table of masks in units."""

    def rows() -> Iterator[tuple[str, ...]]:
        for name, cell in CELLS.items():
            if name.startswith(("a/", "b/")):
                number, _, kind = name[2:].partition("x")
                images, _, rho = kind.partition("-rho")
                least, _, most = images.partition("-")
                many = least if least == most else f"{least} to {most}"
                texts = (f"{number} x {many}", rho) if kind else (f"{number}, one has half of the images", "0.5")
                columns = [
                    beside(write(name, metric) for metric in cell.metrics if metric != "dice_units")
                    for write in (shares.over_images.size, shares.over_images.coverage, shares.size, shares.coverage)
                ]
                yield texts[0], texts[1].replace("0.", "."), *columns

    titles = ("over images: p below .05", "coverage", "over units: p below .05", "coverage")
    return table(("units x images", "rho", *titles), rows(), 2)


def protocols_in_units(shares: Shares) -> str:
    """Make the table of other protocols in units."""

    def rows() -> Iterator[tuple[str, ...]]:
        for start, title in IN_UNITS.items():
            for metric in metrics_of(start):
                cells = [f"{start}-{number}" for number in (8, 12, 30)]
                texts = [text for cell in cells for text in (shares.size(cell, metric), shares.coverage(cell, metric))]
                yield title, TITLES[metric], *texts

    numbers = (8, 12, 30)
    header = [text for number in numbers for text in (f"{number} units: p below .05", "coverage")]
    return table(("images", "metric", *header), rows(), 2)


def runs(shares: Shares) -> str:
    """Make the table of methods trained several times."""

    def rows() -> Iterator[tuple[str, ...]]:
        for start in dict.fromkeys(name.rpartition("-sd")[0] for name in CELLS if name.startswith("d/")):
            images, _, number = start[2:].removeprefix("one-").partition("x")
            several = f"{number} and 1" if start.startswith("d/one") else number
            cells = [f"{start}-sd{deviation}" for deviation in TRAININGS]
            yield images, several, *of_trainings(shares, cells, coverage=True)

    titles = ("one run, over images: p below .05", "IoU: p below .05", "coverage", "mean Dice: p below .05", "coverage")
    return table(("images", "runs", *titles), rows(), 2)


def folds(shares: Shares) -> str:
    """Make the table of cross-validations."""
    rows = (
        (str(images), *of_trainings(shares, [f"e/{images}-sd{deviation}" for deviation in TRAININGS], coverage=False))
        for images in (50, 200)
    )
    titles = ("over images: p below .05", "IoU: p below .05", "mean Dice: p below .05")
    return table(("images in 5 folds", *titles), rows, 1)


def of_trainings(shares: Shares, cells: list[str], *, coverage: bool) -> Iterator[str]:
    """Yield what cells that differ in the deviation of trainings have, each text for all of them."""
    single = [re.sub(r"^d/(?:one-)?(\d+)x\d+", r"d/\1x3", cell) for cell in cells]  # one run is one of any number
    yield beside((shares.over_images.size(cell, "iou") for cell in single), " / ")
    for metric in OF_MASKS:
        yield beside((shares.size(cell, metric) for cell in cells), " / ")
        if coverage:
            yield beside((shares.coverage(cell, metric) for cell in cells), " / ")


def notes(shares: Shares) -> str:
    """Make the table of the note on few images that decide a mean."""
    kinds = {"normal": "normal", "beta": "beta(9, 1)", "failures": "log-normal, with a failure ten times as far"}
    rows = []
    for kind, title in kinds.items():
        noted = (shares.value(f"n/{kind}-{number}", "hd95", "noted") for number in (10, 30, 100))
        rows.append((title, *(UNMEASURED if share is None else f"{100 * share:.1f} %" for share in noted)))
    return table(("sets with the note", "10 images", "30", "100"), rows, 1)


TABLES = {
    "coverage": coverage,
    "size": size,
    "units": units,
    "protocols in units": protocols_in_units,
    "runs": runs,
    "folds": folds,
    "notes on few images": notes,
}


def with_tables(text: str, shares: Shares) -> str:
    """Return a page with its tables as they were measured."""
    for name, make in TABLES.items():
        begins, ends = f"<!-- {name} begins -->", f"<!-- {name} ends -->"
        if begins in text:
            made = f"{begins}\n\n{make(shares)}\n\n{ends}"
            text = re.sub(f"{begins}.*?{ends}", lambda _, made=made: made, text, flags=re.DOTALL)
    return text


def written(pages: Iterable[Path] | None = None) -> Mapping[Path, str]:
    """Return the pages of the documentation that hold such tables, with these as they were measured."""
    shares = Shares()
    texts = {page: page.read_text(encoding="utf-8") for page in pages or sorted(DOCS.glob("*.md"))}
    pages = {page: text for page, text in texts.items() if any(f"<!-- {name} begins -->" in text for name in TABLES)}
    return {page: with_tables(text, shares) for page, text in pages.items()}


if __name__ == "__main__":
    for page, text in written().items():
        page.write_text(text, encoding="utf-8")
        print(page)
