"""What leaves as Markdown, CSV, JSON or on a terminal: text of a transcript is data there, never markup or a command.

One way out for each; HTML has Django's templates, SVG ``xml``.  Redaction is part of the way, not a step before it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sessions.engine.redact import Choice

_UNSAFE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters but tab and newline, marks that turn the reading direction, lone surrogates."""


def printable(text: str) -> str:
    """``text`` with the replacement character for everything that steers a terminal or cannot be encoded."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def json_printable(text: str) -> str:
    """A JSON document, or a piece of one, with the same characters written as JSON escapes: its values stay."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def xml(text: str, choice: Choice, most: int | None = None) -> str:
    """At most ``most`` characters of ``text`` for an element or an attribute of SVG, redacted."""
    return escape(printable(_redacted(text, choice))[:most])


def _redacted(text: str, choice: Choice) -> str:
    from sessions.engine.redact import redact  # its patterns are made where something is handed out, not at every start

    return redact(text, choice).text


# ---- CSV


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula; wide forms, too."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*)?\.?\d+([eE][+-]?\d+)?%?")


def csv_cell(value: object) -> object:
    """A text that begins like a formula gets a quote in front; what is a number from end to end stays one."""
    if isinstance(value, str) and value.startswith(FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Rows as CSV, in parts of some kilobytes."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow([csv_cell(cell) for cell in row])
        if buffer.tell() > 16_384:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


# ---- Markdown


MOST_CELL, MOST_LINE = 160, 1_000
"""Characters of a cell, and of a line of its own."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$!])")
_BULLET = re.compile(r"^(?:[-+=]|\d{1,9}[.)])")
_COMMIT = r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{6}(?=[0-9a-f])"
_REFERENCE = re.compile(rf"[@#]|:(?=//)|\bwww(?=\.)|\bGH-(?=\d)|{_COMMIT}", re.IGNORECASE)
"""What issue trackers make links of: names, issues, addresses, commits; it is broken up behind this."""
_JOINER = "\N{WORD JOINER}"


def markdown_text(words: str, most: int = MOST_LINE) -> str:
    """``words`` on one line, at most so many characters of them, of which no reader takes any for markup."""
    line = " ".join(printable(words).split())
    cut = line if len(line) <= most else line[:most].rstrip() + "…"
    broken = _SPECIAL.sub(r"\\\1", _REFERENCE.sub(lambda match: f"{match[0]}{_JOINER}", cut))
    return _BULLET.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", broken)


def markdown_code(words: str) -> str:
    """``words`` on one line as code."""
    line = " ".join(printable(words).split())
    fence, pad = _fence(line, 1), " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _fence(words: str, least: int) -> str:
    """More backticks than stand together in ``words``."""
    return "`" * max([least, *(len(run) + 1 for run in re.findall("`+", words))])


class Markdown:
    """A Markdown document; every text is redacted by ``choice`` and stays text.

    No reader takes a part of it for markup, and no issue tracker for a mention, a link, an issue or a commit: these are
    broken up by a character that is not seen.
    """

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._parts: list[str] = []

    def text(self, words: str, most: int = MOST_LINE) -> str:
        """``words`` on one line."""
        return markdown_text(_redacted(words, self._choice), most)

    def heading(self, level: int, words: str) -> None:
        self._parts.append(f"{'#' * level} {self.text(words, MOST_CELL)}")

    def paragraph(self, words: str) -> None:
        self._parts.append(self.text(words))

    def quote(self, words: str) -> None:
        self._parts += [f"> {self.text(line)}" for line in words.splitlines() if line.strip()]

    def bullets(self, lines: Iterable[str]) -> None:
        """A list; nothing for no lines."""
        if found := [f"* {self.text(line)}" for line in lines]:
            self._parts.append("\n".join(found))

    def code(self, words: str) -> None:
        """A block of shell commands; its fence is longer than any in it."""
        said = printable(_redacted(words, self._choice))
        fence = _fence(said, 3)
        self._parts.append(f"{fence}sh\n{said}\n{fence}")

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        lines = [heads, ["---"] * len(heads), *([self.text(cell, MOST_CELL) for cell in row] for row in rows)]
        self._parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))

    def __str__(self) -> str:
        return "\n\n".join(self._parts) + "\n"
