"""What of a reply stays in the context is read from the growths (replay-semantics 3)."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.transcript.types import Block, Kind, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import fit_summary
from sessions.engine.weigh.calibration.stays import Stays, Way
from tests.engine.sessions import Build, text

THOUGHT = 200


def session(stays: Stays, *, model: str, n_turns: int = 8, thought: int = THOUGHT) -> Transcript:
    """Turns of two requests, each reply with as much thinking, whose usage keeps the rule that is named."""
    build = Build(model=model)
    build.prompt()
    for turn in range(n_turns):
        for call in range(2):
            build.reply(100 + thought, f"c{turn}.{call}")
            reply = build.messages[-1]
            thinking = Block(Kind.THINKING, n_chars=thought * 4, n_tokens=thought)
            build.messages[-1] = dataclasses.replace(reply, blocks=(thinking, text(100), *reply.blocks[1:]))
            build.context -= thought if stays is Stays.NEVER else 0
            build.result(f"c{turn}.{call}", 150 + 10 * turn)
        build.prompt(40)
        build.context -= 2 * thought if stays is Stays.TURN else 0
    build.reply(50)
    return build.done()


@pytest.mark.parametrize("stays", list(Stays))
@pytest.mark.parametrize("model", ["gemini-2.5-pro", "claude-opus-4-6", "claude-sonnet-4-5"])
def test_the_way_that_the_growths_bear_out_stands_whatever_the_model(stays: Stays, model: str) -> None:
    weighed = weigh(session(stays, model=model))
    assert weighed.way.thinking is stays
    assert weighed.way.growths > 0
    measured = [r.usage.context for r in weighed.transcript.requests if r.usage]
    assert list(weighed.estimated) == (measured if model.startswith("gemini") else pytest.approx(measured, rel=0.02))


def test_usage_that_is_not_there_leaves_it_to_the_model() -> None:
    for model, known in (("claude-opus-4-6", Stays.KEPT), ("claude-sonnet-4-5", Stays.TURN)):
        assert weigh(session(Stays.NEVER, model=model), train_fraction=0).way == Way(known)


def test_little_thinking_tells_nothing() -> None:
    assert weigh(session(Stays.NEVER, model="claude-opus-4-6", thought=20)).way == Way(Stays.KEPT)


def test_reported_reasoning_is_the_thinking_where_only_a_part_of_its_text_is_there() -> None:
    """Thoughts of 200 tokens of which the file has 10."""
    transcript = session(Stays.NEVER, model="gemini-2.5-flash")
    messages = []
    for message in transcript.messages:
        blocks = tuple(
            dataclasses.replace(b, n_tokens=10, n_chars=40) if b.kind is Kind.THINKING else b for b in message.blocks
        )
        messages.append(dataclasses.replace(message, blocks=blocks))
    requests = [
        dataclasses.replace(r, usage=dataclasses.replace(r.usage, reasoning=THOUGHT))
        if r.usage and r.usage.output > 50
        else r
        for r in transcript.requests
    ]
    weighed = weigh(dataclasses.replace(transcript, messages=tuple(messages), requests=tuple(requests)))
    assert weighed.way.thinking is Stays.NEVER
    assert {weighed.thinking[r.message or 0] for r in requests[:-1]} == {THOUGHT}
    assert weighed.estimated == tuple(r.usage.context for r in requests if r.usage)


def test_reasoning_without_a_block_stays_where_the_growths_hold_it() -> None:
    def weighed_of(*, sent: bool) -> Way:
        build = Build(model="gpt-4o")
        build.prompt()
        for turn in range(8):
            build.reply(300, f"c{turn}")
            build.messages[-1] = dataclasses.replace(build.messages[-1], blocks=(text(200),))
            usage = build.requests[-1].usage
            assert usage
            build.requests[-1] = dataclasses.replace(
                build.requests[-1], usage=dataclasses.replace(usage, reasoning=100)
            )
            build.context -= 0 if sent else 100
            build.add(Role.USER, text(100 + turn))
        build.reply(10)
        return weigh(build.done()).way

    assert (weighed_of(sent=True).reasoning, weighed_of(sent=False).reasoning) == (True, False)


def test_the_summary_says_which_way_and_how_it_is_known() -> None:
    told = fit_summary(weigh(session(Stays.NEVER, model="gemini-2.5-pro")))["stays"]
    assert (told["thinking"], told["reasoning"], told["n_growths"] > 0) == ("not sent again", "not sent again", True)
    assumed = fit_summary(weigh(Build(model="claude-opus-4-6").turns(8).done()))["stays"]
    assert assumed == {"thinking": "kept", "reasoning": "not sent again", "n_growths": 0}
