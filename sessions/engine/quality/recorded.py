"""The recording's own compactions as events, and what the agent really fetched again after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sessions.engine.policies.policy import Gate, Item
from sessions.engine.quality.calls import ASK, FETCH, READ, RUN, SEARCH, WRITE, ToolCall, overlap
from sessions.engine.quality.index import Index
from sessions.engine.quality.standing import standing
from sessions.engine.redact.escaping import markdown_code
from sessions.engine.replays.events import Event, History, count_changes
from sessions.engine.transcript.types import RecordedCompaction
from sessions.engine.weigh.calibration.weighed import Weighed

FETCHES = frozenset({READ, RUN, SEARCH, FETCH, ASK})
DEFINITIONS = ("range", "path", "exact")
"""When a call fetches the same again: same target and overlapping lines, same target, or same target and same lines."""
DEFAULT_DEFINITION = "range"
DEFAULT_CALLS = 20
OFTEN = 2


@dataclass(frozen=True, slots=True)
class Reread:
    """What was fetched again after one recorded compaction, beside what this session repeats anyway.

    Units are distinct targets: ``n_dropped`` whose result left the context, ``n_again`` of them fetched again within
    ``n_calls`` tool calls (``again``: the old call and the new one).  The baseline is the same share at every other
    point of the session: ``n_baseline_again`` of ``n_baseline`` targets that were still in the context.  Rates are None
    where nothing was dropped, or where there is no such point.
    """

    compaction: int
    request: int
    definition: str
    n_calls: int
    n_dropped: int
    n_again: int
    n_baseline: int
    n_baseline_again: int
    again: tuple[tuple[ToolCall, ToolCall], ...]

    @property
    def rate(self) -> float | None:
        """Share of dropped targets fetched again."""
        return self.n_again / self.n_dropped if self.n_dropped else None

    @property
    def baseline(self) -> float | None:
        """Share of targets fetched again where nothing was dropped."""
        return self.n_baseline_again / self.n_baseline if self.n_baseline else None


def recorded_events(weighed: Weighed) -> tuple[tuple[int, Event], ...]:
    """(number, event) of recorded compactions whose originals are here: what each kept and wrote, nothing later."""
    transcript = weighed.transcript
    found: list[tuple[int, Event]] = []
    history = History()
    here: list[Item] = []
    for k, step in enumerate(weighed.steps):
        if step.compaction is None:
            here += _items(weighed, range(step.start, step.stop), k)
            continue
        compaction = transcript.compactions[step.compaction]
        split = min(max(step.start, compaction.boundary), step.stop)
        before = [*here, *_items(weighed, range(step.start, split), k)]
        rest = _items(weighed, range(split, step.stop), k)
        after = [*_items(weighed, compaction.preserved, k), *(item for item in rest if item.inserted)]
        here = [*_items(weighed, compaction.preserved, k), *rest]
        if not compaction.outside and before:
            tokens = (
                compaction.tokens_before or weighed.overhead + sum(item.tokens for item in before),
                compaction.tokens_after or weighed.overhead + sum(item.tokens for item in after),
            )
            history.restart(before)
            history.event(after)
            event = _event(len(found), step.compaction, compaction, tokens, history)
            found.append((step.compaction, event))
    return tuple(found)


def _event(index: int, number: int, compaction: RecordedCompaction, tokens: tuple[int, int], history: History) -> Event:
    before, after = history.lists(index)
    counts = count_changes(before, after)
    newest = next((item.message.index for item in reversed(before) if not item.inserted), None)
    gate = Gate(True, f"recorded, trigger {compaction.trigger or 'not told'}", tokens[0], 0, ">=", "tokens")
    return Event(
        index, compaction.request, newest, gate, tokens[0], tokens[1], counts.kept, counts.edited, counts.dropped,
        counts.inserted, counts.first, f"recorded (compaction {number + 1})", 1, (), history,
    )  # fmt: skip


def _items(weighed: Weighed, indices: range | tuple[int, ...], step: int) -> list[Item]:
    messages = [weighed.transcript.messages[i] for i in indices]
    return [Item(m.id, m, weighed.tokens[m.index], 0, step, inserted=m.compaction is not None) for m in messages]


def rereads(
    weighed: Weighed, index: Index, *, definition: str = DEFAULT_DEFINITION, n_calls: int = DEFAULT_CALLS
) -> tuple[Reread, ...]:
    """What was fetched again after each recorded compaction; ``definition`` is one of ``DEFINITIONS``."""
    events = recorded_events(weighed)
    cuts = [event.message + 1 for _, event in events if event.message is not None]
    n_base, n_base_again = baseline(index, cuts, definition, n_calls)
    found: list[Reread] = []
    for number, event in events:
        dropped = dropped_fetches(weighed, index, event)
        later = calls_after(index, -1 if event.message is None else event.message, n_calls)
        pairs = [(old, new) for old in dropped if (new := again(old, later, definition))]
        found.append(
            Reread(
                number, event.request, definition, n_calls, len(dropped), len(pairs), n_base, n_base_again, tuple(pairs)
            )
        )
    return tuple(found)


def dropped_fetches(weighed: Weighed, index: Index, event: Event) -> list[ToolCall]:
    """The newest fetch of every target whose result stood before the event and does not stand after it."""
    before = standing(event.before, weighed.transcript, index, {})
    after = standing(event.after, weighed.transcript, index, {})
    newest = newest_fetches(c for c in index.calls if c.result and before.has_block(*c.result))
    return [call for call in newest if call.result and not after.has_block(*call.result)]


def newest_fetches(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The newest fetch of each target among calls in order."""
    found: dict[tuple[str, str], ToolCall] = {}
    for call in calls:
        if call.verb in FETCHES and call.key and call.result:
            found[call.verb, call.key] = call
    return list(found.values())


