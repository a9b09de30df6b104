"""Microsoft Agent Framework's context window strategy: collapse old tool calls, then drop the oldest (policies 11.13).

``phases=budget`` replays the release that wrapped each phase in a budget of its own.  The count there is of the
serialised message by 4; here of characters sent by 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.policies._lists import ASSISTANT, SYSTEM, TOOL, USER, has_calls, role_of, tool_names
from sessions.engine.policies.edits import result_chars
from sessions.engine.policies.params import choice, param, when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Block, Kind

PREFIX, SUFFIX = "[Tool results: ", "]"
MOST_CHARS = 4_096
DEFAULT_MAX_OUTPUT = 16_384


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds as shares of the input budget."""

    max_output: int | None = when(
        None, "Maximum output", "Taken off the window; none: the model's own, else 16,384",
        "tokens", 0, 1_000_000, 1_024,
    )  # fmt: skip
    eviction: float = when(
        0.5, "Collapse tool calls, over", "Share of the input budget; also what truncation goes down to",
        "of the budget", 0.01, 1, 0.01,
    )  # fmt: skip
    truncation: float = when(0.8, "Drop the oldest, over", "Share of the input budget", "of the budget", 0.01, 1, 0.01)
    keep_last: int = param(4, "Keep tool calls", "Newest groups left whole", "groups", 0, 1_000)
    first_user: str = choice(("on", "off"), "Keep the first user message", "Truncation spares it", default="off")
    phases: str = choice(
        ("threshold", "budget"), "Phases", "Budget: each phase drops the oldest until its own limit is met"
    )


class Limits(NamedTuple):
    """Tokens: input budget, where tool calls collapse, where the oldest go."""

    budget: int
    eviction: int
    truncation: int


class Group(NamedTuple):
    """Messages that stay or go together: ``kind`` is system, user, assistant or tool."""

    kind: str
    positions: tuple[int, ...]


def limits(window: int, max_output: int, eviction: float = 0.5, truncation: float = 0.8) -> Limits:
    """128,000 with 4,096 of output: 123,904, 61,952 and 99,123."""
    budget = max(1, window - max_output)
    return Limits(budget, int(budget * eviction), int(budget * truncation))


def _limits(params: Params, view: View) -> Limits:
    output = params.max_output
    if output is None:
        output = view.model.max_output or DEFAULT_MAX_OUTPUT
    return limits(view.window, output, params.eviction, max(params.eviction, params.truncation))


def groups(items: Sequence[Item]) -> list[Group]:
    """The list as groups, ordered by their first message; a late result joins the reply that called.

    A reply with calls takes in the replies of thinking alone right before it.
    """
    found: list[tuple[str, list[int]]] = []
    group_of: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        kind = role_of(item)
        if kind == TOOL:
            home = _home(group_of, item)
            if home is None and found and found[-1][0] == TOOL:
                home = found[-1][1]
            if home is not None:
                home.append(position)
                continue
        if kind == ASSISTANT and has_calls(item):
            kind = TOOL
            positions = [position]
            while found and found[-1][0] == ASSISTANT and _only_thinks(items[found[-1][1][0]]):
                positions[:0] = found.pop()[1]
            group_of.update(dict.fromkeys(item.message.call_ids(), positions))
        else:
            positions = [position]
        found.append((kind, positions))
    return [Group(kind, tuple(positions)) for kind, positions in found]


def _home(group_of: dict[str, list[int]], item: Item) -> list[int] | None:
    """The group that made a call which a message answers: of several, the one of the first id."""
    ids = item.message.result_ids()
    for call in sorted(ids) if len(ids) > 1 else ids:
        if call in group_of:
            return group_of[call]
    return None


def _only_thinks(item: Item) -> bool:
    return bool(item.message.blocks) and all(block.kind is Kind.THINKING for block in item.message.blocks)


def _calls(view: View) -> tuple[list[Group], int]:
    """Groups of calls, at positions from where they begin, and that position; what is before it has none.

    The message they begin with is remembered (``memory["calls_from"]``) and looked for from the end of the list; the
    groups of a list are made once (``memory["groups"]``): every edit makes another list.
    """
    items, memory = view.items, view.state.memory
    held, n_held, found, start = memory.get("groups", (None, 0, [], 0))
    if held is items and n_held == len(items):
        return found, start
    known = memory.get("calls_from")
    start = next((n for n in range(len(items) - 1, -1, -1) if items[n].id == known), 0) if known is not None else 0
    found = [group for group in groups(items[start:]) if group.kind == TOOL]
    if found and found[0].positions[0]:
        first = found[0].positions[0]
        memory["calls_from"] = items[start + first].id
        found = [Group(group.kind, tuple([n - first for n in group.positions])) for group in found]
        start += first
    memory["groups"] = (items, len(items), found, start)
    return found, start


