"""Secrets in the column of a table whose head names them, as Markdown and databases print tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessions.engine.redact import values
from sessions.engine.redact.kinds import KEYS, PASSWORDS, Kind
from sessions.engine.redact.names import Sort, sort_of

_HEAD = re.compile(r"(?:(?<=\n)|\A)([^\n]{3,400})\n[ \t]*[|+]?[ \t]*:?-{2,400}:?[ \t]*[|+][-+:| \t]{0,400}(?:\n|\Z)")
_CELL = re.compile(r"[^|│\n]+")
MOST_ROWS = 1_000


def tabled(text: str) -> Iterator[tuple[Kind, int, int]]:
    """What stands under a head that says "password" or "token"."""
    done = 0
    for head in _HEAD.finditer(text):
        # A line within a table is no head of another: each is read once.
        if "|" not in head[1] or head.start() < done:
            continue
        columns = {index: sort for index, sort in enumerate(map(sort_of, _texts(head[1]))) if sort is not None}
        at = head.end()
        for _ in range(MOST_ROWS if columns else 0):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if "|" not in text[at:end]:
                break
            yield from _row(text, at, end, columns)
            done = at = end + 1


def _texts(line: str) -> list[str]:
    return [cell[0].strip(" *`") for cell in _CELL.finditer(line.strip(" |"))]


def _row(text: str, at: int, end: int, columns: dict[int, Sort]) -> Iterator[tuple[Kind, int, int]]:
    at += len(text[at:end]) - len(text[at:end].lstrip(" \t|"))
    for index, cell in enumerate(_CELL.finditer(text, at, end)):
        value = cell[0].strip(" \t*`'\"")
        sort = columns.get(index)
        judge = values.mixed_password if sort is Sort.PASSWORD else values.strict
        if sort is not None and judge(value):
            start = cell.start() + cell[0].index(value)
            yield (PASSWORDS if sort is Sort.PASSWORD else KEYS), start, start + len(value)
