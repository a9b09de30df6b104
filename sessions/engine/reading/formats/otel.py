"""OpenTelemetry spans of model calls: the GenAI conventions and OpenInference, as OTLP or as flat lists (formats 16).

Each span of a model call repeats the whole prompt, which is one history and counted once.  ``input_tokens`` includes
what the cache read.

``gen_ai.conversation.compacted`` stands on the call whose conversation was compacted, by some exporters on every later
one too, or on a span of its own before it with figures that are the exporter's estimates.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats import _calls as traced
from sessions.engine.reading.formats import _otel_spans as otel
from sessions.engine.reading.formats import _traces as traces
from sessions.engine.reading.formats._call_sessions import EMPTY_ANSWER, RunEnd, end_calls, sessions_of
from sessions.engine.reading.formats._converse import is_block
from sessions.engine.reading.formats._counts import first_count, inclusive_usage
from sessions.engine.reading.formats._otel_spans import Span
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._records import first_records, inside, misread, noted, records, stem_of
from sessions.engine.reading.formats._values import as_dict, count_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Origin, Parsed, Role, Usage

FLAG, TOKENS_BEFORE = "gen_ai.conversation.compacted", "compaction.tokens_before"
SENT = (
    *("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt"),
    *("ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request"),
)
REPLIED = (
    *("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion"),
    *("ai.response.text", "ai.response.toolCalls", "gcp.vertex.agent.llm_response"),
)
PARTS = ("ai.response.text", "ai.response.toolCalls")
"""Attributes that are one reply together."""
VALUES = ("input.value", "output.value")
"""Where OpenInference keeps a call whose messages it did not take apart."""
INPUT_KEYS = (
    *("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"),
    *("ai.usage.inputTokens", "ai.usage.promptTokens"),
)
OUTPUT_KEYS = (
    *("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens"),
    *("ai.usage.outputTokens", "ai.usage.completionTokens"),
)
REASONING_KEYS = (
    *("llm.token_count.completion_details.reasoning", "gen_ai.usage.reasoning_tokens", "ai.usage.reasoningTokens"),
)
TOOL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
RESULTS = ("gen_ai.tool.call.result", "ai.toolCall.result", "gcp.vertex.agent.tool_response", "output.value")
WRITE_KEYS = (
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "gen_ai.usage.cache_write_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.details.cache_write_tokens",
)
CONVENTIONS = {"MLflow's": "mlflow.", "the OpenInference": "llm.", "the GenAI": ""}
"""Whose names a span has, by what is a part of one."""
MODEL_CALLS = frozenset({"chat", "text_completion", "generate_content", "completion"})
LIMITS = ("execute_tool", "invoke_agent")
SYSTEM_KEYS = ("gen_ai.system_instructions", "gen_ai.system.instructions", "system_prompt")


def is_flagged(span: Span) -> bool:
    """Whether a span says that its conversation was compacted; ``false`` is never written."""
    return span.get(FLAG) in (True, "true", "True")


class _Format(Format):
    label = "OpenTelemetry"
    source = "Spans of the GenAI conventions, of OpenInference, of MLflow (OTLP, a trace or a span list, JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="status ERROR, exception events",
        compaction="part compaction, gen_ai.conversation.compacted", model="gen_ai.response.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        spans = [span for record in found for span in otel.spans_in(record, Origin(1, 0, 0))]
        calls = [span for span in spans if _is_call(span)]
        if calls:
            own = " ".join(calls[0].attributes)
            by = next(name for name, key in CONVENTIONS.items() if key in own)
            return Sniff(90, f"{len(calls)} of {len(spans)} spans are model calls by {by} conventions")
        if spans or any("resourceSpans" in record or otel.is_span(record) for record in found):
            return Sniff(0, "spans, but none has gen_ai.* or llm.* attributes of a model call with messages")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        told = (span for record, origin in records(source) for span in otel.spans_in(record, origin))
        # Each as it was told last: some exporters print it at its start too, and two of them print it twice.
        spans = list({(s.trace, s.id) if s.id else ("", f"#{n}"): s for n, s in enumerate(told)}.values())
        if not spans:
            raise misread("no OpenTelemetry spans")
        by_id = {span.id: span for span in spans if span.id}
        found = [span for span in spans if _is_call(span)]
        described = traced.answered(_call(span, by_id) for span in found)
        calls = traced.one_layer(described)
        # A span of its own before a call describes the compaction of its conversation.
        for span in (span for span in spans if is_flagged(span) and not _is_call(span)):
            later = (c for c in calls if (c.timestamp or 0) >= (span.started or 0) and span.trace in ("", c.trace))
            if call := min(later, key=lambda call: call.timestamp or 0, default=None):
                before = count_of(span.get(TOKENS_BEFORE)) or call.edits.tokens_before
                call.edits = replace(call.edits, is_flagged=True, tokens_before=before)
        ends = ((s, f"{s.name} {s.text('gen_ai.operation.name')}") for s in spans if not _is_call(s))
        end_calls(calls, (RunEnd(span.trace, span.error, not span.parent, kind) for span, kind in ends))
        results = [said for span in spans if (said := _result(span))]
        transcripts = sessions_of(calls, measure, stem=stem_of(source.name), results=results)
        n_others, n_around = len(spans) - len(found), len(described) - len(calls)
        notes = noted(
            (n_others, f"Spans that are no model calls: {n_others}, not context"),
            (n_around, f"Spans around another one of the same call: {n_around}, no requests"),
        )
        return Parsed(transcripts, warnings=notes)

    contents = all_values(lambda values, message: traces.read_again(otel.messages_at(values, message.origins), message))


def _is_call(span: Span) -> bool:
    """A model call: it has messages, or failed before any, and is no agent, tool or embedding span around one."""
    kind, operation = span.text("openinference.span.kind"), span.text("gen_ai.operation.name", "llm.request.type")
    if (kind and kind.upper() != "LLM") or (operation and operation not in MODEL_CALLS):
        return False
    keys = (*SENT, *REPLIED, *VALUES) if kind else (*SENT, *REPLIED)
    told = span.events or otel.listed_events(span) or (span.error and (kind or operation))
    return bool(told) or any(key.startswith(keys) for key in span.attributes)


def _call(span: Span, by_id: Mapping[str, Span]) -> traced.TracedCall:
    around = traced.ancestors(span.parent, by_id, lambda one: one.parent)
    tool = next((s for s in around if s.text(*TOOL_IDS)), None)
    answers = (*REPLIED, VALUES[1])
    replied = [said for said in _said(span, answers, Role.ASSISTANT, span.id) if said.role is Role.ASSISTANT]
    raw = next((found for key in answers if (found := traces.usage_in(span.get(key)))), None)
    instructions = (traces.system_of(otel.plain(one.get(*SYSTEM_KEYS))) for one in (span, *around))
    said = next(filter(None, instructions), ())
    tools = traces.tools_of(span.get("gen_ai.tool.definitions", "llm.tools", "ai.prompt.tools"))
    return traced.TracedCall(
        sent=_said(span, (*SENT, VALUES[0]), Role.USER, f"{span.id}.in" if span.id else ""),
        replied=replied,
        usage=raw or _usage(span),
        model=span.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        response_id=span.text("gen_ai.response.id") or span.id,
        timestamp=span.started,
        group=span.text("gen_ai.conversation.id", "session.id") or span.trace,
        caller=tool.text(*TOOL_IDS) if tool else "",
        system=said + tools or traces.told_in(span.get("gcp.vertex.agent.llm_request", VALUES[0])),
        span=span.id,
        trace=span.trace,
        edits=traced.ServerEdits(
            compacted=any(traced.is_compaction(content) for said in replied for content in said.contents),
            from_next="anthropic" not in span.text("gen_ai.provider.name", "gen_ai.system", "llm.provider").lower(),
            is_flagged=is_flagged(span),
            tokens_before=count_of(span.get(TOKENS_BEFORE)) or None,
            error=error_of(span.error) or _empty_answer(span, replied),
        ),
        above=tuple(above.id for above in itertools.takewhile(_is_layer, around)),
        owner=next((above.id for above in around if not _is_layer(above)), ""),
        is_counted=raw is not None,
    )


def _empty_answer(span: Span, replied: Sequence[traced.CallMessage]) -> Refusal | None:
    """That a call's answer is recorded and has nothing in it, where no usage tells what came."""
    is_empty = not replied and any(span.get(key) == "" for key in (*REPLIED, VALUES[1]))
    return Refusal(EventKind.ERROR, words=EMPTY_ANSWER) if is_empty and not _usage(span) else None


