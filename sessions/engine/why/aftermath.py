"""What came after every recorded compaction: at 80% of the threshold again when, by what; re-reads (verdicts 6)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from sessions.engine.base.errors import BadParameter
from sessions.engine.costs.prices import PER_MILLION, prices_of
from sessions.engine.quality.calls import READ, RUN, WRITE, verb_of
from sessions.engine.transcript.types import Kind, Label
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import COMPACTION, Case
from sessions.engine.why.runs import source_of
from sessions.engine.why.verdicts import cases_of

FULL = 0.8
"""Share of the threshold from which a context counts as full again."""
FULL_AGAIN, COMPACTED, MANUAL, END = "full", "compacted", "manual", "end"
"""Where the way of a compaction ends: at 80%, at the next one, at the next one that was manual, with the session."""
WHEN = {FULL_AGAIN: "At 80%", COMPACTED: "When compacted", MANUAL: "At the manual compaction", END: "At the end"}
"""When the context held what ``refilled`` says, in words."""
RAPID = 3
"""Requests within which another compaction is thrashing (policies 4.10)."""


@dataclass(frozen=True, slots=True)
class Again:
    """A file read, or a command run, that had been before: ``message`` is the call, ``first`` the one before."""

    what: str
    target: str
    message: int
    first: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What came after one compaction, until the next one or the end.

    ``after`` is the context of ``request`` in tokens (``label``), None where not known; ``threshold`` what it filled up
    to.  ``full_at`` is the first request at 80% of that, or that of the next compaction, unless somebody started it
    below; ``n_requests`` and ``minutes`` are the way there, None where neither came.  ``refilled`` are tokens by source
    at ``until`` (FULL_AGAIN, COMPACTED, MANUAL or END), ``last`` the context of the newest request before the next
    compaction, None without one.  ``actions`` are tool calls before the first edit, None where none came.
    ``tokens_again`` and ``dollars_again`` are those of ``again``; dollars None without a price.
    """

    compaction: int
    request: int
    message: int | None
    after: int | None
    label: str
    threshold: int
    full_at: int | None
    n_requests: int | None
    minutes: float | None
    refilled: tuple[tuple[str, int], ...]
    again: tuple[Again, ...]
    tokens_again: int
    dollars_again: float | None
    actions: int | None
    thrashing: bool
    until: str
    last: int | None


def aftermaths(weighed: Weighed) -> tuple[Aftermath, ...]:
    """One entry per recorded compaction, in order."""
    if not weighed.transcript.compactions:
        return ()
    cases = [case for case in cases_of(weighed) if case.what == COMPACTION]
    messages = weighed.transcript.messages
    results = {call: message.index for message in messages for call in message.result_ids()}
    writes = [m.index for m in messages for b in m.blocks if b.kind is Kind.TOOL_USE and verb_of(b.name) == WRITE]
    return tuple(_after(case, following, results, writes) for case, following in zip_longest(cases, cases[1:]))


def _after(case: Case, following: Case | None, results: Mapping[str, int], writes: Sequence[int]) -> Aftermath:
    """``results`` are the messages that answer calls, ``writes`` those that write files."""
    weighed = case.weighed
    recorded, steps = weighed.recorded, weighed.steps
    run = range(case.position, following.position if following else len(steps))
    stop = following.stop if following else len(weighed.transcript.messages)
    limit = case.met or case.larger
    full = next((k for k in run if k > run.start and recorded.context[k] >= FULL * limit), None)
    until = _end(full, following)
    if until == COMPACTED:
        full = run.stop
    at = steps[full] if full is not None and full < len(steps) else None
    again = _again(case, stop, results, writes)
    tokens = sum(one.tokens for one in again)
    messages = weighed.transcript.messages[case.stop : stop]
    calls = (block for message in messages for block in message.blocks if block.kind is Kind.TOOL_USE)
    is_known = len(run) > 0 and recorded.labels[run.start] is Label.MEASURED
    return Aftermath(
        compaction=case.number,
        request=case.request,
        message=case.compaction.message if case.compaction else None,
        after=recorded.context[run.start] if run else None,
        label=(Label.MEASURED if is_known else weighed.weak_label).value,
        threshold=limit,
        full_at=at.request if at else following.request if following and until == COMPACTED else None,
        n_requests=None if full is None else full - run.start,
        minutes=_minutes(weighed, run.start, full) if full is not None and at else None,
        refilled=_refilled(case, range(case.stop, at.stop if at and full in run else stop)),
        again=again,
        tokens_again=tokens,
        dollars_again=_dollars(weighed, tokens),
        actions=next((n for n, call in enumerate(calls) if verb_of(call.name) == WRITE), None),
        thrashing=following is not None and following.trigger != "manual" and len(run) <= RAPID,
        until=until,
        last=recorded.context[run[-1]] if run else None,
    )


