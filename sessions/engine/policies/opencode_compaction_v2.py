"""opencode's compaction, version 2: one record holds the summary and recent messages as text (policies 8.4).

anomalyco/opencode ``packages/core/src/session/compaction.ts`` (read at 031a4a9c).  Last usage in full and an estimate
of what came after it against ``min(input limit − 20,000, context − max(min(output, 32,000), 20,000))``.  The newest
messages of 15,000 tokens stay, at least one, from the user message at or before the first of them on; where that would
be everything, the latest exchange; where that is everything too, nothing, or all that came since the record before.
They stay as text inside the record, each tool output cut to 2,000 characters, so no message is kept as it was.  It does
not run twice in a row.

One retry where the template's headings are missing changes the call alone and is not billed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.policies import _opencode
from sessions.engine.policies._lists import apart, used
from sessions.engine.policies.edits import cut_text, drop_media, edit_blocks, result_chars
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Policy, View
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.models.model_info import ModelInfo
    from sessions.engine.transcript.types import Block

TRUNCATED = "\n[truncated]"


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Limits of the model, buffer, and what stays."""

    buffer: int = when(20_000, "Buffer", "Kept free under the limit", "tokens", 0, 1_000_000, 1_000)
    max_output: int | None = _opencode.max_output_param()
    input_limit: int | None = _opencode.input_limit_param()
    keep_tokens: int = param(15_000, "Tokens kept as text", "8,000 in earlier releases", "tokens", 0, 1_000_000, 500)
    tool_output_chars: int = param(2_000, "Tool output in the text", "Each is cut to this", "chars", 0, 1_000_000, 100)


def threshold(params: Params, context: int, output: int, input_limit: int | None) -> int:
    """``min(input limit − buffer, context − max(output, buffer))`` tokens."""
    by_context = context - max(output, params.buffer)
    return by_context if input_limit is None else min(input_limit - params.buffer, by_context)


def limit(params: Params, window: int, model: ModelInfo) -> int:
    """The threshold for a window and a model."""
    output = _opencode.output_tokens(params.max_output, model)
    context, input_limit = _opencode.limits(params.input_limit, window, model)
    return threshold(params, context, output, input_limit)


def gate(params: Params, view: View) -> Gate:
    """Last usage and the estimate of what came after it ≥ the threshold, not twice in a row."""
    measure = used(view)
    twice = view.state.n_events > 0 and view.state.requests_since_event <= 1
    reason = "last usage and the estimate of what came after" + ("; not twice in a row" if twice else "")
    most = limit(params, view.window, view.model)
    return Gate(measure >= most and not twice, reason, measure, most, ">=", "tokens")


def start_of_tail(params: Params, view: View, items: Sequence[Item]) -> int:
    """Where the messages kept as text begin; the end of the list where none is kept."""
    talk = [n for n, item in enumerate(items) if not item.inserted and not item.message.summary]
    if not talk:
        return len(items)
    total, start = 0, len(talk)
    for k in reversed(range(len(talk))):
        total += as_text(params, view, items[talk[k]]).size
        if start < len(talk) and total > params.keep_tokens:
            break
        start = k
    while start > 0 and not items[talk[start]].message.typed:
        start -= 1
    if start > 0:
        return talk[start]
    latest = max((k for k, n in enumerate(talk) if items[n].message.typed), default=0)
    if latest > 0:
        return talk[latest]
    return talk[0] if len(talk) < len(items) else len(items)


def edit(params: Params, view: View) -> list[Item]:
    """One record in place of everything: the summary of the head, then the tail as text."""
    system, rest = apart(view.items)
    start = start_of_tail(params, view, rest)
    recent = sum(as_text(params, view, item).tokens for item in rest[start:])
    mode = "merge" if view.state.last_summary else "fresh"
    attached = (Draft(f"[{len(rest) - start} recent messages, as text]", recent),) if rest[start:] else ()
    return [*system, *view.summarize(rest[:start], attached, mode=mode)]


def as_text(params: Params, view: View, item: Item) -> Item:
    """A message as it weighs in the record: long tool outputs cut, media a word."""

    def change(block: Block) -> Block:
        if block.kind is not Kind.TOOL_RESULT or result_chars(block) <= params.tool_output_chars:
            return block
        return cut_text(block, params.tool_output_chars, TRUNCATED)

    return edit_blocks(view, drop_media(view, item, "[Attached media]"), change)


POLICY = Policy(
    name="opencode_compaction_v2", label="opencode compaction (V2)",
    source="anomalyco/opencode packages/core/src/session/compaction.ts",
    help="One record with a summary and the newest 15,000 tokens as text replaces the history, 20,000 under the limit.",
    estimator="opencode_v2",
    params=Params, gate=gate, edit=edit,
    threshold_param="buffer", tier="golden",
)  # fmt: skip
