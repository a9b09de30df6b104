"""What the pressure chart answers for the message under the pointer: one row of figures for each bar.

The page turns a pixel into a message by itself; a chart library's hover snaps to the points of its traces, which are
fewer than the messages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sessions.engine.base import registry
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Message
from sessions.pages.session.foot_notes import byte_gate
from sessions.pages.ui import figures
from sessions.pages.ui.labelled import KIND_WORDS
from sessions.runs.overview import Overview, kinds_of

if TYPE_CHECKING:
    from sessions.pages.session.bars import Bar, Pressure
    from sessions.pages.ui.chart import Figure


def said_of(message: Message, kinds: Sequence[str]) -> str:
    """Who a message is from and what is in it: "user, image"; "tool result" names its tool already."""
    words = [KIND_WORDS.get(kind, kind) for kind in kinds]
    return ", ".join(words if speaker(message) == "tool" else [speaker(message), *words])


def said(view: Overview) -> Callable[[int], str]:
    """What is said of each message, by its number: worked out once and kept, for a zoom asks for any of them."""
    words, places = view.kept("said", lambda: _said(view))
    return lambda message: words[places[message]]


def _said(view: Overview) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words that occur, and which of them each message has."""
    known: dict[str, int] = {}
    places = tuple(known.setdefault(said_of(one, kinds_of(one)), len(known)) for one in view.messages)
    return tuple(known), places


def worst_weight(view: Overview, index: int, measure: str) -> tuple[int, int] | None:
    """Tokens and bytes of the message's most over-counted block, None where it has no such block."""
    weighed, estimator = view.weighed, registry.get("estimators", measure)
    leaves = [leaf for leaf in view.messages[index].leaves() if weighed.overcount(leaf) is not None]
    if not leaves:
        return None
    worst = max(leaves, key=lambda leaf: weighed.overcount(leaf) or 0)
    return weighed.image_tokens(worst), estimator.size(worst, weighed.model)


def points(data: Pressure, bars: Sequence[Bar]) -> Figure:
    """Rows of equal length, by bar: message, first and last message, words (an index of ``said``), tokens, bytes.

    Then the request that was sent with it and that request's context, -1 each where none was.  ``over`` has, by the
    bar's place, the words that a red bar's tooltip adds.
    """
    said: dict[str, int] = {}
    rows = [
        (bar.message, bar.index, max(bar.index, bar.last), said.setdefault(bar.said or bar.what, len(said)), bar.total,
         bar.n_bytes, *_sent(data, bar.message)) for bar in bars
    ]  # fmt: skip
    names = ("message", "first", "last", "words", "tokens", "bytes", "request", "context")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {n: [] for n in names}
    over = {str(place): _over(data, bar) for place, bar in enumerate(bars) if bar.flagged}
    return {**columns, "said": list(said), "over": over}


def _sent(data: Pressure, message: int) -> tuple[int, int]:
    """The first request whose reply is the message or a later one, and its context; -1 each where there is none."""
    at = bisect_left(data.contexts, (message,))
    return (data.contexts[at][2], data.contexts[at][1]) if at < len(data.contexts) else (-1, -1)


def _over(data: Pressure, bar: Bar) -> Figure:
    tokens, n_bytes = bar.weight or (bar.total, bar.n_bytes)
    fires = "a byte trigger fires here" if byte_gate(data, bar) else ""
    return {"what": bar.what, "tokens": tokens, "bytes": n_bytes, "factor": figures.factor(bar.overcount), "say": fires}
