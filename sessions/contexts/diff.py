"""The diff of one event: its lists side by side, folded, with what was inserted and whether tool pairs are whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions import figures
from sessions.contexts import folding, replays
from sessions.contexts.inserted import inserted_text, message_text
from sessions.contexts.minimap import Mark, minimap, strip
from sessions.contexts.urls import Urls, session_urls
from sessions.contexts.words import Span, word_diff
from sessions.engine.diff import OPS, diff_event
from sessions.engine.types import Label
from sessions.labelled import bytes_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sessions.contexts.folding import Line
    from sessions.engine.diff import Row
    from sessions.engine.events import Event
    from sessions.engine.replay import Replay
    from sessions.models import Session
    from sessions.urlstate.replay import ReplayState

MOST_BODIES = 40
"""Inserted and edited messages whose text is shown on the page."""
BODY_CHARS = 6_000


@dataclass(frozen=True, slots=True)
class Body:
    """Text under a line: spans before and after; ``left`` are characters not shown."""

    before: tuple[Span, ...] = ()
    after: tuple[Span, ...] = ()
    left: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A line as the page shows it: ``change`` is its number among the changes, ``open_href`` unfolds a run."""

    line: Line
    change: int | None
    body: Body | None
    open_href: str
    message_href: str
    tokens_label: str
    bytes_label: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing checked of the after list."""

    ok: bool
    words: str


@dataclass(frozen=True, slots=True)
class Tab:
    """One choice above the diff."""

    words: str
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class DiffView:
    """Everything that ``sessions/_diff_view.html`` shows; None lists where the replay has no event."""

    urls: Urls
    policy: str
    number: int
    request: int
    reason: str
    fires: str
    n_before: int
    n_after: int
    tokens_before: int
    tokens_after: int
    tokens_label: str
    wire_before: int
    wire_after: int
    bytes_label: str
    counts: tuple[tuple[str, str, int], ...]
    strip: tuple[Mark, ...]
    checks: tuple[Check, ...]
    overhead: int
    overhead_label: str
    lines: tuple[Shown, ...]
    n_changes: int
    marks: tuple[Mark, ...]
    events: tuple[Tab, ...]
    layouts: tuple[Tab, ...]
    unified: bool
    replay_href: str
    warnings: tuple[str, ...]
    error: str

    @property
    def tokens_change(self) -> str:
        """Tokens after against before: −77 %."""
        return change(self.tokens_before, self.tokens_after)

    @property
    def bytes_change(self) -> str:
        """Bytes after against before."""
        return change(self.wire_before, self.wire_after)


def change(before: int, after: int) -> str:
    """A change in percent of what was there."""
    if after and before and 0.99 < (before - after) / before < 1:
        return f"{figures.MINUS}{100 * (before - after) / before:.1f} %"
    return figures.percent(after - before, before)


@dataclass(frozen=True, slots=True)
class NoEvents:
    """The replay has no event to show; ``error`` where one was asked for."""

    urls: Urls
    policy: str
    replay_href: str
    quiet: str
    error: str


def build_diff(session: Session, state: ReplayState, urls: Urls | None = None) -> DiffView | NoEvents:
    """The diff of the state's event (0 unless it names one); ``urls`` leads elsewhere where a link is shown."""
    urls = urls or session_urls(session.pk)
    ran = replays.run(session.pk, state)
    replay, error = ran.replay, ran.error
    if not replay.events:
        return NoEvents(
            urls, replay.policy.name, urls.to_replay(state, event=None), replays.why_no_event(replay), error
        )
    wanted = state.event or 0
    number = min(wanted, len(replay.events) - 1)
    if wanted != number:
        error = f"This replay has {len(replay.events)} events, 0 to {number}; event {number} is shown."
    event = replay.events[number]
    rows = diff_event(event, replay.weighed)
    lines = folding.fold(rows, state.rows)
    known = _known(event, replay)
    return DiffView(
        urls=urls,
        policy=replay.policy.name,
        number=number,
        request=event.request,
        reason=event.gate.reason,
        fires=f"{event.gate.measure:,} {'≥' if event.gate.operator == '>=' else event.gate.operator} "
        f"{event.gate.threshold:,} {event.gate.unit}",
        n_before=event.n_before,
        n_after=event.n_after,
        tokens_before=event.before_tokens,
        tokens_after=event.after_tokens,
        tokens_label=known[0],
        wire_before=sum(row.wire_before for row in rows),
        wire_after=sum(row.wire_after for row in rows),
        bytes_label=known[1],
        counts=_counts(rows),
        strip=strip(rows),
        checks=_checks(event, rows),
        overhead=replay.weighed.overhead,
        overhead_label=str(replay.weighed.overhead_label),
        lines=_shown(lines, lambda row: _body(session, replay, event, row), rows, urls, state, known=known),
        n_changes=sum(line.op != "kept" for line in lines),
        marks=minimap(lines, replay.weighed.overhead),
        events=tuple(
            Tab(f"{'Event ' if not k else ''}{k}", urls.to_diff(state, event=k, rows=None), k == number)
            for k in range(len(replay.events))
        ),
        layouts=(
            Tab("Side by side", urls.to_diff(state, layout=""), state.layout != "unified"),
            Tab("Unified", urls.to_diff(state, layout="unified"), state.layout == "unified"),
        ),
        unified=state.layout == "unified",
        replay_href=urls.to_replay(state, event=number, rows=None, layout=""),
        warnings=replay.warnings,
        error=error,
    )


