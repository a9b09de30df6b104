"""Gemini CLI sessions: the old JSON file, the newer log (JSONL), and the events of ``stream-json`` (formats 8).

A call and its result stand in the same record; they are two messages.  Reported input includes cached tokens;
``Usage.input`` does not, and thoughts are part of the output.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._assembly import Assembly, Piece, read_as
from sessions.engine.reading.formats._blocks import joined, title_of, tool_use
from sessions.engine.reading.formats._gemini_parts import parts_of, usage_from
from sessions.engine.reading.formats._gemini_records import SCREEN_TYPES, TYPES, Log, record_contents
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._records import first_objects, inside, misread, noted, objects, stem_of
from sessions.engine.reading.formats._thread import session_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Transcript, Usage

EVENTS = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})
N_PREAMBLE = 20
"""Records that a runner may write before the events of a run."""


@dataclass(slots=True)
class GeminiRun:
    """What one pass over the events collects."""

    source: Source
    units: list[Piece] = field(default_factory=list)
    model: str = ""
    session: str = ""
    n_before: int = 0
    total: Usage | None = None
    n_totals: int = 0
    refused: defaultdict[int, list[Refusal]] = field(default_factory=lambda: defaultdict(list))


def is_event(value: Any) -> bool:
    """Whether a line can be an event of such a run."""
    return isinstance(value, dict) and text_of(value.get("type")) in EVENTS and "subtype" not in value


def is_before(value: Any) -> bool:
    """Whether a line can stand before a run: what a runner writes, its own copy of the prompt included."""
    return not is_event(value) or (value["type"] == "message" and value.get("role") == "user")


def read_event(run: GeminiRun, line: Line, value: Record) -> None:
    """Take one event; what the model says until the next result or prompt is one message."""
    kind = text_of(value.get("type"))
    origin = line.at()
    if kind == "init":
        run.model = text_of(value.get("model")) or run.model
        run.session = text_of(value.get("session_id")) or run.session
    elif kind == "result":
        # Thoughts are what the total has beyond input and output.
        keys = ("input_tokens", "cached", "output_tokens", "total_tokens")
        sent, cached, said, total = (count_of(as_dict(value.get("stats")).get(key)) for key in keys)
        run.total, run.n_totals = usage_from(sent, cached, said, max(0, total - sent - said)), run.n_totals + 1
        error = error_of(value.get("error"), kind=EventKind.SESSION_END)
        if error and error.words not in {known.words for told in run.refused.values() for known in told}:
            run.refused[len(run.units)].append(error)
    elif kind in ("message", "tool_use", "tool_result"):
        is_reply = kind == "tool_use" or (kind == "message" and value.get("role") == "assistant")
        role = Role.ASSISTANT if is_reply else Role.USER
        last = run.units[-1] if run.units else None
        if last and role is Role.ASSISTANT and last.role is role:
            last.add(value, origin)
        else:
            run.units.append(Piece(role, [value], [origin]))
    elif kind in EVENTS:
        refusal = error_of(value.get("message") or value.get("error"))
        run.refused[len(run.units)] += [refusal] if refusal else []
    else:
        run.source.skip(f"an event of unknown type {kind!r}", line)


def _run_session(run: GeminiRun, measure: Measured, name: str) -> Transcript:
    """The session of a run; its total is the request's usage where there was only one."""
    made = Assembly(measure)
    made.note(run.n_before, f"Prompts that a runner wrote before the run, which has its own: {run.n_before}")
    for number, unit in enumerate(run.units):
        for refusal in run.refused.get(number, ()):
            made.refuse(refusal)
        timestamp = seconds(unit.values[0].get("timestamp"))
        made.say(unit.role, event_contents(unit.values), unit.origins, {"model": run.model}, timestamp=timestamp)
    for refusal in run.refused.get(len(run.units), ()):
        made.refuse(refusal)
    if len(made.requests) == run.n_totals == 1:
        made.requests[0] = replace(made.requests[0], usage=run.total)
    if run.total and len(made.requests) != 1:
        total = f"{run.total.context:,} input and {run.total.output:,} output tokens over {len(made.requests)} requests"
        made.warnings.append(f"The run reports only its total: {total}")
    return made.transcript(run.session or stem_of(name), otherwise=run.model)


def event_contents(values: Sequence[Any]) -> tuple[Content, ...]:
    """The blocks of one message: pieces of text joined, calls and results by their events."""
    found: list[Content] = []
    for value in values:
        kind = value.get("type") if isinstance(value, dict) else ""
        if kind == "tool_use":
            found.append(tool_use(value.get("parameters"), value.get("tool_name"), value.get("tool_id")))
        elif kind == "tool_result":
            output, error = value.get("output"), value.get("error")
            failed = value.get("status") == "error" or error is not None
            text, call_id = written(error if output is None else output), text_of(value.get("tool_id"))
            found.append(Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=failed))
        else:
            found += parts_of(value.get("content") if isinstance(value, dict) else value)
    return joined(found)


