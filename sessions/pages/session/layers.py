"""What fills the context at each request: fixed overhead, summaries, conversation and tool results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sessions.pages.ui.saw import MOST_LINES

if TYPE_CHECKING:
    from sessions.runs.overview import Overview

LAYERS = ("fixed overhead", "summary", "conversation", "tool results")
"""From the bottom to the top."""
SOFT = ("fixed", "summary", "conversation", "results")
"""What their grounds are called in the style sheet."""
RESULTS = frozenset({"tool_result", "image", "document"})
Layers = tuple[int, int, int, int]


def layers(view: Overview) -> tuple[Layers, ...]:
    """Tokens of each layer at each step, the sum of which is the context that the recording has there.

    The overhead is the session's own.  Summaries and results are those that stand in the list, less where all of it
    weighs more than was sent; the rest is the conversation: what was said, and what the client added without a message.
    """
    return view.kept("layers", lambda: _layers(view))


def legend(view: Overview) -> tuple[tuple[str, str], ...]:
    """The layers that occur, the top one first, each with its ground; none where the chart draws bands."""
    if len(view.weighed.transcript.compactions) > MOST_LINES:
        return ()
    found = layers(view)
    shown = [at for at in range(len(LAYERS)) if any(one[at] for one in found)]
    return tuple((LAYERS[at], SOFT[at]) for at in reversed(shown))


def _layers(view: Overview) -> tuple[Layers, ...]:
    weighed = view.weighed
    cuts = sorted(weighed.transcript.compactions, key=lambda one: one.boundary)
    losses = {loss.step: loss for loss in weighed.recorded.losses}
    held: dict[int, list[int]] = {}
    sums = [0, 0, 0]
    found, n_read, n_cut = [], 0, 0
    for k, (reply, (_, context, _)) in enumerate(view.contexts.items()):
        for index in range(n_read, reply):
            if n_cut < len(cuts) and index >= cuts[n_cut].boundary:
                cut, n_cut = cuts[n_cut], n_cut + 1
                for gone in [at for at in held if at < cut.boundary and at not in cut.preserved]:
                    sums = [total - part for total, part in zip(sums, held.pop(gone), strict=True)]
            held[index] = _parts(view.kinds[index])
            sums = [total + part for total, part in zip(sums, held[index], strict=True)]
        n_read = max(n_read, reply)
        for index, tokens in losses[k].parts if k in losses else ():
            _lower(held, sums, index, tokens)
        found.append(_shared_out(context, weighed.overhead, sums))
    return tuple(found)


def _parts(kinds: Mapping[str, int]) -> list[int]:
    summary, results = kinds.get("summary", 0), sum(kinds.get(kind, 0) for kind in RESULTS)
    return [summary, sum(kinds.values()) - summary - results, results]


def _lower(held: dict[int, list[int]], sums: list[int], index: int, tokens: int) -> None:
    """Take what was cleared off the message that held it, its largest layer first."""
    parts = held.get(index)
    if parts is None:
        return
    at = max(range(len(parts)), key=parts.__getitem__)
    less = min(tokens, parts[at])
    parts[at] -= less
    sums[at] -= less


def _shared_out(context: int, overhead: int, sums: Sequence[int]) -> Layers:
    fixed, total = min(overhead, context), sum(sums)
    body = context - fixed
    share = min(1.0, body / total) if total else 0.0
    summary, results = round(share * sums[0]), round(share * sums[2])
    return fixed, summary, body - summary - results, results
