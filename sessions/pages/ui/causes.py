"""Which verdicts are false alarms, what a compaction held, and the replay by an agent's trigger, for every page."""

from __future__ import annotations

from collections.abc import Iterable

from sessions.engine.why.case import COMPACTION
from sessions.engine.why.causes import WRONG_COUNT
from sessions.engine.why.overcount import triggers
from sessions.engine.why.verdicts import Verdict, is_false
from sessions.pages.ui.addresses import session_urls
from sessions.runs.overview import Overview
from sessions.runs.replay_state import ReplayState


def named_message(verdict: Verdict) -> int | None:
    """The first message that the evidence names, None where it names none."""
    return next((row.message for row in verdict.evidence if row.message is not None), None)


def false_ones(verdicts: Iterable[Verdict]) -> frozenset[int]:
    """Numbers of the recorded compactions that were false alarms, from 0."""
    return frozenset(v.number for v in verdicts if v.what == COMPACTION and is_false(v))


def held(view: Overview) -> tuple[int | None, ...]:
    """Tokens before each compaction: as the recorder wrote them; else, or where it miscounted, what the list held."""
    found = {v.number: v for v in view.verdicts if v.what == COMPACTION and v.true is not None}

    def one(number: int, recorded: int | None) -> int | None:
        verdict = found.get(number)
        stated = recorded is not None and (verdict is None or verdict.saw_label == "recorded")
        return recorded if verdict is None or (stated and verdict.cause not in WRONG_COUNT) else verdict.true

    return tuple(one(n, c.tokens_before) for n, c in enumerate(view.weighed.transcript.compactions))


def trigger_state(name: str) -> ReplayState:
    """The replay that compacts by this trigger; a session's own client's parameters are those that it starts from."""
    trigger = next(trigger for trigger in triggers() if trigger.name == name)
    params = tuple((param, str(value)) for param, value in sorted(trigger.params.items()))
    return ReplayState(policy=trigger.policy, estimator=trigger.counted_by, params=params)


def trigger_href(session_id: str, name: str, request: int | None) -> str:
    """Its address, at ``request`` where one is given."""
    return session_urls(session_id).to_replay(trigger_state(name), request=request)
