"""Sessions of the OpenAI Agents SDK: rows of items in SQLiteSession's database, and its traces (formats 67, 67.1).

A span of a model call holds what was sent and said (``generation``), or a response's id and usage alone (``response``).
Of the latter the calls of tools are known by the spans of the tools that ran; what else was said is not in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.base.words import counted, words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats import _call_sessions as traced
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of, tool_use
from sessions.engine.reading.formats._calls import CallMessage, TracedCall, ancestors
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._error_body import error_body
from sessions.engine.reading.formats._items import item_contents
from sessions.engine.reading.formats._traces import decoded, read_again
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.reading.formats.openai_responses import said_at
from sessions.engine.transcript.recorded_events import OF_TURNS, EventKind
from sessions.engine.transcript.types import (
    Content,
    Kind,
    Message,
    Origin,
    Parsed,
    Request,
    Role,
    Transcript,
    Usage,
)

MESSAGES, DATA = "agent_messages", "message_data"
STRUCTURE, USAGE, DETAILS = "message_structure", "turn_usage", ("input_tokens_details", "output_tokens_details")
"""Where AdvancedSQLiteSession keeps to which turn an item belongs, and what the calls of a turn cost together."""
SPAN, TRACE = "trace.span", "trace"
CALLS = ("generation", "response")
FUNCTION = "function"
KINDS = (*words("agent handoff guardrail custom mcp_tools transcription speech speech_group"), *CALLS, FUNCTION)
RUNS = {**dict.fromkeys(CALLS, traced.CALL), FUNCTION: traced.TOOL, traced.AGENT: traced.AGENT}
"""What a span is among the runs of a trace, by its kind."""
LISTS, TRACES = ("data", "spans"), "traces"
"""Where a record that is no span keeps some, and where it keeps traces that do."""
WORDS = ("input", "output", "response")
"""Where a model call holds messages."""
UNSAID = "What was sent and said is not in the spans of its responses: calls of tools are those that ran"


@dataclass(frozen=True, slots=True)
class Span:
    """A span with where it stands; ``data`` is what its kind tells, ``group`` the conversation of its trace."""

    value: Record
    data: Record
    origin: Origin
    group: str
    id: str
    parent: str
    trace: str
    kind: str
    started: float | None

    @property
    def facts(self) -> dict[str, Any]:
        """Usage and model of a call, of the response itself where a processor exports that too."""
        response = as_dict(self.data.get("response"))
        usage = openai_usage(self.data.get("usage")) or openai_usage(response.get("usage"))
        return {"usage": usage, "model": text_of(self.data.get("model")) or text_of(response.get("model"))}


def _is_span(value: Any) -> bool:
    held = as_dict(value)
    return held.get("object") == SPAN and isinstance(held.get("span_data"), dict)


def _spans_in(record: Record) -> traced.Found:
    """The spans that a record is, lists, or tells of as an event: some processors write {event, span}, or {traces}."""
    yield from traced.found_in(record, _is_span, LISTS)
    yield from ((value, (key,)) for key, value in record.items() if _is_span(value))
    for n, trace in enumerate(as_list(record.get(TRACES))):
        yield from ((span, (TRACES, n, *path)) for span, path in traced.found_in(as_dict(trace), _is_span, LISTS))


def _span_contents(span: Record, role: Role) -> tuple[Content, ...]:
    """What a span alone tells of a message: a tool's call, or what it gave out."""
    data = as_dict(span.get("span_data"))
    if data.get("type") != FUNCTION:
        return ()
    if role is Role.ASSISTANT:
        return (tool_use(data.get("input"), data.get("name"), span.get("id")),)
    error = span.get("error")
    told = written(data.get("output")) or (error_body(error).words if error else "")
    return (result_of((Content(Kind.TEXT, text=told),), span.get("id"), is_error=bool(error)),)


def _traces(source: Source, measure: Measured) -> Parsed:
    """The conversations of the traces: those of one group are one, an agent that a tool ran is its own."""
    held: dict[str, tuple[Record, Origin]] = {}
    traces: dict[str, Record] = {}
    for record, origin in files.records(source):
        inner = [(value, files.inside(origin, *path)) for value, path in _spans_in(record)]
        # What a processor told at a span's start it tells again, whole, at its end.
        held |= {text_of(one[0].get("id")) or f"#{len(held) + n}": one for n, one in enumerate(inner)}
        listed = (one for key in (*LISTS, TRACES) for one in as_list(record.get(key)))
        beside = [as_dict(one) for one in (record, *record.values(), *listed)]
        own = [one for one in beside if one.get("object") == TRACE]
        own += [record[TRACE]] if isinstance(record.get(TRACE), dict) else []
        told = {text_of(one.get("id")) or text_of(one.get("trace_id")): one for one in own}
        traces |= told
        if not inner and not told:
            source.skip("a record that is no span", origin)
    spans = sorted((_span(*one, traces) for one in held.values()), key=lambda span: span.started or 0)
    if not any(span.kind in CALLS for span in spans):
        raise files.misread("no model call among the spans")
    told_groups = {span.group for span in spans if span.kind in CALLS and any(map(span.data.get, WORDS))}
    said = [span for span in spans if span.group in told_groups]
    bare = [span for span in spans if span.group not in told_groups]
    found = [*_told(said, measure, files.stem_of(source.name)), *_bare(bare, traces, measure)]
    unknown = Counter(span.kind for span in spans if span.kind not in KINDS)
    return read_as(found, "no model call among the spans", warnings=files.unread_notes(unknown))


