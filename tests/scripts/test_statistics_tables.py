"""Tables of the documentation hold what `scripts/checks/check_statistics.py` measured."""

import check_statistics
import pytest
import statistics_tables


@pytest.mark.parametrize("page", statistics_tables.written(), ids=lambda page: page.name)
def test_a_page_has_the_tables_as_they_were_measured(page):
    assert page.read_text(encoding="utf-8") == statistics_tables.written([page])[page]


def test_every_row_is_that_of_a_cell():
    cells = {**check_statistics.CELLS, **check_statistics.NOTE_CELLS}
    for name, rows in check_statistics.read().items():
        metrics = ("hd95",) if name in check_statistics.NOTE_CELLS else cells[name].metrics
        assert tuple(row["metric"] for row in rows) == metrics


def test_cells_keep_their_bounds():
    """Rows that were measured again, with another seed, decide."""
    for name, rows in check_statistics.read().items():
        cell = check_statistics.CELLS.get(name) or check_statistics.NOTE_CELLS[name]
        assert not any(cell.misses(row) for row in rows), name


def test_shares_are_written_as_in_the_documentation(tmp_path, monkeypatch):
    path = tmp_path / "statistics.csv"
    path.write_text(
        "cell,metric,repeats,seed,truth,coverage,no_interval,size,no_test,noted\n"
        "e/50-sd0,iou,2000,0,,,1.0000,0.0425,0.0000,\n"
        "b/6,iou,2000,0,0.7,0.8940,0.0000,0.0505,0.0000,\n"
        "n/normal-10,hd95,2000,0,,,,,,0.0052\n"
    )
    over_images = tmp_path / "statistics_over_images.csv"
    over_images.write_text(f"{','.join(check_statistics.COLUMNS)}\ne/50-sd0,iou,2000,0,,,1.0000,0.1600,0.0000,\n")
    monkeypatch.setattr(check_statistics, "RESULTS", path)
    monkeypatch.setattr(check_statistics, "RESULTS_OVER_IMAGES", over_images)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- folds begins -->\nold\n<!-- folds ends -->\n<!-- units begins --><!-- units ends -->\n")
    text = statistics_tables.written([page])[page]
    assert "| 50 | .160 / – / – | .043 / – / – | – |" in text  # noqa: RUF001  a dash
    assert "| 6, one has half of the images | .5 | – | – | .051 – | **.89** – |" in text  # noqa: RUF001  dashes
    assert "\nold\n" not in text
    assert "| normal | 0.5 % |" in statistics_tables.notes(statistics_tables.Shares())
