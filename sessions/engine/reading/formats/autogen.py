"""AutoGen 0.4 to 0.7: what ``save_state`` of an agent or a team writes, and the messages of runs (formats 68, 68.1).

Every agent with a model's context is a session.  The context is the list as the agent would send it: what a buffered
context left out is not in the file.  What its calls cost stands in the manager's thread of the team's messages, beside
the same words.  A run's messages are one session, whoever of a team spoke.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats import _records as files
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import opaque, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

ROLES = {
    "SystemMessage": Role.SYSTEM, "UserMessage": Role.USER, "AssistantMessage": Role.ASSISTANT,
    "FunctionExecutionResultMessage": Role.USER,
}  # fmt: skip
SAID = words("TextMessage MultiModalMessage StopMessage HandoffMessage ToolCallRequestEvent")
RESULTS, THOUGHT = "ToolCallExecutionEvent", "ThoughtEvent"
SHOWN = words("ToolCallSummaryMessage ModelClientStreamingChunkEvent UserInputRequestedEvent SelectSpeakerEvent")
"""Messages of a run: what somebody said, results, what repeats others for a screen."""
STATES = ("TeamState", "AssistantAgentState", "ChatAgentContainerState", "SocietyOfMindAgentState")
MAX_DEPTH = 10


def _contents(value: Any) -> tuple[Content, ...]:
    """Thought, text and calls of a message, or the results that it holds."""
    message = as_dict(decoded(value))
    content, thought = message.get("content"), text_of(message.get("thought"))
    if message.get("type") == THOUGHT:
        content, thought = None, text_of(content)
    thoughts = text_blocks(thought, Kind.THINKING)
    return (*thoughts, *(_part(part) for part in (content if isinstance(content, list) else [content]) if part))


def _part(part: Any) -> Content:
    held = as_dict(part)
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    if "arguments" in held:
        return tool_use(held["arguments"], held.get("name"), held.get("id"))
    if "call_id" in held:
        said = (Content(Kind.TEXT, text=text_of(held.get("content"))),)
        return result_of(said, held["call_id"], is_error=held.get("is_error") is True)
    if set(held) == {"data"} and text_of(held["data"]):
        return Content(Kind.IMAGE, media_type="image/png", data=held["data"])
    return opaque(held or {"value": part})


class _Format(Format):
    label = "AutoGen"
    source = "AutoGen: states of agents and teams (save_state), runs (JSON, JSONL), AutoGen Studio's database"
    coverage = Coverage(images=YES, usage=YES, refusals=PARTLY, error="run.error_message of Studio's database")

    def sniff(self, head: Head) -> Sniff | None:
        has_runs = files.has_columns(head, "run", "error_message", "task")
        if has_runs and files.has_columns(head, "message", "config", "session_id"):
            return Sniff(94, "a database with messages that have a config, and runs with an error_message")
        document = as_dict(head.document)
        found = [as_dict(one) for one in as_list(document.get("messages")) or files.first_records(head)]
        known = [
            one["type"]
            for one in found
            if "models_usage" in one and text_of(one.get("type")) in (*SAID, RESULTS, THOUGHT)
        ]
        if known and 2 * len(known) > len(found):
            return Sniff(94, f"{len(known)} messages of a run with a source and models_usage, as {known[0]}")
        if text_of(document.get("type")) not in STATES:
            return None
        if contexts := list(_contexts(document)):
            return Sniff(94, f"a {document['type']} with the contexts of {len(contexts)} agents")
        return Sniff(0, f"a {document['type']} of AutoGen, but no agent's context of messages")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found = []
        if "run" in source.head().tables:
            return _studio(source, measure)
        if text_of(as_dict(source.head().document).get("type")) not in STATES:
            return _run(source, measure)
        state = as_dict(source.head().document)
        thread = list(_thread(state))
        for name, messages, path in _contexts(state):
            history = Assembly(measure)
            for position, (message, usage) in enumerate(zip(messages, _usages(messages, thread), strict=True)):
                role = ROLES.get(text_of(as_dict(message).get("type")))
                origin = Origin(1, 0, source.size, (*path, position))
                if role is None:
                    source.skip(f"message {position} of {name} has no type of AutoGen's")
                else:
                    history.say(role, _contents(message), [origin], {"usage": usage})
            found.append(history.transcript(name))
        return read_as(found, "no agent's context of messages")

    contents = each_value(_contents)


class _Run:
    """The messages of runs in the making: usage stands on the message that a call made."""

    def __init__(self, measure: Measured) -> None:
        self.history, self.unknown = Assembly(measure), Counter[str]()
        self.thought: list[tuple[Record, Origin]] = []

    def take(self, message: Record, place: Origin) -> None:
        """One message more."""
        kind, by_user = text_of(message.get("type")), message.get("source") == "user"
        if kind == RESULTS:
            self.history.say(Role.USER, _contents(message), [place])
        elif kind == THOUGHT:
            self.thought.append((message, place))
        elif kind in SAID:
            own, self.thought = [*self.thought, (message, place)], []
            said, places = [content for one, _ in own for content in _contents(one)], [at for _, at in own]
            call = {"usage": openai_usage(message.get("models_usage"))}
            if call["usage"]:
                self.history.end_run()  # each agent of a team makes calls of its own
            self.history.say(Role.USER if by_user else Role.ASSISTANT, said, places, call)
        elif kind not in SHOWN:
            self.unknown[kind] += 1


def _run(source: Source, measure: Measured) -> Parsed:
    """The messages of one run."""
    run = _Run(measure)
    for record, origin in files.records(source):
        listed, at = as_list(record.get("messages")), files.inside(origin, "messages")
        several = files.objects_in(listed, at, source, "message") if listed else [(record, origin)]
        for message, place in several:
            run.take(message, place)
    transcript = run.history.transcript(files.stem_of(source.name))
    return read_as([transcript], "no message of a run", warnings=files.unread_notes(run.unknown))


def _studio(source: Source, measure: Measured) -> Parsed:
    """The sessions of AutoGen Studio's database, each with its runs one after another, and how they failed."""
    failed = {row.get("id"): text_of(row.get("error_message")) for row, _ in files.rows_of(source, "run")}
    models = {row.get("id"): _model(decoded(row.get("component"))) for row, _ in files.rows_of(source, "team")}
    found, unknown = [], Counter[str]()
    for session, _ in files.rows_of(source, "session", "ORDER BY id"):
        run, last = _Run(measure), None
        for row, at in files.rows_of(source, "message", "WHERE session_id = ? ORDER BY id", (session.get("id"),)):
            if row.get("run_id") != last:
                run.history.fail(failed.get(last) or None)
            last = row.get("run_id")
            run.take(as_dict(decoded(row.get("config"))), files.inside(at, "config"))
        run.history.fail(failed.get(last) or None)
        unknown += run.unknown
        named = {"title": text_of(session.get("name")), "otherwise": models.get(session.get("team_id"), "")}
        found.append(run.history.transcript(f"session {session.get('id')}", **named))
    return read_as(found, "no message of a run", warnings=files.unread_notes(unknown))


