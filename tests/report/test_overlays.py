"""Pictures of true, false and missed pixels: they show what was counted."""

import numpy as np
import pytest
from cases import write_folder
from checks import state_colours
from checks.state_colours import VISION
from click.testing import CliRunner
from PIL import Image
from refusing import refused

import segbench
from segbench import Boundaries
from segbench.aggregator.rereading import full_protocol
from segbench.cli.commands import app
from segbench.protocols.states import State
from segbench.report.grounds import BETWEEN, PALETTE, blended, hatched, washed

RNG = np.random.default_rng(4)
MASK = RNG.random((20, 30)) < 0.3
SCORES = (RNG.random((20, 30)) * 200 + 55 * MASK).astype(np.uint8)
LINES = np.zeros((40, 60), np.uint8)
LINES[10, 5:50] = LINES[30, 5:50] = 255
SOFT = np.zeros((40, 60), np.uint8)
SOFT[11, 5:50] = SOFT[20, 5:50] = 200


def test_states_hold_over_every_pale_grey():
    assert state_colours.main() == 0
    ends = np.array([[0.0] * 3, [255.0] * 3])
    assert state_colours.contrasts(ends, ends) == pytest.approx(np.array([[1, 21], [21, 1]]))
    for vision in VISION:
        assert state_colours.difference(ends[:1], ends[1:], vision) == pytest.approx(100, abs=1)


def test_colours_that_do_not_hold_are_told(monkeypatch, capsys):
    palette = PALETTE.copy()
    palette[State.MISSED] = palette[State.FALSE]
    monkeypatch.setattr(state_colours, "PALETTE", palette)
    assert state_colours.main() == 1
    assert "some colours do not hold" in capsys.readouterr().out


def test_any_photograph_becomes_a_pale_ground_on_which_states_are_seen():
    photograph = np.array([[[0, 0, 0], [255, 255, 255]], [[255, 0, 0], [0, 0, 255]]], np.uint8)
    ground = washed(photograph)
    assert ground.tolist() == [[[204] * 3, [255] * 3], [[219] * 3, [210] * 3]]
    assert (washed(photograph[..., 0]) == ground[..., :1])[0].all()
    states = np.array([[State.NOTHING, State.FALSE], [State.TRUE, State.MISSED]], np.uint8)
    picture = blended(states, ground)
    assert picture[0, 0].tolist() == [204] * 3
    assert picture[0, 1].tolist() == [round(0.85 * level + 0.15 * 255) for level in PALETTE[State.FALSE].tolist()]


def test_what_is_left_out_is_hatched_and_nothing_else():
    states = np.full((40, 40), State.IGNORED, np.uint8)
    states[:20] = State.FALSE
    drawn = hatched(states, step=4)
    assert (drawn[:20] == State.FALSE).all()
    assert {*np.unique(drawn[20:]).tolist()} == {State.IGNORED, BETWEEN}
    assert np.count_nonzero(drawn == BETWEEN) == np.count_nonzero(drawn == State.IGNORED) == 400
    assert drawn[20, :8].tolist() == [BETWEEN] * 4 + [State.IGNORED] * 4


