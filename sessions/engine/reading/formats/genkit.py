"""Genkit's traces: spans by their id, of which the actions of a model are the calls (formats 94).

Input and output of an action are JSON in strings.  What the usage calls input leaves out what the cache read or wrote
where the plugin passes on Anthropic's counts; the provider's own answer beside it is believed first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._blocks import blocks_of, media_link, opaque, result_of, tool_use
from sessions.engine.reading.formats._call_sessions import RunEnd, end_calls, sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ServerEdits, TracedCall, ancestors, answered
from sessions.engine.reading.formats._chat_blocks import role_of
from sessions.engine.reading.formats._counts import INPUTS, inclusive_usage, usage_of
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._records import first_records, inside, misread, noted, placed, stem_of
from sessions.engine.reading.formats._traces import decoded, tools_of, usage_in, value_at
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

ATTRIBUTES, INPUT, OUTPUT = "attributes", "genkit:input", "genkit:output"
SUBTYPE = "genkit:metadata:subtype"
SESSIONS = ("genkit:sessionId", "genkit:metadata:sessionId")
FAILED = 2
"""A span's status by OpenTelemetry's codes."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span with its place; ``kind`` is what its action does, ``error`` the words of the one that it failed with."""

    value: Record
    origin: Origin
    id: str
    parent: str
    trace: str
    kind: str
    error: str

    def read(self, key: str) -> Any:
        """An attribute, JSON in it read."""
        return decoded(as_dict(self.value.get(ATTRIBUTES)).get(key))


def _part(part: Any) -> Content:
    held = as_dict(part)
    if isinstance(held.get("text"), str):
        return Content(Kind.TEXT, text=held["text"])
    if isinstance(held.get("reasoning"), str):
        return Content(Kind.THINKING, text=held["reasoning"])
    call, result, media = (as_dict(held.get(key)) for key in ("toolRequest", "toolResponse", "media"))
    if call:
        return tool_use(call.get("input"), call.get("name"), call.get("ref") or call.get("name"))
    if result:
        said = Content(Kind.TEXT, text=written(result.get("output")))
        return result_of((said,), result.get("ref") or result.get("name"))
    if url := text_of(media.get("url")):
        return media_link(url, text_of(media.get("contentType")))
    return Content(Kind.TEXT, text=dumps(held["data"])) if held.get("data") is not None else opaque(part)


def _contents(message: Any) -> tuple[Content, ...]:
    return blocks_of(as_dict(message).get("content"), _part)


def _is_span(value: Any) -> bool:
    attributes = as_dict(as_dict(value).get(ATTRIBUTES))
    return isinstance(as_dict(value).get("spanId"), str) and any(key.startswith("genkit:") for key in attributes)


def _spans_in(record: Record) -> Iterator[tuple[Record, Path]]:
    """The spans of a trace, or of the traces that a page lists."""
    listed = [(trace, ("traces", n)) for n, trace in enumerate(as_list(record.get("traces")))]
    for trace, path in (*listed, (record, ())):
        for native, span in as_dict(as_dict(trace).get("spans")).items():
            if _is_span(span):
                yield span, (*path, "spans", native)


def _span(value: Record, origin: Origin) -> Span:
    attributes, status = as_dict(value.get(ATTRIBUTES)), as_dict(value.get("status"))
    events = as_list(as_dict(value.get("timeEvents")).get("timeEvent"))
    notes = [as_dict(as_dict(as_dict(event).get("annotation")).get(ATTRIBUTES)) for event in events]
    told = [text_of(status.get("message")), *(text_of(note.get("exception.message")) for note in notes)]
    failed = status.get("code") == FAILED or attributes.get("genkit:state") == "error"
    return Span(
        value,
        origin,
        id=text_of(value.get("spanId")),
        parent=text_of(value.get("parentSpanId")),
        trace=text_of(value.get("traceId")),
        kind=text_of(attributes.get(SUBTYPE)),
        error=next(filter(None, told), "a span failed and does not say why") if failed else "",
    )


