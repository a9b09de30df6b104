"""Mastra's traces: spans of its AI tracing as its storage, its API and its exporters give them (formats 87).

Written by mastra-ai/mastra ``packages/core/src/observability/types/tracing.ts`` and, with what a step holds,
``observability/mastra/src/model-tracing.ts`` and ``usage.ts``; read on two traces of ``__snapshots__`` beside them,
agent-tool-call-trace and multi-step-text-accumulation-trace-generate.  A generation wraps its steps, of which each is
one call; a step that does not say what it sent goes on from the one before it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sessions.engine.base.words import counted
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats import _mastra_spans as mastra
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats import _traces as traces
from sessions.engine.reading.formats._ai_sdk_parts import parts_of
from sessions.engine.reading.formats._assembly import read_as
from sessions.engine.reading.formats._call_sessions import RunEnd, end_calls, sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ServerEdits, TracedCall, answered
from sessions.engine.reading.formats._counts import sdk_usage
from sessions.engine.reading.formats._mastra_spans import Span, Step
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.reading.formats.ai_sdk import Reading
from sessions.engine.transcript.recorded_events import CUT_OFF, CUT_REASONS, EventKind, RecordedEvent
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Role, Transcript

MESSAGES, SPANS, MEMORY = "mastra_messages", "mastra_ai_spans", "mastra_observational_memory"


def _again(values: Sequence[Any], message: Message) -> tuple[Content, ...]:
    """The blocks of an output of a call, of a message that was sent, of what a tool gave, or of a stored message."""
    if MESSAGES in message.origins[0].path[:1]:
        held = ([value] if isinstance(value, dict) else traces.decoded(value) for value in values)
        return tuple(content for parts in held for content in parts_of(parts, message.role))
    output = as_dict(traces.decoded(values[0])) if len(values) == 1 else {}
    if message.role is Role.ASSISTANT and "role" not in output and (found := mastra.reply_contents(output)):
        return found
    return traces.read_again(values, message)


class _Format(Format):
    label = "Mastra"
    source = "Traces of Mastra's AI tracing, exported (JSON or JSONL); its storage (LibSQL, a SQLite database)"
    coverage = Coverage(
        usage=YES, images=PARTLY, refusals=YES, subagents=YES,
        error="error, errorInfo", model="responseModel, model", interruption="output.status aborted, suspended",
        end="finishReason length, maxSteps, tripwireAbort",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if files.has_columns(head, MESSAGES, "thread_id", "content", "role"):
            return Sniff(95, f"a database with {MESSAGES} that have a thread_id")
        found = [mastra.kind_of(span) for record in files.first_records(head) for span, _ in mastra.spans_in(record)]
        if any(kind in (*mastra.GENERATIONS, mastra.STEP, mastra.INFERENCE) for kind in found):
            return Sniff(95, f"{len(found)} spans of Mastra's types, with model calls among them")
        if found and head.document is None and 2 * len(found) > len(files.first_records(head)):
            return Sniff(85, f"{len(found)} spans of Mastra's types, no model call among the first")
        return Sniff(0, "spans of Mastra's types, but none is a model call") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        if source.database() is not None:
            found = _threads(source, measure)
            return read_as(found, "no thread with messages in Mastra's storage")
        spans = mastra.spans_of(source)
        by_id = {span.id: span for span in spans if span.id}
        steps, matched = mastra.steps_of(spans, by_id)
        calls = answered(_calls(steps, matched))
        if not calls:
            raise files.misread("no model calls among Mastra's spans")
        end_calls(
            calls,
            (_end(span) for span in spans if span.kind not in (mastra.STEP, mastra.INFERENCE, *mastra.GENERATIONS)),
        )
        results = [said for step in steps for said in step.results]
        told = sessions_of(calls, measure, stem=files.stem_of(source.name), results=results)
        known = {step.span.id: step for step in steps}
        n_cut = sum(step.reason in CUT_REASONS for step in steps)
        notes = files.noted(
            (len(spans) - len(steps), f"Spans that are no requests: {len(spans) - len(steps)}"),
            (n_cut, f"Answers that were cut off at a limit of their own: {n_cut}"),
        )
        ended = tuple(_ended(transcript, known) for transcript in told)
        return Parsed(ended, warnings=notes)

    contents = all_values(_again)


def _calls(steps: Sequence[Step], matched: Mapping[str, str]) -> Iterator[TracedCall]:
    """The calls; of a generation's steps each goes on from the one before, unless it says that it sent less."""
    newest = {step.generation.id: step for step in steps if step.generation}
    before: dict[str, tuple[Step, int, TracedCall | None]] = {}
    told: dict[str, tuple[Content, ...]] = {}
    for step in steps:
        outer, call = step.generation, _call(step, matched)
        own, is_whole = _own(step.span)
        last, n_known, known = before.get(outer.id, (None, 0, None)) if outer else (None, 0, None)
        if last is None:
            opening = _said(outer or step.span)
            call.sent = own if is_whole or not opening else opening
        elif own and (is_whole or len(own) <= n_known):
            call.sent = own
        else:
            call.sent, call.continues = list(last.results), last.span.id
        if last is None:
            told[outer.id if outer else ""] = _instructions(step, call.sent)
        call.system = (*told[outer.id if outer else ""], *call.system)
        if outer:
            before[outer.id] = step, len(call.sent) + (n_known + 1 if call.continues else 0), call
            # How the generation ended is told of its last call: its error, or that it was stopped.
            error, edits = error_of(outer.error), call.edits
            if newest[outer.id] is step and error and edits.error is None:
                is_refused = not call.replied and not call.usage
                call.edits = replace(edits, error=error) if is_refused else replace(edits, ended=error)
            elif newest[outer.id] is step:
                call.edits = replace(edits, ended=edits.ended or _stopped(outer))
        if outer and known and call.continues and call.edits.error and not call.replied:
            # It adds nothing to what the generation began with, by which its session is found.
            call.sent, call.continues = _said(outer), ""
            if not call.sent:
                known.edits = replace(known.edits, ended=call.edits.error)
                continue
        yield call


