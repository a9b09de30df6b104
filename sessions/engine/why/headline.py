"""The first lines about a session: what happened, why, how sure, what to change; what cost most first (verdicts 4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import SILENT
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why import causes
from sessions.engine.why.cache_use import cache_sentence
from sessions.engine.why.case import COMPACTION, ERROR, MISSING
from sessions.engine.why.ending import end_in_other_words, ending_sentence
from sessions.engine.why.falls import falls_sentence, largest_fall
from sessions.engine.why.largest import listed_part, noted_size, peak_sentence, short_usage, total_sentence
from sessions.engine.why.odd_usage import odd_usage
from sessions.engine.why.said import UNFINISHED
from sessions.engine.why.shared import shared_facts
from sessions.engine.why.usage_notes import beside, limits_sentence, no_error
from sessions.engine.why.verdicts import OVER_LIMIT, Verdict

SURE = {"certain": 1.0, "likely": 0.8, "possible": 0.5, "unknown": 0.6}
UNTOLD_END = 3.5
"""A compaction that began and did not end, without a word why: one with a cause tells more."""
STOPPED, RECOVERED, NOT_COME = 100.0, 5.0, 3.0
"""A refusal that ended the session leads always; one that an answer followed, a compaction that did not come."""
PLAIN = {
    causes.NOTHING: 0.5, causes.REACHED: 1.0, causes.MANUAL: 1.0, causes.CANNOT_TELL: 1.8, causes.AFTER_REFUSAL: 6.0,
    causes.GREW: 4.5,
}  # fmt: skip
NORMAL = frozenset({causes.REACHED, causes.MANUAL, causes.SWITCH, causes.CANNOT_TELL})
ONE_ITEM = re.compile(r"came with (?:1 result|message)|, data as text")
"""What a size says of which one result or message is most."""
_QUOTED = re.compile(r'"([^"]+)"')
NEEDLESS = 4.0
"""A compaction that should not have come, or that did not help."""
MOST_GROUPS, MANY_ALIKE = 2, 3
"""Groups of other events that are told, and equal compactions from which the first line counts them."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What a session's first lines say.

    ``what``: the event and where; ``why``: its cause in a clause; ``certainty`` in a word, "" where nothing happened;
    ``change``: what a user can do, "" where nothing has to be done; ``more``: other events, counted; ``text``: all of
    it.  ``verdict`` is the position of the leading one among the verdicts, None where nothing happened.
    """

    text: str
    what: str
    why: str = ""
    certainty: str = ""
    change: str = ""
    more: str = ""
    cause: str = ""
    verdict: int | None = None


def leading(verdicts: Sequence[Verdict], n_requests: int | None = None) -> Verdict | None:
    """The verdict that the first line is about, None where nothing happened; ``n_requests`` is the session's."""
    last = n_requests if n_requests is not None else max((v.request for v in verdicts), default=0)

    # Of equals a failed compaction that says what for tells most, then a refusal that names its size, then any other
    # attempt; and one that freed nothing at the end.
    def rank(verdict: Verdict) -> tuple[float, bool, bool, bool, bool]:
        is_told = verdict.is_attempt and bool(verdict.change) and not verdict.because.startswith(SILENT)
        grew = verdict.cause == causes.GREW and verdict.request >= last
        return weight(verdict, last), is_told, bool(verdict.size), verdict.is_attempt, grew

    return max(verdicts, key=rank, default=None)


def has_died(verdicts: Sequence[Verdict], n_requests: int) -> bool:
    """Whether a session ended with a refusal, a failed compaction or an error: then it is told first of several."""
    lead = leading(verdicts, n_requests)
    return lead is not None and is_harm(lead) and lead.what == ERROR and lead.request >= n_requests


def order(verdicts: Sequence[Verdict], n_requests: int) -> tuple[bool, bool]:
    """A key by which the sessions of one file are told: those that died first, then those with an event."""
    return not has_died(verdicts, n_requests), not verdicts


def is_harm(verdict: Verdict) -> bool:
    """Whether it cost anything: to be told that there is nothing to compact does not (verdicts 3.43)."""
    return verdict.cause != causes.NOTHING


def is_trouble(verdict: Verdict) -> bool:
    """Whether a list has to show it: refused, not compacted, or compacted for a likely cause that is not normal."""
    if verdict.what != COMPACTION:
        return is_harm(verdict)
    return verdict.cause not in NORMAL and verdict.certainty in ("certain", "likely")


