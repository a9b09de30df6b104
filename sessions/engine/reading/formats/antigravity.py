"""Antigravity's transcripts: one step a line, of the user, the model or the system (formats 25).

Calls have no ids: the steps after a reply are the results of its calls, in order.  A checkpoint is a compaction, and
its text the summary.  Texts may be cut in the file, so that sizes are at least what is shown.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import as_read, blocks_of, plain_part, title_of, tool_use, with_id
from sessions.engine.reading.formats._records import first_objects, folders_of, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, parsed, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

USER, REPLY, CHECKPOINT, ERROR = "USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT", "ERROR_MESSAGE"
SAID = frozenset({USER, REPLY, CHECKPOINT, ERROR, "CONVERSATION_HISTORY", "SYSTEM_MESSAGE"})
_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_MODEL = re.compile(r"<USER_SETTINGS_CHANGE>.*?`Model Selection` from .*? to (.+?)\.(?:\s|$)", re.DOTALL)


@dataclass(slots=True)
class AntigravityReading:
    """What one pass over the file collects; ``open`` are the calls of the newest reply without a result yet."""

    history: Assembly
    open: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    model: str = ""
    n_cut: int = 0
    n_unasked: int = 0


class _Format(Format):
    label = "Antigravity"
    source = "Transcripts of Antigravity and its CLI, ~/.gemini/antigravity…/brain/…/logs/transcript.jsonl (JSONL)"
    coverage = Coverage(
        compactions=YES, refusals=YES, live=YES,
        error="step ERROR_MESSAGE", compaction="step CHECKPOINT", model="the settings in a prompt",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        found = [value for value in lines if _is_step(value)]
        if not found or 2 * len(found) < len(lines):
            return None
        if any(value["type"] in (USER, REPLY) for value in found):
            return Sniff(95, f"{len(found)} of the first {len(lines)} lines are steps with a source and a type")
        return Sniff(0, "steps with an index, but none of the user's or the model's")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session; its id is that of the folder under ``brain``, else the file's name."""
        reading = AntigravityReading(Assembly(measure))
        for line, value in objects(source, _is_step, "not a step with an index, source and type"):
            _read(reading, value, line.at())
        history, n_cut = reading.history, reading.n_cut
        history.note(n_cut, f"Steps whose text was cut when it was recorded: {n_cut:,}; sizes are at least")
        history.note(reading.n_unasked, f"Results whose call is not recorded: {reading.n_unasked:,}")
        after = [folder for brain, folder in itertools.pairwise(folders_of(source.name)) if brain == "brain"]
        transcript = history.transcript(after[-1] if after else stem_of(source.name))
        notes = tuple(f"Steps of type {kind}: {n:,}, not messages" for kind, n in reading.left_out.items())
        return read_as([transcript], warnings=notes)

    contents = all_values(lambda values, message: as_read([c for value in values for c in _contents(value)], message))


def _is_step(value: Record) -> bool:
    is_typed = isinstance(value.get("source"), str) and isinstance(value.get("type"), str)
    return is_typed and isinstance(value.get("step_index"), int) and "status" in value


def _is_result(step: Record) -> bool:
    """What a call of the model did: every step that is neither said nor told by somebody."""
    return step["type"] not in SAID and step["source"] != "SYSTEM"


def _contents(value: Any) -> tuple[Content, ...]:
    step = as_dict(value)
    said = blocks_of(step.get("content"), plain_part)
    if step.get("type") == REPLY:
        thought = text_of(step.get("thinking"))
        thoughts = (Content(Kind.THINKING, text=thought),) if thought else ()
        return (*thoughts, *said, *map(_call, as_list(step.get("tool_calls"))))
    if _is_step(step) and _is_result(step):
        text, parts = (said[0].text, ()) if len(said) == 1 else ("", said)
        return (Content(Kind.TOOL_RESULT, text, is_error=step.get("status") == "ERROR", parts=parts),)
    return said


def _call(value: Any) -> Content:
    """A call; its arguments are written as JSON in strings."""
    call = as_dict(value)
    arguments = call.get("args")
    if isinstance(arguments, dict):
        arguments = {name: parsed(a, a) if isinstance(a, str) else a for name, a in arguments.items()}
    return tool_use(arguments, call.get("name"), "")


def _read(reading: AntigravityReading, step: Record, origin: Origin) -> None:
    kind, contents, history = step["type"], _contents(step), reading.history
    facts: dict[str, Any] = {"id": f"step-{step['step_index']}", "timestamp": seconds(step.get("created_at"))}
    reading.n_cut += bool(step.get("truncated_fields"))
    if kind == REPLY:
        calls = [with_id(content, f"L{origin.line}.{n}") for n, content in enumerate(contents)]
        reading.open = [call.call_id for call in calls if call.kind is Kind.TOOL_USE]
        history.answer(calls, (origin,), model=reading.model, **facts)
    elif kind == USER:
        # Title and model, where what the user typed tells them.
        text = text_of(step.get("content"))
        reading.model = match[1] if (match := _MODEL.search(text)) else reading.model
        history.title = history.title or title_of(match[1] if (match := _REQUEST.search(text)) else text)
        history.add(Role.USER, contents, (origin,), typed=bool(contents), **facts)
    elif kind == CHECKPOINT:
        number = history.compaction()
        reading.open = []
        if contents:
            history.summary(contents, (origin,), number, **facts)
    elif kind == ERROR:
        history.fail(text_of(step.get("content")) or step.get("error"))
        reading.left_out[kind] += 1
    elif _is_result(step) and (reading.open or contents[0].text or contents[0].parts):
        reading.n_unasked += not reading.open
        answer = with_id(contents[0], reading.open.pop(0)) if reading.open else contents[0]
        history.add(Role.USER, (answer,), (origin,), typed=False, **facts)
    elif contents and not _is_result(step):
        history.add(Role.USER, contents, (origin,), typed=False, meta=True, **facts)
    else:
        reading.left_out[kind] += 1
