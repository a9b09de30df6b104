"""The Anthropic API: one client per use, its own retries, every failure one typed error.

The SDK is imported when the first client is made (0.6 to 0.9 s).  Its own retries are off, because it sleeps as long as
a Retry-After says, an hour too, and hears nothing meanwhile; ours wait at most ``patience`` and stop when asked to.
"""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from sessions.adapters.calls import Bucket, CallFailed, check, never, pause, pointed_to

if TYPE_CHECKING:
    import anthropic


BASE_URL = "https://api.anthropic.com"
TIMEOUT_SECONDS = 10.0
RETRIES = 2
BACKOFF_SECONDS = 0.5
"""Doubled at every retry; the SDK's own first delay (estimators 8)."""
PATIENCE_SECONDS = 10.0
"""The longest Retry-After that is waited for; a longer one is told to the user."""
RETRIED = frozenset({"rate_limited", "overloaded", "server", "timeout", "dropped"})
REASON_CHARS = 300
STATUS_KINDS = {401: "key_refused", 403: "key_refused", 402: "billing", 429: "rate_limited", 529: "overloaded"}
STREAM_KINDS = {"overloaded_error": "overloaded", "rate_limit_error": "rate_limited"}


@dataclass(frozen=True, slots=True)
class Access:
    """A key and where it is sent; ``source`` is "environment" or "page"."""

    key: str = field(repr=False)
    base_url: str = BASE_URL
    source: str = "environment"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said: text, (name, input) of its tool calls, why it stopped, and its usage in tokens."""

    text: str
    tools: tuple[tuple[str, dict[str, Any]], ...]
    stop: str
    input_tokens: int
    output_tokens: int
    model: str = ""


class Client:
    """Calls of the Messages API, in a ``with`` block; ``timeout`` is the longest silence of the server in seconds.

    ``cancel`` is asked before calls, while waiting and at every streamed event.
    """

    def __init__(
        self,
        access: Access,
        *,
        timeout: float = TIMEOUT_SECONDS,
        patience: float = PATIENCE_SECONDS,
        bucket: Bucket | None = None,
        cancel: Callable[[], bool] = never,
    ) -> None:
        import anthropic

        self.cancel, self.patience, self.bucket = cancel, patience, bucket
        self.sdk = anthropic.Anthropic(
            api_key=access.key, base_url=access.base_url, timeout=timeout, max_retries=0, open_telemetry=False,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),  # else the key goes along
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sdk.close()

    def count(self, body: Mapping[str, Any]) -> int:
        """The provider's count of input tokens for a request body (model, messages, system, tools)."""
        found: Any = self._tried(lambda: self.sdk.messages.count_tokens(**body))
        n_tokens = getattr(found, "input_tokens", None)
        if type(n_tokens) is not int or n_tokens < 0:
            raise CallFailed("malformed", "The answer of the API holds no token count.")
        return n_tokens

    def create(self, body: Mapping[str, Any]) -> Reply:
        """One reply, whole."""
        return _reply(self._tried(lambda: self.sdk.messages.create(**body)))

    def stream(self, body: Mapping[str, Any], on_text: Callable[[str], None]) -> Reply:
        """One reply, streamed: ``on_text`` gets every piece.  A stream that breaks is not begun again."""
        reply: Reply = self._tried(lambda: self._streamed(body, on_text), retried=RETRIED - {"dropped", "timeout"})
        return reply

    def _streamed(self, body: Mapping[str, Any], on_text: Callable[[str], None]) -> Reply:
        pieces: list[str] = []
        stop, model, usage_in, usage_out, ended = "", "", 0, 0, False
        with self.sdk.messages.create(**body, stream=True) as events:
            for event in events:
                check(self.cancel)
                if event.type == "message_start":
                    usage_in, model = _n_tokens(event.message.usage, "input_tokens"), str(event.message.model)
                elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                    pieces.append(event.delta.text)
                    on_text(event.delta.text)
                elif event.type == "message_delta":
                    stop, usage_out = str(event.delta.stop_reason or ""), _n_tokens(event.usage, "output_tokens")
                ended = ended or event.type == "message_stop"
        if not ended:
            raise CallFailed("dropped", "The API's answer ended before it was complete.")
        return Reply("".join(pieces), (), stop, usage_in, usage_out, model)

    def _tried(self, call: Callable[[], Any], retried: frozenset[str] = RETRIED) -> Any:
        """The result of ``call``, tried again after failures that pass; raises CallFailed."""
        for wait in (*(BACKOFF_SECONDS * 2**n for n in range(RETRIES)), None):
            check(self.cancel)
            if self.bucket:
                self.bucket.take(self.cancel, self.patience)
            try:
                return call()
            except Exception as error:
                failed = _failed(error)
                if failed is None:
                    raise
                self._give_up_or_wait(failed, wait if failed.kind in retried else None)
        raise AssertionError("the last wait is None, which raises")

    def _give_up_or_wait(self, failed: CallFailed, wait: float | None) -> None:
        """Wait as long as the server asks, else ``wait``; raise where it is None or longer than our patience."""
        asked = failed.retry_after
        if asked and self.bucket:
            self.bucket.pause(asked)
        if wait is None or (asked is not None and asked > self.patience):
            raise failed from failed.__cause__
        pause(wait if asked is None else asked, self.cancel)


