"""The demo set: nine pictures, the ground truth of three tasks and ten classical methods' predictions."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demo_data import edges, labels, objects
from demo_data.files import write_levels, write_mask, write_picture, write_scores
from demo_data.outlines import FOLDER, annotation, boundaries
from demo_data.pictures import SIZES, small_picture

# 64 grey levels keep the edge maps small, and 99 thresholds still tell them apart.
EDGE_STEP = 4


def make_demo(folder: Path) -> None:
    """Write the pictures, the ground truth of all tasks and every method's predictions under `folder`."""
    for name in SIZES:
        write_ground_truth(folder, name)
        path = folder / "images" / f"{name}.jpg"
        write_picture(path, small_picture(name))
        # The methods see what ships, so that anyone can repeat them on it.
        picture = np.asarray(Image.open(path))
        for method, detect in objects.METHODS.items():
            write_scores(folder / "objects" / "predictions" / method / f"{name}.png", detect(picture))
        for method, detect in edges.METHODS.items():
            write_scores(folder / "edges" / "predictions" / method / f"{name}.png", detect(picture), EDGE_STEP)
        truth = label_map(name)
        write_levels(folder / "labels" / "ground_truth" / f"{name}.png", truth)
        for method, extend in labels.METHODS.items():
            predicted = extend(picture, labels.strokes(truth))
            write_levels(folder / "labels" / "predictions" / method / f"{name}.png", predicted)
    classes = "".join(f"{label} {name}\n" for label, name in enumerate(labels.CLASSES))
    (folder / "labels" / "classes.txt").write_text(classes)


def write_ground_truth(folder: Path, name: str) -> None:
    """Write the masks and boundary maps of one picture, of a second annotator too where there is one."""
    mask, edge_map = ground_truth(name)
    write_mask(folder / "objects" / "ground_truth" / f"{name}.png", mask)
    write_mask(folder / "edges" / "ground_truth" / f"{name}.1.png", edge_map)
    if (FOLDER / f"{name}.2.toml").exists():
        second = annotation(f"{name}.2", SIZES[name])
        write_mask(folder / "objects" / "ground_truth_second" / f"{name}.png", second.objects)
        write_mask(folder / "edges" / "ground_truth" / f"{name}.2.png", boundaries(second.regions))


def ground_truth(name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Object mask and boundary map of the first annotator; the horse, drawn in black on white, is its own outline."""
    if name == "horse":
        silhouette = small_picture(name) < 128
        return silhouette, boundaries(silhouette)
    drawn = annotation(name, SIZES[name])
    return drawn.objects, boundaries(drawn.regions)


def label_map(name: str) -> NDArray[np.uint8]:
    """Label map of the first annotator with void along borders."""
    mask, _ = ground_truth(name)
    if name == "horse":
        return labels.with_void(np.where(mask, labels.CLASSES_OF[name][""], 0).astype(np.uint8))
    drawn = annotation(name, SIZES[name])
    classes = np.zeros(mask.shape, np.uint8)
    for number, region in enumerate(drawn.names, start=1):
        inside = drawn.regions == number
        classes[inside] = labels.class_of(name, region, is_object=bool(drawn.objects[inside].any()))
    return labels.with_void(classes)
