"""Why a session was compacted, refused, or not compacted when it should have been: a verdict for each (verdicts 1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.words import request_words
from sessions.engine.transcript.recorded_events import ATTEMPTS, ENDS, STILL_OVER, ErrorKind, EventKind, RecordedEvent
from sessions.engine.transcript.types import Label, ProviderError, Role, Transcript
from sessions.engine.weigh.calibration.context_windows import ANSWER, RECORDED
from sessions.engine.weigh.calibration.weighed import Weighed
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
from sessions.engine.why.account import Explanation, Fact, beside, remaining
from sessions.engine.why.case import COMPACTION, ERROR, MISSING, Case
from sessions.engine.why.causes import CANNOT_TELL, CAUSES, CHANGES, UNDECIDED, WINDOW, WRONG_COUNT, Evidence
from sessions.engine.why.ending import in_vain
from sessions.engine.why.filled import can_be_less, filled_rows, said_row, smaller
from sessions.engine.why.shared import Shared, nearly_all, shared_facts, thresholds_of
from sessions.engine.why.steps import NO_FIGURE, account_of, far_under, most_useful, stated_left, with_figures
from sessions.engine.why.windows import held_at

FAMILIES: tuple[Callable[[Case], Iterable[Explanation]], ...] = (
    causes_plain.manual, causes_plain.own_reason, causes_floor.body_size, causes_after.after_refusal,
    causes_after.after_cut, causes_after.placeholder, causes_after.freed_nothing, causes_after.came_back,
    causes_usage.added_usage, causes_usage.double_counted, causes_usage.stale, causes_usage.reasoning,
    causes_media.media_as_text, causes_usage.cache_left_out, causes_plain.smaller_model, causes_plain.changed_model,
    causes_after.full_again, causes_after.one_message, causes_after.every_step, causes_floor.overhead,
    causes_floor.retained, causes_window.wrong_window, causes_window.small_window, causes_window.fallen_window,
    causes_window.smaller_later, causes_plain.stated, causes_plain.reached,
)  # fmt: skip
NOT_COMPACTED: tuple[Callable[[Case], Iterable[Explanation]], ...] = (
    causes_refused.failed, causes_refused.other_error, causes_refused.media_limit, causes_floor.body_size,
    causes_missing.stated_not_fired, causes_missing.cut_off, causes_refused.reserve,
    causes_refused.changed_model, causes_refused.again, causes_refused.held_back,
    causes_media.media_as_text, causes_refused.one_message, causes_refused.other_window, causes_refused.partial_usage,
    causes_plain.smaller_model, causes_missing.no_usage, causes_missing.not_asked,
    causes_floor.overhead, causes_floor.retained, causes_missing.off,
)  # fmt: skip
"""Of a request that was refused, a compaction that failed, or one that did not come."""
OUTSIDE = (
    causes_after.placeholder,
    causes_plain.manual,
    causes_plain.own_reason,
    causes_floor.body_size,
    causes_plain.stated,
    causes_plain.usual_outside,
)
"""What can be told of a compaction whose list before is not in the session."""
NO_HARM = UNDECIDED | {causes.REACHED, causes.MANUAL, causes.SWITCH, causes.AFTER_REFUSAL}
"""Causes of a compaction that say nothing of why compacting did not help."""
UNSEEN = "What filled it is not in the file: look at attachments, tools and the system prompt, or take more room."
AT_ONCE = 0.25
"""Share of a limit that came since the last answer from which it was too much at once."""
SIZE = re.compile(r"\d[\d,]* of \d[\d,]* tokens")
"""What was refused of what is allowed, at the start of a clause."""
OVER_LIMIT = "over the limit"
MOST = 0.5
"""Share of what the file holds from which one message that is data is what has to be sent otherwise."""
NEAR = 0.5
"""Share of the limit from which a refusal was reached step by step: a lower threshold would have come before it."""
ANEW = "Start a new session, or go back to an earlier point of this one."
N_MISSING = 3
"""A gate may be asked late; a compaction is missing when the context stood over the threshold this many requests."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a compaction came, did not come, or a request was refused.

    ``what`` is "compaction", "error" or "missing"; ``number`` counts recorded compactions or errors from 0. ``request``
    is the first request after it (of a missing one: the first over the threshold).  ``saw`` is what the gate saw and
    ``true`` what the context held, in tokens, None where not known.  ``also`` are other causes that remain, ``left``
    all that the file does not exclude beside it, in words.  ``is_attempt``: what was refused was a compaction.
    ``is_stop``: the agent stopped itself, since compacting did not help. ``count``: how often a refused request was
    tried; ``advice`` replaces what is advised for the cause. ``account`` are the four steps that lead to it, as rows;
    ``in_a_row``: no other event came between those counted; ``spread``: they came before different requests.
    """

    what: str
    number: int
    request: int
    cause: str
    left: tuple[str, ...]
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
    advice: str | None = None
    account: tuple[Evidence, ...] = ()
    in_a_row: bool = False
    spread: bool = False

    @property
    def certainty(self) -> str:
        """Certain: nothing else is left; likely: one other; possible: more; unknown where it cannot be told."""
        return _certainty(self.cause, self.left)

    @property
    def confidence(self) -> float:
        """One of how many explanations that are left it is; 0 where it cannot be told."""
        return 0.0 if self.cause in UNDECIDED else round(1 / (1 + len(self.left)), 2)

    @property
    def point(self) -> str:
        """What happened, and where."""
        where = request_words(self.request)
        if self.what == COMPACTION:
            by = {"auto": "Auto-compacted", "manual": "Manually compacted"}.get(self.trigger or "", "Compacted")
            times = f" {self.count:,} times {'in a row' if self.in_a_row else 'alike'}, first"
            alike = times if self.count > 1 else ""
            return f"{by}{alike} before {where}"
        if self.what == MISSING:
            return f"Not compacted at {where}"
        if self.is_stop:
            return f"Stopped by the agent before {where}"
        times = f" {self.count:,} times{', first' if self.spread else ''}" if self.count > 1 else ""
        if self.cause == causes.CUT_REPLY:
            return f"Reply cut off at {request_words(max(self.request - 1, 0))}"
        if self.is_attempt:
            tried = "Asked to compact" if self.cause == causes.NOTHING else "Compaction failed"
            return f"{tried}{times} before {where}"
        ended = "Failed" if times else "Ended"
        return f"{ended if self.cause == causes.REQUEST_FAILED else 'Refused'}{times} at {where}"

    @property
    def size(self) -> str:
        """What was refused, of what is allowed, in words; "" where no refusal names both."""
        found = SIZE.match(self.because) if self.what == ERROR else None
        return found[0] if found else ""

    @property
    def label(self) -> str:
        """The cause in words; of a refusal whose figures say it, though not why it came to them, what they say."""
        return OVER_LIMIT if self.size and self.cause == CANNOT_TELL else CAUSES[self.cause]

    @property
    def sentence(self) -> str:
        """What happened, why, and how sure."""
        hedge = {"certain": "", "unknown": self._undecided}.get(self.certainty, f" ({self.certainty})")
        return f"{self.point}: {self.because}{hedge}."

    @property
    def _undecided(self) -> str:
        """What a cause that cannot be told adds: nothing where a refusal's own words or figures stand before it."""
        if self.because == NO_FIGURE:
            return "; cause unknown"
        return "; why it came is not recorded" if self.what == COMPACTION else ""

    @property
    def change(self) -> str:
        """What a user can change about it, in a sentence; "" where nothing has to be, or nothing is known."""
        if self.advice is not None:
            return self.advice
        return "" if self.certainty == "possible" else CHANGES.get(self.cause, "")


