"""The founding systems at, one under and one over every threshold, share, keep-count and target (seeds 1 to 3)."""

from __future__ import annotations

import pytest

from sessions.engine.policies import buzz, layered
from sessions.engine.policies.buzz import HandoffParams as Params
from sessions.engine.policies.buzz import handoff_gate, prompt_budget
from sessions.engine.policies.compression import Compression, level
from sessions.engine.policies.params import build
from sessions.engine.replays.context import message_items
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.sizes import estimator_named
from tests.engine.policies.asked import session_of
from tests.engine.policies.listed import seen
from tests.engine.policies.sent import last, reply, turns, user, views
from tests.engine.sessions import Build, empty_view, long_session

CHEAP_OFF = {"results_limit": 10_000_000, "max_messages": 10_000, "keep_results": 1_000}
SKILL = ("anchored_iterative", "opaque", "regenerative_full", "importance_sampling", "sliding_window")


def lengths(spec, policy, **params):
    """Lengths of the results in the last list sent."""
    return [held[1] for message in views(spec, policy, **params)[-1] for held in message[4]]


def batch(*sizes):
    calls = [f"c{n}" for n in range(len(sizes))]
    answers = [{"id": call, "chars": size} for call, size in zip(calls, sizes, strict=True)]
    return [user(), reply(*calls), {"role": "tool", "results": answers}]


CUT = len("<persisted-output> full text: .tool_results/c0.txt")


@pytest.mark.golden("layered_v1", "layered_v2")
@pytest.mark.parametrize("policy", ["layered_v1", "layered_v2"])
@pytest.mark.parametrize(("over", "cut"), [(-1, False), (0, False), (1, True)])
def test_the_budget_of_new_results(policy, over, cut):
    """200,000 in all."""
    params = {**CHEAP_OFF, "results_limit": 200_000}
    if policy == "layered_v2":
        params |= {"limit": 10_000_000}
    sizes = (100_000, 100_000 + over)
    after = lengths(batch(*sizes), policy, window=10_000_000, **params)
    assert after == ([100_000, 2_000 + CUT] if cut else list(sizes))


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("over", "n_cut"), [(-1, 1), (0, 1), (1, 2)])
def test_the_budget_stops_at_its_limit(over, n_cut):
    """The largest of three is cut; the rest is then one under, at or one over the limit."""
    limit = 60_000 + 40_000 + 2_000 + CUT - over
    after = lengths(
        batch(60_000, 80_000, 40_000), "layered_v1", window=10_000_000, **{**CHEAP_OFF, "results_limit": limit}
    )
    assert after.count(2_000 + CUT) == n_cut
    assert (after[1], after[2]) == (2_000 + CUT, 40_000)


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("size", "cut"), [(29_999, False), (30_000, False), (30_001, True)])
def test_a_large_result_is_over_thirty_thousand(size, cut):
    after = lengths(batch(size, 1_000), "layered_v1", window=10_000_000, **{**CHEAP_OFF, "results_limit": 1_000})
    assert after == [2_000 + CUT if cut else size, 1_000]