def calls_after(index: Index, message: int, n_calls: int) -> list[ToolCall]:
    """The first ``n_calls`` tool calls after a message."""
    return [call for call in index.calls if call.message > message][:n_calls]


def again(old: ToolCall, later: list[ToolCall], definition: str) -> ToolCall | None:
    """The first of ``later`` that fetches the same again; a file written in between is read for what is new in it."""
    for call in later:
        if call.key != old.key:
            continue
        if call.verb == WRITE:
            return None
        if call.verb == old.verb and _same(old, call, definition):
            return call
    return None


def _same(old: ToolCall, new: ToolCall, definition: str) -> bool:
    if definition == "path" or old.verb != READ:
        return True
    return (old.start, old.stop) == (new.start, new.stop) if definition == "exact" else overlap(old, new)


def baseline(index: Index, cuts: list[int], definition: str, n_calls: int) -> tuple[int, int]:
    """(targets, fetched again) over all points where nothing was dropped."""
    n, n_again = 0, 0
    for _, later, fetches in baseline_points(index, cuts, n_calls):
        n += len(fetches)
        n_again += sum(again(old, later, definition) is not None for old in fetches)
    return n, n_again


def baseline_points(
    index: Index, cuts: list[int], n_calls: int
) -> Iterator[tuple[int, list[ToolCall], list[ToolCall]]]:
    """Every ``n_calls``-th call that no compaction follows within ``n_calls`` calls, while any follow at all.

    Yields its position, the ``n_calls`` calls after it and the newest fetch of each target since the last compaction.
    ``cuts`` are the first messages after each compaction.
    """
    for position in range(n_calls, len(index.calls) - n_calls + 1, n_calls):
        at = index.calls[position - 1].message
        later = list(index.calls[position : position + n_calls])
        if any(at < cut <= later[-1].message for cut in cuts):
            continue
        since = max((cut for cut in cuts if cut <= at), default=0)
        yield position, later, newest_fetches(c for c in index.calls[:position] if c.result and c.result[0] >= since)


def memory_lines(many: list[tuple[Reread, ...]]) -> tuple[str, ...]:
    """Lines proposed for a memory file: what was fetched again after ``OFTEN`` compactions, most first; by session."""
    counts: Counter[tuple[str, str]] = Counter()
    n_compactions = sum(len(session) for session in many)
    for session in many:
        for reread in session:
            counts.update({(old.verb, old.key) for old, _ in reread.again})
    words = {READ: "Read again", RUN: "Run again", SEARCH: "Searched again", FETCH: "Fetched again", ASK: "Asked again"}
    chosen = sorted(((n, key) for key, n in counts.items() if n >= OFTEN), key=lambda pair: (-pair[0], pair[1]))
    return tuple(
        f"- {markdown_code(key)}: {words[verb].lower()} after {n} of {n_compactions} compactions"
        for n, (verb, key) in chosen
    )
