"""Where images lie, against what a protocol reads: what has no meaning is refused, by evaluate, run and check alike."""

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, write_folder
from refusing import refused

from segbench import Annotators, ArgumentError, Boundaries, Classes, Pixels, Regions, check, count, evaluate


class TestWhatHasNoMeaning:
    def test_boundaries_know_no_field_of_view(self, papers, tmp_path):
        masks = write_folder(tmp_path / "masks", {"first.png": FIRST_TRUTH, "second.png": FIRST_TRUTH})
        settings = Boundaries(thresholds=3)
        for call in (
            lambda: evaluate(*papers, settings, field=masks),
            lambda: check(*papers, settings, field=masks),
            lambda: evaluate(papers[0], None, Annotators(settings=settings), field=masks),
        ):
            with refused("needless-field", ArgumentError, settings={}) as raised:
                call()
            assert raised.value.values["fix"].values["given"].name == "field"

    @pytest.mark.usefixtures("papers")
    def test_nor_do_lists_of_boundaries(self, tmp_path):
        place = tmp_path / "list.csv"
        place.write_text("name,ground_truth,prediction,field\n1,gt/first.png,pred/first.npy,gt/first.png\n")
        assert evaluate(pairs=place, protocol=Pixels(positive="255")).summary["ignored"] == 11
        with refused("needless-field", ArgumentError):
            evaluate(pairs=place, protocol=Boundaries(thresholds=3))

    def test_a_prediction_is_given_or_there_are_annotators(self, papers):
        with refused("missing-prediction", ArgumentError):
            evaluate(papers[0])
        with refused("needless-prediction", ArgumentError):
            evaluate(*papers, Annotators(settings=Boundaries()))

    @pytest.mark.parametrize(("protocol", "option"), [(Regions(), "regions"), (Classes(labels=[0, 1]), "classes")])
    def test_no_label_map_stands_for_a_missing_one(self, papers, protocol, option):
        for verb in (evaluate, check):
            with refused("needless-negatives", ArgumentError, name=option):
                verb(*papers, protocol, negatives="good*")


class TestNegatives:
    """Images without ground truth are negative all over, whatever the settings say of values."""

    @pytest.fixture
    def folders(self, tmp_path):
        def made(truth=FIRST_TRUTH * 255):
            gt = write_folder(tmp_path / "gt", {"bad/1.npy": truth})
            pred = write_folder(tmp_path / "pred", {"bad/1.npy": FIRST_SCORES, "good/1.npy": FIRST_SCORES})
            return gt, pred

        return made

    @pytest.mark.parametrize(
        ("settings", "positives"),
        [
            (Pixels(), 5),
            (Pixels(positive="0"), 11),
            (Pixels(positive="255", void=(0,)), 5),
            (Pixels(positive="<9", annotators="each"), 11),
        ],
        ids=str,
    )
    def test_pixels(self, folders, settings, positives):
        result = evaluate(*folders(), settings, negatives="good/*")
        assert result.counts["good/1"] == count(np.zeros((4, 4), bool), FIRST_SCORES)
        assert result.counts["bad/1"].total_positives == positives
        assert not check(*folders(), settings, negatives="good/*").errors

    def test_a_prediction_of_nothing_is_right_there(self, folders):
        gt, pred = folders()
        write_folder(pred, {"good/1.npy": np.zeros((4, 4))})
        assert not any(finding.kind == "constant" for finding in check(gt, pred, negatives="good/*").findings)

    def test_they_have_no_value_that_masks_must_agree_with(self, folders):
        where = folders(FIRST_TRUTH + 1)
        assert not check(*where, negatives="good/*").errors
        result = evaluate(*where, negatives="good/*")
        assert (result.summary["positives"], result.summary["negatives"]) == (5, 11 + 16)

    @pytest.mark.parametrize("options", [{"positive": "0"}, {"label_maps": True}, {}], ids=str)
    def test_boundaries(self, folders, options):
        settings = Boundaries(thresholds=3, **options)
        counts = evaluate(*folders(), settings, negatives="good/*").counts["good/1"]
        assert counts.total_gt.tolist() == [0, 0, 0]
        assert counts.total_pred.min() > 0
