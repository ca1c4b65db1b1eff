import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_folder
from refusing import refused

import segbench
from segbench import DataError, FailedImages, Pixels, count, evaluate
from segbench.aggregator.executors import answers


class TestResult:
    def test_the_papers_two_images(self, papers):
        result = evaluate(*papers)
        assert result.method == "pred"
        assert result.counts["first"] == count(FIRST_TRUTH, FIRST_SCORES)
        assert result.pooled == count(FIRST_TRUTH, FIRST_SCORES) + count(SECOND_TRUTH, SECOND_SCORES)
        assert result.summary["positives"] == 9
        assert result.summary["ods_f"] == pytest.approx(14 / 19)
        assert result.summary["ods_threshold"] == 0.25
        assert result.per_image["second"]["f"] == pytest.approx(2 / 3)
        assert list(result.per_image) == ["first", "second"]
        at_half = result.pooled.at([0.5])
        assert (at_half.positives[0], at_half.negatives[0]) == (4, 3)
        assert result.curve.area == pytest.approx(0.6531311, abs=1e-7)

    @pytest.mark.parametrize("protocol", ["edges", Pixels, None, 0.5])
    @pytest.mark.parametrize("function", [evaluate, segbench.check])
    def test_what_is_no_protocol_is_refused(self, papers, function, protocol):
        with refused("unknown-protocol", segbench.ArgumentError) as raised:
            function(*papers, protocol)
        assert raised.value.values["protocols"][:4] == ("pixels", "classes", "labels", "boundaries")

    def test_a_name_stands_for_the_protocol_with_its_defaults(self, papers):
        assert evaluate(*papers, "pixels").signature == evaluate(*papers).signature
        edges = evaluate(*papers, "boundaries")
        assert edges.signature == evaluate(*papers, segbench.Boundaries()).signature
        assert segbench.check(*papers, "boundaries") == segbench.check(*papers, segbench.Boundaries())
        assert segbench.Accumulator("boundaries").protocol == segbench.Boundaries()
        with refused("no-settings", segbench.ArgumentError, name="classes", expected="Classes"):
            evaluate(*papers, "classes")

    def test_the_signature_names_settings_and_data(self, papers):
        result = evaluate(*papers, Pixels(positive=">=128"), method="mine")
        assert result.method == "mine"
        parts = dict(part.split(":", 1) for part in result.signature.split("|"))
        assert parts["protocol"] == "pixels"
        assert parts["positive"] == ">=128"
        assert parts["images"] == "2"
        assert parts["segbench"] == segbench.__version__
        assert len(parts["data"]) == 8

    def test_the_data_part_follows_the_ground_truth_alone(self, papers):
        truth, scores = papers

        def data():
            return evaluate(truth, scores).signature.split("data:")[1]

        before = data()
        write_folder(scores, {"first.npy": FIRST_SCORES / 2})
        assert data() == before
        write_folder(truth, {"first.png": 255 - FIRST_TRUTH * 255})
        assert data() != before

    def test_masks_leave_pixels_out(self, papers, tmp_path):
        field = np.ones((4, 4), np.uint8)
        field[0] = 0
        masks = write_folder(tmp_path / "masks", {"first.png": field, "second.png": field})
        result = evaluate(*papers, field=masks)
        assert "|field:yes|" in result.signature
        assert "field" not in evaluate(*papers).signature
        assert result.summary["ignored"] == 8
        assert result.summary["positives"] == 7

    def test_patterns_find_names(self, tmp_path):
        truth = write_folder(tmp_path / "gt", {"a/01_manual1.png": FIRST_TRUTH * 255})
        scores = write_folder(tmp_path / "pred", {"a/01_test.npy": FIRST_SCORES})
        result = evaluate(truth, scores, gt_pattern="*_manual1", pred_pattern="*_test")
        assert list(result.counts) == ["a/01"]


