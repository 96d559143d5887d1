"""Settings of the documentation site: ``python -m sphinx -W --keep-going -q docs build/docs``.

The pages are plain Markdown and read well without a site. An ``index.md`` lists the pages below it under headings; this
file turns those lists into the navigation, so a page that no list has fails the build.
"""

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

from aim_template_migration.version import __version__

project = "aim-template-migration"
version = release = __version__
extensions = ["myst_parser"]
nitpicky = True
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"{project} {__version__}"
html_show_copyright = False
html_copy_source = False
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
highlight_language = "none"

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^ *- \[[^]]+\]\(([^)#:]+)\.md\)", re.MULTILINE)


def _toctree(caption: str, pages: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def _toctrees(text: str) -> Iterator[str]:
    _, *parts = _SECTION.split(text)
    for caption, body in zip(parts[::2], parts[1::2], strict=True):
        if pages := _ENTRY.findall(body):
            yield _toctree(caption, pages)


def _add_navigation(_app: Sphinx, name: str, source: list[str]) -> None:
    """Append a hidden table of contents for each section of an index page."""
    if name.rpartition("/")[2] == "index":
        source[0] += "".join(_toctrees(source[0]))


def setup(app: Sphinx) -> None:
    """Let Sphinx read the navigation from the index pages."""
    app.connect("source-read", _add_navigation)
