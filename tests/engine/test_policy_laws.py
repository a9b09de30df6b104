"""Laws that hold for every policy on every session, checked on random ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.calibrate import weigh
from sessions.engine.diff import diff_event
from sessions.engine.registry import plugins
from sessions.engine.replay import replay
from tests.engine.sessions import Build, image

POLICIES = sorted(plugins("policies"))


@st.composite
def transcripts(draw):
    """Prompts, replies with up to three parallel calls answered in any order, images, a recorded compaction."""
    session = Build(overhead=draw(st.integers(0, 20_000)), usage=draw(st.booleans()))
    session.prompt(draw(st.integers(1, 3_000)))
    n_calls = 0
    for _ in range(draw(st.integers(1, 25))):
        calls = [f"c{n_calls + i}" for i in range(draw(st.integers(0, 3)))]
        n_calls += len(calls)
        session.reply(draw(st.integers(1, 2_000)), *calls, target=f"/f{n_calls % 4}.py")
        for call in draw(st.permutations(calls)):
            parts = [image(draw(st.integers(1_000, 4_000_000)), 500)] if draw(st.integers(0, 9)) == 0 else []
            session.result(call, draw(st.integers(0, 8_000)), *parts)
        if draw(st.integers(0, 5)) == 0:
            session.prompt(draw(st.integers(1, 3_000)))
        if draw(st.integers(0, 20)) == 0:
            session.compact(draw(st.integers(1, 3_000)))
    session.reply()
    return session.done()


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@given(transcript=transcripts(), window=st.integers(20_000, 200_000), base=st.sampled_from(["full", "recorded"]),
       summarizer=st.sampled_from(["recorded", "stub:500", "stub:50000"]))  # fmt: skip
def test_laws(policy, transcript, window, base, summarizer):
    """No tool pair split, no growth, identity without an event, same input same output."""
    weighed = weigh(transcript)
    result = replay(weighed, policy, window=window, base=base, summarizer=summarizer)
    again = replay(weigh(transcript), policy, window=window, base=base, summarizer=summarizer)
    assert result.context_tokens == again.context_tokens
    assert [e.after for e in result.events] == [e.after for e in again.events]
    none = replay(weighed, "none", window=window, base=base)
    first = result.events[0].request if result.events else len(transcript.requests)
    assert result.context_tokens[:first] == none.context_tokens[:first]
    for event in result.events:
        assert event.gate.fires
        assert event.after_tokens < event.before_tokens
        assert event.kept + event.edited + event.dropped == len(event.before)
        assert event.kept + event.edited + event.inserted == len(event.after)
        rows = diff_event(event, weighed)
        assert all(row.pair_ok is not False for row in rows)
        assert sum(row.before is not None for row in rows) == len(event.before)
        assert [row.after for row in rows if row.after is not None] == list(range(len(event.after)))
        if base == "full":
            assert event.after_tokens == result.context_tokens[event.request]
