"""Agent Zero chats: ``chat.json``, with the history of each agent as JSON in a string (formats 89).

A history is bulks, topics and the current topic, each what is sent of it: its summary, or its messages.  What a summary
stands for is not sent any more; when it was made is not recorded.  The log beside it has errors and warnings, which
are placed at the end of the turn in which they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of
from sessions.engine.reading.formats._chat_blocks import parts_of
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._records import inside, object_of, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, parsed, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.recorded_events import BESIDE, OWN_ESTIMATE, ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Origin, Parsed, Role

USER, RESULT, SUMMARY = "user_message", "tool_result", "messages_summary"
"""What a message that is not the model's holds: a prompt, a tool's result, a summary of older ones of its topic."""
_STALLED = re.compile(r"history compression .{0,400}?tokens before: (\d{1,12})", re.IGNORECASE | re.DOTALL)


class Entry(NamedTuple):
    """What is sent of a part of a history: a message, which somebody may have typed, or a summary; with its place."""

    value: Any
    origin: Origin
    is_summary: bool
    is_prompt: bool = False


class _Format(Format):
    label = "Agent Zero"
    source = "Agent Zero chat.json, and its exported chats"
    coverage = Coverage(
        compactions=PARTLY, refusals=PARTLY, subagents=YES,
        error="log, type error", compaction="summary of a bulk or a topic",
        failed="log: History compression stalled", end="log: the last warning",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = as_dict(head.document)
        found = [one for one in map(as_dict, as_list(document.get("agents"))) if isinstance(one.get("history"), str)]
        if found and isinstance(document.get("log"), dict):
            return Sniff(90, f"{len(found)} agents with a history in a string, and a log")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """A session for each agent; those under the first are its subordinates."""
        document = object_of(source, "a chat")
        log: dict[int, list[Record]] = {}
        for item in map(as_dict, as_list(as_dict(document.get("log")).get("logs"))):
            log.setdefault(count_of(item.get("agent_number", item.get("agentno"))), []).append(item)
        name = text_of(document.get("id")) or stem_of(source.name)
        made = []
        for position, agent in enumerate(map(as_dict, as_list(document.get("agents")))):
            origin = Origin(1, 0, source.size, ("agents", position, "history"))
            history = Assembly(measure)
            entries = list(_entries(as_dict(parsed(text_of(agent.get("history")))), origin))
            _add(history, entries, log.get(position, []))
            tokens = count_of(as_dict(as_dict(agent.get("data")).get("ctx_window")).get("tokens"))
            history.note(tokens, f"Agent Zero's {OWN_ESTIMATE} of its last prompt: {tokens:,} tokens")
            facts = {"parent_id": name} if position else {"title": text_of(document.get("name"))}
            made.append(history.transcript(f"{name}/{position}" if position else name, **facts))
        return read_as(made, "no agent with a history")

    contents = all_values(lambda values, message: _summaries(values) if message.summary else _contents(values[0]))


def _entries(part: Record, origin: Origin) -> Iterator[Entry]:
    """What is sent of a history, a bulk or a topic."""
    if text_of(part.get("summary")):
        yield Entry(part["summary"], inside(origin, "summary"), is_summary=True)
        return
    for key in ("bulks", "topics", "records"):
        for n, inner in enumerate(map(as_dict, as_list(part.get(key)))):
            yield from _entries(inner, inside(origin, key, n))
    if "current" in part:
        yield from _entries(as_dict(part["current"]), inside(origin, "current"))
    for n, message in enumerate(as_list(part.get("messages"))):
        place, said = inside(origin, "messages", n), as_dict(as_dict(message).get("content"))
        if text_of(said.get(SUMMARY)):
            yield Entry(said[SUMMARY], inside(place, "content", SUMMARY), is_summary=True)
        elif isinstance(message, dict):
            yield Entry(message, place, is_summary=False, is_prompt=USER in said)


def _add(history: Assembly, entries: Sequence[Entry], log: Sequence[Record]) -> None:
    """The messages, with what the log tells of each turn behind it; turns are matched from the end."""
    turns: list[list[Record]] = [[]]
    for item in log:
        if item.get("type") == "user":
            turns.append([])
        turns[-1].append(item)
    n_prompts = sum(entry.is_prompt for entry in entries)
    open_turn = len(turns) - 1 - n_prompts
    for turn in turns[: max(0, open_turn)]:
        _tell(history, turn)
    held: list[Entry] = []
    for entry in entries:
        if entry.is_summary:
            held.append(entry)
            continue
        _stand_for(history, held)
        if entry.is_prompt:
            _tell(history, turns[open_turn] if open_turn >= 0 else [])
            open_turn += 1
        contents = _contents(entry.value)
        if entry.value.get("ai"):
            history.answer(contents, [entry.origin])
        else:
            history.add(Role.USER, contents, [entry.origin], typed=entry.is_prompt)
    _stand_for(history, held)
    _tell(history, turns[-1])


def _stand_for(history: Assembly, held: list[Entry]) -> None:
    """Summaries in a row are one message: what they stand for has left already."""
    if held:
        values = [entry.value for entry in held]
        history.summary(_summaries(values), [entry.origin for entry in held], history.forget(()))
        held.clear()


_EXTENSION = re.compile(r"\bextension error$", re.IGNORECASE)
"""How the heading of an error ends that is of a call beside the conversation's, to another model."""


def _tell(history: Assembly, items: Sequence[Record]) -> None:
    """Errors and warnings of a turn; an error right before a compression that stalled is told with it."""
    before = ""
    for n, item in enumerate(items):
        heading = text_of(item.get("heading"))
        words = text_of(item.get("content")) or heading
        if item.get("type") == "error" and _EXTENSION.search(heading):
            refused = error_of(words)
            said = f"{heading}: {refused.sizes or refused.words if refused else words}"[:MAX_WORDS]
            is_refusal = refused is not None and refused.of_size
            history.refuse(Refusal(EventKind.SUBAGENT if is_refusal else EventKind.ERROR, words=said, code=BESIDE))
            continue
        stalled = _STALLED.search(words) if item.get("type") == "warning" else None
        if stalled:
            error = error_of(before) if before else None
            said = f"{error.words}; {words}" if error else words
            tried = Refusal(ErrorKind.COMPACTION, tokens=int(stalled[1]), words=said)
            history.refuse(failed_compaction(error=tried))
        elif before:
            history.fail(before)
        before = words if item.get("type") == "error" else ""
        if item.get("type") == "warning" and not stalled:
            history.event(EventKind.SESSION_END if n == len(items) - 1 else EventKind.ERROR, words)
    if before:
        history.fail(before)


def _contents(message: Record) -> tuple[Content, ...]:
    """What is sent of a message: its summary, else its content, as JSON where it is no text."""
    content = message.get("summary") or message.get("content")
    if isinstance(content, dict) and RESULT in content:
        said = content[RESULT] if isinstance(content[RESULT], str) else dumps(content[RESULT])
        return (result_of(parts_of(said), "", name=text_of(content.get("tool_name"))),)
    if isinstance(content, dict):
        content = text_of(content.get(USER)) or content.get("raw_content") or dumps(content)
    return parts_of(content or "")


def _summaries(values: Sequence[Any]) -> tuple[Content, ...]:
    return tuple(content for value in values for content in parts_of(value))
