"""Counts tokens in a helper process, so that reading a file and counting its texts use a core each.

The helper counts with toktok, five times as fast as tiktoken, while tiktoken agrees on a sample of it.  tiktoken stays
the reference: it counts where toktok is not installed (``ctxweb[fast]``), texts with characters that their Unicode
tables may treat apart, one text of every chunk beside toktok, and everything after a first difference.  Decision 21 has
what was measured.

That fast core holds the interpreter's lock for half a second when it starts, and is
native code that others wrote: in a process of its own it does not slow the reader and cannot take it down.
The helper is a plain subprocess: a daemonic task process may not fork children of its own.  It ends when its input
does, so it cannot outlive a killed parent.  If it fails, the parent counts for itself: nothing is lost.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, chain, pairwise
from typing import BinaryIO, Self

from sessions.engine.packing.memory import give_back
from sessions.engine.tokens.text_facts import text_facts
from sessions.engine.tokens.tokenizer import NAME, ROW, Chunk, Counted, Counts, TokenCounter, count, row_of, windows

Core = Callable[[list[str]], list[int]]
FIRST_CHARS = 5_000_000
"""So much text tiktoken counts alone: toktok's start, and its judge's work, cost more than they gain on less."""
JUDGED_CHARS = 20_000
"""Of the text that both count, at most so many characters."""
DOUBTED = re.compile("[\u017f\u0cdc\U00030000-\U0010ffff\ud800-\udfff]")
"""Letters that a newer Unicode assigned or folds otherwise, planes with letters still to come, halves of pairs."""
IN_FLIGHT = 2
BACKLOG = 64
"""Chunks that wait at most: about what is read while the helper loads its tables."""
_HEAD = struct.Struct("<II")
_ROW_BYTES = 8 * ROW
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from sessions.engine.tokens.tokenizer_process import serve; serve(at_once={at_once})"
)


class ProcessCounter(TokenCounter):
    """A TokenCounter whose texts are counted by a helper process; the same interface and the same figures.

    ``at_once``: the helper loads its fast core when it starts, not when it has seen text enough.  ``for_one_file``: it
    ends with the results, so that its memory is free for what follows, and begins again where more comes.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        super().__init__(threads=1, backlog=BACKLOG)
        self._helper: subprocess.Popen[bytes] | None = None
        self._at_once, self._rests = at_once, False
        self.for_one_file = False

    def begin(self) -> None:
        """Start the helper now, not with the first texts."""
        self._helper = _started(at_once=self._at_once)

    def close(self) -> None:
        """Stop the helper, and the thread that talks to it."""
        super().close()
        self._stop()

    def results(self) -> Counts:
        """Wait until every submitted text is counted; if it is for one file, end the helper and forget its texts."""
        counts = super().results()
        if self.for_one_file:
            self._rests = True
            self._stop()
            self._tickets, self._older, self._rows = {}, {}, array("q")
        return counts

    def kill(self) -> None:
        """End the helper at once, whatever it does."""
        if self._helper:
            self._helper.kill()
        self.close()

    def _work(self) -> None:
        """Send chunks to the helper, at most IN_FLIGHT ahead of its answers."""
        if self._helper is None:
            self.begin()
        waiting: deque[Chunk] = deque()
        while True:
            # Nothing new to send, or enough sent: take an answer.
            if waiting and (self._queue.empty() or len(waiting) >= IN_FLIGHT):
                self._receive(waiting.popleft())
            elif (chunk := self._queue.get()) is not None:
                self._send(chunk)
                waiting.append(chunk)
            else:
                break
        while waiting:
            self._receive(waiting.popleft())
        self._stop()
        self._queue.task_done()

    def _send(self, chunk: Chunk) -> None:
        if self._rests:
            self._rests = False
            self.begin()
        if self._helper is None or self._helper.stdin is None:
            return
        data = "".join([text for _, text, _ in chunk]).encode("utf-8", "surrogatepass")
        lengths = array("Q", [len(text) for _, text, _ in chunk]).tobytes()
        try:
            self._helper.stdin.write(_HEAD.pack(len(chunk), len(data)) + lengths + bytes([look for *_, look in chunk]))
            self._helper.stdin.write(data)
            self._helper.stdin.flush()
        except OSError:
            self._stop()

    def _receive(self, chunk: Chunk) -> None:
        """Enter the helper's counts of ``chunk``; count it here if there is no helper any more."""
        try:
            self._enter(chunk)
        finally:
            self._queue.task_done()

    def _enter(self, chunk: Chunk) -> None:
        answer = b""
        if self._helper is not None and self._helper.stdout is not None:
            answer = self._helper.stdout.read(_ROW_BYTES * len(chunk))
        if len(answer) != _ROW_BYTES * len(chunk):
            self._stop()
            self._count(chunk)
            return
        start = (-chunk[0][0] - 1) * ROW  # its tickets follow each other
        self._rows[start : start + ROW * len(chunk)] = array("q", answer)

    def _stop(self) -> None:
        helper, self._helper = self._helper, None
        if helper is None:
            return
        for pipe in (helper.stdin, helper.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:
                pass  # the helper has gone already
        try:
            helper.wait(timeout=5)
        except subprocess.TimeoutExpired:
            helper.kill()
            helper.wait()


def _started(*, at_once: bool) -> subprocess.Popen[bytes] | None:
    code = _START.format(path=sys.path, at_once=at_once)
    try:
        return subprocess.Popen(  # noqa: S603  our own interpreter, our own code
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=True,
            start_new_session=True,  # Ctrl-C ends who reads the file, and that ends its helper
        )
    except OSError:
        return None


def serve(*, at_once: bool = False) -> None:
    """The helper's loop until its input ends; so does the process, at once: taking its tables apart takes long."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    with FastCounter() as counter:
        if at_once:
            counter.begin()
            give_back()  # 12 MB that loading left behind
        while texts := _texts(source):
            found = counter.counts([text for text, _ in texts])
            rows = (row_of(each, text_facts(*text)) for each, text in zip(found, texts, strict=True))
            try:
                sink.write(array("q", chain.from_iterable(rows)).tobytes())
                sink.flush()
            except BrokenPipeError:
                break  # the reader was killed: nobody is left to tell
    sys.stderr.flush()
    os._exit(0)


def _texts(source: BinaryIO) -> list[tuple[str, int]]:
    """The texts of the next chunk, each with how it is looked at; none at the end of the input."""
    head = source.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return []
    n_texts, n_bytes = _HEAD.unpack(head)
    lengths, looks = array("Q", source.read(8 * n_texts)), source.read(n_texts)
    data = source.read(n_bytes)
    if len(data) < n_bytes:
        return []
    joined, places = data.decode("utf-8", "surrogatepass"), pairwise(accumulate(lengths, initial=0))
    return [(joined[start:end], look) for (start, end), look in zip(places, looks, strict=True)]


class FastCounter:
    """Counts lists of texts; ``counts`` gives what ``tokenizer.count`` gives for each, in order."""

    def __init__(self, core: Core | None = None) -> None:
        self._core, self._asks = core, core is None
        self._pool = ThreadPoolExecutor(2)
        self._n_judged = self._n_chars = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._pool.shutdown()

    def begin(self) -> None:
        """Load both cores now, on no thread: for processes that will be forked, and share them."""
        self._core, self._asks = toktok(), False
        count("begin")
        if self._core:
            self._core(["begin"])

    def counts(self, texts: Sequence[str]) -> list[Counted]:
        """Tokens of each text."""
        if self._asks and self._n_chars >= FIRST_CHARS:
            self._core, self._asks = toktok(), False
        self._n_chars += sum(map(len, texts))
        found = self._fast(texts)
        if found is None:
            return list(self._pool.map(count, texts))
        doubted = [at for at, text in enumerate(texts) if not text.isascii() and DOUBTED.search(text)]
        for at, counted in zip(doubted, self._pool.map(count, [texts[at] for at in doubted]), strict=True):
            found[at] = counted
        return found

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
        fast, slow = self._core([text])[0], count(text).n_tokens
        if fast != slow:
            self._caught(f"counted {fast:,} tokens where tiktoken counts {slow:,}")
        return fast == slow

    def _caught(self, what: str) -> None:
        print(f"toktok {what}: tiktoken counts the rest of this file", file=sys.stderr, flush=True)  # noqa: T201
        self._core = None


class InPlaceCounter(TokenCounter):
    """A TokenCounter of one file that counts where it is asked, with a FastCounter that goes on to the next file."""

    def __init__(self, fast: FastCounter) -> None:
        super().__init__(threads=0)
        self._fast = fast

    def _flush(self) -> None:
        chunk, self._chunk, self._chunk_chars = self._chunk, [], 0
        for one, counted in zip(chunk, self._fast.counts([text for _, text, _ in chunk]), strict=True):
            self._settle(one, counted)


def _plain(text: str) -> str:
    """``text`` as UTF-8 can hold it: toktok takes no lone halves of pairs; such a text is counted by tiktoken."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def toktok() -> Core | None:
    """The fast core with the vocabulary; None where it is not installed."""
    try:
        from toktok import batch_count  # type: ignore[import-untyped]
    except ImportError:
        return None
    return lambda texts: list(batch_count(texts, NAME, threads=1))
