"""Gemini CLI's chat compression (policies 7.1) and output masking (policies 7.2).

Lengths are exact for text without characters that JSON escapes.  What the CLI looks at is the history up to the last
reply: what is about to be sent stays.  Of a shell's output the original keeps the first and last ten lines; here it is
masked like any other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from sessions.engine.policies._lists import (
    ASSISTANT,
    TOOL,
    USER,
    call_names,
    has_calls,
    last_assistant,
    role_of,
    tool_names,
)
from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies.edits import cut_text, edit_results, marker, result_chars
from sessions.engine.policies.params import MANY_TOKENS, Told, choice, param, when
from sessions.engine.policies.policy import Draft, Edited, EditFailed, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind

USER_FRAME, MODEL_FRAME = len('{"role":"user","parts":[]}'), len('{"role":"model","parts":[]}')
TEXT_FRAME = len('{"text":""}')
CALL_FRAME = len('{"functionCall":{"id":"","name":"","args":}}')
RESPONSE_FRAME = len('{"functionResponse":{"id":"","name":"","response":{"output":""}}}')
OUTPUT_FRAME = len('{"output":""}')


def n_history(items: Sequence[Item]) -> int:
    """How many messages the history has: all up to the last reply."""
    return last_assistant(items) + 1


def json_length(item: Item, names: Mapping[str, str]) -> int:
    """Characters of a message as JSON."""
    parts = [_part_length(block, names) for block in item.message.blocks]
    frame = MODEL_FRAME if role_of(item) == ASSISTANT else USER_FRAME
    return frame + sum(parts) + max(0, len(parts) - 1)


def _part_length(block: Block, names: Mapping[str, str]) -> int:
    if block.kind is Kind.TOOL_USE:
        return CALL_FRAME + len(block.call_id) + len(block.name) + block.n_chars
    if block.kind is Kind.TOOL_RESULT:
        return RESPONSE_FRAME + len(block.call_id) + len(names.get(block.call_id, "")) + result_chars(block)
    return TEXT_FRAME + block.n_chars


def quarter_tokens(block: Block, names: Mapping[str, str]) -> int:
    """The estimate of a part, in quarters of a token."""
    if block.kind is Kind.TOOL_RESULT:
        return len(names.get(block.call_id, "")) + OUTPUT_FRAME + result_chars(block)
    return block.n_chars if block.kind is Kind.TEXT else _part_length(block, names)


ACK = "Got it. Thanks for the additional context!"
CUT_FRAME = (
    "Output too large. Showing first {:,} and last {:,} characters. For full output see: {}\n\n\n... [{:,} characters "
    "omitted] ...\n\n"
)
COMPRESSION_PATH = "/tmp/gemini/tool-outputs/a-tool-output.txt"  # noqa: S108 - its length alone is used


@dataclass(frozen=True, slots=True)
class CompressionParams(Told):
    """Trigger, split and the budget of tool responses."""

    threshold: float = when(
        0.5, "Threshold", "Share of the limit; 0.7 in older releases", "of the window", 0.0001, 1, 0.01
    )
    preserve: float = param(0.3, "Preserve", "Share of the history that stays", "of the history", 0.01, 0.99, 0.01)
    response_budget: int = param(50_000, "Budget of tool responses", "Newest ones stay whole within it", *MANY_TOKENS)
    response_chars: int = param(
        40_000, "Cut responses to", "What of a response over the budget stays", "characters", 100, 10_000_000, 1_000
    )


def split(lengths: Sequence[int], kinds: Sequence[str], fraction: float, *, all_safe: bool) -> int:
    """How many messages are compressed; ``kinds`` are roles, ``all_safe``: the last is a reply without calls."""
    target, before, last = sum(lengths) * fraction, 0, 0
    for position, (length, kind) in enumerate(zip(lengths, kinds, strict=True)):
        if kind == USER:
            if before >= target:
                return position
            last = position
        before += length
    return len(lengths) if all_safe else last


def used(view: View) -> int:
    """Prompt tokens last reported; without usage the list's estimate."""
    return view.size + view.overhead if view.usage is None else view.usage.input


def compression_gate(params: CompressionParams, view: View) -> Gate:
    """The last prompt at or over the share of the limit, and something to compress."""
    limit = ceil(params.threshold * view.window)
    fires = used(view) >= limit and n_history(view.items) > 0
    if fires and not view.state.memory.get("inflated"):
        fires = _splits(view)
    return Gate(fires, "prompt tokens last reported", used(view), limit, ">=", "tokens")