@pytest.mark.golden("layered_v1", "layered_v2")
@pytest.mark.parametrize(("policy", "tail"), [("layered_v1", 47), ("layered_v2", 46)])
@pytest.mark.parametrize(("n", "snipped"), [(49, False), (50, False), (51, True), (60, True)])
def test_snip_over_fifty_messages_keeps_three_and_the_rest_of_fifty(policy, tail, n, snipped):
    params = {"keep_results": 1_000} | ({"limit": 10_000_000} if policy == "layered_v2" else {})
    after = last([user() for _ in range(n)], policy, window=10_000_000, **params)
    assert after == ([0, 1, 2, "new", *range(n - tail, n)] if snipped else list(range(n)))


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("n", "cleared"), [(2, 0), (3, 0), (4, 1), (5, 2)])
def test_v1_keeps_three_results(n, cleared):
    after = lengths(turns(n, 121), "layered_v1", window=10_000_000)
    assert after == [len("[Previous: used Read]")] * cleared + [121] * (n - cleared)


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("size", "cleared"), [(119, False), (120, False), (121, True)])
def test_v1_clears_results_over_120_characters(size, cleared):
    after = lengths(turns(4, size), "layered_v1", window=10_000_000)
    assert after[0] == (len("[Previous: used Read]") if cleared else size)


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(
    ("model", "given", "expected"),
    [("claude-sonnet-4-5", {"max_output": 32_000}, 155_000), ("claude-sonnet-4-5", {"max_output": 64_000}, 123_000),
     ("nobody-knows", {}, 155_000), ("claude-sonnet-4-5", {"max_output": 0, "buffer": 0}, 200_000)],
)  # fmt: skip
def test_v1_reserves_the_whole_output_and_thirteen_thousand(model, given, expected):
    """Uncapped; 32,000 where the model is not known."""
    view = empty_view(session_of(20_000, model=model), "chars_per_4", 200_000)
    assert layered.threshold(build(layered.V1Params, given), view) == expected


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("n", "kept"), [(5, 4), (6, 5), (7, 6)])
def test_reactive_keeps_the_last_five(n, kept):
    """Of so many prompts: one summary and the last ``kept``, where the setting says ``kept``; five by default."""
    assert build(layered.V1Params, {}).reactive_keep == 5
    spec = [user(4_000) for _ in range(n + 1)]
    params = {**CHEAP_OFF, "max_output": 0, "buffer": 0, "reactive_keep": kept}
    after = views(spec, "layered_v1", window=(n + 1) * 4_000 - 1, summary=5, **params)[-1]
    assert [m[0] for m in after] == ["new", *range(n + 1 - kept, n + 1)]


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("over", "fires"), [(-1, False), (0, True), (1, True)])
@pytest.mark.parametrize(("reserve", "limit"), [("off", 180_000), ("on", 167_232)])
def test_the_later_release_looks_at_the_last_input_alone(reserve, limit, over, fires):
    """≥, when the next prompt stands; a long reply in between changes nothing."""
    session = Build(overhead=10_000)
    session.prompt(limit - 10_000 + over)
    session.reply(9_000)
    session.prompt(10)
    session.reply()
    params = {"growth": "off", "reserve_output": reserve}
    gate = replay(weigh(session.done()), "buzz_handoff", params=params, window=200_000, summarizer="stub:10").gates[1]
    assert (gate.fires, gate.measure, gate.threshold) == (fires, limit + over, limit)


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("given", "expected"), [(16 * 1024 * 1024, 15_099_489), (65_539, 58_977), (65_540, 58_986)])
def test_nine_tenths_of_the_history_s_cap(given, expected):
    """``cap // 10 * 9``."""
    assert handoff_gate(Params(max_history_bytes=given), seen("", window=100_000_000)).threshold == expected


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("window", "expected"), [(25_000, 15_808), (9_192, 0), (9_193, 1), (9_191, 0)])
def test_the_prompt_s_budget_never_falls_under_nothing(window, expected):
    """Window − 8,192 − 1,000 of fixed prompt."""
    view = empty_view(session_of(20_000, overhead=1_000, model="gpt-4.1"), "pressure_bytes", window)
    view.overhead = 1_000
    assert prompt_budget(view) == expected


@pytest.mark.golden("buzz_recovery")
@pytest.mark.parametrize(
    ("rejected", "expected"),
    [(8_191, []), (8_192, [4_096]), (8_193, [4_096]), (32_767, [16_383, 8_191]), (32_768, [16_384, 8_192, 4_096])],
)
def test_recovery_gives_up_under_four_thousand_and_ninety_six(rejected, expected):
    assert buzz.budgets(buzz.RecoveryParams(), rejected) == expected


@pytest.mark.golden("buzz_recovery")
@pytest.mark.parametrize(("attempts", "expected"), [(2, 2), (3, 3), (4, 4)])
def test_recovery_tries_as_often_as_allowed(attempts, expected):
    assert buzz.RecoveryParams().attempts == 3
    assert len(buzz.budgets(buzz.RecoveryParams(attempts=attempts), 10_000_000)) == expected


@pytest.mark.golden("buzz_recovery")
@pytest.mark.parametrize(("over", "events"), [(-1, 0), (0, 0), (1, 1)])
def test_recovery_acts_over_the_window(over, events):
    weighed = session_of(50_000)
    assert len(replay(weighed, "buzz_recovery", window=50_000 - over, summarizer="stub:10").events) == events


@pytest.mark.golden(
    "anchored_iterative", "opaque", "regenerative_full", "importance_sampling", "sliding_window"
)  # fmt: skip
@pytest.mark.parametrize("policy", SKILL)
@pytest.mark.parametrize("capacity", ["static", "effective"])
@pytest.mark.parametrize(("over", "fires"), [(-1, False), (0, True), (1, True)])
def test_the_skill_fires_from_seventy_percent_on(policy, capacity, over, fires):
    """70,000 of 100,000, or of the 90,000 beside the system's 10,000: 63,000."""
    limit = 70_000 if capacity == "static" else 63_000 + 10_000
    weighed = session_of(limit + over, model="gpt-4.1")
    params = {"min_messages": 0, "capacity": capacity}
    gate = replay(weighed, policy, window=100_000, params=params, summarizer="stub:10").gates[1]
    overhead = 10_000 if capacity == "effective" else 0
    assert (gate.fires, gate.measure, gate.threshold) == (fires, limit + over - overhead, limit - overhead)


