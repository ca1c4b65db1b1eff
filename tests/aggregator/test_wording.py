"""The sentences of runs and results files: as Python says them, and with the options of the command line."""

import numpy as np
import pytest
from wording import texts_of_refusal

import segbench
from segbench import Accumulator, Anomalies, Boundaries, Labels, Pixels, Repairs, count, evaluate

MASK, SCORES = np.eye(4, dtype=int), np.eye(4) / 2
NAMED = {"a/0": (MASK, SCORES), "b/0": (MASK, 1 - SCORES)}


def updated(*arrays, protocol=None, **options):
    accumulator = Accumulator(protocol or Pixels())
    accumulator.update(*arrays, **options)
    return accumulator


def result(**options):
    return evaluate(NAMED, method="net", **options)


def compared(*protocols):
    results = [evaluate(NAMED, protocol=rules, method=name) for name, rules in zip("ab", protocols, strict=False)]
    return segbench.compare_results(results)


REFUSED = {
    "names and images": (
        lambda: updated([[0, 1], [1, 0]], SCORES[:2, :2], names=["a"]),
        "1 name for 2 images (scores) and 2 (labels) along the first axis",
    ),
    "two ways to name": (
        lambda: updated([[0, 1]], [[0, 1]], name="a", names=["a"]),
        "name and names exclude each other: the arrays hold either one image, or one image per entry",
    ),
    "a name that is none": (
        lambda: updated([[0, 1]], [[0, 1]], names=[1.5]),
        "1.5 is not the name of an image; give a string or a whole number",
    ),
    "an axis of channels": (
        lambda: updated(np.zeros((8, 6, 5)), np.zeros((8, 2, 6, 5))),
        (
            "labels have shape (8, 6, 5), scores (8, 2, 6, 5); expected the same (take the channel of the "
            "positive class, such as scores[:, 1] if that is channel 1; a map for each class is for "
            "Labels(classes=...) or Classes(labels=...))"
        ),
    ),
    "channels of one image": (
        lambda: updated(np.zeros((6, 5)), np.zeros((2, 6, 5))),
        (
            "labels have shape (6, 5), scores (2, 6, 5); expected the same (take the channel of the positive "
            "class, such as scores[1] if that is channel 1; a map for each class is for Labels(classes=...) or "
            "Classes(labels=...))"
        ),
    ),
    "an axis of annotators": (
        lambda: updated(np.zeros((8, 3, 6, 5)), np.zeros((8, 6, 5))),
        (
            "labels have shape (8, 3, 6, 5), scores (8, 6, 5); expected the same (take the channel of the "
            "positive class, such as labels[:, 1] if that is channel 1; several annotators are a list of arrays, "
            "for Pixels(annotators='majority'))"
        ),
    ),
    "an axis of one": (
        lambda: updated(np.zeros((8, 6, 5)), np.zeros((8, 1, 6, 5))),
        "labels have shape (8, 6, 5), scores (8, 1, 6, 5); expected the same (take scores[:, 0])",
    ),
    "a batch of one": (
        lambda: updated(np.zeros((1, 6, 5)), np.zeros((6, 5))),
        (
            "labels have shape (1, 6, 5), scores (6, 5); expected the same (take labels[0], or scores[None] for a"
            " batch of one)"
        ),
    ),
    "other pixels": (
        lambda: updated(MASK, SCORES[:3]),
        "labels have shape (4, 4), scores (3, 4); expected the same (nothing is resized)",
    ),
    "a field of another type": (
        lambda: updated([0, 1], [0.1, 0.2], [1, 0]),
        "valid has shape (2) and dtype int64, expected (2) and bool",
    ),
    "scores that are no numbers": (
        lambda: updated([[0, 1]], [[0.2, np.nan]], names=["b"]),
        "scores of 'b': 1 NaN and 0 infinite scores, expected finite ones; fix the prediction",
    ),
    "a third value": (
        lambda: updated([[0, 1, 2]], [[0.1, 0.2, 0.3]], names=["b"]),
        (
            "labels of 'b': 3 distinct values (0, 1, 2), expected two; say which values are positive, for "
            "instance positive='2', or positive='>0' for all but 0"
        ),
        (
            "labels of 'b': 3 distinct values (0, 1, 2), expected two; say which values are positive, for "
            "instance --positive 2, or --positive '>0' for all but 0"
        ),
    ),
    "logits": (
        lambda: updated(MASK, 9 * SCORES - 2, protocol=Boundaries(), name="a"),
        (
            "scores of 'a': scores from -2 to 2.5, but evenly spaced thresholds are for [0, 1]; apply a sigmoid "
            "to logits, or for files use repairs=Repairs(scale='sigmoid') for logits, or save others between 0 and 1"
            ", or give the thresholds as a list"
        ),
        (
            "scores of 'a': scores from -2 to 2.5, but evenly spaced thresholds are for [0, 1]; use --scale "
            "sigmoid for logits, or save others between 0 and 1, or give the thresholds as a list"
        ),
    ),
    "levels": (
        lambda: updated(MASK, 200.0 * SCORES, protocol=Boundaries(), name="a"),
        (
            "scores of 'a': scores from 0 to 100, but evenly spaced thresholds are for [0, 1]; divide them by the"
            " highest score that there can be, or for files use repairs=Repairs(scale=N) with the highest score "
            "that there can be, or give the thresholds as a list"
        ),
        (
            "scores of 'a': scores from 0 to 100, but evenly spaced thresholds are for [0, 1]; use --scale N with"
            " the highest score that there can be, or give the thresholds as a list"
        ),
    ),
    "nothing added": (
        lambda: Accumulator().compute(),
        "accumulator: nothing was added, so there is nothing to compute; call update first",
    ),
    "counted before": (
        lambda: updated([MASK, MASK], [SCORES, SCORES], names=["a", "a"]),
        (
            "'a' was counted before; call reset() before the next epoch, or say in Accumulator what a repeated "
            "name means: repeated='add' for tiles of one image, repeated='once' for a sampler that repeats images"
        ),
        (
            "'a' was counted before; call reset() before the next epoch, or say in Accumulator what a repeated "
            "name means: --repeated add for tiles of one image, --repeated once for a sampler that repeats images"
        ),
    ),
    "tiles of shapes": (
        lambda: Accumulator("contours", repeated="add"),
        "repeated='add': tiles do not add up in the contours protocol; give whole images",
    ),
    "background alone": (
        lambda: updated(0 * MASK, SCORES).compute(),
        (
            "ground truth: the set holds 1 distinct value, expected two: 0 in 1 image ('pixels without the name "
            "of an image'); say which value is positive in the whole: positive=1 for 0 and 1, positive=255 for 0 "
            "and 255; or give ground truth that shows what is to be found, and what is not"
        ),
        (
            "ground truth: the set holds 1 distinct value, expected two: 0 in 1 image ('pixels without the name "
            "of an image'); say which value is positive in the whole: --positive 1 for 0 and 1, --positive 255 "
            "for 0 and 255; or give ground truth that shows what is to be found, and what is not"
        ),
    ),
    "a protocol that there is not": (
        lambda: evaluate(NAMED, protocol="edges"),
        (
            "protocol is 'edges', expected one with its settings, such as Pixels(), or one of pixels, classes, "
            "labels, boundaries, regions, contours, centerlines, saliency, anomalies, objects, scored; "
            "perhaps 'boundaries' is meant"
        ),
    ),
    "arguments for files": (
        lambda: evaluate(NAMED, field="masks"),
        "field: for files only, but ground_truth holds arrays; leave out these arguments, or save the arrays as files",
    ),
    "labels and scores apart": (
        lambda: evaluate([MASK], [SCORES]),
        (
            "prediction: for files only, but ground_truth holds arrays; give pairs: evaluate([(labels, scores)]) "
            "for one image, evaluate(zip(labels, scores)) for many, and a protocol by its name: protocol="
        ),
    ),
    "a run and a method": (
        lambda: evaluate("gt", {"a": "pred", "a@1": "pred"}),
        (
            "'a' is given by itself and as 1 run, 1; name this one, too, as a run, {'a@2': 'pred'}, or as another"
            " method, {'a-2': 'pred'}"
        ),
        (
            "'a' is given by itself and as 1 run, 1; name this one, too, as a run, a@2=pred, or as another "
            "method, a-2=pred"
        ),
    ),
    "half a name": (
        lambda: evaluate("gt", {"@1": "pred"}),
        "prediction holds the name '@1' with no method before @; write ours@1",
    ),
    "no groups": (
        lambda: result().parts("group"),
        "net was counted without groups; name them: with_settings(group_by='folder')",
        "net was counted without groups; name them: --group-by folder",
    ),
    "a grouping that is none": (
        lambda: result().parts("group", "weather"),
        (
            "group_by='weather' is not understood, expected 'folder', a column of a CSV file, 'meta.csv:weather',"
            " or a pattern of names, '#_*'"
        ),
        (
            "--group-by weather is not understood, expected 'folder', a column of a CSV file, 'meta.csv:weather',"
            " or a pattern of names, '#_*'"
        ),
    ),
    "a part that is none": (
        lambda: result(group_by="folder").parts("group")["c"],
        "group='c': there is no such group; the groups are a, b",
        "--group c: there is no such group; the groups are a, b",
    ),
    "a part to save": (
        lambda: result(group_by="folder").parts("group")["a"].save("r.segbench"),
        (
            "this is one of the groups of net, which a results file does not hold by itself; save the result that"
            " parts('group') was called on, and take load_results(path)[0].parts('group') of the file"
        ),
    ),
    "a table for results": (
        lambda: result().save("results.csv"),
        (
            "results.csv: a results file is a database, so name it results.segbench; for other kinds of files see"
            " result.to_dataframe, to_dict, plot_pr and export_report"
        ),
        (
            "results.csv: a results file is a database, so name it results.segbench; for other kinds of files see"
            " segbench show, plot, report and export"
        ),
    ),
    "one method": (
        lambda: compared(Pixels()),
        "a: a comparison needs at least two methods",
    ),
    "other settings": (
        lambda: compared(Pixels(), Pixels(void=3)),
        (
            "methods are compared under the same settings, but void is none in a, 3 in b; count again with the "
            "same, or leave some out"
        ),
        (
            "methods are compared under the same settings, but void is none in a, 3 in b; count again with the "
            "same, or compare some with --methods or --only"
        ),
    ),
    "several protocols": (
        lambda: compared(Pixels(), Boundaries(thresholds=1)),
        (
            "found results of pixels (a), boundaries (b), expected results of one protocol; compare those of each"
            " by themselves"
        ),
        (
            "found results of pixels (a), boundaries (b), expected results of one protocol; choose one with "
            "--only protocol:pixels"
        ),
    ),
    "positives of different values": (
        lambda: count([[0, 1]], [[0, 1]], "labels") + count([[0, 255]], [[0, 1]], "labels"),
        (
            "counts add up if one value is positive, and here 1 and 255 were; count each image with its own, for "
            "instance positive=1"
        ),
        (
            "counts add up if one value is positive, and here 1 and 255 were; count each image with its own, for "
            "instance --positive 1"
        ),
    ),
    "annotators in an array": (
        lambda: count(np.zeros((2, 9, 9)), np.zeros((9, 9)), "boundaries"),
        (
            "ground_truth has shape (2, 9, 9), expected (height, width); give several annotators as a list of "
            "arrays: list(ground_truth)"
        ),
    ),
    "scores named for files": (
        lambda: count(MASK, SCORES, Anomalies(image_scores={"a": 0.5})),
        "image_scores names images as files are named; evaluate folders with it, or give image_score='max'",
        "--image-scores names images as files are named; evaluate folders with it, or give --image-score max",
    ),
    "a file that is not there": (
        lambda: segbench.load_results("nowhere.segbench"),
        "nowhere.segbench: not found; correct the path, or create the file: evaluate(gt, pred, results=FILE)",
        "nowhere.segbench: not found; correct the path, or create the file: segbench pixels GT PRED -o FILE",
    ),
    "a setting of other tools": (
        lambda: Labels(num_classes=8),
        "Labels has no setting num_classes; write classes=8",
        "Labels has no setting num_classes; write --classes 8",
    ),
}
"""A call, what it is refused with in Python, and with options where that is another sentence."""