class _Format(Format):
    label = "Gemini CLI"
    source = "Sessions of Gemini CLI 0.1 to 0.61, ~/.gemini/tmp/…/chats (JSON, JSONL), and --output-format stream-json"
    coverage = Coverage(
        "0.1 to 0.61", usage=YES, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        error="record or event error", compaction="$set messages", clearing="$set messages",
        end="result with an error", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = as_dict(head.document)
        if isinstance(document.get("sessionId"), str) and any(map(_is_record, as_list(document.get("messages")))):
            return Sniff(95, "sessionId, and messages of type user and gemini")
        lines = first_objects(head)
        if not lines:
            return None
        if _is_metadata(lines[0]) and any("$set" in v or "$rewindTo" in v or _is_record(v) for v in lines):
            return Sniff(95, "line 1 has sessionId and projectHash, and records follow")
        opened = next((n for n, value in enumerate(lines[:N_PREAMBLE]) if _opens(value)), None)
        if opened is not None and all(is_event(v) for v in lines[opened:]) and all(map(is_before, lines[:opened])):
            return Sniff(93, f"record {opened + 1} has `type: init` and a session_id, and events follow")
        return Sniff(0, "it has sessionId and projectHash, but no messages") if _is_metadata(lines[0]) else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        head = source.head()
        lines = first_objects(head)
        if isinstance(head.document, dict) and "messages" in head.document:
            log = Log(measure)
            for position, value in enumerate(as_list(head.document["messages"])):
                _accept(log, value, Origin(1, 0, source.size, ("messages", position)), source)
            found = [_session(log, head.document, source.name)]
        elif not any(map(_is_own, lines)):
            raise misread("neither a session nor a log nor events")
        elif sum(is_event(value) and not _is_record(value) for value in lines) * 2 > len(lines):
            found = _from_events(source, measure)
        else:
            found = [_from_log(source, measure)]
        return read_as(found)

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a record's reply or of its results, or of a run's events."""
        if message.origins[0].path or any(_is_record(value) for value in values):
            return tuple(content for value in values for content in record_contents(value, message.role))
        return event_contents(values)


def _opens(value: Record) -> bool:
    return value.get("type") == "init" and "session_id" in value


def _is_metadata(value: Record) -> bool:
    return isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str) and "type" not in value


def _is_own(value: Record) -> bool:
    """Whether a line can be of Gemini CLI alone: it opens a log or a run, changes a log, or is one's reply or call."""
    opens = _is_metadata(value) or _opens(value) or "$set" in value or "$rewindTo" in value
    return opens or value.get("type") == "gemini" or (is_event(value) and "tool_id" in value)


def _is_record(value: Any) -> bool:
    """A message of a session: its type, and an id or content of its own, which no event of a run has."""
    return isinstance(value, dict) and text_of(value.get("type")) in TYPES and ("id" in value or "content" in value)


def _from_log(source: Source, measure: Measured) -> Transcript:
    log, metadata = Log(measure), {}
    for line, value in objects(source):
        patch, rewound = value.get("$set"), value.get("$rewindTo")
        if isinstance(rewound, str):
            log.rewind(rewound)
        elif isinstance(patch, dict):
            metadata.update({key: item for key, item in patch.items() if key != "messages"})
            _replace(log, patch.get("messages"), line.at("$set", "messages"))
        elif _is_metadata(value):
            metadata.update({key: item for key, item in value.items() if key != "messages"})
            _replace(log, value.get("messages") or None, line.at("messages"))
        else:
            _accept(log, value, line.at(), source)
    return _session(log, metadata, source.name)


def _from_events(source: Source, measure: Measured) -> list[Transcript]:
    """The sessions of the runs in a file: a run that names another session than the one before starts one."""
    runs = [GeminiRun(source)]
    for line, value in objects(source):
        if _opens(value) and not runs[-1].session:
            units = runs[-1].units
            if all(map(is_before, (value for unit in units for value in unit.values))):
                runs[-1].n_before = len(units)
                units.clear()
        elif _opens(value) and runs[-1].session != value["session_id"]:
            runs.append(GeminiRun(source))
        read_event(runs[-1], line, value)
    return [_run_session(run, measure, source.name) for run in runs]


def _accept(log: Log, value: Any, origin: Origin, source: Source) -> None:
    if _is_record(value):
        log.accept(value, origin)
    elif isinstance(value, dict) and text_of(value.get("type")) in SCREEN_TYPES:
        log.told(value)
    else:
        source.skip("neither a record of a message nor a change to one", origin)


def _replace(log: Log, messages: Any, at: Origin) -> None:
    if isinstance(messages, list):
        log.replace([(value, inside(at, n)) for n, value in enumerate(messages) if _is_record(value)])


def _session(log: Log, metadata: Record, name: str) -> Transcript:
    notes = noted((log.n_screen, f"Records for the screen (info, error, warning): {log.n_screen}, not context"))
    native_id = text_of(metadata.get("sessionId")) or stem_of(name)
    title = title_of(text_of(metadata.get("summary")))
    left = "Messages that a rewind took off"
    return session_of(log.thread(), title=title, id=native_id, warnings=notes, left=left)
