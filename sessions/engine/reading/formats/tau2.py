"""Results of tau2-bench: a session for every simulation, as the agent saw it (formats 64).

The customer is played by a model with tools of its own: its calls and their results are not in the agent's context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._chat_blocks import chat_contents
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, dollars_of, seconds, text_of
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Origin, Parsed, Role, Transcript

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.USER, "system": Role.SYSTEM}
AGENT = "assistant"
"""Who asked for a tool where the agent did; the customer's own are a user's."""


def _contents(turn: Any) -> tuple[Content, ...]:
    held = as_dict(turn)
    is_tools = held.get("role") == "tool"
    own = {"tool_call_id": held.get("id"), "is_error": held.get("error") is True} if is_tools else {}
    return chat_contents({**held, **own} if held else turn)


BY_USER = "user_stop"
DONE = frozenset({BY_USER, "agent_stop"})
"""How a simulation ends that came to its end."""


class _Format(Format):
    label = "tau2-bench"
    source = "Results of tau2-bench, data/simulations (JSON), and single simulations"
    coverage = Coverage(usage=YES, model="raw_data.model", interruption="termination_reason user_stop")

    def sniff(self, head: Head) -> Sniff | None:
        for record in first_records(head):
            found = [simulation for simulation, _ in _simulations(record)]
            held = [turn for simulation in found for turn in map(as_dict, simulation["messages"])]
            if any("turn_idx" in turn and text_of(turn.get("role")) in ROLES for turn in held):
                return Sniff(92, f"{len(found)} simulations of a task with messages that have a turn_idx")
            if found:
                return Sniff(0, "simulations of a task, but no message has a role and a turn_idx")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found: list[Transcript] = []
        for record, origin in records(source):
            simulations = list(_simulations(record))
            if not simulations:
                source.skip("no simulation of a task", origin)
            places = [(simulation, inside(origin, *path)) for simulation, path in simulations]
            found += [_session(record, place, measure, source) for place in places]
        named = (t if t.id else replace(t, id=stem_of(source.name)) for t in found)
        return read_as(named, "no simulations with messages")

    contents = each_value(_contents)


def _simulations(record: Record) -> Iterator[tuple[Record, Path]]:
    """The simulations of a file of results, or the one that a record is, with the path to each."""
    held = record.get("simulations")
    places: list[tuple[Any, Path]] = [(record, ())]
    if isinstance(held, list):
        places = [(value, ("simulations", n)) for n, value in enumerate(held)]
    for value, path in places:
        if isinstance(value, dict) and "task_id" in value and isinstance(value.get("messages"), list):
            yield value, path


def _session(record: Record, place: tuple[Record, Origin], measure: Measured, source: Source) -> Transcript:
    """The session of the simulation at ``place`` with the policy of the file's environment before it."""
    (simulation, at), made, info = place, Assembly(measure), as_dict(record.get("info"))
    policy = as_dict(info.get("environment_info")).get("policy")
    if text_of(policy):
        depth = len(at.path) - (0 if simulation is record else 2)
        whole = Origin(at.line, at.offset, at.length, at.path[:depth])
        made.add(Role.SYSTEM, _contents(policy), [inside(whole, "info", "environment_info", "policy")])
    n_others = 0
    for value, origin in _turns(simulation, at):
        turn = as_dict(value)
        role, contents, time = text_of(turn.get("role")), _contents(value), seconds(turn.get("timestamp"))
        if role not in ROLES:
            source.skip("a message without a role of tau2-bench's", origin)
        elif (role == "tool" and text_of(turn.get("requestor")) not in ("", AGENT)) or (
            role == "user" and as_list(turn.get("tool_calls"))
        ):
            n_others += 1
        elif contents and role == "assistant":
            # The provider's own answer, where it is kept, knows the cache and the model too.
            raw = as_dict(turn.get("raw_data"))
            usage = openai_usage(raw.get("usage")) or openai_usage(turn.get("usage"))
            made.answer(contents, [origin], usage=usage, model=text_of(raw.get("model")), timestamp=time)
            made.spent += dollars_of(turn.get("cost"))
        elif contents:
            made.add(ROLES[role], contents, [origin], timestamp=time)
    made.note(n_others, f"The customer's own calls and their results: {n_others}; the agent does not see them")
    started, ended = (seconds(simulation.get(key)) for key in ("start_time", "end_time"))
    model = text_of(as_dict(info.get("agent_info")).get("llm"))
    native, ended_by = text_of(simulation.get("id")), text_of(simulation.get("termination_reason"))
    if ended_by and ended_by not in DONE:
        made.event(EventKind.SESSION_END, ended_by)
    elif ended_by == BY_USER:
        made.event(EventKind.INTERRUPTION, ended_by)
    return made.transcript(native, model=model, started_at=started, ended_at=ended)


def _turns(simulation: Record, place: Origin) -> Iterator[tuple[Any, Origin]]:
    """The messages of a simulation; the results of several calls may stand together in one entry."""
    for position, turn in enumerate(simulation["messages"]):
        at, together = inside(place, "messages", position), as_dict(turn).get("tool_messages")
        if isinstance(together, list):
            yield from ((value, inside(at, "tool_messages", n)) for n, value in enumerate(together))
        else:
            yield turn, at
