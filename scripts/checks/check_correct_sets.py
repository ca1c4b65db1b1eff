"""Check that correct data sets of all protocols, stored as people do, give no finding and no doubt.

    python scripts/checks/check_correct_sets.py [--sets 150] [--seed 0]

Each set is checked with all images and with three, as a run begins, and evaluated: its number must be that of an
independent computation, and neither check nor run may say anything but that nothing was found. Prints what they say, by
protocol and way of storing; exit code 1 if there is anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np
from drawn_folders import (
    LABEL_MAPS,
    MASKS,
    OF_LINES,
    OF_MASKS,
    SOFT_MAPS,
    VOID,
    Folder,
    Scene,
    draw,
    everywhere,
    map_numbers,
    mask_numbers,
    named,
)

import segbench

SHAPE = (36, 48)
IMAGES = 4
OF_PREDICTED_MASKS = ("labels", "contours", "centerlines", "components")
"""Those for which masks are usual predictions."""


def scenes_of(rng: np.random.Generator, name: str) -> list[Scene]:
    """Draw the images of a set."""
    return [draw(rng, SHAPE, lines=name in OF_LINES) for _ in range(IMAGES)]


def soft_sets(rng: np.random.Generator) -> Iterator[Folder]:
    """Make sets of masks and soft maps, stored in every way."""
    for name, (protocol, settings) in OF_MASKS.items():
        if name == "labels":
            continue
        for number, (how_true, store_true) in enumerate(MASKS.items()):
            how, store = list(SOFT_MAPS.items())[number % len(SOFT_MAPS)]
            scenes, chosen = scenes_of(rng, name), dict(settings)
            if name == "saliency" and np.asarray(store_true(scenes[0].mask)[0]).max() in (1, True):
                chosen["positive"] = ">=1"  # which maps of levels are cut at 128 otherwise
            yield Folder(
                f"{name}: {how_true}; {how}",
                protocol,
                chosen,
                named([store_true(scene.mask) for scene in scenes]),
                named([store(scene.levels) for scene in scenes]),
                mask_numbers(name, [s.mask for s in scenes], [s.scores for s in scenes], everywhere(scenes)),
            )


def mask_sets(rng: np.random.Generator) -> Iterator[Folder]:
    """Make sets of masks on both sides, stored in every way."""
    for name in OF_PREDICTED_MASKS:
        protocol, settings = OF_MASKS[name]
        chosen = {setting: value for setting, value in settings.items() if setting != "at"}
        for number, (how_true, store_true) in enumerate(MASKS.items()):
            how = list(MASKS)[(5 * number + 3) % len(MASKS)]
            scenes = scenes_of(rng, name)
            yield Folder(
                f"{name}: {how_true}; mask of {how}",
                protocol,
                chosen,
                named([store_true(scene.mask) for scene in scenes]),
                named([MASKS[how](scene.predicted) for scene in scenes]),
                mask_numbers(name, [s.mask for s in scenes], [s.predicted * 1.0 for s in scenes], everywhere(scenes)),
            )


def label_sets(rng: np.random.Generator) -> Iterator[Folder]:
    """Make sets of label maps, with and without void, of regions, instances and stacks of classes."""
    for number, (how, store) in enumerate(LABEL_MAPS.items()):
        other = list(LABEL_MAPS.values())[(number + 1) % len(LABEL_MAPS)] if how != "palette" else store
        other = LABEL_MAPS["8 bits"] if other is LABEL_MAPS["palette"] and how != "palette" else other
        for void in (False, True):
            scenes = scenes_of(rng, "labels")
            valid = [~scene.void for scene in scenes] if void else everywhere(scenes)
            drawn = [np.where(keep, scene.labels, VOID) for scene, keep in zip(scenes, valid, strict=True)]
            called = f"{how}{', void of 255' if void else ''}"
            truths, classes = named([store(labels) for labels in drawn]), {"classes": range(3)}
            predictions = named([other(scene.predicted_labels) for scene in scenes])
            right = map_numbers("labels", scenes, valid)
            yield Folder(f"labels: {called}", segbench.Labels, classes, truths, predictions, right)
            right = map_numbers("contours", scenes, valid)
            yield Folder(f"contours: {called}", segbench.Contours, classes, truths, predictions, right)
            stacks = named([(scene.stack, "npy") for scene in scenes])
            right = map_numbers("classes", scenes, valid)
            yield Folder(f"classes: {called}", segbench.Classes, {"labels": range(3)}, truths, stacks, right)
            last = named([(np.moveaxis(scene.stack, 0, -1), "npz") for scene in scenes])
            right = map_numbers("labels", scenes, valid)
            yield Folder(f"labels of stacks: {called}", segbench.Labels, classes, truths, last, right)
        scenes = scenes_of(rng, "labels")
        right = map_numbers("regions", scenes, everywhere(scenes))
        truths = named([store(scene.labels + 1) for scene in scenes])
        predictions = named([other(scene.predicted_labels + 1) for scene in scenes])
        yield Folder(f"regions: {how}", segbench.Regions, {}, truths, predictions, right)
        truths = named([store(scene.objects) for scene in scenes])
        predictions = named([other(scene.predicted_objects) for scene in scenes])
        right = map_numbers("instances", scenes, everywhere(scenes))
        yield Folder(f"instances: {how}", segbench.Objects, {"kind": "instances"}, truths, predictions, right)


def other_sets(rng: np.random.Generator) -> Iterator[Folder]:
    """Make sets with several annotators, void values, logits, normal images and classes in folders."""
    scenes = scenes_of(rng, "boundaries")
    masks, scores = [s.mask for s in scenes], [s.scores for s in scenes]
    pattern = {"gt_pattern": "*.#"}
    annotators = {f"im{k}.{n}": MASKS["0 and 255"](mask) for k, mask in enumerate(masks) for n in (1, 2)}
    maps = named([SOFT_MAPS["8 bits"](s.levels) for s in scenes])
    right = mask_numbers("boundaries", masks, scores, everywhere(scenes))
    at_half = {"thresholds": (0.5,)}
    yield Folder("boundaries: two annotators", segbench.Boundaries, at_half, annotators, maps, right, data=pattern)
    right = mask_numbers("pixels", masks, scores, everywhere(scenes))
    majority = {"annotators": "majority"}
    yield Folder("pixels: two annotators", segbench.Pixels, majority, annotators, maps, right, data=pattern)
    for value, encoded in ((VOID, 1), (128, 255)):
        for name, protocol in {
            "pixels": segbench.Pixels,
            "labels": segbench.Labels,
            "contours": segbench.Contours,
        }.items():
            scenes = scenes_of(rng, name)
            valid = [~scene.void for scene in scenes]
            drawn = [np.where(s.void, value, s.mask * encoded).astype(np.uint8) for s in scenes]
            soft = name == "pixels"
            scores = [scene.scores if soft else scene.predicted * 1.0 for scene in scenes]
            stored = [(s.levels, "png") if soft else MASKS["0 and 255"](s.predicted) for s in scenes]
            right = mask_numbers(name, [s.mask for s in scenes], scores, valid)
            truths = named([(mask, "png") for mask in drawn])
            yield Folder(f"{name}: void of {value}", protocol, {"void": value}, truths, named(stored), right)
    scenes = scenes_of(rng, "pixels")
    masks, scores = [s.mask for s in scenes], [s.scores for s in scenes]
    truths = named([MASKS["0 and 1"](mask) for mask in masks])
    logits = named([(np.log(score / (1 - score)).astype(np.float32), "npy") for score in scores])
    right = mask_numbers("contours", masks, scores, everywhere(scenes))
    yield Folder("contours: logits at 0", segbench.Contours, {"at": 0}, truths, logits, right)
    right = mask_numbers("centerlines", masks, scores, everywhere(scenes))
    for number in range(2):
        masks[number] = np.zeros_like(masks[number])
    truths = named([MASKS["0 and 255"](mask) for mask in masks])
    maps = named([SOFT_MAPS["float32"](s.levels) for s in scenes])
    right = mask_numbers("anomalies", masks, scores, everywhere(scenes))
    yield Folder("anomalies: normal images", segbench.Anomalies, {}, truths, maps, right)
    right = mask_numbers("pixels", masks, scores, everywhere(scenes))
    yield Folder("pixels: images without objects", segbench.Pixels, {}, truths, maps, right)
    frames = {f"walk/{k:02}": LABEL_MAPS["palette"](scene.objects) for k, scene in enumerate(scenes)}
    predicted_frames = {
        f"walk/{k:02}": LABEL_MAPS["palette"](scene.objects * scene.predicted) for k, scene in enumerate(scenes)
    }
    yield Folder("contours: sequences", segbench.Contours, {"convention": "davis"}, frames, predicted_frames, {})


def correct_sets(seed: int, number: int) -> Iterator[Folder]:
    """Draw so many sets: all that there are, and then others of the same kinds."""

    def endless() -> Iterator[Folder]:
        for further_seed in count(seed):
            rng = np.random.default_rng(further_seed)
            for make in (other_sets, label_sets, mask_sets, soft_sets):
                yield from make(rng)

    return islice(endless(), number)


def doubts_on(folder: Folder, root: Path) -> list[str]:
    """Return what check and run say of a set, and whether its number is another; nothing if all is well."""
    where, protocol = folder.write(root), folder.protocol(**folder.settings)
    doubts = []
    for sample in (None, 3):
        report = segbench.check(*where, protocol, sample=sample, **folder.data)
        doubts += [f"check of {sample or 'all'}: {finding}" for finding in report.findings]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = segbench.evaluate(*where, protocol, **folder.data)
        except segbench.SegbenchError as error:
            return [*doubts, f"run: {error}"]
    doubts += [f"run: {warning.message}" for warning in caught]
    doubts += [f"note: {note}" for note in result.notes if note.doubt]
    for key, value in folder.right.items():
        measured = result.summary[key]
        if not np.isclose(measured, value, rtol=1e-6):
            doubts.append(f"number: {key} is {measured}, not {value}")
    return doubts


def main() -> int:
    """Make the sets, and print what is said of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = 0
    for folder in correct_sets(arguments.seed, arguments.sets):
        with tempfile.TemporaryDirectory() as root:
            doubts = doubts_on(folder, Path(root))
        if doubts:
            wrong += 1
            print(folder.kind, *doubts, sep="\n    ", flush=True)
    print(f"{wrong} of {arguments.sets} correct sets are doubted")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
