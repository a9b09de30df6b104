"""What filled the context since the last compaction: by tool, in how many requests, the heaviest (verdicts 5)."""

from __future__ import annotations

from collections import Counter

from sessions.engine.base.words import counted
from sessions.engine.transcript.types import Kind, Label, Message
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import ERROR, Case
from sessions.engine.why.causes import Evidence
from sessions.engine.why.runs import source_of
from sessions.engine.why.said import unit_of
from sessions.engine.why.shared import shared_facts

MOST_TOOLS = 3
GIANT = 10_000
"""Tokens of each result on average from which a tool is named that brought most of a context."""
LARGE = 0.2
"""Share of what came since from which one message is named."""
LEAST = 1_000
"""Tokens from which a size is told."""
PLAIN = frozenset({"replies", "prompts", "other", "tools"})
DATA = "data as text (base64 or the like)"
FEW, AS_PICTURE = 0.2, 10
"""Tokens for each character of base64 that is counted as text, at least; times what a picture comes to, from which."""
LEAST_DATA, NO_BLANKS, MIXED = 20_000, 0.03, 0.25
"""Bytes, and shares of them, from which a text is data: of base64 nearly half are capitals or digits."""


def filled_rows(case: Case) -> tuple[Evidence, ...]:
    """What filled the context, as rows: the sources, then the heaviest message where it is a large part."""
    found = case.filled
    if not found.tokens or found.heaviest is None:
        return ()
    since = "Since the last compaction" if case.previous else "Since the start"
    named = ", ".join(f"{name} {tokens:,}" for name, tokens, _ in found.by_source[:MOST_TOOLS])
    text = f"{since}, in {counted(found.n_requests, 'request')}: {named} tokens"
    rows = [Evidence(text, case.request, None, found.tokens, "tokens", case.label.value)]
    share = found.heaviest_tokens / found.tokens
    if share >= LARGE or (case.what == ERROR and found.heaviest_tokens >= LARGE * max(1, found.new)):
        source = source_of(case.weighed.transcript.messages[found.heaviest], case.shared.tool_of)
        text = (
            f"Heaviest: message {found.heaviest}, {source}, {found.heaviest_tokens:,} tokens, {100 * share:.0f}% of it"
        )
        rows.append(Evidence(text, None, found.heaviest, found.heaviest_tokens, "tokens", case.label.value))
    return tuple(rows)


def brought(weighed: Weighed, steps: range, whole: int, lead: str = "") -> str:
    """The tool of which a few results brought most of a context, or the one prompt that did, in a clause; else "".

    By what was measured before and after them: a file may hold less than was sent.
    """
    tool_of, messages, context = shared_facts(weighed).tool_of, weighed.transcript.messages, weighed.recorded.context
    sums: Counter[str] = Counter()
    n_results: Counter[str] = Counter()
    steps_of: dict[str, list[int]] = {}
    for k in steps:
        span = messages[weighed.steps[k].start : weighed.steps[k].stop]
        ids = [call for message in span for call in message.result_ids()]
        names = {tool_of.get(call, "") for call in ids} or {f"message {m.index:,}" for m in span if m.typed}
        if k and len(names) == 1 and weighed.recorded.labels[k] is Label.MEASURED:
            sums[name := names.pop()] += context[k] - context[k - 1]
            steps_of.setdefault(name, []).append(k)
            n_results[name] += len(ids)
    name, tokens = max(sums.items(), key=lambda one: one[1], default=("", 0))
    n = n_results[name]
    if not name or 2 * tokens < whole or tokens < GIANT * max(n, 1):
        return ""
    of = f"{counted(n, 'result')} of " if n else ""
    spans = (messages[weighed.steps[k].start : weighed.steps[k].stop] for k in steps_of[name])
    as_data = f", {DATA}" if all(any(is_data(message) for message in span) for span in spans) else ""
    as_data = as_data or _as_text(weighed, steps_of[name], tokens)
    return f"{lead}{tokens:,} of them came with {of}{name}{as_data}"


