"""The cards of causes beside the chart: why it compacted, one for each compaction, and what leads the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sessions.engine.agents.agent import writer_of
from sessions.engine.quality.broken import RulesAfter
from sessions.engine.why.aftermath import COMPACTED, WHEN, Aftermath
from sessions.engine.why.case import COMPACTION, ERROR
from sessions.engine.why.causes import REACHED
from sessions.engine.why.headline import has_died, leading
from sessions.engine.why.overcount import Firing, GateResult
from sessions.engine.why.verdicts import Verdict, is_false
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Urls, session_urls
from sessions.pages.ui.causes import held, named_message, trigger_href
from sessions.runs.overview import Overview
from sessions.runs.replay_state import ReplayState, own_state

FiringThere = tuple[GateResult, Firing, str]


MOST = 40
"""Cards; the page of all evidence has every verdict."""
ALONE = 6
"""So many plain compactions have a card each; of more, one card stands for those of one cause."""
MOST_HEAVY = 6
PLAYS = "#play"
"""The end of an address at which the replay plays up to its request by itself."""
AS_BILLED = "tiktoken_o200k"
"""The estimator that counts an image as the provider bills it."""


class Harm:
    """What one compaction cost: its rules, None where they were not looked at, and what was read or run again."""

    def __init__(self, one: Aftermath, rules: RulesAfter | None, label: str) -> None:
        self.rules, self.label, self.tokens_again = rules, label, one.tokens_again
        self.n_files = sum(row.what == "file" for row in one.again)
        self.n_commands = len(one.again) - self.n_files


class CauseRow:
    """One verdict, or several of one plain cause: ``requests`` in order, ``message`` what it names (-1: none).

    ``number`` is the compaction's place in the record (-1: none); ``then`` and ``harm`` are told where they are asked.
    ``ways`` lead to a replay at each of several requests.  ``fill`` and ``tick`` are the context after it and the
    threshold, ``top`` the context before it, in percent of the window; None where unknown.  ``spans`` are the messages
    between each of its compactions and the one before: "0-36 44-80".
    """

    def __init__(self, session_id: str, view: Overview, found: list[Verdict]) -> None:
        first, named, self.n = found[0], named_message(found[0]), len(found)
        urls, own, window = session_urls(session_id), own_state(view.weighed), view.weighed.own_window
        alone = first if self.n == 1 and first.what == COMPACTION else None
        before, after = (None, None) if alone is None else (held(view)[alone.number], _left(view, alone))
        false = first.what == COMPACTION and is_false(first)
        self.requests, self.first = [one.request for one in found], first.request
        self.what, self.cause, self.certainty = first.what, first.label, first.certainty
        self.badge = "false alarm" if false else {ERROR: "refused", COMPACTION: ""}.get(first.what, "missing")
        self.alarm = false or first.what == ERROR
        self.because = first.because if self.n == 1 else _span(found)
        known = before is not None and after is not None
        self.after = f"{figures.count(before)} → {figures.count(after)}" if known else ""
        self.message = -1 if named is None else named
        self.number = -1 if alone is None else alone.number
        self.href = urls.to_replay(own, request=first.request)
        self.ways = [(at, urls.to_replay(own, request=at)) for at in self.requests] if self.n > 1 else []
        self.threshold = None if alone is None or false else alone.threshold
        self.top, self.fill, self.tick = (_of(tokens, window) for tokens in (before, after, self.threshold))
        self.spans = _spans(view, found)
        self.then = ""
        self.harm: Harm | None = None


class Lead:
    """What the page's first button does: show the worst point in a replay, or try a threshold."""

    def __init__(self, session_id: str, view: Overview) -> None:
        found, urls, own = worst(view), session_urls(session_id), own_state(view.weighed)
        happened = found is not None and found.what == COMPACTION
        self.does = "Show it happen" if happened else "Try a threshold"
        self.href = urls.to_replay(own, request=found.request) + PLAYS if found and happened else urls.to_replay(own)
        self.certainty = found.certainty if found else ""
        self.meters = _meters(urls, own, found) if found and happened else None


@dataclass(frozen=True, slots=True)
class Meters:
    """A false alarm on one scale: what the trigger counted, what was sent, its share, and where that is mended."""

    counted: int
    actual: int
    label: str
    share: float
    href: str


@dataclass(frozen=True, slots=True)
class Heavy:
    """One of the largest messages of a session that never compacted."""

    message: int
    words: str
    tokens: int


def build_causes(session_id: str, view: Overview) -> tuple[CauseRow, ...]:
    """What ended the session, then every point in order, many plain ones of one cause as one; the first ``MOST``."""
    groups: dict[tuple[str, str, str] | int, list[Verdict]] = {}
    verdicts = list(view.verdicts)
    many = sum(_is_plain(verdict) for verdict in verdicts) > ALONE
    ended = has_died(verdicts, len(view.weighed.transcript.requests))
    if ended and (last := worst(view)) is not None:
        verdicts.sort(key=lambda verdict: verdict is not last)
    for place, verdict in enumerate(verdicts):
        plain = many and _is_plain(verdict)
        groups.setdefault(("", verdict.what, verdict.cause) if plain else place, []).append(verdict)
    return tuple(CauseRow(session_id, view, found) for found in list(groups.values())[:MOST])


def _is_plain(verdict: Verdict) -> bool:
    return verdict.cause == REACHED and verdict.what == COMPACTION


def heavy(view: Overview) -> tuple[Heavy, ...]:
    """The largest messages, of a session without an event; else none."""
    return () if view.verdicts else view.kept("heavy", lambda: _heavy(view), (Heavy,))


