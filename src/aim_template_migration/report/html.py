"""The report as one HTML page that loads nothing and runs only the script it carries.

The Content-Security-Policy names that script and that style by their digests and forbids everything else, so a text
that got past the escaping could still not run, load or send anything.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files

import jinja2
import msgspec
from markupsafe import Markup

from aim_template_migration.report.model import Report, View

GENERATOR = "aim-template-migration report"
CHUNK = 50
"""Details of so many units stand in one block, which the page reads when one of them is opened."""

_PAGE = files("aim_template_migration.report") / "page"
_HARMLESS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPES = str.maketrans(_HARMLESS)


def render(report: Report) -> bytes:
    """Return the page."""
    style, script = _text("page.css"), _text("page.js")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    chunks = [report.details[start : start + CHUNK] for start in range(0, len(report.details), CHUNK)]
    page = environment.from_string(_text("page.html.j2")).render(
        report=report,
        generator=GENERATOR,
        policy=content_security_policy(style, script),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        rows=embedded(report.rows),
        labels=embedded(tuple(plan.label for plan in report.plans)),
        codes=embedded(report.codes),
        chunks=[embedded(chunk) for chunk in chunks],
        chunk_size=CHUNK,
    )
    return page.encode()


def is_report(data: bytes) -> bool:
    """Return whether a file is a page that this module made, and so may be replaced."""
    return data.startswith(b"<!doctype html>") and f'content="{GENERATOR}"'.encode() in data[:2048]


def content_security_policy(style: str, script: str) -> str:
    """Return a policy that allows this style and this script, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def embedded(value: Sequence[View] | Sequence[str] | Mapping[str, View]) -> Markup:
    """Return a value as JSON that can stand in a script element: no character of it can end the element."""
    return Markup(msgspec.json.encode(value).decode().translate(_ESCAPES))  # noqa: S704 - escaped here


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
