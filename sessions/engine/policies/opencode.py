"""opencode's compactions (policies 8.1, 8.3, 8.4) and its prune (policies 8.2).

``opencode_compaction``: earlier releases are replayed by ``recent_cap`` and ``tail_turns``.  In
``opencode_compaction_v2`` no message is kept as it was; one retry where the template's headings are missing changes the
call alone and is not billed here.  ``opencode_prune`` runs when a turn ends, so a replay asks when the next prompt has
been typed; that prompt is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.policies._caveats import MAY_START_WITH_A_REPLY
from sessions.engine.policies._lists import apart, call_names, is_answer, last_spent, prompts, results_of, used
from sessions.engine.policies._looked import added_up
from sessions.engine.policies.edits import clear_places, cut_text, drop_media, edit_blocks, result_chars
from sessions.engine.policies.params import FINE_TOKENS, PROMPT, TOKENS, Told, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, ResultPlace, View, pair_safe_cut
from sessions.engine.transcript.types import Block, Kind

MAX_OUTPUT, MAX_RESERVED = 32_000, 20_000
INPUT_LIMITED = (272_000, 922_000)
"""Windows of GPT-5 models that are limits on the input alone, as models.dev lists them."""


def max_output_param() -> Any:
    """The model's maximum output."""
    return when(None, "Model's maximum output", "At most 32,000 of it count; none: the model's own", *TOKENS)


def input_limit_param() -> Any:
    """The model's limit on the input alone."""
    return when(
        None, "Model's input limit", "Where the model limits the input alone; none: known models; 0: no such limit",
        *PROMPT,
    )  # fmt: skip


def output_tokens(given: int | None, model: ModelInfo) -> int:
    """The model's maximum output, at most 32,000 tokens; 32,000 where it has none."""
    return min(given if given is not None else model.max_output, MAX_OUTPUT) or MAX_OUTPUT


def limits_of(given: int | None, window: int, model: ModelInfo) -> tuple[int, int | None]:
    """The context, and the limit on the input alone where there is one: given, or the window, the output beside it."""
    if given is not None:
        return window, given or None
    is_limit = model.input_limited or (model.family == "gpt" and window in INPUT_LIMITED)
    if window == model.window and is_limit:
        return window + model.max_output, window
    return window, None


def usable_of(window: int, max_output: int, input_tokens: int | None, reserved: int | None) -> int:
    """``input − reserved`` where the input is limited, else ``context − output``; reserved ``min(20,000, output)``."""
    if input_tokens is None:
        return window - max_output
    return input_tokens - (min(MAX_RESERVED, max_output) if reserved is None else reserved)


def tail_start(items: Sequence[Item], turns: int, budget: int) -> int | None:
    """Where the newest whole turns start that fit, or a part of one, never at a result; None: nothing is kept."""
    starts = prompts(items)
    total, keep = 0, None
    end = len(items)
    for start in reversed(starts[-turns:] if turns else []):
        size = sum(item.size for item in items[start:end])
        if total + size <= budget:
            total, keep, end = total + size, start, start
            continue
        split = _split(items, start, end, budget - total)
        keep = split if split is not None else keep
        break
    if keep is None:
        return None
    cut = pair_safe_cut(items, keep, len(items))
    return cut if 0 < cut < len(items) else None


def _split(items: Sequence[Item], start: int, end: int, budget: int) -> int | None:
    """The earliest message after the prompt from which the rest of the turn fits."""
    if budget <= 0:
        return None
    size = sum(item.size for item in items[start + 1 : end])
    for position in range(start + 1, end):
        if size <= budget and not is_answer(items[position]):
            return position
        size -= items[position].size
    return None


GO_ON = "Go on with the next steps, or stop and ask where it is unclear how to proceed."
GO_ON_TOKENS = 20
MEDIA = "[Attached media]"


@dataclass(frozen=True, slots=True)
class V1Params(Told):
    """Limits of the model, and what stays."""

    max_output: int | None = max_output_param()
    input_limit: int | None = input_limit_param()
    reserved: int | None = when(None, "Reserved", "Under an input limit; none: min(20,000, output)", *TOKENS)
    tail_turns: int = param(2, "Turns kept", "0: earlier releases, no tail", "turns", 0, 100)
    preserve_recent_tokens: int | None = param(
        None, "Tokens kept", "None: min(recent cap, max(2,000, a quarter of the usable))", *FINE_TOKENS
    )
    recent_cap: int = param(15_000, "Recent cap", "8,000 in earlier releases", *FINE_TOKENS)


def usable(params: V1Params, window: int, model: ModelInfo) -> int:
    """Tokens that may be used before it overflows."""
    output = output_tokens(params.max_output, model)
    context, limit = limits_of(params.input_limit, window, model)
    return usable_of(context, output, limit, params.reserved)


def v1_gate(params: V1Params, view: View) -> Gate:
    """Input, cache and output of the last reply ≥ usable; without usage the estimate of the whole context."""
    measure, limit = last_spent(params, view, view.size + view.overhead), usable(params, view.window, view.model)
    fires = measure >= limit or view.rejected
    reason = "tokens of the last reply" if measure >= limit or not fires else "the provider refuses: over the window"
    return Gate(fires, reason, measure, limit, ">=", "tokens")


def recent_budget(params: V1Params, limit: int) -> int:
    """Tokens of the tail."""
    if params.preserve_recent_tokens is not None:
        return params.preserve_recent_tokens
    return min(params.recent_cap, max(2_000, limit // 4))


def v1_edit(params: V1Params, view: View) -> list[Item]:
    """Summary, tail, and a prompt to go on, or the last prompt again after a refusal."""
    system, rest = apart(view.items)
    limit = usable(params, view.window, view.model)
    again: list[Item] = []
    if view.rejected and (typed := prompts(rest)) and typed[-1] > 0:
        again = [drop_media(view, rest[typed[-1]], lambda _: MEDIA)]
        head, tail = [item for n, item in enumerate(rest) if n != typed[-1]], list[Item]()
    else:
        start = tail_start(rest, params.tail_turns, recent_budget(params, limit))
        cut = len(rest) if start is None else start
        head, tail = rest[:cut], rest[cut:]
    if not head:
        return list(view.items)
    mode = "merge" if view.state.last_summary else "fresh"
    summary = view.summarize(head, mode=mode, role="assistant")
    last = again or [view.tools.draft(Draft(GO_ON, GO_ON_TOKENS, GO_ON))]
    return [*system, *summary, *tail, *last]


V1 = Policy(
    name="opencode_compaction", label="opencode compaction (V1)",
    source="anomalyco/opencode packages/opencode/src/session/overflow.ts, compaction.ts",
    help="Summarises all but the newest two turns when the last reply's tokens reach what is usable.",
    estimator="opencode",
    params=V1Params, gate=v1_gate, edit=v1_edit,
    threshold_param="reserved", tier="golden", caveats=(MAY_START_WITH_A_REPLY,),
)  # fmt: skip


TRUNCATED = "\n[truncated]"


@dataclass(frozen=True, slots=True)
class V2Params(Told):
    """Limits of the model, buffer, and what stays."""

    buffer: int = when(20_000, "Buffer", "Kept free under the limit", *TOKENS)
    max_output: int | None = max_output_param()
    input_limit: int | None = input_limit_param()
    keep_tokens: int = param(15_000, "Tokens kept as text", "8,000 in earlier releases", *FINE_TOKENS)
    tool_output_chars: int = param(2_000, "Tool output in the text", "Each is cut to this", "chars", 0, 1_000_000, 100)


def threshold(params: V2Params, context: int, output: int, input_limit: int | None) -> int:
    """``min(input limit − buffer, context − max(output, buffer))`` tokens."""
    by_context = context - max(output, params.buffer)
    return by_context if input_limit is None else min(input_limit - params.buffer, by_context)


def limit(params: V2Params, window: int, model: ModelInfo) -> int:
    """The threshold for a window and a model."""
    output = output_tokens(params.max_output, model)
    context, input_limit = limits_of(params.input_limit, window, model)
    return threshold(params, context, output, input_limit)


def v2_gate(params: V2Params, view: View) -> Gate:
    """Last usage and the estimate of what came after it ≥ the threshold, not twice in a row."""
    measure = used(view)
    twice = view.state.n_events > 0 and view.state.requests_since_event <= 1
    reason = "last usage and the estimate of what came after" + ("; not twice in a row" if twice else "")
    most = limit(params, view.window, view.model)
    return Gate(measure >= most and not twice, reason, measure, most, ">=", "tokens")


def start_of_tail(params: V2Params, view: View, items: Sequence[Item]) -> int:
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


def v2_edit(params: V2Params, view: View) -> list[Item]:
    """One record in place of everything: the summary of the head, then the tail as text."""
    system, rest = apart(view.items)
    start = start_of_tail(params, view, rest)
    recent = sum(as_text(params, view, item).tokens for item in rest[start:])
    mode = "merge" if view.state.last_summary else "fresh"
    attached = (Draft(f"[{len(rest) - start} recent messages, as text]", recent),) if rest[start:] else ()
    return [*system, *view.summarize(rest[:start], attached, mode=mode)]


def as_text(params: V2Params, view: View, item: Item) -> Item:
    """A message as it weighs in the record: long tool outputs cut, media a word."""

    def change(block: Block) -> Block:
        if block.kind is not Kind.TOOL_RESULT or result_chars(block) <= params.tool_output_chars:
            return block
        return cut_text(block, params.tool_output_chars, TRUNCATED)

    return edit_blocks(view, drop_media(view, item, lambda _: MEDIA), change)


V2 = Policy(
    name="opencode_compaction_v2", label="opencode compaction (V2)",
    source="anomalyco/opencode packages/core/src/session/compaction.ts",
    help="One record with a summary and the newest 15,000 tokens as text replaces the history, 20,000 under the limit.",
    estimator="opencode_v2",
    params=V2Params, gate=v2_gate, edit=v2_edit,
    threshold_param="buffer", tier="golden",
)  # fmt: skip


MARKER = "[Old tool result content cleared]"


@dataclass(frozen=True, slots=True)
class PruneParams(Told):
    """What is protected and the least that is worth it."""

    protect: int = when(40_000, "Protected", "Newest tool outputs up to this stay", *TOKENS)
    minimum: int = when(20_000, "Minimum, exceeded", "Prunes only when more than this is marked", *TOKENS)
    turns: int = param(2, "Turns skipped", "Newest turns whose outputs are not looked at", "turns", 0, 100)
    protected_tools: str = param("skill", "Never prune", "Names of tools", words=True)


def prune_gate(params: PruneParams, view: View) -> Gate:
    """At a turn's end: tokens of the marked outputs > the minimum."""
    if not view.newest_typed:
        return Gate(False, "asked when a turn ends", 0, params.minimum, ">", "tokens")
    # All outputs since the list was made, pruned ones too.
    outputs = added_up(view, "outputs", lambda items: sum(_size(item, b) for item in items for b in results_of(item)))
    found = marked(params, view) if outputs > params.protect else []
    size = sum(_size(view.items[place.position], place.block) for place in found)
    return Gate.over(size, params.minimum, "marked tool outputs")


def marked(params: PruneParams, view: View) -> list[ResultPlace]:
    """The outputs to prune, newest first."""
    names = call_names(view)
    protected = set(params.protected_tools.split())
    end = len(view.items) - 1
    pruned: set[str] = view.state.memory.get("pruned", set())
    n_turns, total = 0, 0
    found: list[ResultPlace] = []
    for position in reversed(range(end)):
        item = view.items[position]
        n_turns += item.message.typed
        if n_turns < params.turns:
            continue
        if item.message.summary:
            break
        for block in reversed(list(results_of(item))):
            if names.get(block.call_id) in protected:
                continue
            if item.edited and block.call_id in pruned:
                return found
            total += _size(item, block)
            if total > params.protect:
                found.append(ResultPlace(position, block))
    return found


def _size(item: Item, block: Block) -> int:
    """Tokens of an output in the trigger's unit; of one beside others in its message by its characters / 4."""
    if len(item.message.blocks) == 1:
        return item.size
    return (2 * result_chars(block) + 4) // 8


def prune_edit(params: PruneParams, view: View) -> dict[int, Item]:
    """Marked outputs become a marker, their attachments go."""
    found = marked(params, view)
    view.state.memory.setdefault("pruned", set()).update(block.call_id for _, block in found)
    return clear_places(view, found, MARKER)


PRUNE = Policy(
    name="opencode_prune", label="opencode prune",
    source="anomalyco/opencode packages/opencode/src/session/compaction.ts (prune)",
    help="When a turn ends, clears tool outputs beyond the newest 40,000 tokens if more than 20,000 would go.",
    estimator="opencode",
    params=PruneParams, layers=(Layer("prune", "Prune", prune_gate, prune_edit, cheap=True),),
    summary_calls=False, threshold_param="minimum", tier="golden",
)  # fmt: skip

POLICIES = (V1, V2, PRUNE)
