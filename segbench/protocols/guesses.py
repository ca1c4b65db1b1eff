"""What was meant by a function, an argument or a metric that segbench does not have, by the table of guesses."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from segbench.core.errors import ArgumentError, UnknownArgumentError
from segbench.core.guesses import COMMANDS, METRICS, WITH_AN_OPTION, options_meant, plain
from segbench.core.messages import Message, Setting, joined
from segbench.core.names import first_names
from segbench.core.protocol import Protocol
from segbench.core.settings import meant_settings, unknown_to
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol, protocols, protocols_of, verbs

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LISTED = 3
_RESULT = "result = segbench.evaluate(ground_truth, prediction)"
_OF_PROTOCOL = "it is a setting of the protocol"
_OF_RESULTS = {
    "segbench.average_precision(result)": "average_precision_score",
    "segbench.auc_roc(result)": "roc_auc_score roc_auc auroc_score",
    "segbench.auc_pr(result)": "pr_auc pr_auc_score",
    "segbench.pr_curve(result)": "precision_recall_curve",
    "segbench.best_f(result)": "max_f best_f1 optimal_threshold",
    "segbench.compare_results([result, other])": "compare_methods significance ttest wilcoxon",
    "segbench.export_report([result], 'report.html')": "report save_report write_report html",
    "result.save('results.segbench')": "save save_result save_results dump write write_results export_results",
    "result.summary": "metrics compute_metrics",
    "result.to_dataframe()": "to_dataframe dataframe to_pandas",
}
_FUNCTIONS = {
    "segbench.load_results('results.segbench')": "load load_result read read_results open_results",
    "segbench.evaluate(ground_truth, prediction)": "eval run benchmark score evaluate_folder evaluate_folders",
    "segbench.Accumulator('labels')": "meter metric evaluator torchmetrics",
}
"""What other packages call functions and methods; the former take what `evaluate` gives."""

_ARGUMENTS = {
    "--jobs 4": "executor=segbench.process_pool(4)",
    "--output FILE": "results='results.segbench'",
    "--intervals 95": "result.intervals(level=0.95) of the result",
    "--intervals 99": "result.intervals(level=0.99) of the result",
    "--scale 255": "repairs=segbench.Repairs(scale=255)",
    "--scale sigmoid": "repairs=segbench.Repairs(scale='sigmoid')",
    "--scale minmax": "repairs=segbench.Repairs(scale='minmax')",
    "--resize-predictions nearest": "repairs=segbench.Repairs(resize='nearest')",
    "--metrics KEYS": "result.summary[KEY] of the result",
    "--per-class": "result.parts('class') of the result",
    "--per-image": "result.per_image of the result",
}
"""What is written in Python for options that no argument is called after."""


def answering(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function answer arguments that it does not have with what to write."""
    known = inspect.signature(function).parameters.keys()

    @wraps(function)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not kwargs.keys() <= known:
            refuse_unknown_arguments(function, args, kwargs)
        return function(*args, **kwargs)

    return answered


