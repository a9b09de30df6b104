"""The Messages API's ``clear_tool_uses_20250919``: old tool results are cleared on the server (policies 5.1).

Anthropic's documentation of context editing and ``anthropic-sdk-python`` ``types/beta/beta_clear_tool_uses_*``
(2026-08-07).  Once the prompt exceeds the trigger, the results of all but the newest ``keep`` tool uses become a
placeholder; where less than ``clear_at_least`` can be cleared, nothing is.  The client keeps its full history and the
API starts from it at every request, so the trigger is compared with the context as it would be uncleared.

Not documented, so parameters here: whether excluded tools count against ``keep``, and whether clearing stops once
``clear_at_least`` is reached.  The placeholder's text is not documented either; ours has its length only.  Claude
Code's own use of it (policies 4.7, an internal flag) is trigger 180,000 with clear_at_least 140,000.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sessions.engine.edits import clear_results, edit_blocks, marker, result_tokens
from sessions.engine.params import param, usage_param
from sessions.engine.policies._api_clearing import call_position, cleared, is_carried, open_results
from sessions.engine.policies._lists import Found, call_names
from sessions.engine.policy import Gate, Item, Layer, Policy, View
from sessions.engine.types import Kind

if TYPE_CHECKING:
    from sessions.engine.types import Block

PLACEHOLDER = "[Tool result cleared]"
BLANK = "{}"


@dataclass(frozen=True, slots=True)
class Params:
    """The edit's fields, under the API's names and defaults."""

    trigger: int = param(
        100_000, label="Trigger, exceeded", help="Prompt tokens above which it clears", unit="tokens", group="when",
        low=0, high=2_000_000, step=1_000,
    )  # fmt: skip
    trigger_tool_uses: int | None = param(
        None, label="Or by tool uses", help="Trigger by the number of tool uses in place of tokens; none: by tokens",
        unit="tool uses", group="when", low=0, high=10_000, optional=True,
    )  # fmt: skip
    keep: int = param(3, label="Keep", help="Newest tool uses that stay", unit="tool uses", low=0, high=1_000)
    clear_at_least: int | None = param(
        None, label="Clear at least", help="Where fewer tokens can be cleared, nothing is; none: always", unit="tokens",
        low=0, high=1_000_000, step=500, optional=True,
    )  # fmt: skip
    exclude_tools: str = param("", label="Never clear", help="Names of tools whose results stay", words=True)
    clear_tool_inputs: str = param(
        "off", label="Clear arguments too", help="Arguments of cleared calls: of no tool, of all, or of those named",
        choices=("off", "on", "named"),
    )  # fmt: skip
    input_tools: str = param("", label="Tools whose arguments go", help="Used where the choice is named", words=True)
    exclude_counts_in_keep: str = param(
        "off", label="Excluded count in keep", help="Whether excluded tool uses use up keep (not documented)",
        choices=("off", "on"),
    )  # fmt: skip
    stop_early: str = param(
        "off", label="Stop at the least", help="Clear no more than clear_at_least asks for (not documented)",
        choices=("off", "on"),
    )  # fmt: skip
    usage: str = usage_param()


def gate(params: Params, view: View) -> Gate:
    """Fires when the prompt exceeds the trigger and something new is to be cleared, enough of it in all."""
    if params.trigger_tool_uses is None:
        measure, limit, unit = view.unedited, params.trigger, "tokens"
    else:
        measure, limit, unit = len(call_names(view)), params.trigger_tool_uses, "tool uses"
    reason = "prompt as the client holds it"
    if measure <= limit:
        return Gate(False, reason, measure, limit, ">", unit)
    if not is_carried(view):
        return Gate(True, f"{reason}; what was cleared is only shown", measure, limit, ">", unit)
    chosen = candidates(params, view)
    if not chosen:
        return Gate(False, f"{reason}; nothing new to clear", measure, limit, ">", unit)
    least = params.clear_at_least or 0
    total = cleared(view).tokens + sum(_tokens(params, view, found) for found in chosen)
    if total < least:
        reason += f"; {total:,} tokens could be cleared, {least:,} are asked for"
    return Gate(total >= least, reason, measure, limit, ">", unit)


def candidates(params: Params, view: View) -> list[Found]:
    """What is to be cleared now, oldest first."""
    excluded = frozenset(params.exclude_tools.split())
    names = call_names(view)
    waiting = open_results(view, excluded)
    if params.exclude_counts_in_keep == "on":
        chosen = [f for f in _older(waiting, params.keep) if names.get(f.block.call_id) not in excluded]
    else:
        chosen = _older([f for f in waiting if names.get(f.block.call_id) not in excluded], params.keep)
    if params.stop_early == "off" or params.clear_at_least is None:
        return chosen
    total = cleared(view).tokens
    for n, found in enumerate(chosen):
        if total >= params.clear_at_least:
            return chosen[:n]
        total += _tokens(params, view, found)
    return chosen


def _older(found: list[Found], keep: int) -> list[Found]:
    return found[:-keep] if keep else found


def _tokens(params: Params, view: View, found: Found) -> int:
    """Display tokens that clearing a result takes off, those of its arguments included where they go."""
    tokens = result_tokens(view.items[found.position], found.block)
    place = call_position(view, found) if params.clear_tool_inputs != "off" else None
    if place is None:
        return tokens
    item = view.items[place]
    return tokens + sum(result_tokens(item, b) for b in item.message.blocks if _is_blanked(params, b, found))


def _is_blanked(params: Params, block: Block, found: Found) -> bool:
    if block.kind is not Kind.TOOL_USE or block.call_id != found.block.call_id:
        return False
    return params.clear_tool_inputs == "on" or block.name in params.input_tools.split()


def edit(params: Params, view: View) -> dict[int, Item]:
    """The chosen results become placeholders, in place; arguments become an empty object where asked for."""
    chosen = candidates(params, view)
    held = cleared(view)
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


def _blank(params: Params, view: View, item: Item, found: Found) -> Item:
    def change(block: Block) -> Block:
        if not _is_blanked(params, block, found):
            return block
        blank = marker(BLANK)
        return replace(block, n_chars=blank.n_chars, n_bytes=blank.n_bytes, n_tokens=blank.n_tokens, n_non_ascii=0)

    return edit_blocks(view, item, change)


POLICY = Policy(
    name="anthropic_clear_tool_uses",
    label="Anthropic API: clear tool uses",
    source="Anthropic context editing, clear_tool_uses_20250919; anthropic-sdk-python beta types",
    help="Clears the results of all but the newest tool uses once the prompt exceeds the trigger; no model call.",
    estimator="tiktoken_o200k",
    params=Params,
    layers=(Layer("clear_tool_uses", "Clear tool uses", gate, edit, cheap=True, drawn=True),),
    summary_calls=False,
    threshold_param="trigger",
    tier="golden",
)
