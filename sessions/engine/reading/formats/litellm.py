"""LiteLLM's logs: rows of its table LiteLLM_SpendLogs and its standard payloads, one for each call (formats 85).

Written by BerriAI/litellm ``litellm/proxy/spend_tracking/spend_tracking_utils.py`` (``get_logging_payload``); read on
its ``tests/logging_callback_tests/gcs_pub_sub_body/spend_logs_payload.json`` and on a row of version 1.98 in
doitintl/litellm-datahub-exporter.  Standard payloads, which its callbacks write, are ``StandardLoggingPayload`` of
``litellm/types/utils.py``.  Texts are there only where the proxy is told to store them; without them a session is its
requests and what was refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.base.words import counted, words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats import _wire_exchanges as wire
from sessions.engine.reading.formats._assembly import Assembly, main_window, with_unique_ids
from sessions.engine.reading.formats._call_sessions import Found, found_in, sessions_of
from sessions.engine.reading.formats._calls import TracedCall
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._records import first_records, misread, noted, placed, stem_of
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Origin, Parsed, Transcript, Usage

CUT = "litellm_truncated"
"""What stands in a text that was too long for the table."""
REDACTED = "redacted-by-litellm"
BESIDE = ("error_information", "model_map_information")
"""What a standard payload has beside its metadata, and a row in it."""
_NAMES = words("""
    embedding image_generation image_edit image_variation moderation transcription speech rerank search ocr realtime
    create_batch retrieve_batch cancel_batch list_batches create_file retrieve_file delete_file list_files file_content
    video_generation video_content vector_store_create vector_store_search list_mcp_tools call_mcp_tool count_tokens
""")
OTHERS = frozenset({*_NAMES, *(f"a{name}" for name in _NAMES), "_arealtime"})
"""Types of calls that send no conversation; the letter in front is for those that are waited for."""
_OWN_CHECK = re.compile(r"Max Input Tokens=(\d{1,12}), Got=(\d{1,12})")
"""What the proxy's own check says before anything is sent."""
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table with its place in the file, and its metadata read."""

    value: Record
    origin: Origin
    metadata: Record

    def text(self, key: str) -> str:
        """A column that is text, nothing where it is none."""
        return text_of(self.value.get(key))

    @property
    def id(self) -> str:
        """The call's own name."""
        return self.text("request_id") or self.text("id")

    @property
    def time(self) -> float | None:
        """When the call began; a time without a zone is UTC, as the table keeps it."""
        said = self.value.get("startTime")
        return seconds(f"{said}Z" if isinstance(said, str) and not _ZONE.search(said) else said)

    @property
    def failed(self) -> bool:
        """Whether the call had no answer."""
        states = self.text("status"), text_of(self.metadata.get("status"))
        return "failure" in states or bool(as_dict(self.metadata.get("error_information")).get("error_message"))

    @property
    def limit(self) -> int:
        """The input that LiteLLM's table allows the model, 0 where the row does not say."""
        known = as_dict(as_dict(self.metadata.get("model_map_information")).get("model_map_value"))
        return max(0, count_of(known.get("max_input_tokens")))

    @property
    def session(self) -> str:
        """The session or trace that the row names."""
        named = (self.value.get("session_id"), self.metadata.get("litellm_session_id"), self.value.get("trace_id"))
        return next(filter(None, map(text_of, named)), "")


class _Format(Format):
    label = "LiteLLM"
    source = "Rows of LiteLLM_SpendLogs, of /spend/logs or of the table; standard logging payloads (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=PARTLY, refusals=YES,
        error="error_information, error_str", window="model_map_value.max_input_tokens", model="model",
        retry="metadata.attempted_retries, attempted_fallbacks",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = [row for record in first_records(head) for row, _ in _rows_in(record)]
        return Sniff(95, f"{len(found)} records of calls with an id, a call_type and what they cost") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        rows: list[Row] = []
        for value, at in placed(source, _rows_in, "no row of a spend log"):
            beside = {key: value[key] for key in BESIDE if value.get(key)}
            rows.append(Row(value, at, as_dict(decoded(value.get("metadata"))) | beside))
        rows.sort(key=lambda row: row.time or 0)
        calls = [row for row in rows if row.text("call_type") not in OTHERS]
        if not calls:
            raise misread("no rows of model calls in a spend log of LiteLLM")
        transcripts = _sessions(calls, measure, stem_of(source.name))
        n_cached = sum(text_of(row.value.get("cache_hit")).lower() == "true" for row in calls)
        n_cut = sum(_n_cut(row.value) for row in calls)
        notes = noted(
            (len(rows) - len(calls), f"Rows that are no model calls: {len(rows) - len(calls)}"),
            (n_cached, f"Calls that LiteLLM's own cache answered: {n_cached}"),
            (n_cut, f"Texts that LiteLLM cut before it stored them: {n_cut}; their sizes are of what is left"),
        )
        return Parsed(transcripts, warnings=notes)

    contents = each_place(lambda value, origin, _: wire.wire_contents(value, origin.path))


def _is_row(value: Any) -> bool:
    if not isinstance(value, dict) or not {"call_type", "startTime", "prompt_tokens"} <= value.keys():
        return False
    own = (
        "request_id" if "spend" in value else "id" if {"response_cost", "model_map_information"} <= value.keys() else ""
    )
    return isinstance(value.get(own), str) and isinstance(value.get("call_type"), str)


