"""Claude Code's cheap layers: the tool-result budget and micro-compaction (policies 4.3 to 4.5)."""

from __future__ import annotations

from typing import Any

from sessions.engine.policies._lists import came_since, last_assistant, results_of
from sessions.engine.policies.edits import clear_places, cut_text, edit_results, result_chars
from sessions.engine.policies.policy import Gate, Item, ResultPlace, View
from sessions.engine.tokens.estimators.claude_code import size as rough_size
from sessions.engine.transcript.types import Kind

MARKER = "[Old tool result content cleared]"
POINTER = "[Old tool result content cleared: saved to a file, read it again if needed]"
PERSISTED = "\n<persisted-output>Too large for the context; the whole output was saved to a file.</persisted-output>"


def has_budget(params: Any) -> bool:
    """Whether tool results are capped at all."""
    return params.result_chars is not None or params.message_chars is not None


def budget_gate(params: Any, view: View) -> Gate:
    """Fires when a new tool result, or all of one message's, are longer than their cap (``has_budget``)."""
    found = _over_budget(params, view, _fresh(view))
    view.state.memory["over_budget"] = found
    cap = params.result_chars if params.result_chars is not None else params.message_chars
    largest = max((result_chars(f.block) for f in found), default=0)
    return Gate(bool(found), "characters of the largest new tool result to cut", largest, cap, ">", "chars")


def _fresh(view: View) -> list[ResultPlace]:
    """Results that came since the trigger was last asked (``memory["budget_seen"]``), oldest first."""
    items = list(came_since(view, "budget_seen"))
    places = range(len(view.items) - 1, -1, -1)
    fresh = [ResultPlace(at, block) for at, item in zip(places, items, strict=False) for block in results_of(item)]
    return fresh[::-1]


def _over_budget(params: Any, view: View, fresh: list[ResultPlace]) -> list[ResultPlace]:
    """Those over the cap of one result; then, largest first, what brings the newest message under its own."""
    cap, most = params.result_chars, params.message_chars
    found = [f for f in fresh if cap is not None and result_chars(f.block) > cap]
    if most is None:
        return found
    replied = last_assistant(view.items)  # the results after it are one user message there
    newest = [f for f in fresh if f.position > replied]
    left = {f.block.call_id: params.preview_chars if f in found else result_chars(f.block) for f in newest}
    for f in sorted(newest, key=lambda f: -left[f.block.call_id]):
        if sum(left.values()) <= most or left[f.block.call_id] <= params.preview_chars:
            break
        left[f.block.call_id] = params.preview_chars
        found.append(f)
    return found


def budget_edit(params: Any, view: View) -> dict[int, Item]:
    """Each becomes a preview and a note on where the whole output went."""
    patch: dict[int, Item] = {}
    for position, block in view.state.memory["over_budget"]:
        item = patch.get(position, view.items[position])
        patch[position] = edit_results(
            view, item, {block.call_id}, lambda one: cut_text(one, params.preview_chars, PERSISTED)
        )
    return patch


def micro_gate(params: Any, view: View) -> Gate:
    """By time: idle ≥ the gap; else by hint: the request was refused; and enough is saved (``micro_saved`` tokens)."""
    if params.micro == "time":
        limit = params.micro_gap * 60
        idle = int(view.idle_seconds or 0)
        asked = Gate(view.idle_seconds is not None and view.idle_seconds >= limit, "idle", idle, limit, ">=", "seconds")
        least = 1
    else:
        limit = params.hint_at or view.window
        over = view.context >= limit if params.hint_at else view.rejected
        asked = Gate(over, "a context the server answers with a hint", view.context, limit,
                     ">=" if params.hint_at else ">", "tokens")  # fmt: skip
        least = params.micro_saved
    if not asked.fires:
        return asked
    saved = 0
    for found in stale(params, view):
        saved += rough_size(found.block, view.model)
        if saved >= least:
            return asked
    return asked._replace(fires=False, reason=f"{asked.reason}; {saved:,} tokens to save")


def stale(params: Any, view: View) -> list[ResultPlace]:
    """Results of compactable tools not cleared yet, but for those of the last ``max(1, keep)`` calls."""
    tools = set(params.micro_tools.split())
    calls = [
        block.call_id
        for item in view.items
        for block in item.message.blocks
        if block.kind is Kind.TOOL_USE and block.name in tools
    ]
    clear = set(calls[: -max(1, params.micro_keep)])
    done = view.state.memory.get("micro", set())
    return [
        ResultPlace(position, block)
        for position in view.results
        for block in results_of(view.items[position])
        if block.call_id in clear and not (view.items[position].edited and block.call_id in done)
    ]


def micro_edit(params: Any, view: View) -> dict[int, Item]:
    """A marker in place of each; in the hint variant a pointer to the file where it was saved."""
    found = stale(params, view)
    view.state.memory.setdefault("micro", set()).update(block.call_id for _, block in found)
    return clear_places(view, found, POINTER if params.micro == "hint" else MARKER)
