"""Wire captures: what a proxy logged between a client and a model, one request document per call (formats 20).

The prompt that every call sends again is one history, and each call one request.  The only source with the system
prompt and the tool definitions as they were sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats import _wire_exchanges as wire
from sessions.engine.reading.formats._assembly import with_room
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import TracedCall
from sessions.engine.reading.formats._records import first_records, misread, placed, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of
from sessions.engine.reading.formats.gemini_api import API as GEMINI
from sessions.engine.reading.formats.openai_chat import API as CHAT
from sessions.engine.reading.formats.openai_responses import API as RESPONSES
from sessions.engine.transcript.recorded_events import APPLIED_EDITS
from sessions.engine.transcript.types import Parsed

TRACE_KEYS = ("message_count", "started_at", "traceId", "trace_id", "spanId", "observations", "attributes")


class _Format(Format):
    label = "Wire capture"
    is_wire = True
    source = "Proxy logs of Messages, Chat Completions, Responses and Gemini calls, Bedrock's log (JSONL, JSON or HAR)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, live=YES,
        error="response of a failed call", compaction="item or block compaction",
        failed="a compaction without content", who="item: auto; endpoint: manual",
        clearing=APPLIED_EDITS, model="model", window="options.num_ctx",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        exchanges = [exchange for record in found for exchange, _ in _exchanges(record)]
        asked = [e for e in exchanges if wire.model_of(e) or wire.was_sent(e)]
        calls = [e for e in asked if not any(key in e.request for key in TRACE_KEYS)]
        if not calls:
            return None
        wrapped = [call for call in calls if call.request_path not in {(), ("request",)} or _entries(found[0])]
        if wrapped:
            return Sniff(88, f"{len(wrapped)} of the first {len(found)} records hold a model call's body")
        if head.document is not None and not isinstance(head.document, list):
            if any(wire.is_of_proxy(call) for call in calls):
                return Sniff(94, "a model call with the address it was sent to and the status of its answer")
            return Sniff(0, "one call, not a log of calls")
        if own := _own_format(exchanges, calls, len(found)) if head.document is not None else "":
            return Sniff(0, f"a list of one API's calls without what a proxy adds, which {own} reads")
        return Sniff(88, f"{len(calls)} of the first {len(found)} records are calls with a model and messages")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        transcripts = sessions_of(_calls(source), measure, stem=stem_of(source.name))
        if not transcripts:
            raise misread("no calls with a model and messages")
        policy = "Ollama cuts a prompt that is longer"
        return Parsed(tuple(with_room(t, policy, cuts=True) for t in transcripts))

    contents = each_place(lambda value, origin, _: wire.wire_contents(value, origin.path))


def _calls(source: Source) -> Iterator[TracedCall]:
    for exchange, place in placed(source, _exchanges, "a record without a model call"):
        call = wire.call_at(exchange, place)
        call.window = max(0, count_of(as_dict(exchange.request.get("options")).get("num_ctx")))
        # One that was answered, but with no reply: an error, a refusal, a token count.
        answered = any(exchange.record.get(key) for key in ("response", "response_body", "responseBody"))
        failed = answered and (exchange.response is None or wire.is_error(exchange.response))
        if call.edits.error is not None or not failed:
            yield call


def _exchanges(record: Record) -> Iterator[tuple[wire.HttpExchange, Path]]:
    """The exchanges of a record with the paths to them: one, or those of an HTTP archive."""
    listed: list[tuple[Any, Path]] = [(entry, ("log", "entries", n)) for n, entry in enumerate(_entries(record))]
    for value, path in listed or [(record, ())]:
        if exchange := wire.exchange_at(value):
            yield exchange, path


def _entries(record: Record) -> list[Any]:
    return as_list(as_dict(record.get("log")).get("entries"))


def _own_format(exchanges: Sequence[wire.HttpExchange], calls: Sequence[wire.HttpExchange], n_records: int) -> str:
    """The provider's format that reads a list of its own calls, each with no more than its bodies; else empty."""
    if all(wire.is_anthropic_pair(exchange) for exchange in exchanges):
        return "anthropic_messages" if len(exchanges) == n_records else ""
    for name, api in {"openai_chat": CHAT, "openai_responses": RESPONSES, "gemini_api": GEMINI}.items():
        if all(wire.is_bare(call) and (shape := api.shape(call.record)) and shape.score for call in calls):
            return name
    return ""
