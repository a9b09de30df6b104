"""One compaction that a replay makes: its before list, its after list and its reason (replay-semantics 6).

Lists are kept as changes and made again when asked for: a policy that edits at every request would else hold the
whole list once for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from sessions.engine.base.fast_frozen import fast_frozen
from sessions.engine.policies.policy import Gate, Item


class Splice(NamedTuple):
    """How a list differs from the one before: ``new`` in place of ``gone`` from ``start`` on, else the same items."""

    start: int
    gone: Sequence[Item]
    new: Sequence[Item]


Change = Sequence["Item"] | Mapping[int, "Item"] | Splice
"""How a list changed: the whole new list, items in place by position, or a stretch."""


@fast_frozen
@dataclass(frozen=True, slots=True)
class LayerResult:
    """What one layer of a pipeline did in an event; tokens are display tokens, negative where it added some.

    ``first_changed`` is a position in the list that the layer was given.
    """

    name: str
    label: str
    gate: Gate
    freed_tokens: int
    edited: int
    dropped: int
    inserted: int
    first_changed: int | None


@fast_frozen
@dataclass(frozen=True, slots=True)
class Event:
    """A compaction.

    ``request`` is the first request sent with the after list, ``message`` the index of the newest original message of
    the before list.  ``before_tokens`` and ``after_tokens`` are display tokens with overhead; ``kept`` to
    ``inserted`` count messages; ``first_changed_message`` is the position in the before list of the first message not
    kept in place, None when every one is.  ``summary_source`` says who wrote what was inserted; ``layers`` are those
    that took effect, their freed tokens add up to before − after.
    """

    index: int
    request: int
    message: int | None
    gate: Gate
    before_tokens: int
    after_tokens: int
    kept: int
    edited: int
    dropped: int
    inserted: int
    first_changed_message: int | None
    summary_source: str
    summary_calls: int
    layers: tuple[LayerResult, ...]
    history: History = field(repr=False, compare=False)

    @property
    def n_before(self) -> int:
        """Messages of the before list."""
        return self.kept + self.edited + self.dropped

    @property
    def n_after(self) -> int:
        """Messages of the after list."""
        return self.kept + self.edited + self.inserted

    @property
    def before(self) -> tuple[Item, ...]:
        """The list as it stood before."""
        return self.history.list_at(self.history.marks[self.index])

    @property
    def after(self) -> tuple[Item, ...]:
        """The list as it stands afterwards."""
        return self.history.lists(self.index)[1]


@dataclass(slots=True)
class History:
    """How the list changed over a replay: what was appended, edited in place or replaced, in order.

    All that was appended between two changes is one move: a session has far more requests than compactions.
    """

    moves: list[tuple[int, Change]] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    """For each event: the number of its move."""
    _added: list[Item] = field(default_factory=list)
    """What was appended since the newest change."""
    _reached: list[tuple[int, list[Item]]] = field(default_factory=list)
    """Where the last list was made, and that list: events asked in order cost what came in between.

    Whoever takes it puts it back, so two that ask at once never share it.
    """

    ADD, PATCH, LIST, SPLICE = 0, 1, 2, 3

    def add(self, items: Sequence[Item]) -> None:
        """Items were appended."""
        if items and not self._added:
            self.moves.append((History.ADD, self._added))
        self._added += items

    def event(self, outcome: Change) -> None:
        """An event changed the list."""
        self.marks.append(len(self.moves))
        self.restart(outcome)

    def restart(self, outcome: Change) -> None:
        """The list changed without an event."""
        self._added = []
        self.moves.append((_KINDS.get(type(outcome), History.LIST), outcome))

    def change(self, event: int) -> Change:
        """What event ``event`` did."""
        return self.moves[self.marks[event]][1]

    def lists(self, event: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """The lists before and after event ``event``."""
        before = self.list_at(self.marks[event])
        after = list(before)
        _apply(after, *self.moves[self.marks[event]])
        return before, tuple(after)

    def changes_at(self, event: int, before: Sequence[Item]) -> list[tuple[int, Item, Item | None]]:
        """What event ``event`` edited (old and new) or dropped (old and None) of the list before it, with positions."""
        outcome = self.change(event)
        if isinstance(outcome, dict):
            return [(position, before[position], outcome[position]) for position in sorted(outcome)]
        return _changes_of(
            outcome if isinstance(outcome, Splice) else Splice(0, before, cast("Sequence[Item]", outcome))
        )

    def befores(self) -> Iterator[list[Item]]:
        """The list before every event in order: one list, which must not be changed, and is another at the next."""
        items: list[Item] = []
        reached = 0
        for mark in self.marks:
            for move in self.moves[reached:mark]:
                _apply(items, *move)
            reached = mark
            yield items

    def list_at(self, stop: int) -> tuple[Item, ...]:
        """The list when the first ``stop`` moves were made."""
        try:
            reached, found = self._reached.pop()
        except IndexError:
            reached, found = 0, []
        if reached > stop:
            reached, found = 0, []
        start = stop
        while start > reached and self.moves[start - 1][0] != History.LIST:
            start -= 1
        for move in self.moves[max(reached, start - 1) : stop]:
            _apply(found, *move)
        self._reached[:] = [(stop, found)]
        return tuple(found)


_KINDS = {dict: History.PATCH, Splice: History.SPLICE}


def _changes_of(splice: Splice) -> list[tuple[int, Item, Item | None]]:
    """What a splice edited (old and new) or dropped (old and None), with positions before it."""
    start, gone, new = splice
    if not new:
        return [(position, item, None) for position, item in enumerate(gone, start)]
    after = {item.id: item for item in new}
    found = [(position, item, after.get(item.id)) for position, item in enumerate(gone, start)]
    return [one for one in found if one[2] is not one[1] and (one[2] is None or changed(one[1], one[2]))]


def _apply(items: list[Item], kind: int, what: Any) -> None:
    if kind == History.ADD:
        items += what
    elif kind == History.PATCH:
        for position, item in what.items():
            items[position] = item
    elif kind == History.SPLICE:
        items[what.start : what.start + len(what.gone)] = what.new
    else:
        items[:] = what


@fast_frozen
@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many messages of two lists are kept, edited, dropped and inserted, and where the first change stands."""

    kept: int
    edited: int
    dropped: int
    inserted: int
    first: int | None


