"""Spans of Mastra's tracing, and the steps of its generations with what their tools gave out (formats 87)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats._ai_sdk_parts import call_of
from sessions.engine.reading.formats._blocks import text_blocks
from sessions.engine.reading.formats._calls import CallMessage, ancestors
from sessions.engine.reading.formats._records import inside, placed
from sessions.engine.reading.formats._traces import decoded, result_said
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, first_text, seconds, text_of
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Role

GENERATION, STEP, INFERENCE, AGENT = "model_generation", "model_step", "model_inference", "agent_run"
GENERATIONS = (GENERATION, "llm_generation")
"""The second until the spring of 2026's ``model_``."""
TOOLS = frozenset(words("tool_call mcp_tool_call client_tool_call provider_tool_call"))
OTHERS = words("""
    model_chunk llm_chunk processor_run workflow_run workflow_step workflow_conditional workflow_conditional_eval
    workflow_parallel workflow_loop workflow_sleep workflow_wait_event memory_operation workspace_action rag_ingestion
    rag_embedding rag_vector_operation rag_action graph_action mapping skill_resolution skill_action agent_signal
    scorer_run scorer_step generic
""")
KINDS = frozenset({*GENERATIONS, STEP, INFERENCE, AGENT, *TOOLS, *OTHERS})
LISTS = ("spans", "traces", "children")
MAX_NESTED = 100
_QUOTED = re.compile(r"'([^']{1,200})'")


@dataclass(frozen=True, slots=True)
class Span:
    """A span with its place in the file, what it is of, and what Mastra says of it; ``error`` is without the stack.

    Storage and exporters name its fields differently.  ``output`` is empty where it is no object.
    """

    value: Record
    origin: Origin
    id: str
    parent: str
    kind: str
    attributes: Record
    output: Record
    started: float | None
    error: Any

    def text(self, *keys: str) -> str:
        """The first of these fields that is text."""
        return first_text(self.value, *keys)

    @property
    def thread(self) -> str:
        """The conversation that it names."""
        named = self.text("threadId") or text_of(as_dict(decoded(self.value.get("metadata"))).get("threadId"))
        return named or text_of(self.attributes.get("conversationId"))


def span_at(value: Record, origin: Origin) -> Span:
    """The span that a record is."""
    error = decoded(value.get("error") or value.get("errorInfo"))
    return Span(
        value,
        origin,
        id=first_text(value, "spanId", "id"),
        parent=first_text(value, "parentSpanId", "parentId"),
        kind=kind_of(value),
        attributes=as_dict(decoded(value.get("attributes"))),
        output=as_dict(decoded(value.get("output"))),
        started=seconds(value.get("startedAt", value.get("startTime"))),
        error={key: error[key] for key in error if key != "stack"} if isinstance(error, dict) else error,
    )


@dataclass(slots=True)
class Step:
    """One call: its span, the generation and the agent around it, and what its tools gave out."""

    span: Span
    inner: Span
    around: list[Span]
    replied: list[CallMessage] = field(default_factory=list)
    results: list[CallMessage] = field(default_factory=list)

    @property
    def attributes(self) -> Record:
        """Those of the step, and of the provider's call inside it."""
        return {**self.inner.attributes, **self.span.attributes}

    @property
    def generation(self) -> Span | None:
        """The generation that it is a step of."""
        own = itertools.takewhile(lambda span: span.kind != AGENT and span.kind not in TOOLS, self.around)
        return next((span for span in own if span.kind in GENERATIONS), None)

    @property
    def reason(self) -> str:
        """Why its answer ended."""
        return text_of(self.attributes.get("finishReason"))

    def told(self, key: str) -> Any:
        """An attribute of the call, or of the generation around it."""
        outer = self.generation
        return self.attributes.get(key) or (outer.attributes.get(key) if outer else None)


def kind_of(span: Record) -> str:
    return text_of(span.get("spanType")) or text_of(span.get("type"))


def _is_span(value: Any) -> bool:
    if not isinstance(value, dict) or kind_of(value) not in KINDS or not isinstance(value.get("traceId"), str):
        return False
    return isinstance(value.get("spanId", value.get("id")), str)


def spans_in(record: Record, path: Path = ()) -> Iterator[tuple[Record, Path]]:
    """A span, or those of a trace, of a page of traces, or of a tree of {span, children}."""
    if _is_span(record):
        yield record, path
        return
    if _is_span(record.get("span")):
        yield record["span"], (*path, "span")
    for key in LISTS if len(path) < 2 * MAX_NESTED else ():
        for position, value in enumerate(as_list(record.get(key))):
            if isinstance(value, dict):
                yield from spans_in(value, (*path, key, position))


