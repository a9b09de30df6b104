"""What a client holds that shortens a copy of its list at every request and keeps the whole.

Such an original computes each request anew from all messages.  A replay's list holds what the last edit left, so the
whole is remembered beside it: in ``State.memory`` under ``client``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from sessions.engine.policies._pairs import Pairs, Spans, without
from sessions.engine.policies.policy import Item, View

_ID = attrgetter("id")


@dataclass(slots=True)
class Client:
    """All messages of the client, and their size in the trigger's unit.

    ``lengths`` are those that the list may have had when the request before was sent: as it stood, and as edited.
    ``until[n]`` is the size of the first n.
    """

    items: list[Item] = field(default_factory=list)
    size: int = 0
    request: int = -1
    known: set[str] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    pairs: Pairs = field(default_factory=Pairs)
    until: list[int] = field(default_factory=lambda: [0])


def client(view: View) -> Client:
    """Everything the client holds at this request, or what a recorded compaction left; costs what the request adds."""
    memory = view.state.memory
    held: Client | None = memory.get("client")
    if held is None:
        held = memory["client"] = Client()
    if held.request == view.request:
        return held
    first_new = len(view.items)
    while first_new and view.items[first_new - 1].id not in held.known:
        first_new -= 1
    if held.lengths and first_new not in held.lengths:
        held.items, held.size, held.known, first_new = [], 0, set(), 0
        held.pairs, held.until = Pairs(), [0]
    added = view.items[first_new:]
    held.items += added
    held.pairs.add(added)
    for item in added:
        held.size += item.size
        held.until.append(held.size)
    held.known.update(map(_ID, added))
    held.request, held.lengths = view.request, {len(view.items)}
    return held


def shown_cut(
    view: View,
    spans: Spans,
    *,
    orphans: str = "drop",
    edited: Mapping[int, Item] | None = None,
    note: Sequence[Item] = (),
) -> list[Item]:
    """Stretches of the client's list (from, to), in order, as the list that this request sends; without split pairs.

    What stands in the midst of a stretch is not looked at.  ``edited`` are items in place of the client's own, by
    position; ``note`` stands after the first stretch.
    """
    held = client(view)
    changed = {n: [item] for n, item in edited.items()} if edited else {}
    split = held.pairs.split_by(spans) if orphans == "drop" else None
    if split:
        for n in held.pairs.places(split, spans):
            changed[n] = without(view, changed[n][0] if n in changed else held.items[n], split)
    left: list[Item] = []
    for number, (start, stop) in enumerate(spans):
        part = held.items[start:stop]
        for n in sorted([n for n in changed if start <= n < stop], reverse=True) if changed else ():
            part[n - start : n - start + 1] = changed[n]
        left += part if number else [*part, *note]
    held.known.update(map(_ID, note))
    held.lengths.add(len(left))
    return left
