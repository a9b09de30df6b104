"""Small synthetic Claude Code transcripts for tests of what is stored."""

from __future__ import annotations

import base64
import struct
import uuid
import zlib
from typing import Any

from sessions.engine.reading.jsonio import dumps

MODEL = "claude-sonnet-4-5-20250929"


def png(width: int, height: int, n_bytes: int = 2_000, seed: int = 0) -> bytes:
    """A file with a true PNG header of that size; its pixel data is filler, which nobody decodes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    period = bytes((seed + i * i) % 251 for i in range(251))
    filler = (period * (n_bytes // 251 + 1))[:n_bytes]
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", filler) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


class Lines:
    """Collects transcript lines, keeping the parent chain and the usage of a growing context."""

    def __init__(self, session: str = "11111111-2222-3333-4444-555555555555") -> None:
        self.session, self.parent, self.n, self.context = session, None, 0, 12_000
        self.lines: list[bytes] = []

    def emit(self, kind: str, **fields: Any) -> str:
        """One line; returns its uuid."""
        self.n += 1
        own = str(uuid.UUID(int=self.n))
        line = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": "/home/u/proj",
            "sessionId": self.session, "version": "2.1.210", "type": kind, "uuid": own,
            "timestamp": f"2026-09-01T08:{self.n // 60 % 60:02d}:{self.n % 60:02d}.000Z", **fields,
        }  # fmt: skip
        self.parent = own
        self.lines.append(dumps(line).encode())
        return own

    def prompt(self, text: str) -> Lines:
        """A prompt typed by the user."""
        self.emit("user", message={"role": "user", "content": text})
        return self

    def turn(self, result: str | bytes = "done", text: str = "Let me look.") -> Lines:
        """A reply with a tool call, and its result: text, or an image given as bytes."""
        call, self.context = f"toolu_{self.n:04d}", self.context + 500
        usage = {
            "input_tokens": 4, "cache_creation_input_tokens": 500, "cache_read_input_tokens": self.context - 500,
            "output_tokens": 40,
        }  # fmt: skip
        for block in ({"type": "text", "text": text}, {"type": "tool_use", "id": call, "name": "Bash", "input": {}}):
            message = {
                "id": f"msg_{call}", "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                "stop_reason": "tool_use", "usage": usage,
            }  # fmt: skip
            self.emit("assistant", requestId=f"req_{call}", message=message)
        content: Any = result
        if isinstance(result, bytes):
            data = base64.b64encode(result).decode()
            content = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]
        block = {"tool_use_id": call, "type": "tool_result", "content": content}
        self.emit("user", message={"role": "user", "content": [block]})
        return self

    def bytes(self) -> bytes:
        """The file."""
        return b"\n".join(self.lines) + b"\n"


def session(n_turns: int = 3, **kwargs: Any) -> bytes:
    """A session with one prompt and ``n_turns`` replies."""
    lines = Lines(**kwargs).prompt("Find out why the test fails")
    for turn in range(n_turns):
        lines.turn(f"output {turn}: " + "all good\n" * 20)
    return lines.bytes()
