"""Builds sessions with text for quality tests: what is said, called and returned, message by message."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions.engine.quality.index import build_index
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import (
    Block,
    Content,
    Kind,
    Message,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)
from sessions.engine.weigh.calibration.calibrate import weigh


@dataclass
class Told:
    """A session under construction; a token is four characters."""

    messages: list[Message] = field(default_factory=list)
    contents: list[tuple[Content, ...]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    context: int = 1_000

    def add(self, role, *contents, **facts):
        """Append a message; returns its index."""
        index = len(self.messages)
        blocks = tuple(
            Block(
                c.kind, n_chars=len(c.text), n_bytes=len(c.text.encode()), n_tokens=len(c.text) // 4, name=c.name,
                call_id=c.call_id, target=c.target,
            )
            for c in contents
        )  # fmt: skip
        self.messages.append(Message(index, f"m{index}", role, blocks, preview=contents[0].text[:80], **facts))
        self.contents.append(contents)
        self.context += sum(b.n_tokens for b in blocks)
        return index

    def prompt(self, text, **facts):
        """A typed prompt."""
        return self.add(Role.USER, Content(Kind.TEXT, text=text), **({"typed": True} | facts))

    def reply(self, text="", **calls):
        """A reply: words, and calls as ``call_id=(tool, arguments)``."""
        usage = Usage(cache_read=self.context, output=max(1, len(text) // 4))
        self.requests.append(
            Request(len(self.requests), len(self.messages), usage, timestamp=10.0 * len(self.requests))
        )
        said = [Content(Kind.TEXT, text=text)] if text else []
        made = [
            Content(
                Kind.TOOL_USE, text=dumps(arguments), name=tool, call_id=call,
                target=str(arguments.get("file_path") or arguments.get("command") or ""),
            )
            for call, (tool, arguments) in calls.items()
        ]  # fmt: skip
        return self.add(Role.ASSISTANT, *said, *made)

    def result(self, call, text):
        """A tool result."""
        return self.add(Role.USER, Content(Kind.TOOL_RESULT, text=text, call_id=call))

    def compact(self, summary, *attached, preserved=()):
        """A recorded compaction: its summary, then what was put back."""
        number, boundary = len(self.compactions), len(self.messages)
        self.context = 1_000
        self.add(Role.USER, Content(Kind.TEXT, text=summary), summary=True, compaction=number)
        for text in attached:
            self.add(Role.USER, Content(Kind.TEXT, text=text), compaction=number)
        self.compactions.append(
            RecordedCompaction(boundary, len(self.requests), boundary, "auto", preserved=tuple(preserved))
        )

    def transcript(self):
        """The transcript."""
        return Transcript(
            "s", "told", tuple(self.messages), tuple(self.requests), tuple(self.compactions), model="claude-sonnet-4-5"
        )

    def done(self):
        """(weighed, index)."""
        transcript = self.transcript()
        return weigh(transcript), build_index(transcript, lambda message: self.contents[message.index])