def build_run(session: Session, state: ReplayState, urls: Urls | None = None) -> tuple[Shown, ...]:
    """The rows of one folded run (``state.rows``), at most 400, and a line for the rest."""
    urls = urls or session_urls(session.pk)
    ran = replays.run(session.pk, state)
    if not ran.replay.events or state.rows is None:
        return ()
    event = ran.replay.events[min(state.event or 0, len(ran.replay.events) - 1)]
    rows = diff_event(event, ran.replay.weighed)
    first, last = state.rows[0], min(state.rows[1], len(rows) - 1)
    stop = min(last, first + folding.MOST_OPEN - 1)
    lines = [folding.line(rows[at], at) for at in range(first, stop + 1)]
    if stop < last:
        lines += folding.fold(rows[stop + 1 : last + 1])
    known = _known(event, ran.replay)
    return tuple(Shown(line, None, None, "", urls.to_message(line.message), *known) for line in lines)


def _known(event: Event, replay: Replay) -> tuple[str, str]:
    """How the event's tokens are known, and what its bytes are."""
    return str(replay.labels[event.request] or Label.ESTIMATED), bytes_label(replay.weighed.transcript.format)


def _counts(rows: Sequence[Row]) -> tuple[tuple[str, str, int], ...]:
    """(op, symbol, how many), dropped first, as the reader came for it; fates that no message had are left out."""
    order = ("dropped", "kept", "edited", "inserted", "moved")
    found = {op: sum(row.op == op for row in rows) for op in OPS}
    return tuple((op, folding.SYMBOLS[op], found[op]) for op in order if found[op])


def _checks(event: Event, rows: Sequence[Row]) -> tuple[Check, ...]:
    broken = sum(row.pair_ok is False for row in rows)
    pairs = sum(row.pair_ok is not None for row in rows)
    whole = Check(not broken, f"{broken} tool messages lost their partner" if broken else _whole(pairs))
    first = next((item.message for item in event.after if str(item.message.role) != "system"), None)
    user = first is not None and str(first.role) == "user"
    starts = Check(user, "a user message first" if user else "an assistant message first")
    freed = event.before_tokens - event.after_tokens
    return (whole, starts, Check(freed > 0, f"frees {freed:,} tokens"))


def _whole(pairs: int) -> str:
    return f"tool pairs whole, {pairs:,} messages" if pairs else "no tool messages kept"


def _shown(
    lines: Sequence[Line], body_of: Callable[[Row], Body | None], rows: Sequence[Row], urls: Urls, state: ReplayState,
    *, known: tuple[str, str],
) -> tuple[Shown, ...]:  # fmt: skip
    """The lines with their change numbers, links and, for the first forty that have one, their text."""
    n_changes, bodies = 0, 0
    shown = []
    for line in lines:
        number = None
        if line.op != "kept":
            n_changes += 1
            number = n_changes
        body = None
        if line.op in {"inserted", "edited"} and not line.folded and bodies < MOST_BODIES:
            bodies += 1
            body = body_of(rows[line.first])
        opening = urls.to_diff(state, rows=(line.first, line.last)) if line.folded else ""
        shown.append(Shown(line, number, body, opening, urls.to_message(line.message), *known))
    return tuple(shown)


def _body(session: Session, replay: Replay, event: Event, row: Row) -> Body | None:
    """What was inserted, or what an edit left of a message, word by word; None where there is no text to show."""
    if row.item_after is None:
        return None
    after = inserted_text(session, replay, event, row.item_after)
    if row.op == "inserted" or row.item_before is None:
        if not after and not row.item_after.message.summary:
            return None
        if not after:
            return Body(note=f"A stub of {row.tokens_after:,} tokens stands here; no summary was written.")
        return Body(after=(Span("same", after[:BODY_CHARS]),), left=max(len(after) - BODY_CHARS, 0))
    before = message_text(session, row.item_before.message)
    if not after:
        return Body(before=(Span("same", before[:BODY_CHARS]),), note="The edited text is not kept by this policy.")
    spans = word_diff(before[:BODY_CHARS], after[:BODY_CHARS])
    return Body(*spans, left=max(len(before) - BODY_CHARS, 0))
