"""Which counter a file gets: one beside its reader where it is large, one that stays where files follow each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sessions.engine.tokens.tokenizer import TokenCounter
from sessions.engine.tokens.tokenizer_process import FastCounter, InPlaceCounter, ProcessCounter

HELPED_BYTES = 4_000_000
"""From this size on, tokens are counted in a process beside the reader: its start costs half a second of a core."""

HELPED_AMONG_BYTES = 20_000_000
"""The same where other processes read other files; and from here on the process loads its fast core at once."""

_fast: list[FastCounter] = []
"""What counts in this process, where it reads one file after the other (``counting_in_place``)."""

_ahead: list[ProcessCounter] = []
"""What was started for the next file before that is read (``start_ahead``)."""


def counter_of(n_bytes: int, *, alone: bool = False) -> TokenCounter:
    """What counts texts of ``n_bytes``, closed when they are read; ``alone``: one file's, whose helper ends with it."""
    if _fast and n_bytes < HELPED_AMONG_BYTES:
        return InPlaceCounter(_fast[0])
    if n_bytes < HELPED_BYTES:
        return TokenCounter()
    counter = _ahead.pop() if _ahead else ProcessCounter(at_once=n_bytes >= HELPED_AMONG_BYTES)
    counter.for_one_file = alone
    return counter


def start_ahead(n_bytes: int) -> None:
    """Start the process that counts a file of ``n_bytes`` before it is read: its tables load while bytes are copied."""
    if n_bytes >= HELPED_AMONG_BYTES and not _ahead:
        counter = ProcessCounter(at_once=True)
        counter.begin()
        _ahead.append(counter)


def stop_ahead() -> None:
    """Stop what was started and is not needed: the file is not read."""
    while _ahead:
        _ahead.pop().kill()


@contextmanager
def counting_in_place(*, at_once: bool = False) -> Iterator[None]:
    """Count file after file here, where others are beside it if it dies; ``at_once``: load now, for forks to have."""
    if _fast:
        yield
        return
    with FastCounter() as counter:
        if at_once:
            counter.begin()
        _fast.append(counter)
        try:
            yield
        finally:
            _fast.clear()
