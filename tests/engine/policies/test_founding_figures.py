"""What the founding documents state in figures, and corners that a change of one sign would turn (seeds 1, 2)."""

from __future__ import annotations

import pytest

from sessions.engine.base import registry
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.asked import session_of
from tests.engine.policies.sent import last, reply, user, views
from tests.engine.sessions import Build


@pytest.mark.parametrize(
    ("policy", "dear"),
    [("layered_v1", {"auto_compact"}), ("layered_v2", {"auto_compact"}), ("buzz_handoff", {"buzz_handoff"}),
     ("buzz_truncate", set()), ("buzz_recovery", {"buzz_recovery"})],
)  # fmt: skip
def test_only_what_calls_a_model_counts_for_the_breaker(policy, dear):
    """Layers 1 to 3 make no model call; the reactive one runs by itself (seeds 1.1)."""
    chosen = registry.get("policies", policy)
    assert {layer.name for layer in chosen.pipeline if not layer.cheap} == dear
    assert chosen.shares_prefix is policy.startswith("layered")
    assert chosen.summary_calls is (policy != "buzz_truncate")


@pytest.mark.golden("layered_v1")
def test_a_head_longer_than_the_list_snips_nothing():
    """Six messages, over five; the first ten stay."""
    spec = [user(10) for _ in range(6)]
    assert last(spec, "layered_v1", max_messages=5, head=10, keep_results=1_000) == [0, 1, 2, 3, 4, 5]


@pytest.mark.golden("layered_v1", "layered_v2")
@pytest.mark.parametrize(("policy", "given"), [("layered_v1", {"max_output": 0, "buffer": 0}), ("layered_v2", {})])
@pytest.mark.parametrize("summary", [0, 7, 500])
def test_the_one_message_is_the_summary_and_the_active_request(policy, given, summary):
    """No file was read: 40 tokens of the newest prompt, and the summary's."""
    session = Build(usage=False, overhead=0)
    session.prompt(20_000)
    session.prompt(40)
    session.reply(10)
    params = {"max_messages": 10_000, **given}
    (event,) = replay(weigh(session.done()), policy, params=params, window=20_000, summarizer=f"stub:{summary}").events
    (made,) = event.after
    ratio = weigh(session.done()).tokens[1]
    assert made.tokens == summary + ratio


def capped(cap, *more):
    """Positions sent by ``buzz_handoff`` of 70,000 + 10 + 69,990 bytes, and ``more``, at this cap."""
    spec = [user(70_000), reply(chars=10), user(69_990), *more]
    return [[m[0] for m in sent] for sent in views(spec, "buzz_handoff", max_history_bytes=cap)]


@pytest.mark.golden("buzz_handoff")
@pytest.mark.parametrize(("cap", "left"), [(140_001, [0, 1, 2]), (140_000, [0, 1, 2]), (139_999, [2])])
def test_the_body_cap_is_over_its_bytes(cap, left):
    """seeds 2.5: while the total is over the cap the oldest whole turn goes."""
    assert capped(cap)[-1] == left


@pytest.mark.golden("buzz_handoff")
def test_what_the_cap_dropped_is_counted_no_more():
    """The turns after a drop fit: 69,990 + 10 + 60,000 + 10 + 9 bytes under 139,999."""
    sent = capped(139_999, reply(chars=10), user(60_000), reply(chars=10), user(9))
    assert sent[1:] == [[2], [2, 3, 4], [2, 3, 4, 5, 6]]


@pytest.mark.golden("buzz_recovery")
@pytest.mark.parametrize(("over", "fits"), [(-1, True), (0, True), (1, False)])
def test_a_handoff_fits_with_the_system_prompt_beside_it(over, fits):
    """10,000 of overhead and the handoff are one under, at and one over a window of 40,000."""
    weighed = session_of(50_000)
    plain = replay(weighed, "buzz_recovery", window=40_000, summarizer="stub:10").events[0]
    summary = 40_000 - (plain.after_tokens - 10) + over
    made = replay(weighed, "buzz_recovery", window=40_000, summarizer=f"stub:{summary}")
    assert [event.after_tokens for event in made.events] == ([40_000 + over] if fits else [])
