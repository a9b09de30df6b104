"""The messages of a very long session: what they weigh by stands as objects, the rest is packed until it is asked for.

Working over a session asks for roles, blocks and marks again and again; ids, previews, places in the file and times
are looked at once or twice, in order.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sessions.engine.transcript.types import Block, Message, Origin

if TYPE_CHECKING:
    from sessions.engine.packing.packed_sequence import PackedSequence
    from sessions.engine.packing.section_file import Kept

_CLASSES: Any = Block.__dict__["classes"]
"""Where a block keeps them."""
_VALUES = attrgetter(*(f.name for f in fields(Block)))
_MOST = 0xFFFF
_STANDING = ("index", "role", "typed", "meta", "attachment", "summary", "compaction", "planned", "resumed", "_halves")


class FoldedBlock(Block):
    """A block whose ``classes`` stand as two bytes each, where these hold them; equal to a plain one."""

    __slots__ = ()

    @property
    def classes(self) -> tuple[int, ...]:
        """As ``Block.classes``."""
        held: tuple[int, ...] | bytes = _CLASSES.__get__(self)
        return struct.unpack(f"{len(held) // 2}H", held) if isinstance(held, bytes) else held

    @classes.setter
    def classes(self, numbers: tuple[int, ...]) -> None:
        is_small = bool(numbers) and max(numbers) <= _MOST
        _CLASSES.__set__(self, struct.pack(f"{len(numbers)}H", *numbers) if is_small else numbers)

    def __eq__(self, other: object) -> bool:
        return _VALUES(self) == _VALUES(other) if isinstance(other, Block) else NotImplemented

    def __hash__(self) -> int:
        return Block.__hash__(self)


class FoldedMessage(Message):
    """A message of which the shelf holds all that is read from it here; equal to the whole one."""

    __slots__ = ("_shelf",)
    _shelf: PackedSequence[Message, Kept]

    def __new__(cls, *values: Any, **fields: Any) -> Message:  # type: ignore[misc]
        """A changed copy (``dataclasses.replace``) is a message like others."""
        return Message(*values, **fields)

    @classmethod
    def of(cls, message: Message, blocks: tuple[Block, ...], shelf: PackedSequence[Message, Kept]) -> Message:
        """The message, which the shelf holds at its index; ``blocks`` are equal to its own."""
        folded = object.__new__(cls)
        for name in _STANDING:
            object.__setattr__(folded, name, getattr(message, name))
        object.__setattr__(folded, "blocks", blocks)
        object.__setattr__(folded, "_shelf", shelf)
        return folded

    @property
    def whole(self) -> Message:
        """The message with everything."""
        return self._shelf[self.index]

    @property
    def id(self) -> str:
        """As ``Message.id``."""
        return self.whole.id

    @property
    def origins(self) -> tuple[Origin, ...]:
        """As ``Message.origins``."""
        return self.whole.origins

    @property
    def preview(self) -> str:
        """As ``Message.preview``."""
        return self.whole.preview

    @property
    def timestamp(self) -> float | None:
        """As ``Message.timestamp``."""
        return self.whole.timestamp

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return self.whole == (other.whole if isinstance(other, FoldedMessage) else other)

    def __hash__(self) -> int:
        return hash(self.whole)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_itself, (self.whole,))


def _itself(message: Message) -> Message:
    return message


class PackedMessages(tuple[Message, ...]):  # noqa: SLOT001  a tuple takes no slots
    """All messages of a session, in order; ``shelf`` holds them whole."""

    shelf: PackedSequence[Message, Kept]

    @classmethod
    def of(cls, messages: Iterable[Message], shelf: PackedSequence[Message, Kept]) -> PackedMessages:
        """The messages, each let go when it is on the empty ``shelf``."""
        lean = Lean()

        def folded(message: Message) -> Message:
            shelf.add(message)
            return FoldedMessage.of(message, lean.blocks(message.blocks), shelf)

        found = cls(map(folded, messages))
        found.shelf = shelf
        return found


class Lean:
    """Blocks that share equal numbers and words: a session has few different ones."""

    def __init__(self) -> None:
        numbers: dict[int, int] = {}
        words: dict[str, str] = {}
        self._number: Callable[[int, int], int] = numbers.setdefault
        self._word: Callable[[str, str], str] = words.setdefault

    def blocks(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        """Equal ones."""
        number, word = self._number, self._word
        return tuple(
            [
                FoldedBlock(
                    b.kind, number(b.n_chars, b.n_chars), number(b.n_bytes, b.n_bytes), number(b.n_tokens, b.n_tokens),
                    number(b.n_payload, b.n_payload), b.approximate, word(b.name, b.name),
                    word(b.call_id, b.call_id), word(b.target, b.target), b.is_error, b.media,
                    self.blocks(b.parts) if b.parts else (), number(b.n_non_ascii, b.n_non_ascii), b.cut,
                    number(b.n_json, b.n_json), b.classes,
                )
                for b in blocks
            ]
        )  # fmt: skip
