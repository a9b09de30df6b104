"""What the Messages API and its SDK do to a context (policies 5).

``anthropic_clear_thinking`` (policies 5.2): models that do not keep thinking drop that of earlier turns by themselves:
a recording of one shows it already, so nothing fires there.  A larger ``keep`` would bring thinking back that the
recorded contexts lack; a replay cannot.

``anthropic_clear_tool_uses`` (policies 5.1): the trigger is compared with the context as it would be uncleared.  What
is not documented is a parameter; of the placeholder's text ours has the length only.  Claude Code uses it under other
numbers (policies 4.7).

``anthropic_compact`` (policies 5.3).

``anthropic_sdk_compaction`` (policies 5.4): the tool calls of the last response are skipped, so the results that the
recording holds for them go too.  A prompt typed after the response is no part of the runner's history yet and stays.
Without usage there is nothing to compare: the context of the request stands in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions.engine.policies._lists import apart, call_names, is_answer, last_assistant, last_spent
from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies.edits import clear_results, drop_thinking, edit_blocks, result_tokens, thinks, with_text
from sessions.engine.policies.params import FEW_MESSAGES, FINE_TOKENS, PROMPT, Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, ResultPlace, View, pair_safe_cut
from sessions.engine.transcript.types import Block, Kind


@dataclass(frozen=True, slots=True)
class ThinkingParams(Told):
    """The edit's one field."""

    keep: int | None = when(
        None, "Keep thinking of", "Newest turns with thinking that stay; none: the model's default, all",
        "turns", 1, 1_000,
    )  # fmt: skip


def thinking_turns(view: View) -> list[list[int]]:
    """Positions of messages with thinking, a list per turn; looks only at what is new (``memory["turns"]``)."""
    memory, start = view.state.memory, looked_at(view, "turns_seen")
    turns, in_turn = memory["turns"] if start else ([], False)
    for position in range(start, len(view.items)):
        message = view.items[position].message
        if message.typed or message.summary:
            in_turn = False
        elif thinks(message):
            if not in_turn:
                turns.append([])
                in_turn = True
            turns[-1].append(position)
    memory["turns"] = turns, in_turn
    looked(view, "turns_seen", len(view.items))
    return [list(turn) for turn in turns]


def thinking_gate(params: ThinkingParams, view: View) -> Gate:
    """Fires when thinking stands in more turns than are kept."""
    if not view.model.keeps_thinking:
        return Gate(False, "this model's API drops earlier thinking itself; the recording shows it", 0, 1, ">", "turns")
    standing = [turn for turn in thinking_turns(view) if any(thinks(view.items[p].message) for p in turn)]
    if params.keep is None:
        return Gate(False, "this model keeps all thinking by default", len(standing), len(standing), ">", "turns")
    return Gate.over(len(standing), params.keep, "turns with thinking", "turns")


def thinking_edit(params: ThinkingParams, view: View) -> dict[int, Item]:
    """Thinking of all but the newest ``keep`` turns goes, in place."""
    keep = params.keep or 1
    stale = [position for turn in thinking_turns(view)[:-keep] for position in turn]
    patch = {position: drop_thinking(view, view.items[position]) for position in stale}
    return {position: item for position, item in patch.items() if item is not view.items[position]}


THINKING = Policy(
    name="anthropic_clear_thinking", label="Anthropic API: clear thinking",
    source="Anthropic context editing, clear_thinking_20251015; anthropic-sdk-python beta types",
    help="Clears the thinking of all but the newest turns, on models that would keep it; no model call.",
    params=ThinkingParams,
    layers=(Layer("clear_thinking", "Clear thinking", thinking_gate, thinking_edit, cheap=True),),
    summary_calls=False, threshold_param="keep", tier="golden",
)  # fmt: skip


PLACEHOLDER = "[Tool result cleared]"
BLANK = "{}"


@dataclass(slots=True)
class Clearing:
    """What was cleared so far, how far ``View.results`` holds nothing open, and what the trigger chose to clear now.

    What the provider clears grows only, so a replay carries it and asks each time for what is new.
    """

    ids: set[str] = field(default_factory=set)
    tokens: int = 0
    frontier: int = 0
    anchor: str = ""
    n_items: int = 0
    chosen: list[ResultPlace] | None = None


def cleared(view: View) -> Clearing:
    """The memory of this replay (``memory["cleared"]``); a list that became shorter starts anew."""
    held: Clearing | None = view.state.memory.get("cleared")
    if held is None or len(view.items) < held.n_items:
        held = view.state.memory["cleared"] = Clearing()
    held.n_items = len(view.items)
    return held


def is_carried(view: View) -> bool:
    """False where what was cleared stands in the list as it was: a replay along the recorded context shows it only."""
    held, kind = cleared(view), Kind.TOOL_RESULT
    for position in view.results[max(0, held.frontier - 1) : held.frontier + 1]:
        item = view.items[position]
        for block in () if item.edited else item.message.blocks:
            if block.kind is kind and block.call_id in held.ids:
                return False
    return True


