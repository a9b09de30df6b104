"""Mastra's storage: threads with their messages, whose calls are the spans beside them (formats 87)."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import groupby

from sessions.engine.reading.formats import _mastra_spans as mastra
from sessions.engine.reading.formats._ai_sdk_parts import parts_of
from sessions.engine.reading.formats._counts import sdk_usage
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._records import inside, rows_of
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Measured, Record, as_dict, count_of, seconds, text_of
from sessions.engine.reading.formats.ai_sdk import Reading
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Content, Origin, Role, Skipped, Transcript

MESSAGES, SPANS, MEMORY = "mastra_messages", "mastra_ai_spans", "mastra_observational_memory"


def stored_contents(value: object, role: Role) -> tuple[Content, ...]:
    """The blocks of a part of a stored message, or of the content of an older one."""
    return parts_of([value] if isinstance(value, dict) else decoded(value), role)


def threads(source: Source, measure: Measured, skipped: list[Skipped]) -> list[Transcript]:
    """The session of every thread, in order of time; ``skipped`` receives what is no message."""
    tables = source.head().tables
    rows = rows_of(source, SPANS, "ORDER BY startedAt, rowid") if SPANS in tables else ()
    spans = [mastra.span_at(row, at) for row, at in rows]
    own: dict[str, deque[mastra.Step]] = {}
    for step in mastra.steps_of(spans, {span.id: span for span in spans})[0]:
        own.setdefault(next((s.thread for s in (step.span, *step.around) if s.thread), ""), deque()).append(step)
    counted = {row.get("threadId"): row for row, _ in rows_of(source, MEMORY)} if MEMORY in tables else {}
    in_time = rows_of(source, "mastra_threads", "ORDER BY createdAt, rowid")
    titles = {text_of(row.get("id")): text_of(row.get("title")) for row, _ in in_time}
    found: dict[str, Transcript] = {}
    in_order = rows_of(source, MESSAGES, "ORDER BY thread_id, createdAt, rowid")
    for native, held in groupby(in_order, lambda one: text_of(one[0].get("thread_id"))):
        reading = _Thread(measure, own.get(native, deque()))
        for message, at in held:
            reading.put(message, at, skipped)
        reading.tell(None)
        reading.remember(counted.get(native, {}))
        found[native] = reading.finish(native, titles.get(native, ""))
    return [found[native] for native in dict.fromkeys([*titles, *found]) if native in found]


class _Thread(Reading):
    """A thread in the making, with the calls that its messages have not taken yet."""

    def __init__(self, measure: Measured, steps: deque[mastra.Step]) -> None:
        super().__init__(measure)
        self.steps = steps

    def put(self, row: Record, origin: Origin, skipped: list[Skipped]) -> None:
        """A message, and before it the calls that began before an answer was written down."""
        held, first = decoded(row.get("content")), len(self.history.requests)
        due = self.tell(seconds(row.get("createdAt"))) if row.get("role") == "assistant" else []
        said, place = (held, inside(origin, "content")) if isinstance(held, dict) else ({"content": held}, origin)
        self.take({**said, **{key: row.get(key) for key in ("role", "id", "createdAt")}}, place, skipped)
        made = self.history.requests[first:]
        # A generation of several steps tells their sum alone.
        for request, step in zip(made, due[-len(made) :] if len(due) >= len(made) else [], strict=False):
            usage, model = sdk_usage(step.attributes.get("usage")), text_of(step.told("model"))
            self.history.requests[request.index] = replace(request, usage=usage, model=model, response_id=step.span.id)

    def tell(self, until: float | None) -> list[mastra.Step]:
        """The answered calls that began by then, taken; those that failed are told where the reading stands."""
        answered: list[mastra.Step] = []
        while self.steps and (until is None or (self.steps[0].span.started or 0) <= until):
            step = self.steps.popleft()
            error = error_of(step.span.error or step.inner.error)
            self.history.refuse(error)
            answered += [] if error else [step]
        return answered

    def remember(self, row: Record) -> None:
        """What observational memory counted of the thread."""
        pending, n = count_of(row.get("pendingMessageTokens")), count_of(row.get("generationCount"))
        limit = count_of(as_dict(as_dict(decoded(row.get("config"))).get("observation")).get("messageTokens"))
        words = f"{pending:,} tokens wait for it, it observes from {limit:,} on, it has condensed {n} times"
        self.history.note(limit, f"Observational memory, by its own count: {words}")
