"""Conversations from requests that each send the whole list again, and their replies (replay-semantics 1).

What a request repeats of the conversation so far is recognised and counted once.  Where a request leaves the end of
the list out, that end was rewound; where it leaves out or changes what stands before something it repeats, the client
compacted.  A request that shares nothing but system messages with the conversation starts another session.
"""

from __future__ import annotations

import sys
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._records import cleared_before, noted, stem_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, entry_of, session_of
from sessions.engine.reading.formats._values import Measured, as_dict, text_of
from sessions.engine.reading.formats._wire import Conversation, Exchange, Part, Wire
from sessions.engine.transcript.types import Kind, Role, Transcript

NOWHERE = sys.maxsize


def conversations_of(exchanges: Iterable[Exchange], wire: Wire, measure: Measured) -> list[Conversation]:
    """Sessions as they began; an exchange continues the newest that it can, a reply without its request the last."""
    found: list[Conversation] = []
    homes = _Homes(wire, found)
    for exchange in exchanges:
        bare = found[-1] if found and not exchange.sent and not exchange.follows else None
        home = bare or homes.of(exchange)
        if home is None:
            home = Conversation(wire, measure)
            found.append(home)
        start = len(home.thread.entries)
        _add(home, exchange)
        homes.note(home, exchange, start)
    return found


class _Homes:
    """Which conversation an exchange continues: the newest whose list holds a message that is sent again."""

    def __init__(self, wire: Wire, found: list[Conversation]) -> None:
        self.wire, self.found = wire, found
        self.number: dict[int, int] = {}
        self.by_key: dict[int, list[int]] = {}
        self.by_response: dict[str, int] = {}

    def of(self, exchange: Exchange) -> Conversation | None:
        """The conversation, None where it is another one."""
        if exchange.follows:
            number = self.by_response.get(exchange.follows, -1)
        elif self.found and any(map(self.found[-1].holds, self._keys(exchange))):
            return self.found[-1]
        else:
            number = max(map(self._newest, self._keys(exchange)), default=-1)
        return self.found[number] if number >= 0 else None

    def note(self, home: Conversation, exchange: Exchange, start: int) -> None:
        """The conversation has an exchange more, and entries from ``start`` on that it had not."""
        number = self.number.setdefault(id(home), len(self.found) - 1)
        for key in {entry.key for entry in home.thread.entries[start:] if entry.role is not Role.SYSTEM}:
            known = self.by_key.setdefault(key, [])
            if number not in known[-1:]:
                insort(known, number)
        if exchange.response_id:
            self.by_response[exchange.response_id] = max(number, self.by_response.get(exchange.response_id, 0))

    def _keys(self, exchange: Exchange) -> Iterator[int]:
        return (key_of(self.wire, part) for part in exchange.sent if self.wire.role(part.value) is not Role.SYSTEM)

    def _newest(self, key: int) -> int:
        """The newest conversation whose list holds it, -1 for none; those that hold it no longer are forgotten."""
        known = self.by_key.get(key, [])
        while known and not self.found[known[-1]].holds(key):
            known.pop()
        return known[-1] if known else -1


def _add(known: Conversation, exchange: Exchange) -> None:
    known.system = exchange.system or known.system
    known.notes += [note for note in exchange.notes if note not in known.notes]
    known.trigger_at = exchange.trigger_at or known.trigger_at
    known.models += [exchange.model] if exchange.model else []
    appends = bool(exchange.follows) or not exchange.sent
    fresh = [(part, None) for part in exchange.sent] if appends else fresh_parts(known, exchange.sent)
    start = len(known.thread.entries)
    for part, number in fresh:
        _append(known, part, number)
    _runs(known, start, exchange)
    known.pending = None
    known.thread.refuse(exchange.error)
    refused = exchange.error is not None and exchange.error.of_size
    if exchange.replaces and exchange.reply is not None:
        _replace(known, exchange)
    elif exchange.reply or (exchange.reply is not None and not refused):
        _reply(known, exchange)
    elif not exchange.is_log and not refused:
        known.pending = exchange


