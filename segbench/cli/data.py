"""Options of verbs that read folders: where images lie, how names pair, and what may be done to predictions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segbench.cli.parameters import is_typed
from segbench.cli.presets import defaults_of, placed
from segbench.core.errors import ArgumentError
from segbench.core.interface import option_of

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.pairing import Pairing
    from segbench.loaders.repairs import Repairs


def _take_over(context: typer.Context, name: str | None) -> str | None:
    """Make a preset's options the defaults of the command, as the callback of ``--preset``."""
    if name is None:
        return None
    from segbench.loaders.presets import load_preset

    options = defaults_of(load_preset(name), context.command.name or "", context.obj)
    context.default_map = {**(context.default_map or {}), **options}
    return name


@dataclass(frozen=True, kw_only=True)
class Data:
    """The images of a run, as given on the command line."""

    ground_truth: Annotated[
        str | None,
        typer.Argument(
            metavar="GT",
            help="Ground truth: a folder, archive (.zip, .tar, .tar.gz), folder of archives, URL or single file; with "
            "--preset, the top folder of the data set.",
            show_default=False,
        ),
    ] = None
    prediction: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PRED",
            help="Predictions: the same, once for each method, which can be named: ours=FOLDER.",
            show_default=False,
        ),
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="CSV",
            help="Read a list of files instead of GT and PRED: columns name, ground_truth, prediction[:METHOD], field.",
        ),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            is_eager=True,
            callback=_take_over,
            metavar="NAME",
            help="Take layout and options of a data set, or of a .toml file; see segbench presets. Options on "
            "the command line take precedence.",
            show_default=False,
        ),
    ] = None
    gt_pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Describe the names of ground-truth files: * is the image's name, # an annotator; '*_manual1', '*.#'.",
        ),
    ] = "*"
    pred_pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Describe the names of predictions: * is the image's name, # a class or one of several label maps; "
            "'*_pred', 'class_#/*', '*/#'.",
        ),
    ] = "*"
    field: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Leave out pixels where the image's mask (field of view) in this folder is 0."
        ),
    ] = None
    field_pattern: Annotated[str, typer.Option(metavar="PATTERN", help="Describe the names of masks: '*_mask'.")] = "*"
    negatives: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="Count all pixels of these predictions as negative; they need no ground truth: 'good/*'.",
        ),
    ] = ""
    images: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Restrict the run to some images: names and patterns, 'coins,c*', all others '!moon', or a text file "
            "with one per line.",
            show_default="all",
        ),
    ] = None
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing", help="Leave out ground-truth images without a prediction; the signature says how many."
        ),
    ] = False
    resize_predictions: Annotated[
        str | None,
        typer.Option(
            metavar="nearest|bilinear",
            help="Resize predictions to the size of the ground truth.",
            show_default="refuse other sizes",
        ),
    ] = None
    crop: Annotated[
        bool,
        typer.Option(
            "--crop",
            help="Crop the larger of prediction and ground truth at the lower right, by at most a tenth or 2 pixels.",
        ),
    ] = False
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|sigmoid|minmax",
            help="Divide stored values by a number such as 255, apply a sigmoid to logits, or stretch each image by "
            "itself (minmax), which changes pooled metrics.",
        ),
    ] = None

    def pairings(self, context: typer.Context, protocol: Protocol) -> dict[str, Pairing]:
        """Pair the files of each method, and of a folder that holds several methods those of each of its sub-folders.

        A line names the methods that were found in sub-folders.
        """
        from segbench.protocols.files import find_files, find_methods

        found: dict[str, Pairing] = {}
        for method, inputs in self._inputs(context).items():
            pairing = find_files(inputs, protocol)
            below = find_methods(pairing, protocol)
            if below:
                listed = ", ".join(below)
                typer.echo(f"{inputs.prediction} holds {len(below)} methods, evaluated one by one: {listed}", err=True)
            for name, each in (below or {method: pairing}).items():
                _require_new(found, name, each.inputs.prediction or "")
                found[name] = each
        return found

    def _inputs(self, context: typer.Context) -> dict[str, Inputs]:
        """Say where the images of each method are."""
        from segbench.loaders.inputs import Inputs
        from segbench.loaders.subset import as_images

        key = "prediction" if self.pairs is None else "column"
        methods = self._methods()
        ground_truth, field = self.ground_truth, self.field
        if self.preset is not None and ground_truth is not None:
            ground_truth, field = placed(self.preset, ground_truth, field)
        if field is None and is_typed(context, "field_pattern"):
            raise ArgumentError("--field-pattern says how masks are named; name their folder with --field")
        given = self.images
        names = given if given is None or given.endswith(".txt") or os.path.exists(given) else given.split(",")  # noqa: PTH110  a str is enough
        where = Inputs(
            ground_truth=ground_truth or "",
            field=field,
            pairs=self.pairs,
            images=as_images(names),
            allow_missing=self.allow_missing,
            **self._patterns,
        )
        at: dict[str, dict[str, Any]] = {method: {key: place} for method, place in methods.items()}
        return {method: replace(where, **place) for method, place in at.items()}

    @property
    def _patterns(self) -> dict[str, Any]:
        """How names pair, as keywords of `Inputs`."""
        return {
            "gt_pattern": self.gt_pattern,
            "pred_pattern": self.pred_pattern,
            "field_pattern": self.field_pattern,
            "negatives": self.negatives,
        }

    def _methods(self) -> dict[str, str]:
        """Give the place of the predictions of each method, or its column of the file list."""
        if self.pairs is None:
            if self.ground_truth is None or not self.prediction:
                raise ArgumentError("give GT and PRED, or a list of files with --pairs")
            return methods_of(self.prediction)
        if self.ground_truth is not None:
            raise ArgumentError("--pairs names all files; leave out the folders")
        from segbench.loaders.file_list import method_columns
        from segbench.loaders.inputs import Inputs
        from segbench.loaders.presets import load_preset

        beside = Inputs(field=self.field, **self._patterns).beside_list()
        if beside:
            message = f"--pairs names all files; leave out {', '.join(map(option_of, beside))}"
            theirs = [name for name in beside if self.preset and name in load_preset(self.preset).options]
            if theirs:
                message += f" (the preset {self.preset} gives {', '.join(map(option_of, theirs))}; leave out --preset)"
            raise ArgumentError(message)
        return method_columns(self.pairs)

    def repairs(self) -> Repairs:
        """Read what may be done to predictions."""
        from segbench.loaders.repairs import Repairs, as_resize
        from segbench.loaders.scaling import as_scale

        return Repairs(
            resize=None if self.resize_predictions is None else as_resize(self.resize_predictions),
            crop=self.crop,
            scale=None if self.scale is None else as_scale(self.scale),
        )


