"""Summaries against the loopback server: prompts, progress, cancel, and what is no summary."""

from __future__ import annotations

import pytest

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access
from sessions.adapters.anthropic_summaries import (
    ANCHORED,
    ANCHORED_SECTIONS,
    NINE,
    NINE_SECTIONS,
    Said,
    as_text,
    instructed,
    request_body,
    request_key,
    summarize,
)
from sessions.adapters.calls import CallFailed
from sessions.engine.policies import anchored
from sessions.engine.transcript.types import Content, Kind
from tests.fake_anthropic import Answer, FakeAnthropic, stream

BODY = request_body("<message>hello</message>", NINE, "claude-x")


@pytest.fixture
def access(fake_anthropic: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Access:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    return Access("sk-test", fake_anthropic.base_url)


def test_a_summary_streams_its_progress(fake_anthropic: FakeAnthropic, access: Access) -> None:
    fake_anthropic.then(stream("## Next step\nNone.\n", pieces=3))
    heard: list[int] = []
    found = summarize(access, BODY, on_progress=heard.append)
    assert (found.text, found.model) == ("## Next step\nNone.", "claude-fake")
    assert (found.input_tokens, found.output_tokens) == (100, 4)
    assert heard == [7, 14, 19]
    sent = fake_anthropic.requests[0].body
    assert (sent["model"], sent["stream"], sent["max_tokens"]) == ("claude-x", True, 20_000)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (stream(""), "empty"),
        (stream(" \n "), "empty"),
        (stream("I cannot", stop="refusal"), "refused"),
        (stream("## Pri", stop="max_tokens"), "cut"),
        (stream("## Pri", cut_after=3), "dropped"),
        (Answer(401), "key_refused"),
        (Answer(413), "bad_request"),
    ],
)
def test_what_is_no_summary(fake_anthropic: FakeAnthropic, access: Access, answer: Answer, kind: str) -> None:
    fake_anthropic.then(answer)
    with pytest.raises(CallFailed) as caught:
        summarize(access, BODY)
    assert caught.value.kind == kind
    assert len(fake_anthropic.requests) == 1


def test_a_cancelled_summary(fake_anthropic: FakeAnthropic, access: Access) -> None:
    fake_anthropic.then(stream("word " * 50, pieces=50, pause=0.02))
    heard: list[int] = []
    with pytest.raises(CallFailed) as caught:
        summarize(access, BODY, on_progress=heard.append, cancel=lambda: bool(heard))
    assert (caught.value.kind, len(heard)) == ("cancelled", 1)


def test_prompts_ask_for_every_section() -> None:
    assert len(NINE_SECTIONS) == 9
    assert all(f"## {name}" in NINE.ask for name in NINE_SECTIONS)
    assert all(f"## {name}" in ANCHORED.ask for name in ANCHORED_SECTIONS)


def test_only_the_anchored_prompt_carries_the_last_summary() -> None:
    carried = request_body("new", ANCHORED, "m", previous="old summary")["messages"][0]["content"]
    assert carried.startswith("<previous_summary>\nold summary\n</previous_summary>")
    assert "old summary" not in str(request_body("new", NINE, "m", previous="old summary"))


def test_instructions_of_the_user_come_last() -> None:
    prompt = instructed(NINE, " Keep every port number. \n")
    assert prompt.ask.endswith("Further instructions:\nKeep every port number.")
    assert instructed(NINE, "  ") is NINE


def test_the_name_of_an_answer_changes_with_what_is_asked() -> None:
    others = [
        request_body("<message>hello!</message>", NINE, "claude-x"),
        request_body("<message>hello</message>", NINE, "claude-y"),
        request_body("<message>hello</message>", ANCHORED, "claude-x"),
        request_body("<message>hello</message>", instructed(NINE, "Briefly."), "claude-x"),
        request_body("<message>hello</message>", ANCHORED, "claude-x", previous="before"),
    ]
    assert len({request_key(body) for body in (BODY, *others)}) == 6
    assert request_key(BODY) == request_key(request_body("<message>hello</message>", NINE, "claude-x"))


def test_a_conversation_as_text() -> None:
    image = Content(Kind.IMAGE, media_type="image/png", data="AAAA")
    result = Content(Kind.TOOL_RESULT, text="boom", call_id="t", is_error=True, parts=(image,))
    said = [
        Said(4, "assistant", (Content(Kind.THINKING, text="hm"), Content(Kind.TEXT, text="Looking."))),
        Said(5, "user", (result,)),
        Said(6, "assistant", (Content(Kind.OPAQUE, text="{}"),)),
    ]
    assert as_text(said) == (
        '<message index="4" role="assistant">\nLooking.\n</message>\n'
        '<message index="5" role="user">\n[tool result, failed:\nboom\n[image: image/png]]\n</message>'
    )


def test_anchored_headings_are_those_of_the_engine() -> None:
    rendered = anchored.render(anchored.AnchoredSummary())
    assert [line[3:] for line in rendered.splitlines() if line.startswith("## ")] == list(ANCHORED_SECTIONS)
