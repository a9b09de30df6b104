"""What is fitted on a session's growths (replay-semantics 1): exact on sessions made to a known rule."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from sessions.engine.transcript.types import Block, Kind, Label, Role, Usage
from sessions.engine.weigh.calibration import scale
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image, text

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def exact(weighed: Weighed) -> bool:
    """Whether every estimated context is the measured one."""
    requests = weighed.transcript.requests
    return [weighed.estimated[r.index] for r in requests] == [r.usage.context for r in requests if r.usage]


def turns(session: Build, n: int, *, wrapper: int = 0) -> Build:
    """``n`` tool turns with results of unlike lengths."""
    for turn in range(n):
        session.reply(50, f"c{len(session.requests)}")
        session.result(f"c{len(session.requests) - 1}", 40 + 37 * (turn % 11))
        session.context += wrapper
    return session


@pytest.mark.parametrize(
    ("n_turns", "label", "ratio", "wrapper"), [(4, "estimated", 1.18, 12), (5, "calibrated", 1.0, 14)]
)
def test_five_clean_growths_are_enough_and_four_are_not(n_turns: int, label: str, ratio: float, wrapper: int) -> None:
    session = Build()
    session.prompt()
    turns(session, n_turns, wrapper=14).reply()
    weighed = weigh(session.done())
    assert (weighed.ratio_label.value, round(weighed.ratio, 2), weighed.wrapper) == (label, ratio, wrapper)
    assert weighed.n_growths == (n_turns if label == "calibrated" else 0)


def test_two_growths_that_agree_tell_the_wrapper_and_two_that_do_not_leave_the_prior() -> None:
    """At gpt-4o's ratio of 1: framings of 8 and 10 tokens agree, of 8 and 12 do not."""
    for second, wrapper in ((10, 9), (12, 0)):
        session = Build(model="gpt-4o")
        session.prompt()
        for framing in (8, second):
            turns(session, 1, wrapper=framing)
        session.reply()
        weighed = weigh(session.done())
        assert (weighed.wrapper, weighed.ratio, weighed.ratio_label.value) == (wrapper, 1.0, "estimated")


def test_a_prompt_weighs_what_three_growths_say_it_adds() -> None:
    session = Build()
    session.prompt()
    turns(session, 8, wrapper=10)
    for tokens in (3, 40, 400):
        session.reply(30)
        session.prompt(tokens)
        session.context += 7
    session.reply()
    weighed = weigh(session.done())
    assert (weighed.ratio, weighed.wrapper, weighed.scale.prompt) == (1.0, 10, 7)
    assert exact(weighed)


def test_an_openai_prompt_weighs_six_more_where_growths_do_not_say() -> None:
    """Three tokens around a message and three that prime the reply: OpenAI's cookbook, usage or not."""
    session = Build(model="gpt-4o")
    session.prompt()
    turns(session, 8).reply()
    session.prompt(20)
    weighed = weigh(session.done())
    assert weighed.tokens[-1] == 20 + 6
    unmeasured = Build(model="gpt-4o", usage=False)
    unmeasured.prompt(20)
    assert weigh(unmeasured.done()).tokens[0] == 20 + 6
    assert weigh(Build(usage=False).turns(3).done()).scale.prompt == 0


def test_small_results_tell_the_wrapper_beside_large_ones() -> None:
    """About 20 around each; logs of 400 to 850 tokens weigh 0.96 of their text, which says no wrapper by itself."""
    session = Build(model="gpt-4o")
    session.prompt()
    for turn, (tokens, more) in enumerate([(700, -11), (140, 16), (420, 3), (840, -9), (7_000, 49), (43, 21)]):
        session.reply(50, f"c{turn}")
        session.result(f"c{turn}", tokens)
        session.context += more
    session.reply(50)
    weighed = weigh(session.done())
    assert 18 <= weighed.wrapper <= 24
    assert 0.95 <= weighed.ratio <= 1.01


def test_an_image_in_a_result_weighs_its_rule_and_what_growths_add() -> None:
    session = Build()
    session.prompt()
    turns(session, 6, wrapper=12)
    session.reply(60, "shot")
    session.result("shot", 0, image(50_000, 1024))
    session.context += 1369 + 12 + 15
    session.reply()
    weighed = weigh(session.done())
    assert weighed.scale.frame == 15
    assert weighed.block_tokens(weighed.transcript.messages[-2]) == {"image": 1369, "tool_result": 27}
    assert exact(weighed)
    few = weigh(Build(usage=False).done())
    assert few.scale.frame == 12
    assert weigh(Build(usage=False, model="gpt-4o").done()).scale.frame == 0


