"""The calls in a document of a provider's API: a request, a response, both, a list of these, or what was said alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats._calls import CallMessage, ServerEdits, TracedCall, error_in
from sessions.engine.reading.formats._records import inside, pair_in
from sessions.engine.reading.formats._values import Record
from sessions.engine.transcript.types import Origin

Take = Callable[[TracedCall, Record, Origin], None]


@dataclass(frozen=True, slots=True)
class ProviderApi:
    """How an API writes a message, a request and a response, and what a call takes from either."""

    said_at: Callable[[Any, Origin], CallMessage]
    is_request: Callable[[Record], object]
    is_response: Callable[[Record], object]
    ask: Take
    answer: Take

    def pair(self, value: Any) -> tuple[Record | None, Record | None]:
        """The request and the response in a value, None for what is not there."""
        return pair_in(value, self.is_request, self.is_response) if isinstance(value, dict) else (None, None)

    def call(self, document: Record, whole: Origin) -> TracedCall:
        """The call that a document records."""
        request, response = self.pair(document)
        named = any(isinstance(document.get(key), dict) for key in ("request", "response"))
        call = TracedCall([], [], edits=ServerEdits(error=error_in(document)))
        if request is not None:
            self.ask(call, request, inside(whole, "request") if named else whole)
        if response is not None:
            self.answer(call, response, inside(whole, "response") if named else whole)
        return call

    def calls(self, documents: Iterable[Any], whole: Origin) -> list[TracedCall]:
        """The calls of a list; one of messages is a record without any."""
        values = list(documents)
        pairs = [self.call(one, inside(whole, n)) for n, one in enumerate(values) if self.pair(one) != (None, None)]
        return pairs or [self.log(values, whole)]

    def log(self, values: Iterable[Any], at: Origin) -> TracedCall:
        """What was said, without a call."""
        return TracedCall([self.said_at(value, inside(at, n)) for n, value in enumerate(values)], [], is_log=True)
