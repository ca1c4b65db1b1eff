"""What was meant by a function, an argument or a metric that segbench does not have.

The words of other tools are in `segbench.core.guesses`; `answering` is put on public functions.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from os import PathLike
from typing import Any, NoReturn, ParamSpec, TypeVar

from segbench.core.errors import ArgumentError, UnknownArgumentError
from segbench.core.guesses import COMMANDS, METRICS, POSITIONS, WITH_AN_OPTION, options_meant, plain
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
    "result.summary": "metrics compute_metrics scores_dict results value values",
    "result.to_dataframe()": "to_dataframe dataframe to_pandas to_df to_csv to_excel per_image_table",
    "result.to_dict()": "to_json json as_dict asdict",
    "result.intervals()": "bootstrap confidence_interval confidence_intervals ci bootstrap_ci",
    "print(result)": "show print_results table",
    "result.parts('class')": "per_class classes class_metrics classification_report by_class",
    "segbench.plot_confusion([result])": "confusion_matrix confusionmatrixdisplay plot_confusion_matrix",
    "segbench.plot_pr([result])": "plot_precision_recall plot_precision_recall_curve precisionrecalldisplay",
    "segbench.plot([result], 'box')": "plot_box boxplot plot_boxplot",
    "segbench.plot([result], 'images')": "plot_violin violinplot",
}
_FUNCTIONS = {
    "segbench.load_results('results.segbench')": "load load_result read read_results open_results",
    "segbench.evaluate(ground_truth, prediction)": "eval run benchmark score evaluate_folder evaluate_folders",
    "segbench.evaluate(ground_truth, prediction, protocol='scored')": "cocoeval meanaverageprecision coco_eval",
    "segbench.Accumulator('labels')": "meter metric evaluator torchmetrics",
}
"""What other packages call functions of a result, and functions that make one."""

_ALPHA = ("alpha", "p_value", "significance", "significance_level")
_OF_ACCUMULATORS = {
    "accumulator.update(ground_truth, prediction, names=names)": "add add_batch add_image forward append step",
    "accumulator.compute().summary": "result results aggregate evaluate summary value get_metric metrics",
    "accumulator.reset()": "clear restart",
    "accumulator.merge(other)": "sync gather all_gather dist_reduce merge_state",
}
"""What other packages call the methods of what counts batches."""

_ARGUMENTS = {
    "--jobs 4": "executor=segbench.process_pool(4)",
    "--output FILE": "results='results.segbench'",
    "--intervals 95": "result.intervals(level=0.95) of the result",
    "--intervals 99": "result.intervals(level=0.99) of the result",
    "--scale 255": "repairs=segbench.Repairs(scale=255)",
    "--scale sigmoid": "repairs=segbench.Repairs(scale='sigmoid')",
    "--scale minmax": "repairs=segbench.Repairs(scale='minmax')",
    "--resize-predictions nearest": "repairs=segbench.Repairs(resize='nearest')",
    "--metrics KEYS": "result.summary[KEY] of the result, or compare_results(results).answer(KEY)",
    "--per-class": "result.parts('class') of the result",
    "--per-image": "result.per_image of the result",
}
"""What is written in Python for options that no argument is called after."""


def answering(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function so that it refuses unknown arguments with advice on what to write."""
    parameters = inspect.signature(function).parameters
    known = parameters.keys()
    positional = sum(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters.values())

    @wraps(function)
    def answered(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if len(args) > positional:
            _refuse_too_many(function, args)
        if not kwargs.keys() <= known:
            refuse_unknown_arguments(function, args, kwargs)
        return function(*args, **kwargs)

    return answered


def _refuse_too_many(called: Callable[..., object], args: tuple[object, ...]) -> None:
    """Refuse more arguments by position than a function takes."""
    parameters = inspect.signature(called).parameters.values()
    by_position = [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
    as_list = len(by_position) == 1 and len({type(argument) for argument in args}) == 1
    raise UnknownArgumentError(
        Message(
            "too-many-arguments",
            "{called} takes {names} by position, and {number} arguments were given; {advice}",
            called=called.__name__,
            names=by_position,
            number=len(args),
            advice=f"write {called.__name__}([...]), with a list" if as_list else "give the others by name",
        )
    )


def refuse_unknown_arguments(
    called: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    """Refuse keyword arguments that a function or class does not have, and say which were meant."""
    unknown = unknown_to(called, kwargs)
    if not unknown:
        return
    parameters = inspect.signature(called).parameters
    known = dict(zip(parameters, args, strict=False)) | {name: kwargs[name] for name in kwargs if name in parameters}
    meant = [*dict.fromkeys(_argument_meant(name, kwargs[name], parameters, known) for name in unknown)]
    its_arguments = Message("fix", "its arguments are {names}", names=[name for name in parameters if name != "self"])
    raise UnknownArgumentError(
        Message(
            "unknown-argument",
            "{called} has no argument {unknown}; {advice}",
            called=called.__qualname__.removesuffix(".__init__"),
            unknown=unknown,
            advice=joined(meant) or its_arguments,
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
    from segbench.loaders.reading import Repairs

    if "repairs" in parameters and (repairs := meant_settings(Repairs, typed, value, {})):
        return f"write repairs=segbench.Repairs({_written(repairs)})"
    if renamed := _renamed(typed, value, parameters):
        return renamed
    options = list(options_meant(typed))
    names = [flag.lstrip("-").replace("-", "_") for flag, _ in options]
    names = [name for name in names if name in parameters]
    names += difflib.get_close_matches(typed, parameters, 1, 0.75)
    if names:
        setting = Setting(names[0], value)
        # Messages hold texts and numbers alone.
        storable = setting if isinstance(value, (str, int, float)) else setting.written("python")
        return Message("fix", "write {setting}", setting=storable)
    written_options = [f"{flag} {text}".rstrip() for flag, text in options]
    written_options += [option for option in _ARGUMENTS if option.split()[0] == f"--{typed.replace('_', '-')}"]
    in_python = [_ARGUMENTS[option] for option in written_options if option in _ARGUMENTS]
    return f"write {in_python[0]}" if in_python else ""


def _renamed(typed: str, value: object, parameters: Collection[str]) -> str:
    """Write an argument that other packages call differently: ground truth, prediction, or one less the level."""
    first_two = [name for name in parameters if name != "self"][:2]
    takes_both = first_two in (["ground_truth", "prediction"], ["labels", "scores"])
    names = [name for words, name in zip(POSITIONS, first_two, strict=False) if takes_both and typed in words.split()]
    if names and "pairs" in parameters and not isinstance(value, (str, PathLike)):
        return "write segbench.evaluate([(ground_truth, prediction)]), one pair of arrays per image"
    if names:
        return f"write {names[0]}=..."
    if typed in _ALPHA and "level" in parameters and isinstance(value, float):
        return f"write {Setting('level', round(1 - value, 6)).written('python')}"
    return ""


def _setting_meant(typed: str, value: object, protocol_argument: object) -> str:
    """Write the protocol with the setting that was meant: that of the call, or else those that have the setting."""
    protocol: Any = None
    with suppress(ArgumentError):
        protocol = as_protocol(protocol_argument)
    if is_dataclass(protocol):
        protocol_class: Any = type(protocol)
        required = {
            field.name: getattr(protocol, field.name) for field in fields(protocol_class) if field.default is MISSING
        }
        if meant := meant_settings(protocol_class, typed, value, required):
            default = protocol_class(**required)
            settings = {field.name: getattr(protocol, field.name) for field in fields(protocol_class) if field.init}
            changed = {name: setting for name, setting in settings.items() if setting != getattr(default, name)}
            written = _written(changed | required | _first(meant))
            return f"{_OF_PROTOCOL}: write protocol=segbench.{protocol_class.__name__}({written})"
    meant_by_class = {other.__name__: meant_settings(other, typed, value, {}) for other in protocols().values()}
    meant_by_class = {name: meant for name, meant in meant_by_class.items() if meant}
    if not meant_by_class:
        return ""
    keeping_value = [name for name, meant in meant_by_class.items() if value in meant.values()]
    written_protocols = [
        f"segbench.{name}({_written(_first(meant_by_class[name]))})"
        for name in dict.fromkeys([*keeping_value, *meant_by_class])
    ]
    return f"{_OF_PROTOCOL}: write protocol={first_names(written_protocols, _LISTED, ', or ')}"


def _first(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first of some settings."""
    return dict([next(iter(settings.items()))])


def _written(settings: Mapping[str, object]) -> str:
    """Write settings as arguments."""
    return ", ".join(Setting(name, value).written("python") for name, value in settings.items())


def measured_by(word: str) -> list[tuple[str, str]]:
    """Return the keys of the metrics that a plain word may mean, and the verbs of the protocols that measure them."""
    known = [
        (metric.key, verb)
        for verb in verbs()
        for protocol in protocols_of(verb)
        if not _needs_settings(protocol)
        for metric in protocol().metrics()
        if metric.key
    ]
    known += WITH_AN_OPTION.items()
    keys_of_word = {key for keys, words in METRICS.items() if word in words.split() for key in keys.split()}
    exact = [(key, verb) for key, verb in known if plain(key) == word]
    by_table = [(key, verb) for key, verb in known if key in keys_of_word]
    by_prefix = [(key, verb) for key, verb in known if len(word) > 2 and plain(key).startswith(word)]
    return list(dict.fromkeys([*exact, *by_table, *by_prefix]))


def _needs_settings(protocol: type[Protocol]) -> bool:
    """Return whether a protocol cannot be made without a setting."""
    parameters = inspect.signature(protocol).parameters.values()
    return any(parameter.default is parameter.empty for parameter in parameters)


def refuse_attribute(owner: object, name: str) -> NoReturn:
    """Raise the error of an attribute that a result or accumulator does not have, and say what to write."""
    table = _OF_ACCUMULATORS if hasattr(type(owner), "update") else _OF_RESULTS
    advice = next((f"; write {written}" for written, words in table.items() if name.lower() in words.split()), "")
    keys = {name} | {key for key, words in METRICS.items() if plain(name) in words.split()}
    if not advice and table is _OF_RESULTS and not name.startswith("_"):
        known = [metric.key for metric in getattr(owner, "metrics", ()) if keys & {metric.key, plain(metric.key)}]
        advice = f"; write result.summary[{known[0]!r}]" if known else ""
    raise AttributeError(f"{type(owner).__name__} has no attribute {name!r}{advice}", name=name, obj=owner)


def name_meant(name: str, public: Collection[str]) -> str:
    """Say what to write for a name that segbench does not have; empty if nobody knows."""
    for written, words in (_OF_RESULTS | _FUNCTIONS).items():
        if name.lower() in words.split():
            of_result = f", with {_RESULT}" if written in _OF_RESULTS else ""
            return f"write {written}{of_result}"
    metrics = measured_by(plain(name))
    similar = difflib.get_close_matches(name.lower(), [other.lower() for other in public], 1, 0.8)
    if similar and not metrics:
        return f"perhaps segbench.{next(other for other in public if other.lower() == similar[0])} is meant"
    if not metrics:
        return ""
    called = {name.lower(), *(key for key, _ in metrics)}
    usual_verb = next((verb for verb, words in COMMANDS.items() if called & {*words.split()}), "")
    key, verb = next(((key, verb) for key, verb in metrics if verb == usual_verb), metrics[0])
    if key in WITH_AN_OPTION:
        return f"it is measured by the protocol {verb}"
    pair = "(ground_truth, prediction)"
    return f"write segbench.evaluate([{pair}], protocol={verb!r}).summary[{key!r}]"
