"""buzz-agent's handoff: the whole history becomes one summary, the live prompt stands again after it (seeds 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.params import when
from sessions.engine.policies._lists import apart
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.policy import Item, View

SUMMARY_OUTPUT = 8_192
"""Tokens kept free for the summary in its own prompt."""


def image_charge_param() -> Any:
    """What the estimator charges for an image."""
    return when(
        16_384,
        "Image charge",
        "What pressure_bytes charges for an image, beside its media type",
        "bytes",
        0,
        4_194_304,
        1_024,
    )


def hand_off(view: View, budget: int) -> list[Item]:
    """System messages, the handoff, the newest typed prompt; the list itself where there is nothing to hand over.

    The summary is written from the newest snippets that fit ``budget`` bytes; older items are dropped unread.  Raises
    SummaryFailed.
    """
    system, rest = apart(view.items)
    live = next((item for item in reversed(rest) if item.message.typed), None)
    dropped = [item for item in rest if item is not live]
    if not dropped:
        return list(view.items)
    read = newest_within(dropped, budget)
    omitted = len(dropped) - len(read)
    suffix = f"\n\n(… {omitted} older items omitted)" if omitted else ""
    made = view.summarize(read, suffix=suffix)
    return [*system, *made, *([live] if live else [])]


def prompt_budget(view: View) -> int:
    """Bytes of history that the summary's prompt holds: ``window − 8,192 − fixed prompt``, a byte for a token."""
    return max(0, view.window - SUMMARY_OUTPUT - view.overhead)


def newest_within(items: list[Item], budget: int) -> list[Item]:
    """The newest items whose snippets fit together; one at least."""
    left = budget
    first = len(items)
    while first:
        left -= snippet_bytes(items[first - 1])
        if left < 0 and first < len(items):
            break
        first -= 1
        if left < 0:
            break
    return items[first:]


def snippet_bytes(item: Item) -> int:
    """Bytes of an item in the summary's prompt: text, ``[image: type, N base64 bytes]``, tool calls as names only."""
    size = 0
    for block in item.message.blocks:
        for leaf in block.leaves():
            if leaf.kind is Kind.TOOL_USE:
                size += len(leaf.name)
            elif leaf.kind in (Kind.IMAGE, Kind.DOCUMENT) and leaf.media is not None:
                size += len(f"[image: {leaf.media.media_type}, {leaf.media.n_base64} base64 bytes]")
            else:
                size += leaf.n_bytes
    return size