def open_results(view: View, excluded: frozenset[str] = frozenset()) -> list[ResultPlace]:
    """The results not cleared yet, oldest first; what is cleared or excluded at the start is not looked at again."""
    held = cleared(view)
    n = held.frontier
    if n and (n > len(view.results) or view.items[view.results[n - 1]].id != held.anchor):
        held.frontier, held.anchor, held.tokens = 0, "", 0
    names = call_names(view) if excluded else {}
    items, ids, kind = view.items, held.ids, Kind.TOOL_RESULT
    found: list[ResultPlace] = []
    for place in view.results[held.frontier :]:
        item = items[place]
        blocks = [b for b in item.message.blocks if b.kind is kind and not (item.edited and b.call_id in ids)]
        if not found and all(names.get(block.call_id) in excluded for block in blocks):
            held.frontier, held.anchor = held.frontier + 1, item.id
            continue
        found += [ResultPlace(place, block) for block in blocks]
    return found


def call_position(view: View, found: ResultPlace) -> int | None:
    """Where the call of a result stands, None where it is not in the list."""
    for position in reversed(range(found.position + 1)):
        for block in view.items[position].message.blocks:
            if block.kind is Kind.TOOL_USE and block.call_id == found.block.call_id:
                return position
    return None


@dataclass(frozen=True, slots=True)
class UsesParams(Told):
    """The edit's fields, under the API's names and defaults."""

    trigger: int = when(100_000, "Trigger, exceeded", "Prompt tokens above which it clears", *PROMPT)
    trigger_tool_uses: int | None = when(
        None, "Or by tool uses", "Trigger by the number of tool uses in place of tokens; none: by tokens",
        "tool uses", 0, 10_000,
    )  # fmt: skip
    keep: int = param(3, "Keep", "Newest tool uses that stay", "tool uses", 0, 1_000)
    clear_at_least: int | None = param(
        None, "Clear at least", "Where fewer tokens can be cleared, nothing is; none: always", *FINE_TOKENS
    )
    exclude_tools: str = param("", "Never clear", "Names of tools whose results stay", words=True)
    clear_tool_inputs: str = choice(
        ("off", "on", "named"),
        "Clear arguments too",
        "Arguments of cleared calls: of no tool, of all, or of those named",
    )
    input_tools: str = param("", "Tools whose arguments go", "Used where the choice is named", words=True)
    exclude_counts_in_keep: str = choice(
        ("off", "on"), "Excluded count in keep", "Whether excluded tool uses use up keep (not documented)"
    )
    stop_early: str = choice(
        ("off", "on"), "Stop at the least", "Clear no more than clear_at_least asks for (not documented)"
    )


def uses_gate(params: UsesParams, view: View) -> Gate:
    """Fires when the prompt exceeds the trigger and something new is to be cleared, enough of it in all."""
    if params.trigger_tool_uses is None:
        measure, limit, unit = view.unedited, params.trigger, "tokens"
    else:
        measure, limit, unit = len(call_names(view)), params.trigger_tool_uses, "tool uses"
    reason = "prompt as the client holds it"
    if measure <= limit:
        return Gate(False, reason, measure, limit, ">", unit)
    held = cleared(view)
    held.chosen = None
    if not is_carried(view):
        return Gate(True, f"{reason}; what was cleared is only shown", measure, limit, ">", unit)
    chosen = held.chosen = candidates(params, view)
    if not chosen:
        return Gate(False, f"{reason}; nothing new to clear", measure, limit, ">", unit)
    least = params.clear_at_least or 0
    if least and (total := held.tokens + sum(_tokens(params, view, found) for found in chosen)) < least:
        reason += f"; {total:,} tokens could be cleared, {least:,} are asked for"
        return Gate(False, reason, measure, limit, ">", unit)
    return Gate(True, reason, measure, limit, ">", unit)


def candidates(params: UsesParams, view: View) -> list[ResultPlace]:
    """What is to be cleared now, oldest first."""
    excluded = frozenset(params.exclude_tools.split())
    names = call_names(view) if excluded else {}

    def may_go(found: list[ResultPlace]) -> list[ResultPlace]:
        return [f for f in found if names.get(f.block.call_id) not in excluded]

    waiting = open_results(view, excluded)
    if params.exclude_counts_in_keep == "on":
        chosen = may_go(_older(waiting, params.keep))
    else:
        chosen = _older(may_go(waiting), params.keep)
    if params.stop_early == "off" or params.clear_at_least is None:
        return chosen
    total = cleared(view).tokens
    for n, found in enumerate(chosen):
        if total >= params.clear_at_least:
            return chosen[:n]
        total += _tokens(params, view, found)
    return chosen


def _older(found: list[ResultPlace], keep: int) -> list[ResultPlace]:
    return found[:-keep] if keep else found


def _tokens(params: UsesParams, view: View, found: ResultPlace) -> int:
    """Display tokens that clearing a result takes off, those of its arguments included where they go."""
    tokens = result_tokens(view.items[found.position], found.block)
    place = call_position(view, found) if params.clear_tool_inputs != "off" else None
    if place is None:
        return tokens
    item = view.items[place]
    return tokens + sum(result_tokens(item, b) for b in item.message.blocks if _is_blanked(params, b, found))


