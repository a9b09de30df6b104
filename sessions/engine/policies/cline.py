"""Cline's compactions: its SDK's (policies 11.2), and the one before, removed since (policies 11.3).

``cline_basic``: what the notice weighs is a parameter.  That "survivors are frozen" is read as: they stay unchanged.
``cline_classic``: the note that the first reply gets there is left out.  Where half of a tool pair would go, the other
half goes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sessions.engine.base.cline_window import allowed_of
from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST
from sessions.engine.policies._lists import apart, has_tools, last_spent, only_whole, prompts, results_of
from sessions.engine.policies._looked import has_later_prompt
from sessions.engine.policies.edits import clear_results, drop_media, result_chars
from sessions.engine.policies.params import FINE_TOKENS, PERCENT, PROMPT, Told, choice, param, when
from sessions.engine.policies.policy import Draft, Gate, Item, Layer, Policy, View, pair_safe_cut, when_refused
from sessions.engine.transcript.types import Kind, Role

MANY_PAIRS = 5


@dataclass(frozen=True, slots=True)
class Budget(Told):
    """The tokens of input that a model is given at most, and the share of them at which a compaction runs."""

    max_input_tokens: int | None = when(
        None, "Input budget", "None: nine tenths of the window", "tokens", 1_000, 2_000_000, 1_000
    )
    trigger: int = when(90, "Trigger, at or above", "Share of the input budget", *PERCENT)


def max_input(given: int | None, window: int) -> int:
    """``min(given, window)`` tokens, else nine tenths of the window."""
    return window * 9 // 10 if given is None else min(given, window)


def least_trigger(most: int, percent: int) -> int:
    """The least whole number of tokens at or above ``percent`` of the budget."""
    return -(-most * percent // 100)


def goal_of(view: View, most: int, trigger_percent: int, target_percent: int) -> int:
    """Seven tenths of the trigger; half of the budget with five pairs and more on a model known to be smaller."""
    if len(view.results) >= MANY_PAIRS and view.model.known and view.model.window < most:
        return most // 2
    return least_trigger(most, trigger_percent) * target_percent // 100


def request_gate(view: View, given: int | None, percent: int) -> Gate:
    """Estimate of the request (messages, system prompt and tools) ≥ the trigger."""
    limit = least_trigger(max_input(given, view.window), percent)
    return Gate.at_least(view.size + view.overhead, limit, "estimate of the request")


NOTICE = "[Earlier work was removed: tool activity and the last assistant texts]"


@dataclass(frozen=True, slots=True)
class BasicParams(Budget):
    """Budget, trigger and target."""

    when: str = choice(
        ("trigger", "overflow"), "Runs", "At the trigger, or only after the provider refused", group="when"
    )
    target: int = param(70, "Target", "Share of the trigger", *PERCENT)
    notice_tokens: int = param(
        300, "The notice weighs", "Tool activity and three texts; not established", "tokens", 0, 10_000
    )


def basic_gate(params: BasicParams, view: View) -> Gate:
    """Estimate of the request ≥ the trigger, or the request is over the window."""
    if params.when == "overflow":
        return when_refused("the provider refuses: over the window")(params, view)
    return request_gate(view, params.max_input_tokens, params.trigger)


def survivors(items: Sequence[Item], budget: int) -> set[int]:
    """Positions of what stays within ``budget`` tokens; prompts stay whatever they weigh."""
    starts = prompts(items)
    kept = set(starts)
    left = budget - sum(items[position].size for position in starts)
    latest = starts[-1] if starts else -1
    tail, run = len(items), 0
    for position in reversed(range(latest + 1, len(items))):
        run += items[position].size
        if run > left:
            break
        if items[position].message.role is Role.ASSISTANT:
            tail = position
    kept |= set(range(tail, len(items)))
    left -= sum(items[position].size for position in range(tail, len(items)))
    for start, end in reversed(list(pairwise(starts))):
        answer = next((p for p in reversed(range(start + 1, end)) if _is_answer(items[p])), None)
        if answer is not None and items[answer].size <= left:
            kept.add(answer)
            left -= items[answer].size
    return only_whole(items, kept)


def _is_answer(item: Item) -> bool:
    if item.message.role is not Role.ASSISTANT or has_tools(item):
        return False
    return any(block.kind is Kind.TEXT for block in item.message.blocks)


def basic_edit(params: BasicParams, view: View) -> list[Item]:
    """What survives, old attachments dropped, and the notice before the newest turn's messages."""
    system, rest = apart(view.items)
    most = max_input(params.max_input_tokens, view.window)
    goal = goal_of(view, most, params.trigger, params.target) - view.overhead - params.notice_tokens
    kept = survivors(rest, goal)
    if len(kept) == len(rest):
        return list(view.items)
    latest = (prompts(rest) or [-1])[-1]
    notice = view.tools.draft(Draft(NOTICE, params.notice_tokens))
    old = [drop_media(view, rest[p], lambda _: "[attachment removed]") for p in sorted(kept) if p < latest]
    prompt = [rest[latest]] if latest in kept else []
    return [*system, *old, *prompt, notice, *(rest[p] for p in sorted(kept) if p > latest)]


