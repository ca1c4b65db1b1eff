"""Pages of every protocol, of few and many methods, of groups, units and runs, as readers and paper have them."""

import base64

import pytest
from browsers import BROWSER, chromium, overflowing, prefer, resize, violations
from page_kinds import MAKERS, page_of

QUICK = ("labels", "2 methods", "groups")
KINDS = [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in MAKERS]
pytestmark = BROWSER
PAPER = int(186 / 25.4 * 96)  # pixels across A4 without its margins
SHOWN = """return [...document.querySelectorAll(arguments[0])].filter((element) => element.checkVisibility())
    .map((element) => element.textContent.trim())"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        driver.set_script_timeout(60)  # axe takes long on a machine that is busy
        yield driver


@pytest.fixture(scope="module", params=KINDS)
def page(request, tmp_path_factory):
    return page_of(request.param, tmp_path_factory.mktemp("page"))


@pytest.fixture
def opened(driver, page):
    """Open a page; no script of it may fail, and nothing may be loaded."""
    prefer(driver, None)
    resize(driver, 1440)
    driver.get(page.as_uri())
    yield driver
    assert [entry["message"] for entry in driver.get_log("browser")] + driver.execute_script("return broken") == []


@pytest.fixture
def printed(opened):
    """Open a page as it is printed."""
    resize(opened, PAPER)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    yield opened
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def unfold(driver):
    """Show all lines and open all details."""
    driver.execute_script(
        """document.querySelectorAll('.unfold:not(:checked)').forEach((box) => box.click());
        document.querySelectorAll('details').forEach((details) => { details.open = true; });"""
    )


def test_everything_fits_windows_of_any_width(opened):
    beyond = {}
    for width in (390, 768, 1440, 2560):
        resize(opened, width)
        beyond[width] = overflowing(opened)
        unfold(opened)
        beyond[width, "unfolded"] = overflowing(opened)
    assert not any(beyond.values()), beyond


def test_names_in_charts_are_whole(opened):
    cut = opened.execute_script(
        """return [...document.querySelectorAll('.lines tbody .name')]
            .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)"""
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    prefer(opened, scheme)
    alike = "tbody tr:nth-child(n + 9), .legend li:nth-child(n + 9), .gallery tr > :nth-child(n + 9)"
    opened.execute_script("document.querySelectorAll(arguments[0]).forEach((element) => element.remove())", alike)
    assert violations(opened) == []


def test_printed_all_methods_are_on_the_paper(printed):
    assert overflowing(printed) == []
    names = {name.strip() for name in printed.execute_script(SHOWN, "[aria-labelledby$=-methods] tbody th")}
    assert len(names) == printed.execute_script("return document.querySelectorAll('.pick').length")
    assert names == set(printed.execute_script(SHOWN, ".answers tbody th"))


def test_printed_a_page_of_a_few_methods_takes_two_sheets(opened, page):
    few = 3 if page.stem == "scored" else 2  # scored objects have a chart more
    methods = opened.execute_script("return document.querySelectorAll('.pick').length")
    size = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
    sheets = base64.b64decode(opened.execute_cdp_cmd("Page.printToPDF", size)["data"]).count(b"/Type /Page\n")
    assert 1 <= sheets <= max(few, methods / 4)


def test_without_scripts_it_is_complete(opened, page):
    before = {part: len(opened.execute_script(SHOWN, part)) for part in ("tbody tr", "svg", ".gallery td")}
    opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    opened.get(page.as_uri())
    opened.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    (notice,) = opened.execute_script(SHOWN, "noscript .notice")
    assert notice.startswith("Scripts are off")
    assert {part: len(opened.execute_script(SHOWN, part)) for part in before} == before
    assert opened.execute_script("return typeof follow") == "undefined"
    opened.get(page.as_uri())  # with the scripts that the next look at it takes


def test_keys_reach_the_results_and_open_pictures(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    def press(*keys):
        for key in keys:
            ActionChains(opened).send_keys(key).perform()

    def until(code):
        return WebDriverWait(opened, 10, poll_frequency=0.05).until(lambda driver: driver.execute_script(code))

    press(Keys.TAB)
    assert opened.execute_script("return document.activeElement.className") == "skip"
    press(Keys.ENTER)
    assert until("return document.activeElement.id === 'main'")
    opened.execute_script("document.querySelector('.thumb').focus()")
    press(Keys.ENTER)
    until("return open?.states && document.querySelector('#panel').open")
    first = opened.execute_script("return document.querySelector('#panel-name').textContent")
    others = opened.execute_script("return open.images.length - 1 - open.at")
    press(Keys.ARROW_RIGHT if others else Keys.ARROW_LEFT)
    until(f"return document.querySelector('#panel-name').textContent !== {first!r} && open.states")
    press(Keys.ESCAPE)
    until("return open === null && document.activeElement.classList.contains('thumb')")
