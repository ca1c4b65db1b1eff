"""A headless Chromium for tests of pages: those of reports, and of the documentation."""

import os
import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
BROWSER = [
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="no browser: needs chromium and chromedriver (Debian: chromium-driver)"
    ),
    # Selenium leaves sockets to its driver open for the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
]
# Runs before the page's own scripts, which may load nothing and break no rule of the page's policy.
WATCH = "window.broken = []; addEventListener('securitypolicyviolation', (e) => broken.push(e.violatedDirective))"


@contextmanager
def chromium(profile):
    """Start a browser."""
    os.environ["SE_OFFLINE"] = "true"
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        driver.set_script_timeout(20)
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        yield driver
    finally:
        driver.quit()


def prefer(driver, scheme):
    """Let pages be light or dark; without a scheme, as the browser is."""
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def resize(driver, width, height=900):
    """Make the window as wide as a phone, a tablet or a desktop."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def violations(driver, without=()):
    """Return what axe-core finds on the page that is open, without the parts that selectors name."""
    from axe_core_python.selenium import Axe

    found = Axe().run(driver, {"exclude": [[part] for part in without]}, {"resultTypes": ["violations"]})["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def overflowing(driver):
    """Return the elements that reach beyond the window and cannot be scrolled to inside a box of their own."""
    return driver.execute_script(
        """const boxed = (one) => one && one !== document.body
            && (/auto|scroll|hidden|clip/.test(getComputedStyle(one).overflowX) || boxed(one.parentElement));
        return [...document.body.querySelectorAll('*')].filter((one) => {
            const { right, width } = one.getBoundingClientRect();
            const shown = one.checkVisibility() && width && getComputedStyle(one).position !== 'fixed';
            return shown && right > innerWidth + 1 && !boxed(one);
        }).map((one) => one.outerHTML.slice(0, 120))"""
    )
