"""The pipeline that the teaching code of Claude Code's compaction describes, in both versions (seeds 1.1).

Sizes of results are characters of their text, that of ``layered_v2``'s list is its length as JSON; the full text of
what a layer cuts is thought of as saved under the name its marker gives.  The ``claude_code`` policy is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sessions.engine.policies._lists import answered_again, apart, found_results, last_assistant, n_results, results_of
from sessions.engine.policies._looked import messages_gate, n_conversation
from sessions.engine.policies.edits import cut_text, edit_blocks, edit_results, marker, result_chars, with_text
from sessions.engine.policies.params import FEW_MESSAGES, PERCENT, param, stop_after, when
from sessions.engine.policies.policy import (
    Draft,
    EditFailed,
    Gate,
    Item,
    Layer,
    Policy,
    ResultPlace,
    View,
    when_refused,
)
from sessions.engine.transcript.types import Block, Kind

MAX_RECENT_FILES = 5


@dataclass(frozen=True, slots=True)
class Layers:
    """What both versions of the pipeline have in common; defaults of the write-up."""

    results_limit: int = param(
        200_000, "Budget of new results", "Results of the last user message together", "chars", 0, 10_000_000, 1_000
    )
    large_result: int = param(
        30_000, "Large result, above", "Smaller results are left alone", "chars", 0, 1_000_000, 500
    )
    preview: int = param(2_000, "Preview left", "Of a large result", "chars", 0, 100_000, 100)
    max_messages: int = param(50, "Snip above", "Longer lists lose their middle", "messages", 5, 10_000)
    head: int = param(3, "First messages kept", "At the start of the list", *FEW_MESSAGES)
    keep_results: int = param(3, "Results kept in full", "The newest ones", "results", 0, 1_000)
    min_chars: int = param(120, "Shortest result cleared, above", "Shorter ones stay", "chars", 0, 100_000, 10)
    summary_cap: int = param(20_000, "Summary at most", "A longer one is cut", "tokens", 0, 100_000, group="summary")
    notes_tokens: int | None = param(
        None, "Session notes", "Notes that exist already stand for the summary, without a call; none: no notes",
        "tokens", 0, 100_000, group="summary",
    )  # fmt: skip
    reactive_keep: int = param(5, "Kept after a refusal", "Messages at the end of the list", "messages", 1, 1_000)
    breaker: int | None = stop_after("summaries in a row before it stops for the session")


def waiting_results(view: View) -> list[Block]:
    """Results of the last user message: those since the last reply."""
    since = view.items[last_assistant(view.items) + 1 :]
    return [block for item in reversed(since) for block in results_of(item)][::-1]


def budget_gate(params: Any, view: View) -> Gate:
    """The results of the last user message total more than the limit."""
    total = sum(map(result_chars, waiting_results(view)))
    return Gate.over(total, params.results_limit, "results of the last user message", "chars")


def budget_edit(params: Any, view: View) -> dict[int, Item]:
    """Largest first, while the total is over the limit: a marker and a preview; small results are left alone."""
    found = waiting_results(view)
    total = sum(map(result_chars, found))
    chosen: dict[str, Block] = {}
    for block in sorted(found, key=lambda block: -result_chars(block)):
        if total <= params.results_limit or result_chars(block) <= params.large_result:
            break
        chosen[block.call_id] = cut_text(block, params.preview, f"<persisted-output> full text: {saved(block)}")
        total -= result_chars(block) - result_chars(chosen[block.call_id])
    return _swap(view, chosen)


def snip(tail_shrinks: int) -> Callable[[Any, View], list[Item]]:
    """The snip: head, marker, tail; the tail is ``max_messages − head − tail_shrinks`` messages."""

    def edit(params: Any, view: View) -> list[Item]:
        system, rest = apart(view.items) if n_conversation(view) < len(view.items) else ([], view.items)
        head = min(params.head, len(rest))
        while head < len(rest) and (ids := rest[head].message.result_ids()) and ids & _calls(rest[:head]):
            head += 1
        start = max(0, len(rest) - (params.max_messages - params.head - tail_shrinks))
        while start > head and rest[start : start + 1] and rest[start].message.result_ids():
            start -= 1
        middle = rest[head:start]
        is_note = len(middle) == 1 and middle[0].inserted and "conversation snipped]" in middle[0].message.preview
        if not middle or is_note:
            return list(view.items)
        words = f"[{len(middle)} messages from the middle of the conversation snipped]"
        note = view.tools.draft(Draft(words, marker(words).n_tokens, words))
        return [*system, *rest[:head], note, *rest[start:]]

    return edit


def _calls(items: list[Item]) -> set[str]:
    return {call for item in items for call in item.message.call_ids()}


def micro_gate(params: Any, view: View) -> Gate:
    """More than ``keep_results`` tool results exist."""
    return Gate.over(n_results(view), params.keep_results, "tool results in the list", "results")


def micro_edit(params: Any, view: View) -> dict[int, Item]:
    """Results older than the last ``keep_results`` and longer than the minimum become one line."""
    long = [(place, f"[Previous: used {_name_of(view, place.block.call_id)}]") for place in _long(params, view)]
    if not answered_again(view).isdisjoint([place.block.call_id for place, _ in long]):
        return _swap(view, {place.block.call_id: with_text(place.block, text) for place, text in long})
    texts: dict[int, dict[str, str]] = {}
    for (position, block), text in long:
        texts.setdefault(position, {})[block.call_id] = text
    made = {position: _shortened(view, view.items[position], found) for position, found in texts.items()}
    return {position: item for position, item in made.items() if item is not view.items[position]}


def _shortened(view: View, item: Item, texts: dict[str, str]) -> Item:
    """A message with these texts as its results, by call id."""

    def make() -> Item:
        return edit_results(view, item, texts.keys(), lambda block: with_text(block, texts[block.call_id]))

    return view.tools.once(item, "shortened", texts, make)


def _long(params: Any, view: View) -> list[ResultPlace]:
    """The results to become one line, oldest first; short ones are not looked at again (``memory["short_to"]``)."""
    known, kept = view.state.memory.get("short_to"), params.keep_results
    found: list[ResultPlace] = []
    short_to = None
    for position in reversed(view.results):
        item = view.items[position]
        if item.id == known:
            short_to = short_to or known
            break
        is_short = True
        for block in reversed(item.message.blocks):
            if block.kind is not Kind.TOOL_RESULT:
                continue
            kept -= 1
            if kept >= 0:
                is_short = False
            elif result_chars(block) > params.min_chars:
                is_short = False
                found.append(ResultPlace(position, block))
        short_to = (short_to or item.id) if is_short else None
    view.state.memory["short_to"] = short_to
    return found[::-1]


def _name_of(view: View, call_id: str) -> str:
    """The tool that the last call of this id in the list calls."""
    blocks = (block for item in reversed(view.items) for block in reversed(item.message.blocks))
    return next((block.name for block in blocks if block.kind is Kind.TOOL_USE and block.call_id == call_id), "tool")


def micro_to_target(params: Any, view: View) -> dict[int, Item]:
    """Results that the model has seen, but for the newest: oldest first into one line, until at the target."""
    last_reply = last_assistant(view.items)
    seen = [place for place in found_results(view) if place.position < last_reply]
    old = seen[: -params.keep_results or None]
    long = [place for place in old if result_chars(place.block) > params.min_chars]
    return _until(
        view, target(params), long, "saved", lambda block: with_text(block, f"[Result saved to {saved(block)}]")
    )


def fit_edit(params: Any, view: View) -> dict[int, Item]:
    """Largest results first, new ones included: a marker and a preview where that is shorter; until at the target."""

    def change(block: Block) -> Block:
        cut = cut_text(block, params.fit_preview, f"<persisted-output> full text: {saved(block)}")
        return cut if result_chars(cut) < result_chars(block) else block

    largest = sorted(found_results(view), key=lambda place: -result_chars(place.block))
    return _until(view, target(params), largest, f"fit to {params.fit_preview}", change)


def _until(
    view: View, goal: int, places: list[ResultPlace], name: str, change: Callable[[Block], Block]
) -> dict[int, Item]:
    """Items changed in the order of ``places`` until the list is at most ``goal``; ``name`` is that of ``change``."""
    left = view.size - goal
    swapped: set[int] = set()
    changes: dict[int, Item] = {}
    for position, block in places:
        if left <= 0:
            break
        swapped.add(id(block))
        item = view.items[position]
        new = _with_some(view, item, swapped, name, change)
        if new is not item:
            left -= changes.get(position, item).size - new.size
            changes[position] = new
    return changes


def _with_some(view: View, item: Item, chosen: set[int], name: str, change: Callable[[Block], Block]) -> Item:
    """A message whose blocks of these ids in memory are changed."""
    which = [id(block) in chosen for block in item.message.blocks]
    make = partial(edit_blocks, view, item, lambda block: change(block) if id(block) in chosen else block)
    return view.tools.once(item, name, which, make)


def over_limit(params: Any, view: View) -> Gate:
    """The serialised list has more characters than the limit."""
    return Gate.over(view.size, params.limit, "characters of the serialised list", "chars")


def target(params: Any) -> int:
    """Characters to come down to: a share of the limit."""
    return int(params.limit * params.target // 100)


def auto(limit: Callable[[Any, View], int]) -> Callable[[Any, View], list[Item]]:
    """The summary layer, given what it has to come under in the trigger's unit."""

    def edit(params: Any, view: View) -> list[Item]:
        """The whole list becomes one user message: notes that fit or a summary, files read last, the active request."""
        system, rest = apart(view.items)
        if not rest:
            return list(view.items)
        suffix, tokens = _suffix(view, rest)
        how: dict[str, Any] = {"mode": "nine", "suffix": suffix, "suffix_tokens": tokens}
        if params.notes_tokens is not None:
            made = [*system, *view.summarize(rest, calls=0, most=params.notes_tokens, **how)]
            if sum(item.size for item in made) <= limit(params, view):
                return made
        return [*system, *view.summarize(rest, most=params.summary_cap, **how)]

    return edit


