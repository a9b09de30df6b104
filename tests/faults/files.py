"""Transcripts of known content for the scenarios: a seed makes the same bytes on every run."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from functools import cache

WORDS = (
    "row",
    "button",
    "total",
    "while",
    "others",
    "wait",
    "one",
    "more",
    "src/module.py",
    "at",
    "0x7f3a:",
    "ok,",
    "42",
)
POOL_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class File:
    """A transcript of ``n_messages`` messages in one session."""

    name: str
    data: bytes
    n_messages: int
    sha256: str


def transcript(seed: int, n_bytes: int) -> File:
    """A transcript of about ``n_bytes`` bytes, two messages at least; every seed's is another."""
    rng = random.Random(seed)
    lines = [f'{{"role": "user", "content": "Task {seed}: {rng.getrandbits(64):x}"}}']
    size = len(lines[0])
    while size < n_bytes or len(lines) < 2:
        role = "user" if len(lines) % 2 == 0 else "assistant"
        text = _passage(rng, min(max(n_bytes - size - 40, 20), rng.randrange(200, 8_000)))
        lines.append(f'{{"role": "{role}", "content": "{len(lines)} {text}"}}')
        size += len(lines[-1]) + 1
    data = "\n".join(lines).encode() + b"\n"
    return File(f"task-{seed}.jsonl", data, len(lines), hashlib.sha256(data).hexdigest())


def any_size(rng: random.Random, largest: int) -> int:
    """Mostly small files, some of a tenth of ``largest``, a few near it: in bytes."""
    share = rng.random()
    if share < 0.8:
        return rng.randrange(200, 50_000)
    return rng.randrange(largest // 50, largest // 10) if share < 0.97 else rng.randrange(largest // 5, largest)


def _passage(rng: random.Random, n_chars: int) -> str:
    start = rng.randrange(POOL_CHARS - n_chars)
    return _pool()[start : start + n_chars]


@cache
def _pool() -> str:
    rng = random.Random(1)
    text = ""
    while len(text) < POOL_CHARS:
        text += " ".join(
            f"{rng.choice(WORDS)}{rng.choice(('', '', '', str(rng.randrange(9999))))}" for _ in range(5_000)
        )
    return text
