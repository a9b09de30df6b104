"""Gemini CLI's ``--output-format stream-json``: events of one run, usage only at its end (formats 8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import tool_use
from sessions.engine.reading.formats._counts import count_of
from sessions.engine.reading.formats._gemini_parts import parts_of, usage_from
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import Measured, Record, text_of
from sessions.engine.reading.jsonio import Line, dumps
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Role, Skipped, Usage

EVENTS = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})


@dataclass(slots=True)
class RunMessage:
    """Events that are one message: their values until it is complete, and where they stand."""

    role: Role
    values: list[Record]
    origins: list[Origin]


@dataclass(slots=True)
class GeminiRun:
    """What one pass over the events collects."""

    units: list[RunMessage] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    model: str = ""
    session: str = ""
    total: Usage | None = None
    n_screen: int = 0
    n_totals: int = 0
    refused: defaultdict[int, list[Refusal]] = field(default_factory=lambda: defaultdict(list))


def is_event(value: Any) -> bool:
    """Whether a line can be an event of such a run."""
    return isinstance(value, dict) and text_of(value.get("type")) in EVENTS and "subtype" not in value


def is_before(value: Any) -> bool:
    """Whether a line can stand before a run: what a runner writes, its own copy of the prompt included."""
    return not is_event(value) or (value["type"] == "message" and value.get("role") == "user")


def leave_out_before(run: GeminiRun) -> None:
    """Take off the prompts that a runner wrote before the run began: the run tells them again."""
    if all(map(is_before, (value for unit in run.units for value in unit.values))):
        reason = "a prompt that a runner wrote before the run, which repeats it"
        run.skipped += [Skipped(o.line, o.offset, reason) for unit in run.units for o in unit.origins]
        run.units.clear()


def read_event(run: GeminiRun, line: Line, value: Record) -> None:
    """Take one event; what the model says until the next result or prompt is one message."""
    kind = text_of(value.get("type"))
    origin = Origin(line.number, line.offset, line.length)
    if kind == "init":
        run.model = text_of(value.get("model")) or run.model
        run.session = text_of(value.get("session_id")) or run.session
    elif kind == "result":
        run.total, run.n_totals = _total(value.get("stats")), run.n_totals + 1
        error = error_of(value.get("error"), kind=EventKind.SESSION_END)
        if error and error.words not in {known.words for told in run.refused.values() for known in told}:
            run.refused[len(run.units)].append(error)
    elif kind in ("message", "tool_use", "tool_result"):
        said = kind == "tool_use" or (kind == "message" and value.get("role") == "assistant")
        role = Role.ASSISTANT if said else Role.USER
        last = run.units[-1] if run.units else None
        if last and role is Role.ASSISTANT and last.role is role:
            last.values.append(value)
            last.origins.append(origin)
        else:
            run.units.append(RunMessage(role, [value], [origin]))
    elif kind in EVENTS:
        run.n_screen += 1
        refusal = error_of(value.get("message") or value.get("error"))
        run.refused[len(run.units)] += [refusal] if refusal else []
    else:
        run.skipped.append(Skipped(line.number, line.offset, f"an event of unknown type {kind!r}"))


def run_assembly(run: GeminiRun, measure: Measured) -> Assembly:
    """The messages of a run; its total is the request's usage where there was only one."""
    made = Assembly(measure)
    for number, unit in enumerate(run.units):
        _refuse(made, run, number)
        timestamp = seconds(unit.values[0].get("timestamp"))
        index = made.add(unit.role, event_contents(unit.values), unit.origins, timestamp=timestamp)
        if unit.role is Role.ASSISTANT:
            made.request(index, model=run.model)
    _refuse(made, run, len(run.units))
    if len(made.requests) == run.n_totals == 1:
        made.requests[0] = replace(made.requests[0], usage=run.total)
    return made


def _refuse(made: Assembly, run: GeminiRun, n_units: int) -> None:
    for refusal in run.refused.get(n_units, ()):
        made.refuse(refusal)


def event_contents(values: Sequence[Any]) -> tuple[Content, ...]:
    """The blocks of one message: pieces of text joined, calls and results by their events."""
    found: list[Content] = []
    for value in values:
        kind = value.get("type") if isinstance(value, dict) else ""
        if kind == "tool_use":
            found.append(_call(value))
        elif kind == "tool_result":
            found.append(_result(value))
        else:
            for piece in parts_of(value.get("content") if isinstance(value, dict) else value):
                joins = found and found[-1].kind is piece.kind is Kind.TEXT
                found[-1:] = [Content(Kind.TEXT, text=found[-1].text + piece.text)] if joins else [*found[-1:], piece]
    return tuple(found)


def _call(value: Record) -> Content:
    return tool_use(value.get("parameters"), value.get("tool_name"), value.get("tool_id"))


def _result(value: Record) -> Content:
    output, error = value.get("output"), value.get("error")
    said = error if output is None and error is not None else output
    text = said if isinstance(said, str) else dumps(said) if said is not None else ""
    failed = value.get("status") == "error" or error is not None
    return Content(Kind.TOOL_RESULT, text=text, call_id=text_of(value.get("tool_id")), is_error=failed)


def _total(stats: Any) -> Usage | None:
    """Tokens of the whole run; thoughts are what the total has beyond input and output."""
    if not isinstance(stats, dict):
        return None
    sent, said, total = (count_of(stats.get(key)) for key in ("input_tokens", "output_tokens", "total_tokens"))
    return usage_from(sent, count_of(stats.get("cached")), said, max(0, total - sent - said))
