"""The lanes of the session's chart, context above bytes against tokens: their axes, ground, headings and layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from sessions.pages.session.bars import ByteScale, Pressure
from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, axis, band, line, note, size_of, thousands, ticks
from sessions.pages.ui.saw import MOST_LINES
from sessions.runs.overview import Overview

CONTEXT_ROOM = 1.18
"""The context's axis over the window, or the peak: room for the numbers of compactions."""
NARROW_NAME = 0.45
"""Share of the axis that the name of a threshold takes on a narrow chart."""
Span = tuple[float, float]


def token_axis(top: int, domain: Span) -> Figure:
    """Tokens, by their square root, as a share of the end of the axis, ``top``."""
    return axis(range=[0, 1], domain=list(domain), tickvals=[1], ticktext=[thousands(top)], fixedrange=True)


def byte_axis(scale: ByteScale, domain: Span) -> Figure:
    """Bytes downwards, in units of the upper part."""
    marks = scale.ticks()
    texts = [size_of(mark).replace(".00", "").replace(".0", "") for mark in marks]
    at: Figure = {"tickvals": [round(scale.place(mark), 4) for mark in marks], "ticktext": texts}
    return axis(range=[1 + scale.zone, 0], domain=list(domain), anchor="x", fixedrange=True, **at)


def context_axis(peak: int, domain: Span) -> Figure:
    """Context in tokens up to the window, or to the peak where that is higher."""
    marks = ticks(peak, 4)
    texts = [thousands(mark) for mark in marks]
    room = [0, peak * CONTEXT_ROOM]
    return axis(range=room, domain=list(domain), anchor="x", tickvals=marks, ticktext=texts, fixedrange=True)


def grounds(scale: ByteScale, window: int, peak: int) -> list[Figure]:
    """Zone, grid lines, baselines and the window line."""
    dots = [
        line("@chart-over", y=(place, place), yref="y2", width=0.5, dash="1px,3px", below=True)
        for mark in scale.ticks()
        if (place := scale.place(mark)) > 1
    ]
    inner = [line("@chart-grid", y=(m, m), yref="y3", below=True) for m in ticks(peak, 4)[1:] if m != window]
    base = [line("@chart-strong", y=(0, 0), yref=yref) for yref in ("y", "y3")]
    zone = [band("@chart-over-zone", 1, 1 + scale.zone, "y2")] if scale.zone else []
    return [*zone, *dots, *inner, *base, line("@chart-strong", y=(window, window), yref="y3")]


def thresholds(data: Pressure, last: int) -> list[Figure]:
    """The threshold that each compaction passed, from the one before on, dashed; the last one goes on to the end."""
    known = [cut for cut in data.compactions if cut.threshold]
    starts = [-0.5, *(cut.at for cut in known)]
    steps = [(x0, x1, known[min(at, len(known) - 1)].threshold) for at, (x0, x1) in
             enumerate(pairwise([*starts, last + 0.5]))] if known else []  # fmt: skip
    return [
        line("@chart-axis", x=(x0, x1), y=(level, level), xref="x", yref="y3", dash="6px,4px")
        for x0, x1, level in steps
        if level
    ]


def headings(
    scale: ByteScale, data: Pressure, last: int, *, foot: float, place: float | None, is_flat: bool
) -> list[Figure]:
    """What the lanes show, and the names of window and threshold at their left ends.

    ``is_flat``: the window lies beyond the axis, and is told in words.

    ``foot`` is where the lower band ends on the paper; ``place`` where the worst bar stands, from 0 to 1, for words
    to keep away from it, None where nothing is over-counted.
    """
    paper: Figure = {"xref": "paper", "yref": "paper", "size": 12}
    level: Figure = {"xref": "paper", "yref": "y3", "at": "left bottom", "shift": (6, 2), "role": "@chart-label"}
    first = next((cut.threshold for cut in data.compactions if cut.threshold), None)
    close = first is not None and abs(data.window - first) < 0.07 * data.window
    says = f"window {figures.count(data.window)}"
    peak = max((tokens for _, tokens, _ in data.contexts), default=0)
    names = [note(says, 0, data.window, **level)]
    if is_flat:
        held = f"{says}, far above; the peak is {figures.count(peak)}"
        names = [note(held, 0, peak, **level)]
    if first is not None and close and first < data.window:
        names = [note(f"{says} · threshold {figures.count(first)}", 0, data.window, **level)]
    elif first is not None:
        free = all(cut.at > NARROW_NAME * last for cut in data.compactions)
        below = {**level, "at": "left top", "shift": (6, -2)}  # above it may stand where a byte trigger fires
        names.append(note(f"threshold {figures.count(first)}", 0, first, width="" if free else "wide", **below))
    what = f"Tokens of each message, against its {data.measure}"
    scaled: Figure = {"role": "@chart-label", "at": "right bottom", "shift": (0, 5)}
    return [
        *names,
        note(what, 0, foot, weight=600, shift=(0, 5), width="wide", **paper),
        note("Tokens against bytes", 0, foot, weight=600, shift=(0, 5), width="narrow", **paper),
        note("square-root scale", 1, foot, **paper, **scaled),
        *_beyond(scale, place),
    ]


def _beyond(scale: ByteScale, place: float | None) -> list[Figure]:
    """That the zone under the lane has another scale, at the side where the worst bar is not."""
    if place is None:
        return []
    left = place > 0.5
    zone: Figure = {"xref": "paper", "yref": "y2", "at": "left bottom" if left else "right bottom", "shift": (0, 1)}
    return [note("&nbsp;log scale&nbsp;", float(not left), 1 + scale.zone, role="@chart-label", **zone)]


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
