"""Replays for the pages: run once per state, kept a while, errors turned into words beside the form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from django.conf import settings

from sessions import selectors
from sessions.engine.base.comparisons import compared, reaches
from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.base.session_cache import Remembered
from sessions.engine.costs.cost import Cost, Totals, totals
from sessions.engine.costs.cost_fit import replay_range
from sessions.engine.costs.cost_report import cost_document
from sessions.engine.costs.prices import Prices
from sessions.engine.quality.baseline import baseline
from sessions.engine.replays import replay as engine
from sessions.engine.reports.report import replay_document
from sessions.engine.transcript.types import Label
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.runs.replay_state import ReplayState
from sessions.runs.stored import StoredValues, keep_weighed, stored_of
from sessions.services.model_summaries import SummaryWriter, Wanted
from sessions.services.prices import prices_for

T = TypeVar("T")
KEPT = 8


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """One replay with its totals; ``seconds`` it took when it was run, ``error`` where the engine refused it.

    ``around``: the cost with the model's own error, in dollars; ``wanted``: summaries that a model has not written yet.
    """

    replay: engine.Replay
    totals: Totals
    around: tuple[float, float] | None
    seconds: float
    error: str = ""
    wanted: tuple[Wanted, ...] = ()


class Recording(NamedTuple):
    """The session as recorded, and the ``cost_document`` of its usage, None where it has none, or no price."""

    totals: Totals
    cost: dict[str, Any] | None


RECORDING: Remembered[Recording] = Remembered("recording", KEPT)
"""By prices, as the others."""
RUN: Remembered[ReplayRun] = Remembered("replay", KEPT)


def run(session_id: str, state: ReplayState) -> ReplayRun:
    """The replay of a state; one the engine refuses falls back to the policy's defaults, with the reason."""
    try:
        return _run(session_id, state)
    except (BadParameter, UnknownName) as error:
        plain = replace(state, params=(), estimator="", summarizer="recorded", window=None, fail="")
        return replace(_run(session_id, plain), error=str(error))


class Uncompacted(NamedTuple):
    """A session when nothing is compacted: tokens of every request, None off the branch; ``labels`` that occur."""

    context_tokens: tuple[int | None, ...]
    labels: tuple[Label | None, ...]
    totals: Totals


UNCOMPACTED: Remembered[Uncompacted] = Remembered("uncompacted", KEPT)


def without_compaction(session_id: str) -> Uncompacted:
    """The same session when nothing is ever compacted: the same whatever it stands beside."""

    def made(_weighed: Weighed, _prices: Prices | None, stored: StoredValues) -> Uncompacted:
        return stored.value("run", ran, (Uncompacted, Label, Totals, Cost))

    def ran() -> Uncompacted:
        plain = _run(session_id, ReplayState(policy="none"))
        return Uncompacted(plain.replay.context_tokens, tuple(dict.fromkeys(plain.replay.labels)), plain.totals)

    return _at_these_prices(UNCOMPACTED, session_id, "uncompacted", made)


def _at_these_prices(
    named: Remembered[T], session_id: str, name: str, make: Callable[[Weighed, Prices | None, StoredValues], T]
) -> T:
    """What ``make`` works out at this installation's prices, remembered, else from what is stored as ``name``."""
    weighed = selectors.load_weighed(session_id)
    prices = prices_for(weighed.model)

    def made() -> T:
        stored = stored_of(session_id, weighed, name, repr(prices))
        found = make(weighed, prices, stored)
        stored.keep()
        return found

    return weighed.cache.value(named, made, prices)


def work_out(session_id: str) -> None:
    """Work out and keep all that the first replay of a long session shows, and what it is made of."""
    run(session_id, ReplayState())
    without_compaction(session_id)
    recording(session_id)


def as_sent(session_id: str) -> ReplayRun:
    """The recording's own lists: its compactions as they were, none by a policy."""
    return _run(session_id, ReplayState(policy="none", base="recorded"))


def recording(session_id: str) -> Recording:
    """What every replay of the session is held against, at this installation's prices."""

    def made(weighed: Weighed, prices: Prices | None, stored: StoredValues) -> Recording:
        return Recording(
            stored.value("baseline", lambda: baseline(weighed, prices=prices), (Totals, Cost)),
            stored.value("document", lambda: cost_document(weighed, prices=prices)),
        )

    return _at_these_prices(RECORDING, session_id, "cost", made)


def why_no_event(replay: engine.Replay) -> str:
    """Why nothing was compacted: the trigger never fired, or fired and nothing could be dropped."""
    if replay.events:
        return ""
    if replay.policy.name == "none":
        return "This policy never compacts."
    asked = [(at, gate) for at, gate in enumerate(replay.gates) if gate is not None]
    if not asked:
        return "No request was sent on this branch, so the trigger was never asked."
    fired = next(((at, gate) for at, gate in asked if gate.fires), None)
    if fired is None:
        most = max(asked, key=lambda pair: pair[1].measure)
        gate = most[1]
        if reaches(gate.measure, gate.operator, gate.threshold):
            met = compared(gate.measure, gate.operator, gate.threshold, gate.unit, "the threshold of")
            return f"The trigger never fires: at request {most[0]:,}, {met}, but it waits ({gate.reason})."
        return (
            f"The trigger never fires: at most {gate.measure:,} {gate.unit} at request {most[0]:,}, "
            f"against a threshold of {gate.threshold:,}."
        )
    at, gate = fired
    return (
        f"The trigger fires from request {at:,} on ({gate.measure:,} against {gate.threshold:,} {gate.unit}), "
        "but nothing can be dropped."
    )


def document(ran: ReplayRun) -> dict[str, Any]:
    """``ctxweb.replay/1`` of a replay at this installation's prices."""
    return replay_document(ran.replay, prices=prices_for(ran.replay.weighed.model))


def options(state: ReplayState) -> dict[str, Any]:
    """The options of a state's replay, as the engine takes them and JSON holds them."""
    return {
        "policy": state.policy,
        "params": state.given,
        "base": state.base,
        "estimator": state.estimator or None,
        "window": state.window,
        "fail": state.fail,
    }


def _run(session_id: str, state: ReplayState) -> ReplayRun:
    weighed = selectors.load_weighed(session_id)
    prices = prices_for(weighed.model)
    key = (
        state.policy, state.base, state.estimator, state.summarizer, state.window, state.fail, state.params, prices,
    )  # fmt: skip
    held = weighed.cache.find(RUN, key)
    if held is not None:
        return held
    keep_weighed(session_id, weighed)
    started = time.perf_counter()
    writer = SummaryWriter(settings.ANTHROPIC_MODEL) if state.summarizer == "anthropic" else None
    with selectors.texts_read_by(state.summarizer, session_id) as texts:
        made = engine.replay(weighed, **options(state), summarizer=state.summarizer, texts=texts, writer=writer)
    sums = totals(made, prices=prices)
    around = replay_range(made, sums, prices=prices)
    took, wanted = time.perf_counter() - started, tuple(writer.wanted) if writer else ()
    ran = ReplayRun(made, sums, around, took, wanted=wanted)
    if ran.wanted:
        return ran  # not kept: another process may be writing them
    return weighed.cache.put(RUN, ran, key)