def _certainty(cause: str, left: Sequence[str]) -> str:
    """In a word, how sure a cause is of which ``left`` is not excluded."""
    return "unknown" if cause in UNDECIDED else ("certain", "likely", "possible")[min(len(left), 2)]


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
    compactions = () if shared.is_shortened else transcript.compactions
    cases = [Case(shared, COMPACTION, n, c.request, c.boundary, c) for n, c in enumerate(compactions)]
    errors = (*transcript.errors, *_ends(transcript))
    cases += [Case(shared, ERROR, n, e.request, e.message, error=e) for n, e in enumerate(errors)]
    cases += _missing(weighed, cases, shared)
    return sorted(cases, key=lambda case: (case.position, case.stop, case.what != ERROR))


def _ends(transcript: Transcript) -> list[ProviderError]:
    """Compactions that were broken off, and the last event after the last answer, where nothing was refused there."""
    n = len(transcript.requests)
    last = transcript.requests[-1] if n else None
    if last is not None and last.on_branch and (last.message is None or not transcript.messages[last.message].blocks):
        # A reply that failed with nothing said, though its usage is known.
        n -= 1
    broken = [event for event in transcript.events if event.kind == EventKind.COMPACTION_CANCELLED]
    made = max((c.request for c in transcript.compactions), default=-1)
    ends = [event for event in transcript.events if event.request >= n and event.kind in ENDS]
    ends = [event for event in ends if event.kind != EventKind.COMPACTION_STARTED or event.request > made]
    if ends and not _went_on(transcript, ends[-1]) and ends[-1] not in broken:
        begun = sum(e.count for e in transcript.events if e.kind == EventKind.COMPACTION_STARTED and e.request > made)
        is_begun = ends[-1].kind == EventKind.COMPACTION_STARTED
        broken.append(replace(ends[-1], count=begun) if is_begun else ends[-1])
    return [_as_error(event) for event in broken]


