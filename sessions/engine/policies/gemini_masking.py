"""Gemini CLI's tool output masking: older outputs become a preview and a file name (policies 7.2).

google-gemini/gemini-cli ``packages/core/src/context/toolOutputMaskingService.ts`` (0.61.0).  Newest first, tool
outputs that are not masked yet count against 50,000 tokens; the one that crosses it and all older ones may be
masked.  Only when those weigh ≥ 30,000 are they: each becomes its first and last 250 characters and the name of a
file, where that is smaller.  Spared: the last message of the history, skills, questions to the user, plan mode.

The history ends with the last reply: what is about to be sent is not in it yet.  Of a shell's output the original keeps
the first and last ten lines; here it is previewed like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.edits import cut_text, edit_blocks
from sessions.engine.params import param
from sessions.engine.policies._gemini import n_history, quarter_tokens, text_chars
from sessions.engine.policies._looked import called_names, looked, looked_at
from sessions.engine.policy import Gate, Layer, Policy, View
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.policy import Item
    from sessions.engine.types import Block

EXEMPT = frozenset({"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"})
PATH = "/tmp/gemini/tool-outputs/session-a/a-tool-output.txt"  # noqa: S108 - its length alone is used
FRAME = (
    "<tool_output_masked>\n\n... [TRUNCATED] ...\n\n\nOutput too large. Full output available at: "
    f"{PATH}\n</tool_output_masked>"
)
PREVIEW = 500
PRETTY = len('{\n  "output": ""\n}')
ESCAPES = 12
"""Line breaks and quotes of the masked text that JSON escapes."""


@dataclass(frozen=True, slots=True)
class Params:
    """What is protected, and what it must be worth."""

    protect: int = param(
        50_000, label="Protect", help="Newest tool outputs that stay", unit="tokens", group="when", low=0,
        high=10_000_000, step=1_000,
    )  # fmt: skip
    least: int = param(
        30_000, label="Mask at least", help="Older outputs must weigh this much together", unit="tokens", group="when",
        low=0, high=10_000_000, step=1_000,
    )  # fmt: skip
    protect_latest: str = param("on", label="Spare the last message", help="Of the history", choices=("on", "off"))


class Prunable(NamedTuple):
    """Outputs that may be masked: position and call id, newest first; their weight in tokens; names by call id."""

    outputs: list[tuple[int, str]]
    tokens: int
    names: Mapping[str, str]


def prunable(params: Params, view: View) -> Prunable:
    """What lies beyond the protected outputs."""
    stop = n_history(view.items) - (params.protect_latest == "on")
    names = called_names(view, stop)
    masked = view.state.memory.get("masked", ())
    frontier = looked_at(view, "masked_before")
    oldest = max(frontier, stop)
    found: list[tuple[int, str]] = []
    total = counted = 0
    for position in reversed(view.results):
        if position < frontier:
            break
        if position >= stop:
            continue
        item = view.items[position]
        for block in reversed(item.message.blocks):
            if block.kind is not Kind.TOOL_RESULT or names.get(block.call_id) in EXEMPT:
                continue
            if item.edited and block.call_id in masked:
                continue
            oldest = position
            tokens = quarter_tokens(block, names) // 4
            counted += tokens
            if counted > params.protect:
                found.append((position, block.call_id))
                total += tokens
    looked(view, "masked_before", oldest)
    return Prunable(found, total, names)


def gate(params: Params, view: View) -> Gate:
    """Prunable outputs weigh at least the minimum, and one of them would become smaller."""
    found = prunable(params, view)
    fires = bool(found.outputs) and found.tokens >= params.least
    fires = fires and any(_smaller(view, found.names, position, call_id) for position, call_id in found.outputs)
    return Gate(fires, "prunable tool output", found.tokens, params.least, ">=", "tokens")


def edit(params: Params, view: View) -> dict[int, Item]:
    """Mask those that become smaller."""
    by_position: dict[int, set[str]] = {}
    found = prunable(params, view)
    for position, call_id in found.outputs:
        if _smaller(view, found.names, position, call_id):
            by_position.setdefault(position, set()).add(call_id)
    view.state.memory.setdefault("masked", set()).update(*by_position.values())
    return {position: _mask(view, view.items[position], calls) for position, calls in by_position.items()}


def _smaller(view: View, names: Mapping[str, str], position: int, call_id: str) -> bool:
    return any(
        b.call_id == call_id and saves(text_chars(b), quarter_tokens(b, names) - text_chars(b))
        for b in view.items[position].message.blocks
    )


def saves(n_chars: int, n_frame: int) -> bool:
    """Whether a masked output weighs less; ``n_frame`` characters stand around it either way."""
    made = len(FRAME) + PREVIEW + ESCAPES
    return n_chars + PRETTY > PREVIEW and (n_frame + n_chars) // 4 > (n_frame + made) // 4


def _mask(view: View, item: Item, calls: set[str]) -> Item:
    def change(block: Block) -> Block:
        if block.kind is not Kind.TOOL_RESULT or block.call_id not in calls:
            return block
        return cut_text(block, PREVIEW, FRAME)

    return edit_blocks(view, item, change)


POLICY = Policy(
    name="gemini_masking",
    label="Gemini CLI output masking",
    source="google-gemini/gemini-cli toolOutputMaskingService 0.61.0",
    help="Masks older tool outputs once they are worth 30,000 tokens.",
    estimator="gemini_cli",
    params=Params,
    layers=(Layer("gemini_masking", "Mask outputs", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="least",
    tier="differential",
)
