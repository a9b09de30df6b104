"""What a client holds that shortens a copy of its list at every request and keeps the whole.

Such an original computes each request anew from all messages.  A replay's list holds what the last edit left, so the
whole is remembered beside it: in ``State.memory`` under ``client``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from sessions.engine.policies._pairs import Halves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item, View


_ID = attrgetter("id")


@dataclass(slots=True)
class Client:
    """All messages of the client, and their size in the gate's unit.

    ``lengths`` are those that the list may have had when the request before was sent: as it stood, and as edited.
    ``until[n]`` is the size of the first n.
    """

    items: list[Item] = field(default_factory=list)
    size: int = 0
    request: int = -1
    known: set[str] = field(default_factory=set)
    lengths: set[int] = field(default_factory=set)
    halves: Halves = field(default_factory=lambda: Halves(set(), set()))
    until: list[int] = field(default_factory=lambda: [0])


def client(view: View) -> Client:
    """Everything the client holds at this request; costs what the request adds.

    Where a recorded compaction has replaced the list, the client holds what it left.
    """
    held: Client = view.state.memory.setdefault("client", Client())
    if held.request == view.request:
        return held
    first_new = len(view.items)
    while first_new and view.items[first_new - 1].id not in held.known:
        first_new -= 1
    if held.lengths and first_new not in held.lengths:
        held.items, held.size, held.known, first_new = [], 0, set(), 0
        held.halves, held.until = Halves(set(), set()), [0]
    added = view.items[first_new:]
    held.items += added
    held.halves.add(added)
    for item in added:
        held.size += item.size
        held.until.append(held.size)
    held.known |= {item.id for item in added}
    held.request, held.lengths = view.request, {len(view.items)}
    return held


def shown(view: View, items: Sequence[Item]) -> list[Item]:
    """``items`` as the list that this request sends; remembers its length."""
    held = client(view)
    held.known.update(map(_ID, items))
    held.lengths.add(len(items))
    return list(items)


def same(items: Sequence[Item], others: Sequence[Item]) -> bool:
    """Whether two lists hold the same messages in the same order."""
    return len(items) == len(others) and all(a.id == b.id for a, b in zip(items, others, strict=True))