def _call(step: Step, matched: Mapping[str, str]) -> TracedCall:
    tool = next((span for span in step.around if span.kind in mastra.TOOLS), None)
    chain = [step.span, *step.around]
    metadata = as_dict(as_dict(traces.decoded(step.span.value.get("metadata"))).get("modelMetadata"))
    named = (step.told("responseModel"), step.told("model"), metadata.get("modelId"))
    error = error_of(step.span.error or step.inner.error)
    return TracedCall(
        sent=[],
        replied=[] if error else step.replied,
        usage=sdk_usage(step.attributes.get("usage")),
        model=next(filter(None, map(text_of, named)), ""),
        response_id=step.span.id,
        timestamp=step.span.started,
        group=next((span.thread for span in chain if span.thread), "") or step.span.text("traceId"),
        caller=matched.get(tool.id, "") or text_of(tool.attributes.get("toolCallId")) if tool else "",
        system=traces.tools_of(step.told("tools")),
        span=step.span.id,
        trace=step.span.text("traceId"),
        is_counted=True,
        edits=ServerEdits(error=error, ended=_stopped(step.span)),
    )


def _stopped(span: Span) -> Refusal | None:
    status = span.output.get("status")
    if status not in ("suspended", "aborted"):
        return None
    said = f"{status}: {text_of(span.output.get('reason')) or text_of(span.output.get('toolName'))}"
    return Refusal(EventKind.INTERRUPTION, words=said.rstrip(": "))


def _said(span: Span) -> list[CallMessage]:
    value = traces.decoded(span.value.get("input"))
    asked = as_dict(value).get("messages", value)
    path = ("input", "messages") if asked is not value else ("input",)
    if not asked or isinstance(asked, dict):
        return []
    return traces.said_in(asked, files.inside(span.origin, *path), Role.USER, f"{span.id}.in" if span.id else "")


def _own(span: Span) -> tuple[list[CallMessage], bool]:
    """What a step says that it sent, and whether that is the whole request: else it may be a preview."""
    path: Path = ("input",)
    value = traces.decoded(span.value.get("input"))
    body = traces.decoded(as_dict(value).get("body"))
    if isinstance(body, dict):
        value, path = body, ("input", "body")
    lists = [value, *(traces.decoded(as_dict(value).get(key)) for key in ("messages", "input", "contents"))]
    if not any(traces.is_message(item) or traces.is_item(item) for held in lists for item in as_list(held)):
        return [], False
    said = traces.said_in(value, files.inside(span.origin, *path), Role.USER, f"{span.id}.in" if span.id else "")
    return said, len(path) > 1


def _instructions(step: Step, sent: Iterable[CallMessage]) -> tuple[Content, ...]:
    """The agent's instructions, where no message of the system has them."""
    if any(said.role is Role.SYSTEM for said in sent):
        return ()
    return next((traces.system_of(s.attributes.get("instructions")) for s in step.around if s.kind == mastra.AGENT), ())


def _end(span: Span) -> RunEnd:
    abort = as_dict(span.attributes.get("tripwireAbort")) or as_dict(span.output.get("tripwire"))
    stop = f"tripwire: {text_of(abort.get('reason'))}" if abort else ""
    return RunEnd(
        span.text("traceId"), written(span.error or "") or stop, not span.parent, f"{span.kind} {span.text('name')}"
    )


