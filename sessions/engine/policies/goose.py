"""goose: the whole conversation becomes a summary at 80% of the limit (policies 11.8).

block/goose ``crates/goose/src/context_mgmt/mod.rs`` (``DEFAULT_COMPACTION_THRESHOLD``).  Fires when the session's
tokens over the limit exceed the threshold; a threshold of 0 and below, or 1 and above, switches it off.  Every message
leaves the model's view; in its place stand the summary (user), an assistant message that says to go on, and the text
of the newest user message that holds text alone.  In what is summarised an image is "[image: media type]".

Where the summary call itself overflows, tool responses are left out of it from the middle (0, 10, 20, 50, 100%); that
changes the call alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.engine.policies._lists import apart, has_tools
from sessions.engine.policies.edits import edit_blocks, marker, text_only
from sessions.engine.policies.params import Told, when
from sessions.engine.policies.policy import Draft, Gate, Item, Policy, View
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Block

GO_ON = "The context was compacted; the message before this one is a summary. Continue from it."
GO_ON_TOKENS = 45


@dataclass(frozen=True, slots=True)
class Params(Told):
    """The threshold."""

    threshold: float = when(
        0.8, "Threshold, exceeded", "Share of the limit; 0 and 1 switch it off", "of the window", 0, 1, 0.05
    )


def most(params: Params, window: int) -> int:
    """The share of the limit, in whole tokens, down."""
    return int(window * params.threshold)


def gate(params: Params, view: View) -> Gate:
    """Tokens of the last reply (input, cache, output) over the limit > the threshold; without usage an estimate."""
    measure = view.size if view.usage is None else view.usage.spent
    limit = most(params, view.window)
    on = 0 < params.threshold < 1
    return Gate(on and measure > limit, "tokens of the session" if on else "off", measure, limit, ">", "tokens")


def edit(_params: object, view: View) -> list[Item]:
    """Summary, word to go on, and the newest text-only user message again."""
    system, rest = apart(view.items)
    if not rest:
        return list(view.items)
    last = next((item for item in reversed(rest) if _is_text_only(item)), None)
    summary = view.summarize([edit_blocks(view, item, _described) for item in rest])
    go_on = view.tools.draft(Draft(GO_ON, GO_ON_TOKENS, GO_ON, role="assistant"))
    return [*system, *summary, go_on, *([] if last is None else [text_only(view, last)])]


def _described(block: Block) -> Block:
    """An image as the words that the summary call is given for it; inside a result too."""
    if block.kind is Kind.IMAGE and block.media is not None:
        return marker(f"[image: {block.media.media_type}]")
    parts = tuple(_described(part) for part in block.parts)
    return block if parts == block.parts else replace(block, parts=parts)


def _is_text_only(item: Item) -> bool:
    message = item.message
    if message.role is not Role.USER or message.summary or has_tools(item):
        return False
    return any(block.kind is Kind.TEXT for block in message.blocks)


POLICY = Policy(
    name="goose", label="goose auto-compact",
    source="block/goose crates/goose/src/context_mgmt/mod.rs",
    help="Replaces the conversation by a summary and the last user text when over 80% of the window is used.",
    params=Params, gate=gate, edit=edit,
    threshold_param="threshold", tier="golden",
)  # fmt: skip
