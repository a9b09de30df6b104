"""What a line of a Claude Code file holds, beside the few facts by which lines are chained; many wait packed."""

from __future__ import annotations

import marshal
import zlib
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sessions.engine import shelf
from sessions.engine.pack import Table, block_of, block_row, media_of
from sessions.engine.quick import quick
from sessions.engine.shelf import Shelf
from sessions.engine.types import Origin, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.types import Block

_FIGURES = attrgetter(
    "input", "cache_read", "cache_write", "output", "placeholder", "reasoning", "cache_write_1h", "last_input"
)
"""Of a ``Usage``, in the order in which it takes them."""
_LEVEL = 1


@quick
@dataclass(frozen=True, slots=True)
class ClaudeBody:
    """One line without its text.  ``n_visible`` counts the characters that a reply shows; ``title`` is of a prompt."""

    origin: Origin
    timestamp: float | None
    blocks: tuple[Block, ...] = ()
    preview: str = ""
    title: str = ""
    model: str = ""
    usage: Usage | None = None
    stopped: bool = False
    n_visible: int = 0
    typed: bool = False
    meta: bool = False
    planned: bool = False


Bodies = Shelf[ClaudeBody]
"""Those of a file, by ``ClaudeRecord.order``."""


def bodies() -> Bodies:
    """An empty shelf for those of a file."""
    return Shelf(_folded, _unfolded, shelf.FOLDED_FROM)


def _folded(some: Sequence[ClaudeBody]) -> bytes:
    table = Table()
    rows = [_row(body, table) for body in some]
    return zlib.compress(marshal.dumps((rows, table.media, table.strings, table.classes)), _LEVEL)


def _row(b: ClaudeBody, table: Table) -> tuple[Any, ...]:
    o, u = b.origin, b.usage
    blocks = [block_row(block, table) for block in b.blocks]
    figures = None if u is None else _FIGURES(u)
    origin = (o.line, o.offset, o.length)
    return (*origin, b.timestamp, blocks, b.preview, b.title, table.index(b.model), figures, b.stopped, b.n_visible,
            b.typed, b.meta, b.planned)  # fmt: skip


def _unfolded(data: bytes) -> list[ClaudeBody]:
    rows, media_rows, s, classes = marshal.loads(zlib.decompress(data))  # noqa: S302  this process wrote it
    media, each = [media_of(row, s) for row in media_rows], iter(classes)
    return [
        ClaudeBody(
            Origin(line, offset, length), time, tuple([block_of(block, s, media, each) for block in blocks]),
            preview, title, s[model], None if figures is None else Usage(*figures), *rest,
        )
        for line, offset, length, time, blocks, preview, title, model, figures, *rest in rows
    ]  # fmt: skip