def _as_text(weighed: Weighed, steps: list[int], came: int) -> str:
    """That what came with pictures fits the length of their base64, and not what pictures come to, in a clause."""
    spans = [range(weighed.steps[k].start, weighed.steps[k].stop) for k in steps]
    leaves = (leaf for span in spans for i in span for leaf in weighed.transcript.messages[i].leaves())
    n = sum(leaf.media.n_base64 for leaf in leaves if leaf.media and leaf.kind is Kind.IMAGE)
    counted = sum(weighed.tokens[i] for span in spans for i in span)
    is_text = FEW * n <= came <= n and came >= AS_PICTURE * counted
    return f": {n:,} characters of base64, which were counted as text (likely)" if is_text else ""


def heaviest_words(case: Case) -> str:
    """The heaviest message since the last compaction, what brought it, its tokens, and whether it is data as text."""
    found, messages = case.filled, case.weighed.transcript.messages
    if found.heaviest is None:
        return ""
    message = messages[found.heaviest]
    tool = source_of(message, case.shared.tool_of)
    brought = DATA if is_data(message) else "" if tool in PLAIN else tool
    if n_put := _put_in(message):
        brought = f"with {counted(n_put, 'source')} put into it"
    n_files = sum(leaf.kind is Kind.DOCUMENT for leaf in message.leaves())
    # What a document comes to is known only of the provider.
    brought = f"with {counted(n_files, 'document')}" if n_files else brought
    apart, about = f", {brought}," if brought else "", "about " if n_files else ""
    if case.error is not None and 0 < (case.error.tokens or 0) < found.heaviest_tokens:
        # Its tokens are counted by us: more than all that was sent they cannot be.
        return f"message {found.heaviest:,}{apart} is most of it"
    return f"message {found.heaviest:,}{apart} holds {about}{found.heaviest_tokens:,} tokens"


def newest_answer(case: Case) -> str:
    """What the request right before had, and who answered it, in a clause; "" where that was not measured well."""
    usage, last = case.usage, case.last
    # What failed right after a jump speaks for the jump.
    is_wrong = case.is_partial or (case.is_spike and case.error is None)
    if usage is None or last is None or is_wrong or usage.context < LEAST:
        return ""
    with_reply = f" ({usage.context + usage.output:,} with the reply)" if usage.output else ""
    who = f"{last.model} answered" if last.model else "the request before had"
    return f"{who} {usage.context:,} tokens{with_reply}"


def smaller(case: Case) -> str | None:
    """What to do about the heaviest message where it is no result that can be read in parts; None else."""
    found, messages = case.filled, case.weighed.transcript.messages
    if found.heaviest is None:
        return None
    if is_data(messages[found.heaviest]):
        return "Send the file as a document, or its text, not as base64."
    if _put_in(messages[found.heaviest]):
        return "Put in less: fewer sources, or parts of them."
    return (
        "Paste it in parts, or name the file."
        if source_of(messages[found.heaviest], case.shared.tool_of) == "prompts"
        else None
    )


def _put_in(message: Message) -> int:
    """How many texts that a client found are most of a prompt, as Open WebUI puts them in; 0 where they are not."""
    sizes = [block.n_chars for block in message.blocks if block.kind is Kind.TEXT and block.name]
    is_most = message.typed and 2 * sum(sizes) > sum(block.n_chars for block in message.blocks)
    return len(sizes) if is_most else 0


def can_be_less(message: Message) -> bool:
    """Whether what a message holds can be sent in another form, or in parts: data as text, or what was put into it."""
    return is_data(message) or _put_in(message) > 0


def is_data(message: Message) -> bool:
    """Whether most of a message's text is no language: long, with next to no blanks and many capitals or digits."""
    blocks = [block for block in message.leaves() if block.n_bytes >= LEAST_DATA and block.classes]
    n_bytes = sum(block.n_bytes for block in blocks)
    digits, capitals, _, blanks = (sum(block.classes[k] for block in blocks) for k in range(4))
    return bool(n_bytes) and blanks < NO_BLANKS * n_bytes and digits + capitals > MIXED * n_bytes


def said_row(case: Case) -> tuple[Evidence, ...]:
    """The figures that a refusal names, as a row; () where it names none."""
    error = case.error
    if error is None:
        return ()
    named = (("The refusal names", error.tokens, "sent"), ("It names", error.limit, "allowed"))
    unit = unit_of(error)
    return tuple(case.row(f"{who} {n:,} {unit} {what}", n, unit) for who, n, what in named if n)