def compression_edit(params: CompressionParams, view: View) -> Edited:
    """Snapshot, reply and rest; responses alone after a compression that inflated."""
    n = n_history(view.items)
    history = _cut_history(params, view)
    if view.state.memory.get("inflated"):
        if _tokens(history) >= used(view):
            raise EditFailed("cut tool responses do not make it smaller")
        return {p: new for p, new in enumerate(history) if new is not view.items[p]}
    names, last = tool_names(history), history[-1]
    position = split(
        [json_length(item, names) for item in history], [role_of(item) for item in history], 1 - params.preserve,
        all_safe=role_of(last) == ASSISTANT and not has_calls(last),
    )  # fmt: skip
    ack = Draft(ACK, marker(ACK).n_tokens, ACK, role=ASSISTANT)
    made = [*view.summarize(history[:position], (ack,), calls=2), *history[position:]]
    if _tokens(made) > used(view):
        view.state.memory["inflated"] = True
        raise EditFailed("compression inflated the history")
    return [*made, *view.items[n:]]


def _splits(view: View) -> bool:
    """Whether a split has anything before it: the history may end there, or a later message is the user's.

    Cutting responses changes no role; what was looked through for a user's message is not looked through again.
    """
    n = n_history(view.items)
    if not has_calls(view.items[n - 1]):
        return True
    start = max(1, looked_at(view, "no_user_before"))
    found = next((p for p in range(start, n) if role_of(view.items[p]) == USER), n)
    looked(view, "no_user_before", found)
    return found < n


def _tokens(items: Sequence[Item]) -> int:
    names: Mapping[str, str] = tool_names(items)
    return sum(quarter_tokens(block, names) for item in items for block in item.message.blocks) // 4


def _cut_history(params: CompressionParams, view: View) -> list[Item]:
    """The history, tool responses beyond the budget cut."""
    history = view.items[: n_history(view.items)]
    counted = 0
    for position in reversed(range(len(history))):
        item = history[position]
        if role_of(item) != TOOL:
            continue
        blocks = list(item.message.blocks)
        for at in reversed(range(len(blocks))):
            if blocks[at].kind is not Kind.TOOL_RESULT:
                continue
            n_chars = result_chars(blocks[at])
            if counted + n_chars // 4 > params.response_budget and n_chars > params.response_chars:
                head = int(params.response_chars * 0.2)
                kept = params.response_chars
                frame = CUT_FRAME.format(head, kept - head, COMPRESSION_PATH, n_chars - kept)
                blocks[at] = cut_text(blocks[at], kept, frame)
                n_chars = kept + len(frame)
            counted += n_chars // 4
        if blocks != list(item.message.blocks):
            history[position] = view.tools.rewrite(item, blocks)
    return history


COMPRESSION = Policy(
    name="gemini_compression", label="Gemini CLI compression",
    source="google-gemini/gemini-cli chatCompressionService 0.61.0",
    help="At half of the limit, the older 70% of the history becomes a snapshot.", estimator="gemini_cli",
    params=CompressionParams, gate=compression_gate, edit=compression_edit,
    threshold_param="threshold", tier="differential",
)  # fmt: skip


EXEMPT = frozenset({"activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"})
MASKING_PATH = "/tmp/gemini/tool-outputs/session-a/a-tool-output.txt"  # noqa: S108 - its length alone is used
FRAME = (
    "<tool_output_masked>\n\n... [TRUNCATED] ...\n\n\nOutput too large. Full output available at: "
    f"{MASKING_PATH}\n</tool_output_masked>"
)
PREVIEW = 500
PRETTY = len('{\n  "output": ""\n}')
ESCAPES = 12
"""Line breaks and quotes of the masked text that JSON escapes."""


@dataclass(frozen=True, slots=True)
class MaskingParams:
    """What is protected, and what it must be worth."""

    protect: int = when(50_000, "Protect", "Newest tool outputs that stay", *MANY_TOKENS)
    least: int = when(30_000, "Mask at least", "Older outputs must weigh this much together", *MANY_TOKENS)
    protect_latest: str = choice(("on", "off"), "Spare the last message", "Of the history")


