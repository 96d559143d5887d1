"""The page in a real Chromium: opened from a file, filtered, sorted, a unit opened, by mouse and by keyboard."""

import msgspec
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.aim_template_migration.cli.plans import automatic_unit, manual_unit, plan_of
from tests.aim_template_migration.report.test_html import page_of, write_hostile
from tests.support.browser import DESKTOP, PHONE, chromium, console_messages, prefer, requested_urls, resize
from tests.support.runs import MARKUP, write_mixed, write_run

pytestmark = pytest.mark.slow

CONTRAST = """
const channels = (color) => color.match(/[0-9.]+/g).map(Number);
const light = (color) => channels(color).slice(0, 3).map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (channels(color).length === 3 || channels(color)[3] > 0) return color;
  }
  return "rgb(255, 255, 255)";
};
const poor = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || !node.getClientRects().length || node.closest("svg, script, noscript")) continue;
  const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)} ${node.textContent.slice(0, 30)}`);
}
return poor;
"""
NAMELESS = """
const name = (node) => node.getAttribute("aria-label") || node.textContent.trim()
  || (node.labels && node.labels.length && node.labels[0].textContent.trim())
  || node.getAttribute("aria-labelledby");
return [...document.querySelectorAll("button, input, select, a, summary, [role=img], [role=region], [tabindex='0']")]
  .filter((node) => !name(node)).map((node) => node.outerHTML.slice(0, 80));
"""
COLUMN = """
const index = [...document.querySelectorAll("#columns button")].findIndex((node) => node.dataset.key === arguments[0]);
return [...document.querySelectorAll("#rows > tr[data-unit]")].map((row) => row.children[index].textContent);
"""

