"""What messages about tables, plots, pictures and the page say, word by word; other tests compare kinds and values."""

from pathlib import Path

import numpy as np
import pytest
from wording import texts_of_refusal

from segbench import (
    Boundaries,
    compare_results,
    evaluate,
    export_bsds,
    export_overlays,
    export_report,
    plot_comparison,
    plot_images,
    plot_pr,
)
from segbench.report.plots.saving import save_plot

IMAGES = {name: (np.eye(4, dtype=bool), np.eye(4) * number / 9) for number, name in enumerate(("horse", "coins"))}
RESULT = evaluate(IMAGES, method="net")
OTHER = evaluate(IMAGES, method="edges", protocol=Boundaries(thresholds=3))


@pytest.mark.parametrize(
    ("call", "in_python", "with_options"),
    [
        (
            lambda: export_report([RESULT], "report.pdf"),
            "report.pdf: a report is an HTML page; give a name that ends in .html",
            None,
        ),
        (
            lambda: save_plot([RESULT], Path("plot.bmp")),
            "plot.bmp: plots are written as .pdf, .svg, .png; give a name that ends in one of these",
            None,
        ),
        (
            lambda: plot_pr({"net": RESULT}),
            "results is a mapping, expected a list: give list(results.values())",
            None,
        ),
        (
            lambda: plot_pr("results.segbench"),
            "expected results, as segbench.evaluate gives them, got str",
            None,
        ),
        (
            lambda: plot_pr([RESULT, OTHER]),
            "curves of boundaries and pixels are not comparable; draw results of one protocol",
            (
                "curves of boundaries and pixels are not comparable; draw results of one protocol: --only "
                "protocol:pixels"
            ),
        ),
        (
            lambda: plot_comparison([RESULT]),
            "expected a comparison, as compare_results gives it, got list",
            None,
        ),
        (
            lambda: plot_comparison(compare_results([RESULT, evaluate(IMAGES, method="b")]), metric="dice"),
            (
                "'dice' is not compared; expected one of ods_f, ods_precision, ods_recall, iou, ois_f, ois_precision, "
                "ois_recall, mean_image_f, auc_pr, auc_pr_achievable, average_precision, auc_roc, fpr_at_95_tpr"
            ),
            None,
        ),
        (
            lambda: plot_images([RESULT], metric="dice"),
            (
                "images have no metric 'dice'; expected one of f, precision, recall, threshold, iou, auc_pr, "
                "average_precision, auc_roc, positives, negatives, ignored"
            ),
            None,
        ),
        (
            lambda: RESULT.curve.plot(ax=np.arange(2)),
            "ax is ndarray, expected one Axes of Matplotlib, as in axes[0]",
            None,
        ),
        (
            lambda: RESULT.per_image["house"],
            "no image is called 'house', perhaps 'horse'",
            None,
        ),
        (
            lambda: export_overlays([], "out"),
            "no results to draw",
            None,
        ),
        (
            lambda: export_overlays([RESULT], "out"),
            (
                "net: was counted from arrays, so its images are not known: pictures need a run of files, such as "
                "evaluate(GT, PRED, ...); leave this result out"
            ),
            (
                "net: was counted from arrays, so its images are not known: pictures need a run of files, such as "
                "segbench pixels GT PRED; choose others with --only"
            ),
        ),
        (
            lambda: export_bsds([RESULT], "out"),
            (
                "no result of the boundaries or regions protocol with counts of a method, and there are official files "
                "of these only"
            ),
            None,
        ),
    ],
)
def test_of_what_is_refused(call, in_python, with_options):
    assert texts_of_refusal(call) == (in_python, with_options or in_python)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--per-image"], "--spread is over images, and --per-image has rows of its own"),
        (["--per-threshold"], "--spread is over images, and --per-threshold has rows of its own"),
        (["--intervals", "95"], "--spread and --intervals both stand beside the value"),
    ],
)
def test_of_options_that_do_not_go_together(segbench, tmp_path, options, said):
    kept = tmp_path / "r.segbench"
    evaluate(IMAGES, method="net", results=kept)
    assert said in segbench("show", kept, "--spread", "sd", *options).err


def test_of_folders_with_other_files(tmp_path):
    export_bsds([evaluate({"old": IMAGES["coins"]}, protocol="boundaries")], tmp_path)
    said, _ = texts_of_refusal(lambda: export_bsds([OTHER], tmp_path))
    assert said == f"{tmp_path}: holds counts of other images (old_ev1.txt, ...); give an empty folder"
    for path in tmp_path.glob("*_ev1.txt"):
        path.unlink()
    said, _ = texts_of_refusal(lambda: export_bsds([OTHER], tmp_path))
    assert said == (
        f"{tmp_path / 'eval_bdry_img.txt'} exists, and nothing in it says that segbench wrote it (as in 2 other "
        "files), so nothing was written; give another folder"
    )
