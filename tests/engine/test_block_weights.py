"""One block weighs what its text is made of (estimators 7.3), wherever its tokens are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.engine.costs.cost import _refetched_at
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.carry import _shares
from sessions.engine.quality.doses import result_tokens
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Block, Kind, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.prior import Prior
from sessions.engine.weigh.calibration.weights import estimate_by_kind
from tests.engine.sessions import Build, image, text

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

DIGITS = Prior(1.0, (1.0, 0, 0, 0, 0.5, 0, 0, 0), (2.0, *(0.0,) * 7), call=40, wrapper=10, frame=12)
"""A digit weighs half a token beside the o200k tokens; a call has 40 around it, a result 10, an image in it 12."""


def listing(tokens: int, digits: int, call_id: str, *parts: Block) -> Block:
    return replace(text(tokens, Kind.TOOL_RESULT, call_id=call_id, parts=parts), classes=(digits, 0, 0, 0))


def session() -> Weighed:
    """A listing of digits and one without, equally long by o200k; later another tool uses the first's file."""
    build = Build(model="claude-opus-4-6", usage=False)
    build.prompt()
    build.reply(60, "a", target="/a.log")
    build.add(Role.USER, listing(1_000, 800, "a"))
    build.reply(60, "b", target="/b.md")
    build.add(Role.USER, listing(1_000, 0, "b", image(4_000, 280)))
    build.turns(8, tokens=3_000)
    build.reply(60, "z", name="Grep", target="/a.log")
    build.result("z", 20)
    build.reply(10)
    return weigh(build.done(), prior=DIGITS)


def test_blocks_of_as_many_o200k_tokens_weigh_what_they_are_made_of() -> None:
    weighed = session()
    digits, words = (weighed.transcript.messages[at].blocks[0] for at in (2, 4))
    assert weighed.content_tokens(digits) == 1_400
    assert weighed.content_tokens(words) == 1_100, "100 of them by the image's rule"
    assert (weighed.framing_tokens(digits), weighed.framing_tokens(words)) == (10, 22)
    assert [weighed.framing_tokens(block) for block in weighed.transcript.messages[1].blocks] == [0, 40]


def test_what_is_read_again_weighs_as_it_did() -> None:
    """The losses page's figure of a result is its message's own."""
    weighed = session()
    for message, call in ((2, "a"), (4, "b")):
        found = ToolCall(message - 1, 1, call, "Read", "read", "", 1, None, (message, 0), 1_000)
        assert result_tokens(weighed, found) == weighed.tokens[message]
    assert result_tokens(weighed, ToolCall(1, 1, "a", "Read", "read", "", 1, None)) == 0


def test_the_upper_end_of_the_cost_fetches_that_again() -> None:
    weighed = session()
    done = replay(weighed, "regenerative_full", window=20_000, summarizer="stub:100")
    befores = zip(done.events, done.events[0].history.befores(), strict=True)
    again = [
        _refetched_at(weighed, event, before)
        for event, before in befores
        if any(item.message.index == 2 for item in event.before)
    ]
    assert again == [1_400]


def test_a_reply_is_shared_out_by_what_its_blocks_weigh() -> None:
    """A text without classes weighs the session's mean, 1.2 here; a call without arguments its framing."""
    weighed = session()
    assert _shares(weighed, weighed.transcript.messages[1]) == [("text", 72), ("tool_use", 40)]


def test_a_message_of_one_block_weighs_what_the_same_with_an_empty_block_does() -> None:
    """One block of text alone is estimated, and shared out by kind, without going through leaves."""
    build = Build(model="claude-opus-4-6")
    build.prompt(40)
    build.turns(12, tokens=300)
    build.reply(60, "a", target="/a.log")
    build.add(Role.USER, listing(50, 20, "a", text(9)))
    build.reply(5)
    build.add(Role.USER, text(0))
    build.add(Role.USER, Block(Kind.THINKING, n_payload=400))
    build.add(Role.ASSISTANT, Block(Kind.TOOL_USE, call_id="z"))
    weighed = weigh(build.done())
    for scale in (weighed.scale, replace(weighed.scale, prompt=7, wrapper=0), replace(weighed.scale, prior=DIGITS)):
        other = replace(weighed, scale=scale)
        for message in weighed.transcript.messages:
            longer = replace(message, blocks=(*message.blocks, Block(Kind.TEXT)))
            shares = [estimate_by_kind(m, scale, weighed.model) for m in (message, longer)]
            assert shares[0] == shares[1], message
            assert other.block_tokens(message) == other.block_tokens(longer), message