def without_meaning(protocol: type[Protocol]) -> set[str]:
    """Name the options that have no meaning for what a protocol reads."""
    unused = {"field", "field_pattern"} if protocol.reads.without_field else set()
    return unused | ({"negatives"} if protocol.reads.without_negatives else set())


def methods_of(predictions: list[str]) -> dict[str, str]:
    """Read ``PLACE`` and ``name=PLACE`` into methods by name; a place is a folder, an archive, a file or a URL."""
    from segbench.loaders.archives import method_name
    from segbench.loaders.decoded import shown
    from segbench.loaders.urls import is_url, masked

    methods: dict[str, str] = {}
    for text in predictions:
        name, equals, place = text.partition("=")
        named = bool(equals) and not is_url(text) and not os.path.lexists(text)
        place = place if named else text
        method = shown(name) if named else method_name(place)
        if not method or not place:
            raise ArgumentError(f"{masked(text)!r} gives no name; write name=FOLDER")
        _require_new(methods, method, place)
        methods[method] = place
    return methods


def _require_new(methods: Mapping[str, object], method: str, place: str) -> None:
    from segbench.loaders.decoded import shown
    from segbench.loaders.urls import masked

    if method in methods:
        raise ArgumentError(f"two methods are called {method!r}; give one another name: other={shown(masked(place))}")
