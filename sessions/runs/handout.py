"""A replay that can be handed over: every position of its threshold worked out, so that a file can move its slider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions import selectors
from sessions.engine.costs.cost import totals
from sessions.engine.costs.prices import Prices
from sessions.engine.policies.params import specs
from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.index import Index
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.diff import Row, diff_event
from sessions.engine.replays.events import Event
from sessions.engine.replays.replay import Replay, replay
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.runs import losses, replays
from sessions.runs.overview import kinds_of, overview
from sessions.runs.ranges import ABOVE_OVERHEAD, threshold_of, threshold_param, threshold_table
from sessions.runs.replay_state import ReplayState, starts
from sessions.services.indexed import index_of
from sessions.services.prices import prices_for

SCHEMA = "ctxweb.handout/1"
POSITIONS = 64
"""Thresholds worked out; the sender's own is one of them."""
FEWEST, LONG = 8, 3_000
"""A session of more than 3,000 messages gets fewer, in proportion, so that its file is made in about the same time."""
MOST_POINTS = 400
"""Requests drawn: of more, the highest of each stretch."""
MOST_EVENTS = 40
"""Events of one position that are listed and judged; the others are counted."""
MOST_ROWS = 300
"""Lines of the before and after list; the others are counted."""


def handout(
    weighed: Weighed,
    state: ReplayState,
    index: Index,
    *,
    texts: Texts,
    prices: Prices | None,
    headline: str,
    alone: bool = False,
) -> dict[str, Any]:
    """One document: the session in figures, each position of the threshold, the chosen event's lists.

    ``alone``: the sender's position is the only one.
    Raises BadParameter where the state cannot be replayed.  All tokens are display tokens; requests are 0-based.
    """
    name, values = _values(weighed, state)
    own = _own(weighed, state, name)
    values = [own] if alone else values
    made = [_replayed(weighed, state, name, value, texts) for value in values]
    positions = [_position(found, index, value, prices) for found, value in zip(made, values, strict=True)]
    chosen = values.index(own)
    event = min(state.event or 0, len(made[chosen].events) - 1)
    return {
        "schema": SCHEMA,
        "session": _session(weighed, made[chosen]),
        "headline": headline,
        "policy": {"name": state.policy, "label": made[chosen].policy.label, "about": made[chosen].policy.help},
        "parameter": _parameter(state, name),
        "n_each": _every(len(weighed.transcript.requests)),
        "recorded": drawn(replay(weighed, "none", base="recorded").context_tokens),
        "chosen": chosen,
        "positions": positions,
        "event": None if event < 0 else _event_lists(made[chosen], event),
        "losses": None if event < 0 else _losses(_judged(made[chosen], index, event + 1), event),
    }


def of_session(session: Session, state: ReplayState, *, alone: bool) -> dict[str, Any]:
    """The document of a stored session at this installation's prices; raises UnreadableInput, OSError, BadParameter."""
    view = overview(session.pk)
    with selectors.load_texts(session) as texts:
        index, prices = index_of(session), prices_for(view.weighed.model)
        return handout(view.weighed, state, index, texts=texts, prices=prices, headline=view.headline, alone=alone)


