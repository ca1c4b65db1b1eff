"""The sentences of protocols: what a reader sees in Python, and what the command line writes."""

import numpy as np
import pytest
from wording import texts, texts_of_refusal

from segbench import (
    Anomalies,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    Saliency,
    count,
    evaluate,
)

RAMP = np.linspace(0, 1, 16).reshape(4, 4)
MASK = np.eye(4, dtype=bool)
FRAMES = {f"a/{k}": (MASK * np.uint8(255), MASK * np.uint8(0)) for k in range(4)}


def undefined(key, truth, predicted, protocol):
    """Return why a metric of two images that are alike is undefined."""
    return evaluate({"a": (truth, predicted), "b": (truth, predicted)}, protocol=protocol).summary.undefined[key]


@pytest.mark.parametrize(
    ("refused", "python", "options"),
    [
        (
            lambda: count([0, 128, 255], [0.1, 0.2, 0.3], Pixels()),
            (
                "ground_truth: 3 distinct values (0, 128, 255), expected two; if 128 is void, leave it out: "
                "void=(128,); or say which values are positive, for instance positive='>=128'"
            ),
            (
                "ground_truth: 3 distinct values (0, 128, 255), expected two; if 128 is void, leave it out: --void "
                "128; or say which values are positive, for instance --positive '>=128'"
            ),
        ),
        (
            lambda: count([0, 1], [0.5, np.nan], Pixels()),
            "prediction: 1 NaN and 0 infinite scores, expected finite ones; fix the prediction",
            "prediction: 1 NaN and 0 infinite scores, expected finite ones; fix the prediction",
        ),
        (
            lambda: count([0, 1], [0.0, 200.0], Pixels(quantize=8)),
            (
                "prediction: scores from 0 to 200, but quantize rounds scores from 0 to 1; divide them by the highest "
                "score that there can be, or for files use repairs=Repairs(scale=255)"
            ),
            "prediction: scores from 0 to 200, but --quantize rounds scores from 0 to 1; use --scale 255",
        ),
        (
            lambda: count(MASK, RAMP, Centerlines()),
            (
                "prediction: holds 16 distinct values (0, 0.0666667, 0.133333, 0.2, 0.266667, 0.333333, 0.4, 0.466667, "
                "...), expected a mask of 0 and one other value; cut a soft map at a score, at=0.5"
            ),
            (
                "prediction: holds 16 distinct values (0, 0.0666667, 0.133333, 0.2, 0.266667, 0.333333, 0.4, 0.466667, "
                "...), expected a mask of 0 and one other value; cut a soft map at a score, --at 0.5"
            ),
        ),
        (
            lambda: count([[0, 255]], [[0, 1]], Objects()),
            (
                "ground_truth: is a mask of 0 and 255, expected a number for each object; write a number for each "
                "object; if all files are masks, take their connected components: kind='components'"
            ),
            (
                "ground_truth: is a mask of 0 and 255, expected a number for each object; write a number for each "
                "object; if all files are masks, take their connected components: --kind components"
            ),
        ),
        (
            lambda: count([[0, 2]], [[0, 1]], Saliency()),
            (
                "ground_truth: holds values up to 2, and the rule >128 finds nothing salient; name what is salient: "
                "positive='>=2'"
            ),
            (
                "ground_truth: holds values up to 2, and the rule >128 finds nothing salient; name what is salient: "
                "--positive '>=2'"
            ),
        ),
        (
            lambda: count(np.ones((4, 5)), np.ones((5, 4)), Anomalies()),
            (
                "prediction: 5 x 4 (height x width), expected 4 x 5 (height x width) as in ground_truth (it looks "
                "transposed); save all maps of an image at one size"
            ),
            (
                "prediction: 5 x 4 (height x width), expected 4 x 5 (height x width) as in ground_truth (it looks "
                "transposed); save all maps of an image at one size"
            ),
        ),
        (
            lambda: Pixels(positive="white"),
            "positive='white' is not a rule; expected a value (255), several (1,3) or a bound ('>=128')",
            "--positive white is not a rule; expected a value (255), several (1,3) or a bound ('>=128')",
        ),
        (
            lambda: Boundaries(max_dist="px"),
            "max_dist is 'px', expected a fraction of the diagonal, 0.0075, or pixels, 2px",
            "--max-dist is 'px', expected a fraction of the diagonal, 0.0075, or pixels, 2px",
        ),
        (
            lambda: Boundaries(positive="255", label_maps=True),
            "positive and label_maps exclude each other: all labels of a label map count",
            "--positive and --label-maps exclude each other: all labels of a label map count",
        ),
        (
            lambda: Classes(labels=[0, 255]),
            "label 255 is both a class and void; leave it out of classes, or write void=()",
            "label 255 is both a class and void; leave it out of --classes, or write --void none",
        ),
        (
            lambda: Contours(sequences=True, at=0.5),
            "at needs a single mask in each frame of sequences; give positive, too",
            "--at needs a single mask in each frame of sequences; give --positive, too",
        ),
        (
            lambda: Objects(at=0.5),
            "at is for components, and these are instances; give kind='components', or leave it out",
            "--at is for components, and these are instances; give --kind components, or leave it out",
        ),
        (
            lambda: count([[0, 7]], [[0, 1]], Labels(classes=2)),
            (
                "ground_truth: value 7 is neither a class nor void; list label 7, too: classes='0-1,7', or remap it: "
                "gt_map='7=LABEL'; if label 7 is background, Labels(classes='0-1,7', background=7) counts it and "
                "leaves it out of means over classes; what nobody labelled is void, see docs/labels.md"
            ),
            (
                "ground_truth: value 7 is neither a class nor void; list label 7, too: --classes 0-1,7, or remap it: "
                "--gt-map 7=LABEL; if label 7 is background, --classes 0-1,7 --background 7 counts it and leaves it "
                "out of means over classes; what nobody labelled is void, see docs/labels.md"
            ),
        ),
    ],
)
def test_what_is_refused(refused, python, options):
    assert texts_of_refusal(refused) == (python, options)


@pytest.mark.parametrize(
    ("reason", "python", "options"),
    [
        (lambda: undefined("auc_pr", MASK, MASK, Pixels()), "two-valued predictions", ""),
        (lambda: undefined("hd95", MASK, MASK & False, Contours()), "one mask is empty in every image", ""),
        (
            lambda: undefined("miou", MASK * 0, MASK * 0, Labels(classes=3, background=0)),
            "the ground truth holds the background alone",
            "",
        ),
        (lambda: undefined("aji", MASK * 0, MASK * 0, Objects()), "there is no object in either map", ""),
        (
            lambda: evaluate(FRAMES, protocol=Contours(sequences=True)).summary.undefined["j"],
            (
                "no sequence has an object and a frame between its first and last; if the object has the value 255, "
                "give positive=255"
            ),
            (
                "no sequence has an object and a frame between its first and last; if the object has the value 255, "
                "give --positive 255"
            ),
        ),
        (
            lambda: evaluate(FRAMES, protocol=Contours(sequences=True, positive=7)).summary.undefined["j"],
            "no sequence has an object and a frame between its first and last; check what positive names",
            "no sequence has an object and a frame between its first and last; check what --positive names",
        ),
    ],
)
def test_why_a_metric_is_undefined(reason, python, options):
    assert texts(reason()) == (python, options or python)