def _suffix(view: View, rest: list[Item]) -> tuple[str, int]:
    """What stands after the summary, and its tokens: names of the files read last, the newest typed prompt."""
    live = next((item for item in reversed(rest) if item.message.typed), None)
    files = recent_files(rest)
    suffix = "\n\nRecently read files:" + "".join(f"\n- {path}" for path in files) if files else ""
    tokens = marker(suffix).n_tokens if suffix else 0
    if live is not None:
        suffix += f"\n\nActive request:\n{view.tools.text(live)}"
        tokens += live.tokens
    return suffix, tokens


def recent_files(items: list[Item]) -> list[str]:
    """Up to five files that tools read last, the newest first."""
    calls = (b for i in reversed(items) for b in reversed(i.message.blocks) if b.kind is Kind.TOOL_USE)
    paths = (b.target for b in calls if "read" in b.name.lower() and b.target)
    return list(dict.fromkeys(paths))[:MAX_RECENT_FILES]


reactive_gate = when_refused("prompt too long for the window", "rejected")


def reactive_edit(params: Any, view: View) -> list[Item]:
    """The last messages stay, pulled back so that no result loses its call; the rest is summarised."""
    system, rest = apart(view.items)
    start = max(0, len(rest) - params.reactive_keep)
    while start and rest[start].message.result_ids() - _calls(rest[start:]):
        start -= 1
    if not start:
        raise EditFailed("nothing older than the messages that are always kept")
    return [*system, *view.summarize(rest[:start], mode="nine", most=params.summary_cap), *rest[start:]]


