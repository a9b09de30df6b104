"""Builds transcripts for tests, message by message, with coherent usage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.policies.policy import State, View
from sessions.engine.replays.summaries import Summaries
from sessions.engine.transcript.types import (
    Block,
    Kind,
    Media,
    Message,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)
from sessions.engine.weigh.sizes import estimator_named

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def text(tokens: int, kind: Kind = Kind.TEXT, **facts: object) -> Block:
    """A block of ``tokens`` o200k tokens, four characters each."""
    return Block(kind, n_chars=tokens * 4, n_bytes=tokens * 4, n_tokens=tokens, **facts)  # type: ignore[arg-type]


def image(n_base64: int, side: int) -> Block:
    """A square PNG."""
    return Block(Kind.IMAGE, media=Media("image/png", n_base64=n_base64, width=side, height=side))


@dataclass
class Build:
    """A session under construction; ``usage=False`` leaves requests without usage.

    Usage is coherent with a ratio of 1: the context is ``overhead`` plus the tokens of the messages before the reply.
    What the request before sent is read from the cache, unless more than 300 s went by; the rest is written to it.
    """

    overhead: int = 10_000
    usage: bool = True
    model: str = "claude-sonnet-4-5"
    ratio: float = 1.0
    messages: list[Message] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    context: int = 0
    clock: float = 0.0
    cached: int = 0
    last: float | None = None

    def add(self, role: Role, *blocks: Block, **facts: object) -> Message:
        """Append a message; it weighs its blocks' tokens × ratio in the recorded context."""
        index = len(self.messages)
        message = Message(index, f"m{index}", role, blocks, preview=f"message {index}", **facts)  # type: ignore[arg-type]
        self.messages.append(message)
        count = sum(leaf.n_tokens for leaf in message.leaves())
        self.context += count if role is Role.ASSISTANT else round(count * self.ratio)
        return message

    def prompt(self, tokens: int = 50) -> Message:
        """A typed prompt."""
        return self.add(Role.USER, text(tokens), typed=True)

    def reply(self, tokens: int = 100, *calls: str, name: str = "Read", target: str = "") -> Message:
        """A reply with tool calls, and the request it answers."""
        self.clock += 10
        sent = self.overhead + self.context
        read = min(self.cached, sent - 5) if self.last is not None and self.clock - self.last <= 300 else 0
        usage = Usage(5, read, sent - 5 - read, tokens) if self.usage else None
        self.cached, self.last = sent, self.clock
        self.requests.append(
            Request(len(self.requests), len(self.messages), usage, model=self.model, timestamp=self.clock)
        )
        blocks = [text(tokens)]
        blocks += [Block(Kind.TOOL_USE, call_id=call, name=name, target=target) for call in calls]
        return self.add(Role.ASSISTANT, *blocks)

    def result(self, call: str, tokens: int = 500, *parts: Block) -> Message:
        """A tool result."""
        return self.add(Role.USER, text(tokens, Kind.TOOL_RESULT, call_id=call, parts=parts))

    def compact(self, summary_tokens: int = 1_000, trigger: str = "auto") -> Message:
        """A recorded compaction: boundary, then its summary."""
        before = self.overhead + self.context
        boundary, self.context = len(self.messages), 0
        self.cached = min(self.cached, self.overhead)
        number = len(self.compactions)
        summary = self.add(Role.USER, text(summary_tokens), summary=True, compaction=number)
        self.compactions.append(
            RecordedCompaction(boundary, len(self.requests), summary.index, trigger, tokens_before=before)
        )
        return summary

    def turns(self, n: int, *, tokens: int = 500, start: int = 0) -> Build:
        """``n`` tool turns: a reply that calls, a result of ``tokens``."""
        for turn in range(start, start + n):
            self.reply(100, f"c{turn}", target=f"/src/{turn % 7}.py")
            self.result(f"c{turn}", tokens)
        return self

    def done(self) -> Transcript:
        """The transcript."""
        return Transcript(
            "s", "test", tuple(self.messages), tuple(self.requests), tuple(self.compactions), model=self.model
        )


def long_session(n_turns: int = 200, *, tokens: int = 900, **options: object) -> Transcript:
    """A prompt and ``n_turns`` tool turns of about a thousand tokens."""
    build = Build(**options)  # type: ignore[arg-type]
    build.prompt()
    build.turns(n_turns, tokens=tokens)
    build.reply()
    return build.done()


def empty_view(weighed: Weighed, estimator: str, window: int) -> View:
    """The first request of a session with nothing in the list yet."""
    tools = Summaries(weighed, "stub:0", estimator_named(estimator))
    return View([], 0, 0, None, window, weighed.overhead, 0, weighed.model, State(), tools)
