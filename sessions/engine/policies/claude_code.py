"""Claude Code: the threshold ladder and full auto-compaction (policies 4.1, 4.9, 4.10).

Its internals are known from third-party analyses only, not from its own source; the numbers agree with the
``preTokens`` that public transcripts record just above 167,000 (155,000 for clients without the reserve cap).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sessions.engine.params import param, usage_param
from sessions.engine.policy import Draft, Gate, Item, Policy, View
from sessions.engine.types import Kind

DEFAULT_MAX_OUTPUT = 32_000


@dataclass(frozen=True, slots=True)
class Params:
    """The ladder's buffers and what a full compaction re-attaches."""

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
    warn_buffer: int = param(
        20_000, label="Warning buffer", help="Warns this far under the threshold", unit="tokens", group="when",
        low=0, high=200_000, step=500,
    )  # fmt: skip
    blocked_buffer: int = param(
        3_000, label="Blocking buffer", help="Refuses to send this far under the effective window", unit="tokens",
        group="when", low=0, high=200_000, step=500,
    )  # fmt: skip
    max_files: int = param(5, label="Files re-attached", help="Most recently read files", unit="files", low=0, high=50)
    file_tokens: int = param(
        5_000, label="Tokens per file", unit="tokens", help="Each file is cut to this", low=0, high=100_000, step=500
    )
    files_budget: int = param(
        50_000, label="Tokens for all files", unit="tokens", help="All re-attached files together", low=0,
        high=500_000, step=1_000,
    )  # fmt: skip
    breaker: int | None = param(
        3, label="Breaker", help="Failed attempts in a row before it stops for the session; none: never",
        unit="failures", low=1, high=100, optional=True,
    )  # fmt: skip
    usage: str = usage_param()


class Ladder(NamedTuple):
    """Thresholds in tokens: levels are reached at or above them."""

    effective: int
    warn: int
    compact: int
    blocked: int


def ladder(params: Params, window: int, max_output: int) -> Ladder:
    """``effective = window − min(max_output, cap)``; compact 13,000 under it; warn 20,000 under that (policies 4.1).

    A percent override p gives ``min(⌊effective·p/100⌋, effective − buffer)``.
    """
    reserve = max_output if params.output_reserve_cap is None else min(max_output, params.output_reserve_cap)
    effective = window - reserve
    compact = effective - params.buffer
    if params.pct_override is not None:
        compact = min(effective * params.pct_override // 100, compact)
    return Ladder(effective, compact - params.warn_buffer, compact, effective - params.blocked_buffer)


def _ladder(params: Params, view: View) -> Ladder:
    max_output = params.max_output
    if max_output is None:
        max_output = view.model.max_output or DEFAULT_MAX_OUTPUT
    return ladder(params, view.window, max_output)


def used(view: View) -> int:
    """Last usage in full (input, cache, output) plus an estimate of later messages; without usage, all by estimate."""
    if view.usage is None:
        return view.size
    return view.usage.input + view.usage.output + view.usage.tail


def gate(params: Params, view: View) -> Gate:
    """Levels in the order blocked, compact, warn, ok, all ≥; compact and blocked both compact."""
    steps = _ladder(params, view)
    measure = used(view)
    level = "ok"
    for name, limit in (("blocked", steps.blocked), ("compact", steps.compact), ("warn", steps.warn)):
        if measure >= limit:
            level = name
            break
    fires = level in {"blocked", "compact"}
    limit = min(steps.compact, steps.blocked)
    return Gate(fires, "used tokens against the auto-compact threshold", measure, limit, ">=", "tokens", level)


def edit(params: Params, view: View) -> list[Item]:
    """The whole list becomes a summary and up to five of the files read last (policies 4.9)."""
    system = [item for item in view.items if item.message.role == "system"]
    dropped = [item for item in view.items if item.message.role != "system"]
    if not dropped:
        return list(view.items)
    return [*system, *view.summarize(dropped, reattached(params, dropped))]


def reattached(params: Params, items: list[Item]) -> list[Draft]:
    """The newest results of the session's own reads, one per file, each cut and all within the budget."""
    paths = {
        b.call_id: b.target for i in items for b in i.message.blocks if b.kind is Kind.TOOL_USE and b.name == "Read"
    }
    seen: set[str] = set()
    files: list[Draft] = []
    left = params.files_budget
    for item in reversed(items):
        for block in reversed(item.message.blocks):
            path = paths.get(block.call_id, "") if block.kind is Kind.TOOL_RESULT and not block.is_error else ""
            if not path or path in seen or len(files) >= params.max_files:
                continue
            seen.add(path)
            tokens = min(_result_tokens(item, block), params.file_tokens, left)
            if tokens > 0:
                left -= tokens
                files.append(Draft(f"[file read before the compaction: {path}]", tokens))
    return files


def _result_tokens(item: Item, block: object) -> int:
    """Display tokens of one result: its share of the message's."""
    counts = {id(b): sum(leaf.n_tokens for leaf in b.leaves()) for b in item.message.blocks}
    whole = sum(counts.values())
    return item.tokens * counts[id(block)] // whole if whole else 0


POLICY = Policy(
    name="claude_code",
    label="Claude Code auto-compact",
    source="third-party analyses of Claude Code; agrees with the preTokens that public transcripts record",
    help="Summarises the whole conversation 13,000 tokens under the effective window and re-attaches recent files.",
    estimator="claude_code",
    params=Params,
    gate=gate,
    edit=edit,
    shares_prefix=True,
    threshold_param="pct_override",
)
