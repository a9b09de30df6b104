"""What commands write for people: text of a transcript is shown, never obeyed, neither by rich nor by the terminal.

What takes longer than a second has a line that says how far it is.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sessions.engine.redact.escaping import json_printable, printable


def say(text: str) -> None:
    """One message on standard error."""
    click.echo(printable(text), err=True)


def tell(text: str, *, end: str = "\n") -> None:
    """Text to standard output, from wherever it comes."""
    click.echo(f"{printable(text)}{end}", nl=False)


def tell_json(document: Any) -> None:
    """One JSON document to standard output; what steers a terminal is escaped as JSON has it."""
    from sessions.engine.reading.json_values import dumps

    tell(json_printable(dumps(document)))


def progress(words: str, *, end: str = "") -> None:
    """``words`` in place of those before them, on one line of standard error; nothing where that is no terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{printable(words)}{end}", nl=False, err=True)


class Terminal(Console):
    """A console that reads no markup: ``[/]`` in a title is two brackets and a slash, escape sequences are shown."""

    def render_str(self, text: str, **options: Any) -> Text:
        """``text`` as it is, whatever it holds; called by rich for every text, cells of tables included."""
        return super().render_str(printable(text), **{**options, "markup": False, "emoji": False})


WIDE = 160
"""Columns where nobody watches: what a pipe takes has no width of its own."""


def terminal(file: TextIO | None = None) -> Terminal:
    """A console on standard output, or on ``file``."""
    made = Terminal(file=file, markup=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDE
    return made


GAP, PROSE = 2, 24
"""Columns of width between two columns; the least that a column of words takes."""


class Head(NamedTuple):
    """A column: its heading; figures stand right and are never broken, words (``flows``) may take several lines."""

    text: str
    right: bool = False
    flows: bool = False


def figure(text: str) -> Head:
    """The head of a column of figures."""
    return Head(text, right=True)


def words(text: str) -> Head:
    """The head of a column of words."""
    return Head(text, flows=True)


def table_of(heads: Iterable[Head], rows: Iterable[Sequence[str]] = (), **more: Any) -> Table:
    """A table without lines, whatever its width comes to; ``more`` is of every column (rich)."""
    table = Table(box=None, pad_edge=False)
    for head in heads:
        table.add_column(head.text, justify="right" if head.right else "left", no_wrap=not head.flows, **more)
    for row in rows:
        table.add_row(*row)
    return table


def show_table(console: Terminal, heads: Sequence[Head], rows: Iterable[Sequence[str]]) -> None:
    """A table, without columns that are empty, where it fits the width, else every row as a list: no figure is cut."""
    kept = [tuple(row) for row in rows]
    used = [place for place, head in enumerate(heads) if not kept or any(row[place] for row in kept)]
    table = table_of((heads[place] for place in used), ([row[place] for place in used] for row in kept))
    widths = [_least(heads[place], [row[place] for row in kept]) for place in used]
    for column, width in zip(table.columns, widths, strict=True):
        column.min_width = width
    if sum(width + GAP for width in widths) - GAP <= console.width:
        console.print(table)
        return
    for row in kept:
        first, *others = used
        console.print(titled(f"{heads[first].text} {row[first]}".strip()))
        for place in others:
            if row[place]:
                console.print(f"  {heads[place].text}: {row[place]}" if heads[place].text else f"  {row[place]}")


def titled(title: str, rest: str = "", *, style: str = "bold") -> Text:
    """``title`` in bold (or another style), then ``rest`` with its figures highlighted."""
    text = Text(printable(title), style)
    return Text.assemble(text, terminal().highlighter(Text(printable(rest))))


def print_evidence(console: Terminal, rows: Iterable[Mapping[str, Any]]) -> None:
    """A line for each row of evidence, with how its figure is known."""
    for row in rows:
        label = f" ({row['label']})" if row["label"] else ""
        console.print(f"    - {row['text']}{label}")


def _least(head: Head, cells: Sequence[str]) -> int:
    """The least width in which a column cuts nothing."""
    widest = max((cell_len(text) for text in (head.text, *cells)), default=0)
    return min(widest, PROSE) if head.flows else widest


FIRST_SECONDS, EACH_SECONDS = 1.0, 0.5
CLEARED = "\r\x1b[K"
MOST_CHARS = 70


@contextmanager
def patience(words: str, share: Callable[[], float] | None = None) -> Iterator[None]:
    """Say ``words`` after a second, and every half second how long it takes; the line goes at the end.

    ``share`` gives the part that is done, 0 to 1; it may fail when there is nothing to tell any more.  Nothing is
    written where standard error is no terminal.  One line at a time: inside another, nothing is added.
    """
    if not sys.stderr.isatty() or not _turn.acquire(blocking=False):
        yield
        return
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(printable(words)[:MOST_CHARS], share, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        _turn.release()


_turn = threading.Lock()


def _tell(words: str, share: Callable[[], float] | None, ended: threading.Event) -> None:
    started = time.monotonic()
    if ended.wait(FIRST_SECONDS):
        return
    while True:
        part = ""
        if share is not None:
            try:
                part = f" {min(1.0, share()):.0%}"
            except (OSError, ValueError, ZeroDivisionError):
                part = ""
        sys.stderr.write(f"{CLEARED}{words}{part}, {time.monotonic() - started:.0f} s")
        sys.stderr.flush()
        if ended.wait(EACH_SECONDS):
            break
    sys.stderr.write(CLEARED)
    sys.stderr.flush()
