"""What of a request is new, and what of the conversation it leaves out: see ``_exchanges``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sessions.engine.reading.formats._thread import Entry, Mark
from sessions.engine.reading.formats._values import text_of
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from sessions.engine.reading.formats._conversation import Conversation, Part, Wire


NOWHERE = sys.maxsize


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
    if not left:
        known.live = kept
        return [(part, None) for part in rest]
    twins = twins_of(known, left, rest)
    summed_up = any(wire.is_summary(part.value) for part in rest)
    if not twins and not summed_up and any(entries[place].role is not Role.SYSTEM for place in kept):
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
    return text_of(part.value.get("id")) if isinstance(part.value, dict) else ""


def _superseding(known: Conversation, sent: Sequence[Part]) -> list[int]:
    """The list as far as it matters: what stands before a compaction item may be sent again or left out."""
    entries = known.thread.entries
    if known.wire.stands_alone or not sent or not known.wire.is_summary(sent[0].value):
        return known.live
    for position, place in enumerate(known.live):
        if entries[place].summary and (
            entries[place].key == key_of(known.wire, sent[0]) or _same_id(entries[place], sent[0])
        ):
            return known.live[position:]
    return known.live


def _same(known: Conversation, place: int, part: Part) -> bool:
    """A reply may come back in other words (without annotations, trimmed): its place is enough."""
    role = known.wire.role(part.value)
    if _same_id(known.thread.entries[place], part):
        return True
    if place in known.replies and role is Role.ASSISTANT and known.thread.entries[place].role is Role.ASSISTANT:
        blocks = known.wire.contents(part.value)
        return {b.kind for b in blocks} == {b.kind for b in known.thread.entries[place].blocks}
    return known.thread.entries[place].key == key_of(known.wire, part)
