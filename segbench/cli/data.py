"""Options of verbs that read folders: where images lie, how names pair, and what may be done to predictions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from segbench.cli.measuring import Belonging, say_units
from segbench.cli.methods import method_places
from segbench.cli.options import argument
from segbench.cli.selection import tell
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting, option_of
from segbench.core.names import MethodRun
from segbench.core.settings import option

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol
    from segbench.loaders.pairing import Inputs, Pairing
    from segbench.loaders.presets import Preset
    from segbench.loaders.reading import Repairs


def _take_over(context: click.Context, _: click.Parameter, name: str | None) -> str | None:
    """Make a preset's options the defaults of the command, as the callback of ``--preset``."""
    from segbench.loaders.presets import load_preset

    if name is not None:
        options = defaults_of(load_preset(name), context.command.name or "", context.obj)
        context.default_map = {**(context.default_map or {}), **options}
    return name


def _presets(_: click.Context) -> Mapping[str, Preset]:
    """List the presets that ship with segbench, to complete their names."""
    from segbench.loaders.presets import presets

    return presets()


@dataclass(frozen=True, kw_only=True)
class Data(Belonging):
    """The images of a run, as given on the command line."""

    ground_truth: str | None = argument(
        "GT",
        "Ground truth: a folder, archive (.zip, .tar, .tar.gz), folder of archives or single file; with a preset, "
        "the top folder of the data set.",
        None,
    )
    prediction: tuple[str, ...] = argument(
        "PRED",
        "Predictions: the same, once for each method, which can be named: ours=FOLDER; several trainings or folds of "
        "one method are its runs: ours@1=FOLDER1 ours@2=FOLDER2, or ours@='PRED/seed*'.",
        (),
    )
    pairs: str | None = option(
        "Read a list of files instead of GT and PRED: columns name, ground_truth, prediction[:METHOD], field.",
        metavar="CSV",
        rare=True,
    )
    preset: str | None = option(
        "Take layout and options of a data set, or of a .toml file; see segbench run --list. Options on the command "
        "line take precedence.",
        metavar="NAME",
        callback=_take_over,
        complete=_presets,
    )
    gt_pattern: str = option(
        "Describe the names of ground-truth files: * is the image's name, # an annotator; '*_manual1', '*.#'.",
        "*",
        metavar="PATTERN",
    )
    pred_pattern: str = option(
        "Describe the names of predictions: * is the image's name, # a class or one of several label maps; '*_pred', "
        "'class_#/*', '*/#'.",
        "*",
        metavar="PATTERN",
    )
    field: str | None = option(
        "Leave out pixels where the image's mask (field of view) in this folder is 0.", metavar="FOLDER", rare=True
    )
    field_pattern: str = option("Describe the names of masks: '*_mask'.", "*", metavar="PATTERN", rare=True)
    negatives: str = option(
        "Count all pixels of these predictions as negative; they need no ground truth: 'good/*'.",
        "",
        metavar="PATTERN",
    )
    group: str | None = option("Count the images of one group, or category of a data set.", metavar="NAME", rare=True)
    images: str | None = option(
        "Restrict the run to some images: names and patterns, 'coins,c*', all others '!moon', or a text file with one "
        "per line.",
        metavar="LIST",
        shown="all",
        rare=True,
    )
    allow_missing: bool = option(
        "Leave out ground-truth images without a prediction; the signature says how many.", False, rare=True
    )
    resize_predictions: str | None = option(
        "Resize predictions to the size of the ground truth.",
        metavar="nearest|bilinear",
        shown="refuse other sizes",
        rare=True,
    )
    crop: bool = option(
        "Crop the larger of prediction and ground truth at the lower right, by at most a tenth or 2 pixels.",
        False,
        rare=True,
    )
    scale: str | None = option(
        "Divide stored values by a number such as 255, apply a sigmoid to logits, or stretch each image by itself "
        "(minmax), which changes pooled metrics.",
        metavar="NUMBER|sigmoid|minmax",
    )
    nodata: str | None = option(
        "Where GeoTIFFs of scores declare that they have no data: give the lowest score, or leave the pixels out.",
        metavar="lowest|exclude",
        shown="refuse such scores",
        rare=True,
    )
    on_top: str | None = option(
        "Where instances that files list overlap: which of them a map shows.",
        metavar="first|last|largest|smallest|score",
        shown="refuse instances that overlap",
        rare=True,
    )
    min_score: float | None = option(
        "Draw detections of at least this score where files of instances become maps.",
        metavar="SCORE",
        shown="all",
        rare=True,
    )
    rasterise: str = option(
        "Draw shapes of LabelMe with their outline, as LabelMe does, or as pycocotools draws polygons.",
        "labelme",
        metavar="labelme|coco",
        rare=True,
    )
    sizes: str | None = option(
        "Take the sizes of images from the photographs in this folder, or one for all, where files of instances do not "
        "tell them: 640x480.",
        metavar="FOLDER|WxH",
        rare=True,
    )
    geometry: str = option(
        "Compare the arrays of volumes alone, whatever positions their headers tell.",
        "header",
        metavar="header|shape",
        shown="voxels lie at the same positions",
        rare=True,
    )
    volumes: bool = option(
        "Read NPY and NPZ arrays of three axes, and TIFF files of several pages, as volumes.", False, rare=True
    )

    def pairings(self, protocol: Protocol) -> dict[MethodRun, Pairing]:
        """Pair the files of each method and run; a folder that holds several methods gives those of each sub-folder."""
        from segbench.aggregator.methods import refuse_mixed, refuse_overlapping_runs, require_new
        from segbench.inputs.files import find_files, find_methods
        from segbench.loaders.belonging import UNIT, assignments

        pairings: dict[MethodRun, Pairing] = {}
        for method, inputs in self._inputs().items():
            pairing = find_files(inputs, protocol)
            in_folders = find_methods(pairing, protocol)
            if in_folders:
                listed = ", ".join(in_folders)
                number = len(in_folders)
                click.echo(f"{inputs.prediction} holds {number} methods, evaluated one by one: {listed}", err=True)
            by_method = {MethodRun(name, method.run): folder_pairing for name, folder_pairing in in_folders.items()}
            for name, method_pairing in (by_method or {method: pairing}).items():
                require_new(pairings, name, method_pairing.inputs.prediction or "")
                pairings[name] = self._of_group(method_pairing)
        refuse_mixed({name: pairing.inputs.prediction or "" for name, pairing in pairings.items()})
        refuse_overlapping_runs(pairings)
        paired = [pairing for pairing in pairings.values() if not pairing.problem]
        say_units(assignments(self.belonging([pairing]), pairing.names).get(UNIT) for pairing in paired)
        return pairings

    def first_columns(self, protocol: Protocol) -> tuple[str, ...]:
        """Return the keys of the metrics that papers print of a data set, in their order; none without a preset."""
        from segbench.loaders.presets import load_preset
        from segbench.protocols.registry import verb_of

        if self.preset is None:
            return ()
        keys = load_preset(self.preset).columns.get(verb_of(type(protocol)), ())
        unknown = [key for key in keys if key not in {metric.key for metric in protocol.metrics()}]
        if unknown:  # also where options choose another kind of objects
            tell(
                Message(
                    "unknown-column",
                    "[columns] of {preset} holds {unknown}, which this run lacks: tables leave it out",
                    preset=self.preset,
                    unknown=unknown,
                )
            )
        return tuple(key for key in keys if key not in unknown)

    def belonging(self, pairings: Collection[Pairing]) -> dict[str, str]:
        """Return the settings that say what images belong to; categories of a data set are groups."""
        from segbench.loaders.belonging import FOLDER

        of_categories = any(pairing.inputs.category for pairing in pairings)
        usual = FOLDER if of_categories or self.group is not None else ""
        return {"group_by": self.group_by or usual, "unit": self._unit_of(pairings)}

    def _unit_of(self, pairings: Collection[Pairing]) -> str:
        """Return what says which images belong together; of a preset only where its units are enough."""
        from segbench.loaders.belonging import usual_units
        from segbench.loaders.presets import load_preset

        if self.unit is None or self.preset is None or load_preset(self.preset).options.get("unit") != self.unit:
            return self.unit or ""
        known = [usual_units(self.unit, pairing.names) for pairing in pairings]
        for note in dict.fromkeys(note for _, notes in known for note in notes):
            click.echo(note, err=True)
        return self.unit if all(usual for usual, _ in known) else ""

    def _of_group(self, pairing: Pairing) -> Pairing:
        """Take the images of a group if one is chosen; refuse a setting that gives no groups."""
        from segbench.loaders.belonging import assignments

        if pairing.problem:
            return pairing
        groups = assignments(self.belonging([pairing]), pairing.names).get("group")
        by_category = pairing.inputs.category and self.group_by is None  # of which no other was paired
        if self.group is None or by_category:
            return pairing
        if groups is None:
            raise ArgumentError(
                Message(
                    "excluding-options",
                    "{given} needs groups, and --group-by none takes them away; leave it out",
                    given=Setting("group", self.group),
                )
            )
        chosen, total = groups.require(self.group), pairing.total or len(pairing.files)
        files = tuple(files for files in pairing.files if groups.of_images.get(files.name) == chosen)
        images = replace(pairing.inputs, images=tuple(image.name for image in files))
        return replace(pairing, files=files, inputs=images, total=total)

    def _inputs(self) -> dict[MethodRun, Inputs]:
        """Say where the images of each method are."""
        from segbench.loaders.categories import inputs_of, photographs_below
        from segbench.loaders.file_list import as_images, method_columns
        from segbench.loaders.pairing import Inputs, Pattern
        from segbench.loaders.presets import load_preset

        columns = {} if self.pairs is None else method_columns(self.pairs)
        patterns = {name: getattr(self, name) for name in ("gt_pattern", "pred_pattern", "field_pattern", "negatives")}
        if self.pairs is not None:
            beside = Inputs(ground_truth=self.ground_truth or "", field=self.field, **patterns).beside_list()
            named = ["GT and PRED" if name == "ground_truth" else option_of(name) for name in beside]
            if beside:
                raise ArgumentError(
                    Message(
                        "beside-pairs",
                        "--pairs names all files; leave out {beside}{or_preset}",
                        beside=named,
                        or_preset=" and --preset" if self.preset else "",
                    )
                )
        elif self.ground_truth is None or not self.prediction:
            raise ArgumentError(
                Message("no-files", "give GT and PRED, or a list of files with {pairs}", pairs=Setting("pairs", None))
            )
        predictions = method_places(self.prediction)
        ground_truth, field = self.ground_truth, self.field
        categories: dict[str, Path] = {}
        preset = None if self.preset is None or ground_truth is None else load_preset(self.preset)
        if preset is not None:
            ground_truth, field, categories = self._placed(preset)
        elif field is None and self.field_pattern != "*" and self.preset is None:
            Pattern.parse(self.field_pattern, "field_pattern")
            raise ArgumentError(
                Message(
                    "no-field-folder",
                    "--field-pattern says how masks are named; name their folder with {field}",
                    field=Setting("field", None),
                )
            )
        typed, names = self.images, None
        if typed is not None:
            is_list = typed.endswith(".txt") or os.path.exists(typed)  # noqa: PTH110  a str is enough
            names = typed if is_list else typed.split(",")
        where = Inputs(
            ground_truth=ground_truth or "",
            field=field,
            pairs=self.pairs,
            sizes=self.sizes,
            images=() if names is None else as_images(names),
            allow_missing=self.allow_missing,
            **patterns,
        )
        if self.pairs is not None:
            return {MethodRun(method): replace(where, column=name) for method, name in columns.items()}
        placed = {method: replace(where, prediction=prediction) for method, prediction in predictions.items()}
        if preset is None:
            return placed
        below, test = (preset.layout.get(role, ()) for role in ("images", "test"))
        if not categories:
            photographs = photographs_below(Path(self.ground_truth or ""), test)
            return {method: replace(inputs, photographs=photographs) for method, inputs in placed.items()}
        return {method: inputs_of(categories, inputs, below, test) for method, inputs in placed.items()}

    def _placed(self, preset: Preset) -> tuple[str, str | None, dict[str, Path]]:
        """Find and tell ground truth and masks of a data set below its folder, or the ground truth of its categories.

        A mask given by hand comes first.
        """
        from segbench.loaders.categories import categories_of
        from segbench.loaders.source import is_archive

        folder = self.ground_truth or ""
        root = Path(folder)
        if is_archive(folder) and not root.is_dir():
            raise ArgumentError(
                Message(
                    "archive",
                    "a preset finds ground truth below a folder on disk, and {path} is an archive; "
                    "name the ground truth itself and type the options (segbench run {preset} --info)",
                    path=folder,
                    preset=preset.name,
                )
            )
        categories = categories_of(preset, root)
        if categories and self.group is not None and self.group_by is None:
            if self.group not in categories:
                raise ArgumentError(
                    Message(
                        "no-such-part",
                        "{given}: {path} has no such category; it has {known}",
                        given=Setting("group", self.group),
                        path=str(root),
                        known=list(categories),
                    )
                )
            categories = {self.group: categories[self.group]}
        if categories:
            click.echo(f"{preset.title}: {', '.join(categories)} in {root}", err=True)
            return folder, self.field, categories
        ground_truth = preset.place("ground_truth", root) or root
        masks = self.field or preset.place("field", root)
        click.echo(
            f"{preset.title}: ground truth in {ground_truth}" + (f", masks in {masks}" if masks else ""), err=True
        )
        if preset.source == "memory":
            click.echo(f"this layout is {preset.known_from}", err=True)
        return str(ground_truth), None if masks is None else str(masks), {}

    def repairs(self, protocol: Protocol) -> Repairs:
        """Read what may be done to predictions; what has no meaning for them is refused before its value is read."""
        from segbench.loaders.reading import Repairs

        resize, scale = self.resize_predictions and "nearest", self.scale and 1
        protocol.reads.check_repairs(Repairs(resize=resize, crop=self.crop, scale=scale, nodata=self.nodata))  # type: ignore[arg-type]  # as below
        return Repairs(
            resize=self.resize_predictions,  # type: ignore[arg-type]  # checked there
            crop=self.crop,
            scale=self.scale,  # type: ignore[arg-type]
            nodata=self.nodata,  # type: ignore[arg-type]
            on_top=self.on_top,  # type: ignore[arg-type]
            min_score=self.min_score,
            rasterise=self.rasterise,  # type: ignore[arg-type]
            geometry=self.geometry,  # type: ignore[arg-type]
            volumes=self.volumes,
        )