def _went_on(transcript: Transcript, end: RecordedEvent) -> bool:
    """Whether something was refused for its size, or answered, whatever the record counts as requests."""
    if any(error.request >= len(transcript.requests) for error in transcript.errors):
        return True
    return any(message.role is Role.ASSISTANT and message.blocks for message in transcript.messages[end.message :])


def _as_error(event: RecordedEvent) -> ProviderError:
    is_attempt = event.kind in ATTEMPTS
    kind = ErrorKind.COMPACTION if is_attempt else event.kind
    words = event.words or (event.kind if is_attempt else event.code)
    return ProviderError(
        kind, event.request, event.message, None, None, event.status, event.count, is_attempt, event.code, words
    )


def _absent(shared: Shared, number: int, k: int) -> Case:
    step = shared.weighed.steps[k]
    return Case(shared, MISSING, number, step.request, step.stop)


def _missing(weighed: Weighed, cases: Sequence[Case], shared: Shared) -> list[Case]:
    """The first request of each run whose context passed the threshold and stayed over it, nothing coming of it.

    A run that ends at a refusal, or at a compaction that came by itself, has a verdict there (verdicts 3.21).
    """
    found = [_absent(shared, 0, shared.still.first)] if shared.still else []
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
            found.append(_absent(shared, len(found), over[0]))
    return found


def _limit(weighed: Weighed, k: int, shared: Shared) -> int | None:
    """The highest threshold known at a step; None where an answer larger than the window shows that it was a guess."""
    if weighed.transcript.trigger_at is not None:
        return weighed.transcript.trigger_at
    held = held_at(weighed, k, 0, shared.windows, own=True)
    if held.source == ANSWER:
        return None
    known = thresholds_of(weighed.transcript, held.window, held.model)
    return max((one.tokens for one in known), default=nearly_all(held.window))


def _verdict(case: Case) -> Verdict:
    if is_stop(case):
        return _stopped(case)
    families = NOT_COMPACTED if case.what != COMPACTION else FAMILIES
    if case.compaction is not None and case.compaction.outside:
        families = OUTSIDE
    explained = [one for family in families for one in family(case)]
    out = [one for one in explained if one.against]
    found = remaining(explained)
    if not found:
        return _told(case, _unknown(case, out), out)
    best, *others = found
    rivals = [one for one in others if one.cause != best.cause]
    return _told(case, best, [*found, *out], rivals, beside(case, best, rivals))


def is_stop(case: Case) -> bool:
    """Whether the agent stopped itself there, since compacting did not help."""
    return case.error is not None and case.error.kind == ErrorKind.GAVE_UP


def _stopped(case: Case) -> Verdict:
    """The agent stopped itself: for what made the last compaction needed, where that can be told (verdicts 3.28)."""
    last = _verdict(case.before) if case.before else None
    if last is None or last.cause in NO_HARM:
        return _told(case, _unknown(case, ()), ())
    because = f"compacting did not help. The last compaction: {last.because}"
    return _told(case, Explanation(last.cause, Fact.OUTCOME, because, last.evidence), (), left=last.left)


def _told(
    case: Case, lead: Explanation, found: Sequence[Explanation], rivals: Sequence[Explanation] = (),
    left: tuple[str, ...] = (),
) -> Verdict:  # fmt: skip
    rows = [*lead.evidence, *said_row(case), *case.size_rows, *filled_rows(case)]
    rows += [case.row(f"Also possible: {CAUSES[c.cause]} ({c.because})", label="") for c in rivals]
    return Verdict(
        what=case.what,
        number=case.number,
        request=case.request,
        cause=lead.cause,
        left=left,
        because=with_figures(case, lead.because),
        evidence=tuple(dict.fromkeys(rows)),
        also=tuple(dict.fromkeys(c.cause for c in rivals)),
        saw=case.saw,
        saw_label="recorded" if case.said is not None else "measured" if case.saw is not None else "",
        true=case.true,
        true_label=case.label.value,
        threshold=case.met,
        window=case.window,
        trigger=case.trigger,
        is_attempt=case.error is not None and case.error.of_compaction,
        count=case.error.count if case.error else 1,
        is_stop=is_stop(case),
        advice=ANEW if in_vain(case) else _advice(case, lead, left),
        account=account_of(case, found, lead, left),
    )


