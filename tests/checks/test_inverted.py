"""Scores that run the wrong way: in all images or in some, because of the predictions or of the ground truth."""

import numpy as np
import pytest
from broken_folders import NAMES, blobs, each, lines
from noted import advised

import segbench as library
from segbench.checks.inversion import inverted_findings
from segbench.inputs.summaries import ScoreSummary


@pytest.fixture
def found(check_findings, tmp_path):
    """Check folders; return the findings by key."""

    def check(made, *options, verb="pixels"):
        return check_findings(verb, *made.write(tmp_path), *options)[1]

    return check


def probes(*aucs):
    """Return what was seen of one image for each area under the ROC curve."""
    return [
        ScoreSummary(
            image=f"im{k}", file=f"im{k}.png", dtype="uint8", pixels=4096, lowest=0, highest=255, whole=True,
            values=(0, 9, 99, 255), not_finite=0, share=0.3, auc=auc, bright=False, top=(0, 0),
        )
        for k, auc in enumerate(aucs)
    ]  # fmt: skip


def keys(*aucs):
    return {finding.kind for finding in inverted_findings(probes(*aucs), "invert them")}


def best_f(root, **settings):
    return library.evaluate(root / "gt", root / "pred", library.Pixels(**settings)).summary["ods_f"]


class TestGroundTruth:
    """Inverted masks and inverted predictions look alike: only the user knows which of both is inverted."""

    def test_both_options_are_given_and_what_they_mean(self, found):
        made = blobs()
        each("scores", np.invert)(made)
        ways = found(made)["inverted"]["alternatives"]
        assert ways == [[{"name": "invert", "value": True}], [{"name": "positive", "value": "0"}]]

    def test_that_of_the_ground_truth_is_first_where_most_pixels_are_positive(self, found, tmp_path):
        blobs().write(tmp_path)
        right = best_f(tmp_path)
        made = blobs()
        each("truth", np.invert)(made)
        finding = found(made)["inverted"]
        ways = finding["alternatives"]
        assert ways == [[{"name": "positive", "value": "0"}], [{"name": "invert", "value": True}]]
        assert "most pixels are positive" in finding["values"]["most"]
        assert best_f(tmp_path, positive="0") == right
        assert best_f(tmp_path, invert=True) != pytest.approx(right)

    @pytest.mark.parametrize(("rule", "other"), [("255", "0"), (">=128", "<128"), ("<1", ">=1")])
    def test_a_rule_is_turned_round(self, found, rule, other):
        made = blobs()
        if rule != "<1":
            each("scores", np.invert)(made)
        assert [{"name": "positive", "value": other}] in found(made, "--positive", rule)["inverted"]["alternatives"]

    @pytest.mark.parametrize("verb", ["saliency", "anomalies"])
    def test_no_option_is_named_that_a_command_lacks(self, found, verb):
        made = blobs()
        each("scores", np.invert)(made)
        options = ("--positive", "255") if verb == "saliency" else ()
        finding = found(made, *options, verb=verb)["inverted"]
        assert "invert" not in advised(finding["settings"])
        assert finding["fix"].startswith("save scores that are high where something is positive")


class TestSomeImages:
    @pytest.mark.parametrize("inverted", [1, 3, 5])
    def test_are_named_and_no_option_is(self, found, inverted):
        made = blobs()
        each("scores", np.invert, only=inverted)(made)
        finding = found(made)
        assert finding.keys() == {"partly-inverted"}
        assert finding["partly-inverted"]["values"] == {"count": inverted, "total": 6}
        assert finding["partly-inverted"]["settings"] == []
        assert [place["file"].rpartition("/")[2] for place in finding["partly-inverted"]["files"]] == [
            f"{name}.png" for name in NAMES[:inverted]
        ]

    def test_a_run_looks_at_more_images_before_it_advises_to_turn_all(self, segbench, warned_of, tmp_path):
        made = blobs()
        for name in NAMES[::2]:  # the three that it looks at first
            made.scores[name] = ~made.scores[name]
        assert "--invert" not in segbench("pixels", *made.write(tmp_path)).err
        (finding,) = warned_of
        assert (finding.kind, finding.message.values) == ("partly-inverted", {"count": 3, "total": 6})
        assert finding.settings == ()

    @pytest.mark.parametrize("inverted", [1, 3, 5])
    def test_of_lines_are_named_by_their_bright_ground(self, found, inverted):
        made = lines()
        each("scores", np.invert, only=inverted)(made)
        finding = found(made, verb="boundaries")["partly-inverted"]
        assert finding["count"] == inverted
        assert finding["settings"] == []

    def test_all_turned_by_the_option_but_those_that_were_inverted(self, found):
        made = blobs()
        each("scores", np.invert, only=2)(made)
        assert found(made, "--invert").keys() == {"partly-inverted"}

    @pytest.mark.parametrize("seed", range(20))
    def test_a_weak_method_is_not_taken_for_inverted(self, seed):
        rng = np.random.default_rng(seed)
        for middle, spread in ((0.5, 0.05), (0.5, 0.15), (0.6, 0.15), (0.75, 0.15)):
            assert keys(*rng.normal(middle, spread, 32).clip(0.02, 0.98)) == set()

    def test_a_hard_image_of_a_strong_method_is_not_taken_for_inverted(self):
        assert keys(*[0.97] * 20, 0.15) == set()
        assert keys(*[0.97] * 20, 0.35, 0.3) == set()
        assert keys(*[0.97] * 20, 0.05) == {"partly-inverted"}
        assert keys(*[0.03] * 20, 0.85) == {"inverted"}
        assert keys(*[0.03] * 20, 0.95) == {"partly-inverted"}

    def test_a_weak_method_that_is_inverted_in_most_images_gets_no_option(self):
        assert keys(*[0.3] * 6, *[0.7] * 4) == {"partly-inverted"}
        assert keys(*[0.3] * 9, 0.7) == {"inverted"}
        assert keys(*[0.3] * 5, *[0.7] * 5) == set()