def _end(full: int | None, following: Case | None) -> str:
    """Where the way ends, given the step at 80% and the next compaction: a manual one says nothing of the context."""
    if full is not None:
        return FULL_AGAIN
    if following is None:
        return END
    return MANUAL if following.trigger == "manual" else COMPACTED


def _minutes(weighed: Weighed, start: int, stop: int) -> float | None:
    """Minutes between the requests of two steps, None where the times are not recorded."""
    requests = weighed.transcript.requests
    first, last = (requests[weighed.steps[k].request].timestamp for k in (start, stop))
    return None if first is None or last is None else round((last - first) / 60, 1)


def _refilled(case: Case, span: range) -> tuple[tuple[str, int], ...]:
    """Tokens by source, the largest first; what the compaction put there has names of its own."""
    weighed = case.weighed
    sums: Counter[str] = Counter()
    for i in span:
        message = weighed.transcript.messages[i]
        put_back = message.compaction is not None
        name = "summary" if message.summary else "put back" if put_back else source_of(message, case.shared.tool_of)
        sums[name] += weighed.tokens[i]
    if case.compaction:
        sums["kept"] += sum(weighed.tokens[i] for i in case.compaction.preserved)
    sums["system and tools"] += case.shared.standing
    return tuple((name, n) for name, n in sums.most_common() if n)


def _again(case: Case, stop: int, results: Mapping[str, int], writes: Sequence[int]) -> tuple[Again, ...]:
    """What is read or run again before ``stop``, each target once."""
    weighed, messages = case.weighed, case.weighed.transcript.messages
    found: list[Again] = []
    seen: set[str] = set()
    for i in range(case.stop, stop):
        for block in messages[i].blocks:
            verb = verb_of(block.name) if block.kind is Kind.TOOL_USE and block.target else ""
            if verb not in (READ, RUN) or block.target in seen:
                continue
            seen.add(block.target)
            first = _before(case, writes, block.target, verb, i)
            if first is None:
                continue
            answer = results.get(block.call_id)
            tokens = weighed.tokens[answer] // max(1, len(messages[answer].result_ids())) if answer is not None else 0
            found.append(Again("file" if verb == READ else "command", block.target, i, first, tokens))
    return tuple(found)


def _before(case: Case, writes: Sequence[int], target: str, verb: str, now: int) -> int | None:
    """The last of its kind, if it left the context and nothing it may depend on was written.

    Of a file that counts from the compaction on: what was written to it before left the context as well; of a command
    any file counts, from when it was run.
    """
    uses = case.weighed.target_uses[target]
    place = bisect_left(uses, (now, "")) - 1
    written = -1
    while place >= 0 and verb_of(uses[place][1]) != verb:
        if written < 0 and verb_of(uses[place][1]) == WRITE:
            written = uses[place][0]
        place -= 1
    last = uses[place][0] if place >= 0 else None
    kept = case.compaction.preserved if case.compaction else ()
    if last is None or last >= case.stop or last in kept:
        return None
    if verb != READ:
        following = bisect_right(writes, last)
        written = writes[following] if following < len(writes) else now
        return last if written >= now else None
    return None if written >= case.stop else last


def _dollars(weighed: Weighed, tokens: int) -> float | None:
    try:
        prices = prices_of(weighed.model)
    except BadParameter:
        return None
    return None if prices is None else round(tokens * prices.fresh() / PER_MILLION, 4)


def aftermath_document(weighed: Weighed) -> dict[str, Any]:
    """One entry of ``sessions[]`` in ``ctxweb.aftermath/1``, with the totals over its compactions."""
    found = aftermaths(weighed)
    costs = [one.dollars_again for one in found if one.dollars_again is not None]
    return {
        "id": weighed.transcript.id,
        "title": weighed.transcript.title,
        "compactions": [
            asdict(one) | {"refilled": [{"source": name, "tokens": n} for name, n in one.refilled]} for one in found
        ],
        "totals": {
            "compactions": len(found),
            "thrashing": sum(one.thrashing for one in found),
            "files_again": sum(again.what == "file" for one in found for again in one.again),
            "commands_again": sum(again.what == "command" for one in found for again in one.again),
            "tokens_again": sum(one.tokens_again for one in found),
            "dollars_again": round(sum(costs), 4) if costs else None,
        },
    }
