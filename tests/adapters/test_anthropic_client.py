"""The client against the loopback server: what succeeds, what is tried again, and what each failure says."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from sessions.adapters import anthropic_client
from sessions.adapters.anthropic_client import Access, Client, retry_after
from sessions.adapters.calls import CallFailed, TokenBucket
from tests.fake_anthropic import Answer, FakeAnthropic, counted, message, stream

KEY = "sk-ant-a-key-of-the-tests"
BODY: dict[str, Any] = {"model": "claude-x", "messages": [{"role": "user", "content": "hello"}]}
REPLY: dict[str, Any] = BODY | {"max_tokens": 50}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)


def client(api: FakeAnthropic, **more: Any) -> Client:
    return Client(Access(KEY, api.base_url), **({"timeout": 2} | more))


def failure(api: FakeAnthropic, *answers: Answer, **more: Any) -> CallFailed:
    api.then(*answers)
    with client(api, **more) as ours, pytest.raises(CallFailed) as caught:
        ours.count(BODY)
    assert KEY not in str(caught.value)
    return caught.value


def test_counts_and_sends_the_key(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(counted(2_025))
    with client(fake_anthropic) as ours:
        assert ours.count(BODY) == 2_025
    assert fake_anthropic.requests[0].body == BODY
    assert KEY in " ".join(fake_anthropic.requests[0].headers.values())


def test_the_environment_changes_nothing(fake_anthropic: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with client(fake_anthropic) as ours:
        assert ours.count(BODY) > 0
    assert "sk-other" not in str(fake_anthropic.requests[0].headers)


def test_fewer_requests_are_waited_for(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(Answer(429, headers={"retry-after": "0.3"}), counted(7))
    started = time.monotonic()
    with client(fake_anthropic) as ours:
        assert ours.count(BODY) == 7
    assert time.monotonic() - started >= 0.3
    assert len(fake_anthropic.requests) == 2


def test_a_long_wait_is_told_and_holds_back_the_next_call(fake_anthropic: FakeAnthropic) -> None:
    bucket = TokenBucket(600, 5)
    failed = failure(fake_anthropic, Answer(429, headers={"retry-after": "3600"}), bucket=bucket)
    assert (failed.kind, failed.retry_after) == ("rate_limited", 3600)
    assert str(failed).endswith("fake rate_limit_error. Try again in 3,600 s.")
    again = failure(fake_anthropic, bucket=bucket)
    assert again.kind == "rate_limited"
    assert len(fake_anthropic.requests) == 1


def test_overload_is_tried_three_times(fake_anthropic: FakeAnthropic) -> None:
    assert failure(fake_anthropic, *[Answer(529)] * 3).kind == "overloaded"
    assert len(fake_anthropic.requests) == 3
    fake_anthropic.then(Answer(529), Answer(500), counted(3))
    with client(fake_anthropic) as ours:
        assert ours.count(BODY) == 3


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "bad_request"), (413, "bad_request"), (401, "key_refused"), (403, "key_refused"), (402, "billing")],
)
def test_what_repeating_cannot_mend_is_asked_once(fake_anthropic: FakeAnthropic, status: int, kind: str) -> None:
    failed = failure(fake_anthropic, Answer(status))
    assert failed.kind == kind
    assert len(fake_anthropic.requests) == 1


def test_the_reason_of_the_api_is_passed_on(fake_anthropic: FakeAnthropic) -> None:
    assert str(failure(fake_anthropic, Answer(400))) == (
        "The API rejects the request (status 400): fake invalid_request_error."
    )


def test_a_slow_server_times_out_three_times(fake_anthropic: FakeAnthropic) -> None:
    assert failure(fake_anthropic, *[Answer(delay=9)] * 3, timeout=0.1).kind == "timeout"
    assert len(fake_anthropic.requests) == 3


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"", b"[]", b"{}", b'{"input_tokens": "12"}', b'{"input_tokens": -1}', b'{"input_tokens": true}'],
)
def test_a_malformed_count_is_no_number(fake_anthropic: FakeAnthropic, body: bytes) -> None:
    assert failure(fake_anthropic, Answer(body=body)).kind == "malformed"


def test_a_connection_that_breaks_off_is_tried_again(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(Answer(body={"input_tokens": 9}, hang_up=4), counted(9))
    with client(fake_anthropic) as ours:
        assert ours.count(BODY) == 9


def test_nobody_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with Client(Access(KEY, address)) as ours, pytest.raises(CallFailed) as caught:
            ours.count(BODY)
    assert caught.value.kind == "unreachable"


def test_a_whole_reply(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(message("said", tools=[("read", {"path": "a.py"})], stop="tool_use"))
    with client(fake_anthropic) as ours:
        reply = ours.create(REPLY)
    assert (reply.text, reply.tools, reply.stop) == ("said", (("read", {"path": "a.py"}),), "tool_use")
    assert (reply.input_tokens, reply.output_tokens, reply.model) == (100, 1, "claude-fake")


def test_a_streamed_reply_arrives_in_pieces(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(stream("one two three four", pieces=3))
    pieces: list[str] = []
    with client(fake_anthropic) as ours:
        reply = ours.stream(REPLY, pieces.append)
    assert pieces == ["one tw", "o thre", "e four"]
    assert (reply.text, reply.stop, reply.output_tokens) == ("one two three four", "end_turn", 4)


def test_a_stream_that_ends_early_is_no_reply(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(stream("half a summary", cut_after=4))
    with client(fake_anthropic) as ours, pytest.raises(CallFailed) as caught:
        ours.stream(REPLY, lambda _: None)
    assert caught.value.kind == "dropped"
    assert len(fake_anthropic.requests) == 1


def test_an_error_inside_a_stream(fake_anthropic: FakeAnthropic) -> None:
    started = stream("x").events[0]
    fault = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    fake_anthropic.then(Answer(events=[started, fault]), Answer(529), stream("at last"))
    with client(fake_anthropic) as ours:
        assert ours.stream(REPLY, lambda _: None).text == "at last"


def test_a_stream_is_cancelled_between_events(fake_anthropic: FakeAnthropic) -> None:
    fake_anthropic.then(stream("word " * 100, pieces=100, pause=0.05))
    pieces: list[str] = []
    with (
        client(fake_anthropic, cancel=lambda: len(pieces) >= 3) as ours,
        pytest.raises(CallFailed) as caught,
    ):
        ours.stream(REPLY, pieces.append)
    assert (caught.value.kind, len(pieces)) == ("cancelled", 3)


def test_waiting_hears_a_cancel(fake_anthropic: FakeAnthropic) -> None:
    """Were it not heard, the second answer would come."""
    asked: list[bool] = []
    fake_anthropic.then(Answer(429, headers={"retry-after": "9"}), counted(7))
    failed = failure(fake_anthropic, cancel=lambda: asked.append(True) or len(asked) > 3)
    assert failed.kind == "cancelled"
    assert len(fake_anthropic.requests) == 1


def test_a_key_is_not_in_what_is_printed() -> None:
    assert KEY not in repr(Access(KEY))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3), ("0.5", 0.5), ("", None), ("soon", None), ("-1", None), ("nan", None), ("inf", None)],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


def test_retry_after_as_a_date() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) is None
    found = retry_after({"retry-after": "Wed, 21 Oct 2065 07:28:00 GMT"})
    assert found is not None
    assert found > 10**9


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def waits(bucket: TokenBucket, n: int) -> list[float]:
    return [round(bucket.wait(), 3) for _ in range(n)]


@pytest.fixture
def clock() -> Callable[[], float]:
    return Clock()


def test_a_bucket_lets_a_burst_through_and_then_its_rate(clock: Clock) -> None:
    bucket = TokenBucket(60, 2, clock)
    assert waits(bucket, 4) == [0, 0, 1, 2]
    clock.now += 3
    assert waits(bucket, 2) == [0, 1]
    clock.now += 100
    assert waits(bucket, 3) == [0, 0, 1]


def test_a_paused_bucket_waits_as_long_as_asked(clock: Clock) -> None:
    bucket = TokenBucket(60, 5, clock)
    bucket.pause(30)
    assert waits(bucket, 2) == [30, 31]
    clock.now += 32
    assert waits(bucket, 1) == [0]


def test_a_bucket_that_is_too_slow_is_told_apart(clock: Clock) -> None:
    bucket = TokenBucket(1, 1, clock)
    bucket.take()
    with pytest.raises(CallFailed, match=r"Try again in 60 s\."):
        bucket.take(patience=10)
    assert waits(bucket, 1) == [60]
