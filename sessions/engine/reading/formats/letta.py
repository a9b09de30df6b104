"""Letta's messages as its API lists them: typed messages of one agent, in order of time; its agent files (formats 62).

What the agent thought, said and called in one step is one reply; a step's usage is not listed.  A summary message is a
compaction, with the counts of the server beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions.engine.base.words import counted, words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import definitions, is_prompt, result_of
from sessions.engine.reading.formats._chat_blocks import call_of, chat_contents, parts_of, role_of
from sessions.engine.reading.formats._counts import exclusive_usage
from sessions.engine.reading.formats._provider_errors import Refusal
from sessions.engine.reading.formats._records import first_records, inside, objects_in, records, stem_of
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, parsed, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, ErrorKind, EventKind, own_reason
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

REPLIES = frozenset(
    words("assistant_message reasoning_message hidden_reasoning_message tool_call_message approval_request_message")
)
TYPES = REPLIES | {"user_message", "system_message", "tool_return_message", "summary_message"}
CUT_SHORT = {
    "max_tokens_exceeded": f"{CUT_OFF}: ", "max_steps": "stop reason: ", "invalid_llm_response": "stop reason: ",
    "context_window_overflow_in_system_prompt": "stop reason: ", "insufficient_credits": "stop reason: ",
}  # fmt: skip
"""Reasons to stop that are no end of the work, and what stands before them here; errors have entries of their own."""
NOT_CONTEXT = frozenset({"event_message", "usage_statistics", "stop_reason", "error_message", "ping"})

CONTEXT_KEYS = ("in_context_message_indices", "in_context_message_ids")
HIDDEN = "hidden from view due to"
"""What a summary says of the messages before it, in a message of the client's own."""
_HIDDEN, _SUMMARY_OF = re.compile(r"\((\d+) of (\d+) total messages\)"), re.compile(r"summary of the previous (\d+) ")
_SHARE = "sliding_window_percentage"


