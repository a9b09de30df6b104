"""buzz-agent's handoff: the whole history becomes one summary, the live prompt stands again after it (seeds 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.policies._lists import apart
from sessions.engine.policies.params import when
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from sessions.engine.policies.policy import Item, View
    from sessions.engine.transcript.types import Block

SUMMARY_OUTPUT = 8_192
"""Tokens kept free for the summary in its own prompt."""


def image_charge_param() -> Any:
    """What the estimator charges for an image."""
    return when(
        16_384, "Image charge", "What pressure_bytes charges for an image, beside its media type",
        "bytes", 0, 4_194_304, 1_024,
    )  # fmt: skip


def hand_off(view: View, budget: int) -> list[Item]:
    """System messages, the handoff, the newest typed prompt; the list itself where it is empty.

    The summary is written from the newest snippets that fit ``budget`` bytes, the live prompt's among them; other items
    are dropped unread.  Raises SummaryFailed.
    """
    system, rest = apart(view.items)
    live = next((item for item in reversed(rest) if item.message.typed), None)
    if not rest:
        return list(view.items)
    within = newest_within(rest, budget)
    read = [item for item in within if item is not live]
    omitted = len(rest) - len(within)
    suffix = f"\n\n(… {omitted} older items omitted)" if omitted else ""
    made = view.summarize(read, suffix=suffix)
    return [*system, *made, *([live] if live else [])]


def prompt_budget(view: View) -> int:
    """Bytes of history that the summary's prompt holds: ``window − 8,192 − fixed prompt``, a byte for a token."""
    return max(0, view.window - SUMMARY_OUTPUT - view.overhead)


def newest_within(items: list[Item], budget: int) -> list[Item]:
    """The items whose snippets fit together, the newest asked first; one that does not fit is passed over.

    Where the newest does not fit by itself it is cut to the budget, and nothing else fits.
    """
    left = budget
    kept: list[Item] = []
    for item in reversed(items):
        size = snippet_bytes(item)
        if size <= left:
            left -= size
            kept.append(item)
        elif not kept:
            return [item]
    return kept[::-1]


def snippet_bytes(item: Item) -> int:
    """Bytes of an item in the summary's prompt: a line a prompt, reply or result, with who says it in brackets.

    Images are ``[image: type, N base64 bytes]``, calls ``tool:`` and their name; thinking is left out.
    """
    blocks = item.message.blocks
    if item.message.role is Role.ASSISTANT:
        calls = sum(len(f" tool:{block.name}".encode()) for block in blocks if block.kind is Kind.TOOL_USE)
        return len("[assistant] \n") + calls + _text_bytes([b for b in blocks if b.kind is not Kind.TOOL_USE])
    results = [block for block in blocks if block.kind is Kind.TOOL_RESULT]
    size = sum(len("[tool_err] \n" if block.is_error else "[tool] \n") + _text_bytes([block]) for block in results)
    said = [block for block in blocks if block.kind is not Kind.TOOL_RESULT]
    return size + (len("[user] \n") + _text_bytes(said) if said or not results else 0)


def _text_bytes(blocks: list[Block]) -> int:
    size = 0
    for leaf in (leaf for block in blocks for leaf in block.leaves()):
        if leaf.media is not None and leaf.kind in (Kind.IMAGE, Kind.DOCUMENT):
            size += len(f"[image: {leaf.media.media_type}, {leaf.media.n_base64} base64 bytes]")
        elif leaf.kind is not Kind.THINKING:
            size += leaf.n_bytes
    return size
