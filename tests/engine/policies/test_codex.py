"""Golden values of Codex's limits, and what local and remote compaction keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.policies.codex import limit
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Block, Kind, Message, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.outputs import outputs
from tests.engine.policies.asked import fires_at, ids, session_of
from tests.engine.sessions import Build, image, text


@pytest.mark.parametrize(
    ("window", "configured", "expected"),
    [(272_000, None, 244_800), (272_000, 200_000, 200_000), (272_000, 260_000, 244_800), (372_000, None, 334_800)],
)
def test_limit(window, configured, expected):
    """Policies 6.1: 272,000 → 244,800; a rollout's 353,400 is 95% of 372,000."""
    assert limit(window, configured) == expected


def test_a_rollout_states_95_percent_of_the_window():
    assert round(353_400 * 100 / 95) == 372_000


@pytest.mark.golden("codex_local", "codex_remote")
@pytest.mark.parametrize("policy", ["codex_local", "codex_remote"])
@pytest.mark.parametrize(("size", "fires"), [(244_799, False), (244_800, True), (244_801, True)])
def test_fires_at_the_limit(policy, size, fires):
    """≥; last usage and the estimate of the result, which is a token more for its call id."""
    assert fires_at(session_of(size - 1), policy, window=272_000) == (fires, size, 244_800, ">=")


def test_the_prefix_may_be_left_out_of_the_count():
    """body_after_prefix: the overhead of 10,000 does not count."""
    weighed = session_of(244_799)
    fires, measure, _, _ = fires_at(weighed, "codex_local", window=272_000, params={"scope": "body_after_prefix"})
    assert (fires, measure) == (False, 244_800 - weighed.overhead)


def mid_turn(prompts=(1_000, 2_000), tokens=50_000):
    """A prompt of each size, each followed by a tool round; the last request is in the middle of a turn."""
    session = Build()
    for n, size in enumerate(prompts):
        session.prompt(size)
        session.reply(100, f"c{n}")
        session.result(f"c{n}", tokens)
    session.reply(100)
    return weigh(session.done())


def test_local_keeps_user_messages_and_a_summary():
    """In their order; assistant and tool items are gone; the summary is last in the middle of a turn."""
    result = replay(mid_turn(), "codex_local", window=120_000, summarizer="stub:700")
    (event,) = result.events
    assert ids(event.after) == ["m0", "m3", "e0.0"]
    assert [item.size for item in event.after] == [1_000, 2_000, 700]
    assert event.after[-1].message.role == "user"


def test_a_prompt_typed_since_the_last_reply_stays_after_the_summary():
    session = Build()
    session.prompt(50)
    session.reply(85_000)
    session.prompt(60)
    session.reply(100)
    event = replay(weigh(session.done()), "codex_local", window=100_000, summarizer="stub:700").events[0]
    assert ids(event.after) == ["m0", "e0.0", "m2"]


@pytest.mark.parametrize(("budget", "kept"), [(3_001, ["m0", "m3"]), (3_000, ["m0", "m3"]), (2_000, ["m3"])])
def test_the_budget_is_filled_newest_first(budget, kept):
    """At 2,000 the second prompt takes all; nothing is left to truncate."""
    result = replay(
        mid_turn(), "codex_local", window=120_000, summarizer="stub:700", params={"user_message_tokens": budget}
    )
    assert ids(result.events[0].after)[:-1] == kept
    assert not any(item.edited for item in result.events[0].after)


def test_the_first_that_overflows_is_truncated():
    """600 tokens are left of 2,600: the older prompt of 1,000 is cut to them, and the scan stops."""
    result = replay(
        mid_turn((1_000, 1_000, 2_000)), "codex_local", window=150_000, summarizer="stub:700",
        params={"user_message_tokens": 2_600},
    )  # fmt: skip
    after = result.events[0].after
    assert ids(after) == ["m3", "m6", "e0.0"]
    assert after[0].edited
    assert 600 <= after[0].size <= 610


def test_local_keeps_text_alone_and_remote_keeps_images():
    session = Build()
    session.prompt(1_000)
    first = session.messages[0]
    session.messages[0] = type(first)(
        0, "m0", first.role, (*first.blocks, image(200_000, 900)), preview="with an image", typed=True
    )
    session.reply(100, "c0")
    session.result("c0", 150_000)
    session.reply(100)
    weighed = weigh(session.done())
    local = replay(weighed, "codex_local", window=150_000, summarizer="stub:1").events[0]
    remote = replay(weighed, "codex_remote", window=150_000, summarizer="stub:1").events[0]
    assert [b.kind for b in local.after[0].message.blocks] == ["text"]
    assert [b.kind for b in remote.after[0].message.blocks] == ["text", "image"]