@pytest.mark.parametrize(
    ("call", "python", "options"), [(*case, case[-1])[:3] for case in REFUSED.values()], ids=REFUSED
)
def test_what_is_refused(call, python, options):
    assert texts_of_refusal(call) == (python, options)


def test_notes_on_results(tmp_path):
    for side, arrays in (("gt", (MASK, MASK)), ("pred", (SCORES, SCORES[:3]))):
        for name, array in zip("ab", arrays, strict=True):
            (tmp_path / side).mkdir(exist_ok=True)
            np.save(tmp_path / side / f"{name}.npy", array)
    resized = evaluate(tmp_path / "gt", tmp_path / "pred", Pixels(invert=True), repairs=Repairs(resize="nearest"))
    assert [str(note) for note in resized.notes] == [
        "prediction inverted: low values mean positive (2 of 2 images)",
        "prediction resized, nearest (1 of 2 images)",
    ]
    assert [str(note) for note in resized.image_notes["b"]] == [
        "prediction resized, nearest [3 x 4 to 4 x 4]",
        "prediction inverted: low values mean positive",
    ]


def test_notes_on_categories():
    images = {f"{folder}/{kind}": (MASK * (kind == "bad"), SCORES) for folder in "ab" for kind in ("good", "bad")}
    (note,) = evaluate(images, protocol=Anomalies()).summary.notes
    pooled = "scores of 2 categories are pooled as those of one model: a, b; "
    assert str(note) == f"{pooled}result.parts('group', by='folder') measures each by itself"
    assert note.written("options") == f"{pooled}--group-by folder measures each by itself"


def test_a_run_that_is_replaced(tmp_path):
    path = tmp_path / "r.segbench"
    result().save(path)
    with pytest.warns(segbench.ReplacedRun) as warned:
        evaluate({"c": (MASK, SCORES)}, method="net").save(path)
    (message,) = warned[0].message.args
    replaced = f"{path}: the run of 'net' with other images or another ground truth was replaced; to keep both, "
    assert message.written("python") == f"{replaced}give one of them another name (method=...) or file"
    assert message.written("options") == f"{replaced}give one of them another name or file"


@pytest.mark.parametrize(
    ("name", "meant"), [("acumulator", "Accumulator"), ("labels", "Labels"), ("evalute", "evaluate")]
)
def test_misspelt_names_are_corrected(name, meant):
    with pytest.raises(AttributeError, match=f"perhaps segbench.{meant} is meant"):
        getattr(segbench, name)


def test_names_that_mean_nothing_are_only_refused():
    assert not hasattr(segbench, "_private")
    with pytest.raises(AttributeError, match=r"attribute whatever$"):
        segbench.whatever  # noqa: B018  it is looked up
