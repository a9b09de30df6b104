"""Letta's agent files: an agent with its messages and which of them are in its context (formats 62)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import definitions, is_prompt
from sessions.engine.reading.formats._chat_blocks import chat_contents, parts_of, role_of
from sessions.engine.reading.formats._records import inside, objects_in
from sessions.engine.reading.formats._values import (
    Measured,
    Path,
    Record,
    as_dict,
    as_list,
    count_of,
    parsed,
    seconds,
    text_of,
)
from sessions.engine.transcript.types import Content, Origin, Role, Skipped, Transcript

CONTEXT_KEYS = ("in_context_message_indices", "in_context_message_ids")
HIDDEN = "hidden from view due to"
"""What a summary says of the messages before it, in a message of the client's own."""


def agents_in(record: Record) -> Iterator[tuple[Record, Path]]:
    """The agents of a file, which is one itself in older versions, with the paths to them."""
    held = [(as_dict(agent), ("agents", n)) for n, agent in enumerate(as_list(record.get("agents")))]
    for agent, path in [(record, ()), *held]:
        if isinstance(agent.get("messages"), list) and any(isinstance(agent.get(key), list) for key in CONTEXT_KEYS):
            yield agent, path


def agent_contents(message: Record) -> tuple[Content, ...]:
    """The blocks of a message; a tool's answer may stand beside its content."""
    returns = [as_dict(one) for one in as_list(message.get("tool_returns"))]
    if message.get("role") == "tool" and not message.get("content") and returns:
        told = {"tool_call_id": returns[0].get("tool_call_id"), "status": returns[0].get("status")}
        message = {**message, **told, "content": returns[0].get("func_response")}
    return chat_contents(message)


def session_of(agent: Record, origin: Origin, file: Record, measure: Measured, skipped: list[Skipped]) -> Transcript:
    """The agent's session: what is in its context no more left at the newest summary, else right before what is."""
    history = Assembly(measure)
    placed = list(objects_in(agent["messages"], inside(origin, "messages"), skipped, "message"))
    known = {one for key in CONTEXT_KEYS for one in as_list(agent.get(key)) if isinstance(one, (int, str))}
    kept = [at.path[-1] in known or text_of(message.get("id")) in known for message, at in placed]
    left = [n for n, (message, _) in enumerate(placed) if role_of(message) is not Role.SYSTEM and not kept[n]]
    told = left if any(kept) and not agent.get("message_buffer_autoclear") else []
    summaries = [n for n, (message, _) in enumerate(placed) if _is_summary(message)]
    newest = max((n for n in summaries if kept[n]), default=None)
    for n, (message, at) in enumerate(placed):
        contents, native = agent_contents(message), text_of(message.get("id"))
        facts: dict[str, Any] = {"id": native, "timestamp": seconds(message.get("created_at"))}
        if n in summaries:
            gone = [one for one in told if one < n] if n == newest else range(n)
            gone = [one for one in gone if history.messages[one].role is not Role.SYSTEM]
            history.summary(contents, [at], history.forget(gone, outside=not gone), **facts)
        elif role_of(message) is Role.ASSISTANT or message.get("role") == "approval":
            history.answer(contents, [at], model=text_of(message.get("model")), **facts)
        else:
            history.add(role_of(message), contents, [at], typed=_is_typed(message, contents), **facts)
        if newest is None and told and n == told[-1]:
            history.forget(told)
    return _finished(history, agent, file)


def _finished(history: Assembly, agent: Record, file: Record) -> Transcript:
    config, named = as_dict(agent.get("llm_config")), as_list(agent.get("tool_ids"))
    tools = as_list(agent.get("tools")) or [t for t in as_list(file.get("tools")) if as_dict(t).get("id") in named]
    has_system = any(message.role is Role.SYSTEM for message in history.messages)
    system = () if has_system else parts_of(text_of(agent.get("system")))
    schemas = [schema for tool in tools if (schema := as_dict(tool).get("json_schema"))]
    return history.transcript(
        text_of(agent.get("name")) or text_of(agent.get("id")) or "agent",
        title=text_of(agent.get("name")),
        window=count_of(config.get("context_window")) or None,
        otherwise=text_of(config.get("model")),
        system=history.measure((*system, *definitions(schemas))),
    )


def _packed(message: Record) -> Record:
    """What the client wrapped a message in: a type beside the words."""
    first = next((as_dict(part).get("text") for part in as_list(message.get("content"))), message.get("content"))
    return as_dict(parsed(text_of(first)))


def _is_summary(message: Record) -> bool:
    if message.get("role") == "summary":
        return True
    packed = _packed(message)
    return packed.get("type") == "system_alert" and HIDDEN in text_of(packed.get("message"))


def _is_typed(message: Record, contents: tuple[Content, ...]) -> bool:
    """A prompt that somebody wrote: not the client's own, as heartbeats and alerts."""
    is_user = message.get("role") == "user" and is_prompt(contents)
    return is_user and _packed(message).get("type", "user_message") == "user_message"