def collapse_gate(params: Params, view: View) -> Gate:
    """Over the first limit, and a group to collapse (or, with budgets, to drop)."""
    limit = _limits(params, view).eviction
    fires = view.size > limit
    if fires and params.phases == "threshold":
        fires = len(_calls(view)[0]) > params.keep_last
    return Gate(fires, "characters by 4 against the first share of the budget", view.size, limit, ">", "tokens")


def collapse(params: Params, view: View) -> list[Item]:
    """Old groups of calls as lines of their results."""
    tools, start = _calls(view)
    old = {group.positions[0]: group for group in tools[: max(0, len(tools) - params.keep_last)]}
    gone = {position for group in old.values() for position in group.positions[1:]}
    left, rest = view.items[:start], view.items[start:]
    stop = max([*gone, *old], default=-1) + 1
    for position, item in enumerate(rest[:stop]):
        if position in old:
            left.append(collapsed(view, [rest[p] for p in old[position].positions]))
        elif position not in gone:
            left.append(item)
    left += rest[stop:]
    return dropped(left, _limits(params, view).eviction) if params.phases == "budget" else left


def truncate_gate(params: Params, view: View) -> Gate:
    """Over the second limit."""
    return Gate.over(view.size, _limits(params, view).truncation, "characters by 4 against the second share")


def truncate(params: Params, view: View) -> list[Item]:
    """Without the oldest groups."""
    known = _limits(params, view)
    left = dropped(view.items, known.eviction, first_user=params.first_user == "on", strict=False)
    return dropped(left, known.truncation) if params.phases == "budget" else left


def dropped(items: Sequence[Item], target: int, *, first_user: bool = False, strict: bool = True) -> list[Item]:
    """Whole groups but the newest go, oldest first, until ``target`` is met; system messages last, where ``strict``."""
    all_groups = groups(items)
    newest = next((group for group in reversed(all_groups) if group.kind != SYSTEM), all_groups[-1])
    spared = {newest.positions}
    if first_user:
        spared |= {group.positions for group in [g for g in all_groups if g.kind == USER][:1]}
    system = [group for group in all_groups if group.kind == SYSTEM]
    order = [group for group in all_groups if group.kind != SYSTEM] + (system if strict else [])
    size = sum(item.size for item in items)
    gone: set[int] = set()
    for group in order:
        if size <= target:
            break
        if group.positions not in spared:
            size -= sum(items[position].size for position in group.positions)
            gone |= set(group.positions)
    return [item for position, item in enumerate(items) if position not in gone]


def collapsed(view: View, members: Sequence[Item]) -> Item:
    """A group as one reply: the line of its results, which takes the place of its first message."""
    return view.tools.once(members[0], POLICY.name, members[1:], lambda: _as_one(view, members))


def _as_one(view: View, members: Sequence[Item]) -> Item:
    names = tool_names(members)
    results = [b for item in members for b in item.message.blocks if b.kind is Kind.TOOL_RESULT]
    n_label = label_length([(names.get(b.call_id, ""), result_chars(b)) for b in results])
    n_chars = min(MOST_CHARS, len(PREFIX) + n_label + len(SUFFIX))
    n_text = max(1, sum(result_chars(block) for block in results))
    n_kept = min(n_text, n_chars)

    def part(values: Iterable[int]) -> int:
        return sum(values) * n_kept // n_text

    n_frame = n_chars - n_kept
    leaves = [leaf for block in results for leaf in block.leaves()]
    text = Block(
        Kind.TEXT,
        n_chars=n_chars,
        n_bytes=n_frame + part(leaf.n_bytes for leaf in leaves),
        n_tokens=n_frame // 4 + part(leaf.n_tokens for leaf in leaves),
        n_json=part(leaf.n_json for leaf in leaves),
        approximate=True,
    )
    return view.tools.rewrite(members[0], [text], f"{PREFIX}…{SUFFIX}")


def label_length(results: Sequence[tuple[str, int]]) -> int:
    """Characters of "name: text; name: text"; an empty text leaves "name:", no result "no results"."""
    if not results:
        return len("no results")
    lengths = [len(name) + 2 + n if name and n else len(name) + (1 if name else n) for name, n in results]
    return sum(lengths) + 2 * (len(lengths) - 1)


POLICY = Policy(
    name="agent_framework", label="Microsoft Agent Framework",
    source="microsoft/agent-framework ContextWindowCompactionStrategy 1.23.0",
    help="Collapses old tool calls into lines, then drops the oldest messages.",
    estimator="chars_per_4", params=Params,
    layers=(
        Layer("collapse", "Collapse tool calls", collapse_gate, collapse, cheap=True),
        Layer("truncate", "Drop the oldest", truncate_gate, truncate, cheap=True),
    ),
    summary_calls=False, threshold_param="truncation", tier="differential",
    caveats=(MAY_START_WITH_A_REPLY, MAY_LOSE_THE_REQUEST),
)  # fmt: skip