def refuse_unknown_arguments(
    called: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    """Refuse keyword arguments that a function or class does not have, and say which were meant."""
    unknown = unknown_to(called, kwargs)
    if not unknown:
        return
    parameters = inspect.signature(called).parameters
    known = dict(zip(parameters, args, strict=False)) | {name: kwargs[name] for name in kwargs if name in parameters}
    answers = [_argument_meant(name, kwargs[name], parameters, known) for name in unknown]
    its_own = Message("fix", "its arguments are {names}", names=[name for name in parameters if name != "self"])
    raise UnknownArgumentError(
        Message(
            "unknown-argument",
            "{called} has no argument {unknown}; {advice}",
            called=called.__qualname__.removesuffix(".__init__"),
            unknown=unknown,
            advice=joined(answers) or its_own,
        )
    )


def _argument_meant(
    typed: str, value: object, parameters: Collection[str], arguments: Mapping[str, object]
) -> Message | str:
    """Say what to write for an argument: a setting of the protocol or of repairs, or another argument."""
    if "protocol" in parameters:
        of_protocol = _setting_meant(typed, value, arguments.get("protocol", Pixels()))
        if of_protocol:
            return of_protocol
    from segbench.loaders.repairs import Repairs  # which loads NumPy

    if "repairs" in parameters and (repairs := meant_settings(Repairs, typed, value, {})):
        return f"write repairs=segbench.Repairs({_written(repairs)})"
    meant = list(options_meant(typed))
    names = [name for flag, _ in meant if (name := flag.lstrip("-").replace("-", "_")) in parameters]
    names += difflib.get_close_matches(typed, parameters, 1, 0.75)
    if names:
        setting = Setting(names[0], value)  # of any value, which a message need not be able to hold
        kept = setting if isinstance(value, (str, int, float)) else setting.written("python")
        return Message("fix", "write {setting}", setting=kept)
    options = [f"{flag} {text}".rstrip() for flag, text in meant]
    options += [option for option in _ARGUMENTS if option.split()[0] == f"--{typed.replace('_', '-')}"]
    in_python = [_ARGUMENTS[option] for option in options if option in _ARGUMENTS]
    return f"write {in_python[0]}" if in_python else ""


def _setting_meant(typed: str, value: object, given: object) -> str:
    """Write the protocol with the setting that was meant: the one given, or else those that have it."""
    protocol: Any = None
    with suppress(ArgumentError):
        protocol = as_protocol(given)
    if is_dataclass(protocol):
        kind: Any = type(protocol)
        needed = {field.name: getattr(protocol, field.name) for field in fields(kind) if field.default is MISSING}
        if settings := meant_settings(kind, typed, value, needed):
            changed = {field.name: getattr(protocol, field.name) for field in fields(kind) if field.init}
            default = kind(**needed)
            changed = {name: value for name, value in changed.items() if value != getattr(default, name)} | needed
            whole = changed | dict([next(iter(settings.items()))])
            return f"{_OF_PROTOCOL}: write protocol=segbench.{kind.__name__}({_written(whole)})"
    of_kinds = {kind.__name__: meant_settings(kind, typed, value, {}) for kind in protocols().values()}
    able = {kind: settings for kind, settings in of_kinds.items() if settings}
    if not able:
        return ""
    as_given = [kind for kind, settings in able.items() if value in settings.values()]
    first, *others = dict.fromkeys([*as_given, *able])
    written = [f"segbench.{kind}({_written(dict([next(iter(able[kind].items()))]))})" for kind in (first, *others)]
    return f"{_OF_PROTOCOL}: write protocol={first_names(written, _LISTED, ', or ')}"


def _written(settings: Mapping[str, object]) -> str:
    """Write settings as arguments."""
    return ", ".join(Setting(name, value).written("python") for name, value in settings.items())


def measured_by(word: str) -> list[tuple[str, str]]:
    """Return the keys of the metrics that a plain word may mean, and the verbs of the protocols that measure them."""
    known = [
        (metric.key, verb)
        for verb in verbs()
        for kind in protocols_of(verb)
        if not _needs_settings(kind)
        for metric in kind().metrics()
        if metric.key
    ]
    known += WITH_AN_OPTION.items()
    named = {key for keys, words in METRICS.items() if word in words.split() for key in keys.split()}
    exact = [(key, verb) for key, verb in known if plain(key) == word]
    named_here = [(key, verb) for key, verb in known if key in named]
    longer = [(key, verb) for key, verb in known if len(word) > 2 and plain(key).startswith(word)]
    return list(dict.fromkeys([*exact, *named_here, *longer]))


def _needs_settings(kind: type[Protocol]) -> bool:
    """Return whether a protocol cannot be made without a setting."""
    parameters = inspect.signature(kind).parameters.values()
    return any(parameter.default is parameter.empty for parameter in parameters)


def name_meant(name: str, public: Collection[str]) -> str:
    """Say what to write for a name that segbench does not have; empty if nobody knows."""
    for written, words in (_OF_RESULTS | _FUNCTIONS).items():
        if name.lower() in words.split():
            of_result = f", with {_RESULT}" if written in _OF_RESULTS else ""
            return f"write {written}{of_result}"
    metrics = measured_by(plain(name))
    near = difflib.get_close_matches(name.lower(), [other.lower() for other in public], 1, 0.8)
    if near and not metrics:
        return f"perhaps segbench.{next(other for other in public if other.lower() == near[0])} is meant"
    if not metrics:
        return ""
    called = {name.lower(), *(key for key, _ in metrics)}
    usual = next((verb for verb, words in COMMANDS.items() if called & {*words.split()}), "")
    key, verb = next(((key, verb) for key, verb in metrics if verb == usual), metrics[0])
    if key in WITH_AN_OPTION:
        return f"it is measured by the protocol {verb}"
    pair = "(ground_truth, prediction)"
    return f"write segbench.evaluate([{pair}], protocol={verb!r}).summary[{key!r}]"