def weight(verdict: Verdict, n_requests: int) -> float:
    """What an event cost the user, times how sure its cause is."""
    if not is_harm(verdict):
        cost = PLAIN[verdict.cause]
    elif verdict.is_attempt and verdict.because.startswith(UNFINISHED):
        cost = UNTOLD_END
    elif verdict.what == ERROR:
        cost = STOPPED if verdict.request >= n_requests else RECOVERED
    elif verdict.what == MISSING:
        cost = NOT_COME
    else:
        cost = PLAIN.get(verdict.cause, NEEDLESS)
    return cost * SURE["certain" if verdict.size else verdict.certainty]


def headline_of(weighed: Weighed, verdicts: Sequence[Verdict]) -> Headline:
    """The first lines about a session."""
    lead = leading(verdicts, len(weighed.transcript.requests))
    if lead is None:
        return _uneventful(weighed)
    same = [v for v in verdicts if _kind(v) == _kind(lead)]
    if lead.what != ERROR and (lead.what != COMPACTION or lead.cause in NORMAL or len(same) < MANY_ALIKE):
        same = []
    lead = same[0] if len(same) > 1 else lead
    lead_told = _joined(lead, same, verdicts)
    more = _more([v for v in verdicts if v is not lead and v not in same], lead)
    cache = "" if lead.what == ERROR else cache_sentence(weighed.transcript)
    fallen = falls_sentence(shared_facts(weighed).falls)
    place = next(i for i, verdict in enumerate(verdicts) if verdict is lead)
    ends = _nothing_after(lead, verdicts[place + 1 :], len(weighed.transcript.requests))
    sentence = lead_told.sentence.replace(lead_told.point, f"{lead_told.point}{ends}", 1)
    ended = end_in_other_words(weighed.transcript, lead_told.sentence) if lead.what == ERROR else ""
    clean = no_error(weighed.transcript) if lead.cause in NORMAL else ""
    told = (sentence, ended, lead.change, more, *beside(weighed), fallen, cache, clean)
    text = " ".join(filter(None, told))
    is_open = lead.what != COMPACTION or lead.cause not in (causes.REACHED, causes.MANUAL, causes.SWITCH)
    text = " ".join(filter(None, (text, limits_sentence(weighed.transcript, text) if is_open else "")))
    return Headline(text, lead_told.point, lead.because, lead.certainty, lead.change, more, lead.cause, place)


def _nothing_after(lead: Verdict, later: Sequence[Verdict], n_requests: int) -> str:
    """That no answer follows an event that did not come by hand, in words behind its point; else ""."""
    if not 0 < lead.request >= n_requests or lead.trigger == "manual":
        return ""
    if lead.what == COMPACTION:
        return ", where the session ends, without an answer"
    if any(v.what == COMPACTION for v in later):
        return ", and not answered any more" if lead.is_attempt else ", then compacted, and not answered any more"
    return ""


def headline(weighed: Weighed, verdicts: Sequence[Verdict]) -> str:
    """The same as one text."""
    return headline_of(weighed, verdicts).text


def _kind(verdict: Verdict) -> tuple[str | bool | None, ...]:
    of_compaction = (verdict.certainty, verdict.trigger) if verdict.what == COMPACTION else ()
    return verdict.what, verdict.cause, verdict.is_attempt, *of_compaction


def _joined(lead: Verdict, same: Sequence[Verdict], verdicts: Sequence[Verdict]) -> Verdict:
    """The leading verdict, counted with those elsewhere that are equal."""
    if len(same) < 2:
        return lead
    between = verdicts[verdicts.index(same[0]) : verdicts.index(same[-1]) + 1]
    spread = len({v.request for v in same}) > 1
    return replace(lead, count=sum(v.count for v in same), in_a_row=len(between) == len(same), spread=spread)