def _failed(error: Exception) -> CallFailed | None:
    """The failure that ``error`` of the SDK is; None for one that is a fault of ours."""
    import anthropic
    import httpx2

    if isinstance(error, CallFailed):
        return error
    failed: CallFailed | None = None
    if isinstance(error, anthropic.APIStatusError):
        failed = _status(error)
    elif isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        failed = CallFailed("timeout", "The API did not answer in time.")
    elif isinstance(error, anthropic.APIConnectionError) and isinstance(error.__cause__, httpx2.ConnectError):
        failed = CallFailed("unreachable", "The API cannot be reached from this machine.")
    elif isinstance(error, anthropic.APIConnectionError | httpx2.TransportError):
        failed = CallFailed("dropped", "The connection to the API broke off.")
    elif isinstance(error, anthropic.APIError | ValueError):
        failed = CallFailed("malformed", "The answer of the API could not be read.")
    if failed:
        failed.__cause__ = error
    return failed


def _status(error: anthropic.APIStatusError) -> CallFailed:
    status = error.status_code
    if 300 <= status < 400:
        place = pointed_to(str(error.request.url), error.response.headers.get("location", ""))
        return CallFailed("bad_request", f"The API points to {place or 'another address'}. No key was sent there.")
    kind = STATUS_KINDS.get(status, "server" if status >= 500 else "bad_request")
    detail = error.body.get("error") if isinstance(error.body, dict) else None
    said = detail.get("message") if isinstance(detail, dict) else None
    if isinstance(detail, dict) and status < 400:  # an error in the middle of a stream
        kind = STREAM_KINDS.get(detail.get("type", ""), "server")
    reason = {
        "key_refused": "The API refuses this key",
        "billing": "The API wants a payment",
        "rate_limited": "The API asks for fewer requests",
        "overloaded": "The API is overloaded",
        "server": f"The API failed (status {status})",
        "bad_request": f"The API rejects the request (status {status})",
    }[kind]
    after = retry_after(error.response.headers)
    told = f"{reason}: {said[:REASON_CHARS]}" if isinstance(said, str) and said else reason
    later = f" Try again in {math.ceil(after):,} s." if after else ""
    return CallFailed(kind, f"{told.rstrip('.')}.{later}", after)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server says it, in seconds or as a date; None where it says nothing readable."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _reply(message: Any) -> Reply:
    content = getattr(message, "content", None)
    if not isinstance(content, list):
        raise CallFailed("malformed", "The answer of the API holds no content.")
    text = "".join(block.text for block in content if block.type == "text")
    tools = tuple((b.name, b.input) for b in content if b.type == "tool_use" and isinstance(b.input, dict))
    usage = getattr(message, "usage", None)
    n_in, n_out = _n_tokens(usage, "input_tokens"), _n_tokens(usage, "output_tokens")
    return Reply(text, tools, str(message.stop_reason or ""), n_in, n_out, str(message.model))


def _n_tokens(usage: Any, name: str) -> int:
    found = getattr(usage, name, 0)
    return found if type(found) is int and found > 0 else 0
