"""Runs of a tracer that keeps each with an input and an output: model calls, tools, and others (formats 51)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ServerEdits, TracedCall, ancestors, answered, one_layer
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._records import inside, records, stem_of
from sessions.engine.reading.formats._traces import result_said, said_in, told_in, usage_in
from sessions.engine.reading.formats._values import Measured, Record, as_dict
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.transcript.types import Origin, Parsed, Role, Skipped, Usage

Found = Iterator[tuple[Record, tuple[str | int, ...]]]

CALL, TOOL, AGENT = "llm", "tool", "agent"
ENDS = ("outputs", "error", "end_time")
"""What a record of a run's end holds."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run: ``kind`` is CALL, TOOL, AGENT or another; ``sent`` and ``made`` name its input and output.

    ``call_id`` is the tool call that a tool's run answers, "" where the tracer does not say.
    """

    value: Record
    origin: Origin
    id: str
    parent: str
    group: str
    kind: str
    sent: str
    made: str
    started: float | None = None
    model: str = ""
    usage: Usage | None = None
    call_id: str = ""
    error: str = ""
    ended: Origin | None = None

    @property
    def made_at(self) -> Origin:
        """Where its output stands: a tracer may send it after the run itself, in a record of its own."""
        return inside(self.ended or self.origin, self.made)


@dataclass(frozen=True, slots=True)
class Tracer:
    """A format of runs: those in a record with their paths, how one is read, ``word`` for one and what to try next.

    ``ends_in`` finds what a record adds to runs that began in others, by their id: their output, error and end.
    """

    format_name: str
    word: str
    runs_in: Callable[[Record], Found]
    run: Callable[[Record, Origin], Run]
    next_step: str
    ends_in: Callable[[Record], Found] = lambda _: iter(())

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions that the model calls belong to; raises UnreadableInput where there is no call."""
        skipped: list[Skipped] = []
        begun: list[tuple[Record, Origin]] = []
        ends: dict[str, tuple[Record, Origin]] = {}
        for record, origin in records(source, skipped):
            found = [(run, inside(origin, *path)) for run, path in self.runs_in(record)]
            later = [(end, inside(origin, *path)) for end, path in self.ends_in(record)]
            begun += found
            ends |= {end["id"]: (end, place) for end, place in later}
            if not found and not later:
                skipped.append(Skipped(origin.line, origin.offset, f"a record that is no {self.word}"))
        runs = [self._whole(run, origin, ends) for run, origin in begun]
        calls = calls_of(runs)
        if not calls:
            raise UnreadableInput(f"no model calls among the {self.word}s", next_step=self.next_step)
        transcripts = sessions_of(
            calls, measure, format_name=self.format_name, stem=stem_of(source.name), results=results_of(runs)
        )
        n_others = len(runs) - len(calls)
        notes = (f"{self.word.capitalize()}s that are no requests: {n_others}",) if n_others else ()
        return Parsed(self.format_name, transcripts, tuple(skipped), warnings=notes)

    def _whole(self, run: Record, origin: Origin, ends: Mapping[str, tuple[Record, Origin]]) -> Run:
        """A run with what a later record told of its end, where it was not told before."""
        native = run.get("id")
        end, place = ends.get(native, ({}, origin)) if isinstance(native, str) else ({}, origin)
        told = {key: end[key] for key in ENDS if end.get(key) and not run.get(key)}
        whole = self.run({**run, **told}, origin)
        return replace(whole, ended=place) if whole.made in told else whole


def said_error(error: Any) -> str:
    """What an error says, whatever it is written as."""
    return error if isinstance(error, str) else dumps(error) if error else ""


def calls_of(runs: Sequence[Run]) -> list[TracedCall]:
    """The model calls in order of time, each once."""
    by_id = {run.id: run for run in runs if run.id}
    return one_layer(answered(_call(run, by_id) for run in runs if run.kind == CALL))


def results_of(runs: Iterable[Run]) -> list[CallMessage]:
    """What tools gave out, for the calls that no later one answers."""
    return [
        result_said(run.value[run.made], run.made_at, run.call_id, run.id, is_error=bool(run.error))
        for run in runs
        if run.kind == TOOL and run.call_id and run.value.get(run.made)
    ]


def _call(run: Run, by_id: Mapping[str, Run]) -> TracedCall:
    around = ancestors(run.parent, by_id, lambda one: one.parent)
    tool = next((above for above in around if above.kind == TOOL), None)
    made, sent = run.value.get(run.made), run.value.get(run.sent)
    replied = said_in(made, run.made_at, Role.ASSISTANT, run.id)
    raw = usage_in(made)
    return TracedCall(
        sent=said_in(sent, inside(run.origin, run.sent), Role.USER, f"{run.id}.in" if run.id else ""),
        replied=[said for said in replied if said.role is Role.ASSISTANT and not run.error],
        usage=raw or run.usage,
        model=run.model,
        response_id=run.id,
        timestamp=run.started,
        group=run.group,
        caller=tool.call_id if tool else "",
        system=told_in(sent) or told_in(as_dict(run.value.get("extra")).get("invocation_params")),
        span=run.id,
        above=tuple(above.id for above in itertools.takewhile(lambda one: one.kind not in (TOOL, AGENT), around)),
        is_counted=raw is not None,
        edits=ServerEdits(error=error_of(run.error)),
    )
