"""Counts o200k_base tokens: exactly what tiktoken counts, several times faster where lines come back.

Transcripts repeat themselves: files are read again, listings and logs come back.  A newline is a place where the
text can be cut without changing any token, if what follows does not reach back over it (``_starts_unit``), so counts
are remembered per line.  Where lines do not come back, texts go to tiktoken whole.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import Queue
from typing import TYPE_CHECKING, Self

from sessions.engine.limits import LONG_TEXT_CHARS
from sessions.engine.small_texts import count_small, fits
from sessions.engine.vocabulary import encoding

if TYPE_CHECKING:
    from collections.abc import Callable

    import tiktoken

CHUNK_TEXTS = 128
CHUNK_CHARS = 1_000_000
BACKLOG_CHUNKS = 4
MAX_UNITS = 1 << 17
"""Lines remembered per generation; two generations are kept."""
MAX_TAILS = 1 << 15
MAX_UNIT_CHARS = 400
SAMPLE_CHARS = 4_000_000
FALLBACK_CHARS = 20_000


Chunk = list[tuple[int, str]]
"""Tickets and their texts."""


@dataclass(frozen=True, slots=True)
class TextCount:
    """Tokens of one text; ``approximate`` where it had to be cut inside a run (a few tokens off at most per cut)."""

    n_tokens: int
    approximate: bool = False


def count(text: str, name: str = "o200k_base") -> TextCount:
    """Tokens of ``text``, special-token strings counted as plain text; never raises for any str (estimators 5.4)."""
    pieces, approximate = _windows(text)
    encode = encoding(name).encode_ordinary
    total = 0
    for piece in pieces:
        counted = _encoded(encode, piece)
        total, approximate = total + counted.n_tokens, approximate or counted.approximate
    return TextCount(total, approximate)


def _windows(text: str) -> tuple[list[str], bool]:
    """Pieces of at most LONG_TEXT_CHARS, cut where no token is changed; True if one had to be cut elsewhere."""
    pieces, approximate, start = [], False, 0
    while len(text) - start > LONG_TEXT_CHARS:
        end, exact = _cut(text, start)
        pieces.append(text[start:end])
        approximate, start = approximate or not exact, end
    pieces.append(text[start:])
    return pieces, approximate


def _cut(text: str, start: int) -> tuple[int, bool]:
    """End of the window at ``start``: after its last newline that an ASCII letter or digit follows, in its 2nd half."""
    limit = start + LONG_TEXT_CHARS
    newline = limit
    while (newline := text.rfind("\n", start + LONG_TEXT_CHARS // 2, newline)) >= 0:
        following = text[newline + 1 : newline + 2]
        if following.isascii() and following.isalnum():
            return newline + 1, True
    return limit, False


def _encoded(encode: Callable[[str], list[int]], text: str) -> TextCount:
    try:
        return TextCount(len(encode(text)))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001  pyo3's PanicException derives from BaseException (estimators 5.3)
        return TextCount(_encoded_in_pieces(encode, text), approximate=True)


def _encoded_in_pieces(encode: Callable[[str], list[int]], text: str) -> int:
    """After a panic: small pieces one by one; a piece that panics again counts one token per 4 bytes."""
    total = 0
    for start in range(0, len(text), FALLBACK_CHARS):
        piece = text[start : start + FALLBACK_CHARS]
        try:
            total += len(encode(piece))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001  as above
            total += (len(piece.encode("utf-8", "replace")) + 3) // 4
    return total


def _starts_unit(line: str) -> bool:
    """Whether the text may be cut before ``line``, which a newline precedes, without changing a token.

    Both vocabularies let a token run over a newline only into more newlines, blank lines, a carriage return or "/".
    A line that holds anything but white space and does not begin with one of those starts afresh.
    """
    body = line.lstrip()
    return bool(body) and line[0] not in "/\r\0" and body[0] != "\0" and "\r" not in line[: len(line) - len(body)]


class LineCounter:
    """Counts texts line by line with a bounded memory of lines; falls back to whole texts where that does not pay.

    May be shared between threads.
    """

    def __init__(self, name: str = "o200k_base") -> None:
        self._encoding: tiktoken.Encoding = encoding(name)
        self._name = name
        self._new: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._tails: dict[str, int] = {}
        self._hits = self._misses = self._skipped = 0
        self._turn = threading.Lock()

    def count(self, text: str) -> TextCount:
        """The same figure as ``count(text)``."""
        if len(text) > LONG_TEXT_CHARS:
            return count(text, self._name)
        # "\0" stands for the second newline of a blank line below, so a text that has its own goes whole.  Going by
        # line holds the GIL, tiktoken does not: one thread at a time goes by line, the other keeps its core busy.
        if "\0" in text or not self._tries() or not self._turn.acquire(blocking=False):
            return _encoded(self._encoding.encode_ordinary, text)
        try:
            return TextCount(self._by_line(text))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001  see _encoded
            return count(text, self._name)
        finally:
            self._turn.release()

    @property
    def pays(self) -> bool:
        """Whether lines come back often enough for going by line."""
        return self._hits + self._misses < SAMPLE_CHARS or self._hits * 2 > self._misses

    def _tries(self) -> bool:
        """Whether the next text goes by line: while that does not pay, one text in eight still does."""
        seen = self._hits + self._misses
        if seen > 2 * SAMPLE_CHARS:
            self._hits, self._misses = self._hits // 2, self._misses // 2
        if self.pays:
            return True
        self._skipped += 1
        return self._skipped % 8 == 0

    def _by_line(self, text: str) -> int:
        lines = text.replace("\n\n", "\0\n").split("\n")
        tail = lines.pop()
        first = tail
        while tail and lines and not _starts_unit(first):
            first = lines.pop()
            tail = f"{first}\n{tail}"
        counts: list[int | None] = list(map(self._new.get, lines))
        total = missed = 0
        if tail:
            total, missed = self._tail(tail)
        if None in counts:
            missed += self._fill(lines, counts)
        self._misses += missed
        self._hits += len(text) - missed
        return total + sum(counts)  # type: ignore[arg-type]  # _fill leaves no None

    def _fill(self, lines: list[str], counts: list[int | None]) -> int:
        """Put a count in place of every None, joining lines that may not be cut apart; returns the chars counted."""
        missed, position, n = 0, -1, len(lines)
        counts.append(None)  # so that index() always finds one
        while (position := counts.index(None, position + 1)) < n:
            start = position
            if start and not _starts_unit(lines[start]):
                start -= 1  # a remembered line of its own, or it would have taken this one along
                counts[start] = 0
            end = position + 1
            while end < n and counts[end] is None and not _starts_unit(lines[end]):
                counts[end] = 0
                end += 1
            unit = lines[start] if end == start + 1 else "\n".join(lines[start:end])
            counts[position], fresh = self._unit(unit)
            missed += fresh
        counts.pop()
        return missed

    def _tail(self, tail: str) -> tuple[int, int]:
        """As ``_unit``, for the end of a text: what no newline follows."""
        known = self._tails.get(tail)
        if known is not None:
            return known, 0
        known = self._encode(tail)
        if len(tail) <= MAX_UNIT_CHARS:
            if len(self._tails) >= MAX_TAILS:
                self._tails.clear()
            self._tails[tail] = known
        return known, len(tail)

    def _unit(self, unit: str) -> tuple[int, int]:
        """Tokens of ``unit`` with its newline, and the chars that had to be encoded for it (0 if remembered)."""
        known = self._new.get(unit)
        if known is not None:
            return known, 0
        known, fresh = self._old.get(unit), 0
        if known is None:
            known, fresh = self._encode(unit + "\n"), len(unit) + 1
        if len(unit) <= MAX_UNIT_CHARS:
            self._remember(unit, known)
        return known, fresh

    def _remember(self, unit: str, n_tokens: int) -> None:
        # A unit is looked up wherever it stands, so only one that may start a unit anywhere is kept.
        if not _starts_unit(unit):
            return
        if len(self._new) >= MAX_UNITS:
            self._old, self._new = self._new, {}
        self._new[unit] = n_tokens

    def _encode(self, unit: str) -> int:
        return len(self._encoding.encode_ordinary(unit.replace("\0", "\n")))


class Counts:
    """Settled counts by ticket (see ``TokenCounter.submit``)."""

    def __init__(self, counted: list[TextCount | None]) -> None:
        self._counted = counted

    def of(self, ticket: int) -> TextCount:
        """The count of a ticket; a number that is not a ticket (zero or more) is a count already."""
        if ticket >= 0:
            return TextCount(ticket)
        counted = self._counted[-ticket - 1]
        if counted is None:
            raise LookupError(f"ticket {ticket} is not settled: call results() after the last submit()")
        return counted


class TokenCounter:
    """Counts texts on threads while the caller goes on reading; equal texts are counted once.

    ``submit`` blocks while about four chunks wait, so memory stays flat however long the file.  Tickets are
    negative, so that they can stand in ``Block.n_tokens`` until they are settled.
    """

    def __init__(self, threads: int = 2, name: str = "o200k_base") -> None:
        self._name = name
        self._lines: LineCounter | None = None
        self._making = threading.Lock()
        self._tickets: dict[int, int] = {}
        self._counted: list[TextCount | None] = []
        self._chunk: Chunk = []
        self._chunk_chars = 0
        self._queue: Queue[Chunk | None] = Queue(BACKLOG_CHUNKS)
        self._threads = [threading.Thread(target=self._work, name=f"tokens-{i}", daemon=True) for i in range(threads)]
        self._started = False

    def submit(self, text: str) -> int:
        """A ticket (negative) for the count of ``text``; 0 for an empty text.  Not for use from several threads."""
        if not text:
            return 0
        key = hash(text) * 31 + len(text)
        ticket = self._tickets.get(key)
        if ticket is not None:
            return ticket
        self._counted.append(None)
        ticket = -len(self._counted)
        self._tickets[key] = ticket
        self._chunk.append((ticket, text))
        self._chunk_chars += len(text)
        if len(self._chunk) >= CHUNK_TEXTS or self._chunk_chars >= CHUNK_CHARS:
            self._flush()
        return ticket

    def results(self) -> Counts:
        """Wait until every submitted text is counted; more may be submitted afterwards."""
        self._flush()
        self._queue.join()
        return Counts(self._counted)

    def close(self) -> None:
        """Stop the threads; what was counted stays readable."""
        self._flush()
        if self._started:
            for _ in self._threads:
                self._queue.put(None)
            for thread in self._threads:
                thread.join()
        self._started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _flush(self) -> None:
        if not self._chunk:
            return
        if not self._started:
            self._started = True
            for thread in self._threads:
                thread.start()
        self._queue.put(self._chunk)
        self._chunk, self._chunk_chars = [], 0

    def _work(self) -> None:
        while (chunk := self._queue.get()) is not None:
            try:
                self._count(chunk)
            finally:
                self._queue.task_done()
        self._queue.task_done()

    def _count(self, chunk: Chunk) -> None:
        with self._making:
            if self._lines is None and fits((text for _, text in chunk), self._name):
                chunk = self._by_hand(chunk)
            if self._lines is None and chunk:
                self._lines = LineCounter(self._name)
        if self._lines is None:
            return
        for ticket, text in chunk:
            self._counted[-ticket - 1] = self._lines.count(text)

    def _by_hand(self, chunk: Chunk) -> Chunk:
        """Count a small chunk without tiktoken; what of it is left over."""
        left: Chunk = []
        for ticket, text in chunk:
            n_tokens = count_small(text)
            if n_tokens is None:
                left.append((ticket, text))
            else:
                self._counted[-ticket - 1] = TextCount(n_tokens)
        return left
