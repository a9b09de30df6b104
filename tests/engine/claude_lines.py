"""Writes small Claude Code transcripts for tests: chained lines with coherent usage."""

from __future__ import annotations

import json
from typing import Any

OVERHEAD = 12_000


class Lines:
    """A Claude Code session under construction; every line is chained to the one before it."""

    def __init__(self, session_id: str = "11111111-1111-4111-8111-111111111111") -> None:
        self.session_id, self.clock, self.context = session_id, 0, OVERHEAD
        self.lines: list[str] = []
        self.parent: str | None = None

    def emit(self, kind: str, **fields: Any) -> str:
        """One line; returns its uuid."""
        self.clock += 7
        uuid = f"00000000-0000-4000-8000-{len(self.lines):012d}"
        line = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": "/home/me/app",
            "sessionId": self.session_id, "version": "2.1.150", "type": kind, "uuid": uuid,
            "timestamp": f"2026-10-01T08:{self.clock // 60 % 60:02d}:{self.clock % 60:02d}.000Z", **fields,
        }  # fmt: skip
        self.parent = uuid
        self.lines.append(json.dumps(line))
        return uuid

    def prompt(self, text: str) -> None:
        """A typed prompt."""
        self.emit("user", message={"role": "user", "content": text})
        self.context += len(text) // 4

    def reply(self, number: int, *blocks: dict[str, Any], output: int = 40) -> None:
        """One response, one line per block."""
        usage = {
            "input_tokens": 4, "cache_creation_input_tokens": 300, "cache_read_input_tokens": self.context - 304,
            "output_tokens": output,
        }  # fmt: skip
        for block in blocks:
            message = {
                "id": f"msg_{number:04d}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [block], "stop_reason": "end_turn", "usage": usage,
            }  # fmt: skip
            self.emit("assistant", message=message, requestId=f"req_{number:04d}")
        self.context += output

    def result(self, call: str, content: Any) -> None:
        """A tool result with its structured twin."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        self.emit("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": content})
        self.context += len(str(content)) // 4

    def compact(self, summary: str) -> None:
        """An automatic compaction: boundary, then the summary."""
        last, self.parent = self.parent, None
        metadata = {"trigger": "auto", "preTokens": self.context}
        self.emit("system", subtype="compact_boundary", logicalParentUuid=last, compactMetadata=metadata, content="x")
        self.emit("user", isCompactSummary=True, message={"role": "user", "content": summary})
        self.context = OVERHEAD + len(summary) // 4

    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"


def claude_session(n_turns: int, *, compact_after: int | None = None) -> str:
    """A prompt, ``n_turns`` reads with results of about 700 tokens, a last reply; optionally a compaction between."""
    lines = Lines()
    lines.prompt("Never touch the lock file. Find out why the build is slow and make it fast. " * 3)
    for turn in range(n_turns):
        call = {
            "type": "tool_use",
            "id": f"toolu_{turn}",
            "name": "Read",
            "input": {"file_path": f"/home/me/app/m{turn % 9}.py"},
        }
        lines.reply(turn, {"type": "text", "text": f"Now part {turn} of the build."}, call)
        lines.result(f"toolu_{turn}", "\n".join(f"{n}: value_{n * turn} = compute({n}, {turn})" for n in range(60)))
        if turn == compact_after:
            lines.compact("The build is slow because every module is compiled twice. " * 20)
    lines.reply(n_turns, {"type": "text", "text": "The build is fast now."})
    return lines.text()