def _usage(output: Record) -> Usage | None:
    """Usage by the provider's own answer, else as Genkit counts it."""
    if raw := usage_in(output.get("custom")) or usage_in(output.get("raw")):
        return raw
    usage = as_dict(output.get("usage"))
    own = as_dict(usage.get("custom"))
    names = ("inputTokens", "outputTokens", "cachedContentTokens", "cacheWriteTokens", "thoughtsTokens", "totalTokens")
    sent, made, cached, kept, thought, total = (count_of(usage.get(name)) for name in names)
    if any(count_of(own.get(key)) for key in INPUTS[1:]):
        return usage_of({"input_tokens": sent, "output_tokens": made, **own})
    beside = thought if total == sent + made + thought else 0
    return inclusive_usage(sent, made + beside, cache_read=cached, cache_write=kept, reasoning=thought)


def _call(span: Span, by_id: Mapping[str, Span]) -> TracedCall:
    sent, output = as_dict(span.read(INPUT)), as_dict(span.read(OUTPUT))
    at = inside(span.origin, ATTRIBUTES)
    path: Path = ("message",) if isinstance(output.get("message"), dict) else ("candidates", 0, "message")
    reply = as_dict(value_at(output, path))
    replied = [CallMessage(Role.ASSISTANT, _contents(reply), (inside(at, OUTPUT, *path),), span.id)] if reply else []
    around = ancestors(span.parent, by_id, lambda one: one.parent)
    named = (text_of(one.read(key)) for one in (span, *around) for key in SESSIONS)
    raw = next((held for key in ("custom", "raw") if (held := as_dict(output.get(key)))), {})
    asked = [(n, one) for n, one in enumerate(as_list(sent.get("messages"))) if isinstance(one, dict)]
    placed = ((n, one, inside(at, INPUT, "messages", n)) for n, one in asked)
    return TracedCall(
        sent=[CallMessage(role_of(one), _contents(one), (place,), f"{span.id}.in.{n}") for n, one, place in placed],
        replied=[said for said in replied if said.contents],
        usage=_usage(output),
        model=text_of(raw.get("model")) or text_of(span.read("genkit:name")).rpartition("/")[2],
        response_id=span.id,
        timestamp=seconds(span.value.get("startTime")),
        group=next(filter(None, named), span.trace),
        system=tools_of(sent.get("tools")),
        span=span.id,
        trace=span.trace,
        owner=next((one.id for one in around if one.kind == "tool"), ""),
        edits=ServerEdits(error=error_of(span.error)),
    )


class _Format(Format):
    label = "Genkit"
    source = "Traces of Genkit, .genkit/traces/<id> or of its developer UI (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=PARTLY, refusals=YES, error="status, exception events", model="genkit:name",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        spans = [span for record in first_records(head) for span, _ in _spans_in(record)]
        if any(span[ATTRIBUTES].get(SUBTYPE) == "model" for span in spans):
            return Sniff(95, f"{len(spans)} spans of Genkit's, with actions of a model among them")
        return Sniff(0, "spans of Genkit's, but none is an action of a model") if spans else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        spans = [_span(value, at) for value, at in placed(source, _spans_in, "no spans of Genkit's")]
        by_id = {span.id: span for span in spans}
        calls = answered(_call(span, by_id) for span in spans if span.kind == "model")
        if not calls:
            raise misread("no actions of a model among Genkit's spans")
        others = [span for span in spans if span.kind != "model"]
        end_calls(calls, (RunEnd(span.trace, span.error, not span.parent, span.kind) for span in others))
        transcripts = sessions_of(calls, measure, stem=stem_of(source.name))
        notes = noted((len(others), f"Spans that are no requests: {len(others)}"))
        return Parsed(transcripts, warnings=notes)

    contents = each_value(_contents)
