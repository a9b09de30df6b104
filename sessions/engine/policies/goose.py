"""What goose does when its context fills up (policies 11.8).

``goose``: where the summary call itself overflows, tool responses are left out of it from the middle; that changes the
call alone.  ``goose_tool_pairs``, gated in some versions: each line is a small model call of its own there; those calls
are not billed here, and what a line weighs is a parameter.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sessions.engine.policies._lists import apart, has_tools
from sessions.engine.policies.edits import drop_media, text_only
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind, Role

GO_ON = "The context was compacted; the message before this one is a summary. Continue from it."
GO_ON_TOKENS = 45


@dataclass(frozen=True, slots=True)
class AutoParams(Told):
    """The threshold."""

    threshold: float = when(
        0.8, "Threshold, exceeded", "Share of the limit; 0 and 1 switch it off", "of the window", 0, 1, 0.05
    )


def auto_gate(params: AutoParams, view: View) -> Gate:
    """Tokens of the last reply (input, cache, output) over the limit > the threshold; without usage an estimate."""
    measure = view.size if view.usage is None else view.usage.spent
    limit = int(view.window * params.threshold)
    on = 0 < params.threshold < 1
    return Gate(on and measure > limit, "tokens of the session" if on else "off", measure, limit, ">", "tokens")


def auto_edit(_params: object, view: View) -> list[Item]:
    """Summary, word to go on, and the newest text-only user message again."""
    system, rest = apart(view.items)
    if not rest:
        return list(view.items)
    last = next((item for item in reversed(rest) if _is_text_only(item)), None)
    summary = view.summarize([drop_media(view, item, _words) for item in rest])
    go_on = view.tools.draft(Draft(GO_ON, GO_ON_TOKENS, GO_ON, role="assistant"))
    return [*system, *summary, go_on, *([] if last is None else [text_only(view, last)])]


def _words(block: Block) -> str:
    return f"[image: {block.media.media_type}]" if block.kind is Kind.IMAGE and block.media else ""


def _is_text_only(item: Item) -> bool:
    message = item.message
    if message.role is not Role.USER or message.summary or has_tools(item):
        return False
    return any(block.kind is Kind.TEXT for block in message.blocks)


AUTO = Policy(
    name="goose", label="goose auto-compact",
    source="block/goose crates/goose/src/context_mgmt/mod.rs",
    help="Replaces the conversation by a summary and the last user text when over 80% of the window is used.",
    params=AutoParams, gate=auto_gate, edit=auto_edit,
    threshold_param="threshold", tier="golden",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PairsParams(Told):
    """How the cutoff follows the limit, and the batch."""

    threshold: float = when(
        0.8, "Share of the limit", "The share that auto-compact fires at", "of the window", 0, 1, 0.05
    )
    cutoff: int | None = when(
        None, "Pairs kept", "None: three for each 20,000 tokens of the share, 10 to 500", "pairs", 0, 10_000
    )
    batch: int = when(10, "Pairs at a time", "So many of the oldest pairs are replaced at once", "pairs", 1, 1_000)
    line_tokens: int = param(40, "A line weighs", "Not established", "tokens", 0, 10_000)


def cutoff(params: PairsParams, window: int) -> int:
    """``clamp(int(3·floor(0.8·limit)/20,000), 10, 500)`` pairs."""
    if params.cutoff is not None:
        return params.cutoff
    return max(10, min(500, 3 * int(params.threshold * window) // 20_000))


def pairs_gate(params: PairsParams, view: View) -> Gate:
    """Eligible pairs > cutoff + batch; counted anew when a turn starts or the list changed."""
    limit = cutoff(params, view.window) + params.batch
    mark = (view.n_turns, view.state.n_events)
    memory = view.state.memory
    if memory.get("mark") != mark or view.state.requests_since_event <= 1:
        memory["mark"], memory["eligible"] = mark, len(_eligible(_known(view)))
    return Gate.over(memory["eligible"], limit, "pairs before this turn", "pairs")


@dataclass(slots=True)
class _Pairs:
    """The calls of a list, kept from request to request: a list that only grows is read once.

    ``calls`` are those before the current turn, in order, ``answered`` the ids with a result there; ``n_blocks`` has
    the calls and results of every id in the first ``seen`` messages.  Before position ``start`` no pair is eligible.
    """

    items: list[Item]
    end: int = 0
    seen: int = 0
    start: int = 0
    calls: list[str] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)
    n_blocks: Counter[str] = field(default_factory=Counter)

    def read(self) -> None:
        """What was added, up to the newest prompt, and the calls and results of all."""
        items = self.items
        end = next((n for n in range(len(items) - 1, self.end - 1, -1) if items[n].message.typed), self.end)
        for item in items[self.end : end]:
            for block in item.message.blocks:
                if block.kind is Kind.TOOL_USE:
                    self.calls.append(block.call_id)
                elif block.kind is Kind.TOOL_RESULT:
                    self.answered.add(block.call_id)
        for item in items[self.seen :]:
            self.n_blocks.update(b.call_id for b in item.message.blocks if b.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT))
        self.end, self.seen = end, len(items)

    def without(self, gone: set[str], after: list[Item], start: int) -> _Pairs:
        """The same of the list that an edit left, which changed nothing before ``start``."""
        shift = len(after) - len(self.items)
        calls = [call for call in self.calls if call not in gone]
        n_blocks = self.n_blocks.copy()
        for call in gone:
            del n_blocks[call]
        return _Pairs(after, self.end + shift, self.seen + shift, start, calls, self.answered - gone, n_blocks)


def _known(view: View) -> _Pairs:
    """The pairs of the list as it stands."""
    known: tuple[_Pairs, ...] = view.state.memory.get("pairs", ())
    found = next((pairs for pairs in known if pairs.items is view.items), None) or _Pairs(view.items)
    found.read()
    view.state.memory["pairs"] = (found,)
    return found


def _eligible(pairs: _Pairs) -> list[str]:
    """Call ids of the answered calls before the current turn, oldest first."""
    return [call for call in pairs.calls if call in pairs.answered]


def pairs_edit(params: PairsParams, view: View) -> list[Item]:
    """The oldest pairs go; a line stands where each call stood."""
    pairs, items = _known(view), view.items
    gone = set(_eligible(pairs)[: params.batch])
    left = sum(pairs.n_blocks[call] for call in gone)
    first, stop = len(items), pairs.start
    made: list[Item] = []
    while left > 0 and stop < len(items):
        item = items[stop]
        mine = [b for b in item.message.blocks if b.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) and b.call_id in gone]
        if mine:
            first = min(first, stop)
            left -= len(mine)
            made += _lines(params, view, item, mine)
        elif first < stop:
            made.append(item)
        stop += 1
    after = [*items[:first], *made, *items[stop:]]
    if stop <= pairs.end:
        view.state.memory["pairs"] = (pairs, pairs.without(gone, after, first))
    return after


def _lines(params: PairsParams, view: View, item: Item, mine: list[Block]) -> list[Item]:
    """What is left of a message: a line for each of these calls, and what it holds of other pairs."""
    n_lines = sum(block.kind is Kind.TOOL_USE for block in mine)
    lines = [view.tools.draft(Draft("[tool call, in one line]", params.line_tokens)) for _ in range(n_lines)]
    others = [b for b in item.message.blocks if b not in mine]
    if any(block.kind in (Kind.TOOL_USE, Kind.TOOL_RESULT) for block in others):
        lines.append(view.tools.rewrite(item, others))
    return lines


PAIRS = Policy(
    name="goose_tool_pairs", label="goose tool pairs",
    source="block/goose crates/goose/src/context_mgmt/mod.rs (tool pair summarization)",
    help="Replaces the oldest ten tool calls and responses by one line each once too many stand.",
    params=PairsParams, layers=(Layer("tool_pairs", "Tool pairs", pairs_gate, pairs_edit, cheap=True),),
    summary_calls=False, threshold_param="cutoff", tier="golden",
)  # fmt: skip

POLICIES = (AUTO, PAIRS)
