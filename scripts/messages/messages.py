"""Write docs/messages.md: every kind of message, when it appears, an example and its fix.

    python scripts/messages/messages.py                      # the page, from the code and from examples.json
    python scripts/messages/messages.py --record [TESTS]     # runs tests, and takes examples from what they meet

Kinds are read from the code: all that stands as ``Message("kind", "template")``. Those that no test meets as a message
of its own are parts of others, such as advice, and are listed by name.
"""

from __future__ import annotations

import ast
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/messages.md"
EXAMPLES = Path(__file__).with_name("examples.json")
MOMENTS = {
    "cli": "The command line, before anything is read",
    "loaders": "Files are listed, paired and read",
    "checks": "`segbench check`, and the quick check before a run",
    "inputs": "What files hold is interpreted: positive values, void, classes, objects",
    "protocols": "A protocol is set up, and images are counted",
    "core": "Settings, arrays and scores, wherever they come from",
    "aggregator": "Runs, results files, and arrays in Python",
    "curves": "Curves from arrays of scores or published numbers",
    "statistics": "Intervals, comparisons, groups, units and runs",
    "report": "Tables, JSON, plots, overlays and the page",
    "drawing": "Pictures",
    "verification": "`segbench verify`",
}
"""What happens in each package when its messages appear, in the order of the page."""
HEAD = """# Messages

<!-- Written by scripts/messages/messages.py from the code; do not edit. -->

Every note, finding, failure and error has a kind, which stays when its wording changes. Scripts read the kind, never
the text:

```python
try:
    result = segbench.evaluate("gt", "pred")
except segbench.SegbenchError as error:
    error.kind, error.values, error.settings  # "several-values", {"values": ...}, (Setting(name="positive", ...),)
result.failed["7"].kind, result.notes[0].kind, segbench.check("gt", "pred").findings[0].kind
```

| in Python | what it has |
|---|---|
| `error.kind` `.values` `.settings` | of every `SegbenchError`; a `DataError` has `.path`, `.what` and `.hint`, too |
| `result.failed[image]` | the same as a `DataError`, for an image that could not be counted |
| `result.notes` `result.image_notes` | `kind`, `side`, `values`, `metrics` (keys; empty: about all), `doubt` |
| `report.findings` of `check` | `kind`, `severity`, `side`, `places`, `images`, `settings`, `alternatives` |

`str()` of each writes it for Python, `.written("options")` for the command line. In the JSON of `check`, `show` and
`compare` each is an object:

| field | content |
|---|---|
| `kind` | what it is: one of those below; `text` for words of a protocol of one's own |
| `text` | the sentence that the command prints |
| `values` | what the sentence speaks of, by name: numbers, texts, lists, and messages as objects like this one |
| `settings` | the settings that help, as `{"name": "positive", "value": 255}`; without `value` you choose one |
| `file` | of failures: the file or folder |
| `side` `metrics` `doubt` | of notes: `"ground truth"`, `"prediction"`, `"field"` or empty; keys; whether it warns |
| `severity` `side` `fix` `alternatives` `count` `files` `images` | of findings, see [check](check.md#json) |

NUMBER kinds follow, by the moment at which they appear. Examples are as the command line writes them.
"""


def kinds_in_code() -> dict[str, dict[str, list[str]]]:
    """Return the templates of each kind in each package."""
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted((ROOT / "segbench").rglob("*.py")):
        package = path.relative_to(ROOT / "segbench").parts[0]
        for kind, template in _messages(ast.parse(path.read_text(encoding="utf-8"))):
            kinds[kind][package].append(template)
    return kinds


def _messages(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield kind and template of each message that the code makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message":
            written = [part.value if isinstance(part, ast.Constant) else None for part in node.args]
            if len(written) == 2 and all(isinstance(part, str) for part in written):
                yield str(written[0]), str(written[1])


def current(examples: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the examples whose messages the code still makes, with more text before or behind them."""
    kinds = {kind: [text for texts in of_kind.values() for text in texts] for kind, of_kind in kinds_in_code().items()}
    return {
        kind: example
        for kind, example in examples.items()
        if any(made in text for made in kinds.get(kind, ()) for text in example["templates"])
    }


def page(examples: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the page."""
    parts = sorted(kinds_in_code().keys() - examples.keys())
    text = HEAD.replace("NUMBER", str(len(examples)))
    for package, moment in MOMENTS.items():
        of_package = {kind: example for kind, example in sorted(examples.items()) if example["package"] == package}
        if of_package:
            text += f"\n## {moment}\n\n| kind | what | example | fix |\n|---|---|---|---|\n"
            text += "".join(_row(kind, example) for kind, example in of_package.items())
    text += "\n## Parts\n\nThese stand in others: advice, lists and remarks.\n\n"
    return text + ", ".join(f"`{kind}`" for kind in parts) + ".\n"


def _row(kind: str, example: Mapping[str, Any]) -> str:
    """Write the row of a kind."""
    cells = [f"`{kind}`", example["form"], *(_cell(example[name]) for name in ("text", "fix"))]
    return f"| {' | '.join(cells)} |\n"


def _cell(text: str) -> str:
    """Write text as a cell of a table."""
    return re.sub(r"[|*_`\[\]]", r"\\\g<0>", html.escape(" ".join(text.split()), quote=False))


def record(tests: Sequence[str]) -> dict[str, Any]:
    """Run tests, and return an example of each kind that they meet: the shortest, with a fix if there is any."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "recording", f"--record={folder}"]
        command += ["--ignore=tests/test_messages.py", *tests]  # whose texts are meaningless
        subprocess.run(command, cwd=ROOT, env=_with_this_folder(), check=False)
        met = [json.loads(line) for path in Path(folder).iterdir() for line in path.read_text().splitlines()]
    best: dict[str, Any] = {}
    for example in sorted(met, key=lambda example: (not example["fix"], len(example["text"]), example["text"])):
        best.setdefault(example.pop("kind"), example)
    return best


def _with_this_folder() -> dict[str, str]:
    """Return an environment in which Python finds `recording`."""
    paths = [str(Path(__file__).parent), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


if __name__ == "__main__":
    if "--record" in sys.argv[1:]:
        tests = sys.argv[2:]
        kept = json.loads(EXAMPLES.read_text(encoding="utf-8")) if tests else {}
        examples = json.dumps(kept | record(tests or ["tests"]), indent=1, sort_keys=True, ensure_ascii=False)
        EXAMPLES.write_text(examples + "\n", encoding="utf-8")
    PAGE.write_text(page(current(json.loads(EXAMPLES.read_text(encoding="utf-8")))), encoding="utf-8")