SPANS_ALL = """
const heads = [...document.querySelectorAll("#columns th")].filter((head) => head.offsetParent !== null);
return [...document.querySelectorAll("#rows > tr.detail > td")].every((cell) => cell.colSpan === heads.length);
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser") / "profile") as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def mixed_page(folder):
    return _saved(folder, "mixed", write_mixed(folder / "mixed"))


def _saved(folder, name, *plans):
    path = folder / f"{name}.html"
    path.write_text(page_of(*plans), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def mixed(browser, mixed_page):
    return _opened(browser, mixed_page)


def _opened(browser, address, size=DESKTOP):
    resize(browser, size)
    browser.get("about:blank")
    console_messages(browser), requested_urls(browser)
    browser.get(address)
    return browser


def column(browser, key):
    return browser.execute_script(COLUMN, key)


def choose(browser, name, value):
    options = browser.find_elements(By.CSS_SELECTOR, f"#{name} option")
    next(option for option in options if option.get_attribute("value") == value).click()


def open_unit(browser, name):
    browser.find_element(By.CSS_SELECTOR, f"tr[data-unit='{name}'] button").click()
    return browser.find_element(By.CSS_SELECTOR, "tr.detail")


def test_the_page_asks_for_nothing_and_complains_of_nothing(mixed, mixed_page):
    open_unit(mixed, "AIMService/team-a/chat")
    assert console_messages(mixed) == []
    assert {url for url in requested_urls(mixed) if not url.startswith("data:")} == {mixed_page}


def test_every_unit_is_listed(mixed):
    assert column(mixed, "name") == ["chat", "summarise", "solo", "llama"]
    assert mixed.find_element(By.ID, "count").text == "4 of 4 units fit, 4 shown"


def test_filters_narrow_the_table_and_clear_again(mixed):
    choose(mixed, "state", "=manual")
    assert column(mixed, "name") == ["solo", "llama"]
    choose(mixed, "namespace", "=team-b")
    assert column(mixed, "name") == ["llama"]
    mixed.find_element(By.ID, "clear").click()
    assert len(column(mixed, "name")) == 4
    mixed.find_element(By.ID, "search").send_keys("TEAM-A summ")
    assert column(mixed, "name") == ["summarise"]


def test_a_column_sorts_both_ways_and_says_so(mixed):
    for expected, order in (
        (["chat", "llama", "solo", "summarise"], "ascending"),
        (["summarise", "solo", "llama", "chat"], "descending"),
    ):
        mixed.find_element(By.CSS_SELECTOR, "#columns button[data-key=name]").click()
        assert column(mixed, "name") == expected
        head = mixed.find_element(By.CSS_SELECTOR, "#columns th:first-child")
        assert head.get_attribute("aria-sort") == order


def test_a_unit_opens_with_everything_about_it_and_closes(mixed):
    text = open_unit(mixed, "AIMService/team-a/chat").text
    for part in (
        "SharedNoRollout",
        "Before and after the cutover",
        "pod chat-pod",
        "CutOver",
        "template:",
        "+   profile:",
        "UID s-uid",
        "FromModelImage",
        "team-a/hf-token",
        "every pod is replaced",
        "HTTP 201",
    ):
        assert part in text
    button = mixed.find_element(By.CSS_SELECTOR, "tr[data-unit] button")
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert button.get_attribute("aria-expanded") == "false"
    assert mixed.find_elements(By.CSS_SELECTOR, "tr.detail") == []


def test_the_keyboard_is_enough(mixed):
    focused = []
    for _ in range(40):
        mixed.switch_to.active_element.send_keys(Keys.TAB)
        active = mixed.switch_to.active_element
        focused.append(active.get_attribute("id") or active.get_attribute("data-key") or active.text)
        if active.text == "chat":
            active.send_keys(Keys.ENTER)
            break
    assert focused[0] == "Skip to the units"
    assert {"search", "namespace", "state", "outcome", "name"} <= set(focused)
    assert "SharedNoRollout" in mixed.find_element(By.CSS_SELECTOR, "tr.detail").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_can_be_read_everywhere(browser, mixed_page, scheme, size):
    prefer(browser, scheme)
    _opened(browser, mixed_page, size)
    for summary in browser.find_elements(By.CSS_SELECTOR, "summary"):
        summary.click()
    for unit in ("AIMService/team-a/chat", "AIMService/team-a/summarise", "AIMService/team-b/llama"):
        open_unit(browser, unit)
    assert browser.execute_script(CONTRAST) == []
    assert browser.execute_script(NAMELESS) == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= size[0]


def test_an_open_unit_spans_the_columns_that_a_narrower_page_leaves(mixed):
    open_unit(mixed, "AIMService/team-a/chat")
    for size in (PHONE, DESKTOP):
        resize(mixed, size)
        WebDriverWait(mixed, 10).until(lambda browser: browser.execute_script(SPANS_ALL))


def test_charts_are_told_in_words(mixed):
    names = [svg.get_attribute("aria-label") for svg in mixed.find_elements(By.CSS_SELECTOR, "svg.bar")]
    assert "team-a: 1 failed, 1 manual, 1 succeeded" in names
    assert any(name.startswith("team-a/chat, succeeded: CreateProfile 2.0 s") for name in names)


def test_printing_shows_all_rows(browser, folder):
    plan = plan_of(*(manual_unit(f"unit-{number}", "Paused") for number in range(250)))
    _opened(browser, _saved(folder, "long", write_run(folder / "long", plan, None)))
    assert len(column(browser, "name")) == 100
    browser.find_element(By.ID, "more").click()
    assert len(column(browser, "name")) == 200
    assert browser.print_page()
    assert len(column(browser, "name")) == 250
    assert not browser.find_element(By.ID, "more").is_displayed()


def test_markup_stays_text(browser, folder):
    _opened(browser, _saved(folder, "hostile", write_hostile(folder / "hostile")))
    for button in browser.find_elements(By.CSS_SELECTOR, "#rows > tr[data-unit] button"):
        button.click()
    assert browser.find_elements(By.CSS_SELECTOR, "img, body script:not([type]) ~ *, b b") == []
    text = browser.find_element(By.TAG_NAME, "main").text
    assert MARKUP.split("\u2028")[0] in text
    assert console_messages(browser) == []
    assert all(url.startswith(("file:", "data:")) for url in requested_urls(browser))


INJECTIONS = (
    "const it = document.createElement('script'); it.textContent = 'window.injected = 1'; document.body.append(it)",
    "document.body.innerHTML += '<img src=x onerror=\"window.injected = 1\">'",
    "document.body.setAttribute('onclick', 'window.injected = 1'); document.body.click()",
)


@pytest.mark.parametrize("injection", INJECTIONS)
def test_injected_code_would_not_run(mixed, injection):
    mixed.execute_script(f"try {{ {injection} }} catch (error) {{ window.refused = error.name }}")
    assert mixed.execute_script("return window.injected") is None
    assert mixed.execute_script("return window.refused") == "TypeError" or console_messages(mixed)


def test_ten_thousand_units_stay_usable(browser, folder):
    units = [automatic_unit(f"unit-{number:05}") for number in range(10_000)]
    last = msgspec.structs.replace(units[-1], resolved_profile="the-last-one")
    plan = plan_of(*units[:-1], last)
    _opened(browser, _saved(folder, "fleet", write_run(folder / "fleet", plan, None)))
    assert len(column(browser, "name")) == 100
    assert browser.find_element(By.ID, "count").text == "10000 of 10000 units fit, 100 shown"
    browser.find_element(By.ID, "search").send_keys("unit-09999")
    assert column(browser, "name") == ["unit-09999"]
    assert "the-last-one" in open_unit(browser, "AIMService/team-a/unit-09999").text