def _values(weighed: Weighed, state: ReplayState) -> tuple[str, list[float | None]]:
    """The parameter that moves the threshold and its positions, the sender's among them: None where it is no number.

    A sender who sets nothing stands where the threshold is nearest; where nothing moves it, that is the only position.
    """
    name = threshold_param(weighed, state)
    table = threshold_table(weighed, state) if name else []
    least = ABOVE_OVERHEAD * weighed.overhead
    seen: dict[int, float] = {at: value for value, at in table if at >= least}
    values = [seen[at] for at in sorted(seen)]
    most = min(POSITIONS, max(FEWEST, POSITIONS * LONG // max(len(weighed.transcript.messages), 1))) - 1
    if len(values) > most:
        values = [values[round(k * (len(values) - 1) / (most - 1))] for k in range(most)]
    own = _own(weighed, state, name)
    if own is not None:
        return name, [*sorted({*values, own})]
    if not values:
        return name, [None]
    at = {value: threshold for threshold, value in seen.items()}
    there = threshold_of(weighed, state, {}) or 0
    nearest = min(values, key=lambda value: abs(at[value] - there))
    return name, [None if value == nearest else value for value in values]


def _own(weighed: Weighed, state: ReplayState, name: str) -> float | None:
    """The sender's value of the parameter: as given, else what the session starts from; None for no number."""
    found = state.given.get(name, starts(state.policy, weighed).get(name))
    try:
        return float(str(found))
    except ValueError:
        return None


def _replayed(weighed: Weighed, state: ReplayState, name: str, value: float | None, texts: Texts) -> Replay:
    own = name and value == _own(weighed, state, name)
    moved = {} if value is None or own else {name: int(value) if value == int(value) else value}
    asked = {**replays.options(state), "params": {**state.given, **moved}}
    return replay(weighed, **asked, summarizer=state.summarizer, texts=texts)


def _session(weighed: Weighed, made: Replay) -> dict[str, Any]:
    transcript = weighed.transcript
    return {
        "title": transcript.title,
        "format": transcript.format,
        "model": weighed.model.name,
        "messages": len(transcript.messages),
        "requests": len(transcript.requests),
        "compactions": len(transcript.compactions),
        "window": made.window,
        "overhead": weighed.overhead,
    }


def _parameter(state: ReplayState, name: str) -> dict[str, Any] | None:
    spec = next((spec for spec in specs(state.plugin.params) if spec.name == name), None)
    return None if spec is None else {"name": name, "label": spec.label, "unit": spec.unit}


def _position(made: Replay, index: Index, value: float | None, prices: Prices | None) -> dict[str, Any]:
    """One position of the slider: what it fires at, what it costs, what is lost, and its context."""
    sums = totals(made, prices=prices)
    judged = _judged(made, index, MOST_EVENTS)
    threshold = next((gate.threshold for gate in made.gates if gate is not None), None)
    unit = next((gate.unit for gate in made.gates if gate is not None), "")
    return {
        "value": value,
        "threshold": threshold,
        "unit": unit,
        "cost": None if sums.cost is None else [round(sums.cost.low, 4), round(sums.cost.high, 4)],
        "compactions": sums.compactions,
        "peak": sums.peak_context_tokens,
        "context": drawn(made.context_tokens),
        "events": [_event(made.events[one.number], one) for one in judged.events],
        "rules": judged.n_rules,
        "broken": sum(len(one.broken) for one in judged.events),
        "gone": judged.n_gone,
        "open": judged.n_open,
    }


def _judged(made: Replay, index: Index, most: int) -> losses.Losses:
    """What the first events of a replay lost, by the judge of the pages."""
    events = list(enumerate(made.events))
    return losses.judged(Assessor(made.weighed, index), events, made.wording(index.sketch_of), most)


def _event(event: Event, lost: losses.EventLoss) -> dict[str, Any]:
    return {
        "event": event.index,
        "request": event.request,
        "measure": event.gate.measure,
        "before": event.before_tokens,
        "after": event.after_tokens,
        "messages_before": event.n_before,
        "messages_after": event.n_after,
        "rules": len(lost.rules),
        "broken": len(lost.broken),
        "gone": lost.n_gone,
        "open": lost.n_open,
    }


def _losses(found: losses.Losses, event: int) -> dict[str, Any]:
    """What the chosen event lost, in words; ``open`` depends on a summary without text, and is not listed as lost."""
    one = found.of(event)
    rules, gone = (one.rules, one.gone) if one else ((), ())
    return {
        "rules": [
            {"text": fate.text, "message": fate.source_message, "broken_at": fate.broken_at}
            for fate in rules[:MOST_ROWS]
        ],
        "gone": [
            {
                "kind": need.reference.kind,
                "text": need.reference.text,
                "message": need.source_message,
                "used_at": need.needed_at,
            }
            for need in gone[:MOST_ROWS]
        ],
        "open": one.n_open if one else 0,
    }


def _event_lists(made: Replay, event: int) -> dict[str, Any]:
    rows = diff_event(made.events[event], made.weighed)
    return {"event": event, "n_rows": len(rows), "rows": [row_document(row) for row in rows[:MOST_ROWS]]}


def row_document(row: Row) -> dict[str, Any]:
    """One line of a before and after list, with the beginning of its text."""
    item = row.item_after or row.item_before
    message = item.message if item else None
    return {
        "op": row.op,
        "message": message.index if message is not None and message.index >= 0 else None,
        "role": row.role,
        "kinds": list(kinds_of(message)) if message else [],
        "preview": message.preview if message else "",
        "before": row.tokens_before,
        "after": row.tokens_after,
    }


def _every(n_requests: int) -> int:
    """How many requests one drawn point stands for."""
    return -(-n_requests // MOST_POINTS) or 1


def drawn(context: Sequence[int | None]) -> list[int | None]:
    """The context in at most 400 points: the highest of each stretch."""
    every = _every(len(context))
    parts = (context[at : at + every] for at in range(0, len(context), every))
    return [max((tokens for tokens in part if tokens is not None), default=None) for part in parts]