def test_void_is_hatched_in_label_maps_as_it_is_among_errors(run, tmp_path):
    truth = np.zeros((40, 40), np.uint8)
    truth[:20, 20:] = 1
    truth[20:] = 255
    result = run(segbench.Labels(classes=2, void=(255,)), {"a.png": truth}, {"a.png": np.zeros_like(truth)})
    segbench.export_overlays([result], tmp_path / "out", classes=True)
    void = np.asarray(Image.open(tmp_path / "out/pred/a.png"))[-20:]
    is_picture = (void[0] != void[0, 50]).any(axis=1)  # of 40 pixels, below longer captions
    starts = np.flatnonzero(np.diff(is_picture, prepend=False) & is_picture)
    in_stripes = [PALETTE[State.IGNORED if (20 + row) // 3 % 2 == 0 else BETWEEN].tolist() for row in range(20)]
    drawn = [void[:, start].tolist() for start in starts]
    assert [column == in_stripes for column in drawn] == [True, False, True]  # ground truth, prediction, errors


def states_in(path):
    picture = Image.open(path)
    assert picture.mode == "P"
    states = np.asarray(picture)
    np.testing.assert_array_equal(np.asarray(picture.convert("RGB")), PALETTE[states])
    return np.where(states == BETWEEN, State.IGNORED, states)


def how_many(states, state):
    return int(np.count_nonzero(states == state))


@pytest.fixture
def run(tmp_path):
    def made(protocol, truths, predictions, **options):
        write_folder(tmp_path / "gt", truths)
        write_folder(tmp_path / "pred", predictions)
        return segbench.evaluate(
            tmp_path / "gt", tmp_path / "pred", protocol, results=tmp_path / "r.segbench", **options
        )

    return made


@pytest.mark.parametrize(
    "protocol",
    [segbench.Pixels(), segbench.Pixels(positive="255", void=(7,), invert=True), segbench.Pixels(positive=">=128")],
    ids=["two values", "void, inverted", "rule"],
)
def test_pixels_are_those_counted(run, tmp_path, protocol):
    truth = MASK * np.uint8(255)
    if protocol.void:
        truth[:3] = 7
    result = run(protocol, {"a.png": truth, "sub/b.png": truth}, {"a.png": SCORES, "sub/b.png": 255 - SCORES})
    assert segbench.export_overlays(result, tmp_path / "out") == []
    threshold = result.summary["ods_threshold"]
    for name, file in (("a", "a.png"), ("sub/b", "sub%2Fb.png")):
        states = states_in(tmp_path / "out/pred" / file)
        counts = result.counts[name]
        above = counts.scores >= threshold
        true, false = int(counts.positives[above].sum()), int(counts.negatives[above].sum())
        assert how_many(states, State.TRUE) == true
        assert how_many(states, State.FALSE) == false
        assert how_many(states, State.MISSED) == int(counts.positives.sum()) - true
        assert how_many(states, State.IGNORED) == counts.ignored


def test_an_image_of_positives_alone_has_no_false_pixel(run, tmp_path):
    result = run(
        segbench.Pixels(),
        {"a.png": MASK * np.uint8(255), "b.png": np.full((20, 30), 255, np.uint8)},
        {"a.png": SCORES, "b.png": SCORES},
    )
    segbench.export_overlays([result], tmp_path / "out", threshold=0.5, names=["b"])
    states = states_in(tmp_path / "out/pred/b.png")
    assert set(np.unique(states)) == {State.TRUE, State.MISSED}
    assert not (tmp_path / "out/pred/a.png").exists()


def test_a_threshold_above_all_scores_is_refused(run, tmp_path):
    result = run(segbench.Pixels(), {"a.png": MASK * np.uint8(255)}, {"a.png": SCORES})
    with refused("above-all-scores", segbench.ArgumentError, threshold=128, least=0):
        segbench.export_overlays([result], tmp_path / "out", threshold=128)
    assert not (tmp_path / "out").exists()


def test_boundaries_are_those_counted(run, tmp_path):
    result = run(segbench.Boundaries(thresholds=(0.5,), max_dist=0.03), {"a.png": LINES}, {"a.png": SOFT})
    segbench.export_overlays([result], tmp_path / "out")
    states = states_in(tmp_path / "out/pred/a.png")
    counts = result.counts["a"]
    assert how_many(states, State.TRUE) == counts.matched_pred[0] == 45
    assert how_many(states, State.FALSE) == counts.total_pred[0] - counts.matched_pred[0] == 45
    assert how_many(states, State.MISSED) == counts.total_gt[0] - counts.matched_gt[0] == 45
    assert how_many(states, State.PARTNER) == counts.matched_gt[0]
    assert (states[11, 5:50] == State.TRUE).all()
    assert (states[20, 5:50] == State.FALSE).all()


def test_regions_found_and_run_together_and_in_fragments(run, tmp_path):
    truth = np.ones((4, 12), np.uint8)
    truth[:, 6:] = 2
    predicted = np.ones((4, 12), np.uint8)
    predicted[:, 7:] = 2
    predicted[0, 11] = 3
    result = run(segbench.Regions(), {"a.png": truth}, {"a.png": predicted})
    segbench.export_overlays([result], tmp_path / "out")
    states = states_in(tmp_path / "out/pred/a.png")
    expected = np.full((4, 12), State.TRUE)
    expected[:, 6] = State.FALSE
    expected[0, 11] = State.MISSED
    np.testing.assert_array_equal(states, expected)


def test_the_command_says_what_colours_mean_and_goes_on_past_a_changed_image(run, tmp_path):
    truth = MASK * np.uint8(255)
    run(
        segbench.Pixels(),
        {"a.png": truth, "b.png": truth, "c.png": truth},
        dict.fromkeys(["a.png", "b.png", "c.png"], SCORES),
    )
    write_folder(tmp_path / "pred", {"b.png": SCORES // 2})
    (tmp_path / "pred/c.png").unlink()
    ended = CliRunner().invoke(app, ["overlay", str(tmp_path / "r.segbench"), "-o", str(tmp_path / "out")])
    assert ended.exit_code == 1
    assert "b.png: has changed since it was counted" in ended.stderr
    assert "c: its files no longer exist" in ended.stderr
    assert "blue: true, red: false, orange: missed" in ended.stderr
    assert [path.name for path in (tmp_path / "out/pred").iterdir()] == ["a.png"]


def test_a_protocol_of_ones_own_is_named_where_there_is_no_picture(run, tmp_path):
    class Trimap(segbench.Pixels):
        pass

    truth = MASK * np.uint8(255)
    run(Trimap(), {"a.png": truth}, {"a.png": SCORES})
    with refused("unknown-protocol", segbench.DataError, path="pred", counted_by="Trimap"):
        segbench.export_overlays(segbench.load_results(tmp_path / "r.segbench"), tmp_path / "out")


def test_imported_results_and_unknown_images_are_refused(run, tmp_path):
    truth = MASK * np.uint8(255)
    result = run(segbench.Pixels(), {"a.png": truth}, {"a.png": SCORES})
    with refused("no-such-image", segbench.DataError, path="pred", images=("'z'",)):
        segbench.export_overlays([result], tmp_path / "out", names=["z"])
    with refused("not-a-folder", segbench.DataError, path=str(tmp_path / "r.segbench")):
        segbench.export_overlays([result], tmp_path / "r.segbench")
    counts = segbench.BoundaryCounts([0.5], [1], [1], [1], [1])
    imported = segbench.Result("m", Boundaries(), {}, "protocol:boundaries|data:0", {"a": counts})
    with refused("unknown-files", segbench.DataError, path="m"):
        segbench.export_overlays([imported], tmp_path / "out")


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
def test_nothing_to_draw_is_an_error(run, tmp_path):
    with refused("no-results", segbench.ArgumentError):
        segbench.export_overlays([], tmp_path / "out")
    result = run(segbench.Pixels(), {"a.png": MASK * np.uint8(255)}, {"a.png": SCORES[1:]})
    with refused("no-image", segbench.DataError, path="pred") as raised:
        segbench.export_overlays([result], tmp_path / "out", threshold=0.5)
    assert raised.value.hint.kind == "leave-out"


def test_the_command_says_why_a_run_has_no_pictures(run, tmp_path):
    truth = (MASK * np.uint8(1)).astype(np.uint8)
    stack = np.stack([SCORES, 255 - SCORES])
    kept = tmp_path / "r.segbench"
    run(segbench.Pixels(), {"a.png": truth}, {"a.png": SCORES})
    write_folder(tmp_path / "stacks", {"a.npy": stack})
    write_folder(tmp_path / "drawn", {"a.1.png": truth, "a.2.png": truth})
    segbench.evaluate(tmp_path / "gt", tmp_path / "stacks", segbench.Classes(labels=range(2)), results=kept)
    annotators = segbench.Annotators(settings=segbench.Boundaries(thresholds=5))
    segbench.evaluate(tmp_path / "drawn", None, annotators, gt_pattern="*.#", results=kept)
    answer = CliRunner().invoke(app, ["overlay", str(kept), "-o", str(tmp_path / "out")])
    assert answer.exit_code == 0
    assert "stacks: left out, since it was counted with several classes" in answer.stderr
    assert "human: left out, since it compares annotators with each other" in answer.stderr
    assert (tmp_path / "out" / "pred" / "a.png").exists()


@pytest.mark.parametrize(
    "protocol",
    [
        segbench.Pixels(positive="1,3", void=(255.0,), quantize=16, annotators="each"),
        segbench.Boundaries(max_dist=0.01234567, thresholds=(0.1, 1 / 3), nms=(1, 5, 1.0123456789)),
        segbench.Regions(thresholds=(0.25, 0.5), void=(0,)),
    ],
)
def test_settings_come_back_from_the_results_file(run, tmp_path, protocol):
    files = {"a.png": (MASK * np.uint8(1)).astype(np.uint8)}
    run(protocol, files, files)
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert full_protocol(result) == protocol