def count_changes(before: Sequence[Item], after: Sequence[Item]) -> ChangeCounts:
    """Same id and content is kept, same id edited, only before dropped, only after inserted."""
    old = {item.id: item for item in before}
    new_ids = {item.id for item in after}
    standing = [(held, item) for item in after if (held := old.get(item.id)) is not None]
    edited = sum([changed(held, item) for held, item in standing if held is not item])
    dropped = len([1 for item in before if item.id not in new_ids])
    inserted = len(after) - len(standing)
    return ChangeCounts(len(standing) - edited, edited, dropped, inserted, first_changed(before, after))


def count_splice(before: Sequence[Item], after: Sequence[Item], splice: Splice, event: int) -> ChangeCounts:
    """``count_changes`` of two lists that differ by a splice, at the cost of what changes; ``event`` is its number."""
    start, gone, new = splice
    old = {item.id: item for item in gone}
    returned = [item.id for item in new if item.id not in old and not item.id.startswith(f"e{event}.")]
    if returned and not {item.id for item in before}.isdisjoint(returned):
        return count_changes(before, after)  # a message stands twice
    new_ids = {item.id for item in new}
    standing = [item for item in new if item.id in old]
    edited = len([1 for item in standing if old[item.id] is not item and changed(old[item.id], item)])
    dropped = len([1 for item in gone if item.id not in new_ids])
    kept = len(before) - len(gone) + len(standing) - edited
    return ChangeCounts(kept, edited, dropped, len(new) - len(standing), first_changed(before, after, start))


def count_patch(n_before: int, patch: Mapping[int, Item], before: Sequence[Item]) -> ChangeCounts:
    """The same for an edit in place."""
    edited = [position for position, item in patch.items() if changed(before[position], item)]
    return ChangeCounts(n_before - len(edited), len(edited), 0, 0, min(edited, default=None))


def changed(old: Item, new: Item) -> bool:
    """True when an edit changed the content of a message that kept its id."""
    return new.message is not old.message and new.message.blocks != old.message.blocks


def first_changed(before: Sequence[Item], after: Sequence[Item], start: int = 0) -> int | None:
    """Position of the first message not kept in place, None if all are; those before ``start`` are known to be."""
    for position in range(start, len(before)):
        item = before[position]
        if position < len(after) and after[position] is item:
            continue
        if position >= len(after) or after[position].id != item.id or changed(item, after[position]):
            return position
    return None