class Output(NamedTuple):
    """A tool output that is not masked: where, whose, its weight in tokens, whether masked it weighs less."""

    position: int
    call_id: str
    tokens: int
    shrinks: bool


@dataclass(slots=True)
class OpenOutputs:
    """The outputs of a list that are not masked, oldest first, kept from request to request.

    ``n_results`` of ``View.results`` were looked at; ``sums[n]`` is what the first n outputs weigh.  ``dirty``: an edit
    masked some.
    """

    items: list[Item]
    n_results: int = 0
    outputs: list[Output] = field(default_factory=list)
    sums: list[int] = field(default_factory=lambda: [0])
    dirty: bool = False


def open_outputs(params: MaskingParams, view: View) -> OpenOutputs:
    """What may still be masked, of the history as it stands; looks at what is new."""
    stop = n_history(view.items) - (params.protect_latest == "on")
    held: OpenOutputs | None = view.state.memory.get("open")
    if held is None or held.items is not view.items:
        held = view.state.memory["open"] = OpenOutputs(view.items)
    if held.dirty:
        masked = view.state.memory["masked"]
        held.outputs = [o for o in held.outputs if not (view.items[o.position].edited and o.call_id in masked)]
        held.sums = list(accumulate((output.tokens for output in held.outputs), initial=0))
        held.dirty = False
    names = call_names(view)
    while held.n_results < len(view.results) and view.results[held.n_results] < stop:
        found = _outputs(view, view.results[held.n_results], names)
        held.outputs += found
        for output in found:
            held.sums.append(held.sums[-1] + output.tokens)
        held.n_results += 1
    return held


def _outputs(view: View, position: int, names: Mapping[str, str]) -> list[Output]:
    item = view.items[position]
    masked = view.state.memory.get("masked", ()) if item.edited else ()
    made: list[Output] = []
    for block in item.message.blocks:
        if block.kind is Kind.TOOL_RESULT and block.call_id not in masked and names.get(block.call_id) not in EXEMPT:
            quarters, n_chars = quarter_tokens(block, names), result_chars(block)
            made.append(Output(position, block.call_id, quarters // 4, saves(n_chars, quarters - n_chars)))
    return made


def prunable(params: MaskingParams, view: View) -> tuple[list[Output], int]:
    """What lies beyond the protected outputs, newest first, and its weight in tokens."""
    held = open_outputs(params, view)
    n = bisect_left(held.sums, held.sums[-1] - params.protect)
    return held.outputs[:n][::-1], held.sums[n]


def masking_gate(params: MaskingParams, view: View) -> Gate:
    """Prunable outputs weigh at least the minimum, and one of them would become smaller."""
    found, tokens = prunable(params, view)
    fires = tokens >= params.least and any(output.shrinks for output in found)
    return Gate(fires, "prunable tool output", tokens, params.least, ">=", "tokens")


def masking_edit(params: MaskingParams, view: View) -> dict[int, Item]:
    """Mask those that become smaller."""
    by_position: dict[int, set[str]] = {}
    for output in prunable(params, view)[0]:
        if output.shrinks:
            by_position.setdefault(output.position, set()).add(output.call_id)
    view.state.memory.setdefault("masked", set()).update(*by_position.values())
    view.state.memory["open"].dirty = True
    return {position: _mask(view, view.items[position], calls) for position, calls in by_position.items()}


def saves(n_chars: int, n_frame: int) -> bool:
    """Whether a masked output weighs less; ``n_frame`` characters stand around it either way."""
    made = len(FRAME) + PREVIEW + ESCAPES
    return n_chars + PRETTY > PREVIEW and (n_frame + n_chars) // 4 > (n_frame + made) // 4


def _mask(view: View, item: Item, calls: set[str]) -> Item:
    def make() -> Item:
        return edit_results(view, item, calls, lambda block: cut_text(block, PREVIEW, FRAME))

    return view.tools.once(item, MASKING.name, calls, make)


MASKING = Policy(
    name="gemini_masking", label="Gemini CLI output masking",
    source="google-gemini/gemini-cli toolOutputMaskingService 0.61.0",
    help="Masks older tool outputs once they are worth 30,000 tokens.", estimator="gemini_cli",
    params=MaskingParams, layers=(Layer("gemini_masking", "Mask outputs", masking_gate, masking_edit, cheap=True),),
    summary_calls=False, threshold_param="least", tier="differential",
)  # fmt: skip

POLICIES = (COMPRESSION, MASKING)
