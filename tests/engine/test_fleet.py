"""Many sessions together: what each adds, how they are grouped, and what another threshold would have cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sessions.engine.costs.cost import totals
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.fleet.groups import add_up, fleet_document, grouped, together
from sessions.engine.sweeps.fleet.part import part_of
from sessions.engine.sweeps.fleet.values import RECORDED, SUMMARIZER, THRESHOLDS, Part, Tried
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.why_cases.claude import claude, thrashing

if TYPE_CHECKING:
    from tests.engine.verdict_files import Claude

EMPTY = Part("A", "A 1", "m", "/p", "2026-W01", 1, 0, 0, 0, 0, 0, 0, 0, None, None)


def compacted(tokens: int = 167_500) -> Claude:
    """A session compacted once at its threshold."""
    build = claude()
    build.until(tokens)
    build.compact()
    build.until(60_000)
    return build


def test_a_session_adds_what_why_and_aftermath_say() -> None:
    found = part_of(thrashing(3, 3, 48_000))
    assert (found.n_compactions, found.n_thrash, found.n_false) == (4, 3, 0)
    assert found.agent == "Claude Code"
    assert found.client.startswith("Claude Code 2.")


def test_cost_above_100_000_tokens_is_that_of_the_requests_with_such_a_context() -> None:
    weighed = compacted().weighed()
    found = part_of(weighed)
    n_above = sum(r.usage.context > 100_000 for r in weighed.transcript.requests if r.usage)
    assert 0 < n_above < len(weighed.transcript.requests)
    assert found.dollars is not None
    assert found.dollars_above is not None
    assert 0 < found.dollars_above < found.dollars
    low = tuple(
        r if r.usage and r.usage.context <= 100_000 else replace(r, usage=None) for r in weighed.transcript.requests
    )
    under = part_of(weigh(replace(weighed.transcript, requests=low)))
    assert under.dollars_above == 0
    assert found.dollars == pytest.approx(found.dollars_above + (under.dollars or 0))


def test_copied_requests_are_not_counted_again() -> None:
    weighed = compacted().weighed()
    whole, n = part_of(weighed), weighed.transcript.compactions[0].request
    rest = part_of(weighed, n_shared=n + 1)
    assert (whole.n_compactions, rest.n_compactions) == (1, 0)
    assert rest.n_requests == whole.n_requests - n - 1
    assert whole.dollars is not None
    assert rest.dollars is not None
    assert 0 < rest.dollars < whole.dollars
    assert rest.tried == ()


def test_each_threshold_is_what_its_replay_costs() -> None:
    weighed = compacted().weighed()
    tried = {one.threshold: one for one in part_of(weighed).tried}
    assert tuple(tried) == (RECORDED, *THRESHOLDS)
    assert tried[RECORDED].compactions == len(weighed.transcript.compactions)
    assert tried[RECORDED].low == tried[RECORDED].high
    made = replay(weighed, "parametric", params={"share": None, "tokens": 75_000}, summarizer=SUMMARIZER)
    cost = totals(made).cost
    assert cost is not None
    assert (tried[75_000].low, tried[75_000].high) == pytest.approx((cost.low, cost.high))
    assert tried[75_000].compactions == len(made.events) > 0
    assert tried[None].compactions == 0
    assert not tried[None].fits


def test_groups_add_up_and_say_in_how_many_sessions() -> None:
    parts = [
        replace(EMPTY, n_false=2, dollars=3.0, dollars_above=1.0),
        replace(EMPTY, client="A 2", n_false=1, n_refused=4),
        replace(EMPTY, client="", dollars=1.0, dollars_above=0.0),
    ]
    assert [group.key for group in grouped(parts, "client")] == ["A 1", "A 2", ""]
    (whole,) = grouped(parts, "agent")
    assert (whole.n_sessions, whole.n_priced, whole.dollars) == (3, 2, 4.0)
    assert (whole.sums["n_false"], whole.sessions_with["n_false"]) == (3, 2)
    assert (whole.sums["n_refused"], whole.sessions_with["n_refused"]) == (4, 1)
    assert whole.share_above == 0.25
    assert together("", parts[1:2]).share_above is None


def test_weeks_run_from_the_latest_back() -> None:
    parts = [replace(EMPTY, week=week) for week in ("2026-W02", "", "2026-W11", "2025-W50")]
    assert [group.key for group in grouped(parts, "week")] == ["2026-W11", "2026-W02", "2025-W50", ""]


def test_a_threshold_is_the_sum_over_sessions() -> None:
    small, large = part_of(compacted().weighed()), part_of(compacted(120_000).weighed())
    rows = {row.tokens: row for row in add_up([small, large], "model").thresholds}
    sums = {one.threshold: one.low for one in small.tried}
    others = {one.threshold: one.low for one in large.tried}
    assert rows[75_000].n_sessions == 2
    for at in (RECORDED, 75_000):
        assert rows[at].low == pytest.approx((sums[at] or 0) + (others[at] or 0))


def test_the_document_names_what_it_sums() -> None:
    document = fleet_document(add_up([EMPTY], "model"))
    assert document["schema"] == "ctxweb.fleet/1"
    assert document["totals"]["cost_usd"] is None
    assert [group["key"] for group in document["groups"]] == ["m"]
    assert document["thresholds"] == []


def test_sums_do_not_depend_on_the_order_of_sessions() -> None:
    parts = [replace(EMPTY, dollars=cents / 100, dollars_above=cents / 1000) for cents in (1, 7, 10, 10**13, 33)]
    assert together("", parts) == together("", parts[::-1])
    assert add_up(parts, "model") == add_up([*parts[2:], *parts[:2]], "model")


def test_sessions_are_added_up_as_they_come() -> None:
    some = (Tried(RECORDED, 1, 4.0, 4.0, True), Tried(75_000, 2, 1.0, 3.0, True), Tried(None, 0, None, None, False))
    parts = [replace(EMPTY, tried=some), EMPTY, replace(EMPTY, model="other", tried=some[:2])]
    sums = add_up(iter(parts), "model")
    assert (sums.total.n_sessions, sums.n_replayed) == (3, 2)
    rows = {row.tokens: row for row in sums.thresholds}
    assert tuple(rows) == (RECORDED, *THRESHOLDS)
    first, never = rows[75_000], rows[None]
    assert (first.n_sessions, first.n_over, first.compactions, first.low, first.high) == (2, 0, 4, 2.0, 6.0)
    assert (never.n_sessions, never.n_over, never.low) == (1, 1, None)
    assert [row.tokens for row in sums.thresholds if row.is_cheapest] == [75_000]


@pytest.mark.parametrize(
    ("at", "compactions", "high", "fits"),
    [(50_000, 2, 3.0, True), (75_000, 3, 3.0, True), (75_000, 2, 4.5, True), (75_000, 2, 3.0, False)],
)
def test_no_threshold_is_marked_that_no_advice_would_name(at: int, compactions: int, high: float, fits: bool) -> None:
    """An end of the list, more than twice the compactions, no saving for sure, a window that is passed."""
    some = (Tried(RECORDED, 1, 4.0, 4.0, True), Tried(at, compactions, 1.0, high, fits))
    assert not any(row.is_cheapest for row in add_up([replace(EMPTY, tried=some)], "model").thresholds)
