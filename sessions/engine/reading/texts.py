"""The texts of a session's messages, read again from what was uploaded: messages themselves hold only sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Self

from sessions.engine.base.errors import TextGone
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_contents
from sessions.engine.transcript.types import Content, Message

KEPT_CHARS = 32_000_000
"""Texts are kept up to about this many characters; beyond it a message is read again when asked for."""


class Texts:
    """Reads messages' contents from one file, opened when first asked; keeps what it read, up to a bound."""

    def __init__(self, opener: Callable[[], BinaryIO], format_name: str) -> None:
        """``opener`` opens the file; ``format_name`` is the format it was read with."""
        self._open = opener
        self._file: BinaryIO | None = None
        self._source: Source | None = None
        self._format = format_name
        self._kept: dict[int, tuple[Content, ...]] = {}
        self._n_chars = 0

    def of(self, message: Message) -> tuple[Content, ...]:
        """The blocks of a message with their text.

        Raises UnreadableInput where the file cannot be opened or is not the message's own.
        """
        found = self._kept.get(message.index)
        if found is None:
            found = read_contents(self._opened(), self._format, message)
            n_chars = sum(len(part) for part in texts_in(found))
            if self._n_chars + n_chars <= KEPT_CHARS:
                self._kept[message.index] = found
                self._n_chars += n_chars
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was read stays, and asking for more opens it again."""
        if self._file is not None:
            self._file.close()
        self._file, self._source = None, None

    def _opened(self) -> Source:
        if self._source is None:
            try:
                self._file = self._open()
                self._source = Source(self._file)
            except OSError as error:
                raise TextGone(error) from error
        return self._source

    def plain(self, message: Message) -> str:
        """All text of a message, one block per line group; "" for one that was not in the file."""
        return "\n".join(texts_in(self.of(message))) if message.origins else ""


def texts_in(contents: tuple[Content, ...]) -> Iterator[str]:
    """The texts of blocks and of their parts, in order."""
    for content in contents:
        if content.text:
            yield content.text
        yield from texts_in(content.parts)
