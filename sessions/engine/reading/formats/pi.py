"""pi sessions: one entry a line, linear (version 1) or a tree (version 2 and 3) (formats 11).

The context after a compaction is its summary, the entries kept before its line, and what follows.  Usage is input,
cacheRead and cacheWrite apart; replies that were aborted or failed without usage are not requests.

Version 1 has no ids and is one line of entries.  Later versions are a tree: the branch is the way from the last entry
up to the root.  A parent that is not in the file, or that leads in a circle, is replaced by the entry before.  Tools
that use pi's library keep its messages alone, one a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import read_as
from sessions.engine.reading.formats._blocks import blocks_of, is_prompt, title_of, tool_use, whole_result
from sessions.engine.reading.formats._branch import branch
from sessions.engine.reading.formats._chat_blocks import part_of
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._records import first_objects, noted, objects, stem_of, unread_notes
from sessions.engine.reading.formats._thread import Call, Mark, Thread, entry_of, session_of
from sessions.engine.reading.formats._values import Record, as_dict, count_of, dollars_of, seconds, text_of
from sessions.engine.reading.formats.dsh import is_dsh_event, is_dsh_header
from sessions.engine.reading.formats.factory_droid import is_droid_line
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

_FROM_THE_USER = ("user", "toolResult", "bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary")
ROLES = {"assistant": Role.ASSISTANT, "system": Role.SYSTEM, **dict.fromkeys(_FROM_THE_USER, Role.USER)}
PLACEHOLDER_CHARS_PER_TOKEN = 8
"""An aborted reply whose output is smaller than this was counted before it was complete."""
NOT_CONTEXT = frozenset({"session", "model_change", "thinking_level_change", "custom", "label", "session_info"})
INTO_CONTEXT = {"branch_summary": "summary", "custom_message": "content"}
NOWHERE = "\0"
"""A parent that no entry is: the entry before stands in its place."""
FOREIGN_KEYS = ("sessionId", "uuid", "parentUuid", "payload")


def pi_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of a message, or of the text or blocks that another entry puts into the context."""
    if not isinstance(value, dict) or "role" not in value:
        return blocks_of(value, _block)
    role = text_of(value.get("role"))
    if role == "toolResult":
        failed = value.get("isError") is True
        return (whole_result(value.get("content"), value.get("toolCallId"), _block, is_error=failed),)
    if role == "bashExecution":
        return (Content(Kind.TEXT, text=_shell_text(value), target=text_of(value.get("command"))[:200]),)
    content = value.get("content")
    return blocks_of(content if content is not None else value.get("summary"), _block)


