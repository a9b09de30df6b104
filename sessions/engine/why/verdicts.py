"""Why a session was compacted, refused, or not compacted when it should have been: one verdict for each such point.

Every cause of a closed list says how well it fits a point; the best one is the verdict.  Another that fits nearly as
well is named beside it and lowers the confidence; where none fits, the verdict is that it cannot be told, and what is
missing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from sessions.engine.agent import writer_of
from sessions.engine.calibration.held import ANSWER
from sessions.engine.types import GAVE_UP, Label
from sessions.engine.why import (
    causes,
    causes_after,
    causes_floor,
    causes_media,
    causes_missing,
    causes_plain,
    causes_refused,
    causes_usage,
    causes_window,
)
from sessions.engine.why.case import COMPACTION, ERROR, MISSING, Candidate, Case, Evidence
from sessions.engine.why.causes import CANNOT_TELL, CAUSES, CHANGES, UNDECIDED, WRONG_COUNT
from sessions.engine.why.exclude import NOT_SURE, RIVALS, SIZED, is_excluded
from sessions.engine.why.filled import filled_rows
from sessions.engine.why.shared import position_of, shared_facts, thresholds_of
from sessions.engine.windows import held_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.types import ProviderError, RecordedCompaction
    from sessions.engine.why.shared import Shared

FAMILIES: tuple[Callable[[Case], Iterable[Candidate]], ...] = (
    causes_plain.manual, causes_floor.body_size, causes_after.after_refusal, causes_after.freed_nothing,
    causes_usage.added_usage, causes_usage.double_counted, causes_usage.stale, causes_usage.reasoning,
    causes_media.media_as_text, causes_usage.cache_left_out, causes_plain.smaller_model, causes_after.full_again,
    causes_after.one_message, causes_after.every_step, causes_floor.overhead, causes_floor.retained,
    causes_window.wrong_window, causes_window.small_window, causes_plain.stated, causes_plain.reached,
)  # fmt: skip
NOT_COMPACTED: tuple[Callable[[Case], Iterable[Candidate]], ...] = (
    causes_refused.failed, causes_refused.media_limit, causes_floor.body_size, causes_refused.reserve,
    causes_media.media_as_text, causes_refused.one_message, causes_refused.other_window, causes_refused.partial_usage,
    causes_refused.silent, causes_plain.smaller_model, causes_missing.no_usage, causes_missing.not_asked,
    causes_floor.overhead, causes_floor.retained, causes_missing.off,
)  # fmt: skip
"""Of a request that was refused, a compaction that failed, or one that did not come."""
OUTSIDE = (causes_plain.manual, causes_floor.body_size, causes_plain.stated, causes_plain.usual_outside)
"""What can be told of a compaction whose list before is not in the session."""
LEAST = 0.35
"""A cause that fits less is no verdict."""
RIVAL = 0.3
"""A second cause that fits better than this lowers the confidence in the first by half of what it has more."""
SETTLED = 0.6
EXPLAINS: dict[str, frozenset[str]] = {
    causes.STALE: frozenset({causes.DOUBLE, causes.WINDOW, causes.REACHED, causes.UNSENT}),
    causes.MEDIA: frozenset({causes.DOUBLE, causes.WINDOW, causes.REACHED, causes.UNSENT, causes.AFTER_REFUSAL}),
    causes.DOUBLE: frozenset({causes.WINDOW, causes.REACHED}),
    causes.ADDED: frozenset({causes.DOUBLE, causes.WINDOW, causes.REACHED, causes.UNSENT, causes.STALE}),
    causes.REASONING: frozenset({causes.REACHED, causes.MANUAL}),
    causes.CACHE: frozenset({causes.REACHED, causes.OFF}),
    causes.WINDOW: frozenset({causes.REACHED, causes.OFF}),
    causes.FALLBACK: frozenset({causes.REACHED, causes.OFF, causes.CACHE}),
    causes.RESERVE: frozenset({causes.REACHED, causes.STALE, causes.OFF, causes.MANUAL}),
    causes.SWITCH: frozenset({causes.REACHED, causes.OFF, causes.ONE_MESSAGE}),
    causes.OVERHEAD: frozenset({causes.REACHED, causes.REFILLED, causes.RETAINED, causes.OFF}),
    causes.RETAINED: frozenset({causes.REACHED, causes.REFILLED, causes.OFF}),
    causes.GREW: frozenset(causes.CAUSES),
    causes.MEDIA_LIMIT: frozenset(causes.CAUSES),
    causes.REFILLED: frozenset({causes.REACHED, causes.ONE_MESSAGE}),
    causes.ONE_MESSAGE: frozenset({causes.REACHED, causes.OFF, causes.SUMMARY_LONG, causes.FAILED}),
    causes.AFTER_REFUSAL: frozenset({causes.REACHED, causes.REFILLED, causes.ONE_MESSAGE, causes.WINDOW}),
    causes.NO_USAGE: frozenset({causes.OFF, causes.FALLBACK, causes.WINDOW, causes.NOT_ASKED}),
    causes.NOT_ASKED: frozenset({causes.OFF}),
    causes.BODY: frozenset({causes.WINDOW, causes.MANUAL, causes.AFTER_REFUSAL}),
    causes.SUMMARY_LONG: frozenset({causes.RESERVE, causes.OFF}),
}
"""What a cause that is likely (``SETTLED``) explains away: its consequences, and weaker readings of the same figure."""
NO_HARM = UNDECIDED | {causes.REACHED, causes.MANUAL, causes.SWITCH, causes.AFTER_REFUSAL}
"""Causes of a compaction that say nothing of why compacting did not help."""
CERTAIN, LIKELY = 0.9, 0.6
N_MISSING = 3
"""A gate may be asked late; a compaction is missing when the context stood over the threshold this many requests."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a compaction came, did not come, or a request was refused.

    ``what`` is "compaction", "error" or "missing"; ``number`` counts recorded compactions or errors from 0.
    ``request`` is the first request after it (of a missing one: the first over the threshold).  ``saw`` is what the
    gate saw and ``true`` what the context held, in tokens, None where not known.  ``also`` are causes that fit nearly
    as well.  ``confidence`` is from 0 to 1.  ``is_attempt``: what was refused was a compaction.  ``is_stop``: the agent
    stopped itself, since compacting did not help.
    ``count``: how often a refused request was tried.
    """

    what: str
    number: int
    request: int
    cause: str
    confidence: float
    because: str
    evidence: tuple[Evidence, ...]
    also: tuple[str, ...] = ()
    saw: int | None = None
    saw_label: str = ""
    true: int | None = None
    true_label: str = ""
    threshold: int | None = None
    window: int = 0
    trigger: str | None = None
    is_attempt: bool = False
    count: int = 1
    is_stop: bool = False

    @property
    def certainty(self) -> str:
        """The confidence in a word: certain, likely, possible, or unknown where it cannot be told."""
        if self.cause in UNDECIDED:
            return "unknown"
        return "certain" if self.confidence >= CERTAIN else "likely" if self.confidence >= LIKELY else "possible"

    @property
    def point(self) -> str:
        """What happened, and where."""
        where = f"request {self.request:,}" if self.request else "the first request"
        if self.what == COMPACTION:
            by = {"auto": "Auto-compacted", "manual": "Manually compacted"}.get(self.trigger or "", "Compacted")
            return f"{by} before {where}"
        if self.what == MISSING:
            return f"Not compacted at {where}"
        if self.is_stop:
            return f"Stopped by the agent before {where}"
        return f"Compaction failed before {where}" if self.is_attempt else f"Refused at {where}"

    @property
    def sentence(self) -> str:
        """What happened, why, and how sure."""
        if self.cause == CANNOT_TELL:
            known = f" with {self.saw:,} tokens" if self.what == ERROR and self.saw_label == "recorded" else ""
            return f"{self.point}{known}. Cause unknown. Missing: {self.because}."
        hedge = {"certain": "", "unknown": " (cause unknown)"}.get(self.certainty, f" ({self.certainty})")
        return f"{self.point}: {self.because}{hedge}."

    @property
    def change(self) -> str:
        """What a user can change about it, in a sentence; "" where nothing has to be, or nothing is known."""
        return "" if self.certainty == "possible" else CHANGES.get(self.cause, "")


def is_false(verdict: Verdict) -> bool:
    """Whether a counter was wrong and the context truly held less than the threshold."""
    limit = verdict.threshold or verdict.window
    return verdict.cause in WRONG_COUNT and verdict.true is not None and verdict.true < limit


def verdicts_of(weighed: Weighed) -> tuple[Verdict, ...]:
    """One verdict for every recorded compaction, refused request and missing compaction, in the order they came."""
    return tuple(_verdict(case) for case in cases_of(weighed))


def cases_of(weighed: Weighed) -> list[Case]:
    """The points of a session, in order: at one request an error comes before the compaction that followed it."""
    shared = shared_facts(weighed)
    transcript = weighed.transcript
    cases = [_compacted(weighed, n, c, shared) for n, c in enumerate(transcript.compactions)]
    cases += [_refused(weighed, n, e, shared) for n, e in enumerate(transcript.errors)]
    cases += _missing(weighed, cases, shared)
    return sorted(cases, key=lambda case: (case.position, case.stop, case.what != ERROR))


def _compacted(weighed: Weighed, number: int, compaction: RecordedCompaction, shared: Shared) -> Case:
    position = position_of(weighed, compaction.request)
    return Case(
        weighed, COMPACTION, number, position, compaction.request, compaction.boundary, compaction, shared=shared
    )


def _refused(weighed: Weighed, number: int, error: ProviderError, shared: Shared) -> Case:
    position = position_of(weighed, error.request)
    return Case(weighed, ERROR, number, position, error.request, error.message, error=error, shared=shared)


def _missing(weighed: Weighed, cases: Sequence[Case], shared: Shared) -> list[Case]:
    """The first request of each run whose context passed the threshold and stayed over it, nothing coming of it.

    A run that ends at a refusal, or at a compaction that came by itself, has a verdict there.  A manual one ends no
    search: what should have come before it did not (verdicts 3.21).
    """
    found: list[Case] = []
    steps, recorded = weighed.steps, weighed.recorded
    limits: dict[str, int | None] = {}
    wanted = frozenset({Label.MEASURED}) if shared.has_usage else frozenset(Label)
    if not shared.has_usage and writer_of(weighed.transcript).name not in causes_missing.READS_USAGE:
        return found

    def limit_at(k: int) -> int | None:
        name = weighed.transcript.requests[steps[k].request].model
        if name not in limits:
            limits[name] = _limit(weighed, k, shared)
        return limits[name]

    ends = {case.position: case for case in cases}
    starts = [0, *sorted(ends)]
    for start, stop in zip(starts, [*starts[1:], len(steps)], strict=True):
        end = ends.get(stop)
        if end is not None and end.trigger != "manual":
            continue
        over = [
            k
            for k in range(start, stop)
            if recorded.labels[k] in wanted and steps[k].request not in shared.spikes
            and (limit := limit_at(k)) is not None and recorded.context[k] >= limit
        ]  # fmt: skip
        if len(over) > N_MISSING:
            k = over[0]
            found.append(Case(weighed, MISSING, len(found), k, steps[k].request, steps[k].stop, shared=shared))
    return found


def _limit(weighed: Weighed, k: int, shared: Shared) -> int | None:
    """The highest threshold known at a step; None where an answer larger than the window shows that it was a guess."""
    held = held_at(weighed, k, 0, shared.windows, own=True)
    if held.source == ANSWER:
        return None
    known = thresholds_of(weighed.transcript, held.window, held.model)
    return max((one.tokens for one in known), default=held.window * 49 // 50)


def _verdict(case: Case) -> Verdict:
    if is_stop(case):
        return _stopped(case)
    families = NOT_COMPACTED if case.what != COMPACTION else FAMILIES
    if case.compaction is not None and case.compaction.outside:
        families = OUTSIDE
    found = _unexplained([c for family in families for c in family(case)])
    best = found[0] if found else None
    if best is None or best.score < LEAST:
        return _told(case, _unknown(case, best), ())
    rivals = [c for c in found[1:] if c.cause != best.cause and c.score >= LEAST]
    if best.score == 1:
        rivals = []
    lowered = best.score - 0.5 * max((c.score - RIVAL for c in rivals), default=0)
    left = [cause for cause in RIVALS.get(best.cause, ()) if not is_excluded(case, cause)]
    if left or (best.cause in SIZED and case.is_blind and case.said is None):
        lowered = min(lowered, NOT_SURE)
    told = _told(case, replace(best, score=lowered), rivals)
    return replace(told, also=tuple(dict.fromkeys((*told.also, *left)))) if left else told


def is_stop(case: Case) -> bool:
    """Whether the agent stopped itself there, since compacting did not help."""
    return case.error is not None and case.error.kind == GAVE_UP


def _stopped(case: Case) -> Verdict:
    """The agent stopped itself: for what made the last compaction needed, where that can be told (verdicts 3.28)."""
    compactions = case.weighed.transcript.compactions
    number = next((n for n, one in enumerate(compactions) if one is case.previous), None)
    last = None if number is None else _verdict(_compacted(case.weighed, number, compactions[number], case.shared))
    if last is None or last.cause in NO_HARM:
        return _told(case, _unknown(case, None), ())
    because = f"compacting did not help. The last compaction: {last.because}"
    return _told(case, Candidate(last.cause, last.confidence, because, last.evidence), ())


def _unexplained(found: Sequence[Candidate]) -> list[Candidate]:
    """Best first, without what a likely cause explains, however well that fits."""
    explained = {cause for c in found if c.score >= SETTLED for cause in EXPLAINS.get(c.cause, ()) if cause != c.cause}
    return sorted((c for c in found if c.cause not in explained), key=lambda c: -c.score)


def _told(case: Case, candidate: Candidate, rivals: Sequence[Candidate]) -> Verdict:
    rows = [*candidate.evidence]
    rows += [
        Evidence(f"Also possible: {CAUSES[c.cause]} ({c.because})", case.request, None, None, "", "") for c in rivals
    ]
    return Verdict(
        what=case.what,
        number=case.number,
        request=case.request,
        cause=candidate.cause,
        confidence=round(min(1.0, max(0.0, candidate.score)), 2),
        because=candidate.because,
        evidence=tuple(rows),
        also=tuple(dict.fromkeys(c.cause for c in rivals)),
        saw=case.saw,
        saw_label="recorded" if case.said is not None else "measured" if case.saw is not None else "",
        true=case.true,
        true_label=case.label.value,
        threshold=case.met,
        window=case.window,
        trigger=case.compaction.trigger if case.compaction else None,
        is_attempt=case.error is not None and case.error.of_compaction,
        count=case.error.count if case.error else 1,
        is_stop=is_stop(case),
    )


def _unknown(case: Case, best: Candidate | None) -> Candidate:
    """That it cannot be told, and what is missing (verdicts 3.26)."""
    compaction = case.compaction
    missing = []
    if compaction is not None and compaction.outside:
        missing.append("what it removed")
    if not case.shared.has_usage:
        missing.append("usage")
    elif case.what == COMPACTION and case.saw is None:
        missing.append("usage before it")
    if not case.window_is_known:
        missing.append("the model's window")
    if not case.thresholds:
        missing.append("the agent's trigger")
    if compaction is not None and compaction.trigger is None:
        missing.append("who started it")
    elif case.what == COMPACTION and case.thresholds:
        missing.append("the setting that moved its threshold")
    if case.what == ERROR:
        missing.append("what the agent counted before it")
    rows = tuple(Evidence(text, case.request, None, None, "", "") for text in _nearest(case, best))
    if case.error is not None and case.error.kind == "context" and case.error.limit:
        text = f"The refusal names a limit of {case.error.limit:,} tokens"
        rows += (Evidence(text, case.request, None, case.error.limit, "tokens", "recorded"),)
    if case.said is not None:
        who = "The provider counted" if case.what == ERROR else "The agent recorded"
        rows += (Evidence(f"{who} {case.said:,} tokens", case.request, None, case.said, "tokens", "recorded"),)
    because = ", ".join(missing) or "nothing that the closed list asks for"
    return Candidate(
        CANNOT_TELL, 0.2 if best is None else best.score, because, (*rows, case.true_row, *filled_rows(case))
    )


def _nearest(case: Case, best: Candidate | None) -> list[str]:
    found = [f"Nearest cause: {CAUSES[best.cause]} ({best.because})"] if best is not None else []
    return [*found, *(text[0].upper() + text[1:] for text in (_newcomer(case) if case.what == ERROR else []))]


def _newcomer(case: Case) -> list[str]:
    """The message that alone brought what the threshold keeps free, after the last request that was answered."""
    heaviest = max(case.tail, key=lambda i: case.weighed.tokens[i], default=None)
    if heaviest is None or case.usual is None:
        return []
    tokens = case.weighed.tokens[heaviest]
    if case.sent >= case.usual or tokens < case.window - case.usual:
        return []
    return [f"message {heaviest} added {tokens:,} tokens after the last request answered, at {case.sent:,}"]


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """One entry of ``verdicts[]`` in ``ctxweb.inspect/1``."""
    return asdict(verdict) | {
        "certainty": verdict.certainty,
        "sentence": verdict.sentence,
        "change": verdict.change,
        "cause_label": CAUSES[verdict.cause],
    }
