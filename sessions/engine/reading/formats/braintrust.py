"""Braintrust logs: spans with an input and an output, of which those of type llm are the requests (formats 52)."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Sniff, all_values
from sessions.engine.reading.formats._call_sessions import Found, Run, Tracer, found_in
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._records import first_records
from sessions.engine.reading.formats._traces import read_again
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of, written
from sessions.engine.transcript.types import Origin


def _kind(span: Record) -> str:
    return text_of(as_dict(span.get("span_attributes")).get("type"))


def _is_span(value: Any) -> bool:
    held = as_dict(value)
    named = isinstance(held.get("span_id"), str) and isinstance(held.get("root_span_id"), str)
    return named and isinstance(held.get("span_attributes"), dict)


def _spans_in(record: Record) -> Found:
    return found_in(record, _is_span, ("events", "rows", "data"))


def _run(span: Record, origin: Origin) -> Run:
    metrics, metadata = as_dict(span.get("metrics")), as_dict(span.get("metadata"))
    parents = [parent for parent in as_list(span.get("span_parents")) if isinstance(parent, str)]
    return Run(
        span,
        origin,
        id=text_of(span.get("span_id")),
        parent=parents[0] if parents else "",
        group=text_of(span.get("root_span_id")),
        kind=_kind(span),
        sent="input",
        made="output",
        started=seconds(metrics.get("start")) or seconds(span.get("created")),
        model=text_of(metadata.get("model")),
        usage=usage_at(metrics, "braintrust"),
        call_id=text_of(metadata.get("tool_call_id")),
        error=written(span.get("error") or ""),
    )


class _Format(Format):
    label = "Braintrust"
    source = "Spans of Braintrust's logs and experiments, exported (JSON or JSONL)"
    coverage = Coverage(usage=YES, images=PARTLY, model="metadata.model")

    def sniff(self, head: Head) -> Sniff | None:
        found = [span for record in first_records(head) for span, _ in _spans_in(record)]
        if any(_kind(span) == "llm" for span in found):
            return Sniff(95, f"{len(found)} spans with a span_id, a root_span_id and span_attributes")
        return Sniff(0, "Braintrust's spans, but none is a model call") if found else None

    parse = Tracer("span", _spans_in, _run, "Export whole traces").parse
    contents = all_values(read_again)