def saved(block: Block) -> str:
    """Where the full text of a result would be saved: a short name from its call id."""
    return f".tool_results/{block.call_id[-24:]}.txt"


def _swap(view: View, chosen: dict[str, Block]) -> dict[int, Item]:
    """The items whose result blocks are replaced, by position."""
    changes: dict[int, Item] = {}
    for position in view.results if chosen else ():
        item = view.items[position]
        if not chosen.keys().isdisjoint(item.message.result_ids()):
            changes[position] = edit_results(view, item, chosen.keys(), lambda block: chosen[block.call_id])
    return changes


@dataclass(frozen=True, slots=True)
class V1Params(Layers):
    """Every number of the pipeline; defaults of the write-up."""

    max_output: int | None = when(
        None, "Model's maximum output", "None: the model's own, else 32,000", "tokens", 0, 200_000, 1_000
    )
    buffer: int = when(
        13_000, "Auto-compact buffer", "Summarises over window − maximum output − this", "tokens", 0, 200_000, 500
    )


def threshold(params: V1Params, view: View) -> int:
    """``window − max_output − buffer`` in tokens."""
    max_output = view.model.max_output if params.max_output is None else params.max_output
    return view.window - max_output - params.buffer


def gate(params: V1Params, view: View) -> Gate:
    """Estimated tokens over the threshold."""
    return Gate.over(view.size, threshold(params, view), "estimated tokens of the list")