def _span(value: Record, origin: Origin, traces: Mapping[str, Record]) -> Span:
    native, parent, trace = (text_of(value.get(key)) for key in ("id", "parent_id", "trace_id"))
    data, started = value["span_data"], seconds(value.get("started_at"))
    group = text_of(traces.get(trace, {}).get("group_id")) or trace
    return Span(value, data, origin, group, native, parent, trace, text_of(data.get("type")), started)


def _callers(spans: Sequence[Span]) -> dict[str, str]:
    """The tool's span that each span is inside of, "" for none."""
    by_id = {span.id: span for span in spans if span.id}
    around = {native: ancestors(span.parent, by_id, lambda one: one.parent) for native, span in by_id.items()}
    return {
        n: next((one.id for one in above if one.kind == FUNCTION and one.id != n), "") for n, above in around.items()
    }


def _told(spans: Sequence[Span], measure: Measured, stem: str) -> tuple[Transcript, ...]:
    """Sessions whose calls hold what was sent: the history that each repeats is one."""
    runs = [
        traced.Run(
            {**span.data, "extra": {"invocation_params": as_dict(span.data.get("response"))}},
            files.inside(span.origin, "span_data"),
            id=span.id,
            parent=span.parent,
            group=span.group,
            kind=RUNS.get(span.kind, ""),
            sent="input",
            made="output" if span.data.get("output") else "response",
            started=span.started,
            error=written(span.value.get("error") or ""),
            **span.facts,
        )
        for span in spans
    ]
    calls = traced.calls_of(runs)
    trace_of = {span.id: span.trace for span in spans}
    for call in calls:
        call.trace = trace_of.get(call.span, "")
    callers = _callers(spans)
    others = [span for span in spans if span.kind not in (*CALLS, FUNCTION)]
    ended = ((s, written(s.value.get("error") or "")) for s in others)
    traced.end_calls(calls, (traced.RunEnd(s.trace, error, not callers.get(s.id), s.kind) for s, error in ended))
    return traced.sessions_of(calls, measure, stem=stem, results=traced.results_of(runs))


@dataclass(slots=True)
class _Reading:
    """A session in the making whose calls hold no messages: each call waits for the tools that run after it."""

    history: Assembly
    title: str
    trace: str = ""
    call: Span | None = None
    tools: list[Span] = field(default_factory=list)
    ends: list[Span] = field(default_factory=list)
    has_failed: bool = False

    def take(self, span: Span) -> None:
        if span.trace != self.trace:
            self.close()
            self.trace = span.trace
        if span.kind in CALLS:
            self._flush()
            self.call = span
        elif span.kind == FUNCTION:
            self.tools.append(span)
        elif span.value.get("error"):
            self.ends.append(span)

    def close(self) -> None:
        """The trace is complete: what its agent ended with is told where no call told it."""
        self._flush()
        if self.ends and not self.has_failed:
            self.history.fail(self.ends[0].value["error"], kind=EventKind.SESSION_END)
        self.ends, self.has_failed = [], False

    def _flush(self) -> None:
        call, tools, history = self.call, self.tools, self.history
        self.call, self.tools = None, []
        error = call.value.get("error") if call else None
        if tools or (call and not error):
            spans = [call, *tools] if call else tools
            contents = [content for span in spans for content in _span_contents(span.value, Role.ASSISTANT)]
            facts = call.facts | {"response_id": text_of(call.data.get("response_id"))} if call else {}
            history.answer(contents, [s.origin for s in spans], id=spans[0].id, timestamp=spans[0].started, **facts)
        if call and error:
            self.has_failed = True
            history.fail(error, model=call.facts["model"])
        for tool in tools:
            ended = seconds(tool.value.get("ended_at"))
            history.add(Role.USER, _span_contents(tool.value, Role.USER), [tool.origin], timestamp=ended)


