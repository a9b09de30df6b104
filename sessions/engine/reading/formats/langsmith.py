"""LangSmith runs: model calls are the requests, messages are LangChain's or the provider's (formats 51)."""

from __future__ import annotations

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Sniff, all_values
from sessions.engine.reading.formats._call_sessions import Found, Run, Tracer
from sessions.engine.reading.formats._counts import first_count, inclusive_usage
from sessions.engine.reading.formats._langchain_messages import fields_of, langchain_usage, response_fact
from sessions.engine.reading.formats._records import first_records
from sessions.engine.reading.formats._traces import first_said, read_again
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, seconds, text_of, written
from sessions.engine.transcript.types import Origin

TYPES = frozenset(words("llm chain tool retriever embedding prompt parser"))
PLACES = ("trace_id", "dotted_order", "parent_run_id", "session_id")
MAX_NESTED = 50


def _runs_in(record: Record, path: Path = ()) -> Found:
    """A run and those inside it, or the runs that a page of them lists."""
    is_run = text_of(record.get("run_type")) in TYPES and "inputs" in record and any(key in record for key in PLACES)
    if is_run:
        yield record, path
    elif path:
        return
    for key in ("runs", "child_runs", "post"):
        for position, child in enumerate(as_list(record.get(key)) if len(path) < 2 * MAX_NESTED else ()):
            if isinstance(child, dict):
                yield from _runs_in(child, (*path, key, position))


def _ends_in(record: Record) -> Found:
    """What the client sends when a run has ended: the run's id with its output, alone or in a batch's ``patch``."""
    held = record.get("patch")
    places = [(held[n], ("patch", n)) for n in range(len(held))] if isinstance(held, list) else [(record, ())]
    for value, path in places:
        if isinstance(value, dict) and text_of(value.get("id")) and "run_type" not in value and "end_time" in value:
            yield value, path


def _run(value: Record, origin: Origin) -> Run:
    metadata, asked = (as_dict(as_dict(value.get("extra")).get(key)) for key in ("metadata", "invocation_params"))
    reply = fields_of(first_said(value.get("outputs")))
    named = text_of(metadata.get("ls_model_name")) or text_of(asked.get("model")) or text_of(asked.get("model_name"))
    kind, native = text_of(value.get("run_type")), text_of(value.get("id"))
    outputs = as_dict(value.get("outputs"))
    # The reply's own counts, those beside it, or the run's sums, which do not tell cached tokens apart.
    beside = as_dict(outputs.get("usage_metadata"))
    usage = langchain_usage(reply) or (langchain_usage({"usage_metadata": beside}) if beside else None)
    # The call that a tool's run answers, where its output is a message that names it.
    answer = fields_of(outputs.get("output")) or as_dict(outputs.get("output"))
    call_id = text_of(answer.get("tool_call_id")) or text_of(as_dict(value.get("inputs")).get("id"))
    return Run(
        value,
        origin,
        id=native,
        parent=text_of(value.get("parent_run_id")),
        group=text_of(metadata.get("thread_id")) or text_of(value.get("trace_id")) or native,
        kind=kind,
        sent="inputs",
        made="outputs",
        started=seconds(value.get("start_time")),
        model=response_fact(reply, "model_name", "model") or named,
        usage=usage or inclusive_usage(first_count(value, "prompt_tokens"), first_count(value, "completion_tokens")),
        call_id=call_id if kind == "tool" else "",
        error=written(value.get("error") or ""),
    )


class _Format(Format):
    label = "LangSmith"
    source = "Runs of LangSmith, exported or as its client sends them (JSON or JSONL)"
    coverage = Coverage(
        usage=YES, images=PARTLY, refusals=YES,
        error="run's error", model="ls_model_name",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = [run for record in first_records(head) for run, _ in _runs_in(record)]
        if any(run["run_type"] == "llm" for run in found):
            return Sniff(95, f"{len(found)} runs of LangSmith's types, with model calls among them")
        if found and head.document is None and any("dotted_order" in run or "trace_id" in run for run in found):
            return Sniff(90, f"{len(found)} runs of LangSmith's types in a trace, no model call among the first")
        return Sniff(0, "runs of LangSmith's types, but none is a model call") if found else None

    parse = Tracer("run", _runs_in, _run, "Export the runs of type llm too", _ends_in).parse
    contents = all_values(read_again)