V1 = Policy(
    name="layered_v1", label="Layered pipeline, v1",
    source="learn-claude-code s08: budget, snip, micro, auto compact over window − max output − 13,000",
    help="Cheap layers first: saves large results, snips the middle, clears old results, then summarises everything.",
    estimator="chars_per_4", params=V1Params,
    layers=(
        Layer("tool_result_budget", "Tool-result budget", budget_gate, budget_edit, cheap=True),
        Layer("snip", "Snip", messages_gate, snip(0), cheap=True),
        Layer("micro", "Micro-compaction", micro_gate, micro_edit, cheap=True),
        Layer("auto_compact", "Auto-compact", gate, auto(threshold), drawn=True),
        Layer("reactive_compact", "Reactive compact", reactive_gate, reactive_edit, cheap=True),
    ),
    shares_prefix=True, threshold_param="buffer", tier="founding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class V2Params(Layers):
    """Every number of the pipeline; defaults of the teaching code."""

    limit: int = when(50_000, "Limit, above", "Characters of the serialised list", "chars", 1_000, 10_000_000, 1_000)
    target: int = when(80, "Target", "Micro and fit stop at or under this share of the limit", *PERCENT)
    fit_preview: int = param(1_000, "Preview left by fit", "Characters of a result that stay", "chars", 0, 100_000, 100)


V2 = Policy(
    name="layered_v2", label="Layered pipeline, v2",
    source="learn-claude-code s08, current teaching code: one limit of 50,000 characters, target 80%",
    help="Cheap layers first, each stopping at a target: budget, snip, micro, fit; then one summary of everything.",
    estimator="serialized_chars", params=V2Params,
    layers=(
        Layer("tool_result_budget", "Tool-result budget", budget_gate, budget_edit, cheap=True),
        Layer("snip", "Snip", messages_gate, snip(1), cheap=True),
        Layer("micro", "Micro-compaction", over_limit, micro_to_target, cheap=True),
        Layer("fit", "Fit", over_limit, fit_edit, cheap=True),
        Layer("auto_compact", "Auto-compact", over_limit, auto(lambda params, _view: params.limit), drawn=True),
        Layer("reactive_compact", "Reactive compact", reactive_gate, reactive_edit, cheap=True),
    ),
    shares_prefix=True, threshold_param="limit", tier="founding",
)  # fmt: skip

POLICIES = (V1, V2)
