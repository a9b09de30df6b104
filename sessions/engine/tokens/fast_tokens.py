"""Counts many texts with toktok, five times as fast as tiktoken, while tiktoken agrees on a sample of them.

tiktoken stays the reference: it counts where toktok is not installed (``ctxweb[fast]``), texts with characters that
their Unicode tables may treat apart, one text of every chunk beside toktok, and everything after a first difference.
Decision 21 has what was measured.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from sessions.engine.tokens.tokenizer import Counted, TokenCounter, count, windows

if TYPE_CHECKING:
    Core = Callable[[list[str]], list[int]]

FIRST_CHARS = 5_000_000
"""So much text tiktoken counts alone: toktok's start, and its judge's work, cost more than they gain on less."""
JUDGED_CHARS = 20_000
"""Of the text that both count, at most so many characters."""
DOUBTED = re.compile("[\u017f\u0cdc\U00030000-\U0010ffff\ud800-\udfff]")
"""Letters that a newer Unicode assigned or folds otherwise, planes with letters still to come, halves of pairs."""


class FastCounter:
    """Counts lists of texts; ``counts`` gives what ``tokenizer.count`` gives for each, in order."""

    def __init__(self, name: str = "o200k_base", core: Core | None = None) -> None:
        self.name = name
        self._core, self._asks = core, core is None
        self._pool = ThreadPoolExecutor(2)
        self._n_judged = self._n_chars = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._pool.shutdown()

    def begin(self) -> None:
        """Load both cores now, on no thread: for processes that will be forked, and share them."""
        self._core, self._asks = toktok(self.name), False
        count("begin", self.name)
        if self._core:
            self._core(["begin"])

    def counts(self, texts: Sequence[str]) -> list[Counted]:
        """Tokens of each text."""
        if self._asks and self._n_chars >= FIRST_CHARS:
            self._core, self._asks = toktok(self.name), False
        self._n_chars += sum(map(len, texts))
        found = self._fast(texts)
        if found is None:
            return list(self._pool.map(self._slow, texts))
        doubted = [at for at, text in enumerate(texts) if not text.isascii() and DOUBTED.search(text)]
        for at, counted in zip(doubted, self._pool.map(self._slow, [texts[at] for at in doubted]), strict=True):
            found[at] = counted
        return found

    def _slow(self, text: str) -> Counted:
        return count(text, self.name)

    def _fast(self, texts: Sequence[str]) -> list[Counted] | None:
        """Toktok's counts, those of doubted texts still wrong; None where it may not be used."""
        if self._core is None or not texts:
            return None
        cut = [windows(text) for text in texts]
        pieces = [_plain(piece) for whole, _ in cut for piece in whole]
        try:
            numbers = iter(self._core(pieces))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  a panic derives from BaseException (estimators 5.3)
            self._caught(f"failed ({type(error).__name__})")
            return None
        found = [Counted(sum(next(numbers) for _ in whole), approximate) for whole, approximate in cut]
        return found if self._agrees(texts) else None

    def _agrees(self, texts: Sequence[str]) -> bool:
        """Whether both count one text of these alike: the first, then the second … of each further chunk."""
        text = _plain(texts[self._n_judged % len(texts)][:JUDGED_CHARS])
        self._n_judged += 1
        if self._core is None or DOUBTED.search(text):
            return True
        fast, slow = self._core([text])[0], count(text, self.name).n_tokens
        if fast != slow:
            self._caught(f"counted {fast:,} tokens where tiktoken counts {slow:,}")
        return fast == slow

    def _caught(self, what: str) -> None:
        print(f"toktok {what}: tiktoken counts the rest of this file", file=sys.stderr, flush=True)  # noqa: T201
        self._core = None


class InPlaceCounter(TokenCounter):
    """A TokenCounter of one file that counts where it is asked, with a FastCounter that goes on to the next file."""

    def __init__(self, fast: FastCounter) -> None:
        super().__init__(threads=0, name=fast.name)
        self._fast = fast

    def _flush(self) -> None:
        chunk, self._chunk, self._chunk_chars = self._chunk, [], 0
        for one, counted in zip(chunk, self._fast.counts([text for _, text, _ in chunk]), strict=True):
            self._settle(one, counted)


def _plain(text: str) -> str:
    """``text`` as UTF-8 can hold it: toktok takes no lone halves of pairs; such a text is counted by tiktoken."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def toktok(name: str) -> Core | None:
    """The fast core with a vocabulary; None where it is not installed."""
    try:
        from toktok import batch_count  # type: ignore[import-untyped]
    except ImportError:
        return None
    return lambda texts: list(batch_count(texts, name, threads=1))
