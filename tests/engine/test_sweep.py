"""Sweeps: grids, rows, the front, what is recommended and how it holds on sessions that had no say."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.costs.cost import totals
from sessions.engine.costs.prices import prices_of
from sessions.engine.models.model_info import model_info
from sessions.engine.redact.escaping import csv_lines
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.across import recommend_across
from sessions.engine.sweeps.advice import advise
from sessions.engine.sweeps.floors import read_floors
from sessions.engine.sweeps.regret import optimum
from sessions.engine.sweeps.report import flat, sweep_document, sweep_table
from sessions.engine.sweeps.sweep import Over, Setting, grid, pareto, read_over, spaced, sweep
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import long_session

WEIGHED = weigh(long_session(300))
TRIGGERS = Over("trigger", 40, 90, 6)


def swept(weighed=WEIGHED, policies=("sliding_window",), overs=(TRIGGERS,), window=100_000, **options):
    """A sweep with the usual grid."""
    target = {"target": 20} if "sliding_window" in policies else {}
    axes, points = grid(policies, overs, window=window, params=target)
    return sweep(weighed, points, axes, **options)


LOSSES = {"rules_gone": 0, "needs_gone": 3, "losses_open": 0}


def compacted(one, n):
    """A sweep of a session that had compacted so often."""
    return replace(one, recorded=replace(one.recorded, totals=replace(one.recorded.totals, compactions=n)))


@pytest.mark.parametrize(
    ("text", "whole", "values"),
    [
        ("k=1:5:5", True, (1, 2, 3, 4, 5)),
        ("k=0:1:3", True, (0, 1)),
        ("k=0:1:3", False, (0, 0.5, 1)),
        ("k=10:0:3", True, (10, 5, 0)),
        ("k=7:9:1", True, (7,)),
        ("k=0:10:4", True, (0, 3, 7, 10)),
        ("k=-1:0:3", True, (-1, 0)),
        ("k=1e5:2e5:2", True, (100_000, 200_000)),
    ],
)
def test_values_are_even_inclusive_and_rounded_halves_up(text, whole, values):
    """n values from a to b; rounded ones once each."""
    assert spaced(read_over(text), whole=whole) == values


@pytest.mark.parametrize("text", ["k", "k=1:2", "=1:2:3", "k=a:2:3", "k=1:2:0", "k=1:2:3.5", "k=nan:2:3", "k=1:inf:3"])
def test_what_is_no_over(text):
    """Said with the form it takes."""
    with pytest.raises(BadParameter, match="key=start:stop:count"):
        read_over(text)


def test_a_grid_is_in_the_order_asked_the_last_axis_fastest():
    """Policies first, where there are several."""
    axes, points = grid(["sliding_window", "claude_code"], [Over("window", 1e5, 2e5, 2)], params={"trigger": 60})
    assert [axis.key for axis in axes] == ["policy", "window"]
    assert points == (
        Setting("sliding_window", (("trigger", 60),), 100_000), Setting("sliding_window", (("trigger", 60),), 200_000),
        Setting("claude_code", (), 100_000), Setting("claude_code", (), 200_000),
    )  # fmt: skip
    _, points = grid(["sliding_window"], [Over("trigger", 50, 60, 2), Over("target", 10, 20, 2)])
    assert [dict(p.params) for p in points] == [
        {"trigger": 50, "target": 10}, {"trigger": 50, "target": 20},
        {"trigger": 60, "target": 10}, {"trigger": 60, "target": 20},
    ]  # fmt: skip


def test_a_bad_grid_says_what_exists():
    """Unknown policy, parameter that is no number, value out of range, an axis twice, too many."""
    with pytest.raises(UnknownName, match="sliding_window"):
        grid(["sliding"], [])
    with pytest.raises(BadParameter, match="it has: window, trigger"):
        grid(["sliding_window"], [Over("capacity", 0, 1, 2)])
    with pytest.raises(BadParameter, match="from 1 to 100"):
        grid(["sliding_window"], [Over("trigger", 0, 50, 2)])
    with pytest.raises(BadParameter, match="each axis once"):
        grid(["sliding_window"], [TRIGGERS, TRIGGERS])
    with pytest.raises(BadParameter, match="more than 10,000"):
        grid(["sliding_window"], [Over("window", 1, 1e6, 9_000), TRIGGERS])
    with pytest.raises(BadParameter, match="positive number"):
        grid(["sliding_window"], [Over("window", 0, 10, 2)])
    with pytest.raises(BadParameter, match="none of these policies has a parameter 'trigge'"):
        grid(["sliding_window", "none"], [Over("window", 1, 10, 2)], params={"trigge": 1})
    with pytest.raises(BadParameter, match=r"Unknown parameter 'trigge'\. Did you mean 'trigger'"):
        grid(["sliding_window"], [Over("window", 1, 10, 2)], params={"trigge": 1})


def test_rows_are_the_replays_totals():
    """Every field, whatever else is swept."""
    result = swept()
    assert [row.values["trigger"] for row in result.rows] == [40, 50, 60, 70, 80, 90]
    for row in result.rows:
        made = replay(
            WEIGHED, "sliding_window", params={"trigger": row.values["trigger"], "target": 20}, window=100_000
        )
        assert row.totals == totals(made)
    assert result.complete


def test_a_sweep_can_be_stopped_and_taken_up_again():
    """Rows so far are kept, counted and not computed again."""
    seen = []
    part = swept(progress=lambda n, of: seen.append((n, of)), cancelled=lambda: len(seen) >= 2)
    assert seen == [(1, 6), (2, 6)]
    assert not part.complete
    assert len(part.rows) == 2
    replayed = []
    whole = swept(
        done={row.setting: row for row in part.rows}, columns=lambda made: replayed.append(made.policy.name) or {}
    )
    assert replayed == ["sliding_window"] * 4 + ["none"]
    assert whole.rows == swept().rows


def test_given_prices_reach_the_rows():
    """Twice the price, twice the cost."""
    double = prices_of(model_info("claude-sonnet-4-5"), {"input": 6, "output": 30})
    for dear, cheap in zip(swept(prices=double).rows, swept().rows, strict=True):
        assert dear.totals.cost.low == pytest.approx(2 * cheap.totals.cost.low)


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), max_size=40))
def test_the_front_is_what_nothing_beats(points):
    """By definition, point by point."""
    expected = [
        not any(other != point and all(a <= b for a, b in zip(other, point, strict=True)) for other in points)
        for point in points
    ]
    assert pareto(points) == expected


def test_settings_over_the_window_are_on_no_front():
    """No compaction is cheapest in compactions, and could not have been sent."""
    result = swept(policies=("none", "sliding_window"), overs=())
    none, sliding = result.rows
    assert (none.fits, none.pareto) == (False, False)
    assert (sliding.fits, sliding.pareto) == (True, True)
    (alone,) = swept(policies=("none",), overs=(Over("window", 1e5, 1e5, 1),)).rows
    assert (alone.fits, alone.pareto) == (False, True)


def test_columns_join_the_front():
    """A figure that is best where nothing else is."""
    result = swept(columns=lambda made: {"gone": -40 if getattr(made.params, "trigger", 0) == 40 else 0})
    assert result.rows[0].pareto
    assert flat(result.rows[0])["gone"] == -40


def test_floors_are_read():
    """Names and numbers."""
    assert read_floors({"max_peak": "150,000", "min_compactions": 1}) == {"max_peak": 150_000, "min_compactions": 1}
    for bad in ({"compactions": 1}, {"max_love": 1}, {"max_peak": "x"}, {"max_peak": "nan"}):
        with pytest.raises(BadParameter):
            read_floors(bad)


def test_across_sessions_each_is_judged_by_the_others():
    """What two sessions choose, on the third."""
    sweeps = [compacted(swept(weigh(long_session(n)), columns=lambda _: LOSSES), n // 30) for n in (150, 300, 450)]
    found = recommend_across(sweeps)
    assert len(found.judged) == 3
    for number, one in enumerate(found.judged):
        rest = recommend_across([s for i, s in enumerate(sweeps) if i != number])
        assert one.chosen == rest.setting
        assert 0 < one.ratio < 1
        assert one.keeps
    assert found.mean_ratio == pytest.approx(sum(one.ratio for one in found.judged) / 3)
    assert recommend_across(sweeps, {"max_compactions": 0}) is None
    assert recommend_across([swept(weigh(long_session(150)))]) is None, "losses are not counted"
    assert recommend_across(sweeps[:1]).mean_ratio is None


def test_the_document_has_the_contracts_fields():
    """ctxweb.sweep/1, flat rows, a cost range."""
    result = compacted(swept(columns=lambda _: LOSSES), 5)
    document = sweep_document(result, advice=advise(result), floors={})
    assert document["schema"] == "ctxweb.sweep/1"
    totals_fields = {
        "compactions", "peak_context_tokens", "input_tokens", "cache_read_tokens", "cache_write_tokens",
        "output_tokens", "summary_calls", "cost_usd",
    }  # fmt: skip
    for row in document["rows"]:
        assert {"trigger", "pareto"} | totals_fields <= set(row)
        assert set(row["cost_usd"]) == {"low", "high"}
    assert document["recommended"]["policy"] == "sliding_window"
    assert document["recommended"]["row"]["compactions"] <= 10
    assert document["recommended"] in document["advice"]["settings"]
    assert document["recorded"]["compactions"] == 5
    assert document["axes"] == [{"key": "trigger", "values": [40, 50, 60, 70, 80, 90]}]
    lines = "".join(csv_lines(sweep_table(document["rows"]))).splitlines()
    assert lines[0].startswith("trigger,compactions,")
    assert "cost_usd_low,cost_usd_high" in lines[0]
    assert len(lines) == 7


def test_sweeps_are_deterministic():
    """Twice the same."""
    assert sweep_document(swept()) == sweep_document(swept(weigh(long_session(300))))


@settings(max_examples=30)
@given(low=st.integers(1, 50), span=st.integers(0, 50), n=st.integers(1, 9))
def test_every_row_has_its_setting(low, span, n):
    """Rows and settings agree on any grid."""
    weighed = weigh(long_session(20))
    axes, points = grid(["sliding_window"], [Over("trigger", low, low + span, n)])
    result = sweep(weighed, points, axes)
    assert [dict(row.setting.params)["trigger"] for row in result.rows] == [
        row.values["trigger"] for row in result.rows
    ]
    assert any(row.pareto for row in result.rows)


def test_what_is_remembered_of_a_session_goes_with_it():
    """Items and sizes are kept beside a session, not for ever."""
    weighed = weigh(long_session(60))
    sweep(weighed, [Setting("parametric"), Setting("claude_code")], summarizer="stub:500")
    assert optimum(weighed, summarizer="stub:500") is not None
    held = weakref.ref(weighed)
    del weighed
    gc.collect()
    assert held() is None