def _advice(case: Case, lead: Explanation, left: Sequence[str]) -> str | None:
    """What the explanation advises; of one that is only possible, what helps whatever led to it."""
    if lead.advice is not None or _certainty(lead.cause, left) != "possible":
        return lead.advice
    return _way_out(case) or None


def _unknown(case: Case, contradicted: Sequence[Explanation]) -> Explanation:
    """That it cannot be told, with the most useful thing that the file holds (verdicts 3.26)."""
    rows = [case.row(f"Not recorded: {', '.join(missing)}", label="")] if (missing := _missing_facts(case)) else []
    rows += [case.row(f"Not {CAUSES[one.cause]}: {words}", label="") for one in contradicted for words in one.against]
    advice = "" if contradicted else _way_out(case)
    return Explanation(CANNOT_TELL, Fact(0), most_useful(case, contradicted), tuple(rows), advice=advice)


def _way_out(case: Case) -> str:
    """What helps against a refusal for its tokens, whatever led to it; "" where that cannot be told."""
    error = case.error
    if (
        error is None
        or error.kind != ErrorKind.CONTEXT
        or error.of_compaction
        or 0 < (error.tokens or 0) < (error.limit or 0)
    ):
        return ""
    if far_under(case):
        return CHANGES[WINDOW] if case.held.source == RECORDED else ""
    sent, limit = error.tokens or 0, error.limit or 0
    before = case.usage.context if case.usage is not None and not case.is_partial else 0
    # Agents of a team have contexts of their own: the largest that fitted counts.
    fitted = (usage.context for k in case.run if (usage := case.request_of(k).usage) and usage.context < limit)
    before = max([before, *fitted]) if before else 0
    if instead := _instead(case, limit):
        return instead
    if limit and NEAR * limit <= before < limit:
        # A threshold that lies under the limit, and was not reached or not asked, is no help as it is.
        lower = before if case.usual is not None and case.usual < limit else limit
        return f"Set a threshold under {lower:,} tokens."
    came = sum(case.weighed.tokens[i] for i in case.tail)
    if limit and sent - (before or limit) > AT_ONCE * limit:
        # What came since may be no message of the file: then its system prompt and tools are too large.
        is_here = came >= AT_ONCE * limit or (before and came >= MOST * case.true)
        return "Go back to before it, and send less at once." if is_here else UNSEEN
    compacts = case.thresholds or case.weighed.transcript.compactions
    return f"Start a new session, or {'compact earlier' if compacts else 'send less'}."


def _instead(case: Case, limit: int) -> str:
    """What helps where one message of data is most of what the file holds, or nothing can be compacted; else ""."""
    if STILL_OVER in stated_left(case):
        return "Raise that threshold, or shorten the system prompt and tools."
    heaviest = case.filled.heaviest
    is_most = heaviest is not None and case.filled.heaviest_tokens >= MOST * case.true
    if heaviest is not None and is_most and can_be_less(case.weighed.transcript.messages[heaviest]):
        return smaller(case) or ""
    return UNSEEN if limit and not case.position and case.true < NEAR * limit else ""


def _missing_facts(case: Case) -> list[str]:
    compaction, asked = case.compaction, case.what == COMPACTION
    known = {
        "what it removed": compaction is None or not compaction.outside,
        "usage": case.shared.has_usage,
        "usage before it": not asked or not case.shared.has_usage or case.saw is not None,
        "the model's window": case.window_is_known,
        "the agent's trigger": bool(case.thresholds),
        "who started it": compaction is None or compaction.trigger is not None,
    }
    return [name for name, is_known in known.items() if not is_known]


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """One entry of ``verdicts[]`` in ``ctxweb.inspect/1``."""
    facts = asdict(verdict)
    del facts["in_a_row"], facts["spread"]
    return facts | {
        "confidence": verdict.confidence,
        "certainty": verdict.certainty,
        "sentence": verdict.sentence,
        "change": verdict.change,
        "cause_label": verdict.label,
    }