def _heavy(view: Overview) -> tuple[Heavy, ...]:
    tokens = view.weighed.tokens
    ranked = sorted(range(len(tokens)), key=lambda at: -tokens[at])[:MOST_HEAVY]
    return tuple(Heavy(at, view.messages[at].preview or "no text", tokens[at]) for at in ranked)


def message_that_matters(view: Overview) -> int:
    """What the inspector opens on: the overcounted message, else what the verdict names, else the largest before it."""
    if view.worst is not None:
        return view.worst
    found, tokens = worst(view), view.weighed.tokens
    named = None if found is None else named_message(found)
    if named is not None and named < len(tokens):
        return named
    stop = len(tokens)
    if found is not None and found.what == COMPACTION:
        stop = view.weighed.transcript.compactions[found.number].boundary or stop
    return max(range(min(stop, len(tokens))), key=tokens.__getitem__, default=0)


def worst(view: Overview) -> Verdict | None:
    """The verdict that the headline is about."""
    return leading(view.verdicts, len(view.weighed.transcript.requests))


def _meters(urls: Urls, own: ReplayState, found: Verdict) -> Meters | None:
    if not is_false(found) or not found.saw or not found.true or found.saw <= found.true:
        return None
    mended = urls.to_replay(replace(own, estimator=AS_BILLED), request=found.request)
    return Meters(found.saw, found.true, found.true_label, 100 * found.true / found.saw, mended)


def _spans(view: Overview, found: list[Verdict]) -> str:
    recorded = view.weighed.transcript.compactions
    cuts = [one.boundary if one.message is None else one.message for one in recorded]
    numbers = [one.number for one in found if one.what == COMPACTION]
    return " ".join(f"{cuts[n - 1] if n else 0}-{cuts[n] - 1}" for n in numbers)


def _span(found: list[Verdict]) -> str:
    seen = [one.saw or one.true or 0 for one in found]
    low, high = figures.count(min(seen)), figures.count(max(seen))
    return f"{low if low == high else f'{low} to {high}'} tokens reached the threshold"


def _of(tokens: int | None, window: int) -> float | None:
    return None if tokens is None or not window else min(100.0, round(100 * tokens / window, 1))


def _left(view: Overview, verdict: Verdict) -> int | None:
    """The context after a recorded compaction: as recorded, else that of the next request."""
    compaction = view.weighed.transcript.compactions[verdict.number]
    if compaction.tokens_after is not None:
        return compaction.tokens_after
    return next((t for _, (request, t, _) in sorted(view.contexts.items()) if request >= compaction.request), None)


SOURCES = 2
"""What refilled the context most, so many are named."""


class AgentsThere:
    """The triggers that fire where a session compacted: its own agent's, and ``others`` of ``n`` that were asked.

    Each with what it counts there and its replay.  ``agent`` is the session's own, which compacted there, "" where it
    is not known; ``earlier``: a compaction came before it.
    """

    def __init__(self, session_id: str, view: Overview, request: int) -> None:
        agent, self.request = writer_of(view.weighed.transcript), request
        names = {trigger.name for trigger in agent.triggers}
        own = [result for result in view.gates.results if result.gate.name in names]
        others = [result for result in view.gates.results if result.gate.name not in names]
        self.agent, self.n = agent.label, len(others)
        self.own, self.others = _fired(session_id, own, request), _fired(session_id, others, request)
        self.earlier = min(one.request for one in view.weighed.transcript.compactions) < request


def build_full_causes(session_id: str, view: Overview, rules: Iterable[RulesAfter] | None) -> tuple[CauseRow, ...]:
    """The table of causes with what came after each compaction; ``rules`` None: they were not looked at."""
    judged = {one.compaction: one for one in rules or ()}
    ways = {one.compaction: one for one in view.aftermaths}
    label = str(view.weighed.weak_label)
    rows = build_causes(session_id, view)
    for row in rows:
        if row.what == COMPACTION and row.n == 1 and (one := ways.get(row.number)):
            row.then, row.harm = _then(one), Harm(one, judged.get(row.number), label)
    return rows


def _then(one: Aftermath) -> str:
    """When the context was at 80% of its threshold again, and with what."""
    filled = f"80% of {figures.count(one.threshold)}"
    if one.n_requests is None:
        last = f"{figures.count(one.last)} tokens {WHEN[one.until].lower()}"
        return "" if one.last is None else f"Not at {filled} again: {last}"
    again = "Compacted" if one.until == COMPACTED else f"At {filled}"
    later = f"{again} again {figures.plural(one.n_requests, 'request')} later"
    total = sum(tokens for _, tokens in one.refilled)
    named = (f"{name} ({figures.percent(tokens, total)})" for name, tokens in one.refilled[:SOURCES])
    sources = " and ".join(named)
    return f"{later}, with {sources}" if sources else later


def agents_there(session_id: str, view: Overview) -> AgentsThere | None:
    """Whose triggers fire at the request of the headline; None where that is about no compaction."""
    found = worst(view)
    if found is None or found.what != COMPACTION:
        return None
    return AgentsThere(session_id, view, found.request)


def _fired(session_id: str, results: Sequence[GateResult], request: int) -> tuple[FiringThere, ...]:
    """Those of the triggers that fire at a request, the farthest over its threshold first."""
    fired = [(one, firing) for one in results for firing in one.firings if firing.request == request]
    fired.sort(key=lambda pair: -pair[1].measure / pair[0].threshold)
    return tuple((one, firing, trigger_href(session_id, one.gate.name, firing.request)) for one, firing in fired)
