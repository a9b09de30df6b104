"""Gemini CLI's tool output masking: older outputs become a preview and a file name (policies 7.2).

google-gemini/gemini-cli ``packages/core/src/context/toolOutputMaskingService.ts`` (0.61.0).  Newest first, tool
outputs that are not masked yet count against 50,000 tokens; the one that crosses it and all older ones may be
masked.  Only when those weigh ≥ 30,000 are they: each becomes its first and last 250 characters and the name of a
file, where that is smaller.  Spared: the last message of the history, skills, questions to the user, plan mode.

The history ends with the last reply: what is about to be sent is not in it yet.  Of a shell's output the original keeps
the first and last ten lines; here it is previewed like any other.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.policies._gemini import n_history, quarter_tokens
from sessions.engine.policies._looked import called_names
from sessions.engine.policies.edits import cut_text, edit_blocks, result_chars
from sessions.engine.policies.params import choice, when
from sessions.engine.policies.policy import Gate, Layer, Policy, View
from sessions.engine.transcript.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessions.engine.policies.policy import Item
    from sessions.engine.transcript.types import Block

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

    protect: int = when(50_000, "Protect", "Newest tool outputs that stay", "tokens", 0, 10_000_000, 1_000)
    least: int = when(
        30_000, "Mask at least", "Older outputs must weigh this much together", "tokens", 0, 10_000_000, 1_000
    )
    protect_latest: str = choice(("on", "off"), "Spare the last message", "Of the history")


class Output(NamedTuple):
    """A tool output that is not masked: where, whose, its weight in tokens, whether masked it weighs less."""

    position: int
    call_id: str
    tokens: int
    shrinks: bool


class PrunableOutputs(NamedTuple):
    """Outputs that may be masked, newest first, and their weight in tokens."""

    outputs: list[Output]
    tokens: int


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


def open_outputs(params: Params, view: View) -> OpenOutputs:
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
    names = called_names(view, stop)
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


def n_prunable(params: Params, held: OpenOutputs) -> tuple[int, int]:
    """How many of the oldest outputs lie beyond the protected ones, and their weight."""
    n = bisect_left(held.sums, held.sums[-1] - params.protect)
    return n, held.sums[n]


def prunable(params: Params, view: View) -> PrunableOutputs:
    """What lies beyond the protected outputs."""
    held = open_outputs(params, view)
    n, tokens = n_prunable(params, held)
    return PrunableOutputs(held.outputs[:n][::-1], tokens)


def gate(params: Params, view: View) -> Gate:
    """Prunable outputs weigh at least the minimum, and one of them would become smaller."""
    held = open_outputs(params, view)
    n, tokens = n_prunable(params, held)
    fires = n > 0 and tokens >= params.least and any(output.shrinks for output in islice(held.outputs, n))
    return Gate(fires, "prunable tool output", tokens, params.least, ">=", "tokens")


def edit(params: Params, view: View) -> dict[int, Item]:
    """Mask those that become smaller."""
    by_position: dict[int, set[str]] = {}
    for output in prunable(params, view).outputs:
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
    def change(block: Block) -> Block:
        if block.kind is not Kind.TOOL_RESULT or block.call_id not in calls:
            return block
        return cut_text(block, PREVIEW, FRAME)

    return view.tools.once(item, POLICY.name, calls, lambda: edit_blocks(view, item, change))


POLICY = Policy(
    name="gemini_masking", label="Gemini CLI output masking",
    source="google-gemini/gemini-cli toolOutputMaskingService 0.61.0",
    help="Masks older tool outputs once they are worth 30,000 tokens.", estimator="gemini_cli",
    params=Params, layers=(Layer("gemini_masking", "Mask outputs", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="least", tier="differential",
)  # fmt: skip
