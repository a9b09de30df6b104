"""One ``{role, content}`` object a line: the ``.transcripts/`` of teaching pipelines and their likes (formats 15).

Content is a string, Messages API blocks, or their Python reprs.  No usage is recorded; a request is one run of
assistant messages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sessions.engine.formats import Sniff
from sessions.engine.formats._anthropic_blocks import block_of, contents_of
from sessions.engine.formats._blocks import is_prompt
from sessions.engine.formats._jsonl import objects
from sessions.engine.formats._preview import preview_of, stem_of, title_of
from sessions.engine.formats._python_repr import block_from_repr
from sessions.engine.formats._times import seconds
from sessions.engine.formats._values import text_of
from sessions.engine.types import (
    Content,
    Kind,
    Message,
    Origin,
    Parsed,
    RecordedCompaction,
    Request,
    Role,
    Skipped,
    Transcript,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.formats import Measured
    from sessions.engine.jsonio import Head, Line, Source

ROLES = {
    "user": Role.USER, "tool": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM,
}  # fmt: skip
OTHER_FORMATS_KEYS = (
    "type", "sessionId", "uuid", "parts", "tool_calls", "tool_call_id", "message_count", "ctxweb",
)  # fmt: skip
COMPRESSED = "[Conversation compressed. Transcript: "
CLEARED = re.compile(r"\[Previous: used [^\]]*\]\s*\Z")


class RoleContent:
    """The format's entry in the registry."""

    name = "role_content"
    label = "role/content"
    source = "One {role, content} per line: learn-claude-code .transcripts/, s06 context compaction (JSONL)"

    def sniff(self, head: Head) -> Sniff | None:
        """Lines with a role and content, and nothing that another format's lines have."""
        lines = [value for value in head.values if isinstance(value, dict)]
        fitting = [value for value in lines if _fits(value)]
        if not fitting:
            named = any("role" in value for value in lines)
            return Sniff(0, "lines have a role, but no content beside it") if named else None
        foreign = next((key for value in lines for key in OTHER_FORMATS_KEYS if key in value), "")
        if foreign:
            return Sniff(0, f"lines have a role and content, but also {foreign!r}, which this format does not know")
        if 2 * len(fitting) < len(lines):
            return Sniff(0, f"only {len(fitting)} of the first {len(lines)} lines have a role and content")
        return Sniff(80, f"{len(fitting)} of the first {len(lines)} lines have a role and content")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session: every line a message."""
        skipped: list[Skipped] = []
        messages: list[Message] = []
        models: list[str] = []
        title, n_cleared = "", 0
        compactions: list[int] = []
        for line, value in objects(source, skipped):
            if not _fits(value):
                skipped.append(Skipped(line.number, line.offset, "an object without a role and content"))
                continue
            contents = _contents(value)
            message = _message(
                line, value, contents, measure=measure, index=len(messages), n_compactions=len(compactions)
            )
            if message.summary:
                compactions.append(message.index)
            n_cleared += sum(c.kind is Kind.TOOL_RESULT and bool(CLEARED.match(c.text)) for c in contents)
            if message.typed and not title:
                title = title_of("\n".join(c.text for c in contents if c.kind is Kind.TEXT))
            messages.append(message)
            models += [model] if (model := text_of(value.get("model"))) else []
        times = [m.timestamp for m in messages if m.timestamp is not None]
        requests = _requests(messages)
        transcript = Transcript(
            id=stem_of(source.name),
            format=self.name,
            messages=tuple(messages),
            requests=requests,
            compactions=tuple(_compaction(index, requests) for index in compactions),
            title=title,
            model=max(models, key=models.count) if models else "",
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
            warnings=_warnings(n_cleared),
        )
        return Parsed(self.name, (transcript,) if messages else (), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a message's line."""
        del message
        return tuple(content for value in values for content in _contents(value))


def _fits(value: Mapping[str, Any]) -> bool:
    return text_of(value.get("role")) in ROLES and isinstance(value.get("content"), (str, list))


def _contents(value: Mapping[str, Any]) -> tuple[Content, ...]:
    content = value["content"]
    if not isinstance(content, list):
        return contents_of(content)
    return tuple(block_of((block_from_repr(item) or item) if isinstance(item, str) else item) for item in content)


def _message(
    line: Line,
    value: Mapping[str, Any],
    contents: tuple[Content, ...],
    *,
    measure: Measured,
    index: int,
    n_compactions: int,
) -> Message:
    role = ROLES[value["role"]]
    summary = role is Role.USER and bool(contents) and contents[0].text.startswith(COMPRESSED)
    return Message(
        index=index,
        id=f"L{line.number}",
        role=role,
        blocks=measure(contents),
        origins=(Origin(line.number, line.offset, line.length),),
        preview=preview_of(contents),
        timestamp=seconds(value.get("timestamp")),
        typed=value["role"] == "user" and not summary and is_prompt(contents),
        summary=summary,
        compaction=n_compactions if summary else None,
    )


def _requests(messages: Sequence[Message]) -> tuple[Request, ...]:
    starts = [
        message
        for message in messages
        if message.role is Role.ASSISTANT
        and (message.index == 0 or messages[message.index - 1].role is not Role.ASSISTANT)
    ]
    return tuple(Request(i, message.index, timestamp=message.timestamp) for i, message in enumerate(starts))


def _compaction(index: int, requests: Sequence[Request]) -> RecordedCompaction:
    """A compaction whose summary is at ``index``; on the first line, what it removed is in another file."""
    later = (r.index for r in requests if r.message is not None and r.message > index)
    return RecordedCompaction(boundary=index, request=next(later, len(requests)), message=index, outside=index == 0)


def _warnings(n_cleared: int) -> tuple[str, ...]:
    if not n_cleared:
        return ()
    return (f"Results cleared before recording: {n_cleared}; their content is not in this session",)


FORMAT = RoleContent()
