"""Threshold policies replayed by jumping from compaction to compaction (estimators 17): equal to ``replay``, faster.

A policy whose gate is "display tokens against a threshold" and whose edit is "a summary, and the newest messages stay"
is told of in ``table``.  Everything else is replayed request by request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from sessions.engine.walk import THRASH_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.columns import Classes
    from sessions.engine.sweeps.fast.left import Left

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Jump:
    """A threshold policy as numbers.

    The gate fires when display tokens (``View.context``) are ``operator`` (">=" or ">") ``threshold``.  The edit keeps
    system messages and the newest ``keep_messages`` others, or as many of the newest as weigh at most ``keep_tokens``
    together; what an earlier event inserted is not among them.  Where the cut would split a tool pair it moves
    ``snap``: "back" keeps more, "forward" fewer.  In place of the rest stands what the summarizer writes, or, where
    ``inserted`` is a number, that many tokens of no summary (0: nothing).  Where no message but an earlier summary
    would go, the edit fails before any call is made.  ``breaker`` failed attempts in a row stop it; None: never.
    """

    threshold: float
    operator: str = ">="
    keep_messages: int | None = None
    keep_tokens: int | None = None
    snap: str = "back"
    inserted: int | None = None
    breaker: int | None = THRASH_LIMIT

    @property
    def tail_key(self) -> tuple[object, ...]:
        """What decides on the cut at a step: jumps alike in it share their tails."""
        return (self.keep_messages, self.keep_tokens, self.snap, self.inserted)

    @property
    def limit(self) -> int:
        """The fewest tokens at which the gate fires."""
        return math.ceil(self.threshold) if self.operator == ">=" else math.floor(self.threshold) + 1


class Kept(Protocol):
    """Where values of a session are found that any process works out once."""

    def __call__(self, name: str, make: Callable[[], T], classes: Classes = (), /) -> T:
        """The value of this name, as it is kept or else as ``make`` makes it; ``classes`` are those it is made of."""


def made_here(name: str, make: Callable[[], T], classes: Classes = (), /) -> T:
    """Nothing is kept: the value as it is made."""
    del name, classes
    return make()


class Tail(NamedTuple):
    """What a compaction at each step would cut at (position) and leave (display tokens, overhead included)."""

    cuts: list[int]
    after: list[int]


class Inserts(NamedTuple):
    """What a compaction at each step inserts: tokens, how many of them are a summary's, in ``n`` messages, whose words.

    Tokens are display tokens.  ``stay``: some are system messages, which no later compaction drops.
    """

    tokens: list[int]
    summary: list[int]
    n: list[int]
    source: list[str]
    stay: bool


@dataclass(frozen=True, slots=True)
class Course:
    """A session as a jump went through it.

    ``steps`` are the steps that compact, ``cuts`` their positions, ``afters`` the display tokens they leave;
    ``offsets`` has one entry more: before the first, and after each.  ``vain`` are steps whose edit freed nothing,
    with the context at each: its summary call was made for nothing.  ``visited`` counts the places looked at,
    ``inserted`` has the number of messages that each compaction puts in.  ``has_failed``: an edit failed, or failures
    or thrashing stopped the policy.  Of policies that leave a part of the list (``part``): the display tokens that each
    compaction's request shares with the one before it, those of its summaries, its summary calls, and what it left.
    """

    steps: list[int]
    cuts: list[int]
    afters: list[int]
    offsets: list[int]
    vain: list[tuple[int, int]]
    visited: int
    inserted: list[int] = field(default_factory=list)
    has_failed: bool = False
    prefixes: list[int] | None = None
    written: list[int] | None = None
    calls: list[int] | None = None
    lefts: tuple[Left, ...] = ()