BASIC = Policy(
    name="cline_basic", label="Cline, basic",
    source="cline/cline sdk/packages/core/src/extensions/context/basic-compaction.ts (21cb8d25, 2026-08-22)",
    help="Keeps prompts, the newest messages and old answers that fit; a notice stands for the rest; no model call.",
    estimator="cline",
    params=BasicParams, layers=(Layer("basic", "Basic compaction", basic_gate, basic_edit, cheap=True),),
    summary_calls=False, threshold_param="trigger", tier="golden",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgenticParams(Budget):
    """Budget, trigger, target and what stays."""

    target: int = param(70, "Target", "Share of the trigger", *PERCENT)
    preserve_recent_tokens: int = param(20_000, "Newest messages kept", "At most the target", *FINE_TOKENS)
    summary_tokens: int = param(
        4_096, "Summary at most", "Of the model's output", "tokens", 1, 100_000, group="summary"
    )


def agentic_gate(params: AgenticParams, view: View) -> Gate:
    """Estimate of the request ≥ 0.9 of the budget, with something to summarise."""
    asked = request_gate(view, params.max_input_tokens, params.trigger)
    if asked.fires and not (has_later_prompt(view) and cut_at(params, view, apart(view.items)[1]) > 0):
        return asked._replace(fires=False, reason=f"{asked.reason}; nothing before the cut")
    return asked


def cut_at(params: AgenticParams, view: View, items: Sequence[Item]) -> int:
    """Where the kept messages start; 0 where nothing can be summarised."""
    starts = prompts(items)
    if not starts or not starts[-1]:
        return 0
    most = max_input(params.max_input_tokens, view.window)
    keep = min(params.preserve_recent_tokens, goal_of(view, most, params.trigger, params.target))
    total, candidate = 0, len(items)
    while candidate and (total < keep or candidate == len(items)):
        candidate -= 1
        total += items[candidate].size
    cut = min(candidate, starts[-1])
    while cut > 0 and not (items[cut].message.typed or items[cut].message.role is Role.ASSISTANT):
        cut -= 1
    cut = pair_safe_cut(items, cut)
    return cut if any(not item.message.summary for item in items[:cut]) else 0


def agentic_edit(params: AgenticParams, view: View) -> list[Item]:
    """The summary, then everything from the cut on."""
    system, rest = apart(view.items)
    cut = cut_at(params, view, rest)
    mode = "merge" if view.state.last_summary else "fresh"
    return [*system, *view.summarize(rest[:cut], mode=mode, most=params.summary_tokens), *rest[cut:]]


AGENTIC = Policy(
    name="cline_agentic", label="Cline, agentic",
    source="cline/cline sdk/packages/core/src/extensions/context/agentic-compaction.ts (21cb8d25, 2026-08-22)",
    help="Summarises all but the newest 20,000 tokens at nine tenths of the input budget.", estimator="cline",
    params=AgenticParams, gate=agentic_gate, edit=agentic_edit,
    threshold_param="trigger", tier="golden",
)  # fmt: skip


NOTE = "[File read again later: see the newest read]"
FIRST_PAIR = 2


@dataclass(frozen=True, slots=True)
class ClassicParams(Told):
    """The limit, and when repeated reads are enough."""

    max_allowed: int | None = when(None, "Allowed, at or above", "None: by the window", *PROMPT)
    enough: int = param(30, "Enough saved", "Share of the characters that repeated reads must save", "%", 0, 100)
    read_tools: str = param("read_file Read", "Tools that read files", "Names of tools", words=True)


def allowed(params: ClassicParams, window: int) -> int:
    """Tokens allowed for a window."""
    return allowed_of(window) if params.max_allowed is None else params.max_allowed


def total(params: ClassicParams, view: View) -> int:
    """Tokens of the last request and its reply; the estimate where usage is withheld."""
    return last_spent(params, view, view.size + view.overhead)


def classic_gate(params: ClassicParams, view: View) -> Gate:
    """Tokens of the last request ≥ what is allowed."""
    return Gate.at_least(total(params, view), allowed(params, view.window), "tokens of the last request")


def classic_edit(params: ClassicParams, view: View) -> list[Item]:
    """Repeated reads become notes; where that is not enough, messages go."""
    system, rest = apart(view.items)
    lean, n_saved = without_repeats(params, view, rest)
    n_chars = sum(sum(leaf.n_chars for leaf in item.message.leaves()) for item in rest)
    if n_saved and n_saved * 100 >= params.enough * n_chars:
        return [*system, *lean]
    used, most = total(params, view), allowed(params, view.window)
    return [*system, *truncated(lean, three_quarters=used > 2 * most)]


def without_repeats(params: ClassicParams, view: View, items: Sequence[Item]) -> tuple[list[Item], int]:
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


CLASSIC = Policy(
    name="cline_classic", label="Cline, classic",
    source="cline/cline src/core/context/context-management/ContextManager.ts (removed since)",
    help="Drops repeated file reads, then half or three quarters of the messages, near the window; no model call.",
    estimator="cline",
    params=ClassicParams, layers=(Layer("classic", "Classic truncation", classic_gate, classic_edit, cheap=True),),
    summary_calls=False, threshold_param="max_allowed", tier="golden", caveats=(MAY_LOSE_THE_REQUEST,),
)  # fmt: skip

POLICIES = (BASIC, AGENTIC, CLASSIC)