def _is_blanked(params: UsesParams, block: Block, found: ResultPlace) -> bool:
    if block.kind is not Kind.TOOL_USE or block.call_id != found.block.call_id:
        return False
    return params.clear_tool_inputs == "on" or block.name in params.input_tools.split()


def uses_edit(params: UsesParams, view: View) -> dict[int, Item]:
    """The chosen results become placeholders, in place; arguments become an empty object where asked for."""
    held = cleared(view)
    chosen = candidates(params, view) if held.chosen is None else held.chosen
    patch: dict[int, Item] = {}
    for found in chosen:
        item = patch.get(found.position, view.items[found.position])
        patch[found.position] = clear_results(view, item, {found.block.call_id}, PLACEHOLDER)
        place = call_position(view, found) if params.clear_tool_inputs != "off" else None
        if place is not None:
            patch[place] = _blank(params, view, patch.get(place, view.items[place]), found)
    held.tokens += sum(_tokens(params, view, found) for found in chosen)
    held.ids |= {found.block.call_id for found in chosen}
    return patch


def _blank(params: UsesParams, view: View, item: Item, found: ResultPlace) -> Item:
    return edit_blocks(view, item, lambda b: with_text(b, BLANK) if _is_blanked(params, b, found) else b)


USES = Policy(
    name="anthropic_clear_tool_uses", label="Anthropic API: clear tool uses",
    source="Anthropic context editing, clear_tool_uses_20250919; anthropic-sdk-python beta types",
    help="Clears the results of all but the newest tool uses once the prompt exceeds the trigger; no model call.",
    params=UsesParams, layers=(Layer("clear_tool_uses", "Clear tool uses", uses_gate, uses_edit, cheap=True),),
    summary_calls=False, threshold_param="trigger", tier="golden",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CompactParams(Told):
    """The edit's fields, under the API's names and defaults."""

    trigger: int = when(
        150_000, "Trigger, at or above", "Input tokens; the API takes no less than 50,000",
        "tokens", 50_000, 2_000_000, 1_000,
    )  # fmt: skip
    pause_after_compaction: str = choice(
        ("off", "on"), "Pause after it", "The client appends its newest messages before sampling goes on"
    )
    keep_last: int = param(
        5, "Messages appended", "Newest messages that the client appends when it pauses", *FEW_MESSAGES
    )


def compact_gate(params: CompactParams, view: View) -> Gate:
    """Input tokens at the start of sampling ≥ the trigger."""
    return Gate.at_least(view.context, params.trigger, "input tokens")


def compact_edit(params: CompactParams, view: View) -> list[Item]:
    """One compaction block from the assistant; where the client pauses, its newest messages after it."""
    system, rest = apart(view.items)
    cut = len(rest)
    if params.pause_after_compaction == "on" and params.keep_last:
        cut = pair_safe_cut(rest, max(0, len(rest) - params.keep_last))
    if not cut:
        return list(view.items)
    return [*system, *view.summarize(rest[:cut], role="assistant"), *rest[cut:]]


COMPACT = Policy(
    name="anthropic_compact", label="Anthropic API: compaction",
    source="Anthropic server-side compaction, compact_20260112; anthropic-sdk-python beta types",
    help="Replaces everything before the reply by one compaction block once the input reaches the trigger.",
    params=CompactParams, gate=compact_gate, edit=compact_edit,
    shares_prefix=True, threshold_param="trigger", tier="golden",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SdkParams(Told):
    """The runner's threshold."""

    context_token_threshold: int = when(
        100_000, "Threshold, at or above", "Input, cache and output of the last response", *PROMPT
    )


def sdk_gate(params: SdkParams, view: View) -> Gate:
    """Input + cache + output of the last response ≥ the threshold."""
    measure, limit = last_spent(params, view, view.context), params.context_token_threshold
    return Gate(measure >= limit > 0, "input, cache and output of the last response", measure, limit, ">=", "tokens")


def sdk_edit(_params: object, view: View) -> list[Item]:
    """The whole history becomes one user message; what was typed after the last reply stays."""
    system, rest = apart(view.items)
    replied = last_assistant(rest)
    live = [item for item in rest[replied + 1 :] if replied >= 0 and not is_answer(item)]
    kept = {item.id for item in live}
    dropped = [item for item in rest if item.id not in kept]
    if not dropped:
        return list(view.items)
    return [*system, *view.summarize(dropped), *live]


SDK = Policy(
    name="anthropic_sdk_compaction", label="Anthropic SDK compaction",
    source="anthropic-sdk-python lib/tools: CompactionControl of the tool runner (deprecated)",
    help="One user message with the summary replaces the whole history at 100,000 tokens of the last response.",
    params=SdkParams, gate=sdk_gate, edit=sdk_edit,
    shares_prefix=True, threshold_param="context_token_threshold", tier="golden",
)  # fmt: skip

POLICIES = (THINKING, USES, COMPACT, SDK)