def _ended(transcript: Transcript, known: Mapping[str, Step]) -> Transcript:
    """The same with how its last call ended: cut off, or the last that the agent was allowed."""
    n, place = len(transcript.requests), len(transcript.messages)
    last = known.get(transcript.requests[-1].response_id) if n else None
    if last is None or transcript.end_is_told():
        return transcript
    agent = next((span for span in last.around if span.kind == mastra.AGENT), None)
    most = count_of(agent.attributes.get("maxSteps")) if agent else 0
    is_most = last.attributes.get("isContinued") is True and count_of(last.attributes.get("stepIndex")) + 1 == most
    said = f"maxSteps {most} was reached" if is_most else ""
    if last.reason in CUT_REASONS:
        steps = (known.get(request.response_id) for request in reversed(transcript.requests))
        row = sum(1 for _ in itertools.takewhile(lambda step: step is not None and step.reason in CUT_REASONS, steps))
        limit = count_of(as_dict(last.told("parameters")).get("maxOutputTokens"))
        told_of = [f'it ends with "{last.reason}"', *([f"{counted(row, 'time')} in a row"] if row > 1 else [])]
        told_of += [f"up to maxSteps {most}"] if is_most else []
        told_of += [f"at maxOutputTokens {limit:,}"] if limit else []
        said = f"{CUT_OFF}: {', '.join(told_of)}"
    if not said:
        return transcript
    event = RecordedEvent(EventKind.SESSION_END, n, place, said, last.reason)
    return replace(transcript, events=(*transcript.events, event))


def _threads(source: Source, measure: Measured) -> list[Transcript]:
    """The session of every thread, in order of time; what is no message is skipped."""
    tables = source.head().tables
    rows = files.rows_of(source, SPANS, "ORDER BY startedAt, rowid") if SPANS in tables else ()
    spans = [mastra.span_at(row, at) for row, at in rows]
    own: dict[str, deque[Step]] = {}
    for step in mastra.steps_of(spans, {span.id: span for span in spans})[0]:
        own.setdefault(next((s.thread for s in (step.span, *step.around) if s.thread), ""), deque()).append(step)
    counted = {row.get("threadId"): row for row, _ in files.rows_of(source, MEMORY)} if MEMORY in tables else {}
    in_time = files.rows_of(source, "mastra_threads", "ORDER BY createdAt, rowid")
    titles = {text_of(row.get("id")): text_of(row.get("title")) for row, _ in in_time}
    found: dict[str, Transcript] = {}
    in_order = files.rows_of(source, MESSAGES, "ORDER BY thread_id, createdAt, rowid")
    for native, held in itertools.groupby(in_order, lambda one: text_of(one[0].get("thread_id"))):
        reading = _Thread(measure, own.get(native, deque()))
        for message, at in held:
            reading.put(message, at, source)
        reading.tell(None)
        reading.remember(counted.get(native, {}))
        found[native] = reading.finish(native, titles.get(native, ""))
    return [found[native] for native in dict.fromkeys([*titles, *found]) if native in found]


class _Thread(Reading):
    """A thread in the making, with the calls that its messages have not taken yet."""

    def __init__(self, measure: Measured, steps: deque[Step]) -> None:
        super().__init__(measure)
        self.steps = steps

    def put(self, row: Record, origin: Origin, source: Source) -> None:
        """A message, and before it the calls that began before an answer was written down."""
        held, first = traces.decoded(row.get("content")), len(self.history.requests)
        due = self.tell(seconds(row.get("createdAt"))) if row.get("role") == "assistant" else []
        said, place = (held, files.inside(origin, "content")) if isinstance(held, dict) else ({"content": held}, origin)
        self.take({**said, **{key: row.get(key) for key in ("role", "id", "createdAt")}}, place, source)
        made = self.history.requests[first:]
        # A generation of several steps tells their sum alone.
        for request, step in zip(made, due[-len(made) :] if len(due) >= len(made) else [], strict=False):
            usage, model = sdk_usage(step.attributes.get("usage")), text_of(step.told("model"))
            self.history.requests[request.index] = replace(request, usage=usage, model=model, response_id=step.span.id)

    def tell(self, until: float | None) -> list[Step]:
        """The answered calls that began by then, taken; those that failed are told where the reading stands."""
        answered: list[Step] = []
        while self.steps and (until is None or (self.steps[0].span.started or 0) <= until):
            step = self.steps.popleft()
            error = error_of(step.span.error or step.inner.error)
            self.history.refuse(error)
            answered += [] if error else [step]
        return answered

    def remember(self, row: Record) -> None:
        pending, n = count_of(row.get("pendingMessageTokens")), count_of(row.get("generationCount"))
        limit = count_of(as_dict(as_dict(traces.decoded(row.get("config"))).get("observation")).get("messageTokens"))
        words = f"{pending:,} tokens wait for it, it observes from {limit:,} on, it has condensed {n} times"
        self.history.note(limit, f"Observational memory, by its own count: {words}")