def _append(known: Conversation, part: Part, compaction: int | None = None) -> int:
    place = len(known.thread.entries)
    wire, contents = known.wire, known.wire.contents(part.value)
    role, summary = wire.role(part.value), wire.is_summary(part.value)
    entry = entry_of(
        contents,
        role,
        part.origin,
        known.measure,
        prompt=role is Role.USER and is_prompt(contents) and not summary,
        meta=wire.is_meta(part.value),
        key=hash((role, contents)),
        native_id=_id_of(part),
        timestamp=part.timestamp,
        summary=summary,
    )
    known.n_cleared += wire.n_cleared(contents)
    before = known.thread.entries[-1] if known.thread.entries else None
    if wire.stands_alone and entry.role is Role.ASSISTANT and before and before.summary:
        compaction = before.compaction
    entry.compaction = compaction
    entry.typed = entry.typed and compaction is None
    if entry.summary and compaction is None:
        mark = Mark(place, len(known.thread.calls), summary=place, trigger="auto")
        if wire.stands_alone:
            mark.preserved, mark.outside, mark.trigger = list(known.live), True, None
        known.thread.marks.append(mark)
        entry.compaction = len(known.thread.marks) - 1
    elif entry.summary and compaction is not None:
        known.thread.marks[compaction].summary = place
    known.thread.entries.append(entry)
    known.live.append(place)
    return place


def _runs(known: Conversation, start: int, exchange: Exchange) -> None:
    """A call for each run of assistant messages that a request brings: replies that were not captured."""
    entries, calls = known.thread.entries, known.thread.calls
    stop = len(entries)
    while known.wire.prefills and not exchange.is_log and stop > start and entries[stop - 1].role is Role.ASSISTANT:
        stop -= 1
    for place in range(start, stop):
        if entries[place].role is not Role.ASSISTANT or entries[place].compaction is not None:
            continue
        if calls and calls[-1].stop == place and calls[-1].first >= start:
            calls[-1].stop = place + 1
        else:
            calls.append(Call(place, place + 1, exchange.model, entries[place].timestamp))
    for mark in known.thread.marks:
        if mark.boundary >= start:
            mark.n_calls = sum(call.first < mark.boundary for call in calls)


def _reply(known: Conversation, exchange: Exchange) -> None:
    places = [_append(known, part) for part in exchange.reply or ()]
    known.replies |= set(places)
    entries = known.thread.entries
    first = next((place for place in places if entries[place].role is Role.ASSISTANT), len(entries))
    stop = next((p for p in range(first, len(entries)) if entries[p].role is not Role.ASSISTANT), len(entries))
    call = Call(first, stop, exchange.model, exchange.timestamp, exchange.usage, response_id=exchange.response_id)
    known.thread.calls.append(call)
    for mark in known.thread.marks:
        if mark.summary in places:
            # The call that made a compaction item was still sent the whole list.
            mark.n_calls = len(known.thread.calls)


def _replace(known: Conversation, exchange: Exchange) -> None:
    """A compaction call: its reply is the list from here on; the call's own context is not the conversation's."""
    entries, parts = known.thread.entries, list(exchange.reply or ())
    place, number = len(entries), len(known.thread.marks)
    known.thread.calls.append(
        Call(place, place, exchange.model, exchange.timestamp, exchange.usage, response_id=exchange.response_id)
    )
    twins = twins_of(known, known.live, parts)
    mark = Mark(place, len(known.thread.calls), sorted(twins.values()), trigger="manual")
    mark.tokens_before = exchange.usage.context if exchange.usage else None
    known.live = list(mark.preserved)
    known.thread.marks.append(mark)
    for n, part in enumerate(parts):
        if n not in twins:
            made = _append(known, part, number)
            mark.summary = made if entries[made].summary else mark.summary


def fresh_parts(known: Conversation, sent: Sequence[Part]) -> list[tuple[Part, int | None]]:
    """Parts of a request that are new, each with the compaction that made it; the list becomes what was kept."""
    entries, live, wire = known.thread.entries, _superseding(known, sent), known.wire
    n_live = n_sent = 0
    while n_live < len(live) and n_sent < len(sent):
        if _same(known, live[n_live], sent[n_sent]):
            n_sent += 1
        elif live[n_live] not in known.replies or any(
            b.kind is not Kind.THINKING for b in entries[live[n_live]].blocks
        ):
            break
        n_live += 1
    kept, left, rest = live[:n_live], live[n_live:], list(sent[n_sent:])
    twins = twins_of(known, left, rest) if left else {}
    is_rewound = not twins and not any(wire.is_summary(part.value) for part in rest)
    if not left or (is_rewound and any(entries[place].role is not Role.SYSTEM for place in kept)):
        for place in left:
            entries[place].dropped = True
        known.live = kept
        return [(part, None) for part in rest]
    number = len(known.thread.marks)
    known.live = kept + sorted(twins.values())
    known.thread.marks.append(Mark(len(entries), len(known.thread.calls), list(known.live)))
    last = max(twins, default=0)
    return [(part, number if n <= last else None) for n, part in enumerate(rest) if n not in twins]


