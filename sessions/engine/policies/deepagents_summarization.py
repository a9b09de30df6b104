"""deepagents: oversized content to files, old arguments cut, then a summary (policies 10.4, 10.5).

The preview of what goes to a file is made by lines, which a replay does not know: ``preview`` stands for it.  Arguments
are cut only while the count of the whole ones is there; they are taken as one text beside a path: exact for
``write_file``.  What is kept loses thinking bound to a Claude model.  ``profile=unknown`` replays the defaults for a
model without a known limit.  The count is LangChain's, overhead included.  What the original does when the compacted
request is still too large (it clips the newest results, else fails) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions.engine.policies._lists import ASSISTANT, apart, role_of, tool_names
from sessions.engine.policies._looked import looked, looked_at
from sessions.engine.policies.edits import cut_text, drop_thinking, edit_blocks
from sessions.engine.policies.langchain import MOST_SCALED, counted, measured, message_cut, share, token_cut
from sessions.engine.policies.params import LIMIT, SHARE, TOKENS, Told, choice, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind

WRITERS = frozenset({"write_file", "edit_file"})
NOT_EVICTED = frozenset({"ls", "glob", "grep", "read_file", "edit_file", "write_file", "delete"})
CUT_MARK = "...(argument truncated)"
CUT_CHARS = 20
NOTE = "Tool result too large, saved in the filesystem; read it with read_file, offset and limit. Preview: "
CHARS_PER_TOKEN = 4
UNKNOWN_TRIGGER, UNKNOWN_KEEP, UNKNOWN_ARGS = 170_000, 6, 20


@dataclass(frozen=True, slots=True)
class Params(Told):
    """Defaults of the factory."""

    profile: str = choice(
        ("known", "unknown"), "Model's limit", "Unknown: fixed numbers in place of shares of the window", group="when"
    )
    trigger: float = when(0.85, "Trigger", "Share of the window; also that of the arguments", *SHARE)
    keep: float = param(0.10, "Keep", "Newest share of the window", *SHARE)
    max_output: int = when(0, "Configured output", "Taken off 0.95 of the window, over which it acts as well", *TOKENS)
    max_argument: int = param(2_000, "Argument length", "Longer ones are cut", "characters", 20, 10_000_000, 100)
    evict_result: int = param(20_000, "Result to file, over", "At 4 characters a token", *LIMIT)
    evict_prompt: int = param(50_000, "Prompt to file, over", "At 4 characters a token", *LIMIT)
    preview: int = param(1_000, "Preview", "Characters that stay of what goes to a file", "characters", 0, 10_000)


def total(view: View, saved: int = 0) -> int:
    """The scaled count of the list and the overhead; ``saved``: with what cutting took off put back."""
    return counted(view, view.size + view.overhead + saved)


def trigger(params: Params, window: int) -> int:
    """The trigger of the summary in tokens."""
    return UNKNOWN_TRIGGER if params.profile == "unknown" else share(window, params.trigger)


# --- to files


def oversized(params: Params, view: View) -> list[int]:
    """Positions of what arrived since the request before and is too long."""
    last = view.state.memory.get("last")
    found: list[int] = []
    for position in reversed(range(len(view.items))):
        item = view.items[position]
        if item.id == last:
            break
        if any(_too_long(params, view, item, block) for block in item.message.blocks):
            found.append(position)
    return found


def _too_long(params: Params, view: View, item: Item, block: Block) -> bool:
    n_chars = sum(leaf.n_chars for leaf in block.leaves())
    if block.kind is Kind.TOOL_RESULT:
        if n_chars <= params.evict_result * CHARS_PER_TOKEN:
            return False
        return tool_names(view.items).get(block.call_id) not in NOT_EVICTED
    prompt = block.kind is Kind.TEXT and item.message.typed
    return prompt and n_chars > params.evict_prompt * CHARS_PER_TOKEN


def evict_gate(params: Params, view: View) -> Gate:
    """Something that arrived is too long."""
    n_found = len(oversized(params, view))
    if not n_found and view.items:
        view.state.memory["last"] = view.items[-1].id
    return Gate.over(n_found, 0, "new content too long for the context", "messages")


def evict(params: Params, view: View) -> dict[int, Item]:
    """A note and a preview."""
    found = oversized(params, view)
    view.state.memory["last"] = view.items[-1].id

    def cut(item: Item) -> Item:
        return edit_blocks(
            view, item, lambda b: cut_text(b, params.preview, NOTE) if _too_long(params, view, item, b) else b
        )

    return {position: cut(view.items[position]) for position in found}


# --- arguments


def long_calls(params: Params, view: View, held: Mapping[str, Item]) -> list[int]:
    """Positions of calls with long arguments, or with such as were cut, ascending; looks at what is new."""
    start = looked_at(view, "calls_seen")
    found: list[int] = view.state.memory["calls"] if start else []
    for position in range(start, len(view.items)):
        item = view.items[position]
        if item.id in held or (role_of(item) == ASSISTANT and any(_long(params, b) for b in item.message.blocks)):
            found.append(position)
    looked(view, "calls_seen", len(view.items))
    view.state.memory["calls"] = found
    return found


def argument_cut(params: Params, view: View, items: Sequence[Item]) -> int:
    """Messages before this position may have their arguments cut; ``items`` are the list with whole arguments."""
    if params.profile == "unknown":
        return max(0, len(items) - UNKNOWN_ARGS)
    budget, kept = share(view.window, params.keep), 0
    for position in reversed(range(len(items))):
        if kept + items[position].size > budget:
            return position + 1
        kept += items[position].size
    return 0


def wanted(params: Params, view: View) -> dict[int, Item]:
    """What the list's arguments should be now, by position, where they are not."""
    held: dict[str, Item] = view.state.memory.setdefault("raw", {})
    positions = long_calls(params, view, held)
    raw, items = {}, view.items
    if held:
        found = ((position, items[position]) for position in positions)
        raw = {position: held[item.id] for position, item in found if item.edited and item.id in held}
        items = list(items)
        for position, item in raw.items():
            items[position] = item
    saved = sum(item.size - view.items[position].size for position, item in raw.items())
    on = (
        len(view.items) >= UNKNOWN_ARGS
        if params.profile == "unknown"
        else total(view, saved) >= trigger(params, view.window)
    )
    if not on and not raw:
        return {}
    cut = argument_cut(params, view, items) if on else 0
    cut = 0 if cut >= len(view.items) else cut
    changes: dict[int, Item] = {}
    for position in positions:
        item = items[position]
        due = position < cut and role_of(item) == ASSISTANT and any(_long(params, b) for b in item.message.blocks)
        if due != (position in raw):
            changes[position] = _shortened(params, view, item) if due else item
    return changes


