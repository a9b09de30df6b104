"""Cline before its SDK: repeated file reads go, else half of the messages (policies 11.3; removed there).

cline/cline ``src/core/context/context-management/ContextManager.ts`` and ``context-window-utils.ts``.  When the last
request's tokens (input, cache, output) reach what is allowed: 37,000 of 64,000, 98,000 of 128,000, 160,000 of 200,000,
else ``max(window − 40,000, 0.8·window)``.  First every read of a file but its newest becomes a note; where that saves
30% of the characters, no more is done.  Else half of the messages after the first pair go, three quarters where half
of the tokens is still more than what is allowed; an even number, ending on an assistant message.

The operator (≥) and the 30% are in that file at 01cfde0d.  The note that the first reply gets there is left out.
Where half of a tool pair would go, the other half goes too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.base.cline_window import allowed_of
from sessions.engine.policies._lists import apart, last_spent, only_whole, results_of
from sessions.engine.policies.edits import clear_results, result_chars
from sessions.engine.policies.params import Told, param, when
from sessions.engine.policies.policy import MAY_LOSE_THE_REQUEST, Gate, Item, Layer, Policy, View
from sessions.engine.transcript.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTE = "[File read again later: see the newest read]"
FIRST_PAIR = 2


@dataclass(frozen=True, slots=True)
class Params(Told):
    """The limit, and when repeated reads are enough."""

    max_allowed: int | None = when(None, "Allowed, at or above", "None: by the window", "tokens", 0, 2_000_000, 1_000)
    enough: int = param(30, "Enough saved", "Share of the characters that repeated reads must save", "%", 0, 100)
    read_tools: str = param("read_file Read", "Tools that read files", "Names of tools", words=True)


def allowed(params: Params, window: int) -> int:
    """Tokens allowed for a window."""
    if params.max_allowed is not None:
        return params.max_allowed
    return allowed_of(window)


def total(params: Params, view: View) -> int:
    """Tokens of the last request and its reply; the estimate where usage is withheld."""
    return last_spent(params, view, view.size + view.overhead)


def gate(params: Params, view: View) -> Gate:
    """Tokens of the last request ≥ what is allowed."""
    measure, limit = total(params, view), allowed(params, view.window)
    return Gate(measure >= limit, "tokens of the last request", measure, limit, ">=", "tokens")


def edit(params: Params, view: View) -> list[Item]:
    """Repeated reads become notes; where that is not enough, messages go."""
    system, rest = apart(view.items)
    lean, n_saved = without_repeats(params, view, rest)
    n_chars = sum(sum(leaf.n_chars for leaf in item.message.leaves()) for item in rest)
    if n_saved and n_saved * 100 >= params.enough * n_chars:
        return [*system, *lean]
    used, most = total(params, view), allowed(params, view.window)
    return [*system, *truncated(lean, three_quarters=used > 2 * most)]


def without_repeats(params: Params, view: View, items: Sequence[Item]) -> tuple[list[Item], int]:
    """The list with older reads of a file replaced by a note, and the characters that saves."""
    readers = set(params.read_tools.split())
    paths = {
        block.call_id: block.target
        for item in items
        for block in item.message.blocks
        if block.kind is Kind.TOOL_USE and block.target and block.name in readers
    }
    seen: set[str] = set()
    lean = list(items)
    n_saved = 0
    for position in reversed(range(len(lean))):
        for block in reversed(list(results_of(lean[position]))):
            path = paths.get(block.call_id, "")
            if path in seen and result_chars(block) > len(NOTE):
                lean[position] = clear_results(view, lean[position], {block.call_id}, NOTE)
                n_saved += result_chars(block) - len(NOTE)
            elif path:
                seen.add(path)
    return lean, n_saved


def truncated(items: list[Item], *, three_quarters: bool) -> list[Item]:
    """The first pair, and what stands after an even number of messages that ends on an assistant message."""
    rest = len(items) - FIRST_PAIR
    n_gone = rest * 3 // 4 // 2 * 2 if three_quarters else rest // 4 * 2
    end = FIRST_PAIR + n_gone - 1
    if n_gone > 0 and items[end].message.role is not Role.ASSISTANT:
        end -= 1
    kept = only_whole(items, set(range(len(items))) - set(range(FIRST_PAIR, end + 1)))
    return [items[position] for position in sorted(kept)]


POLICY = Policy(
    name="cline_classic", label="Cline, classic",
    source="cline/cline src/core/context/context-management/ContextManager.ts (removed since)",
    help="Drops repeated file reads, then half or three quarters of the messages, near the window; no model call.",
    estimator="cline",
    params=Params, layers=(Layer("classic", "Classic truncation", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="max_allowed", tier="golden", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip
