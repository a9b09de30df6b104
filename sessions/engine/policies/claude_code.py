"""Claude Code: tool-result budget, micro-compaction, session memory and full auto-compaction (policies 4).

The layers stand in the order of the original.  The budget is off by default because Claude Code's own transcripts hold
results already cut to it.  A turn of the rapid-refill breaker is read as a request.

Not expressed: micro-compaction by cache edits (policies 4.6): a replay's cache reads end at the first message changed.
Snip and context collapse are not established; the note for an empty tool result adds a few tokens and is left out.

``claude_code_partial`` (policies 4.9) happens between turns, when the user asks for it: at a request given, else when
the ladder of auto-compaction says compact.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.policies._claude_attached import attachments, budget_param, cut_param, described, max_files_param
from sessions.engine.policies._claude_ladder import REAL, WRITTEN, Ladder, ladder, ladder_gate, ladder_of
from sessions.engine.policies._claude_notes import from_notes, keep_notes
from sessions.engine.policies._claude_results import budget_edit, budget_gate, micro_edit, micro_gate
from sessions.engine.policies._lists import apart, prompts
from sessions.engine.policies.params import FINE_TOKENS, TOKENS, Told, choice, param, stop_after, when
from sessions.engine.policies.policy import EditFailed, Gate, Item, Layer, Policy, View, pair_safe_cut

__all__ = ["POLICIES", "Ladder", "Params", "ladder"]


@dataclass(frozen=True, slots=True)
class Params(Told):
    """The ladder's buffers, the layers, and what a compaction puts back."""

    max_output: int | None = when(
        None, "Model's maximum output", "None: the model's own, else 32,000", "tokens", 0, 200_000, 1_000
    )
    output_reserve_cap: int | None = when(
        20_000, "Output reserve cap", "The reserve is at most this; none: older clients reserve it all",
        "tokens", 0, 200_000, 1_000, optional=True,
    )  # fmt: skip
    buffer: int = when(
        13_000, "Auto-compact buffer", "Compacts this far under the effective window", "tokens", 0, 200_000, 500
    )
    pct_override: int | None = when(
        None, "Percent override", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: can only lower the threshold", "%", 1, 100
    )
    auto_compact_window: int | None = when(
        None, "Auto-compact window",
        "CLAUDE_CODE_AUTO_COMPACT_WINDOW: 100,000 to 1,000,000, never above the model's; none: the model's",
        "tokens", 1, 10_000_000, 1_000,
    )  # fmt: skip
    auto: str = choice(("on", "off"), "Auto-compact", "Off: DISABLE_AUTO_COMPACT", group="when")
    warn_buffer: int = when(20_000, "Warning buffer", "Warns this far under the threshold", "tokens", 0, 200_000, 500)
    blocked_buffer: int = when(
        3_000, "Blocking buffer", "Refuses to send this far under the effective window", "tokens", 0, 200_000, 500
    )
    tail: str = choice(
        ("on", "off"),
        "After the reply",
        "An estimate of what came after it counts; off: clients up to 2.1.1",
        group="when",
    )
    output: str = choice(
        (REAL, WRITTEN), "Reply's output", "Written: as the transcript says, streaming placeholders too", group="when"
    )
    reactive: str = choice(
        ("off", "on"), "After a refusal", "A full compaction when the request is over the window", group="when"
    )
    micro: str = choice(
        ("off", "time", "hint"),
        "Micro-compaction",
        "Clears old results after an idle gap, or after the server's hint",
        group="when",
    )
    micro_gap: int = when(60, "Idle gap", "At or above", "minutes", 0, 10_000)
    hint_at: int | None = when(
        None, "Hint at", "The context that the server answers with a hint; none: over the window",
        "tokens", 1, 2_000_000, 1_000,
    )  # fmt: skip
    micro_saved: int = when(20_000, "Hint saves at least", "Fewer tokens: nothing is cleared", *TOKENS)
    micro_keep: int = param(5, "Results kept", "Of the newest calls; at least 1", "calls", 0, 1_000)
    micro_tools: str = param(
        "Read Bash PowerShell Grep Glob WebSearch WebFetch Edit Write", "Tools it clears", "Names of tools", words=True
    )
    result_chars: int | None = param(
        None, "Budget of a tool result", "50,000 in the original; its transcripts hold results already cut",
        "chars", 0, 10_000_000, 1_000,
    )  # fmt: skip
    message_chars: int | None = param(
        None, "Budget of a message's results", "200,000 in some write-ups, unverified", "chars", 0, 10_000_000, 1_000
    )
    preview_chars: int = param(2_000, "Preview", "Of a result that was cut", "chars", 0, 100_000, 100)
    session_memory: str = choice(("off", "on"), "Session memory", "Notes kept in the background stand for the summary")
    notes_first: int = param(10_000, "Notes first at", "Context", *FINE_TOKENS)
    notes_growth: int = param(5_000, "Notes again after", "New tokens", *FINE_TOKENS)
    notes_calls: int = param(3, "And tool calls", "Or a reply without any", "calls", 0, 1_000)
    notes_tokens: int = param(12_000, "Notes at most", "All sections", *FINE_TOKENS)
    keep_tokens: int = param(10_000, "Kept beside the notes", "At least", *FINE_TOKENS)
    keep_messages: int = param(5, "And messages with text", "At least", "messages", 0, 1_000)
    keep_most: int = param(40_000, "Kept at most", "Beside the notes", *FINE_TOKENS)
    max_files: int = max_files_param()
    file_tokens: int = cut_param("file", "Each file is cut to this")
    files_budget: int = budget_param(50_000, "files", "All re-attached files together")
    skill_tokens: int = cut_param("skill", "Each invoked skill is cut to this")
    skills_budget: int = budget_param(25_000, "skills", "All invoked skills together")
    breaker: int | None = stop_after("attempts in a row before it stops for the session")
    rapid_refills: int | None = param(
        3, "Rapid refills", "Times in a row that it is full again soon; then it stops; none: never",
        "refills", 1, 100, optional=True,
    )  # fmt: skip
    rapid_turns: int = param(3, "Rapid, under", "Requests since the compaction before", "requests", 0, 1_000)


