"""Laws that hold for every policy on every session, checked on random ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base import registry
from sessions.engine.base.registry import plugins
from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST, MAY_START_WITH_A_REPLY
from sessions.engine.replays.diff import diff_event
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image, text
from tests.every import examples

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
@examples(40)
@given(
    transcript=transcripts(),
    small=st.integers(15_000, 80_000),
    options=st.fixed_dictionaries({
        "window": st.integers(20_000, 200_000),
        "base": st.sampled_from(["full", "recorded"]),
        "summarizer": st.sampled_from(["recorded", "stub:500", "stub:50000"]),
    }),
)  # fmt: skip
def test_laws(policy, transcript, small, options):
    """All laws on one session, because drawing it takes longer than they do; a ``small`` window makes events likely."""
    weighed = weigh(transcript)
    the_replay_is_sound(policy, weighed, **options)
    for event in replay(weighed, policy, window=small, summarizer="stub:300").events:
        the_policy_keeps_what_it_guarantees(policy, event)
        what_was_cleared_is_not_cleared_again(event)


def the_replay_is_sound(policy, weighed, window, base, summarizer):
    """No tool pair split, no growth, identity without an event, same input same output."""
    transcript = weighed.transcript
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


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("system", [False, True])
def test_a_list_without_conversation_is_left_alone(policy, system):
    """The overhead alone is over the window: there is nothing to compact, and that is no error."""
    session = Build(overhead=50_000)
    if system:
        session.add(Role.SYSTEM, text(3_000))
    session.reply()
    assert not replay(weigh(session.done()), policy, window=20_000, summarizer="stub:300").events


def the_policy_keeps_what_it_guarantees(policy, event):
    """First message a user's, latest request alive: verbatim or told by a summary; else the policy's caveats say so."""
    caveats = registry.get("policies", policy).caveats
    first = next((item.message.role for item in event.after if item.message.role is not Role.SYSTEM), Role.USER)
    started = next((item.message.role for item in event.before if item.message.role is not Role.SYSTEM), Role.USER)
    if MAY_START_WITH_A_REPLY not in caveats and started is Role.USER:
        assert first is Role.USER
    typed = [item.id for item in event.before if item.message.typed]
    told = any(item.inserted and item.message.summary for item in event.after)
    if MAY_LOSE_THE_REQUEST not in caveats and typed and not told:
        assert typed[-1] in {item.id for item in event.after}


def what_was_cleared_is_not_cleared_again(event):
    """Idempotence: no event changes a message in place into what it already is, and ids stay unique."""
    for _, old, new in event.history.changes_at(event.index, event.before):
        assert new is None or new.message.blocks != old.message.blocks
    ids = [item.id for item in event.after]
    assert len(ids) == len(set(ids))
    assert all(layer.freed_tokens > 0 for layer in event.layers)


PRINTED = """
import hashlib, json, sys
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.base.registry import plugins
from sessions.engine.replays.replay import replay
from sessions.engine.reports.report import replay_document
from tests.engine.sessions import Build, image

session = Build()
session.prompt()
for n in range(70):
    session.reply(150, f"a{n}", f"b{n}", name=("Read", "Bash", "Edit")[n % 3], target=f"/f{n % 9}.py")
    session.result(f"a{n}", 700)
    session.result(f"b{n}", 300, *([image(200_000, 700)] if n % 9 == 0 else []))
    if n % 12 == 11:
        session.prompt(200)
session.reply()
weighed = weigh(session.done())
for name in sorted(plugins("policies")):
    for summarizer in ("recorded", "extractive"):
        made = replay_document(replay(weighed, name, window=60_000, summarizer=summarizer))
        print(name, summarizer, hashlib.sha256(json.dumps(made).encode()).hexdigest())
"""


def test_replay_documents_are_the_same_bytes_in_every_process():
    """Two processes with two hash seeds print the same documents under every policy."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINTED],
            capture_output=True,
            check=True,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).stdout
        for seed in ("1", "271828")
    ]
    assert printed[0] == printed[1]
    assert printed[0].count("\n") == 2 * len(POLICIES)
