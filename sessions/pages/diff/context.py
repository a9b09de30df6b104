"""The diff of two message lists: side by side, folded, with what was inserted and whether tool pairs are whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sessions.engine.policies.policy import Item
from sessions.engine.replays.diff import OPS, Row, diff_lists
from sessions.engine.replays.events import Event
from sessions.engine.replays.replay import Replay
from sessions.models import Session
from sessions.pages.diff.bodies import Body, body
from sessions.pages.diff.compared import Heading, compared
from sessions.pages.ui import figures, folding
from sessions.pages.ui.addresses import Choice, Urls, session_urls
from sessions.pages.ui.before_after import Group, GroupLine, before_after, uses_of
from sessions.runs import losses, replays
from sessions.runs.overview import bytes_label
from sessions.runs.replay_state import ReplayState

GroupRow = tuple[GroupLine, Body | None, str]


MOST_BODIES = 40
"""Inserted and edited messages whose text is shown on the page."""
MOST_TABS = 40


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line as the page shows it: ``change`` is its number among the changes, ``open_href`` unfolds a run."""

    line: folding.FoldedLine
    change: int | None
    body: Body | None
    open_href: str
    message_href: str
    tokens_label: str
    bytes_label: str
    used: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class DiffView:
    """Everything that ``sessions/diff/_view.html`` shows; None lists where the replay has no event."""

    urls: Urls
    policy: str
    number: int | None
    request: int
    heading: Heading
    n_before: int
    n_after: int
    tokens_before: int
    tokens_after: int
    tokens_label: str
    wire_before: int
    wire_after: int
    bytes_label: str
    counts: tuple[tuple[str, str, int], ...]
    filters: tuple[Choice, ...]
    strip: tuple[Rectangle, ...]
    checks: tuple[tuple[bool, str], ...]
    overhead: int
    overhead_label: str
    lines: tuple[DiffLine, ...]
    n_changes: int
    marks: tuple[Rectangle, ...]
    events: tuple[Choice, ...]
    layouts: tuple[Choice, ...]
    unified: bool
    replay_href: str
    error: str
    between: tuple[int, int]
    last: int
    asks_two: bool
    two_replays: bool
    groups: tuple[tuple[Group, tuple[GroupRow, ...]], ...]
    loses: str
    is_lost: bool

    @property
    def tokens_change(self) -> str:
        """Tokens after against before: −77%."""
        return change(self.tokens_before, self.tokens_after)

    @property
    def bytes_change(self) -> str:
        return change(self.wire_before, self.wire_after)


def change(before: int, after: int) -> str:
    """A change in percent of what was there."""
    if after and before and 0.99 < (before - after) / before < 1:
        return f"{figures.MINUS}{100 * (before - after) / before:.1f}%"
    return figures.percent(after - before, before)


@dataclass(frozen=True, slots=True)
class NoEvents:
    """The replay has no event to show; ``error`` where one was asked for."""

    urls: Urls
    policy: str
    replay_href: str
    quiet: str
    error: str
    last: int

    @property
    def between(self) -> tuple[int, int]:
        """Two requests to begin with: the first and the last."""
        return 0, self.last