def gate(params: Params, view: View) -> Gate:
    """The ladder; the notes are kept up to date beside it."""
    if params.session_memory == "on":
        keep_notes(params, view)
    return ladder_gate(params, view)


def edit(params: Params, view: View) -> list[Item]:
    """From the notes where they are kept and suffice, else the whole list becomes a summary and what is put back."""
    refills = _refills(params, view)
    outcome = None
    if params.session_memory == "on":
        outcome = from_notes(params, view, ladder_of(params, view).compact)
    if outcome is None:
        outcome = full(params, view)
    view.state.memory |= {"compacted_at": view.request, "refills": refills}
    return outcome


def _refills(params: Params, view: View) -> int:
    """Compactions in a row that each came soon after the one before; stops for good at the limit (policies 4.10)."""
    before = view.state.memory.get("compacted_at")
    soon = before is not None and view.request - before < params.rapid_turns
    refills = view.state.memory.get("refills", 0) + 1 if soon else 0
    if params.rapid_refills is not None and refills >= params.rapid_refills:
        view.state.stopped = f"rapid refill: full again {refills} times in a row right after a compaction"
        raise EditFailed(f"{view.state.stopped}; the policy stops")
    return refills


def full(params: Params, view: View) -> list[Item]:
    """The whole list becomes a summary, up to five of the files read last and the skills invoked (policies 4.9)."""
    system, dropped = apart(view.items)
    if not dropped:
        return list(view.items)
    return [*system, *view.summarize(described(view, dropped), attachments(params, dropped), mode="nine")]


def reactive_gate(params: Params, view: View) -> Gate:
    """Fires when the provider would refuse the request."""
    on = params.reactive == "on"
    reason = "the provider refuses: over the window" if on else "off"
    return Gate(on and view.rejected, reason, view.context, view.window, ">", "tokens")


AUTO = Policy(
    name="claude_code", label="Claude Code auto-compact",
    source="third-party analyses of Claude Code; agrees with the preTokens that public transcripts record",
    help="Summarises the whole conversation 13,000 tokens under the effective window and re-attaches recent files.",
    estimator="claude_code", params=Params,
    layers=(
        Layer("budget", "Tool-result budget", budget_gate, budget_edit, cheap=True),
        Layer("micro", "Micro-compaction", micro_gate, micro_edit, cheap=True),
        Layer("auto", "Auto-compaction", gate, edit, drawn=True),
        Layer("reactive", "After a refusal", reactive_gate, full),
    ),
    shares_prefix=True, threshold_param="pct_override", tier="golden",
)  # fmt: skip


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class PartialParams(Told):
    """Where the pivot is, and when the user asks."""

    direction: str = choice(("up_to", "from"), "Summarise", "Up to the pivot, or from it on (what is before stays)")
    turns: int = param(2, "Pivot", "This many turns from the end; the prompt being asked is not one", "turns", 1, 1_000)
    at: int | None = when(
        None, "At request", "The first turn's start at or after it; none: when the ladder says compact",
        "request", 0, 1_000_000,
    )  # fmt: skip
    max_files: int = max_files_param()
    file_tokens: int = cut_param("file", "Each file is cut to this")
    files_budget: int = budget_param(50_000, "files", "All re-attached files together")
    skill_tokens: int = cut_param("skill", "Each invoked skill is cut to this")
    skills_budget: int = budget_param(25_000, "skills", "All invoked skills together")


def partial_gate(params: PartialParams, view: View) -> Gate:
    """Between turns, with a pivot: at the request asked for, once, or when the ladder says compact."""
    if params.at is None:
        asked = ladder_gate(DEFAULTS, view)
    else:
        due = view.request >= params.at and not view.state.n_events
        asked = Gate(due, "asked for by hand", view.request, params.at, ">=", "request")
    if asked.fires and not (view.newest_typed and _pivot(params, apart(view.items)[1][:-1])):
        return asked._replace(fires=False, reason=f"{asked.reason}; waiting for a turn's end")
    return asked


def _pivot(params: PartialParams, body: list[Item]) -> int:
    """Position of the pivot in the list without the live prompt; 0 where there is none."""
    starts = prompts(body)
    return pair_safe_cut(body, starts[-params.turns]) if len(starts) >= params.turns else 0


def partial_edit(params: PartialParams, view: View) -> list[Item]:
    """The summary in place of one side of the pivot; the live prompt stays last."""
    system, rest = apart(view.items)
    body, live = rest[:-1], rest[-1]
    cut = _pivot(params, body)
    dropped, kept = (body[cut:], body[:cut]) if params.direction == "from" else (body[:cut], body[cut:])
    made = view.summarize(described(view, dropped), attachments(params, dropped, kept), mode="nine")
    if params.direction == "from":
        return [*system, *kept, *made, live]
    return [*system, *made, *kept, live]


PARTIAL = Policy(
    name="claude_code_partial", label="Claude Code partial compaction",
    source="third-party analyses of Claude Code",
    help="Summarises the conversation from, or up to, one of its prompts, as a user may ask for by hand.",
    estimator="claude_code",
    params=PartialParams, gate=partial_gate, edit=partial_edit,
    shares_prefix=True, tier="golden",
)  # fmt: skip

POLICIES = (AUTO, PARTIAL)
