"""The two streams of a command: its answer on stdout, everything else on stderr."""

import contextlib
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

Tone = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
Format = Literal["table", "json", "yaml"]

_ANSI: Mapping[Tone, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_CONTROL_CHARACTERS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_CONTROL = re.compile(_CONTROL_CHARACTERS)
_CONTROL_OR_PAINT = re.compile(rf"\x1b\[(?:0|{'|'.join(_ANSI.values())})m|{_CONTROL_CHARACTERS}")
_COMMAND = re.compile(r"\b(?:aim-template-migration|kubectl|mkdir|mv|rm|chmod) |\n")
_NARROWEST = 60
_WIDEST = 110


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours text, or leaves it as it is."""

    on: bool = False

    def __call__(self, text: str, tone: Tone) -> str:
        """Return ``text`` in ``tone``."""
        return f"\x1b[{_ANSI[tone]}m{text}\x1b[0m" if self.on and text else text


PLAIN = Paint()


class Console:
    """Where a command writes. Trouble with a stream never ends a command: a run must not die with its terminal.

    Args:
        out: the answer.
        err: progress, warnings, hints and errors.
        colour: whether colour is wanted at all; a stream that is no terminal gets none in any case.
        answer_format: how the answer is written; with ``json`` and ``yaml`` there is no progress.
        verbose: whether details are wanted.
    """

    lost: str = ""
    """Why part of the answer could not be written, or empty; a reader that went away wanted no more."""

    def __init__(
        self, out: TextIO, err: TextIO, *, colour: bool, answer_format: Format = "table", verbose: bool = False
    ) -> None:
        self._out = out
        self._err = err
        self.format = answer_format
        self.verbose = verbose
        self.paint = Paint(colour and _is_terminal(out))
        self.paint_note = Paint(colour and _is_terminal(err))
        self.width = _width()
        self._owed: list[Callable[[], Iterable[str]]] = []

    @property
    def shows_progress(self) -> bool:
        """Whether progress may be drawn: stderr is a terminal, and the answer is for people."""
        return self.format == "table" and _is_terminal(self._err)

    @property
    def err(self) -> TextIO:
        """The stream of progress."""
        return self._err

    def answer(self, text: str) -> None:
        """Write part of the answer, ending it with a newline."""
        with self._keeping_answer():
            _write(self._out, escaped(text, painted=self.paint.on))

    def exactly(self, text: str) -> None:
        """Write part of the answer as UTF-8, to the byte: no newline is added, no character replaced."""
        buffer = getattr(self._out, "buffer", None)
        with self._keeping_answer():
            if buffer is None:
                _write_exactly(self._out, text)
                return
            buffer.write(text.encode())
            buffer.flush()

    @contextlib.contextmanager
    def _keeping_answer(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            self._out = _Nowhere()
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
                self.lost = (error.strerror or str(error)).lower()

    def note(self, text: str) -> None:
        """Write a line to stderr."""
        try:
            _write(self._err, escaped(text, painted=self.paint_note.on))
        except (OSError, ValueError):
            self._err = _Nowhere()

    def error(self, text: str) -> None:
        """Write to stderr what ends a command."""
        self._say("error:", "red", text)

    def warn(self, text: str) -> None:
        """Write a warning to stderr."""
        self._say("warning:", "yellow", text)

    def warn_at_end(self, warnings: Callable[[], Iterable[str]]) -> None:
        """Write warnings once the command has done its work, when no progress is drawn; they are asked for then."""
        self._owed.append(warnings)

    def warn_what_is_owed(self) -> None:
        """Write what was left for the end, each text once."""
        for text in dict.fromkeys(text for warnings in self._owed for text in warnings()):
            self.warn(text)
        self._owed.clear()

    def hint(self, text: str) -> None:
        """Write a hint to stderr."""
        self._say("hint:", "cyan", text)

    def _say(self, label: str, tone: Tone, text: str) -> None:
        """Write a sentence, at a terminal in lines that end with words, unless it holds a command to be copied."""
        said = f"{label} {text}"
        if _is_terminal(self._err) and not _COMMAND.search(text):
            said = textwrap.fill(said, self.width, break_long_words=False, break_on_hyphens=False)
        self.note(f"{self.paint_note(label, tone)}{said.removeprefix(label)}")


def escaped(text: str, *, painted: bool = False) -> str:
    r"""Return text with its control characters as in JSON, such as ``\u001b``: documents may hold any.

    Line ends and tabs stay; characters that turn the direction of writing count as control characters.

    Args:
        text: the text.
        painted: whether it may hold colours of ``Paint``, which stay.
    """
    pattern = _CONTROL_OR_PAINT if painted else _CONTROL
    return pattern.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\u{ord(found[0]):04x}", text)


def wants_colour(environ: Mapping[str, str], *, no_color: bool) -> bool:
    """Return whether colour is wanted: neither ``--no-color``, nor ``NO_COLOR`` with any value, nor a dumb terminal."""
    return not no_color and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def standard_console(*, no_color: bool = False, answer_format: Format = "table", verbose: bool = False) -> Console:
    """Return the console of this process."""
    colour = wants_colour(os.environ, no_color=no_color)
    # A stream that was closed before the process started is None.
    return Console(
        sys.stdout or _Nowhere(), sys.stderr or _Nowhere(), colour=colour, answer_format=answer_format, verbose=verbose
    )


def _write(stream: TextIO, text: str) -> None:
    _write_exactly(stream, text if text.endswith("\n") else f"{text}\n")


def _write_exactly(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        _write_exactly(stream, text.encode(encoding, "replace").decode(encoding))


class _Nowhere(io.StringIO):
    """Takes the place of a stream that nobody reads any more."""

    def write(self, text: str) -> int:
        """Drop the text."""
        return len(text)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False


def _width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((80, 24)).columns))
