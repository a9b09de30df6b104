"""What filled the context since the last compaction: by tool, in how many requests, the heaviest (verdicts 5)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.types import Kind, Role
from sessions.engine.why.case import ERROR, Evidence

if TYPE_CHECKING:
    from sessions.engine.types import Message
    from sessions.engine.why.case import Case

MOST_TOOLS = 3
LARGE = 0.2
"""Share of what came since from which one message is named."""


class Filled(NamedTuple):
    """Tokens that came since the last compaction, and of which sources, the largest first.

    ``heaviest`` is the message that weighs most, None where nothing came; ``new`` what came after the last answer.
    """

    tokens: int
    n_requests: int
    by_source: tuple[tuple[str, int, int], ...]
    heaviest: int | None
    heaviest_tokens: int
    new: int


def filled(case: Case) -> Filled:
    """What came since the last compaction, what that one put there left out; counted once for all causes."""
    return case.once("filled", lambda: _counted(case))


def _counted(case: Case) -> Filled:
    weighed, messages = case.weighed, case.weighed.transcript.messages
    start = case.previous.boundary if case.previous else 0
    sums: dict[str, int] = defaultdict(int)
    counts: dict[str, int] = defaultdict(int)
    heaviest, most = None, 0
    for i in range(start, case.stop):
        if messages[i].compaction is not None:
            continue
        source = source_of(case, messages[i])
        sums[source] += weighed.tokens[i]
        counts[source] += 1
        if weighed.tokens[i] > most:
            heaviest, most = i, weighed.tokens[i]
    ranked = sorted(((name, tokens, counts[name]) for name, tokens in sums.items()), key=lambda row: -row[1])
    new = sum(weighed.tokens[i] for i in case.tail)
    return Filled(sum(sums.values()), len(case.run), tuple(ranked), heaviest, most, new)


def source_of(case: Case, message: Message) -> str:
    """Who brought a message: the tool whose result it is, "replies", "prompts" or "other"."""
    results = [block for block in message.blocks if block.kind is Kind.TOOL_RESULT]
    if results:
        return case.shared.tool_of.get(results[0].call_id, "") or results[0].name or "tools"
    if message.role is Role.ASSISTANT:
        return "replies"
    return "prompts" if message.typed else "other"


def filled_rows(case: Case) -> tuple[Evidence, ...]:
    """The same as rows: the sources, then the heaviest message where it is a large part."""
    found = filled(case)
    if not found.tokens or found.heaviest is None:
        return ()
    since = "Since the last compaction" if case.previous else "Since the start"
    named = ", ".join(f"{name} {tokens:,}" for name, tokens, _ in found.by_source[:MOST_TOOLS])
    n = found.n_requests
    text = f"{since}, in {n:,} {'request' if n == 1 else 'requests'}: {named} tokens"
    rows = [Evidence(text, case.request, None, found.tokens, "tokens", case.label.value)]
    share = found.heaviest_tokens / found.tokens
    if share >= LARGE or (case.what == ERROR and found.heaviest_tokens >= LARGE * max(1, found.new)):
        source = source_of(case, case.weighed.transcript.messages[found.heaviest])
        text = (
            f"Heaviest: message {found.heaviest}, {source}, {found.heaviest_tokens:,} tokens, {100 * share:.0f}% of it"
        )
        rows.append(Evidence(text, None, found.heaviest, found.heaviest_tokens, "tokens", case.label.value))
    return tuple(rows)


def said_row(case: Case) -> tuple[Evidence, ...]:
    """The figures that a refusal names, as a row; () where it names none."""
    error = case.error
    if error is None or not error.tokens:
        return ()
    allowed = f" of {error.limit:,} allowed" if error.limit else ""
    text = f"The refusal names {error.tokens:,} tokens{allowed}"
    return (Evidence(text, case.request, None, error.tokens, "tokens", "recorded"),)
