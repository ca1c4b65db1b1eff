"""The documentation as a reader meets it: every page in a browser, light and dark, from a phone to a desktop.

SEGBENCH_SITE names the folder of the pages, which ``python -m sphinx docs FOLDER`` writes.
"""

import os
import runpy
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from browsers import BROWSER, chromium, overflowing, prefer, resize, violations

SITE = os.environ.get("SEGBENCH_SITE", "")
pytestmark = [*BROWSER, pytest.mark.skipif(not SITE, reason="SEGBENCH_SITE names no folder")]
DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted(path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb"))
GENERATED = [Path("search"), Path("api"), Path("generated/segbench.Result"), Path("generated/segbench.evaluate")]
SYNONYMS = runpy.run_path(str(DOCS / "conf.py"))["SYNONYMS"] if SITE else {}
SIDEBAR = ".sidebar-drawer"  # the same on all pages
REFERENCES = {
    *("api", "extending", "findings", "gallery", "messages"),
    *("generated/segbench.Result", "generated/segbench.evaluate"),
}
TO_SPLIT = {
    *("architecture", "boundaries", "clusters", "comparing", "contours", "curves", "faq", "inputs", "labels"),
    *("notebooks/nnunet", "objects", "paper", "pixels", "plots", "random", "training_loops"),
}
"""Pages that are longer than a reader scrolls; whoever shortens one takes it out."""
LONGEST = 6000
OF_EACH_KIND = {
    "index",
    "getting_started",
    "findings",
    "commands/pixels",
    "notebooks/paper",
    "search",
    "generated/segbench.Result",
}
READ = [
    pytest.param(page, id=str(page), marks=() if str(page) in OF_EACH_KIND else pytest.mark.slow)
    for page in [*PAGES, *GENERATED]
]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("page", READ)
def test_a_page_can_be_read_by_everyone(driver, page):
    driver.get(Path(SITE, f"{page}.html").resolve().as_uri())
    for width in (390, 768, 1440):
        resize(driver, width)
        assert overflowing(driver) == []
        height = driver.execute_script("return document.documentElement.scrollHeight")
        assert width < 1440 or height <= LONGEST or str(page) in REFERENCES | TO_SPLIT
        if width != 768:
            prefer(driver, "light" if width == 390 else "dark")
            assert violations(driver, without=[] if page == Path("index") else [SIDEBAR]) == []


@pytest.fixture(scope="module")
def served():
    """The address of the site over HTTP, as `python -m http.server -d site` serves it: search reads other pages."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def searched(driver, served, words, what):
    """Return what JavaScript finds on the page of results."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get(f"{served}/search.html?q={quote(words)}")
    return WebDriverWait(driver, 15).until(lambda _: driver.execute_script(what))


def test_search_shows_excerpts(driver, served):
    excerpts = "return [...document.querySelectorAll('#search-results p.context')].map((one) => one.textContent)"
    assert any("hausdorff" in excerpt.lower() for excerpt in searched(driver, served, "hausdorff", excerpts))


@pytest.mark.parametrize(
    ("words", "page"), [(word, page) for page, words in SYNONYMS.items() for word in words.split(", ")]
)
def test_search_leads_to_the_page_first(driver, served, words, page):
    first = "return document.querySelector('#search-results li a')?.getAttribute('href')"
    assert searched(driver, served, words, first).partition(".html")[0] == page
