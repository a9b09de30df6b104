"""What every setting is held against: the session as recorded, counted by the same model as its replays.

The lists are those that were sent, the compactions those that came, where they came (replay-semantics 2, ``recorded``),
so that a setting and the recording differ in nothing but when they compact.  What the recording's own usage adds up to
is another fact (``spent``): it holds other branches, and may be too low.
"""

from __future__ import annotations

from dataclasses import replace

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.registry import get
from sessions.engine.costs.cost import Cost, Totals, totals
from sessions.engine.costs.prices import Prices
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.replays.initial_params import built
from sessions.engine.replays.replay import Replay, replay
from sessions.engine.weigh.calibration.weighed import Weighed

NAME = "as recorded"
"""How the baseline is called on every page, in JSON and in the terminal."""


def as_recorded(weighed: Weighed) -> Replay:
    """The recording as a replay: every request as sent, and the compactions whose originals are in the session."""
    sent = replay(weighed, "none", base="recorded")
    name = own_policy(weighed)
    calls = replace(sent.policy, summary_calls=True, shares_prefix=bool(name) and get("policies", name).shares_prefix)
    events = []
    for _, event in recorded_events(weighed):
        # What was sent for its summary is no more than its list weighs, whatever the recorder counts in.
        listed = weighed.overhead + sum(item.tokens for item in event.before)
        events.append(replace(event, before_tokens=min(event.before_tokens, listed)))
    return replace(sent, policy=calls, events=tuple(events))


def baseline(weighed: Weighed, *, prices: Prices | None = None, sent: Replay | None = None) -> Totals:
    """Totals of the session as recorded, in tokens and dollars; all compactions count, by hand and of none asked.

    Its cost has one end: what it dropped and needed again was fetched again, and is in the recording.  ``sent`` is its
    replay ``as_recorded`` where that is at hand.
    """
    sums = totals(sent or as_recorded(weighed), prices=prices)
    cost = None if sums.cost is None else Cost(sums.cost.low, sums.cost.low)
    n = len(weighed.transcript.compactions)
    return replace(sums, compactions=n, refetched_tokens=0, cost=cost)


def cost_change(mine: Totals, base: Totals) -> tuple[float, float]:
    """The cost over another one, as shares (−0.12 is 12% cheaper), low and high; of tokens sent without a price."""
    if mine.cost is None or base.cost is None:
        change = mine.sent_tokens / base.sent_tokens - 1 if base.sent_tokens else 0.0
        return change, change
    paid = base.cost.low
    return (mine.cost.low / paid - 1, mine.cost.high / paid - 1) if paid else (0.0, 0.0)


def change_words(mine: Totals, base: Totals) -> str:
    """12 to 14% cheaper; "the same cost" where the range holds the other; of tokens sent where there is no price."""
    least, most = cost_change(mine, base)
    low, high = sorted((abs(round(100 * least)), abs(round(100 * most))))
    priced = mine.cost is not None and base.cost is not None
    if least <= 0 <= most or not high:
        return "the same cost" if priced else "as many tokens sent"
    less, more = ("cheaper", "dearer") if priced else ("fewer tokens sent", "more tokens sent")
    amount = f"{low}%" if low == high else f"{low} to {high}%"
    return f"{amount} {less if most < 0 else more}"


def own_policy(weighed: Weighed) -> str:
    """The policy that the session ran under; "" where none is known, or where requests can name one and do not."""
    agent, stated = writer_of(weighed.transcript), weighed.transcript.trigger_at is not None
    in_requests = agent.least_trigger is not None or bool(agent.stated_policy)
    return next(iter(agent.policies if stated or not in_requests else ()), "")


def started_threshold(weighed: Weighed) -> int | None:
    """Where a replay of the session's own policy compacts as it started, in tokens; None where it counts otherwise."""
    name = own_policy(weighed)
    if not name:
        return None
    policy = get("policies", name)
    try:
        gate = policy.asked(built(weighed, policy, {}), weighed.window, weighed.model, overhead=weighed.overhead)
    except (ValueError, ArithmeticError, LookupError, TypeError):
        return None  # the trigger reads more than a list without messages has
    return gate.threshold if gate.unit == "tokens" else None
