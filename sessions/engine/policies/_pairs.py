"""Mends tool pairs that a list-shortening rule has split (policies 2.5, invariant 1).

Some originals drop a call and keep its result, or the reverse, and leave it to the provider to refuse the request.
What they would send is what ``orphans=keep`` replays; ``drop``, the default, takes the other half out too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.params import param
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.policy import Item, View
    from sessions.engine.types import Block


def orphans_param() -> Any:
    """The parameter of policies whose originals may split tool pairs."""
    return param(
        "drop",
        label="Split tool pairs",
        help="Drop: the half that is left goes too, so that the request can be sent; keep: as the original leaves it",
        choices=("drop", "keep"),
    )


def mended(view: View, before: Sequence[Item], after: Sequence[Item]) -> list[Item]:
    """``after`` without calls and results whose other half was in ``before`` and is not in it any more.

    A message of which nothing is left goes altogether.
    """
    calls_before, results_before = _ids(before)
    calls, results = _ids(after)
    orphans = ((calls_before & results) - calls) | ((results_before & calls) - results)
    if not orphans:
        return list(after)
    kept: list[Item] = []
    for item in after:
        if not orphans & (item.message.call_ids() | item.message.result_ids()):
            kept.append(item)
            continue
        blocks = [block for block in item.message.blocks if not _is_orphan(block, orphans)]
        if blocks:
            kept.append(view.tools.rewrite(item, blocks))
    return kept


def _ids(items: Sequence[Item]) -> tuple[set[str], set[str]]:
    calls: set[str] = set()
    results: set[str] = set()
    for item in items:
        calls |= item.message.call_ids()
        results |= item.message.result_ids()
    return calls, results


def _is_orphan(block: Block, orphans: set[str]) -> bool:
    return block.kind in {Kind.TOOL_USE, Kind.TOOL_RESULT} and block.call_id in orphans
