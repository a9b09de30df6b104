"""Values that come by the hundred thousand and are looked at in their order: packed in parts, a few of them open.

A session of a gigabyte has 400,000 lines and 280,000 messages, of 1 to 2 kB each as objects.  Of its messages what they
weigh by stands as objects, the rest is packed until it is asked for: working over a session asks for roles, blocks and
marks again and again; ids, previews, places in the file and times are looked at once or twice, in order.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import tee
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sessions.engine.packing.memory import keep_little
from sessions.engine.packing.section_file import Kept
from sessions.engine.transcript.types import Block, Message, Origin

T = TypeVar("T")
P = TypeVar("P")

PACKED_FROM = 60_000
"""So many values stay as they are: packing and unpacking them costs more than the memory is worth."""
SIZE = 256
"""Values of a part."""
N_OPEN = 3
"""Parts that stay open: that of the value asked for last, and those of what it is compared with."""
_CLASSES: Any = Block.__dict__["classes"]
"""Where a block keeps them."""
_VALUES = attrgetter(*(f.name for f in fields(Block)))
_MOST = 0xFFFF
_STANDING = (
    "index", "role", "typed", "meta", "attachment", "summary", "compaction", "planned", "resumed", "afresh", "_halves",
)  # fmt: skip


def shared(numbers: Iterable[int]) -> Iterator[int]:
    """The same numbers, equal ones as one object: most figures of messages are small, and there are few of them."""
    known: dict[int, int] = {}
    return map(known.setdefault, *tee(numbers))


class PackedSequence(Generic[T, P]):
    """Values by number, packed with ``fold`` once there are ``n_kept``; ``unfold`` gives equal ones, anew each time."""

    __slots__ = ("_fold", "_fresh", "_n_fresh", "_n_gone", "_n_parts", "_open", "_parts", "_unfold")

    def __init__(self, fold: Callable[[Sequence[T]], P], unfold: Callable[[P], Sequence[T]], n_kept: int) -> None:
        self._fold, self._unfold = fold, unfold
        self._parts: dict[int, P] = {}
        self._n_parts = 0
        self._fresh: list[T] = []
        self._n_gone = 0
        self._n_fresh = max(n_kept, SIZE)
        self._open: tuple[tuple[int, Sequence[T]], ...] = ()

    def __len__(self) -> int:
        return self._n_parts * SIZE + len(self._fresh)

    def add(self, value: T) -> None:
        self._fresh.append(value)
        if len(self._fresh) >= self._n_fresh:
            self._put_away()

    def __getitem__(self, number: int) -> T:
        part, at = divmod(number, SIZE)
        if part >= self._n_parts:
            return self._fresh[number - self._n_parts * SIZE]
        for known, values in self._open:
            if known == part:
                return values[at]
        values = self._unfold(self._parts[part])
        self._open = ((part, values), *self._open[: N_OPEN - 1])
        return values[at]

    def let_go(self, number: int) -> None:
        """Forget the parts before the one with this value: nobody asks for them any more."""
        gone = range(self._n_gone, min(number // SIZE, self._n_parts))
        for part in gone:
            del self._parts[part]
        self._n_gone += len(gone)

    def parts(self) -> Iterator[P]:
        """Everything, packed: ``SIZE`` values in each part but the last."""
        yield from self._parts.values()
        for start in range(0, len(self._fresh), SIZE):
            yield self._fold(self._fresh[start : start + SIZE])

    def _put_away(self) -> None:
        """Pack what is there in whole parts; from now on each part when it is full."""
        if not self._n_parts:
            keep_little()
        self._n_fresh = SIZE
        whole = len(self._fresh) - len(self._fresh) % SIZE
        for start in range(0, whole, SIZE):
            self._parts[self._n_parts] = self._fold(self._fresh[start : start + SIZE])
            self._n_parts += 1
        del self._fresh[:whole]


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
        return self._shelf[self.index]

    @property
    def id(self) -> str:
        return self.whole.id

    @property
    def origins(self) -> tuple[Origin, ...]:
        return self.whole.origins

    @property
    def preview(self) -> str:
        return self.whole.preview

    @property
    def timestamp(self) -> float | None:
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