@pytest.mark.golden(
    "anchored_iterative", "opaque", "regenerative_full", "importance_sampling", "sliding_window"
)  # fmt: skip
@pytest.mark.parametrize("policy", SKILL)
@pytest.mark.parametrize(("n", "fires"), [(9, False), (10, True), (11, True)])
def test_the_skill_waits_for_ten_messages(policy, n, fires):
    session = Build(overhead=10_000, usage=False)
    for number in range(n):
        session.prompt(20_000 if number == 0 else 10_000)
    session.reply()
    made = replay(weigh(session.done()), policy, window=100_000, summarizer="stub:10")
    assert made.gates[0].fires is fires


@pytest.mark.golden("anchored_iterative")
@pytest.mark.parametrize(
    ("measure", "expected"),
    [(59, "ok"), (60, "warn"), (61, "warn"), (69, "warn"), (70, "compact"), (71, "compact"), (89, "compact"),
     (90, "critical"), (91, "critical")],
)  # fmt: skip
def test_levels_from_their_shares_on(measure, expected):
    assert level(Compression(), measure, 100) == expected


@pytest.mark.golden("anchored_iterative", "opaque", "regenerative_full", "hybrid")
@pytest.mark.parametrize("policy", ["anchored_iterative", "opaque", "regenerative_full", "hybrid"])
@pytest.mark.parametrize("keep", [4, 5, 6])
def test_the_last_stay_as_many_as_asked(policy, keep):
    """Five by default; prompts alone, so that no pair moves the cut."""
    given = {"max_messages": 11} if policy == "hybrid" else {"usage": "none"}
    spec = [user(1_000) for _ in range(12)]
    assert last(spec, policy, window=15_000, keep_last=keep, **given) == ["new", *range(12 - keep, 12)]
    assert last(spec, policy, window=15_000, **given) == ["new", *range(7, 12)]


@pytest.mark.golden("sliding_window")
@pytest.mark.parametrize(("most", "kept"), [(19, 19), (20, 20), (21, 21), (3, 5), (5, 5), (6, 6)])
def test_sliding_keeps_at_most_so_many_and_never_fewer_than_five(most, kept):
    spec = [user(1_000) for _ in range(30)]
    after = last(spec, "sliding_window", window=40_000, usage="none", target=100, max_messages=most)
    assert after == list(range(30 - kept, 30))


@pytest.mark.golden("hybrid")
@pytest.mark.parametrize(("n", "fires"), [(19, False), (20, False), (21, True)])
def test_hybrid_over_twenty_messages(n, fires):
    assert ("new" in last([user(100) for _ in range(n)], "hybrid")) is fires


@pytest.mark.golden("importance_sampling")
@pytest.mark.parametrize("best", [9, 10, 11])
def test_importance_keeps_the_best_and_the_last_five(best):
    """Equal scores: the later ones; ten by default."""
    spec = [user(1_000) for _ in range(30)]
    given = {"window": 40_000, "usage": "none"}
    assert last(spec, "importance_sampling", keep_best=best, **given) == list(range(30 - 5 - best, 30))
    assert last(spec, "importance_sampling", **given) == list(range(15, 30))


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("tokens", "weighs"), [(19_999, 19_999), (20_000, 20_000), (20_001, 20_000)])
def test_a_summary_has_twenty_thousand_tokens_at_most(tokens, weighs):
    session, params = weigh(long_session(180, tokens=900)), {**CHEAP_OFF, "max_output": 32_000}
    made = replay(session, "layered_v1", params=params, summarizer=f"stub:{tokens}").events[0]
    bare = replay(session, "layered_v1", params=params, summarizer="stub:0").events[0]
    assert made.after[0].tokens - bare.after[0].tokens == weighs


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("n", "stopped"), [(2, False), (3, True), (4, True)])
def test_three_failed_summaries_in_a_row_end_it(n, stopped):
    session, params = weigh(long_session(200, tokens=900)), {**CHEAP_OFF, "max_output": 32_000}
    made = replay(session, "layered_v1", params=params, summarizer="stub:10", fail=f"first:{n}", window=200_000)
    assert any("breaker" in warning for warning in made.warnings) is stopped
    assert any(layer.name == "auto_compact" for event in made.events for layer in event.layers) is not stopped


@pytest.mark.golden("layered_v1")
@pytest.mark.parametrize(("n_read", "named"), [(4, 4), (5, 5), (6, 5)])
def test_five_files_read_last_are_named(n_read, named):
    """The newest first."""
    session = Build(usage=False)
    session.prompt()
    for n in range(n_read):
        session.reply(10, f"c{n}", target=f"/src/{n}.py")
        session.result(f"c{n}", 10)
    items = message_items(weigh(session.done()), estimator_named("chars_per_4"))
    assert layered.recent_files(items) == [f"/src/{n}.py" for n in range(n_read - 1, n_read - 1 - named, -1)]