def pi_usage(message: Record) -> Usage | None:
    """Usage of a reply; None where all zero, which is how aborted and failed calls are written."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    sent, read, written, output = (count_of(usage.get(key)) for key in ("input", "cacheRead", "cacheWrite", "output"))
    if not (sent or read or written or output):
        return None
    n_chars = sum(len(content.text) for content in pi_contents(message))
    unfinished = message.get("stopReason") == "aborted" and n_chars >= max(1, PLACEHOLDER_CHARS_PER_TOKEN * output)
    reasoning = min(count_of(usage.get("reasoning")), output)
    return Usage(sent, read, written, output, placeholder=unfinished, reasoning=reasoning)


def _block(block: Any) -> Content:
    kind = text_of(as_dict(block).get("type"))
    if kind == "text" and isinstance(block.get("text"), str):
        return Content(Kind.TEXT, text=block["text"], payload=text_of(block.get("textSignature")))
    if kind == "thinking":
        payload = text_of(block.get("thinkingSignature"))
        return Content(Kind.THINKING, text=text_of(block.get("thinking")), payload=payload)
    if kind == "toolCall":
        signature = text_of(block.get("thoughtSignature"))
        return tool_use(block.get("arguments"), block.get("name"), block.get("id"), signature)
    return part_of(block)


def _shell_text(message: Record) -> str:
    """A command the user ran, in the words in which pi tells the model."""
    output = text_of(message.get("output"))
    said = f"Ran `{text_of(message.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = message.get("exitCode")
    if message.get("cancelled"):
        said += "\n\n(command cancelled)"
    elif isinstance(code, int) and code:
        said += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and text_of(message.get("fullOutputPath")):
        said += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return said


@dataclass(slots=True)
class Node:
    """One entry of the file; ``place`` is its message in the thread, ``mark`` the compaction it records."""

    ident: str
    parent: str | None
    place: int | None = None
    mark: Mark | None = None
    first_kept: int | str | None = None


@dataclass(slots=True)
class _Reading:
    """What one pass over the file collects."""

    source: Source
    measure: Measured
    thread: Thread = field(default_factory=Thread)
    nodes: list[Node] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    header: Record = field(default_factory=dict)
    name: str = ""
    spent: float = 0.0


def _read_entry(reading: _Reading, line: Line, value: Record) -> None:
    kind, parent = text_of(value.get("type")), value.get("parentId")
    node = Node(text_of(value.get("id")), parent if isinstance(parent, str) else None)
    reading.nodes.append(node)
    message = value.get("message")
    if _is_bare(value):
        node.parent = reading.nodes[-2].ident if len(reading.nodes) > 1 else None
        _add_message(reading, node, value, line.at(), seconds(value.get("timestamp")))
    elif kind == "session":
        reading.header, node.ident = reading.header or value, ""
    elif kind == "session_info":
        reading.name = text_of(value.get("name")) or reading.name
    elif kind == "message" and isinstance(message, dict):
        if message.get("excludeFromContext") is not True:
            _add_message(reading, node, message, line.at("message"), seconds(value.get("timestamp")))
    elif kind == "compaction":
        _add_compaction(reading, node, value, line)
    elif (key := INTO_CONTEXT.get(kind, "")) and key in value:
        notice = error_of(value[key]) if isinstance(value[key], str) else None
        reading.thread.refuse(notice if notice and notice.of_compaction else None)
        facts: dict[str, Any] = {"native_id": node.ident, "timestamp": seconds(value.get("timestamp"))}
        entry = entry_of(pi_contents(value[key]), Role.USER, line.at(key), reading.measure, meta=True, **facts)
        node.place = reading.thread.add(entry)
    elif kind == "message" or kind in INTO_CONTEXT:
        reading.source.skip(f"an entry of type {kind} without its content", line)
    elif kind == "custom":
        # A program around pi notes errors so (OpenClaw): its own, and what pi had written down already.
        error = error_of(as_dict(value.get("data")).get("error"))
        is_told = error and any(error.words.rpartition(": ")[2] in one.words for one, *_ in reading.thread.refused[-1:])
        is_error = text_of(value.get("customType")).endswith("error") and not is_told
        reading.thread.refuse(error if is_error else None)
    elif kind not in NOT_CONTEXT:
        reading.unknown[kind] += 1


def _settle_branch(reading: _Reading) -> None:
    """Drop what is not on the branch of the last entry, and find what each compaction of it kept."""
    branch = _branch(reading.nodes)
    path = sorted(branch)
    for number, node in enumerate(reading.nodes):
        entry = reading.thread.entries[node.place] if node.place is not None else None
        if entry is not None:
            entry.dropped = number not in branch
        if node.mark is not None and number in branch:
            if entry is not None:
                entry.compaction = len(reading.thread.marks)
            node.mark.preserved = _kept(reading.nodes, path, number)
            reading.thread.marks.append(node.mark)


def _add_message(reading: _Reading, node: Node, message: Record, origin: Origin, timestamp: float | None) -> None:
    role_name = text_of(message.get("role"))
    role = ROLES.get(role_name, Role.USER)
    contents = pi_contents(message)
    facts: dict[str, Any] = {"native_id": node.ident, "timestamp": timestamp}
    prompt = role_name == "user" and is_prompt(contents)
    meta = role is Role.USER and role_name not in ("user", "toolResult")
    entry = entry_of(contents, role, origin, reading.measure, prompt=prompt, meta=meta, **facts)
    node.place = place = reading.thread.add(entry)
    if role is Role.ASSISTANT:
        usage = pi_usage(message)
        reading.spent += dollars_of(as_dict(as_dict(message.get("usage")).get("cost")).get("total"))
        # pi leaves replies that were broken off out of what it sends (transform-messages).
        aborted = message.get("stopReason") in ("aborted", "error")
        if message.get("stopReason") == "error":
            reading.thread.fail(message.get("errorMessage"), model=text_of(message.get("model")))
        elif message.get("stopReason") == "aborted":
            reading.thread.event(EventKind.INTERRUPTION, text_of(message.get("errorMessage")))
        model, native, seller = (text_of(message.get(key)) for key in ("model", "responseId", "provider"))
        call = Call(place, place + 1, model, timestamp, usage, aborted and usage is None, native, aborted, seller)
        reading.thread.calls.append(call)


def _add_compaction(reading: _Reading, node: Node, value: Record, line: Line) -> None:
    """The context is then the summary, what was kept before this line, and what follows it."""
    mark = Mark(len(reading.thread.entries), len(reading.thread.calls), outside=False)
    mark.tokens_before = count_of(value.get("tokensBefore")) or None
    kept_id, kept_index = value.get("firstKeptEntryId"), value.get("firstKeptEntryIndex")
    is_index = isinstance(kept_index, int) and not isinstance(kept_index, bool)
    node.mark, node.first_kept = mark, kept_id if isinstance(kept_id, str) else kept_index if is_index else None
    if text_of(value.get("summary")):
        facts: dict[str, Any] = {"native_id": node.ident, "timestamp": seconds(value.get("timestamp")), "summary": True}
        entry = entry_of(pi_contents(value["summary"]), Role.USER, line.at("summary"), reading.measure, **facts)
        node.place = mark.summary = reading.thread.add(entry)


def _branch(nodes: Sequence[Node]) -> set[int]:
    """Entries on the branch of the last one, with those before its root that have no id."""
    links = [(n.ident, "" if n.ident and n.parent is None else n.parent or NOWHERE) for n in nodes]
    found = branch(links, len(nodes) - 1)
    return {*found, *(number for number in range(min(found, default=0)) if not nodes[number].ident)}


def _kept(nodes: Sequence[Node], path: Sequence[int], number: int) -> list[int]:
    """Messages from the first kept entry up to the compaction's own line, earlier summaries left out."""
    start = nodes[number].first_kept
    if not isinstance(start, int):
        start = next((n for n in path if nodes[n].ident and nodes[n].ident == start), number)
    kept = (nodes[n] for n in path if start <= n < number)
    return [node.place for node in kept if node.place is not None and node.mark is None]


