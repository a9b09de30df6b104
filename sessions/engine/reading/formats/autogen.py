"""States of AutoGen 0.4 to 0.7: what ``save_state`` of an agent or a team writes (formats 68).

Every agent with a model's context is a session.  The context is the list as the agent would send it: what a buffered
context left out is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import opaque, result_of, text_blocks, tool_use
from sessions.engine.reading.formats._values import Record, as_dict, as_list, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Skipped

ROLES = {
    "SystemMessage": Role.SYSTEM, "UserMessage": Role.USER, "AssistantMessage": Role.ASSISTANT,
    "FunctionExecutionResultMessage": Role.USER,
}  # fmt: skip
STATES = ("TeamState", "AssistantAgentState", "ChatAgentContainerState", "SocietyOfMindAgentState")
MAX_DEPTH = 10


def _contents(value: Any) -> tuple[Content, ...]:
    """Thought, text and calls of a message, or the results that it holds."""
    message = as_dict(value)
    content, thoughts = message.get("content"), text_blocks(text_of(message.get("thought")), Kind.THINKING)
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
    source = "States of AutoGen's agents and teams, as save_state writes them (JSON)"
    coverage = Coverage(images=YES)

    def sniff(self, head: Head) -> Sniff | None:
        document = as_dict(head.document)
        if text_of(document.get("type")) not in STATES:
            return None
        if found := list(_contexts(document)):
            return Sniff(94, f"a {document['type']} with the contexts of {len(found)} agents")
        return Sniff(0, f"a {document['type']} of AutoGen, but no agent's context of messages")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found, skipped = [], list[Skipped]()
        for name, messages, path in _contexts(as_dict(source.head().document)):
            history = Assembly(measure)
            for position, message in enumerate(messages):
                role = ROLES.get(text_of(as_dict(message).get("type")))
                origin = Origin(1, 0, source.size, (*path, position))
                if role is None:
                    skipped.append(Skipped(1, 0, f"message {position} of {name} has no type of AutoGen's"))
                else:
                    history.say(role, _contents(message), [origin])
            found.append(history.transcript(name))
        return read_as(found, skipped, "no agent's context of messages")

    contents = each_value(_contents)


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
