"""Report pages for tests, and a look at their parts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
from cases import write_folder

from segbench import evaluate
from segbench.report.page.document import export_report

HOSTILE = "<img src=x onerror=document.title='hacked'>"


def write_page(folder: Path, results, **options) -> Path:
    """Write the report of results; return the file."""
    path = folder / "report.html"
    export_report(results, path, **options)
    return path


def hostile_results(folder: Path):
    """Return two methods on four images, names of which would be tags and ends of scripts."""
    rng = np.random.default_rng(3)
    names = [f"{HOSTILE}.png", "</script><script>document.title='hacked'.png", "plain.png", "'\"&amp;.png"]
    names = [name.replace("/", "∕") for name in names]  # the one character that a name of a file cannot hold  # noqa: RUF001
    truth = {name: (rng.random((9, 13)) < 0.4).astype(np.uint8) * 255 for name in names}
    truth["plain.png"][:] = 0
    soft = [
        {name: np.clip(rng.normal(70 + part * mask, 40), 0, 255).astype(np.uint8) for name, mask in truth.items()}
        for part in (0.2, 0.6)
    ]
    write_folder(folder / "gt", truth)
    results = []
    for method, scores in zip(("weak", f"{HOSTILE} %{{x}}"), soft, strict=True):
        place = write_folder(folder / f"method{len(results)}", scores)
        results.append(evaluate(folder / "gt", place, method=method))
    return results


def embedded(page: str, prefix: str):
    """Return the data of the page whose name begins so."""
    found = re.findall(rf'<script type="application/json" id="{prefix}[^"]*">(.*?)</script>', page, re.DOTALL)
    return [json.loads(text) for text in found]


def scripts_of(page: str) -> list[str]:
    """Return the scripts that the page would run."""
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