def _rows_in(record: Record) -> Found:
    return found_in(record, _is_row, ("data",))


def _sessions(rows: Sequence[Row], measure: Measured, stem: str) -> tuple[Transcript, ...]:
    groups: dict[str, list[Row]] = {}
    named = Counter(row.session for row in rows if row.session)
    # Where the client names no session, LiteLLM makes up a trace for each call.
    is_told = len(rows) == 1 or max(named.values(), default=0) > 1
    for row in rows:
        groups.setdefault((is_told and row.session) or row.text("end_user"), []).append(row)
    calls: list[TracedCall] = []
    built: list[Transcript] = []
    for group, members in groups.items():
        read = [_call(row, group) for row in members]
        if any(call.sent or call.replied for call in read):
            calls += _chained(read)
        else:
            built.append(_counted(members, measure, group or stem))
    told = sessions_of(calls, measure, stem=stem) if calls else ()
    return with_unique_ids([*told, *built])


def _chained(calls: Sequence[TracedCall]) -> Iterator[TracedCall]:
    """The calls of a session; one whose texts were not stored goes behind the one before it."""
    last: TracedCall | None = None
    for call in calls:
        has_texts = bool(call.sent or call.replied)
        if not has_texts and last is not None and call.edits.error is not None:
            last.edits = replace(last.edits, ended=last.edits.ended or call.edits.error)
            continue
        if not has_texts and last is not None:
            call.continues = last.response_id
        if call.edits.error is None or call.replied:
            last = call
        yield call


def _n_cut(value: Any) -> int:
    """How many texts of a row the log cut."""
    if isinstance(value, str):
        return value.count(CUT)
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_n_cut, held))


def _call(row: Row, group: str) -> TracedCall:
    exchange = _exchange(row)
    call = wire.call_at(exchange, row.origin) if exchange else TracedCall([], [])
    call.usage = _usage(row) or (None if row.failed else call.usage)
    call.model = row.text("model") or call.model
    call.response_id, call.window = row.id, row.limit
    call.timestamp, call.group = row.time, group
    if error := _error(row) or call.edits.error or _retried(row):
        call.edits = replace(call.edits, error=error)
    return call


def _exchange(row: Row) -> wire.HttpExchange | None:
    """The call's body and answer, where they were stored."""
    messages = decoded(row.value.get("messages"))
    if any(as_dict(message).get("content") == REDACTED for message in as_list(messages)):
        return None
    held = decoded(row.value.get("response"))
    response = held if wire.is_response(held) and not row.failed else None
    for path in (("proxy_server_request", "body"), ("proxy_server_request",)):
        if wire.is_request(body := wire.at_path(row.value, path)):
            return wire.HttpExchange(row.value, body, path, response, ("response",))
    asked = {"messages": messages, "model": row.text("model")}
    if wire.is_request(asked):
        return wire.HttpExchange(row.value, asked, (), response, ("response",))
    return wire.HttpExchange(row.value, {}, (), response, ("response",)) if response is not None else None


def _usage(row: Row) -> Usage | None:
    """The provider's counts, cached tokens among the input; what a failed row has is LiteLLM's estimate."""
    if row.failed:
        return None
    beside = as_dict(row.metadata.get("additional_usage_values"))
    counts = {key: row.value.get(key) for key in ("prompt_tokens", "completion_tokens")}
    return openai_usage({**beside, **counts, **as_dict(row.metadata.get("usage_object"))})


def _error(row: Row) -> Refusal | None:
    """Why a call failed, with the figures of the proxy's own check."""
    if not row.failed:
        return None
    said = as_dict(row.metadata.get("error_information"))
    text = text_of(said.get("error_message")) or row.text("error_str")
    told = {"message": text, "code": said.get("error_class"), "status": said.get("error_code")}
    error = error_of(told) or Refusal(EventKind.ERROR, words="a call failed, the row does not say why")
    if own := _OWN_CHECK.search(text):
        error = error._replace(limit=int(own[1]), tokens=int(own[2]))
    return error._replace(model=row.text("model"))


def _retried(row: Row) -> Refusal | None:
    """That the proxy tried again, or another model, before it had the answer."""
    n_tries, n_others = (count_of(row.metadata.get(key)) for key in ("attempted_retries", "attempted_fallbacks"))
    first = text_of(row.metadata.get("original_model_group"))
    told = [f"LiteLLM tried again {counted(n_tries, 'time')}"] if n_tries > 0 else []
    told += [f"LiteLLM fell back from {first or 'another model'}"] if n_others > 0 else []
    return Refusal(EventKind.RETRY, words="; ".join(told)) if told else None


def _counted(rows: Sequence[Row], measure: Measured, name: str) -> Transcript:
    """A session whose texts were not stored: its requests with their usage, and its errors."""
    history = Assembly(measure)
    for row in rows:
        history.refuse(_retried(row))
        history.refuse(_error(row))
        if not row.failed:
            facts = {"response_id": row.id, "model": row.text("model"), "timestamp": row.time}
            history.request(None, _usage(row), window=row.limit, **facts)
    times = [row.time for row in rows if row.time is not None]
    history.warnings.append("LiteLLM did not store what was said: prompts and answers are not in this log")
    return history.transcript(
        name,
        otherwise=rows[0].text("model"),
        room=main_window(row.limit for row in rows),
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
    )
