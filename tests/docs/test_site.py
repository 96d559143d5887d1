"""The documentation site: every page is in its navigation, it builds without a warning, and it loads nothing."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ENTRY = re.compile(r"^ *- \[[^]]+\]\(([^)#:]+\.md)\)", re.MULTILINE)
LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}


def listed_pages():
    """Return every page that the index, or an index that it lists, has in its lists."""
    pages, agenda = set(), [DOCS / "index.md"]
    while agenda:
        index = agenda.pop()
        pages.add(index)
        for target in ENTRY.findall(index.read_text(encoding="utf-8")):
            page = (index.parent / target).resolve()
            if page not in pages:
                pages.add(page)
                agenda += [page] if page.name == "index.md" else []
    return pages


def test_the_navigation_has_every_page():
    """A new page gets a line in docs/index.md, or in the index.md of its folder if docs/index.md lists that."""
    assert sorted(set(DOCS.rglob("*.md")) - listed_pages()) == []


def build(source, target):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(source), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    done = build(DOCS, target)
    assert done.returncode == 0, done.stderr
    return target


class Loaded(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if (tag, name) in LOADING and value]


@pytest.mark.slow
def test_every_page_is_built(site):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert {page for page in pages if not (site / page).exists()} == set()


@pytest.mark.slow
def test_pages_load_nothing_from_elsewhere(site):
    loaded = []
    for page in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(page.read_text(encoding="utf-8"))
        loaded += parser.addresses
    assert len(loaded) > 100
    assert [address for address in loaded if urlsplit(address).netloc] == []
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"url\(\s*[\"']?(?:https?:)?//|@import\s+[\"']?(?:https?:)?//", text) == [], sheet


@pytest.mark.slow
def test_a_dead_link_and_a_page_that_no_list_has_stop_the_build(tmp_path):
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_bytes((DOCS / "conf.py").read_bytes())
    (source / "index.md").write_text("# Small\n\n## Pages\n\n- [Page](page.md)\n", encoding="utf-8")
    links = "[a](no-page.md), [b](#no-heading), [c](index.md#no-anchor)"
    (source / "page.md").write_text(f"# Page\n\n{links}\n", encoding="utf-8")
    (source / "left-out.md").write_text("# Left out\n", encoding="utf-8")
    done = build(source, tmp_path / "site")
    assert done.returncode == 1
    warnings = done.stderr.splitlines()
    for said in ("no-page.md", "no-heading", "no-anchor", "left-out.md"):
        assert [line for line in warnings if said in line], said
    assert len(warnings) == 4
