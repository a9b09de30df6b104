"""What the lines of a Claude Code file hold, beside the few facts by which they are chained; many wait packed."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from sessions.engine.base.fast_frozen import fast_frozen
from sessions.engine.base.words import words
from sessions.engine.packing import packed_sequence
from sessions.engine.packing.memory import give_back
from sessions.engine.packing.packed_sequence import PackedSequence
from sessions.engine.transcript.types import Block, Origin, Usage

_FIGURES = attrgetter(
    "input", "cache_read", "cache_write", "output", "placeholder", "reasoning", "cache_write_1h", "last_input"
)
"""Of a ``Usage``, in the order in which it takes them."""
_ROW = attrgetter(
    *words("""
    origin.line origin.offset origin.length timestamp model stopped n_visible typed meta planned
""")
)
RETURNED_EVERY = 32_768
"""Lines between two returns of memory, which take some milliseconds."""


@fast_frozen
@dataclass(frozen=True, slots=True)
class ClaudeFacts:
    """What a line records beside its content.  ``n_visible`` counts the characters that a reply shows."""

    origin: Origin
    timestamp: float | None
    model: str = ""
    usage: Usage | None = None
    stopped: bool = False
    n_visible: int = 0
    typed: bool = False
    meta: bool = False
    planned: bool = False


@fast_frozen
@dataclass(frozen=True, slots=True)
class ClaudeBody:
    """The content of a line without its text; ``title`` is that of a prompt."""

    blocks: tuple[Block, ...] = ()
    preview: str = ""
    title: str = ""


@dataclass(slots=True)
class Shelves:
    """Those of a file, by ``ClaudeRecord.order``.  ``once``: they are read by one session, on one branch;
    ``returned`` is the line before which their memory went back to the system.
    """

    facts: PackedSequence[ClaudeFacts, bytes] = field(
        default_factory=lambda: PackedSequence(_folded_facts, _facts, packed_sequence.PACKED_FROM)
    )
    bodies: PackedSequence[ClaudeBody, bytes] = field(
        default_factory=lambda: PackedSequence(_folded_bodies, _bodies, packed_sequence.PACKED_FROM)
    )
    once: bool = False
    returned: int = 0

    def let_go(self, order: int) -> None:
        """Forget what stands before a line, where no other session or branch needs it."""
        if not self.once:
            return
        self.facts.let_go(order)
        self.bodies.let_go(order)
        if order - self.returned >= RETURNED_EVERY:
            self.returned = order
            give_back()


def _packed(value: Any) -> bytes:
    return zlib.compress(marshal.dumps(value), level=1)


def _unpacked(data: bytes) -> Any:
    return marshal.loads(zlib.decompress(data))  # noqa: S302  this process wrote it


def _folded_facts(some: Sequence[ClaudeFacts]) -> bytes:
    return _packed([(*_ROW(facts), None if facts.usage is None else _FIGURES(facts.usage)) for facts in some])


def _facts(data: bytes) -> list[ClaudeFacts]:
    return [
        ClaudeFacts(Origin(line, offset, length), time, model, None if figures is None else Usage(*figures), *rest)
        for line, offset, length, time, model, *rest, figures in _unpacked(data)
    ]


def _folded_bodies(some: Sequence[ClaudeBody]) -> bytes:
    from sessions.engine.packing.pack import Table, block_row

    table = Table()
    rows = [([block_row(block, table) for block in body.blocks], body.preview, body.title) for body in some]
    return _packed((rows, table.media, table.strings, table.classes))


def _bodies(data: bytes) -> list[ClaudeBody]:
    from sessions.engine.packing.pack import block_of, media_of

    rows, media_rows, s, classes = _unpacked(data)
    media, each = [media_of(row, s) for row in media_rows], iter(classes)
    return [
        ClaudeBody(tuple([block_of(block, s, media, each) for block in blocks]), preview, title)
        for blocks, preview, title in rows
    ]