def build_diff(
    session: Session, state: ReplayState, urls: Urls | None = None, b: ReplayState | None = None
) -> DiffView | NoEvents:
    """The state's diff; ``b``: a second replay, whose list comes after; ``urls``: a link's own, not the session's."""
    urls = urls or session_urls(session.pk)
    two = compared(session.pk, state, b)
    if two is None:
        ran = replays.run(session.pk, state)
        replay = ran.replay
        back = urls.to_replay(state, event=None)
        return NoEvents(urls, replay.policy.name, back, replays.why_no_event(replay), ran.error, _last(replay))
    replay, event = two.first, two.event
    rows = diff_lists(two.before, two.after, replay.weighed)
    places = [at for at, row in enumerate(rows) if not state.only or row.op == state.only]
    lost = losses.of_replay(session, replay) if event is not None else None
    uses = uses_of(loss := lost.of(event.index) if lost is not None and event is not None else None)
    lines = folding.fold(rows, state.rows, uses) if not state.only else _only(rows, places)
    known = (two.label, bytes_label(replay.weighed.transcript.format))
    number = event.index if event else None
    return DiffView(
        urls=urls,
        policy=two.second.policy.name,
        number=number,
        request=two.request,
        heading=two.heading,
        n_before=len(two.before),
        n_after=len(two.after),
        tokens_before=two.tokens_before,
        tokens_after=two.tokens_after,
        tokens_label=known[0],
        wire_before=sum(row.wire_before for row in rows),
        wire_after=sum(row.wire_after for row in rows),
        bytes_label=known[1],
        counts=_counts(rows),
        filters=_filters(rows, state, urls),
        strip=strip(rows),
        checks=_checks(event, rows, two.after),
        overhead=replay.weighed.overhead,
        overhead_label=str(replay.weighed.overhead_label),
        lines=_shown(lines, lambda row: body(session, two, row), rows, urls, state, known=known, uses=uses),
        n_changes=sum(line.op != "kept" for line in lines),
        marks=minimap(lines, replay.weighed.overhead),
        events=_tabs(replay, number, urls, state) if b is None else (),
        layouts=_layouts(state, urls, grouped=event is not None and b is None),
        unified=state.layout == "unified",
        replay_href=urls.to_replay(state, event=number, rows=None, layout="", only=""),
        error=two.error,
        between=state.between or (max(two.request - 1, 0), two.request),
        last=_last(replay),
        asks_two=b is None and not urls.frozen,
        two_replays=b is not None,
        groups=_groups(replay, event, loss, lambda row: body(session, two, row), urls)
        if event is not None and b is None and state.layout == "groups"
        else (),
        loses=_loses(loss),
        is_lost=bool(loss and loss.broken),
    )


def _loses(loss: losses.EventLoss | None) -> str:
    if loss is None:
        return ""
    if not loss.rules and not loss.gone:
        return "depends on the summary" if loss.n_open else "nothing used later"
    return f"{figures.plural(len(loss.rules), 'rule')} and {figures.plural(len(loss.gone), 'thing')} used later"


def _groups(
    replay: Replay, event: Event, loss: losses.EventLoss | None, body_of: Callable[[Row], Body | None], urls: Urls
) -> tuple[tuple[Group, tuple[GroupRow, ...]], ...]:
    """The three groups at full width; a line has its text, word by word where it was edited, and its message."""
    n_bodies = 0
    found = []
    for group in before_after(replay, event.index, loss, whole=True).groups:
        rows = []
        for line in group.lines:
            text = None
            if line.row is not None and line.op in {"edited", "inserted"} and n_bodies < MOST_BODIES:
                n_bodies += 1
                text = body_of(line.row)
            rows.append((line, text, urls.to_message(line.message)))
        found.append((group, tuple(rows)))
    return tuple(found)


def _layouts(state: ReplayState, urls: Urls, *, grouped: bool) -> tuple[Choice, ...]:
    names = ((("By consequence", "groups"),) if grouped else ()) + (("Side by side", ""), ("Unified", "unified"))
    return tuple(Choice(words, urls.to_diff(state, layout=name), state.layout == name) for words, name in names)


def _last(replay: Replay) -> int:
    return replay.weighed.steps[-1].request if replay.weighed.steps else 0


def _only(rows: Sequence[Row], places: Sequence[int]) -> tuple[folding.FoldedLine, ...]:
    """The rows of one fate, each by itself up to as many as a run opens; the rest in runs."""
    shown = [folding.line(rows[at], at) for at in places[: folding.MOST_OPEN]]
    rest = places[folding.MOST_OPEN :]
    return (*shown, *folding.fold([rows[at] for at in rest])) if rest else tuple(shown)


def _filters(rows: Sequence[Row], state: ReplayState, urls: Urls) -> tuple[Choice, ...]:
    """Every fate that a message had, as a filter, and all of them together."""
    counts = _counts(rows)
    if len(counts) < 2:
        return ()
    alone = [
        Choice(f"{symbol} {op}", urls.to_diff(state, only=op, rows=None), state.only == op) for op, symbol, _ in counts
    ]
    return (Choice("All", urls.to_diff(state, only="", rows=None), not state.only), *alone)