def _is_layer(span: Span) -> bool:
    """Whether a span around a call may describe the same one: it is no tool and no agent."""
    is_limit = span.text("openinference.span.kind").upper() in ("TOOL", "AGENT")
    return not is_limit and span.text("gen_ai.operation.name") not in LIMITS and not span.get(*TOOL_IDS)


def _result(span: Span) -> traced.CallMessage | None:
    """What a tool's span says it gave out, for the call that no later one answers."""
    key = next((key for key in RESULTS if traces.decoded(span.get(key))), "")
    if not key or not span.text(*TOOL_IDS):
        return None
    value, path = span.attributes[key]
    return traces.result_said(value, inside(span.origin, *path), span.text(*TOOL_IDS), span.id)


def _said(span: Span, keys: Sequence[str], role: Role, stem: str) -> list[traced.CallMessage]:
    """The messages under the first of ``keys`` that has some: in a list or JSON string, or spread over dotted keys."""
    for key in keys:
        if key in PARTS:
            # A reply whose text and calls are attributes of their own.
            own = [span.attributes[part] for part in PARTS if span.attributes.get(part, ("",))[0]]
            contents = tuple(content for value, _ in own for content in traces.trace_contents(value))
            places = tuple(inside(span.origin, *path) for _, path in own)
            found = [traced.CallMessage(role, contents, places, f"{stem}.0")]
        elif key in span.attributes:
            found = _each(span, key, role, stem)
        else:
            placed = ((f"{stem}.{n}" if stem else "", *one) for n, one in enumerate(otel.spread(span, key)))
            found = [
                traced.CallMessage(traces.role_of_said(said, role), traces.trace_contents(said), at, name)
                for name, said, at in placed
            ]
        if found := [said for said in found if said.contents]:
            return found
    if noted_events := otel.listed_events(span):
        of_role = [
            (m, at) for m, at in noted_events if (m.get(otel.NAMED) == "gen_ai.choice") == (role is Role.ASSISTANT)
        ]
        return traces.spoken([(otel.message_at([m], [at]), at) for m, at in of_role], role, stem)
    told = [(event, n) for event, n in span.events if otel.is_choice(event) == (role is Role.ASSISTANT)]
    return traces.spoken([(otel.normal(event), inside(span.origin, "events", n)) for event, n in told], role, stem)


def _each(span: Span, key: str, role: Role, stem: str) -> list[traced.CallMessage]:
    """Messages in one attribute, each with an origin of its own."""
    value, path = span.attributes[key]
    origin = inside(span.origin, *path)
    messages = traces.decoded(value)
    if not isinstance(messages, list) or all(map(is_block, messages)):
        return traces.said_in(value, origin, role, stem)
    places = [inside(origin, position) for position in range(len(messages))]
    return traces.spoken(
        [(otel.message_at([m], [place]), place) for m, place in zip(messages, places, strict=True)], role, stem
    )


def _usage(span: Span) -> Usage | None:
    # Phoenix keeps beside its own attributes what else a span had.
    counts = as_dict(traces.decoded(span.get("metadata"))) | {key: value for key, (value, _) in span.attributes.items()}
    return inclusive_usage(
        first_count(counts, *INPUT_KEYS),
        first_count(counts, *OUTPUT_KEYS),
        cache_read=first_count(counts, *traces.CACHE_READ_KEYS),
        cache_write=first_count(counts, *WRITE_KEYS),
        reasoning=first_count(counts, *REASONING_KEYS),
    )
