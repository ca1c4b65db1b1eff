"""The page as a reader meets it, in headless Chromium."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from browsers import BROWSER, chromium, overflowing, prefer, resize, violations
from cases import write_folder
from methods import write_methods
from pages import HOSTILE, hostile_results, write_page
from volumes_written import write_nifti

from segbench import Labels, evaluate

pytestmark = BROWSER
DEMO = Path(__file__).resolve().parents[3] / "datasets/demo/labels"


class Reader:
    """A browser with a page open."""

    def __init__(self, driver):
        self.driver = driver

    def resize(self, width, height=900):
        resize(self.driver, width, height)

    def open(self, path: Path, width=1280, height=900):
        self.resize(width, height)
        self.driver.get(path.as_uri())
        self.until("return typeof follow !== 'undefined'")

    def run(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def until(self, code):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 15, poll_frequency=0.05).until(lambda _: self.run(code))

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def swipe(self, x, to, y=400):
        for kind, points in (("touchStart", [x]), ("touchMove", [to]), ("touchEnd", [])):
            touch = {"type": kind, "touchPoints": [{"x": at, "y": y} for at in points]}
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", touch)

    def move_to(self, x, y):
        for at in (x - 3, x):  # a browser tells a page of moves, not of places
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": at, "y": y})

    def column(self, table, place):
        rows = f"[...document.querySelectorAll('{table} tbody tr')]"
        return self.run(f"return {rows}.map((row) => row.cells[{place}].dataset.v)")

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")] + self.run("return broken")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield Reader(driver)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    gt, one, two = write_methods(tmp_path_factory.mktemp("data"), {"one": 0.5, "two": 2}, images=6, shape=(20, 31))
    return [evaluate(gt, one), evaluate(gt, two)]


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    photos = write_folder(tmp_path_factory.mktemp("photos"), {"im05.png": np.full((20, 31), 99, np.uint8)})
    return write_page(tmp_path_factory.mktemp("page"), results, images=photos)


@pytest.fixture(scope="module")
def opened(browser, page):
    """One load for all tests that leave the page as they found it."""
    browser.open(page)
    return browser


@pytest.fixture
def reader(opened):
    yield opened
    opened.run("document.querySelector('#panel').close()")
    opened.until("return open === null")  # the event comes with the next frame, perhaps in the next test
    assert opened.complaints() == []


class TestPage:
    def test_the_gallery_is_saved_as_it_is_shown(self, reader):
        reader.run(
            """window.saved = null;
            window.linked = [URL.createObjectURL, HTMLAnchorElement.prototype.click];
            const keep = async (file) => { saved = await createImageBitmap(file); };
            URL.createObjectURL = (file) => { keep(file); return ''; };
            HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; };
            document.querySelector('.save').click();"""
        )
        reader.until("return saved !== null")
        wide, high, pixels = reader.run(
            """[URL.createObjectURL, HTMLAnchorElement.prototype.click] = linked;
            const context = new OffscreenCanvas(saved.width, saved.height).getContext('2d',
                { willReadFrequently: true });
            context.drawImage(saved, 0, 0);
            const rows = all('.gallery tbody tr');
            const row = rows.findIndex((one) => find('.name', one).textContent === 'im05');
            const cell = Math.round((360 * 20) / 31);
            const middle = 36 + row * (cell + 6) + cell / 2;
            return [saved.width, saved.height, [0, 1, 2].map((column) =>
                [...context.getImageData(180 + column * 366 + 100, middle, 1, 1).data].slice(0, 3))];"""
        )
        assert reader.run("return savedAs") == "pixels-pictures.png"
        rows = reader.run("return all('.gallery tbody tr').length")
        assert (wide, high) == (180 + 4 * 366, 4 * 18 + 6 + rows * (round(360 * 20 / 31) + 6))
        assert pixels[0] == [99, 99, 99]  # the photograph as it is
        assert pixels[1] in ([0, 0, 0], [255, 255, 255])  # ground truth
        assert pixels[2] != pixels[1]

    def test_nothing_is_asked_of_the_network(self, reader):
        loaded = reader.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        assert [name for name in loaded if not name.startswith(("data:", "blob:"))] == []

    def _best_point(self, reader, result):
        """Scroll a chart into view, and return the place of the best F on the screen."""
        return reader.run(
            """const svg = document.querySelector('.pr svg');
            svg.scrollIntoView({block: 'center', behavior: 'instant'});
            const place = new DOMPoint(axis(svg.dataset.x).at(arguments[0]), axis(svg.dataset.y).at(arguments[1]));
            const { x, y } = place.matrixTransform(svg.getScreenCTM());
            return [x, y];""",
            result.summary["ods_recall"],
            result.summary["ods_precision"],
        )

    def test_printed_it_is_a_handout_of_two_pages(self, reader):
        size = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        printed = reader.driver.execute_cdp_cmd("Page.printToPDF", size)
        assert base64.b64decode(printed["data"]).count(b"/Type /Page\n") in (1, 2)

    def test_it_fits_a_phone(self, browser, page):
        browser.open(page, width=390, height=800)
        left = """const box = document.querySelector('.metrics').parentElement;
            box.scrollLeft = 200;
            return box.scrollWidth > box.clientWidth && box.querySelector('tbody th').getBoundingClientRect().left
                - box.getBoundingClientRect().left"""
        assert 0 <= browser.run(left) < 3
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        browser.run("document.querySelector('.thumb').click()")
        browser.until(TestPictures.PAINTED)
        assert browser.run("const d = document.querySelector('#panel'); return d.scrollWidth <= d.clientWidth")
        top = "return document.querySelector('#pictures .main').getBoundingClientRect().top"
        assert browser.run(top) < 100
        assert browser.complaints() == []
        browser.open(page)

    def test_the_p_values_of_four_methods_fit(self, browser, page, tmp_path):
        skills = {"random_walker": 4, "border_colours": 3, "local_entropy": 2, "soft_otsu": 1}
        gt, *methods = write_methods(tmp_path, skills)
        width = "const box = document.querySelector('.matrix').parentElement; return box.scrollWidth - box.clientWidth"
        compared = write_page(tmp_path, [evaluate(gt, method) for method in methods], most_panels=0)
        for window in (1280, 1000):
            browser.open(compared, width=window)
            browser.run("document.querySelector('.pairs').open = true")
            assert browser.run("return document.querySelectorAll('.matrix .differs').length") == 6
            assert browser.run(width) == 0
        browser.open(page)

    def test_hovering_tells_threshold_precision_recall_and_f(self, reader, results):
        best = max(results, key=lambda result: result.summary["ods_f"])
        reader.move_to(*self._best_point(reader, best))
        told = reader.until("const told = document.querySelector('.pr .told'); return !told.hidden && told.innerText")
        summary = best.summary
        assert told.splitlines() == [
            best.method,
            f"threshold {summary['ods_threshold']:.5g}",
            f"recall {summary['ods_recall']:.4f}".replace("0.", "."),
            f"precision {summary['ods_precision']:.4f}".replace("0.", "."),
            f"F {summary['ods_f']:.4f}".replace("0.", "."),
        ]
        reader.move_to(3, 3)
        assert reader.run("return document.querySelector('.pr .told').hidden")

    def test_curves_can_be_read_by_keyboard(self, reader, results):
        from selenium.webdriver.common.keys import Keys

        reader.run("document.querySelector('.threshold-f svg').focus()")
        reader.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        told = reader.run("return document.querySelector('.threshold-f .told').innerText").splitlines()
        assert told[0] == min(results, key=lambda result: result.summary["ods_f"]).method
        assert [line.split()[0] for line in told[1:]] == ["threshold", "F"]
        reader.run("document.activeElement.blur()")

    def test_a_method_can_be_brought_out(self, reader):
        bands = """return [...document.querySelectorAll('.pr .band')].map((band) => [
            band.parentElement.dataset.method, Number(getComputedStyle(band).opacity) > 0])"""
        assert dict(reader.run(bands)) == {"0": True, "1": False}
        reader.run("document.querySelectorAll('.pick')[1].click()")
        assert dict(reader.run(bands)) == {"0": False, "1": True}
        assert reader.run("return document.querySelectorAll('.pick')[1].getAttribute('aria-pressed')") == "true"
        reader.run("document.querySelectorAll('.pick')[1].click()")
        assert dict(reader.run(bands)) == {"0": True, "1": False}

    def test_tables_sort_by_click(self, reader):
        worst_first = [float(value) for value in reader.column("table.images", 2)]
        assert worst_first == sorted(worst_first)
        reader.run("document.querySelector('table.images thead th:nth-child(3) button').click()")
        assert [float(value) for value in reader.column("table.images", 2)] == worst_first[::-1]
        state = "return document.querySelector('table.images thead th:nth-child(3)').getAttribute('aria-sort')"
        assert reader.run(state) == "descending"
        reader.run("document.querySelector('table.images thead th:nth-child(3) button').click()")

    def test_tables_sort_by_keyboard(self, reader):
        from selenium.webdriver.common.keys import Keys

        reader.run("document.querySelector('table.images thead th button').focus()")
        reader.press(Keys.ENTER)
        names = reader.column("table.images", 0)
        assert names == sorted(names)
        reader.press(Keys.TAB, Keys.SPACE)
        assert reader.column("table.images", 1) == ["one"] * 6 + ["two"] * 6

    def test_rows_can_be_filtered(self, reader):
        write = """const name = document.querySelector('.by-name');
            name.value = arguments[0]; name.dispatchEvent(new Event('input'));"""
        reader.run(write, "IM03")
        assert reader.run("return document.querySelectorAll('table.images tbody tr:not([hidden])').length") == 2
        reader.run(write, "")

    def test_the_theme_changes_colours_and_charts(self, reader):
        look = """return [getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector('.charts .title')).fill]"""
        before = reader.run(look)
        reader.run("document.querySelector('#theme').click()")
        after = reader.run(look)
        assert all(old != new for old, new in zip(before, after, strict=True))
        reader.run("document.querySelector('#theme').click()")


class TestAccessibility:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize(
        ("width", "panel"), [(2560, False), (1440, False), (768, False), (390, False), (390, True)]
    )
    def test_axe_finds_nothing_and_no_element_overflows(self, reader, width, scheme, panel):
        prefer(reader.driver, scheme)
        reader.resize(width)
        try:
            if panel:
                reader.run("document.querySelector('.open').click()")
                reader.until(TestPictures.PAINTED)
            assert violations(reader.driver) == []
            assert overflowing(reader.driver) == []
        finally:
            prefer(reader.driver, None)
            reader.resize(1280)


class TestPictures:
    PAINTED = "return open?.states && open.main.width > 1 && document.querySelector('#at').textContent"
    COLOURS = """
        const { width, height } = open.main, seen = {};
        const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(open.main, 0, 0);
        const pixels = copy.getImageData(0, 0, width, height).data;
        for (let at = 0; at < pixels.length; at += 4) {
            const name = pixels.slice(at, at + 3).join();
            seen[name] = (seen[name] ?? 0) + 1;
        }
        return STATES.map((name) => seen[rgba(`--${name}`).slice(0, 3).join()] ?? 0);"""

    def _open(self, reader, name, method):
        reader.run(
            """[...document.querySelectorAll('.open')].find((button) => button.textContent === arguments[0]
               && button.closest('tr').cells[1].dataset.v === arguments[1]).click()""",
            name,
            method,
        )
        reader.until(self.PAINTED)

    def _expected(self, result, name, threshold):
        counts = result.counts[name]
        on = counts.scores >= threshold
        tp, fp = int(counts.positives[on].sum()), int(counts.negatives[on].sum())
        return [tp, fp, counts.total_positives - tp]

    def test_the_slider_moves_the_picture_and_the_figures(self, reader, results):
        from selenium.webdriver.common.keys import Keys

        result = next(r for r in results if r.method == "two")
        self._open(reader, "im02", "two")
        threshold = result.summary["ods_threshold"]
        assert reader.run(self.COLOURS)[1:4] == self._expected(result, "im02", threshold)
        reader.run("document.querySelector('#threshold').focus()")
        reader.press(*[Keys.ARROW_RIGHT] * 5)
        cuts = result.pooled.scores[::-1]
        moved = cuts[cuts.tolist().index(threshold) + 5]
        assert reader.run(self.COLOURS)[1:4] == self._expected(result, "im02", moved)
        assert f"{moved:.4f}".lstrip("0") == reader.run("return document.querySelector('#at').textContent")

    def test_the_best_of_the_image(self, reader, results):
        result = next(r for r in results if r.method == "one")
        self._open(reader, "im04", "one")
        reader.run("document.querySelector('#image-best').click()")
        best = result.per_image["im04"]["f"]
        assert f"F {best:.4f}".replace("0.", ".") in reader.run("return document.querySelector('#reading').textContent")

    def test_every_picture_says_what_it_is(self, reader):
        self._open(reader, "im01", "one")
        told = reader.run("""return [...document.querySelectorAll('#pictures :is(img, canvas)')].map(
            (node) => node.alt ?? node.getAttribute('aria-label'))""")
        assert len(told) == 3
        assert all("im01" in text for text in told)

    def test_the_photograph_shines_through(self, reader):
        self._open(reader, "im05", "one")
        opacity = "return Number(getComputedStyle(open.main).opacity)"
        assert reader.run(opacity) == 1
        reader.run("const o = document.querySelector('#opacity'); o.value = 40; o.dispatchEvent(new Event('input'))")
        assert reader.run(opacity) == 0.4
        reader.run("document.querySelector('.view-truth input').click()")
        assert reader.run("return [open.main.width, open.main.height]") == [31, 20]
        reader.run("document.querySelector('.view-errors input').click()")

    def test_zoom_shows_a_part_of_the_picture(self, reader):
        self._open(reader, "im05", "one")
        hidden = "const main = document.querySelector('#pictures .main'); return main.scrollWidth - main.clientWidth"
        assert reader.run(hidden) == 0
        reader.run("document.querySelector('#zoom').click()")
        assert reader.run(hidden) > 500
        reader.run("document.querySelector('#zoom').click()")
        assert reader.run(hidden) == 0

    def test_a_link_names_image_method_and_threshold(self, reader, results):
        cut = next(r for r in results if r.method == "two").pooled.scores[3]
        reader.run("location.hash = `#image=im03&method=two&t=${arguments[0]}`", float(cut))
        reader.until(self.PAINTED)
        shown = "return [document.querySelector('#panel-name').textContent, document.querySelector('#at').textContent]"
        assert reader.run(shown) == ["im03", f"{cut:.4f}".lstrip("0")]
        assert reader.run("return location.hash").startswith("#image=im03&method=two&t=.")

    def test_a_link_followed_while_the_panel_closes_opens_it_again(self, reader):
        for _ in range(10):
            self._open(reader, "im05", "one")
            reader.run("document.querySelector('#panel').close(); location.hash = '#image=im03&method=two'")
            reader.until("return open?.panel.name === 'im03' && open.states")

    def test_thumbnails_follow_a_point_on_the_curve(self, reader, results):
        result = next(r for r in results if r.method == "two")
        reader.run(
            """const svg = document.querySelector('.pr svg');
            svg.scrollIntoView({block: 'center', behavior: 'instant'});
            svg.focus();"""
        )
        from selenium.webdriver.common.keys import Keys

        reader.press(*[Keys.ARROW_RIGHT] * 4)
        told = reader.run("return document.querySelector('.pr .told').innerText").splitlines()
        threshold = float(told[1].removeprefix("threshold "))
        cuts = result.pooled.scores
        exact = cuts[np.abs(cuts - threshold).argmin()]
        thumb = reader.run("return document.querySelector('.gallery .thumb[data-method=\"0\"]')")
        name = thumb.get_attribute("data-image")
        tp, fp, missed = self._expected(result, name, exact)
        said = f"F {2 * tp / (2 * tp + fp + missed):.4f}".replace("0.", ".")
        reader.until(
            f"return document.querySelector('.gallery .followed[data-method=\"0\"] small')?.textContent === {said!r}"
        )
        reader.run("document.activeElement.blur()")

    def test_pixels_that_one_of_two_methods_got_right(self, reader, results):
        self._open(reader, "im02", "two")
        reader.run("document.querySelector('.view-difference input').click()")
        shown = """const said = [...document.querySelectorAll('#key span')].map((entry) => entry.textContent);
            return said.length === 3 && said[0].startsWith('only') && said"""
        mine, theirs, both = (int(said.split(": ")[1].split()[0]) for said in reader.until(shown))
        two, one = sorted(results, key=lambda result: -result.summary["ods_f"])
        wrong = [sum(self._expected(r, "im02", r.summary["ods_threshold"])[1:]) for r in (two, one)]
        assert [theirs + both, mine + both] == wrong
        reader.run("document.querySelector('.view-errors input').click()")

    def test_a_swipe_turns_to_the_next_image(self, reader):
        self._open(reader, "im03", "one")
        images = reader.run("return open.images")
        for x, to, at in ((600, 400, 1), (600, 580, 1), (400, 600, 0)):  # a short one is no swipe
            reader.swipe(x, to)
            assert reader.run("return open.panel.name") == images[images.index("im03") + at]
            reader.until(self.PAINTED)

    def test_next_and_escape(self, reader):
        from selenium.webdriver.common.keys import Keys

        reader.run("document.querySelector('.open').click()")
        reader.until(self.PAINTED)
        images = reader.run("return data('data-pixels').images")
        first = reader.run("return document.querySelector('#panel-name').textContent")
        reader.run("document.querySelector('#next').click()")
        second = reader.run("return document.querySelector('#panel-name').textContent")
        assert images.index(second) == images.index(first) + 1
        reader.until(self.PAINTED)
        reader.press(Keys.ESCAPE)
        reader.until("return !document.querySelector('#panel').open && !location.hash")


def test_hostile_names_stay_text(browser, tmp_path):
    browser.open(write_page(tmp_path, hostile_results(tmp_path)))
    browser.run("[...document.querySelectorAll('.open')].find((button) => button.textContent.includes('<img')).click()")
    assert browser.until("return document.querySelector('#panel-name').textContent") == HOSTILE
    browser.until(TestPictures.PAINTED)
    assert browser.driver.title == "2 methods on 4 images"
    assert not browser.run("return document.querySelector('img[onerror], script[src]')")
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def labels(browser, tmp_path_factory):
    protocol = Labels(classes=str(DEMO / "classes.txt"))
    methods = (DEMO / "predictions" / method for method in ("random_walker", "watershed"))
    results = [evaluate(DEMO / "ground_truth", method, protocol, images=["c*"]) for method in methods]
    browser.open(write_page(tmp_path_factory.mktemp("labels"), results, replicates=200))
    yield browser
    assert browser.complaints() == []


class TestLabelMaps:
    def test_each_class_has_a_row_per_method(self, labels):
        assert labels.column("[aria-labelledby$=-class] table", 0)[:3] == ["background", "background", "person"]
        assert labels.column("[aria-labelledby$=-class] table", 1)[:2] == ["random_walker", "watershed"]

    def test_confusion_matrices_are_drawn(self, labels):
        kinds = labels.run("return [...document.querySelectorAll('.chart[data-kind]')].map((c) => c.dataset.kind)")
        assert kinds == ["classes", "images", "confusion", "confusion"]
        cells = "return [...document.querySelectorAll('.confusion rect title')].map((cell) => cell.textContent)"
        assert "background, predicted as background" in " ".join(labels.run(cells))

    def test_both_label_maps_are_painted_in_the_colours_of_the_classes(self, labels):
        labels.run("document.querySelector('.open').click()")
        assert labels.until("return document.querySelector('.main canvas')?.width > 1")
        captions = labels.run("return [...document.querySelectorAll('#pictures figcaption')].map((c) => c.textContent)")
        assert captions == ["Errors", "Ground truth", "Prediction"]
        assert labels.run("return document.querySelector('#sliding').hidden")
        shown = "return [...document.querySelectorAll('#classes span:not([hidden])')].map((span) => span.textContent)"
        assert "background" in labels.until(
            f"{shown.replace('return ', 'const names = ')}; return names.length && names"
        )


@pytest.fixture(scope="module")
def volumes(browser, tmp_path_factory):
    """A page of a case whose masks differ in slices 1 to 3 of 5, most in slice 2."""
    folder = tmp_path_factory.mktemp("volumes")
    truth = np.zeros((5, 12, 16), np.uint8)
    truth[1:4, 4:8, 4:12] = 1
    predicted = truth.copy()
    predicted[1:4, 4, 4] = 0
    predicted[2, 10] = 1
    write_nifti(folder / "gt/a.nii.gz", truth)
    write_nifti(folder / "pred/a.nii.gz", predicted)
    write_nifti(folder / "photos/a_0000.nii.gz", np.arange(truth.size, dtype=np.int16).reshape(truth.shape) - 100)
    result = evaluate(folder / "gt", folder / "pred", Labels(positive=">0"))
    browser.open(write_page(tmp_path_factory.mktemp("page_of_volumes"), [result], images=folder / "photos"))
    yield browser
    assert browser.complaints() == []


class TestVolumes:
    SLIDE = """
        const slider = document.querySelector(arguments[0]);
        slider.value = arguments[1];
        slider.dispatchEvent(new Event("input"));
    """

    def test_the_gallery_shows_the_slice_of_its_slider(self, volumes):
        label = "return document.querySelector('.thumb .slice').textContent"
        assert volumes.run(label).startswith("axial slice 2 of 0 to 4")
        photograph = (
            "return document.querySelector(document.querySelector('.photo').getAttribute('href')).getAttribute('href')"
        )
        before = volumes.run(photograph)
        volumes.run(self.SLIDE, "table.gallery input[type=range][aria-label^=Slice]", 0)
        assert volumes.run(label).startswith("axial slice 1 of 0 to 4")
        assert volumes.run(photograph) != before

    def test_the_panel_shows_the_slice_of_its_slider(self, volumes):
        volumes.run("document.querySelector('.thumb').click()")
        volumes.until("return document.querySelector('.main canvas')?.width === 16")
        volumes.run(self.SLIDE, "#slice", 2)
        assert volumes.until("return document.querySelector('#slice-at').textContent").startswith(
            "axial slice 3 of 0 to 4"
        )
        caption = volumes.run("return document.querySelector('#caption').textContent")
        assert caption.startswith("axial slice 3 of 0 to 4")


@pytest.fixture(scope="module")
def detections(browser, tmp_path_factory):
    """A page of an image with two objects: IoU 8/12 at .9, a false one at .6, the second object found at .2."""
    folder = tmp_path_factory.mktemp("detections")

    def square(x, y, side=10):
        return [[x, y, x + side, y, x + side, y + side, x, y + side]]

    of_image = {"image_id": 1, "category_id": 1}
    objects = [{**of_image, "id": k, "segmentation": square(x, 20), "area": 100} for k, x in ((1, 4), (2, 30))]
    truth = {
        "images": [{"id": 1, "file_name": "a.png", "height": 40, "width": 60}],
        "categories": [{"id": 1, "name": "cell"}],
        "annotations": objects,
    }
    masks = ((square(6, 20), 0.9), (square(4, 3, 8), 0.6), (square(30, 20), 0.2))
    results = [{**of_image, "segmentation": mask, "score": score} for mask, score in masks]
    for name, content in (("gt", truth), ("ours", results)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    result = evaluate(folder / "gt.json", folder / "ours.json", "objects")
    browser.open(write_page(tmp_path_factory.mktemp("page_of_detections"), [result], replicates=200))
    yield browser
    assert browser.complaints() == []


class TestDetections:
    LISTED = "return document.querySelector('#instances').textContent"

    def test_charts_are_of_scores(self, detections):
        kinds = detections.run("return [...document.querySelectorAll('.chart[data-kind]')].map((c) => c.dataset.kind)")
        assert {"pr", "reliability"} <= {*kinds}
        dots = detections.run("return document.querySelectorAll('.chart[data-kind=reliability] circle').length")
        assert dots >= 3  # .2, .6 and .9

    def test_the_slider_moves_through_the_scores(self, detections):
        """At the lowest score all detections count, at the highest one."""
        detections.run("document.querySelector('.open').click()")
        detections.until(TestPictures.PAINTED)
        ends = detections.run("const s = document.querySelector('#threshold'); return [Number(s.min), Number(s.max)]")
        assert ends == [0, 2]
        expected = {
            0: (".2", ["true: cell .90 (IoU .67), cell .20 (IoU 1.00)", "false: cell .60"]),
            1: (".6", ["true: cell .90 (IoU .67)", "false: cell .60", "missed: cell"]),
            2: (".9", ["true: cell .90 (IoU .67)", "missed: cell"]),
        }
        coloured = {}
        for place, (threshold, parts) in expected.items():
            detections.run(TestVolumes.SLIDE, "#threshold", place)
            assert detections.run("return document.querySelector('#at').textContent").rstrip("0") == threshold
            listed = detections.run(self.LISTED)
            assert [part for part in parts if part not in listed] == []
            assert ("missed" in listed) == (place > 0)
            coloured[place] = detections.run(TestPictures.COLOURS)
        assert len({tuple(colours) for colours in coloured.values()}) == 3


class TestPrinted:
    """Pages of many methods and classes on A4, which is as wide as the window."""

    SHOWN = """return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility())
        .map((one) => one.textContent.trim())"""

    @pytest.fixture
    def printed(self, browser):
        """Open pages as they are printed."""

        def print_page(path):
            browser.open(path, width=int(186 / 25.4 * 96))  # A4 without its margins
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            return browser

        yield print_page
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    @pytest.mark.parametrize("methods", [12, 30])
    def test_no_method_is_missing_and_nothing_is_cut(self, printed, tmp_path, methods):
        names = [f"a_method_with_a_long_name_{k:02}" for k in range(methods)]
        gt, *predicted = write_methods(tmp_path, dict.fromkeys(names, 2.0), images=3)
        reader = printed(write_page(tmp_path, [evaluate(gt, scores) for scores in predicted], replicates=50))
        assert overflowing(reader.driver) == []
        assert sorted(reader.run(self.SHOWN, ".answers tbody th")) == names
        assert sorted(reader.run(self.SHOWN, "[aria-labelledby$=-methods] tbody th")) == names
        assert sorted(reader.run(self.SHOWN, ".images .lines tbody th")) == names
        of_row = "#pixels .gallery tbody tr:first-child td:has(svg.swatch) .printed"
        assert sorted(reader.run(self.SHOWN, of_row)) == names
        heights = "return [...document.querySelectorAll('.answers tbody tr')].map((row) => row.offsetHeight)"
        assert max(reader.run(heights)) <= 26  # a line keeps its height

    @pytest.mark.parametrize("classes", [20, 60])
    def test_all_classes_fit_the_paper(self, printed, tmp_path, classes):
        names = [f"class_of_name_{k}" for k in range(classes)]
        truth = np.arange(24 * 30, dtype=np.uint8).reshape(24, 30) % classes
        gt = write_folder(tmp_path / "gt", {"a.png": truth, "b.png": truth[::-1]})
        by = write_folder(tmp_path / "by", {"a.png": np.roll(truth, 1, 0), "b.png": truth[::-1]})
        result = evaluate(gt, by, Labels(classes=range(classes), names=names))
        reader = printed(write_page(tmp_path, [result], replicates=50))
        assert overflowing(reader.driver) == []
        assert len(reader.run(self.SHOWN, ".by-class tbody td")) == 1 + classes
        if classes <= 24:
            assert reader.run(self.SHOWN, ".by-class thead th")[1:] == ["mean", *names]
        else:
            told = """return [...document.querySelectorAll('.by-class td')]
                .map((cell) => getComputedStyle(cell, '::before').content)"""
            assert reader.run(told) == [f'"{name}"' for name in ("mean", *names)]


def test_a_folded_list_unfolds_by_keyboard(browser, tmp_path):
    from selenium.webdriver.common.keys import Keys

    names = [f"method_{k:02}" for k in range(13)]
    gt, *predicted = write_methods(tmp_path, dict.fromkeys(names, 2.0), images=3)
    browser.open(write_page(tmp_path, [evaluate(gt, scores) for scores in predicted], replicates=50, most_panels=0))
    shown = TestPrinted.SHOWN
    assert len(browser.run(shown, ".answers tbody th")) == 6
    browser.run("document.querySelector('.foldable:has(.answers) .unfold').focus()")
    browser.press(Keys.SPACE)
    assert sorted(browser.run(shown, ".answers tbody th")) == names
