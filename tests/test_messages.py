"""Texts are for people: with a meaningless text for every message, all numbers, exit codes and fixes stay."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
from test_advice import MISTAKES, Folders

from segbench import SegbenchError, evaluate
from segbench.core import messages

ROOT = Path(__file__).parents[1]
WORDS = {"text", "fix", "detail", "undefined", "image_undefined"}
"""What JSON has for people; reasons why a metric is undefined are texts by its key."""


def without_words(document):
    """Return JSON without texts for people; of undefined metrics the keys stay."""
    if isinstance(document, dict):
        undefined = {name: sorted(document[name]) for name in ("undefined", "image_undefined") if name in document}
        return {name: without_words(value) for name, value in document.items() if name not in WORDS} | undefined
    return [without_words(part) for part in document] if isinstance(document, list) else document


@pytest.fixture
def meaningless(monkeypatch):
    """Return a function that gives all messages one meaningless text from then on."""
    return lambda: monkeypatch.setattr(messages._Formatter, "vformat", lambda *_: "lorem: ipsum; 255 of 3 [7]")


def answers(segbench, root, mistake):
    """Return exit codes and JSON of all commands that meet a mistake, and what Python raises, without texts."""
    places, words = Folders(root, mistake).write(), []
    for name, value in mistake.options.items():
        words += [f"--{name.replace('_', '-')}", value]
    results = root / "r.segbench"
    results.unlink(missing_ok=True)
    asked = [segbench("check", mistake.verb, *places, *words, "--format", "json")]
    asked.append(segbench(mistake.verb, *places, *words, "--format", "json"))
    asked.append(segbench(mistake.verb, *places, *words, "--no-check", "-o", results, "--format", "json"))
    if results.exists():
        asked.append(segbench("show", results, "--format", "json", "--per-image"))
    said = [(answer.code, without_words(json.loads(answer.out)) if answer.out else None) for answer in asked]
    try:
        evaluate(*places, mistake.verb)
    except SegbenchError as error:
        said.append((error.kind, [(setting.name, setting.value) for setting in error.settings]))
    return said


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MISTAKES)
def test_no_code_reads_texts(segbench, meaningless, tmp_path, name):
    meant = answers(segbench, tmp_path, MISTAKES[name])
    meaningless()
    assert answers(segbench, tmp_path, MISTAKES[name]) == meant


@pytest.fixture(scope="module")
def script():
    """Return the script that writes the page of kinds."""
    path = ROOT / "scripts/messages/messages.py"
    if not path.exists():
        pytest.skip("an installed package has no scripts")
    spec = importlib.util.spec_from_file_location("messages_script", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_kind_of_the_code(script):
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.kinds_in_code().keys() - set(re.findall(r"`([\w-]+)`", page)) == set()


def test_the_page_is_what_the_script_writes(script):
    examples = json.loads(script.EXAMPLES.read_text(encoding="utf-8"))
    assert script.page(script.current(examples)) == script.PAGE.read_text(encoding="utf-8")
