"""One verb per protocol: where its options come from, its help, and protocols that other packages add."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from cases import write_papers
from refusing import insist, within

from segbench.cli.commands import app
from segbench.core.settings import flag_of, options_of
from segbench.protocols.registry import protocols, protocols_of, verbs

ROOT = Path(__file__).parents[2]
FIXED = [
    "show",
    "compare",
    "plot",
    "report",
    "overlay",
    "export",
    "import",
    "merge",
    "nms",
    "verify",
    "demo",
]
HELPED = [[verb] for verb in (*verbs(), "run", "check", *FIXED)]
HELPED += [["check", "boundaries"], ["run", "drive"], ["check", "bsds500"], []]


def command_of(words):
    """Return a command, and its context."""
    context = app.make_context("segbench", ["nothing"], resilient_parsing=True)
    command = context.command
    for word in words:
        command = command.get_command(context, word)
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
        command = context.command
    return command, context


@pytest.mark.parametrize("words", HELPED, ids=" ".join)
class TestHelp:
    def test_every_option_is_there_once_and_has_a_help_text(self, words):
        command, context = command_of(words)
        parameters = [each for each in command.get_params(context) if each.param_type_name == "option"]
        names = Counter(name for each in parameters for name in (*each.opts, *each.secondary_opts))
        assert [name for name, times in names.items() if times > 1] == []
        assert {"-h", "--help"} <= set(names)
        for each in command.get_params(context):
            if "--help" not in each.opts:
                assert each.help, each.name
                assert each.help.endswith("."), each.help

    def test_begins_with_a_verb_and_ends_with_an_example(self, words, segbench):
        answer, same = segbench(*words, "--help"), segbench(*words, "-h")
        assert answer == same
        assert answer.code == 0
        command, _ = command_of(words)
        assert command.help[0].isupper()
        first = command.help.split()[0].lower()
        assert not first.endswith(("s", "ed", "ing")) or first == "suppress", first
        for example in command.examples:
            assert example.startswith("segbench ")
            assert shlex.split(example)[1] in answer.out
        assert "Example" in answer.out
        assert not re.search(r"<(bool|str|int|float|list)|range\]", answer.out)  # types of Python


def test_options_of_a_verb_are_the_fields_of_its_protocols():
    for verb in verbs():
        command, context = command_of([verb])
        typed = {name for each in command.get_params(context) for name in each.opts}
        fields = {flag_of(each) for kind in protocols_of(verb) for each in options_of(kind).values()}
        assert fields <= typed
        foreign = {flag_of(each) for kind in protocols().values() for each in options_of(kind).values()} - fields
        assert not foreign & typed


def test_an_option_is_listed_only_where_it_applies():
    typed = {verb: {each.name for each in command_of([verb])[0].params} for verb in verbs()}
    for option, has, lacks in (
        ("human", "boundaries", "pixels"), ("tuning_results", "pixels", "labels"),
        ("per_class", "labels", "boundaries"), ("field", "regions", "boundaries"), ("negatives", "saliency", "labels"),
    ):  # fmt: skip
        assert (option in typed[has], option in typed[lacks]) == (True, False)


def test_run_names_the_presets(segbench, tmp_path):
    answer = segbench("run", "drvie", tmp_path, tmp_path)
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    insist(answer.error, "unknown-preset", name="drvie", nearest="drive")
    assert answer.error.values["known"][:3] == ("acdc", "ade20k", "biped")
    assert "drive" in segbench("run", "--help").out


def test_check_knows_a_misspelt_protocol_or_preset_from_a_folder(segbench, tmp_path):
    for word, meant in (("drives", "drive"), ("boundries", "boundaries")):
        answer = segbench("check", word, tmp_path, tmp_path)
        assert answer.code == 2
        insist(answer.error, "unknown-command", name=word, close=meant)


def test_a_preset_is_for_its_protocols(segbench, tmp_path):
    answer = segbench("boundaries", "--preset", "drive", tmp_path, tmp_path)
    assert answer.code == 2
    named = ("pixels", "labels", "centerlines")
    insist(answer.error, "other-protocol", preset="drive", protocols=named, protocol="boundaries")
    own = tmp_path / "own.toml"
    own.write_text('[layout]\nground_truth = "."\n[options]\nprotocol = "boundaries"\n')
    answer = segbench("run", own, tmp_path, tmp_path)
    assert answer.code == 1
    insist(answer.error, "wrong-preset", path=str(own))
    assert within(answer.error, "misplaced-entry") == {"value": "'boundaries'"}


def test_check_without_a_protocol_is_that_of_pixels(segbench, tmp_path):
    places = write_papers(tmp_path)
    plain, named = (segbench("check", *verb, *places, "--format", "json") for verb in ([], ["pixels"]))
    assert plain == named
    assert json.loads(plain.out)["reports"][0]["protocol"] == "pixels"
    (report,) = json.loads(segbench("check", "boundaries", *places, "--format", "json").out)["reports"]
    assert report["protocol"] == "boundaries"


def completed(line):
    """Return what Tab offers behind a line, and the protocols that were imported for it."""
    script = (
        "import sys\nfrom segbench.cli.main import main\n"
        "try:\n    main()\nfinally:\n    names = [name for name in sys.modules if 'protocols' in name]\n"
        "    print([name for name in names if 'settings' in name], file=sys.stderr)"
    )
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    environment = os.environ | {"_SEGBENCH_COMPLETE": "bash_complete"} | words
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    return [found.removeprefix("plain,") for found in answer.stdout.split()], answer.stderr.strip()


class TestCompletion:
    def test_of_a_verb_imports_no_protocol(self):
        assert completed("segbench bou") == (["boundaries"], "[]")

    def test_of_an_option(self):
        assert completed("segbench boundaries --max")[0] == ["--max-dist"]

    def test_of_a_choice(self):
        assert completed("segbench pixels --progress l")[0] == ["lines"]

    def test_of_a_preset(self):
        assert completed("segbench pixels --preset driv")[0] == ["drive"]

    def test_of_metrics_knows_those_of_the_file(self, segbench, tmp_path):
        for place in ("gt", "pred"):
            (tmp_path / place).mkdir()
            iio.imwrite(tmp_path / place / "a.png", np.eye(8, dtype=np.uint8) * 255)
        file = tmp_path / "r.segbench"
        assert segbench("labels", tmp_path / "gt", tmp_path / "pred", "--positive", "255", "-o", file).code == 0
        assert completed(f"segbench show {file} --metrics dice,spec")[0] == ["dice,specificity"]

    def test_of_all_else_is_that_of_the_shell(self):
        assert completed("segbench pixels gt")[0] == ["file,gt"]

    def test_of_the_shell_is_installed(self, segbench, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("SHELL", "/bin/zsh")
        for _ in range(2):
            assert segbench("--install-completion").code == 0
        file = tmp_path / ".local/share/segbench/complete.zsh"
        assert "_SEGBENCH_COMPLETE=zsh_complete" in file.read_text() == segbench("--show-completion").out[:-1]
        assert (tmp_path / ".zshrc").read_text().count(str(file)) == 1

    def test_of_an_unknown_shell_is_refused(self, segbench, monkeypatch):
        monkeypatch.setenv("SHELL", "/bin/csh")
        answer = segbench("--install-completion")
        assert answer.code == 2
        insist(answer.error, "unknown-shell")
        assert answer.error.values["shell"] == "csh"


PLUGIN = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import segbench
from segbench.core.settings import option


@dataclass(frozen=True, kw_only=True)
class Trimap(segbench.Pixels):
    """Pixels near boundaries alone; a test needs no more than other settings."""

    name = "trimap"
    title = "Each pixel of a band is scored separately."
    examples = ()

    width: int = option("Set the width [pixels] of the band.", 3)
    side: Literal["both", "inner"] = option("Choose the side of the band.", "both")
'''


@pytest.fixture
def plugin(install):
    """Install a protocol of another package; return its folder."""
    return install({"trimap": "trimap_benchmark:Trimap"}, trimap_benchmark=PLUGIN)


class TestProtocolsOfOtherPackages:
    def test_have_a_verb(self, plugin, segbench, tmp_path):
        program = subprocess.run(
            [sys.executable, "-m", "segbench", "--help"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(plugin), *sys.path])},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "Run the protocol of the package trimap-benchmark." in " ".join(program.stdout.split())
        shown = " ".join(segbench("trimap", "--help").out.replace("│", " ").split())
        assert "Set the width [pixels] of the band. [default: 3]" in shown
        assert "both|inner" in shown
        assert "segbench trimap GT PRED -o results.segbench" in shown
        refused = segbench("trimap", *write_papers(tmp_path), "--side", "outer")
        assert refused.code == 2
        insist(refused.error, "unreadable-option", option="--side")
        assert re.findall(r"'(both|inner|outer)'", refused.error.values["text"])[-2:] == ["both", "inner"]


def test_help_leaves_heavy_libraries_alone():
    heavy = {"numpy", "numba", "matplotlib", "scipy", "PIL", "pydantic", "importlib.metadata"}
    verbs_ = [[verb] for verb in (*verbs(), *FIXED)]
    # In one process, which takes as long as one command; the first that loads one of them is named with it.
    script = (
        "import sys\n"
        "from segbench.cli.main import main\n"
        f"for words in {[[], *verbs_, ['check', 'pixels'], ['run', 'drive']]}:\n"
        "    sys.argv = ['segbench', *words, '--help']\n"
        "    try:\n        main()\n"
        "    except SystemExit as end:\n        assert not end.code, words\n"
        f"    if loaded := {heavy} & set(sys.modules):\n        sys.exit(f'{{words}} loads {{sorted(loaded)}}')\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        (["plot", "a", "b", "-o", "x.pdf"], "one-file", {}),
        (["compare", "a", "b"], "one-file", {}),
        (["pixels", "gt", "pred", "--digits", "2"], "option-of-others", {"typed": "--digits"}),
    ],
)
def test_what_belongs_to_another_command_names_it(segbench, line, kind, values):
    answer = segbench(*line)
    assert answer.code == 2
    insist(answer.error, kind, **values)
    assert kind != "option-of-others" or answer.error.values["commands"][:2] == ("show", "compare")