class _Format(Format):
    label = "pi"
    source = "Sessions of pi, versions 1 and 3, ~/.pi/agent/sessions (JSONL)"
    coverage = Coverage(
        "1 and 3", usage=YES, images=YES, compactions=YES, refusals=YES, live=YES,
        error="stopReason error, errorMessage", compaction="entry compaction",
        interruption="stopReason aborted", model="message.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        entries = [value for value in lines if _is_message(value)]
        if others := _others(lines):
            return Sniff(0, others)
        opened = bool(lines) and lines[0].get("type") == "session" and isinstance(lines[0].get("id"), str)
        if opened and (entries or "cwd" in lines[0]):
            return Sniff(95, f"line {head.lines[0].number} has `type: session` with an id, and entries follow")
        if entries and ("parentId" in entries[0] or any(_is_pi(value["message"]) for value in entries)):
            return Sniff(80, "lines have `type: message` and a message with pi's roles or blocks")
        bare = [value for value in lines if _is_bare(value)]
        if any(_is_pi(value) for value in bare) and 2 * len(bare) > len(lines):
            return Sniff(82, f"{len(bare)} of the first {len(lines)} lines are messages with pi's roles")
        return Sniff(0, "lines have a message, but nothing of pi's") if entries else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = _Reading(source, measure)
        for line, value in objects(source):
            _read_entry(reading, line, value)
        _settle_branch(reading)
        n_failed = sum(call.failed for call in reading.thread.calls)
        transcript = session_of(
            reading.thread,
            title=title_of(reading.name),
            id=text_of(reading.header.get("id")) or stem_of(source.name),
            otherwise=text_of(reading.header.get("modelId")),
            project=text_of(reading.header.get("cwd")),
            stated_usd=reading.spent or None,
            warnings=noted((n_failed, f"Replies aborted or failed without usage: {n_failed}; not counted as requests")),
        )
        return read_as([transcript], warnings=unread_notes(reading.unknown))

    contents = each_value(pi_contents)


def _others(lines: Sequence[Record]) -> str:
    """What makes lines those of another format that looks like this one, in words; "" where nothing does."""
    if any(is_droid_line(value) for value in lines):
        return "lines have `type: message`, but their session or their blocks are Factory Droid's"
    if any(is_dsh_event(value) or is_dsh_header(value) for value in lines):
        return "a session and its events, but DeepSeek Harness's"
    is_hf = any(value.get("type") == "session" and "harness" in value for value in lines)
    return "lines have `type: message`, but their session names a harness: Hugging Face's" if is_hf else ""


def _is_message(value: Record) -> bool:
    is_said = value.get("type") == "message" and text_of(as_dict(value.get("message")).get("role")) in ROLES
    return is_said and not any(key in value for key in FOREIGN_KEYS)


def _is_bare(value: Record) -> bool:
    """Whether a line is a message without an entry around it (pi's library in Letta Code's local backend)."""
    return "type" not in value and text_of(value.get("role")) in ROLES and not any(key in value for key in FOREIGN_KEYS)


def _is_pi(message: Record) -> bool:
    return message["role"] in ("toolResult", "bashExecution") or "stopReason" in message
