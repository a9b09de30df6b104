"""Mastra's storage: threads with their messages, whose calls are the spans beside them (formats 87)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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


def threads(source: Source, measure: Measured, skipped: list[Skipped]) -> Iterator[Transcript]:
    """The session of every thread; ``skipped`` receives what is no message."""
    tables = source.head().tables
    rows = rows_of(source, SPANS, "ORDER BY startedAt, rowid") if SPANS in tables else ()
    spans = [mastra.span_at(row, at) for row, at in rows]
    steps, _ = mastra.steps_of(spans, {span.id: span for span in spans})
    for row, _ in rows_of(source, "mastra_threads", "ORDER BY createdAt, rowid"):
        native = text_of(row.get("id"))
        reading = _Thread(measure, [s for s in steps if native in (span.thread for span in (s.span, *s.around))])
        for message, at in rows_of(source, MESSAGES, "WHERE thread_id = ? ORDER BY createdAt, rowid", (native,)):
            reading.put(message, at, skipped)
        reading.tell(None)
        for told, _ in rows_of(source, MEMORY, "WHERE threadId = ?", (native,)) if MEMORY in tables else ():
            pending, n = count_of(told.get("pendingMessageTokens")), count_of(told.get("generationCount"))
            limit = count_of(as_dict(as_dict(decoded(told.get("config"))).get("observation")).get("messageTokens"))
            words = f"{pending:,} tokens wait for it, it observes from {limit:,} on, it has condensed {n} times"
            reading.history.note(limit, f"Observational memory, by its own count: {words}")
        yield reading.finish(native, text_of(row.get("title")))


class _Thread(Reading):
    """A thread in the making, with the calls that its messages have not taken yet."""

    def __init__(self, measure: Measured, steps: list[mastra.Step]) -> None:
        super().__init__(measure)
        self.steps = steps

    def put(self, row: Record, origin: Origin, skipped: list[Skipped]) -> None:
        """A message, and before it the calls that began before an answer was written down."""
        held, first = decoded(row.get("content")), len(self.history.requests)
        due = self.tell(seconds(row.get("createdAt"))) if row.get("role") == "assistant" else []
        said, place = (held, inside(origin, "content")) if isinstance(held, dict) else ({"content": held}, origin)
        facts = {key: row.get(key) for key in ("role", "id", "createdAt")}
        self.take({**said, **facts}, place, skipped)
        made = self.history.requests[first:]
        # A generation of several steps tells their sum alone.
        for request, step in zip(made, due[-len(made) :] if len(due) >= len(made) else [], strict=False):
            usage, model = sdk_usage(step.attributes.get("usage")), text_of(step.told("model"))
            self.history.requests[request.index] = replace(request, usage=usage, model=model, response_id=step.span.id)

    def tell(self, until: float | None) -> list[mastra.Step]:
        """The answered calls that began by then, taken; those that failed are told where the reading stands."""
        due = [step for step in self.steps if until is None or (step.span.started or 0) <= until]
        self.steps = self.steps[len(due) :]
        for step in due:
            self.history.refuse(error_of(step.span.error or step.inner.error))
        return [step for step in due if not (step.span.error or step.inner.error)]
