"""Counts of a session's messages by the provider, range by range, each asked for once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from sessions.adapters import request_bodies
from sessions.adapters.anthropic_client import Access, Client
from sessions.adapters.anthropic_summaries import request_key
from sessions.adapters.calls import CallFailed
from sessions.engine.base.errors import BadParameter
from sessions.engine.models.model_info import normalised
from sessions.engine.transcript.types import Content, Message
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import ModelAnswer
from sessions.services.model_access import bucket

ReadMessage = Callable[[Message], tuple[Content, ...]]

RANGE_MESSAGES = 100
RANGE_BYTES = 4_000_000
"""Well under the API's 32 MB per request; a session that grew is counted again only at its end."""
FATAL = frozenset({"key_refused", "billing", "rate_limited", "overloaded", "unreachable", "timeout", "cancelled"})
"""Failures that the next range would meet as well."""


@dataclass(frozen=True, slots=True)
class RangeCount:
    """Messages ``start`` to ``stop`` (excluded): the provider's count, None while not known, beside ours, in tokens.

    ``error`` says why it is not; ``notes`` what had to be changed to make the range a valid request.
    """

    start: int
    stop: int
    ours: int
    provider: int | None = None
    notes: tuple[str, ...] = ()
    error: str = ""

    @property
    def words(self) -> str:
        """Its messages, first and last: "0–99"."""
        return f"{self.start:,}" if self.stop == self.start + 1 else f"{self.start:,}–{self.stop - 1:,}"

    @property
    def difference_words(self) -> str:
        """Our count against the provider's: "+1.3%", "" where one is missing."""
        return _percent(self.ours, self.provider or 0)


@dataclass(frozen=True, slots=True)
class Counted:
    """All ranges of what was asked for; ``stopped`` is the failure that ended the counting, if one did."""

    model: str
    ranges: tuple[RangeCount, ...]
    stopped: str = ""

    @property
    def done(self) -> tuple[RangeCount, ...]:
        return tuple(r for r in self.ranges if r.provider is not None)

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.ranges)

    @property
    def provider(self) -> int:
        """Tokens of the counted ranges by the provider."""
        return sum(r.provider or 0 for r in self.ranges)

    @property
    def ours(self) -> int:
        """Tokens of the same ranges by ctxweb."""
        return sum(r.ours for r in self.done)

    @property
    def difference(self) -> float | None:
        """Our count against the provider's, in per cent of the provider's."""
        return 100 * (self.ours - self.provider) / self.provider if self.provider else None

    @property
    def difference_words(self) -> str:
        return _percent(self.ours, self.provider)


def _percent(ours: int, provider: int) -> str:
    return f"{100 * (ours - provider) / provider:+.1f}%".replace("-", "\N{MINUS SIGN}") if provider else ""


def counting_model(session_model: str, asked: str = "") -> str:
    """The model to count for: as asked, else the session's where it is a Claude, else the installation's."""
    if asked:
        return asked
    name = session_model.strip().lower().removesuffix("[1m]")
    if name.startswith("claude-"):
        return name
    plain = normalised(session_model)
    return plain if plain.startswith("claude-") else str(settings.ANTHROPIC_MODEL)


def cut(weighed: Weighed, start: int = 0, stop: int | None = None) -> tuple[RangeCount, ...]:
    """The ranges to count, not yet counted; raises BadParameter for messages that are not there."""
    messages = weighed.transcript.messages
    stop = len(messages) if stop is None else stop
    if not 0 <= start < stop <= len(messages):
        raise BadParameter(f"messages go from 0 to {len(messages) - 1:,}, and the last is not before the first")
    chosen = messages[start:stop]
    sizes = [
        sum(leaf.n_bytes + leaf.n_payload + (leaf.media.n_base64 if leaf.media else 0) for leaf in message.leaves())
        for message in chosen
    ]
    cuts = request_bodies.ranges(
        sizes, request_bodies.open_calls(chosen), most_messages=RANGE_MESSAGES, most_bytes=RANGE_BYTES
    )
    return tuple(RangeCount(start + a, start + b, sum(weighed.tokens[start + a : start + b])) for a, b in cuts)


def count(
    weighed: Weighed,
    read: ReadMessage,
    access: Access | None,
    model: str,
    ranges: tuple[RangeCount, ...],
    *,
    seconds: float = math.inf,
    on_range: Callable[[RangeCount], None] = lambda _: None,
) -> Counted:
    """The ranges with counts, stored ones, then by ``access`` new ones for ``seconds``, one at least, kept at once."""
    until = time.monotonic() + seconds
    found: list[RangeCount] = []
    stopped, n_asked = "", 0
    with ExitStack() as stack:
        client = stack.enter_context(Client(access, bucket=bucket(access))) if access else None
        for one in ranges:
            if n_asked and time.monotonic() > until:
                found.append(one)
                continue
            prepared = request_bodies.prepare(weighed.transcript, one.start, one.stop, read, model)
            stored = ModelAnswer.objects.filter(pk=request_key(prepared.body), kind="count")
            provider = stored.values_list("input_tokens", flat=True).first()
            counted = replace(one, notes=prepared.notes, provider=provider)
            if counted.provider is None and client and not stopped:
                n_asked += 1
                try:
                    counted = replace(counted, provider=_asked(client, prepared))
                except CallFailed as failed:
                    counted = replace(counted, error=str(failed))
                    stopped = str(failed) if failed.kind in FATAL else ""
            found.append(counted)
            on_range(counted)
    return Counted(model, tuple(found), stopped)


def _asked(client: Client, prepared: request_bodies.Prepared) -> int:
    try:
        n_tokens = client.count(prepared.body)
    except CallFailed as failed:
        if failed.kind != "bad_request" or "tools" not in str(failed) or not prepared.has_tools:
            raise
        n_tokens = _with_stubs(client, prepared)
    ModelAnswer.objects.get_or_create(
        key=request_key(prepared.body),
        defaults={"kind": "count", "model": prepared.body["model"], "input_tokens": n_tokens},
    )
    return n_tokens


def _with_stubs(client: Client, prepared: request_bodies.Prepared) -> int:
    """The count with empty definitions of the tools, less what those add to a message of one character.

    Sessions hold no tool definitions, and some models refuse calls of tools that are not defined.
    """
    stubs = {"tools": request_bodies.tool_stubs(prepared)}
    least: dict[str, Any] = {"model": prepared.body["model"], "messages": [{"role": "user", "content": "."}]}
    added = client.count(least | stubs) - client.count(least)
    return max(0, client.count(prepared.body | stubs) - added)
