"""Rows of a diff, folded: runs of the same fate become one line with its sums, notable messages stand alone."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby

from sessions.engine.replays.diff import Row
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Kind
from sessions.runs.overview import kinds_of

SHORTEST_RUN = 3
MOST_OPEN = 400
"""Rows shown when a run is opened; a longer run is opened in parts."""
SYMBOLS = {"kept": "=", "edited": "~", "dropped": "\N{MINUS SIGN}", "inserted": "+", "moved": "\N{UP DOWN ARROW}"}


@dataclass(frozen=True, slots=True)
class FoldedLine:
    """One line of the diff: a message, or a folded run of ``count`` rows ``first`` to ``last``.

    ``title`` is the message's preview or the run's span; tokens are display tokens, bytes transcript bytes.
    """

    op: str
    first: int
    last: int
    count: int
    number: str
    role: str
    kinds: tuple[str, ...]
    title: str
    tokens_before: int
    tokens_after: int
    wire_before: int
    wire_after: int
    pair_ok: bool | None = None
    message: int | None = None

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.op]

    @property
    def folded(self) -> bool:
        return self.count > 1


def fold(
    rows: Sequence[Row], opened: tuple[int, int] | None = None, notable: Container[int] = ()
) -> tuple[FoldedLine, ...]:
    """The lines of a diff; rows inside ``opened``, and messages that are ``notable``, stand alone."""
    lines: list[FoldedLine] = []

    def kind(at: int) -> str | int:
        return at if _alone(rows[at], at, opened, notable) else rows[at].op

    for _, run in groupby(range(len(rows)), key=kind):
        places = list(run)
        short = len(places) < SHORTEST_RUN
        lines += [line(rows[at], at) for at in places] if short else [_run(rows, places[0], places[-1] + 1)]
    return tuple(lines)


def _alone(row: Row, at: int, opened: tuple[int, int] | None, notable: Container[int]) -> bool:
    """Whether a row is worth a line of its own: changed in itself, typed by the user, or with an image."""
    if opened is not None and opened[0] <= at <= opened[1]:
        return True
    if row.op in ("edited", "moved") or row.pair_ok is False:
        return True
    item = row.item_before or row.item_after
    if item is None:
        return False
    if (row.op == "inserted" and item.inserted) or (row.op == "dropped" and item.message.index in notable):
        return True
    media = any(leaf.kind in (Kind.IMAGE, Kind.DOCUMENT) for leaf in item.message.leaves())
    return item.message.typed or item.message.summary or media


def line(row: Row, at: int) -> FoldedLine:
    """One row as a line."""
    item = row.item_after or row.item_before
    message = item.message if item else None
    original = message.index if message is not None and message.index >= 0 else None
    return FoldedLine(
        row.op, at, at, 1,
        number=str(original) if original is not None and not (item and item.inserted) else row.id,
        role=speaker(message) if message else row.role,
        kinds=kinds_of(message) if message else (),
        title=message.preview if message else row.id,
        tokens_before=row.tokens_before,
        tokens_after=row.tokens_after,
        wire_before=row.wire_before,
        wire_after=row.wire_after,
        pair_ok=row.pair_ok,
        message=original,
    )  # fmt: skip


def _run(rows: Sequence[Row], start: int, stop: int) -> FoldedLine:
    group = rows[start:stop]
    return FoldedLine(
        group[0].op, start, stop - 1, len(group),
        number=f"{len(group):,}",
        role="messages",
        kinds=(),
        title=f"#{line(group[0], start).number} to #{line(group[-1], stop - 1).number}",
        tokens_before=sum(row.tokens_before for row in group),
        tokens_after=sum(row.tokens_after for row in group),
        wire_before=sum(row.wire_before for row in group),
        wire_after=sum(row.wire_after for row in group),
    )  # fmt: skip