def twins_of(known: Conversation, places: Sequence[int], parts: Sequence[Part]) -> dict[int, int]:
    """Position among ``parts`` to the place that is the same message, each place once."""
    entries = known.thread.entries
    waiting: dict[int | str, list[int]] = {}
    for position in range(len(places) - 1, -1, -1):
        entry = entries[places[position]]
        for name in (entry.key, entry.native_id):
            waiting.setdefault(name, []).append(position)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for n, part in enumerate(parts):
        names = (key_of(known.wire, part), _id_of(part))
        if (position := min(_first(waiting.get(name, []), taken) for name in names if name != "")) < len(places):
            taken.add(position)
            found[n] = places[position]
    return found


def _first(positions: list[int], taken: set[int]) -> int:
    """The first of positions in falling order that is not taken; those that are leave the list."""
    while positions and positions[-1] in taken:
        positions.pop()
    return positions[-1] if positions else NOWHERE


def key_of(wire: Wire, part: Part) -> int:
    return hash((wire.role(part.value), wire.contents(part.value)))


def _same_id(entry: Entry, part: Part) -> bool:
    """An item keeps its id when it is sent back, even where its payload was encrypted anew."""
    return bool(ident := _id_of(part)) and ident == entry.native_id


def _id_of(part: Part) -> str:
    return text_of(as_dict(part.value).get("id"))


def _superseding(known: Conversation, sent: Sequence[Part]) -> list[int]:
    """The list as far as it matters: what stands before a compaction item may be sent again or left out."""
    if known.wire.stands_alone or not sent or not known.wire.is_summary(sent[0].value):
        return known.live
    for position, place in enumerate(known.live):
        entry = known.thread.entries[place]
        if entry.summary and (entry.key == key_of(known.wire, sent[0]) or _same_id(entry, sent[0])):
            return known.live[position:]
    return known.live


def _same(known: Conversation, place: int, part: Part) -> bool:
    """A reply may come back in other words (without annotations, trimmed): its place is enough."""
    entry = known.thread.entries[place]
    if _same_id(entry, part):
        return True
    if place in known.replies and known.wire.role(part.value) is entry.role is Role.ASSISTANT:
        return {b.kind for b in known.wire.contents(part.value)} == {b.kind for b in entry.blocks}
    return entry.key == key_of(known.wire, part)


def transcripts_of(conversations: Sequence[Conversation], name: str, measure: Measured) -> tuple[Transcript, ...]:
    """One session per conversation; a file with several numbers them after its name."""
    stem = stem_of(name)
    found = []
    for number, known in enumerate(conversations):
        n_dropped = sum(entry.dropped for entry in known.thread.entries)
        left = f"Messages that a later request left out at the end (rewound or tried again): {n_dropped}, not counted"
        asked = f"The request asks the server to compact above {known.trigger_at or 0:,} tokens"
        notes = noted((known.trigger_at, asked), (n_dropped, left), cleared_before(known.n_cleared))
        if known.pending:
            # The request that still waits for its reply.
            n = len(known.thread.entries)
            known.thread.calls.append(Call(n, n, known.pending.model, known.pending.timestamp))
        session = session_of(
            known.thread,
            id=stem if len(conversations) == 1 else f"{stem}.{number}",
            system=measure(known.system),
            trigger_at=known.trigger_at,
            warnings=(*known.notes, *notes),
        )
        stamps = [*(m.timestamp for m in session.messages), *(r.timestamp for r in session.requests)]
        times = [stamp for stamp in stamps if stamp is not None]
        model = next((model for model, _ in Counter(known.models).most_common(1)), "")
        start, end = min(times, default=None), max(times, default=None)
        found.append(replace(session, model=model, started_at=start, ended_at=end))
    return tuple(found)