def without_meaning(protocol: type[Protocol]) -> set[str]:
    """Name the options that have no meaning for what a protocol reads."""
    unused = {"field", "field_pattern"} if protocol.reads.without_field else set()
    unused |= {"geometry", "volumes"} if protocol.reads.without_volumes else set()
    return unused | ({"negatives"} if protocol.reads.without_negatives else set())


def defaults_of(preset: Preset, verb: str, names: Callable[[str], Collection[str]]) -> dict[str, Any]:
    """Return a preset's options as defaults of a verb; `names` returns the parameters of a verb."""
    if verb not in preset.protocols:
        raise ArgumentError(
            Message(
                "other-protocol",
                "the preset {preset} is for {protocols}, not for {protocol}; run: segbench run {preset} ROOT PRED",
                preset=preset.name,
                protocols=list(preset.protocols),
                protocol=verb,
            )
        )
    known = {name for protocol in preset.protocols for name in names(protocol)}
    strange = [option for option in preset.options if option not in known]
    if strange:
        problem = Message(
            "unknown-option",
            "[options] holds {options}, which is not an option of segbench {protocol}",
            options=strange,
            protocol=preset.protocols[0],
        )
        raise DataError(preset.name, problem, f"see: segbench {preset.protocols[0]} --help")
    return {name: value if isinstance(value, bool) else str(value) for name, value in preset.options.items()}
