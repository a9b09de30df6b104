"""Summaries written by a model of the Anthropic API, streamed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sessions.adapters.anthropic_client import Access, Client
from sessions.adapters.calls import Bucket, CallFailed, never
from sessions.adapters.prompts import READER, Prompt
from sessions.engine.reading.jsonio import dumps

SUMMARY_TOKENS = 20_000
"""Room for a summary: Claude Code's own reserve, whose observed p99.99 is 17,387 tokens (policies 2.2, 4.1)."""
SILENCE_SECONDS = 60.0
LONGEST_SECONDS = 600.0
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What the model wrote, with the usage the provider billed, in tokens."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int


def request_body(conversation: str, prompt: Prompt, model: str, previous: str = "") -> dict[str, Any]:
    """The request that asks for one summary; ``previous`` goes in where the prompt carries the last summary on."""
    carried = f"<previous_summary>\n{previous}\n</previous_summary>\n\n" if previous and prompt.carries else ""
    said = f"{carried}<conversation>\n{conversation}\n</conversation>\n\n{prompt.ask}"
    messages = [{"role": "user", "content": said}]
    return {"model": model, "max_tokens": SUMMARY_TOKENS, "system": READER, "messages": messages}


def request_key(body: dict[str, Any]) -> str:
    """The name under which the answer to a request is kept: a hash of all of it, model and prompt included."""
    return hashlib.sha256(dumps(body).encode("utf-8", "replace")).hexdigest()


def summarize(
    access: Access,
    body: dict[str, Any],
    *,
    on_progress: Callable[[int], None] = lambda _: None,
    cancel: Callable[[], bool] = never,
    bucket: Bucket | None = None,
) -> Summary:
    """The summary that ``body`` (``request_body``) asks for; ``on_progress`` hears the characters so far.

    Raises CallFailed, also for an empty answer, a refusal, one cut off at its limit, and one that takes ten minutes.
    """
    n_chars, until = 0, time.monotonic() + LONGEST_SECONDS

    def progress(piece: str) -> None:
        nonlocal n_chars
        n_chars += len(piece)
        on_progress(n_chars)
        if time.monotonic() > until:
            raise CallFailed("timeout", f"The summary was not finished after {LONGEST_SECONDS / 60:.0f} minutes.")

    with Client(access, timeout=SILENCE_SECONDS, patience=PATIENCE_SECONDS, bucket=bucket, cancel=cancel) as client:
        reply = client.stream(body, progress)
    if reply.stop == "refusal":
        raise CallFailed("refused", "The model declined to write this summary.")
    if reply.stop == "max_tokens":
        raise CallFailed("cut", f"The summary was cut off at {SUMMARY_TOKENS:,} tokens.")
    if not reply.text.strip():
        raise CallFailed("empty", "The model wrote nothing.")
    return Summary(reply.text.strip(), reply.model, reply.input_tokens, reply.output_tokens)
