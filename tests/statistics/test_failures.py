"""The note on few images that decide a mean or a difference, and the caution beside means without an upper limit."""

import json

import numpy as np
import pytest
from check_statistics import NOTE_CELLS
from noted import kinds, of_kind
from PIL import Image

import segbench
from segbench.core.messages import notes_about
from segbench.statistics.means import GroupMeans


def at_distances(distances):
    """Counts of images with a single pixel each in ground truth and prediction, that far apart."""
    images = {}
    for image, distance in enumerate(distances):
        truth, predicted = np.zeros((2, 1, 200), bool)
        truth[0, 0] = predicted[0, distance] = True
        images[f"case_{image:02}"] = segbench.count(truth, predicted, "contours")
    return images


NEAR = [3, 4, 5, 6, 7, 8, 4, 5, 6, 5]  # mean 5.3
FAR = [*NEAR[:9], 65]  # mean 11.3; 48 / 9 = 5.3333 without the last
DECIDING = "deciding-image", "deciding-images"


def decided(notes, key="hd95"):
    """Notes on images that decide a metric."""
    return of_kind(notes_about(notes, [key]), *DECIDING)


def instead(note, key="hd95"):
    """What a metric, or differences by it, are without the images, and with them."""
    return [of_key for named, *of_key in note.values["instead"] if named == key]


def test_intervals_name_the_image_and_give_the_mean_without_it():
    (note,) = decided(segbench.intervals(at_distances(FAR)).notes)
    assert (note.kind, note.values["images"]) == ("deciding-image", ("case_09",))
    assert instead(note) == [pytest.approx([48 / 9, 11.3])]


def test_images_that_lie_near_each_other_decide_nothing():
    assert not decided(segbench.intervals(at_distances(NEAR)).notes)


def test_two_of_forty_images_are_named():
    (note,) = decided(segbench.intervals(at_distances([*(NEAR * 4)[:38], 90, 100])).notes)
    assert (note.kind, note.values["images"]) == ("deciding-images", ("case_38", "case_39"))
    ((fewer, _),) = instead(note)
    assert fewer == pytest.approx(5.2895, abs=5e-5)


def test_an_image_that_is_far_but_carries_less_than_half_decides_nothing():
    """Deviations from the mean of 10: 16 four times, -4 sixteen times; one of 20 images has a fifth of the squares."""
    assert not decided(segbench.intervals(at_distances([6] * 16 + [26] * 4)).notes)


def test_images_without_a_value_do_not_count():
    """Nineteen distances and 20 images without: of 39 images two would have to decide, of 19 one does."""
    images = at_distances([*NEAR, *NEAR[:8], 90])
    empty = segbench.count(np.ones((1, 9), bool), np.zeros((1, 9), bool), "contours")
    images |= {f"empty_{image:02}": empty for image in range(20)}
    (note,) = decided(segbench.intervals(images).notes)
    assert note.values["images"] == ("case_18",)


class TestComparisons:
    def test_the_difference_counts_not_the_methods(self):
        """Both methods are 60 pixels worse in one image; their difference there is 1, as in others."""
        comparison = segbench.compare(
            {"a": at_distances(FAR), "b": at_distances([d + (k % 2) for k, d in enumerate(FAR)])}
        )
        assert not decided(comparison.notes)

    def test_it_is_given_with_the_difference_without_the_image(self):
        comparison = segbench.compare({"a": at_distances(FAR), "b": at_distances([3, 5, 4, 6, 8, 7, 4, 6, 5, 5])})
        (note,) = decided(comparison.notes)
        assert note.values["images"] == ("case_09",)
        assert instead(note) == [["a", "b", 0, pytest.approx(6)]]  # the first nine distances of both add up to 48

    def test_of_several_methods_the_first_pairs_are_named(self):
        better = at_distances([3, 5, 4, 6, 8, 7, 4, 6, 5, 5])
        comparison = segbench.compare({"a": at_distances(FAR), "b": better, "c": better, "d": better})
        (note,) = decided(comparison.notes)
        assert [of[:2] for of in instead(note)] == [["a", "b"], ["a", "c"]]
        assert dict(note.metrics)["hd95"].endswith("and of 1 more pair")

    def test_images_that_one_method_lacks_do_not_count(self):
        first, second = at_distances(FAR), at_distances([3, 5, 4, 6, 8, 7, 4, 6, 5, 5])
        truth, nothing = np.zeros((2, 1, 200), bool)
        truth[0, 0] = True
        second["case_09"] = segbench.count(truth, nothing, "contours")
        assert not decided(segbench.compare({"a": first, "b": second}).notes)

    def test_nothing_is_said_where_nothing_is_tested(self):
        a, b = at_distances(FAR[5:]), at_distances(NEAR[5:])
        assert not decided(segbench.compare({"a": a, "b": b}).notes)


