"""Counting by the provider: what is asked once, what is shown without a key, and what failures leave."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access
from sessions.engine.base.errors import BadParameter
from sessions.engine.transcript.types import Content, Kind, Message
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import ModelAnswer
from sessions.services import exact_counts
from sessions.services.exact_counts import Counted, RangeCount, counting_model
from tests.engine.sessions import Build
from tests.fake_anthropic import Answer, FakeAnthropic, Seen, counted

pytestmark = pytest.mark.django_db
MODEL = "claude-sonnet-5-5"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(exact_counts, "RANGE_MESSAGES", 2)


def session(n_turns: int = 3) -> Weighed:
    build = Build()
    for _ in range(n_turns):
        build.prompt()
        build.reply()
    return weigh(build.done())


def read(message: Message) -> tuple[Content, ...]:
    return (Content(Kind.TEXT, text=f"text of {message.id}"),)


def run(api: FakeAnthropic | None, weighed: Weighed, **more: Any) -> Counted:
    access = Access(f"sk-{api.base_url}", api.base_url) if api else None
    return exact_counts.count(weighed, read, access, MODEL, exact_counts.cut(weighed), **more)


def test_ranges_are_counted_once(fake_anthropic: FakeAnthropic) -> None:
    weighed = session()
    fake_anthropic.then(counted(10), counted(20), counted(30))
    first = run(fake_anthropic, weighed)
    assert [(r.start, r.stop, r.provider) for r in first.ranges] == [(0, 2, 10), (2, 4, 20), (4, 6, 30)]
    assert (first.provider, first.complete, first.stopped) == (60, True, "")
    assert first.ours == sum(weighed.tokens)
    assert first.difference == pytest.approx(100 * (sum(weighed.tokens) - 60) / 60)
    assert run(fake_anthropic, weighed) == first
    assert run(None, weighed) == first
    assert len(fake_anthropic.requests) == 3


def test_growth_is_counted_alone(fake_anthropic: FakeAnthropic) -> None:
    run(fake_anthropic, session(2))
    assert run(fake_anthropic, session(3)).complete  # one prompt and one reply more
    assert len(fake_anthropic.requests) == 3


def test_another_model_is_another_count(fake_anthropic: FakeAnthropic) -> None:
    weighed, access = session(1), Access("sk", fake_anthropic.base_url)
    for model in (MODEL, "claude-haiku-5-5"):
        exact_counts.count(weighed, read, access, model, exact_counts.cut(weighed))
    assert [seen.body["model"] for seen in fake_anthropic.requests] == [MODEL, "claude-haiku-5-5"]


def test_without_a_key_nothing_is_asked() -> None:
    found = run(None, session())
    assert (found.provider, found.done, found.complete, found.difference) == (0, (), False, None)


def test_what_every_range_would_meet_ends_the_counting(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(counted(10), Answer(401))
    found = run(fake_anthropic, session())
    assert [r.provider for r in found.ranges] == [10, None, None]
    assert found.stopped == "The API refuses this key: fake authentication_error."
    assert len(fake_anthropic.requests) == 2


def test_one_bad_range_does_not_spoil_the_others(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(counted(10), Answer(413), counted(30))
    found = run(fake_anthropic, session())
    assert [r.provider for r in found.ranges] == [10, None, 30]
    assert "status 413" in found.ranges[1].error
    assert found.stopped == ""
    assert ModelAnswer.objects.count() == 2


def test_a_deadline_lets_one_new_range_through(fake_anthropic: FakeAnthropic) -> None:
    weighed = session()
    assert [len(run(fake_anthropic, weighed, seconds=0).done) for _ in range(3)] == [1, 2, 3]
    assert len(fake_anthropic.requests) == 3


def test_progress_is_told(fake_anthropic: FakeAnthropic) -> None:
    heard: list[RangeCount] = []
    found = run(fake_anthropic, session(), on_range=heard.append)
    assert tuple(heard) == found.ranges


def test_missing_definitions_of_tools_are_made_up_and_taken_off(fake_anthropic: FakeAnthropic) -> None:
    """100 with stubs, of which 40 are the stubs': 45 against 5 for a message of one character."""
    build = Build()
    build.prompt()
    build.reply(100, "t1")
    build.result("t1", 100)
    weighed = weigh(build.done())

    def with_calls(message: Message) -> tuple[Content, ...]:
        made = {1: Content(Kind.TOOL_USE, name="Read", call_id="t1", text="{}"),
                2: Content(Kind.TOOL_RESULT, call_id="t1", text="x")}  # fmt: skip
        return (made.get(message.index) or Content(Kind.TEXT, text="go"),)

    def decide(seen: Seen) -> Answer:
        has_tools, small = "tools" in seen.body, len(seen.body["messages"]) == 1
        if small:
            return counted(45 if has_tools else 5)
        wanted = {"type": "error", "error": {"message": "Requests with tool_use must define tools"}}
        return counted(100) if has_tools else Answer(400, body=wanted)

    fake_anthropic.decide = decide
    access = Access("sk", fake_anthropic.base_url)
    found = exact_counts.count(weighed, with_calls, access, MODEL, (RangeCount(0, 3, 1),))
    assert found.provider == 60


@pytest.mark.parametrize(
    ("model", "asked", "counted_for"),
    [
        ("claude-opus-4-8[1m]", "", "claude-opus-4-8"),
        ("claude-opus-4-5-20251101", "", "claude-opus-4-5-20251101"),
        ("us.anthropic.claude-opus-4-8-20260801-v1:0", "", "claude-opus-4-8"),
        ("gpt-5", "", "claude-sonnet-5-5"),
        ("", "", "claude-sonnet-5-5"),
        ("gpt-5", "claude-haiku-5-5", "claude-haiku-5-5"),
    ],
)
def test_the_model_counted_for(model: str, asked: str, counted_for: str) -> None:
    assert counting_model(model, asked) == counted_for


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 2), (3, 2), (0, 7)])
def test_messages_that_are_not_there(start: int, stop: int) -> None:
    with pytest.raises(BadParameter, match="messages go from 0 to 5"):
        exact_counts.cut(session(), start, stop)