def _tabs(replay: Replay, number: int | None, urls: Urls, state: ReplayState) -> tuple[Choice, ...]:
    if urls.frozen and state.between:
        return ()
    n = len(replay.events)
    start = min(max((number or 0) - MOST_TABS // 2, 0), max(n - MOST_TABS, 0))
    return tuple(
        Choice(
            f"{'Compaction ' if k == start else ''}{k + 1}",
            urls.to_diff(state, event=k, rows=None, between=None),
            k == number,
        )
        for k in range(start, min(start + MOST_TABS, n))
    )


def build_run(
    session: Session, state: ReplayState, urls: Urls | None = None, b: ReplayState | None = None
) -> tuple[DiffLine, ...]:
    """The rows of one folded run (``state.rows``), at most 400, and a line for the rest."""
    urls = urls or session_urls(session.pk)
    two = compared(session.pk, state, b)
    if two is None or state.rows is None:
        return ()
    rows = diff_lists(two.before, two.after, two.first.weighed)
    first, last = state.rows[0], min(state.rows[1], len(rows) - 1)
    stop = min(last, first + folding.MOST_OPEN - 1)
    lines = [folding.line(rows[at], at) for at in range(first, stop + 1)]
    if stop < last:
        lines += folding.fold(rows[stop + 1 : last + 1])
    known = (two.label, bytes_label(two.first.weighed.transcript.format))
    return tuple(DiffLine(line, None, None, "", urls.to_message(line.message), *known) for line in lines)


def _counts(rows: Sequence[Row]) -> tuple[tuple[str, str, int], ...]:
    """(op, symbol, how many), dropped first, as the reader came for it; fates that no message had are left out."""
    order = ("dropped", "kept", "edited", "inserted", "moved")
    found = {op: sum(row.op == op for row in rows) for op in OPS}
    return tuple((op, folding.SYMBOLS[op], found[op]) for op in order if found[op])


def _checks(event: Event | None, rows: Sequence[Row], after: Sequence[Item]) -> tuple[tuple[bool, str], ...]:
    """What was checked of the after list, and whether it holds."""
    broken = sum(row.pair_ok is False for row in rows)
    pairs = sum(row.pair_ok is not None for row in rows)
    says = "every call has its result" if pairs else "no tool calls kept"
    says = f"{figures.plural(broken, 'tool message')} without call or result" if broken else says
    whole = (not broken, says)
    first = next((item.message for item in after if str(item.message.role) != "system"), None)
    user = first is not None and str(first.role) == "user"
    starts = (user, "a user message first" if user else "an assistant message first")
    if event is None:
        return (whole, starts)
    freed = event.before_tokens - event.after_tokens
    return (whole, starts, (freed > 0, f"frees {freed:,} tokens"))


def _shown(
    lines: Sequence[folding.FoldedLine], body_of: Callable[[Row], Body | None], rows: Sequence[Row], urls: Urls,
    state: ReplayState, *, known: tuple[str, str], uses: Mapping[int, tuple[str, bool]],
) -> tuple[DiffLine, ...]:  # fmt: skip
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
        used, lost = (
            uses.get(line.message, ("", False)) if line.op == "dropped" and line.message is not None else ("", False)
        )
        shown.append(DiffLine(line, number, body, opening, urls.to_message(line.message), *known, used=used, lost=lost))
    return tuple(shown)


MAP_HEIGHT = 640


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle of the minimap or of the strip."""

    op: str
    x: float
    y: float
    width: float
    height: float
    anchor: str = ""


def strip(rows: Sequence[Row]) -> tuple[Rectangle, ...]:
    """The messages' fates in order, as one bar 400 wide."""
    marks: list[Rectangle] = []
    wide = 400 / max(len(rows), 1)
    start = 0
    for op, run in groupby(row.op for row in rows):
        n = len(list(run))
        marks.append(Rectangle(op, round(start * wide, 2), 0, round(max(n * wide, 1), 2), 6))
        start += n
    return tuple(marks)


def minimap(lines: Sequence[folding.FoldedLine], overhead: int) -> tuple[Rectangle, ...]:
    """The minimap: both lists, tokens to scale, the overhead first."""
    before = overhead + sum(line.tokens_before for line in lines)
    after = overhead + sum(line.tokens_after for line in lines)
    scale = MAP_HEIGHT / max(before, after, 1)
    marks = [Rectangle("kept", x, 0, 16, round(max(overhead * scale - 1, 1), 1)) for x in (0, 20)]
    left = right = overhead * scale
    for line in lines:
        anchor = f"d-{line.first}"
        for x, tokens in ((0, line.tokens_before), (20, line.tokens_after)):
            if tokens:
                top = left if x == 0 else right
                marks.append(Rectangle(line.op, x, round(top, 1), 16, round(max(tokens * scale - 0.5, 0.5), 1), anchor))
        left += line.tokens_before * scale
        right += line.tokens_after * scale
    return tuple(marks)
