"""Claude Code: tool-result budget, micro-compaction, session memory and full auto-compaction (policies 4).

Its internals are known from third-party analyses only, not from its own source; the numbers agree with the
``preTokens`` that public transcripts record just above 167,000 (155,000 for clients without the reserve cap).

In the order of the original: tool-result budget, micro-compaction, auto-compaction (from the session's notes where they
are kept, else a full summary that shares the prompt cache), and a full compaction after a refused request.  The budget
is off by default because Claude Code's own transcripts hold results already cut to it (50,000 characters each; a cap of
200,000 for one message is reported, unverified).

Not expressed: micro-compaction by cache edits (policies 4.6), which takes tokens out without breaking the cached
prefix: a replay's cache reads end at the first message changed.  Snip and context collapse are not established; the
note for an empty tool result adds a few tokens and is left out.  A turn of the rapid-refill breaker is read as a
request.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.params import param, usage_param
from sessions.engine.policies._claude_attached import attachments, budget_param, cut_param, described, max_files_param
from sessions.engine.policies._claude_ladder import Ladder, ladder, ladder_gate, ladder_of
from sessions.engine.policies._claude_notes import from_notes, keep_notes
from sessions.engine.policies._claude_results import budget_edit, budget_gate, micro_edit, micro_gate
from sessions.engine.policies._lists import apart
from sessions.engine.policy import EditFailed, Gate, Item, Layer, Policy, View

__all__ = ["POLICY", "Ladder", "Params", "ladder"]


@dataclass(frozen=True, slots=True)
class Params:
    """The ladder's buffers, the layers, and what a compaction puts back."""

    max_output: int | None = param(
        None, label="Model's maximum output", help="None: the model's own, else 32,000", unit="tokens", group="when",
        low=0, high=200_000, step=1_000, optional=True,
    )  # fmt: skip
    output_reserve_cap: int | None = param(
        20_000, label="Output reserve cap", help="The reserve is at most this; none: older clients reserve it all",
        unit="tokens", group="when", low=0, high=200_000, step=1_000, optional=True,
    )  # fmt: skip
    buffer: int = param(
        13_000, label="Auto-compact buffer", help="Compacts this far under the effective window", unit="tokens",
        group="when", low=0, high=200_000, step=500,
    )  # fmt: skip
    pct_override: int | None = param(
        None, label="Percent override", help="CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: can only lower the threshold",
        unit="%", group="when", low=1, high=100, optional=True,
    )  # fmt: skip
    auto_compact_window: int | None = param(
        None, label="Auto-compact window", help="CLAUDE_CODE_AUTO_COMPACT_WINDOW: 100,000 to 1,000,000, never above "
        "the model's; none: the model's", unit="tokens", group="when", low=1, high=10_000_000, step=1_000,
        optional=True,
    )  # fmt: skip
    auto: str = param("on", label="Auto-compact", help="Off: DISABLE_AUTO_COMPACT", group="when", choices=("on", "off"))
    warn_buffer: int = param(
        20_000, label="Warning buffer", help="Warns this far under the threshold", unit="tokens", group="when",
        low=0, high=200_000, step=500,
    )  # fmt: skip
    blocked_buffer: int = param(
        3_000, label="Blocking buffer", help="Refuses to send this far under the effective window", unit="tokens",
        group="when", low=0, high=200_000, step=500,
    )  # fmt: skip
    reactive: str = param(
        "off", label="After a refusal", help="A full compaction when the request is over the window", group="when",
        choices=("off", "on"),
    )  # fmt: skip
    micro: str = param(
        "off", label="Micro-compaction", help="Clears old results after an idle gap, or after the server's hint",
        group="when", choices=("off", "time", "hint"),
    )  # fmt: skip
    micro_gap: int = param(60, label="Idle gap", help="At or above", unit="minutes", group="when", low=0, high=10_000)
    hint_at: int | None = param(
        None, label="Hint at", help="The context that the server answers with a hint; none: over the window",
        unit="tokens", group="when", low=1, high=2_000_000, step=1_000, optional=True,
    )  # fmt: skip
    micro_saved: int = param(
        20_000, label="Hint saves at least", help="Fewer tokens: nothing is cleared", unit="tokens", group="when",
        low=0, high=1_000_000, step=1_000,
    )  # fmt: skip
    micro_keep: int = param(5, label="Results kept", help="Of the newest calls; at least 1", unit="calls", low=0,
                            high=1_000)  # fmt: skip
    micro_tools: str = param(
        "Read Bash PowerShell Grep Glob WebSearch WebFetch Edit Write", label="Tools it clears", help="Names of tools",
        words=True,
    )  # fmt: skip
    result_chars: int | None = param(
        None, label="Budget of a tool result", help="50,000 in the original; its transcripts hold results already cut",
        unit="chars", low=0, high=10_000_000, step=1_000, optional=True,
    )  # fmt: skip
    message_chars: int | None = param(
        None, label="Budget of a message's results", help="200,000 in some write-ups, unverified", unit="chars", low=0,
        high=10_000_000, step=1_000, optional=True,
    )  # fmt: skip
    preview_chars: int = param(2_000, label="Preview", help="Of a result that was cut", unit="chars", low=0,
                               high=100_000, step=100)  # fmt: skip
    session_memory: str = param(
        "off", label="Session memory", help="Notes kept in the background stand for the summary", choices=("off", "on")
    )
    notes_first: int = param(10_000, label="Notes first at", help="Context", unit="tokens", low=0, high=1_000_000,
                             step=500)  # fmt: skip
    notes_growth: int = param(5_000, label="Notes again after", help="New tokens", unit="tokens", low=0,
                              high=1_000_000, step=500)  # fmt: skip
    notes_calls: int = param(3, label="And tool calls", help="Or a reply without any", unit="calls", low=0, high=1_000)
    notes_tokens: int = param(12_000, label="Notes at most", help="All sections", unit="tokens", low=0, high=1_000_000,
                              step=500)  # fmt: skip
    keep_tokens: int = param(10_000, label="Kept beside the notes", help="At least", unit="tokens", low=0,
                             high=1_000_000, step=500)  # fmt: skip
    keep_messages: int = param(5, label="And messages with text", help="At least", unit="messages", low=0, high=1_000)
    keep_most: int = param(40_000, label="Kept at most", help="Beside the notes", unit="tokens", low=0,
                           high=1_000_000, step=500)  # fmt: skip
    max_files: int = max_files_param()
    file_tokens: int = cut_param("file", "Each file is cut to this")
    files_budget: int = budget_param(50_000, "files", "All re-attached files together")
    skill_tokens: int = cut_param("skill", "Each invoked skill is cut to this")
    skills_budget: int = budget_param(25_000, "skills", "All invoked skills together")
    breaker: int | None = param(
        3, label="Breaker", help="Failed attempts in a row before it stops for the session; none: never",
        unit="failures", low=1, high=100, optional=True,
    )  # fmt: skip
    rapid_refills: int | None = param(
        3, label="Rapid refills", help="Times in a row that it is full again soon; then it stops; none: never",
        unit="refills", low=1, high=100, optional=True,
    )  # fmt: skip
    rapid_turns: int = param(3, label="Rapid, under", help="Requests since the compaction before", unit="requests",
                             low=0, high=1_000)  # fmt: skip
    usage: str = usage_param()


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


POLICY = Policy(
    name="claude_code",
    label="Claude Code auto-compact",
    source="third-party analyses of Claude Code; agrees with the preTokens that public transcripts record",
    help="Summarises the whole conversation 13,000 tokens under the effective window and re-attaches recent files.",
    estimator="claude_code",
    params=Params,
    layers=(
        Layer("budget", "Tool-result budget", budget_gate, budget_edit, cheap=True),
        Layer("micro", "Micro-compaction", micro_gate, micro_edit, cheap=True),
        Layer("auto", "Auto-compaction", gate, edit, drawn=True),
        Layer("reactive", "After a refusal", reactive_gate, full),
    ),
    shares_prefix=True,
    threshold_param="pct_override",
    tier="golden",
)
