"""``{role, content}`` objects, one a line or in a list: ``.transcripts/`` of teaching pipelines and their likes.

Formats 15.  Content is a string, Messages API blocks, or their Python reprs.  A request is one run of
assistant messages; gptme records its usage beside the message.
"""

from __future__ import annotations

import re
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import block_of, contents_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._counts import usage_at
from sessions.engine.reading.formats._marks import foreign_turn, message_mark
from sessions.engine.reading.formats._python_repr import block_from_repr
from sessions.engine.reading.formats._records import cleared_before, first_objects, objects, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, seconds, text_of
from sessions.engine.reading.formats.cline import OPENINGS
from sessions.engine.reading.formats.mini_swe_agent import shell_replies
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

ROLES = {
    **dict.fromkeys(("user", "tool"), Role.USER),
    "assistant": Role.ASSISTANT,
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
}
OTHER_FORMATS_KEYS = words("type sessionId uuid parts tool_calls tool_call_id message_count ctxweb raw")
DUMP_KEYS = words("author create_time conversation_id content_type mapping")
"""Keys of messages in dumps of ChatGPT's conversations."""
COMPRESSED = "[Conversation compressed. Transcript: "
CLEARED = re.compile(r"\[Previous: used [^\]]*\]\s*\Z")


def _contents(value: Record) -> tuple[Content, ...]:
    content = value["content"]
    if not isinstance(content, list):
        return contents_of(content)
    return tuple(block_of((block_from_repr(item) or item) if isinstance(item, str) else item) for item in content)


class _Format(Format):
    label = "role/content"
    source = "{role, content} one a line (learn-claude-code .transcripts/, s06 context compaction) or in a list"
    coverage = Coverage(images=YES, compactions=YES, live=YES, compaction="a summary's opening")

    def sniff(self, head: Head) -> Sniff | None:
        if isinstance(head.document, list):
            return _sniff_list(head.document)
        lines = first_objects(head)
        fitting = [value for value in lines if _fits(value)]
        if not fitting:
            named = any("role" in value for value in lines)
            return Sniff(0, "lines have a role, but no content beside it") if named else None
        foreign = next((key for value in lines for key in OTHER_FORMATS_KEYS if key in value), "")
        foreign = foreign or foreign_turn(lines)
        if foreign:
            return Sniff(0, f"lines have a role and content, but also {foreign!r}, which this format does not know")
        said = f"{len(fitting)} of the first {len(lines)} lines have a role and content"
        return Sniff(0, f"only {said}") if 2 * len(fitting) < len(lines) else Sniff(80, said)

    def parse(self, source: Source, measure: Measured) -> Parsed:
        assembly, n_cleared = Assembly(measure), 0
        models: list[str] = []
        unfit = "an object without a role and content"
        if isinstance(source.head().document, list):
            turns = records(source, _fits, unfit)
        else:
            turns = ((value, line.at()) for line, value in objects(source, _fits, unfit))
        for value, origin in turns:
            contents = _contents(value)
            _add(assembly, origin, value, contents)
            models += [model] if (model := text_of(value.get("model"))) else []
            n_cleared += sum(c.kind is Kind.TOOL_RESULT and bool(CLEARED.match(c.text)) for c in contents)
        assembly.note(*cleared_before(n_cleared))
        model = max(models, key=models.count) if models else ""
        return read_as([assembly.transcript(stem_of(source.name), model=model)])

    contents = each_value(_contents)


def _sniff_list(turns: list[Any]) -> Sniff | None:
    """A list is nobody's mark: every entry has to fit, and none may be another tool's."""
    if not turns or not all(isinstance(turn, dict) and _fits(turn) for turn in turns):
        return None
    foreign = next((key for turn in turns for key in (*OTHER_FORMATS_KEYS, *DUMP_KEYS) if key in turn), "")
    foreign = foreign or foreign_turn(turns) or message_mark(turns)
    if foreign:
        return Sniff(0, f"a list of messages with a role and content, but also {foreign!r}")
    content = turns[0]["content"]
    said = text_of(as_dict(next(iter(content), None)).get("text") if isinstance(content, list) else content)
    opening = next((mark for mark in OPENINGS if said.startswith(mark)), "")
    if mark := opening or ("replies that are shell commands" if shell_replies(turns) else ""):
        return Sniff(0, f"a list of messages with a role and content, but with another agent's {mark}")
    return Sniff(60, f"a list of {len(turns)} messages with a role and content, and nothing else")


def _fits(value: Record) -> bool:
    return text_of(value.get("role")) in ROLES and isinstance(value.get("content"), (str, list))


def _add(assembly: Assembly, origin: Origin, value: Record, contents: tuple[Content, ...]) -> None:
    """A line's message; the first of a run of replies makes a request, what stands for a history a compaction."""
    role, follows = ROLES[value["role"]], assembly.follows_reply()
    facts: dict[str, Any] = {"timestamp": seconds(value.get("timestamp"))}
    summary = role is Role.USER and bool(contents) and contents[0].text.startswith(COMPRESSED)
    if summary:
        index = len(assembly.messages)
        number = assembly.compaction(index, message=index, outside=index == 0, tokens_before=None)
        facts |= {"summary": True, "compaction": number}
    typed = value["role"] == "user" and not summary and is_prompt(contents)
    made = assembly.add(role, contents, (origin,), typed=typed, **facts)
    if role is Role.ASSISTANT and not follows:
        noted = as_dict(value.get("metadata"))
        assembly.request(made, usage_at(as_dict(noted.get("usage")), "gptme"), model=text_of(noted.get("model")))