@pytest.mark.parametrize(("images", "cautioned"), [(5, False), (6, True), (99, True), (100, False)])
def test_tests_of_few_distances_are_cautioned_against(images, cautioned):
    """Fewer than six images have no test."""
    first, second = (at_distances([4 + (image * step) % 7 for image in range(images)]) for step in (3, 5))
    notes = segbench.compare({"a": first, "b": second}).notes
    assert kinds(notes_about(notes, ["hd95"])).count("no-upper-limit") == cautioned
    assert "no-upper-limit" not in kinds(notes_about(notes, ["dice"]))


def test_groups_are_measured_without_the_image_too():
    """Two groups of ten: means 5.3 and 11.3, and 5.3333 without the last image of the second."""
    images = {
        f"{group}/{name}": counts
        for group, of in (("a", NEAR), ("b", FAR))
        for name, counts in at_distances(of).items()
    }
    table = segbench.Contours().table
    groups = {group: table({name: of for name, of in images.items() if name[0] == group}) for group in "ab"}
    metrics = groups["a"].metrics
    mean = GroupMeans(groups, metrics, range(len(metrics)), parts="groups")
    (note,) = decided(segbench.intervals(mean).notes)
    assert instead(note) == [pytest.approx([(5.3 + 48 / 9) / 2, 8.3])]


@pytest.fixture
def results(segbench, tmp_path):
    """Results of two methods, one of which fails in the last of ten images."""
    for name, distances in {"gt": [0] * 10, "ours": FAR, "theirs": [3, 5, 4, 6, 8, 7, 4, 6, 5, 5]}.items():
        (tmp_path / name).mkdir()
        for image, distance in enumerate(distances):
            mask = np.zeros((1, 200), np.uint8)
            mask[0, distance] = 255
            Image.fromarray(mask).save(tmp_path / name / f"case_{image:02}.png")
    path = tmp_path / "r.segbench"
    assert segbench("contours", *(tmp_path / name for name in ("gt", "ours", "theirs")), "-o", path).code == 0
    return path


class TestCommands:
    def test_show_has_it_beside_intervals(self, segbench, results):
        assert "ours: one image decides: without case_09" in segbench("show", results, "--intervals", "95").out

    def test_compare_has_it_and_the_caution_once(self, segbench, results):
        printed = segbench("compare", results, "--all").out
        assert printed.count("one image decides: without case_09") == 1
        assert printed.count("means without an upper limit") == 1

    @pytest.mark.parametrize("command", [("compare",), ("show", "--intervals", "95")])
    def test_json_has_it(self, segbench, results, command):
        verb, *options = command
        document = json.loads(segbench(verb, results, "--format", "json", *options).out)
        notes = document["notes"] if verb == "compare" else document["runs"][0]["sampling"]["notes"]
        (note,) = (note for note in notes if note["kind"] == "deciding-image" and "hd95" in note["metrics"])
        assert (note["side"], note["values"]["images"], note["settings"]) == ("", ["case_09"], [])

    def test_the_page_has_it(self, segbench, results, tmp_path):
        segbench("report", results, "-o", tmp_path / "page.html")
        assert "without case_09, which lies far from the others" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("cell", "least", "most"), [("n/failures-10", 0.6, 1), ("n/beta-10", 0, 0.06)])
def test_failures_in_the_sample_are_noted_and_skewed_means_seldom(cell, least, most):
    noted = [NOTE_CELLS[cell].noted(np.random.default_rng([0, repeat])) for repeat in range(100)]
    assert least <= np.mean(noted) <= most
