"""One compaction that a replay makes: its before list, its after list and its reason (replay-semantics 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Gate, Item


@dataclass(frozen=True, slots=True)
class Event:
    """A compaction.

    ``request`` is the first request sent with the after list, ``message`` the index of the newest original message of
    the before list.  ``before_tokens`` and ``after_tokens`` are display tokens with overhead; ``kept`` to
    ``inserted`` count messages; ``first_changed_message`` is the position in the before list of the first message not
    kept in place, None when every one is.  ``summary_source`` says who wrote what was inserted.
    """

    index: int
    request: int
    message: int | None
    gate: Gate
    before: tuple[Item, ...]
    after: tuple[Item, ...]
    before_tokens: int
    after_tokens: int
    kept: int
    edited: int
    dropped: int
    inserted: int
    first_changed_message: int | None
    summary_source: str


def make_event(  # noqa: PLR0917
    index: int,
    request: int,
    gate: Gate,
    before: tuple[Item, ...],
    after: tuple[Item, ...],
    before_tokens: int,
    after_tokens: int,
    summary_source: str,
) -> Event:
    """An event with its counts.

    Same id and content is kept, same id edited, only before dropped, only after inserted.
    """
    old = {item.id: item for item in before}
    new_ids = {item.id for item in after}
    standing = [item for item in after if item.id in old]
    edited = sum(changed(old[item.id], item) for item in standing)
    newest = next((i.message.index for i in reversed(before) if not i.inserted), None)
    return Event(
        index, request, newest, gate, before, after, before_tokens, after_tokens,
        kept=len(standing) - edited,
        edited=edited,
        dropped=sum(item.id not in new_ids for item in before),
        inserted=len(after) - len(standing),
        first_changed_message=first_changed(before, after),
        summary_source=summary_source,
    )  # fmt: skip


def changed(old: Item, new: Item) -> bool:
    """True when an edit changed the content of a message that kept its id."""
    return new.message is not old.message and new.message.blocks != old.message.blocks


def first_changed(before: Sequence[Item], after: Sequence[Item]) -> int | None:
    """Position in ``before`` of the first message not kept in place (the cache break), None if all are."""
    for position, item in enumerate(before):
        if position >= len(after) or after[position].id != item.id or changed(item, after[position]):
            return position
    return None
