"""Langfuse exports: a trace and its observations; generations are the model calls (formats 16).

Every generation repeats the whole prompt, which is one history and counted once; spans, tools and agents repeat what
generations say, and their usage is a sum of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats import _traces as traces
from sessions.engine.reading.formats._call_sessions import RunEnd, end_calls, sessions_of
from sessions.engine.reading.formats._calls import ServerEdits, TracedCall, ancestors, answered, one_layer
from sessions.engine.reading.formats._counts import exclusive_usage, first_count, inclusive_usage
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Content, Origin, Parsed, Role, Transcript, Usage

TYPES = frozenset(words("GENERATION SPAN EVENT AGENT TOOL CHAIN RETRIEVER EVALUATOR EMBEDDING GUARDRAIL"))
CALL_BOUNDARIES = ("TOOL", "AGENT")
"""A generation inside another is the same call recorded twice, unless one of these stands between them."""
CACHE_READ_KEYS = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cached_tokens", "cache_read")
CACHE_WRITE_KEYS = ("cache_creation_input_tokens", "input_cache_creation", "cache_write")


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation with its place in the file."""

    value: Record
    origin: Origin

    def text(self, key: str) -> str:
        """A field that is text, nothing where it is none."""
        return text_of(self.value.get(key))

    def attributes(self) -> Record:
        """The OpenTelemetry attributes in its metadata."""
        metadata = traces.decoded(self.value.get("metadata"))
        return as_dict(traces.decoded(metadata.get("attributes")) if isinstance(metadata, dict) else None)


class _Format(Format):
    label = "Langfuse"
    source = "Langfuse traces with observations, exported (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES, subagents=YES,
        error="level ERROR, statusMessage", compaction="gen_ai.conversation.compacted", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = files.first_records(head)
        for record in found:
            held = _held(record)
            if any(_is_observation(item) for item in held):
                return Sniff(95, f"it has {len(held)} observations of Langfuse's types")
            if "observations" in record:
                return Sniff(0, "it has observations, but none with a type of Langfuse's")
        n = sum(_is_observation(record) for record in found)
        return Sniff(90, f"{n} of the first {len(found)} records are observations with a traceId") if n else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        observations = _observations(source)
        if not observations:
            raise files.misread("no observations of Langfuse's")
        by_id = {o.text("id"): o for o in observations if o.text("id")}
        others = [o for o in observations if o.value.get("type") != "GENERATION"]
        found = answered(_call(o, by_id) for o in observations if o.value.get("type") == "GENERATION")
        calls = one_layer(found)
        ends = ((o, f"{o.text('type')} {o.text('name')}", not o.text("parentObservationId")) for o in others)
        end_calls(calls, (RunEnd(o.text("traceId"), _error(o), is_root, kind) for o, kind, is_root in ends))
        results = []
        for tool in (one for one in others if one.text("type") == "TOOL" and traces.decoded(one.value.get("output"))):
            given, is_error = tool.value.get("output"), tool.text("level") == "ERROR"
            call_id = _call_id(tool) or text_of(as_dict(traces.decoded(given)).get("id"))
            place = files.inside(tool.origin, "output")
            results.append(traces.result_said(given, place, call_id, tool.text("id"), is_error=is_error))
        transcripts = sessions_of(calls, measure, stem=files.stem_of(source.name), results=results)
        transcripts = _with_doubled(transcripts, observations)
        n_around = len(found) - len(calls)
        around = files.noted((n_around, f"Generations around another one of the same call: {n_around}, no requests"))
        return Parsed(transcripts, warnings=_notes(others) + around)

    contents = all_values(traces.read_again)


def _held(record: Record) -> list[Any]:
    held = record.get("observations")
    return held if isinstance(held, list) else as_list(as_dict(record.get("trace")).get("observations"))


