"""Cursor's agent transcripts: {role, message} one a line, without ids, times, model or usage (formats 24).

A call has no id: it is named by its line and place, and results answer the newest calls in order.  Most results are
not recorded.  A reply that follows calls is a request of its own, whether or not their results stand between.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import as_read, is_prompt, title_of, with_id
from sessions.engine.reading.formats._claude_lines import prompt_hash
from sessions.engine.reading.formats._records import first_objects, folders_of, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, parsed, text_of
from sessions.engine.transcript.session_links import SessionLinks, Spawn
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
FOREIGN_KEYS = ("type", "uuid", "id", "sessionId", "parentId", "parentUuid", "content", "raw")
QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


@dataclass(slots=True)
class CursorReading:
    """What one pass over the file collects; ``open`` are the newest calls that no result answers yet."""

    history: Assembly
    open: list[str] = field(default_factory=list)
    spawns: list[Spawn] = field(default_factory=list)
    prompt: str = ""
    n_calls: int = 0
    n_results: int = 0
    n_turns: int = 0


class _Format(Format):
    label = "Cursor"
    source = "Agent transcripts of Cursor, ~/.cursor/projects/…/agent-transcripts (JSONL); not its databases"
    coverage = Coverage(images=YES, refusals=YES, subagents=YES, live=YES, error="turn_ended error")

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        found = [value for value in lines if _is_message(value)]
        if not found:
            return None
        odd = [value for value in lines if not _is_message(value) and not _is_end(value)]
        if len(odd) > 1 or any("role" in value or "message" in value for value in odd):
            return Sniff(0, "lines have a role and a message, but others are neither that nor ends of turns")
        return Sniff(85, f"{len(found)} of the first {len(lines)} lines are a role and a message, and nothing more")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = CursorReading(Assembly(measure))
        for line, value in objects(source):
            if _is_message(value):
                _add(reading, value, line.at())
            elif _is_end(value):
                reading.n_turns += 1
                reading.history.fail(value.get("error"))
            else:
                source.skip("neither a message nor the end of a turn", line)
        history = reading.history
        n_open = reading.n_calls - reading.n_results
        history.note(n_open > 0, f"Tool calls whose result is not recorded: {n_open:,} of {reading.n_calls:,}")
        history.note(reading.n_results, "Calls have no ids: results are taken for those of the newest calls, in order")
        transcript = history.transcript(stem_of(source.name))
        # The session whose folder a sub-agent's file lies in.
        folders = folders_of(source.name)
        home = folders[-3] if len(folders) > 2 and folders[-2] == "subagents" else ""
        kin = SessionLinks(transcript.id, home, reading.prompt, tuple(reading.spawns))
        notes = (f"Ends of turns: {reading.n_turns:,}, not messages",) if reading.n_turns else ()
        found = (transcript,) if history.messages else ()
        return Parsed(found, warnings=notes, kin=(kin,) if found else ())

    contents = all_values(lambda values, message: as_read([c for value in values for c in _contents(value)], message))


def _is_message(value: Record) -> bool:
    content = as_dict(value.get("message")).get("content")
    is_said = text_of(value.get("role")) in ROLES and isinstance(content, (str, list))
    return is_said and not any(key in value for key in FOREIGN_KEYS)


def _is_end(value: Record) -> bool:
    return value.get("type") == "turn_ended" and "role" not in value


def _contents(value: Any) -> tuple[Content, ...]:
    return contents_of(as_dict(as_dict(value).get("message")).get("content"))


def _add(reading: CursorReading, value: Record, origin: Origin) -> None:
    history, role = reading.history, ROLES[value["role"]]
    contents = _contents(value)
    if role is Role.ASSISTANT:
        contents = tuple(with_id(c, c.call_id or f"L{origin.line}.{n}") for n, c in enumerate(contents))
        calls = [content for content in contents if content.kind is Kind.TOOL_USE]
        reading.open = [call.call_id for call in calls] or reading.open
        reading.n_calls += len(calls)
        prompts = [(call.call_id, text_of(as_dict(parsed(call.text)).get("prompt"))) for call in calls]
        reading.spawns += [Spawn(native, prompt=prompt_hash(prompt)) for native, prompt in prompts if prompt]
        history.reply(contents, (origin,))
        if calls:
            history.end_run()
        return
    contents = tuple(_answer(reading, content) for content in contents)
    if typed := is_prompt(contents):
        text = "\n".join(content.text for content in contents if content.kind is Kind.TEXT)
        query = match[1] if (match := QUERY.search(text)) else text
        reading.prompt = reading.prompt or prompt_hash(query)
        history.title = history.title or title_of(query)
    history.add(role, contents, (origin,), typed=typed)


def _answer(reading: CursorReading, content: Content) -> Content:
    """A result with the id of the call it answers: its own where a call has it, else the first open one."""
    if content.kind is not Kind.TOOL_RESULT or not reading.open:
        return content
    reading.n_results += 1
    if content.call_id in reading.open:
        reading.open.remove(content.call_id)
        return content
    return with_id(content, reading.open.pop(0))