def spans_of(source: Source) -> list[Span]:
    """Every span, in order of time; of one that was written twice, the last."""
    spans = (span_at(value, at) for value, at in placed(source, spans_in, "no span of Mastra's"))
    found = {(span.text("traceId"), span.id): span for span in spans}
    return sorted(found.values(), key=lambda span: span.started or 0)


def steps_of(spans: Sequence[Span], by_id: Mapping[str, Span]) -> tuple[list[Step], dict[str, str]]:
    """The calls in order of time, and for spans of tools the call that each answers."""
    inner = {span.parent: span for span in spans if span.kind == INFERENCE}
    is_outer = {span.parent for span in spans if span.kind in (STEP, INFERENCE)}
    found: list[Step] = []
    for span in spans:
        alone = span.kind in (INFERENCE, *GENERATIONS) and span.id not in is_outer
        above = by_id.get(span.parent)
        if span.kind == STEP or (alone and not (span.kind == INFERENCE and above and above.kind == STEP)):
            around = ancestors(span.parent, by_id, lambda one: one.parent)
            contents, places = reply_contents(span.output), (inside(span.origin, "output"),)
            replied = [CallMessage(Role.ASSISTANT, contents, places, span.id)] if contents else []
            found.append(Step(span, inner.get(span.id, span), around, replied))
    tools = _Tools(spans, by_id)
    for step in found:
        homes = (step.span.id, step.generation.id if step.generation else "", "")
        for call in (block for said in step.replied for block in said.contents if block.kind is Kind.TOOL_USE):
            tool = tools.of(call, homes)
            step.results += _given(tool, call.call_id) if tool else []
    return found, tools.matched


class _Tools:
    """Spans of tools by the call or generation around them, and the calls that they answer (``matched``, by span)."""

    def __init__(self, spans: Sequence[Span], by_id: Mapping[str, Span]) -> None:
        self.matched: dict[str, str] = {}
        self._by_call: dict[tuple[str, str], Span] = {}
        self._by_name: dict[tuple[str, str], list[Span]] = {}
        for span in spans:
            if span.kind not in TOOLS:
                continue
            around = ancestors(span.parent, by_id, lambda one: one.parent)
            home = next((one.id for one in around if one.kind in (STEP, *GENERATIONS)), "")
            native = text_of(span.attributes.get("toolCallId"))
            if native:
                self._by_call.setdefault((home, native), span)
                continue
            quoted = _QUOTED.search(span.text("name"))
            for name in {span.text("entityName"), span.text("entityId"), quoted[1] if quoted else ""} - {""}:
                self._by_name.setdefault((home, name), []).append(span)

    def of(self, call: Content, homes: Iterable[str]) -> Span | None:
        """The span that answers a call: by the call's id, or where spans have none, the first of its name."""
        for home in homes:
            found = self._by_call.get((home, call.call_id))
            named = self._by_name.get((home, call.name), []) if home else []
            while found is None and named:
                first = named.pop(0)
                found = None if first.id in self.matched else first
            if found is not None:
                self.matched[found.id] = call.call_id
                return found
        return None


def _given(tool: Span, call_id: str) -> list[CallMessage]:
    """What a tool gave out, or the words of its error."""
    error = tool.error
    if error and tool.value.get("output") is None:
        key = "error" if tool.value.get("error") else "errorInfo"
        path: Path = (key, "message") if isinstance(as_dict(error).get("message"), str) else (key,)
        said = as_dict(error)["message"] if len(path) > 1 else tool.value[key]
        return [result_said(said, inside(tool.origin, *path), call_id, tool.id, is_error=True)]
    if tool.value.get("output") is None:
        return []
    failed = bool(error) or tool.attributes.get("success") is False
    return [result_said(tool.value["output"], inside(tool.origin, "output"), call_id, tool.id, is_error=failed)]


def reply_contents(output: Record) -> tuple[Content, ...]:
    """The blocks of what a call gave: reasoning, text or an object, the calls of tools."""
    listed = [as_dict(part) for part in as_list(output.get("reasoning"))]
    thought = text_of(output.get("reasoningText")) or text_of(output.get("reasoning"))
    thought = thought or "\n".join(text_of({**part, **as_dict(part.get("payload"))}.get("text")) for part in listed)
    text, made = text_of(output.get("text")), output.get("object")
    found = text_blocks(thought if thought.strip() else "", Kind.THINKING)
    found += text_blocks(text or ("" if made is None else dumps(made)))
    calls = [as_dict(call) for call in as_list(output.get("toolCalls"))]
    return (*found, *(call_of(as_dict(call.get("payload")) or call) for call in calls if call))
