"""The loopback server speaks the protocol as the SDK understands it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from tests.fake_anthropic import Answer, FakeAnthropic, counted, message, stream

ASKED: list[Any] = [{"role": "user", "content": "hello"}]


@pytest.fixture
def sdk(fake_anthropic: FakeAnthropic) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(
        api_key="sk-test", base_url=fake_anthropic.base_url, timeout=2, max_retries=0, open_telemetry=False
    ) as client:
        yield client


def test_counts(fake_anthropic: FakeAnthropic, sdk: anthropic.Anthropic) -> None:
    fake_anthropic.then(counted(2_095))
    assert sdk.messages.count_tokens(model="m", messages=ASKED).input_tokens == 2_095
    assert sdk.messages.count_tokens(model="m", messages=ASKED).input_tokens == 9  # 38 bytes of JSON
    assert [seen.path for seen in fake_anthropic.requests] == ["/v1/messages/count_tokens"] * 2
    assert fake_anthropic.requests[0].body == {"model": "m", "messages": ASKED}
    assert "sk-test" in " ".join(fake_anthropic.requests[0].headers.values())


def test_replies_whole_and_streamed(fake_anthropic: FakeAnthropic, sdk: anthropic.Anthropic) -> None:
    fake_anthropic.then(message("whole", tools=[("read", {"path": "a.py"})]), stream("in pieces, four", pieces=4))
    made = sdk.messages.create(model="m", max_tokens=9, messages=ASKED)
    assert [block.type for block in made.content] == ["text", "tool_use"]
    with sdk.messages.stream(model="m", max_tokens=9, messages=ASKED) as streamed:
        pieces = list(streamed.text_stream)
        final = streamed.get_final_message()
    assert pieces == ["in p", "iece", "s, f", "our"]
    assert (final.stop_reason, final.usage.input_tokens, final.usage.output_tokens) == ("end_turn", 100, 3)


def test_errors_carry_their_type(fake_anthropic: FakeAnthropic, sdk: anthropic.Anthropic) -> None:
    fake_anthropic.then(Answer(529), Answer(429, headers={"retry-after": "7"}))
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        sdk.messages.count_tokens(model="m", messages=ASKED)
    assert (overloaded.value.status_code, overloaded.value.body) == (
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "fake overloaded_error"}},
    )
    with pytest.raises(anthropic.RateLimitError) as limited:
        sdk.messages.count_tokens(model="m", messages=ASKED)
    assert limited.value.response.headers["retry-after"] == "7"


def test_a_slow_answer_times_out(fake_anthropic: FakeAnthropic, sdk: anthropic.Anthropic) -> None:
    fake_anthropic.then(Answer(delay=30))
    with pytest.raises(anthropic.APITimeoutError):
        sdk.messages.count_tokens(model="m", messages=ASKED, timeout=0.2)