def _frame(block: Block) -> int:
    return len('{"file_path":"","content":""}') + len(block.target) if block.target else len('{"content":""}')


def _long(params: Params, block: Block) -> bool:
    return block.kind is Kind.TOOL_USE and block.name in WRITERS and block.n_chars - _frame(block) > params.max_argument


def _shortened(params: Params, view: View, item: Item) -> Item:
    def change(block: Block) -> Block:
        return cut_text(block, _frame(block) + CUT_CHARS, CUT_MARK) if _long(params, block) else block

    return edit_blocks(view, item, change)


def arguments_gate(params: Params, view: View) -> Gate:
    """The trigger is reached and an old call has a long argument (or one that was cut is due back)."""
    limit = UNKNOWN_ARGS if params.profile == "unknown" else trigger(params, view.window)
    measure, unit = (len(view.items), "messages") if params.profile == "unknown" else (total(view), "tokens")
    return Gate(bool(wanted(params, view)), "long arguments of old calls", measure, limit, ">=", unit)


def cut_arguments(params: Params, view: View) -> dict[int, Item]:
    """Cut them."""
    changes = wanted(params, view)
    held: dict[str, Item] = view.state.memory["raw"]
    for position, new in changes.items():
        old = view.items[position]
        if old.id in held:
            del held[old.id]
        else:
            held[new.id] = old
    return changes


# --- summary


def summary_cut(params: Params, view: View) -> int:
    """Messages before this position are summarised."""
    if params.profile == "unknown":
        return message_cut(view.items, UNKNOWN_KEEP)
    return token_cut(view.items, share(view.window, params.keep), counted(view))


def summary_gate(params: Params, view: View) -> Gate:
    """The trigger is reached, or the input budget is passed, and something stands before the cut."""
    count, limit = total(view), trigger(params, view.window)
    over = params.profile == "known" and count > int(view.window * 0.95) - params.max_output
    measure = measured(view, count)
    fires = (measure >= limit or over) and summary_cut(params, view) > 0
    return Gate(fires, "approximate or reported tokens", measure, limit, ">=", "tokens")


def summarize(params: Params, view: View) -> list[Item]:
    """Summary and what is kept."""
    cut = summary_cut(params, view)
    system, dropped = apart(view.items[:cut])
    kept = view.items[cut:]
    if view.model.family == "claude":
        kept = [drop_thinking(view, item) for item in kept]
    return [*system, *view.summarize(dropped), *kept]


POLICY = Policy(
    name="deepagents_summarization", label="deepagents",
    source="langchain-ai/deepagents SummarizationMiddleware, FilesystemMiddleware 0.7.32",
    help="Sends oversized content to files, cuts old arguments, then summarises all but the newest tenth.",
    estimator="langchain", params=Params,
    layers=(
        Layer("evict", "To files", evict_gate, evict, cheap=True),
        Layer("arguments", "Cut arguments", arguments_gate, cut_arguments, cheap=True),
        Layer("summary", "Summarise", summary_gate, summarize),
    ),
    threshold_param="trigger", tier="differential", slack=MOST_SCALED,
)  # fmt: skip
