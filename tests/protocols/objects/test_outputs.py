"""Results of objects through the whole program: workers, results files, pictures, plots and comparisons."""

import imageio.v3 as iio
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from refusing import refused

import segbench as sb
from segbench import ArgumentError, Objects, evaluate
from segbench.protocols.states import State

LETTERS = {State.NOTHING: ".", State.TRUE: "t", State.FALSE: "f", State.MISSED: "m", State.PARTNER: "p"}


@pytest.fixture
def folders(tmp_path):
    rng = np.random.default_rng(4)
    for k in range(8):
        truth = np.kron(rng.integers(0, 9, (5, 6)), np.ones((7, 7), int)).astype(np.uint16)
        predicted = {"near": np.roll(truth, 1, axis=0), "far": np.roll(truth, 3, axis=1)}
        for side, values in {"gt": truth, **predicted}.items():
            (tmp_path / side).mkdir(exist_ok=True)
            iio.imwrite(tmp_path / side / f"im{k}.png", values)
    return tmp_path


def test_workers_resumed_runs_and_arrays_give_the_same(folders, tmp_path):
    places = folders / "gt", folders / "near"
    alone = evaluate(*places, Objects())
    with sb.process_pool(2) as executor:
        spread = evaluate(*places, Objects(), executor=executor, results=tmp_path / "r.segbench")
    accumulator = sb.Accumulator(Objects(), method="near")
    for file in sorted((folders / "gt").iterdir(), reverse=True):
        accumulator.update(iio.imread(file), iio.imread(folders / "near" / file.name), name=file.stem)
    (stored,) = sb.load_results(tmp_path / "r.segbench")
    again = evaluate(*places, Objects(), results=tmp_path / "r.segbench")
    assert again.reused == 8
    for other in (spread, stored, again, accumulator.compute()):
        assert other.summary == alone.summary
        assert dict(other.counts) == dict(alone.counts)


def test_workers_of_dask_give_the_same(folders):
    distributed = pytest.importorskip("distributed")
    places = folders / "gt", folders / "near"
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        sb.dask_pool(cluster.scheduler_address) as executor,
    ):
        assert evaluate(*places, Objects(), executor=executor).summary == evaluate(*places, Objects()).summary


def test_methods_are_compared_by_their_headline(folders):
    results = [evaluate(folders / "gt", folders / name, Objects()) for name in ("far", "near")]
    far, near = (result.per_image["im0"]["f1@0.5"] for result in results)
    assert near > far
    compared = sb.compare_results(results)
    assert compared.metric().key == "f1@0.5"
    low, high = results[1].intervals()["aji"]
    assert low < results[1].summary["aji"] < high


def states_of(truth, predicted, **settings):
    """Draw what became of the pixels of an image, in letters."""
    protocol = Objects(**settings)
    sample = sb.core.sample.Sample("a", (np.array(truth),), (np.array(predicted),))
    return ["".join(LETTERS[state] for state in row) for row in protocol.states(sample, 0.5).tolist()]


def test_objects_are_outlined_by_what_became_of_them():
    truth = np.zeros((5, 12), int)
    truth[:4, :4], truth[:3, 9:] = 1, 2
    predicted = np.zeros_like(truth)
    predicted[:5, :4], predicted[:3, 5:8] = 3, 4
    assert states_of(truth, predicted) == [
        "...t.f.f.m..",
        "...t.f.f.m..",
        "...t.fff.mmm",
        "pppt........",
        "...t........",
    ]


def test_components_are_outlined_by_their_fate():
    truth, predicted = np.zeros((2, 3, 9), bool)
    truth[:, :3] = predicted[:, :2] = predicted[:, 5:7] = True
    assert states_of(truth, predicted, kind="components") == [".tp..ff.."] * 3


def test_overlays_and_pages_show_outlines(folders, tmp_path):
    evaluate(folders / "gt", folders / "near", Objects(), results=tmp_path / "r.segbench")
    (result,) = sb.load_results(tmp_path / "r.segbench")
    sb.export_overlays([result], tmp_path / "out")
    held = set(np.unique(np.asarray(Image.open(next((tmp_path / "out").rglob("im0.png"))))).tolist())
    assert held <= set(LETTERS)
    assert State.TRUE in held
    sb.export_report([result], tmp_path / "page.html")
    assert "matched, as predicted" in (tmp_path / "page.html").read_text("utf-8")


def test_curves_are_those_of_the_metrics(folders):
    result = evaluate(folders / "gt", folders / "near", Objects(iou=(0.5, 0.75, 1)))
    found = result.table.by_threshold
    assert (found.at[0], found.at[-1]) == (0.5, 1)
    assert found.f1[[0, 50, 100]].tolist() == [result.summary[f"f1@{t}"] for t in (0.5, 0.75, 1)]
    assert found.ts[0] == result.summary["threat_score@0.5"]
    components = evaluate({"a": (np.eye(4) > 0, np.tri(4) > 0)}, protocol=Objects(kind="components"))
    curve = components.table.by_threshold
    assert (curve.at[0], curve.at[-1]) == (0.25, 0.75)
    assert curve.f1[[0, 50, 100]].tolist() == [components.summary[f"component_f1@{t}"] for t in (0.25, 0.5, 0.75)]


def test_low_curves_do_not_lie_on_the_axis():
    truth, predicted = np.zeros((2, 90, 5), bool)
    truth[1::4], predicted[1, 1:], predicted[3::4] = True, True, True  # one of 23 is found
    result = evaluate({"a": (truth, predicted)}, protocol=Objects(kind="components"))
    ax = sb.plot(result, "object_f1", ax=Figure().subplots())
    (line,) = ax.lines
    assert 0 < max(line.get_ydata()) < ax.get_ylim()[1] < 0.1
    perfect = evaluate({"a": (truth, truth)}, protocol=Objects(kind="components"), method="perfect")
    assert sb.plot([result, perfect], "object_f1", ax=Figure().subplots()).get_ylim() == (0, 1)


def test_plots_of_objects_refuse_other_results():
    with refused("no-plot", ArgumentError, settings={"kind": "pr"}, protocol="pixels"):
        sb.plot(evaluate({"a": (np.eye(4), np.eye(4))}), "object_f1")


def test_soft_maps_are_named_by_check(folders, tmp_path):
    (tmp_path / "soft").mkdir()
    for file in (folders / "gt").iterdir():
        noise = np.random.default_rng(0).integers(0, 256, iio.imread(file).shape)
        iio.imwrite(tmp_path / "soft" / file.name, noise.astype(np.uint8))
    report = sb.check(folders / "gt", tmp_path / "soft", Objects())
    (finding,) = (finding for finding in report.findings if finding.kind == "soft-map")
    advice = {setting.name: setting.value for setting in finding.settings}
    assert advice == {"kind": "components", "at": 0.5, "positive": ">0"}
    assert not sb.evaluate(folders / "gt", tmp_path / "soft", Objects(**advice)).failed