def _model(component: Any) -> str:
    """The model of a team's first agent that has one."""
    for agent in as_list(as_dict(as_dict(component).get("config")).get("participants")):
        client = as_dict(as_dict(as_dict(agent).get("config")).get("model_client"))
        if model := text_of(as_dict(client.get("config")).get("model")):
            return model
    return ""


def _thread(state: Record, depth: int = 0) -> Iterator[Record]:
    """The messages of a team as its manager keeps them, and those of the teams in it."""
    for inner in map(as_dict, as_dict(state.get("agent_states")).values()):
        yield from map(as_dict, as_list(inner.get("message_thread")))
        if depth < MAX_DEPTH:
            yield from _thread(as_dict(inner.get("agent_state")) or inner, depth + 1)


def _usages(messages: list[Any], thread: list[Record]) -> list[Usage | None]:
    """The usage of the call behind each message of a context: the thread's for the same words, the newest last."""
    told: dict[tuple[str, str], list[Usage]] = {}
    for message in thread:
        if (usage := openai_usage(message.get("models_usage"))) is not None:
            told.setdefault(_words(message), []).append(usage)
    found: list[Usage | None] = []
    for message in map(as_dict, reversed(messages)):
        counts = told.get(_words(message)) if message.get("type") == "AssistantMessage" else None
        found.append(counts.pop() if counts else None)
    return found[::-1]


def _words(message: Record) -> tuple[str, str]:
    return text_of(message.get("source")), dumps(message.get("content"))


def _contexts(
    state: Record, name: str = "agent", path: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[Any], tuple[str, ...]]]:
    """The messages of every agent's context, with its name and the path to them: teams hold teams."""
    context = as_dict(state.get("llm_context")).get("messages")
    if as_list(context):
        yield name, as_list(context), (*path, "llm_context", "messages")
    elif as_list(state.get("llm_messages")):
        yield name, state["llm_messages"], (*path, "llm_messages")
    if len(path) > MAX_DEPTH:
        return
    if isinstance(state.get("agent_state"), dict):
        yield from _contexts(state["agent_state"], name, (*path, "agent_state"))
    for key, inner in as_dict(state.get("agent_states")).items():
        yield from _contexts(as_dict(inner), key, (*path, "agent_states", key))