def test_an_attachment_weighs_the_text_that_growths_show_around_it() -> None:
    """Two sorts: a list that is empty, and one that is not."""
    session = Build()
    session.prompt()
    turns(session, 6, wrapper=12)
    for tokens, around in ((1, 110), (1, 112), (1, 90), (50, 30)):
        turns(session, 1, wrapper=12)
        session.add(Role.USER, text(tokens), attachment="todo_reminder")
        session.context += around
    session.reply()
    weighed = weigh(session.done())
    assert weighed.scale.attachments == {"todo_reminder, empty": 110, "todo_reminder": 30}
    assert [weighed.tokens[m.index] for m in weighed.transcript.messages if m.attachment] == [111, 111, 111, 80]


def test_visible_thinking_weighs_its_text_and_hidden_thinking_what_the_output_leaves_over() -> None:
    seen = Block(Kind.THINKING, n_chars=400, n_tokens=100)
    hidden = Block(Kind.THINKING, n_payload=900)
    session = Build(model="claude-haiku-4-5", ratio=1.0)
    session.prompt()
    turns(session, 6)
    for thinking in (seen, hidden):
        session.reply(300)
        reply = session.messages[-1]
        session.messages[-1] = dataclasses.replace(reply, blocks=(thinking, text(80)))
        session.prompt()
    weighed = weigh(session.done())
    assert weighed.ratio == 1.0
    assert [weighed.thinking[m.index] for m in weighed.transcript.messages if m.blocks[0] in (seen, hidden)] == [
        100,
        220,
    ]


def test_what_a_reply_put_out_and_the_transcript_lacks_is_not_sent_again() -> None:
    """A broken-off reply, uncounted reasoning and an output far beyond the content leave the context."""
    for model, changes, left in (
        ("gpt-4o", {"aborted": True}, 0),
        ("gpt-4o", {"reasoning": 30}, 70),
        ("gpt-4o", {"output": 900}, 100),
        ("gpt-4o", {"output": 350}, 350),
        ("claude-sonnet-4-5", {"output": 900}, 900),
    ):
        session = Build(model=model, usage=True)
        session.prompt()
        session.reply(100)
        session.prompt(10)
        session.reply(20)
        first = session.requests[0]
        usage = dataclasses.replace(
            first.usage or Usage(), output=changes.get("output", 100), reasoning=changes.get("reasoning", 0)
        )
        session.requests[0] = dataclasses.replace(first, usage=usage, aborted=bool(changes.get("aborted")))
        weighed = weigh(session.done())
        growth = (weighed.estimated[1] or 0) - (weighed.estimated[0] or 0) - weighed.shifts.get(1, 0)
        assert growth - weighed.tokens[2] == left, (model, changes)


def test_growths_between_two_models_are_not_fitted() -> None:
    session = Build()
    session.prompt()
    turns(session, 8).reply()
    mixed = [dataclasses.replace(r, model="other") if r.index % 2 else r for r in session.requests]
    weighed = weigh(dataclasses.replace(session.done(), requests=tuple(mixed)))
    assert (weighed.ratio_label, weighed.n_growths) == (Label.ESTIMATED, 0)


def test_a_few_words_alone_fit_no_ratio() -> None:
    """Five prompts of two tokens that grew by 40: the prior stands, the rest is around them."""
    session = Build()
    session.prompt()
    for _ in range(6):
        session.reply(30)
        session.prompt(2)
        session.context += 38
    session.reply()
    weighed = weigh(session.done())
    assert (weighed.ratio, weighed.scale.prompt) == (1.18, 38)


def test_the_fit_of_a_long_session_looks_at_a_bounded_number_of_growths(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    fitted = scale._fitted

    def counted(growths: list[scale.Growth], prior: scale.Scale) -> scale.Scale:
        seen.append(len(growths))
        return fitted(growths, prior)

    monkeypatch.setattr(scale, "_fitted", counted)
    session = Build()
    session.prompt()
    weighed = weigh(turns(session, 3_000).done())
    assert weighed.n_growths == 2_999
    assert len(seen) == 1
    assert seen[0] <= scale.MAX_FITTED
