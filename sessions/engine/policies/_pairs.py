"""Mends tool pairs that a list-shortening rule has split (policies 2.5, invariant 1).

Some originals drop a call and keep its result, or the reverse, and leave it to the provider to refuse the request.
What they would send is what ``orphans=keep`` replays; ``drop``, the default, takes the other half out too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.params import choice
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.policy import Item, View
    from sessions.engine.types import Block


def orphans_param() -> Any:
    """The parameter of policies whose originals may split tool pairs."""
    return choice(
        ("drop", "keep"),
        "Split tool pairs",
        "Drop: the half that is left goes too, so that the request can be sent; keep: as the original leaves it",
    )


class Halves(NamedTuple):
    """Ids of the calls that a list makes and of those that it answers."""

    calls: set[str]
    results: set[str]

    def add(self, items: Iterable[Item]) -> None:
        """Those of more messages."""
        found = [item.message.halves() for item in items]
        if found:
            calls, results = zip(*found, strict=True)
            self.calls.update(*calls)
            self.results.update(*results)


def halves(items: Iterable[Item]) -> Halves:
    """The halves of tool pairs in a list; blocks without an id are of none."""
    found = Halves(set(), set())
    found.add(items)
    return found


def mended(view: View, before: Sequence[Item] | Halves, after: Sequence[Item]) -> list[Item]:
    """``after`` without calls and results whose other half was in ``before`` and is not in it any more.

    A message of which nothing is left goes altogether.  ``before`` is looked through only where a half is alone.
    """
    found = [item.message.halves() for item in after]
    calls, results = set[str]().union(*[made for made, _ in found]), set[str]().union(*[got for _, got in found])
    alone = calls ^ results
    if not alone:
        return list(after)
    calls_before, results_before = before if isinstance(before, Halves) else halves(before)
    orphans = alone & ((calls_before & results) | (results_before & calls))
    if not orphans:
        return list(after)
    kept: list[Item] = []
    for item, (made, answered) in zip(after, found, strict=True):
        if orphans.isdisjoint(made) and orphans.isdisjoint(answered):
            kept.append(item)
            continue
        blocks = [block for block in item.message.blocks if not _is_orphan(block, orphans)]
        if blocks:
            kept.append(view.tools.rewrite(item, blocks))
    return kept


def _is_orphan(block: Block, orphans: set[str]) -> bool:
    return block.call_id in orphans and block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT)
