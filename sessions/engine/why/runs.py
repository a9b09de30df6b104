"""Sums over the stretches between compactions, each worked out once for all points of a session."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from sessions.engine.transcript.types import Kind, Label, Message, ProviderError, RecordedCompaction, Role
from sessions.engine.weigh.calibration.weighed import Weighed


@dataclass(slots=True)
class Came:
    """What came from a message on, up to ``stop``: tokens and messages by source, and the heaviest message."""

    stop: int
    tokens: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    heaviest: int | None = None
    heaviest_tokens: int = 0


class Filled(NamedTuple):
    """Tokens that came since the last compaction, by source (name, tokens, messages); ``new`` after the last answer."""

    tokens: int
    n_requests: int
    by_source: tuple[tuple[str, int, int], ...]
    heaviest: int | None
    heaviest_tokens: int
    new: int


def _end(compaction: RecordedCompaction) -> int:
    """The message up to which an error stands before a compaction."""
    return compaction.boundary if compaction.message is None else compaction.message


class Runs:
    """The stretches of one session; ``left_out`` are requests whose usage cannot be right."""

    def __init__(self, weighed: Weighed, left_out: Container[int]) -> None:
        """``contexts`` are 0 where a request is left out."""
        context = weighed.recorded.context
        self.weighed = weighed
        self.contexts = [0 if s.request in left_out else context[k] for k, s in enumerate(weighed.steps)]
        self._over: dict[int, list[int]] = {}
        self._peaks: dict[int, list[int]] = {}
        self._came: dict[int, Came] = {}
        self._ends = [k for k, step in enumerate(weighed.steps) if step.compaction is not None]
        self._requests = [compaction.request for compaction in weighed.transcript.compactions]
        self._errors: dict[int, list[ProviderError]] = {}
        self._in_order = sorted(weighed.transcript.errors, key=lambda error: error.message)
        self._places = [error.message for error in self._in_order]
        for error in self._in_order:
            self._errors.setdefault(error.request, []).append(error)

    @cached_property
    def most(self) -> int:
        """The largest context that was measured and answered, 0 without any."""
        measured = zip(self.contexts, self.weighed.recorded.labels, strict=True)
        return max((tokens for tokens, label in measured if label is Label.MEASURED), default=0)

    def errors_at(self, request: int) -> Sequence[ProviderError]:
        """The errors between the last answered request and this one."""
        return self._errors.get(request, ())

    def errors_before(self, number: int) -> Sequence[ProviderError]:
        """Those of them that stand before recorded compaction ``number``, and behind the one before it."""
        compactions = self.weighed.transcript.compactions
        until = bisect_right(self._places, _end(compactions[number]))
        since = bisect_right(self._places, _end(compactions[number - 1])) if number else 0
        return [one for one in self._in_order[since:until] if one.request >= compactions[number].request]

    def compaction_before(self, request: int, stop: int) -> RecordedCompaction | None:
        """The last recorded one whose next request is at most ``request`` and that begins before message ``stop``."""
        found = self.weighed.transcript.compactions[: bisect_right(self._requests, request)]
        return next((one for one in reversed(found) if one.boundary < stop), None)

    def n_over(self, limit: int, span: range) -> int:
        """How many steps of a span had a context at or over a limit."""
        if limit not in self._over:
            self._over[limit] = list(accumulate((one >= limit for one in self.contexts), initial=0))
        until = self._over[limit]
        return until[span.stop] - until[span.start] if span else 0

    def peak(self, span: range) -> int:
        """The largest context of a span that no recorded compaction parts, 0 without any."""
        if not span:
            return 0
        if span.start not in self._peaks:
            end = next(iter(self._ends[bisect_right(self._ends, span.start) :]), len(self.contexts))
            self._peaks[span.start] = list(accumulate(self.contexts[span.start : max(end, span.stop)], max))
        peaks = self._peaks[span.start]
        return peaks[len(span) - 1] if len(span) <= len(peaks) else max(self.contexts[k] for k in span)

    def came(self, start: int, stop: int, tool_of: Mapping[str, str]) -> Came:
        """What came in messages ``start`` to ``stop``, what a compaction put there left out."""
        found = self._came.get(start)
        if found is None or found.stop > stop:
            found = self._came[start] = Came(start)
        messages, tokens = self.weighed.transcript.messages, self.weighed.tokens
        for i in range(found.stop, stop):
            if messages[i].compaction is not None:
                continue
            source = source_of(messages[i], tool_of)
            found.tokens[source] += tokens[i]
            found.counts[source] += 1
            if tokens[i] > found.heaviest_tokens:
                found.heaviest, found.heaviest_tokens = i, tokens[i]
        found.stop = stop
        return found


def source_of(message: Message, tool_of: Mapping[str, str]) -> str:
    """Who brought a message: the tool whose result it is, "replies", "prompts" or "other"; tools by call id."""
    results = [block for block in message.blocks if block.kind is Kind.TOOL_RESULT]
    if results:
        return tool_of.get(results[0].call_id, "") or results[0].name or "tools"
    if message.role is Role.ASSISTANT:
        return "replies"
    return "prompts" if message.typed else "other"