class TestPositiveOverTheSet:
    def test_an_image_of_the_positive_value_alone_is_all_positive(self, tmp_path):
        truth = write_folder(
            tmp_path / "gt",
            {
                "both.png": FIRST_TRUTH * 255,
                "all.png": np.full((4, 4), 255, np.uint8),
                "none.png": np.zeros((4, 4), np.uint8),
            },
        )
        scores = write_folder(tmp_path / "pred", dict.fromkeys(("both.npy", "all.npy", "none.npy"), FIRST_SCORES))
        result = evaluate(truth, scores)
        totals = {name: (c.total_positives, c.total_negatives) for name, c in result.counts.items()}
        assert totals == {"all": (16, 0), "both": (5, 11), "none": (0, 16)}

    def test_three_values_over_the_set_are_refused_with_all_found(self, tmp_path):
        truth = write_folder(tmp_path / "gt", {"a.png": FIRST_TRUTH * 255, "b.png": FIRST_TRUTH})
        scores = write_folder(tmp_path / "pred", {"a.npy": FIRST_SCORES, "b.npy": FIRST_SCORES})
        with refused("several-values", DataError, settings={"positive": ">=1"}, count=3, values=(0, 1, 255)):
            evaluate(truth, scores)
        assert evaluate(truth, scores, Pixels(positive=">=1")).summary["positives"] == 10


@pytest.fixture
def broken(tmp_path):
    """A set in which every file named after a trouble has it, and `good` has none."""
    truth = dict.fromkeys(
        ("good.png", "truncated.png", "size.png", "nan.png", "objects.png", "folder.png", "unreadable.png"),
        FIRST_TRUTH * 255,
    )
    truth["values.png"] = np.arange(16, dtype=np.uint8).reshape(4, 4)
    gt = write_folder(tmp_path / "gt", truth)
    nan = FIRST_SCORES.copy()
    nan[0, 0] = np.nan
    pred = write_folder(
        tmp_path / "pred",
        {
            "good.npy": FIRST_SCORES,
            "truncated.png": (FIRST_SCORES * 255).astype(np.uint8),
            "size.npy": FIRST_SCORES[:3],
            "nan.npy": nan,
            "objects.npy": np.full((4, 4), None, object),
            "values.npy": FIRST_SCORES,
        },
    )
    whole = (pred / "truncated.png").read_bytes()
    (pred / "truncated.png").write_bytes(whole[: len(whole) // 2])
    (pred / "folder.npy").mkdir()
    (pred / "unreadable.npy").symlink_to("nowhere.npy")
    return gt, pred


class TestOneBadImage:
    expected: ClassVar = {
        "truncated": ("pred/truncated.png", "damaged", {}),
        "size": ("pred/size.npy", "other-size", {"size": (3, 4), "expected": (4, 4)}),
        "nan": ("pred/nan.npy", "not-finite", {"nan": 1, "infinite": 0}),
        "objects": ("pred/objects.npy", "python-objects", {}),
        "values": ("gt/values.png", "several-values", {"count": 16, "values": (*range(8), "...")}),
        "unreadable": ("pred/unreadable.npy", "missing", {}),
    }

    def test_does_not_lose_the_others_and_is_listed(self, broken):
        gt, pred = broken
        (gt / "folder.png").unlink()
        (pred / "folder.npy").rmdir()
        with pytest.warns(FailedImages) as warned:
            result = evaluate(gt, pred)
        (said,) = (warning.message.args[0] for warning in warned)
        assert (said.kind, said.values["failed"], said.values["images"]) == ("failed-images", 6, 7)
        assert said.values["first"].kind == next(iter(result.failed.values())).kind
        assert list(result.counts) == ["good"]
        assert result.counts["good"] == count(FIRST_TRUTH, FIRST_SCORES)
        assert sorted(result.failed) == sorted(self.expected)
        for name, (place, kind, values) in self.expected.items():
            failure = result.failed[name]
            assert (failure.path, failure.kind) == (str(gt.parent / place), kind)
            assert values.items() <= failure.values.items()

    def test_a_folder_where_a_file_is_meant_is_named(self, broken):
        gt, pred = broken
        with refused("not-a-folder", DataError, path=str(gt / "good.png")):
            evaluate(gt / "good.png", pred)


class TestExecutors:
    def test_a_bounded_number_is_in_flight(self):
        taken = []

        def items():
            for item in range(50):
                taken.append(item)
                yield [item]

        with ThreadPoolExecutor(1) as threads:
            threads.workers = 1
            answered = answers(threads, lambda batch: [item * 2 for item in batch], items(), lost=lambda item: item)
            first = next(answered)
            assert len(taken) <= 8
            assert sorted([first, *answered]) == [[item] for item in range(0, 100, 2)]


def test_errors_survive_the_way_back_from_a_worker():
    error = pickle.loads(pickle.dumps(DataError("a.png", "is broken", "mend it")))  # noqa: S301  what we just dumped
    assert error.failure == DataError("a.png", "is broken", "mend it").failure