class _Format(Format):
    label = "Letta"
    source = "Messages of a Letta agent, GET /v1/agents/{id}/messages, and agent files, .af (JSON or JSONL)"
    coverage = Coverage(
        images=PARTLY, compactions=YES, refusals=YES,
        error="error_message; trigger context_window_exceeded",
        compaction="summary_message, in_context_message_indices, in_context_message_ids",
        who="compaction_stats.trigger: auto", window="compaction_stats.context_window, llm_config.context_window",
        model="llm_config.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if n_agents := sum(1 for record in first_records(head) for _ in _agents_in(record)):
            return Sniff(95, f"{counted(n_agents, 'agent')} with messages and the numbers or ids of those in context")
        held = ((record, record.get("messages")) for record in first_records(head))
        found = [entry for record, listed in held for entry in (listed if isinstance(listed, list) else [record])]
        own = [kind for entry in found if (kind := text_of(as_dict(entry).get("message_type"))) in TYPES]
        said = f"{len(own)} of the first {len(found)} messages have a message_type, such as {''.join(own[:1])}"
        return Sniff(92, said) if own else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        agents = [
            _agent_session(agent, inside(at, *path), record, measure, source)
            for record, at in records(source)
            for agent, path in _agents_in(record)
        ]
        if agents:
            return read_as(agents, "no messages of Letta's")
        source.skipped.clear()
        reading = _Reading(Assembly(measure))
        entries: list[tuple[Record, Origin]] = []
        for record, at in records(source):
            listed, place = record.get("messages"), inside(at, "messages")
            entries += objects_in(listed, place, source, "message") if isinstance(listed, list) else [(record, at)]
        times = [time for entry, _ in entries if (time := seconds(entry.get("date"))) is not None]
        for entry, origin in reversed(entries) if times != sorted(times) else entries:
            reading.take(entry, origin, source)
        reading.end()
        transcript = reading.history.transcript(stem_of(source.name), window=reading.window)
        return read_as([transcript], "no messages of Letta's")

    contents = each_value(lambda value: _contents(as_dict(value)))


class _Reading:
    """The session in the making: entries of one step wait until it is complete."""

    def __init__(self, history: Assembly) -> None:
        self.history = history
        self.window: int | None = None
        self.step = ""
        self.said: list[tuple[Record, Origin]] = []

    def take(self, entry: Record, origin: Origin, source: Source) -> None:
        kind, step = text_of(entry.get("message_type")), text_of(entry.get("step_id"))
        if kind in REPLIES:
            if self.said and step != self.step:
                self.end()
            self.step = step
            self.said.append((entry, origin))
            return
        if kind == "error_message":
            self.history.fail({key: entry.get(key) for key in ("error_type", "message", "detail")})
        if kind == "stop_reason" and (reason := text_of(entry.get("stop_reason"))) in CUT_SHORT:
            self.end()
            self.history.event(EventKind.SESSION_END, f"{CUT_SHORT[reason]}{reason}")
        if kind == "usage_statistics" and count_of(entry.get("step_count")) == 1:
            # The usage of a run that had one step is that of its call.
            self.end()
            sent, made = (count_of(entry.get(key)) for key in ("prompt_tokens", "completion_tokens"))
            requests = self.history.requests
            if requests and requests[-1].usage is None:
                requests[-1] = replace(requests[-1], usage=exclusive_usage(sent, made) if sent else None)
        if kind not in TYPES:
            if kind not in NOT_CONTEXT:
                source.skip(f"a message of unknown type {kind[:40]!r}", origin)
            return
        self.end()
        if kind == "summary_message":
            self._compaction(entry, origin)
            return
        role = Role.SYSTEM if kind == "system_message" else Role.USER
        self.history.add(role, _contents(entry), [origin], **_facts(entry))

    def end(self) -> None:
        """The step is complete: its entries are one reply."""
        said, self.said = self.said, []
        contents = [content for entry, _ in said for content in _contents(entry)]
        if contents:
            self.history.answer(contents, [origin for _, origin in said], **_facts(said[0][0]))

    def _compaction(self, entry: Record, origin: Origin) -> None:
        """A summary; the count after it leaves the tools out, so it is told and not compared."""
        stats = as_dict(entry.get("compaction_stats"))
        self.window = count_of(stats.get("context_window")) or self.window
        if stats.get("trigger") == "context_window_exceeded":
            self.history.refuse_once(Refusal(ErrorKind.CONTEXT, None, self.window))
        after = count_of(stats.get("context_tokens_after"))
        self.history.note(after, f"After a compaction Letta counted {after:,} tokens, without tools")
        _tell_left(self.history, stats)
        number = self.history.compaction(outside=True, **_counted(stats))
        self.history.summary(_contents(entry), [origin], number, **_facts(entry))


def _counted(stats: Record) -> dict[str, Any]:
    """What the server says of a compaction: who started it, why, and at what size."""
    trigger, before = text_of(stats.get("trigger")), count_of(stats.get("context_tokens_before"))
    return {"trigger": "auto" if trigger else None, "reason": own_reason(trigger), "tokens_before": before or None}


def _facts(entry: Record) -> dict[str, Any]:
    return {"id": text_of(entry.get("id")), "timestamp": seconds(entry.get("date"))}


def _contents(entry: Record) -> tuple[Content, ...]:
    kind = entry.get("message_type")
    if kind == "reasoning_message":
        return (Content(Kind.THINKING, text=text_of(entry.get("reasoning")), payload=text_of(entry.get("signature"))),)
    if kind == "hidden_reasoning_message":
        return (Content(Kind.THINKING, payload=text_of(entry.get("hidden_reasoning"))),)
    if kind in ("tool_call_message", "approval_request_message"):
        call = as_dict(entry.get("tool_call"))
        return (call_of({**call, "id": call.get("tool_call_id")}),)
    if kind == "tool_return_message":
        failed = entry.get("status") == "error"
        return (result_of(parts_of(entry.get("tool_return")), entry.get("tool_call_id"), is_error=failed),)
    if kind == "summary_message":
        return parts_of(entry.get("summary"))
    return _agent_contents(entry) if kind is None else parts_of(entry.get("content"))


def _agents_in(record: Record) -> Iterator[tuple[Record, Path]]:
    """The agents of a file, which is one itself in older versions, with the paths to them."""
    held = [(as_dict(agent), ("agents", n)) for n, agent in enumerate(as_list(record.get("agents")))]
    for agent, path in [(record, ()), *held]:
        if isinstance(agent.get("messages"), list) and any(isinstance(agent.get(key), list) for key in CONTEXT_KEYS):
            yield agent, path


def _agent_contents(message: Record) -> tuple[Content, ...]:
    """The blocks of a message; a tool's answer may stand beside its content."""
    returns = [as_dict(one) for one in as_list(message.get("tool_returns"))]
    if message.get("role") == "tool" and not message.get("content") and returns:
        told = {"tool_call_id": returns[0].get("tool_call_id"), "status": returns[0].get("status")}
        message = {**message, **told, "content": returns[0].get("func_response")}
    return chat_contents(message)


def _agent_session(agent: Record, at: Origin, file: Record, measure: Measured, source: Source) -> Transcript:
    """The agent's session: what is in its context no more left at the newest summary, else right before what is."""
    history = Assembly(measure)
    placed = list(objects_in(agent["messages"], inside(at, "messages"), source, "message"))
    known = {one for key in CONTEXT_KEYS for one in as_list(agent.get(key)) if isinstance(one, (int, str))}
    kept = [place.path[-1] in known or text_of(message.get("id")) in known for message, place in placed]
    left = [n for n, (message, _) in enumerate(placed) if role_of(message) is not Role.SYSTEM and not kept[n]]
    told = left if any(kept) and not agent.get("message_buffer_autoclear") else []
    summaries = [n for n, (message, _) in enumerate(placed) if _is_summary(message)]
    newest = max((n for n in summaries if kept[n]), default=None)
    for n, (message, place) in enumerate(placed):
        contents, native = _agent_contents(message), text_of(message.get("id"))
        facts: dict[str, Any] = {"id": native, "timestamp": seconds(message.get("created_at"))}
        if n in summaries:
            gone = [one for one in told if one < n] if n == newest else range(n)
            gone = [one for one in gone if history.messages[one].role is not Role.SYSTEM]
            packed = _packed(message)
            stats = as_dict(packed.get("compaction_stats"))
            _tell_left(history, stats, as_dict(agent.get("compaction_settings")), text_of(packed.get("message")))
            history.summary(contents, [place], history.forget(gone, outside=not gone, **_counted(stats)), **facts)
        elif role_of(message) is Role.ASSISTANT or message.get("role") == "approval":
            history.answer(contents, [place], model=text_of(message.get("model")), **facts)
        else:
            history.add(role_of(message), contents, [place], typed=_is_typed(message, contents), **facts)
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


def _tell_left(history: Assembly, stats: Record, settings: Record | None = None, said: str = "") -> None:
    """What the server counted that a compaction left, or else ``said`` in its words, beside what it was set to."""
    parts = []
    for unit, name in (("tokens", "context_tokens"), ("messages", "messages_count")):
        before, after = (count_of(stats.get(f"{name}_{when}")) for when in ("before", "after"))
        parts += [f"{after:,} of {before:,} {unit}"] if before and after else []
    hidden, of = _HIDDEN.search(said), _SUMMARY_OF.search(said)
    if parts:
        told = f"it left {', '.join(parts)}"
    elif hidden:
        told = f"{hidden[1]} of {hidden[2]} messages left the context"
        told += f", and its summary is of {of[1]} of them" if of and of[1] != hidden[1] else ""
    else:
        return
    setting = as_dict(settings)
    share = f", sliding_window_percentage {setting[_SHARE]}" if _SHARE in setting else ""
    mode = text_of(setting.get("mode"))
    history.event(EventKind.COMPACTION_LEFT, f"{told}{f' (set to {mode}{share})' if mode else ''}")


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
