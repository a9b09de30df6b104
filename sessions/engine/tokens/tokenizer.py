"""Counts o200k_base tokens exactly as tiktoken, on threads while a file is read, equal texts once; with their facts.

A few ASCII texts are counted without tiktoken, whose start costs more than such a file does.  The same rule as its own:
its pattern cuts a text into words, and in each word the pair of the lowest rank is joined until no pair is a token.
Written for ASCII, where the pattern's classes of letters are plain ranges.  What does not fit (other characters, long
words, much text) is left to tiktoken.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from queue import Queue
from typing import NamedTuple, Self

from sessions.engine.base.limits import LONG_TEXT_CHARS
from sessions.engine.tokens import vocabulary
from sessions.engine.tokens.text_facts import PROSE, TextFacts, text_facts
from sessions.engine.tokens.vocabulary import encoding

CHUNK_TEXTS = 128
CHUNK_CHARS = 1_000_000
BACKLOG_CHUNKS = 4
FALLBACK_CHARS = 20_000
REMEMBERED = 50_000
"""Between so many different texts and twice as many are known again; one that was forgotten is counted once more."""

NAME = "o200k_base"
MOST_CHARS = 16_000
"""Characters of all texts together, for which this is quicker than building tiktoken's encoding."""
MOST_WORD_CHARS = 100
"""Joining pairs takes the square of a word's length."""
WORD = re.compile(
    r"[^\r\nA-Za-z0-9]?[A-Z]*[a-z]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\nA-Za-z0-9]?[A-Z]+[a-z]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
"""The pattern of o200k_base (tiktoken_ext/openai_public.py), with its classes of letters and digits cut to ASCII."""

_ranks = cache(vocabulary.ranks)

Chunk = list[tuple[int, str, int]]
"""Tickets, their texts, and how these are looked at (``text_facts``)."""


class Counted(NamedTuple):
    """Tokens of a text, ``approximate`` where it was cut inside a run (a few off at most per cut), and its facts."""

    n_tokens: int
    approximate: bool = False
    facts: TextFacts = TextFacts()


ROW = 10
"""Numbers of a text: its tokens (-1 - n where approximate), its facts, its classes (seven, the last three often 0)."""
UNSETTLED = -(2**63)
_EMPTY = (UNSETTLED, *[0] * (ROW - 1))


def row_of(count: Counted, facts: TextFacts) -> tuple[int, ...]:
    """``ROW`` numbers for what was found of a text; ``Counts.of`` reads them."""
    n_tokens = -count.n_tokens - 1 if count.approximate else count.n_tokens
    return (n_tokens, facts.n_non_ascii, facts.n_json, *(*facts.classes, 0, 0, 0)[: ROW - 3])


def count(text: str, name: str = NAME) -> Counted:
    """Tokens of ``text``, special-token strings counted as plain text; never raises for any str (estimators 5.4)."""
    pieces, approximate = windows(text)
    encode = encoding(name).encode_ordinary
    total = 0
    for piece in pieces:
        counted = _encoded(encode, piece)
        total, approximate = total + counted.n_tokens, approximate or counted.approximate
    return Counted(total, approximate)


def windows(text: str) -> tuple[list[str], bool]:
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


def _encoded(encode: Callable[[str], list[int]], text: str) -> Counted:
    n_tokens = _unless_panic(encode, text)
    if n_tokens is not None:
        return Counted(n_tokens)
    pieces = (text[start : start + FALLBACK_CHARS] for start in range(0, len(text), FALLBACK_CHARS))
    found = ((_unless_panic(encode, piece), piece) for piece in pieces)
    # A piece that panics again counts one token per 4 bytes.
    total = sum((len(piece.encode("utf-8", "replace")) + 3) // 4 if n is None else n for n, piece in found)
    return Counted(total, approximate=True)


def _unless_panic(encode: Callable[[str], list[int]], text: str) -> int | None:
    try:
        return len(encode(text))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001  pyo3's PanicException derives from BaseException (estimators 5.3)
        return None


class Counts:
    """What is settled, by ticket (see ``TokenCounter.submit``): ``ROW`` numbers a text."""

    def __init__(self, rows: array[int]) -> None:
        self._rows = rows

    def of(self, ticket: int) -> Counted:
        """What was found for a ticket; a number that is not a ticket (zero or more) is a count already."""
        if ticket >= 0:
            return Counted(ticket)
        end = -ticket * ROW
        n_tokens, n_non_ascii, n_json, *classes = self._rows[end - ROW : end]
        if n_tokens == UNSETTLED:
            raise LookupError(f"ticket {ticket} is not settled: call results() after the last submit()")
        facts = TextFacts(n_non_ascii, n_json, tuple(classes if any(classes[4:]) else classes[:4]))
        return Counted(n_tokens if n_tokens >= 0 else -n_tokens - 1, n_tokens < 0, facts)


class TokenCounter:
    """Counts texts on threads while the caller goes on reading; equal texts are counted once, unless far apart.

    ``submit`` blocks while about four chunks wait, so memory stays flat however long the file.  Tickets are
    negative, so that they can stand in ``Block.n_tokens`` until they are settled.
    """

    def __init__(self, threads: int = 2, backlog: int = BACKLOG_CHUNKS) -> None:
        self._is_large = False
        self._making = threading.Lock()
        self._tickets: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self._rows = array("q")
        self._chunk: Chunk = []
        self._chunk_chars = 0
        self._queue: Queue[Chunk | None] = Queue(backlog)
        self._threads = [threading.Thread(target=self._work, name=f"tokens-{i}", daemon=True) for i in range(threads)]
        self._started = False

    def submit(self, text: str, look: int = PROSE) -> int:
        """A ticket (negative) for what is to be known of ``text``; 0 for an empty one.  Not for several threads."""
        if not text:
            return 0
        key = 4 * (hash(text) * 31 + len(text)) + look
        ticket = self._tickets.get(key) or self._older.get(key)
        if ticket:
            return ticket
        if len(self._tickets) >= REMEMBERED:
            self._older, self._tickets = self._tickets, {}
        self._rows.extend(_EMPTY)
        ticket = -len(self._rows) // ROW
        self._tickets[key] = ticket
        self._chunk.append((ticket, text, look))
        self._chunk_chars += len(text)
        if len(self._chunk) >= CHUNK_TEXTS or self._chunk_chars >= CHUNK_CHARS:
            self._flush()
        return ticket

    def results(self) -> Counts:
        """Wait until every submitted text is counted; more may be submitted afterwards."""
        self._flush()
        self._queue.join()
        return Counts(self._rows)

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
            if not self._is_large and fits(text for _, text, _ in chunk):
                chunk = self._by_hand(chunk)
            self._is_large = self._is_large or bool(chunk)
        for one in chunk:
            self._settle(one, count(one[1]))

    def _by_hand(self, chunk: Chunk) -> Chunk:
        """Count a small chunk without tiktoken; what of it is left over."""
        left: Chunk = []
        for one in chunk:
            n_tokens = count_small(one[1])
            if n_tokens is None:
                left.append(one)
            else:
                self._settle(one, Counted(n_tokens))
        return left

    def _settle(self, one: tuple[int, str, int], counted: Counted) -> None:
        ticket, text, look = one
        end = -ticket * ROW
        self._rows[end - ROW : end] = array("q", row_of(counted, text_facts(text, look)))


def fits(texts: Iterable[str]) -> bool:
    """Whether these texts are counted here: few, ASCII, and tiktoken's encoding is not there already."""
    if not vocabulary.is_vendored(NAME) or vocabulary.is_built(NAME):
        return False
    left = MOST_CHARS
    for text in texts:
        left -= len(text)
        if left < 0 or not text.isascii():
            return False
    return True


def count_small(text: str) -> int | None:
    """Tokens of an ASCII text; None where a word is too long."""
    total = 0
    for word in WORD.findall(text):
        if len(word) > MOST_WORD_CHARS:
            return None
        total += _tokens(word.encode("ascii"))
    return total


@cache
def _tokens(word: bytes) -> int:
    """Tokens of one word: of all pairs that stand side by side, the first of the lowest rank is joined."""
    ranks = _ranks(NAME)
    if word in ranks:
        return 1
    parts = [word[place : place + 1] for place in range(len(word))]
    while len(parts) > 1:
        pairs = [ranks.get(left + right, vocabulary.RANKS[NAME]) for left, right in pairwise(parts)]
        lowest = min(pairs)
        if lowest == vocabulary.RANKS[NAME]:
            break
        place = pairs.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return len(parts)
