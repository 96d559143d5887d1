"""A headless Chromium for tests of pages; where there is none they skip with the reason, and in CI they fail."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

INSTALL = "install Debian's packages chromium and chromium-driver, or put both programs on the PATH"
DESKTOP = (1280, 900)
PHONE = (390, 844)


def require_chromium() -> tuple[str, str]:
    """Return the paths of browser and driver, or skip (in CI: fail) the test."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser and driver:
        return browser, driver
    missing = " and ".join(name for name, found in (("chromium", browser), ("chromedriver", driver)) if not found)
    reason = f"no {missing} on the PATH; {INSTALL}"
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Start a browser that logs its console and every request."""
    browser, driver = require_chromium()
    options = Options()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield running
    finally:
        running.quit()


def resize(browser: webdriver.Chrome, size: tuple[int, int]) -> None:
    """Give the page a size as a phone or a screen has it; a window can't be as narrow as a phone."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def prefer(browser: webdriver.Chrome, scheme: str) -> None:
    """Ask for the ``light`` or the ``dark`` look."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def console_messages(browser: webdriver.Chrome) -> list[str]:
    """Return what the console said since the last call."""
    return [entry["message"] for entry in browser.get_log("browser")]


def requested_urls(browser: webdriver.Chrome) -> list[str]:
    """Return the address of every request since the last call, the page's own included."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