def _is_observation(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return text_of(value.get("type")) in TYPES and ("traceId" in value or "startTime" in value)


def _observations(source: Source) -> list[Observation]:
    found = []
    for record, origin in files.records(source):
        path = ("observations",) if isinstance(record.get("observations"), list) else ("trace", "observations")
        held = _held(record)
        placed = files.objects_in(held, files.inside(origin, *path), source, "observation")
        found += [Observation(value, place) for value, place in placed]
        if not held and _is_observation(record):
            found.append(Observation(record, origin))
    return found


def _call(observation: Observation, by_id: Mapping[str, Observation]) -> TracedCall:
    value, origin = observation.value, observation.origin
    native_id = observation.text("id")
    around = ancestors(observation.text("parentObservationId"), by_id, lambda one: one.text("parentObservationId"))
    attributes = observation.attributes()
    tools = [o for o in around if o.value.get("type") == "TOOL"]
    raw = traces.usage_in(value.get("output"))
    return TracedCall(
        sent=traces.said_in(
            value.get("input"), files.inside(origin, "input"), Role.USER, native_id and f"{native_id}.in"
        ),
        replied=traces.replied_in(value.get("output"), files.inside(origin, "output"), native_id),
        usage=raw or _usage(value, attributes),
        model=observation.text("model"),
        response_id=text_of(attributes.get("gen_ai.response.id")) or native_id,
        timestamp=seconds(value.get("startTime")),
        group=observation.text("traceId"),
        caller=_call_id(tools[0]) if tools else "",
        system=_system([observation, *around]),
        continues=text_of(attributes.get("gen_ai.conversation.id")),
        span=native_id,
        edits=ServerEdits(
            is_flagged=attributes.get("gen_ai.conversation.compacted") in (True, "true"),
            error=error_of(_error(observation)),
        ),
        above=tuple(o.text("id") for o in takewhile(lambda one: one.value.get("type") not in CALL_BOUNDARIES, around)),
        is_counted=raw is not None,
    )


def _error(observation: Observation) -> str:
    return observation.text("statusMessage") if observation.text("level") == "ERROR" else ""


def _call_id(observation: Observation) -> str:
    attributes = observation.attributes()
    return text_of(attributes.get("gen_ai.tool.call.id")) or text_of(attributes.get("ai.toolCall.id"))


def _system(chain: Sequence[Observation]) -> tuple[Content, ...]:
    """Instructions and tools of a generation; without instructions of its own, those of the agent around it."""
    said = next((s for o in chain if (s := traces.system_of(o.attributes().get("gen_ai.system_instructions")))), ())
    attributes = chain[0].attributes()
    listed = as_dict(traces.decoded(attributes.get("model_request_parameters"))).get("function_tools")
    beside = as_dict(traces.decoded(chain[0].value.get("metadata"))).get("tools")
    tools = filter(None, map(traces.tools_of, (attributes.get("gen_ai.tool.definitions"), listed, beside)))
    return (said + next(tools, ())) or traces.told_in(chain[0].value.get("input"))


def _usage(value: Record, attributes: Record) -> Usage | None:
    """Usage of a generation; the total tells whether the input includes what the cache read or wrote.

    ``gen_ai.usage.input_tokens`` includes it (OpenTelemetry's conventions), whatever Langfuse adds up from it.
    """
    details = value.get("usageDetails")
    counts = details if isinstance(details, dict) and details else value.get("usage")
    if not isinstance(counts, dict):
        return None
    fresh = first_count(counts, "input", "prompt_tokens", "input_tokens", "promptTokens")
    output = first_count(counts, "output", "completion_tokens", "output_tokens", "completionTokens")
    read, written = first_count(counts, *CACHE_READ_KEYS), first_count(counts, *CACHE_WRITE_KEYS)
    total = first_count(counts, "total", "total_tokens", "totalTokens")
    told = 0 if read or written else first_count(attributes, *traces.CACHE_READ_KEYS)
    if fresh >= told > 0:
        # Langfuse leaves out of its own count what only the attributes tell.
        return inclusive_usage(fresh, output, cache_read=told)
    inclusive = total == fresh + output or "prompt_tokens" in counts
    # The AI SDK's own count beside it (langfuse-vercel) includes what was cached.
    own = as_dict(as_dict(traces.decoded(value.get("metadata"))).get("tokenUsage"))
    inclusive |= count_of(own.get("inputTokens")) == fresh > 0 and count_of(own.get("totalTokens")) == fresh + output
    inclusive |= count_of(attributes.get("gen_ai.usage.input_tokens")) == fresh >= read + written
    usage = inclusive_usage if inclusive and (read or written) else exclusive_usage
    return usage(fresh, output, cache_read=read, cache_write=written)


def _with_doubled(transcripts: tuple[Transcript, ...], observations: Sequence[Observation]) -> tuple[Transcript, ...]:
    """The same with a note where what Langfuse shows as the input has the cached tokens a second time."""
    shown = sum(_shown(o.value) for o in observations if o.value.get("type") == "GENERATION")
    usages = [request.usage for one in transcripts for request in one.requests if request.usage]
    sent, read = sum(usage.context for usage in usages), sum(usage.cache_read for usage in usages)
    written = sum(usage.cache_write for usage in usages)
    if not transcripts or not read or shown not in (sent + read, sent + read + written):
        return transcripts
    said = f"Langfuse counts the cached tokens twice: it shows {shown:,} tokens of input where {sent:,} were sent"
    event = RecordedEvent(EventKind.CACHE_NOTED, 0, 0, said)
    return tuple(replace(one, events=(*one.events, event)) for one in transcripts)


def _shown(generation: Record) -> int:
    """What Langfuse shows as the input of a call: what it says itself, else all that its total adds up."""
    details = as_dict(generation.get("usageDetails"))
    parts = count_of(details.get("input"))
    parts += first_count(details, *CACHE_READ_KEYS) + first_count(details, *CACHE_WRITE_KEYS)
    is_sum = count_of(details.get("total")) == parts + count_of(details.get("output"))
    return count_of(generation.get("inputUsage")) or (parts if is_sum else 0)


def _notes(others: Sequence[Observation]) -> tuple[str, ...]:
    kinds = Counter(o.text("type") or "untyped" for o in others)
    named = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    details = [as_dict(o.value.get("usageDetails")) for o in others]
    sent, made = (sum(count_of(d.get(key)) for d in details) for key in ("input", "output"))
    usage = f"Usage of observations that are no generations: {sent:,} input and {made:,} output, not counted"
    repeated = f"Observations that are no generations: {named}; they repeat what generations say"
    return files.noted((kinds, repeated), (sent or made, usage))