def test_remote_puts_one_opaque_item_last():
    """Version 2 within 64,000 tokens; version 1 keeps all that was typed."""
    weighed = mid_turn((40_000, 40_000), tokens=40_000)
    second = replay(weighed, "codex_remote", window=170_000, summarizer="stub:500").events[0]
    first = replay(weighed, "codex_remote", window=170_000, summarizer="stub:500", params={"version": "v1"}).events[0]
    assert ids(second.after) == ids(first.after) == ["m0", "m3", "e0.0"]
    assert second.after[-1].message.role == "assistant"
    assert not first.after[0].edited
    assert second.after[0].edited
    assert 24_000 <= second.after[0].size <= 24_010


def test_token_budget_starts_a_fresh_window():
    result = replay(mid_turn(), "codex_local", window=120_000, params={"mode": "token_budget"})
    event = result.events[0]
    assert event.after == ()
    assert event.summary_calls == 0


ENCRYPTED = 2_200
"""Bytes of an encrypted reasoning item that weighs (2,200 · 3/4 − 650) / 4 = 250 tokens."""


def reasoned(*stored, result=100_000, base=100_000):
    """A turn for every tuple of encrypted lengths, each a prompt and a reply with that reasoning; the last goes on
    with a result: the request after it is sent in the middle of that turn.
    """
    session = Build(overhead=base)
    for number, lengths in enumerate(stored, 1):
        session.prompt(10)
        session.reply(100, *(["c0"] if number == len(stored) else []))
        reply = session.messages[-1]
        hidden = tuple(Block(Kind.THINKING, n_payload=n) for n in lengths)
        session.messages[-1] = replace(reply, blocks=(*hidden, *reply.blocks))
    session.result("c0", result)
    session.reply(100)
    return session


def asked(session, request=-1, **options):
    result = replay(weigh(session.done()), "codex_local", summarizer="stub:100", **options)
    return result.gates[request]


@pytest.mark.parametrize(
    ("length", "tokens"),
    [(0, 0), (866, 0), (867, 0), (868, 1), (869, 1), (872, 1), (874, 2), (2_200, 250), (2_204, 251)],
)
def test_stored_reasoning_before_the_turn_counts(length, tokens):
    """⌊length · 3/4⌋ − 650 bytes by 4, up, at least 0; the reasoning of the running turn is in the usage."""
    plain, stored = (asked(reasoned((n,), (2_200,), (2_200,))) for n in (0, length))
    assert stored.measure - plain.measure == tokens
    assert asked(reasoned((), (), (2_200,))).measure == asked(reasoned((), (), ())).measure


def test_every_item_of_stored_reasoning_is_rounded_up_by_itself():
    one = asked(reasoned((868, 868, 868), ())).measure
    assert one - asked(reasoned((), ())).measure == 3


@pytest.mark.parametrize(("result", "fires"), [(-1, False), (0, True), (1, True)])
def test_stored_reasoning_takes_the_count_over_the_limit(result, fires):
    """One below, at and one above 244,800, of which 500 are stored reasoning of two earlier turns."""
    plain = asked(reasoned((), (), (), result=100_000)).measure
    session = reasoned((ENCRYPTED,), (ENCRYPTED,), (ENCRYPTED,), result=100_000 + 244_800 - 500 - plain + result)
    gate = asked(session, window=272_000)
    assert (gate.fires, gate.measure, gate.threshold) == (fires, 244_800 + result, 244_800)


def test_without_usage_stored_reasoning_is_in_the_estimate_already():
    session = reasoned((ENCRYPTED,), ())
    plain = reasoned((), ())
    difference = [asked(each, params={"usage": "none"}).measure for each in (session, plain)]
    assert difference[0] - difference[1] == 250


def test_before_a_turn_the_new_prompt_neither_counts_nor_closes_the_turn():
    """Codex asks before it records the prompt: its tokens and the boundary that it makes come after."""
    found = []
    for prompt in (10, 5_000):
        session = reasoned((ENCRYPTED,), (ENCRYPTED,))
        session.prompt(prompt)
        session.reply(100)
        found.append(asked(session).measure)
    last = session.requests[-2].usage
    assert found == [last.context + last.output + 250] * 2


def test_a_summary_or_a_message_of_another_agent_opens_a_turn():
    for opener in (
        Message(0, "", Role.USER, (text(5),), summary=True),
        Message(0, "", Role.ASSISTANT, (Block(Kind.OPAQUE, n_bytes=20, name="agent_message"),)),
    ):
        session = reasoned((ENCRYPTED,))
        plain = asked(session).measure
        session.messages.insert(2, opener)
        session.messages = [replace(m, index=n, id=f"m{n}") for n, m in enumerate(session.messages)]
        session.requests[-1] = replace(session.requests[-1], message=4)
        assert asked(session).measure - plain >= 250


def test_what_a_compaction_dropped_is_stored_no_more():
    session = reasoned((ENCRYPTED,), (ENCRYPTED,), result=300_000)
    session.turns(2, start=7)
    session.reply(100)
    result = replay(weigh(session.done()), "codex_local", summarizer="stub:100", window=272_000)
    (event,) = result.events
    spent = result.sent.tokens[-2] + outputs(result.weighed)[-2]
    assert result.gates[-1].measure - spent in range(500, 510)
    assert event.request == 2