def _bare(spans: Sequence[Span], traces: Mapping[str, Record], measure: Measured) -> Iterator[Transcript]:
    """Sessions of calls without messages; an agent that a tool ran is one of its own."""
    callers = _callers(spans)
    readings: dict[tuple[str, str], _Reading] = {}
    for span in spans:
        key = span.group, callers.get(span.id, "")
        title = text_of(traces.get(span.trace, {}).get("workflow_name"))
        readings.setdefault(key, _Reading(Assembly(measure), title)).take(span)
    for (group, caller), reading in readings.items():
        reading.close()
        reading.history.warnings.append(UNSAID)
        inner = {"parent_id": group, "parent_call_id": caller} if caller else {}
        name = f"{group}.{caller}" if caller else group
        yield reading.history.transcript(name, title=reading.title, **inner)


def _turns(source: Source) -> dict[int, Record]:
    """What AdvancedSQLiteSession counted of the turn that an item belongs to, by the item's row."""
    database = source.database()
    if database is None or not {STRUCTURE, USAGE} <= database.tables.keys():
        return {}

    def turn(row: Record) -> tuple[Any, ...]:
        return tuple(str(row.get(key)) for key in ("session_id", "branch_id", "user_turn_number"))

    counts = {turn(row): row for row, _ in files.rows_of(source, USAGE)}
    items = [row for row, _ in files.rows_of(source, STRUCTURE, "ORDER BY id DESC")]
    return {count_of(row.get("message_id")): counts[turn(row)] for row in items if turn(row) in counts}


def _counted(session: Transcript, turns: Mapping[int, Record]) -> Transcript:
    """The same with the usage of turns: that of a call where a turn had one, else a sum of several."""
    calls: dict[int, tuple[Record, list[Request]]] = {}
    for request in session.requests:
        origin = session.messages[request.message].origins[0] if request.message is not None else None
        counts = turns.get(count_of(origin.path[1])) if origin else None
        if counts is not None:
            calls.setdefault(id(counts), (counts, []))[1].append(request)
    told: dict[int, Usage | None] = {}
    sums = [0, 0, 0]
    for counts, requests_of in calls.values():
        usage = openai_usage({**counts, **{key: decoded(counts.get(key)) for key in DETAILS}})
        n = count_of(counts.get("requests"))
        if n == len(requests_of) == 1:
            told[requests_of[0].index] = usage
        elif usage:
            sums = [a + b for a, b in zip(sums, (n, usage.context, usage.output), strict=True)]
    n, sent, received = sums
    counted_there = f"{sent:,} tokens sent and {received:,} received in {counted(n, 'request')}"
    notes = files.noted((sent, f"{OF_TURNS.capitalize()} whose single calls the file does not count: {counted_there}"))
    requests = tuple(replace(one, usage=told.get(one.index, one.usage)) for one in session.requests)
    return replace(session, requests=requests, warnings=(*session.warnings, *notes))


def _contents(values: Sequence[Any], message: Message) -> tuple[Content, ...]:
    """The blocks of a row's item, of a span that holds no messages, or of a message in a span."""
    if message.origins[0].path[:1] == (MESSAGES,):
        return tuple(content for value in values for content in item_contents(decoded(value)))
    if all(map(_is_span, values)):
        return tuple(content for value in values for content in _span_contents(value, message.role))
    return read_again(values, message)


class _Format(Format):
    label = "OpenAI Agents SDK"
    source = "OpenAI Agents SDK: the database of SQLiteSession (SQLite), traces as they are exported (JSON or JSONL)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, refusals=YES, subagents=PARTLY,
        error="span's error", compaction="item compaction", who="always auto", model="span_data.model",
        end="agent span's error",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """The SDK's table of items, or spans of its traces; in lines a model call may follow."""
        if files.has_columns(head, MESSAGES, "session_id", DATA):
            return Sniff(95, f"a database with the table {MESSAGES} of the OpenAI Agents SDK")
        spans = (span for one in files.first_records(head) for span, _ in _spans_in(one))
        kinds = [span["span_data"].get("type") for span in spans]
        if any(kind in CALLS for kind in kinds) or (kinds and head.document is None):
            return Sniff(95, f"{len(kinds)} spans of the OpenAI Agents SDK")
        return Sniff(0, "spans of the OpenAI Agents SDK, but none is a model call") if kinds else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session for each id of a database, whose items are messages, or for each conversation that was traced."""
        if source.database() is None:
            return _traces(source, measure)
        said: dict[str, list[CallMessage]] = {}
        for row, origin in files.rows_of(source, MESSAGES, "ORDER BY id"):
            value = decoded(row.get(DATA))
            if isinstance(value, dict):
                message = said_at(value, files.inside(origin, DATA), seconds(row.get("created_at")))
                said.setdefault(text_of(row.get("session_id")), []).append(message)
            else:
                source.skip(f"row {row.get('id')} holds no item")
        found: list[Transcript] = []
        turns = _turns(source)
        for native, messages in said.items():
            made = traced.sessions_of([TracedCall(messages, [], is_log=True)], measure, stem=native, runs=True)
            found += (_counted(session, turns) for session in made)
        return Parsed(tuple(found))

    contents = all_values(_contents)
