"""The note that images resemble each other: for names that suggest patients, videos or photographs, and no others."""

import numpy as np
import populations
import pytest
from noted import advised, of_kind

import segbench

NAMES = {
    "slices": "case_{unit:02}_slice_{image:03}",
    "frames": "video{unit:02}/{image:05}",
    "tiles": "photo{unit:02}_x{image}_y0",
}
MVTEC = [
    f"{category}/{kind}/{k:03}"
    for category in ("bottle", "cable", "capsule", "carpet", "grid", "hazelnut", "leather", "pill", "screw", "tile")
    for kind in ("broken", "scratch")
    for k in range(12)
]
VISA = [
    f"{category}/Data/Images/Anomaly/{k:03}"
    for category in ("candle", "capsules", "cashew", "chewinggum", "fryum", "macaroni1", "pcb1", "pcb2")
    for k in range(20)
]
INDEPENDENT = {
    "mvtec-ad": MVTEC,
    "visa": VISA,
    "cityscapes": [
        f"{city}/{city}_{1000 + 37 * k:06}_{19 + k % 7:06}"
        for city in ("frankfurt", "lindau", "munster")
        for k in range(60)
    ],
    "bsds500": [str(101085 + 1873 * k) for k in range(100)],
    "drive": [f"{k:02}_test" for k in range(1, 21)],
    "pascal-voc": [f"{2007 + k % 5}_{33 + 61 * k:06}" for k in range(120)],
    "coco": [f"{139 + 4999 * k:012}" for k in range(120)],
    "demo": ["camera", "cell", "chelsea", "coffee", "coins", "horse", "moon", "page", "text"],
}


def mask_counts(names, units, rho, seed):
    """Counts of masks of images with these names, whose units share so much of the variance."""
    _, unit = np.unique(units, return_inverse=True)
    counts, _ = populations.masks(np.random.default_rng(seed), unit, rho)
    return dict(zip(names, counts, strict=True))


def alike(result, **settings):
    """Return the notes that images resemble each other, on intervals of a result or counts."""
    return of_kind(segbench.intervals(result, replicates=1, **settings).notes, "unknown-units", "few-unknown-units")


def in_units(kind, random):
    """Names of 8 to 40 units of 5 to 30 images, and the unit of each."""
    sizes = random.integers(5, 31, random.integers(8, 41))
    units = np.repeat(np.arange(sizes.size), sizes)
    numbers = np.concatenate([np.arange(size) for size in sizes])
    return [NAMES[kind].format(unit=unit, image=image) for unit, image in zip(units, numbers, strict=True)], units


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", NAMES)
def test_slices_frames_and_tiles_that_resemble_each_other_have_it(kind, seed):
    names, units = in_units(kind, np.random.default_rng([seed, 1]))
    (note,) = alike(mask_counts(names, units, 0.5, seed))
    assert advised(note.message.settings).keys() == {"unit", "group_by"}


@pytest.mark.parametrize("data_set", INDEPENDENT)
def test_names_of_data_sets_whose_images_are_independent_have_none(data_set):
    names = INDEPENDENT[data_set]
    assert not alike(mask_counts(names, names, 0, 0))


@pytest.mark.parametrize("names", [MVTEC, VISA], ids=["mvtec-ad", "visa"])
def test_categories_that_differ_have_both_readings(names):
    categories = [name.partition("/")[0] for name in names]
    images = mask_counts(names, categories, 0.5, 0)
    (note,) = alike(images)
    assert advised(note.message.settings) == {"unit": "folder", "group_by": "folder"}
    assert not alike(images, unit="folder")


@pytest.mark.parametrize(("group_by", "number"), [(None, 1), ("folder", 0)])
def test_groups_that_are_named_need_no_note(group_by, number):
    truth = np.ones((10, 10), bool)
    pairs = {}
    for k, name in enumerate(VISA):
        predicted = truth.copy()
        predicted[: 1 + k // 20, : k % 3] = False  # worse from category to category
        pairs[name] = truth, predicted
    result = segbench.evaluate(pairs, protocol=segbench.Labels(positive=1), group_by=group_by)
    assert len(of_kind(result.intervals(replicates=1).notes, "unknown-units")) == number


def test_names_alone_seldom_give_it():
    """Of 200 sets whose names suggest units, though their images are independent, at most 5 have the note."""
    given = 0
    for seed in range(200):
        names, units = in_units([*NAMES][seed % 3], np.random.default_rng([seed, 2]))
        given += bool(alike(mask_counts(names, np.arange(units.size), 0, seed)))
    assert given <= 5


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("photo{unit:02}_x{row}_y{column}", "#_x*_y*"),
        ("tile_{unit}_{row}_{column}", "#_*_*"),
        ("case_{unit:02}_slice_{row}{column}", "#_slice_*"),
        ("{unit:03}-{row}{column}", "#-*"),
    ],
)
def test_of_several_numbers_all_but_that_of_the_unit_are_left_out(name, pattern):
    numbers = [(unit, row, column) for unit in range(10) for row in range(3) for column in range(3)]
    names = [name.format(unit=unit, row=256 * row, column=256 * column) for unit, row, column in numbers]
    (note,) = alike(mask_counts(names, [unit for unit, _, _ in numbers], 0.5, 0))
    assert advised(note.message.settings)["unit"] == pattern