def _more(verdicts: Sequence[Verdict], lead: Verdict) -> str:
    """The events beside the leading one, equal ones counted; what was refused counts as often as it was tried."""
    if verdicts and all(v.cause == causes.REACHED and v.certainty != "possible" for v in verdicts):
        return f"And {len(verdicts):,} more, {'all ' if len(verdicts) > 1 else ''}normal."
    words = {COMPACTION: "compaction", ERROR: "refusal", MISSING: "missing compaction"}
    others: Counter[tuple[str, str]] = Counter()
    for v in verdicts:
        tried = "failed compaction" if is_harm(v) else "try"
        said = "stop by the agent" if v.is_stop else tried if v.is_attempt else words[v.what]
        hedge = f", {v.certainty}" if v.certainty in ("likely", "possible") else ""
        told = v.size if v.label == OVER_LIMIT else v.label
        is_same = v.cause == causes.FAILED and lead.what == ERROR and _words_of(v) == _words_of(lead) != ""
        cause = " with the same error" if is_same else "" if v.cause == causes.FAILED else f" ({told}{hedge})"
        others[said, cause] += v.count
    if not others:
        return ""
    listed = [f"{counted(n, said)}{cause}" for (said, cause), n in others.most_common(MOST_GROUPS)]
    n_more = sum(others.values()) - sum(n for _, n in others.most_common(MOST_GROUPS))
    return f"Also: {', '.join(listed)}{f', {n_more} more' if n_more else ''}."


def _words_of(verdict: Verdict) -> str:
    """The record's own words that a verdict quotes; "" of one that quotes none."""
    quoted = _QUOTED.search(verdict.because)
    return quoted[1] if quoted else ""


def _uneventful(weighed: Weighed) -> Headline:
    """A session that was never compacted: where its context fell, or how far it got; what was cleared in place."""
    falls = shared_facts(weighed).falls
    fall = largest_fall(falls)
    doubts = () if falls else (short_usage(weighed), odd_usage(weighed))
    doubt, certainty = next((told for told in doubts if told[0]), ("", ""))
    size, transcript = noted_size(weighed) or peak_sentence(weighed), weighed.transcript
    trouble, notes = beside(weighed)
    cache, change = cache_sentence(transcript), causes.CHANGES[causes.CUT] if fall and fall.settings else ""
    leads = falls_sentence(falls) or doubt
    # Where no message stands in the file, as in a server's log, nothing shows that there was none.
    none = "No compaction." if transcript.messages else ""
    sizes = (size,) if cache else (size, total_sentence(weighed))
    # What one item brought is told first, whatever else is so.
    sized = (*sizes, trouble, cache, none) if ONE_ITEM.search(size) else (trouble, cache, none, *sizes)
    told = (leads, change, trouble, cache) if leads else (listed_part(weighed), *sized)
    text = " ".join(filter(None, (*told, notes, ending_sentence(weighed), no_error(transcript))))
    text = " ".join(filter(None, (text, limits_sentence(transcript, text))))
    if fall is None:
        return Headline(text, text, certainty=certainty)
    certainty = "certain" if fall.cleared else "possible" if fall.settings else "unknown"
    return Headline(text, fall.point, fall.because, certainty)


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one kind, cause, trigger and certainty; ``tries`` counts one that was refused three times as three."""

    lead: Verdict
    places: tuple[int, ...]
    requests: tuple[int, ...]
    tries: int

    @property
    def n(self) -> int:
        """At how many points of the session they stand."""
        return len(self.places)


def grouped(verdicts: Sequence[Verdict], n_requests: int) -> tuple[Group, ...]:
    """Equal events together, the group of the headline first."""
    found: dict[tuple[str, str, str, str | None], list[int]] = {}
    for place, verdict in enumerate(verdicts):
        found.setdefault((verdict.what, verdict.cause, verdict.certainty, verdict.trigger), []).append(place)
    groups = []
    for places in found.values():
        own = [verdicts[place] for place in places]
        group = Group(own[0], tuple(places), tuple(v.request for v in own), sum(v.count for v in own))
        groups.append((max(weight(verdict, n_requests) for verdict in own), group))
    return tuple(group for _, group in sorted(groups, key=lambda ranked: -ranked[0]))


def group_document(group: Group) -> dict[str, Any]:
    """One entry of ``events[]`` in ``ctxweb.why/1``."""
    lead = group.lead
    return {
        "what": lead.what,
        "trigger": lead.trigger,
        "cause": lead.cause,
        "cause_label": lead.label,
        "certainty": lead.certainty,
        "n": group.n,
        "tries": group.tries,
        "requests": list(group.requests),
        "verdicts": list(group.places),
        "because": lead.because,
        "change": lead.change,
    }
