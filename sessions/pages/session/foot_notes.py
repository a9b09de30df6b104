"""The words on the pressure chart: compactions, factors at the feet of red bars, the worst message in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.pages.session.bars import placed, token_top
from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, note, plain, size_of, spaced
from sessions.pages.ui.saw import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.pages.session.bars import Bar, ByteScale, Cut, Pressure


WORDS_HIGH = 0.8
"""Height of the worst message's words, in units of the byte axis's linear part."""


HIGH = 0.6
"""Share of the context's lane from which a line at the top leaves no room for words there."""
RAIL_FROM, WORDS_TO = 20, 4
"""More compactions than the first stand as thin marks without words; up to the second each is told in words."""


def compaction_notes(data: Pressure, last: int, peak: int) -> list[Figure]:
    """What each compaction did beside its line, false alarms first; where two stand close, the later keeps quiet."""
    if len(data.compactions) > RAIL_FROM:
        return _rail_note(data)
    ranked = sorted(enumerate(data.compactions, 1), key=lambda pair: not pair[1].is_false)
    in_words = len(data.compactions) <= WORDS_TO
    free = spaced([cut.at for _, cut in ranked], last + 1, 0.3 if in_words else 0.05)
    notes = []
    for (number, cut), wide in zip(ranked, free, strict=True):
        if not wide:
            continue
        height, place = _off_the_line(cut, last, peak)
        if cut.is_false:
            place |= {"role": "@chart-over-ink", "weight": 600}
        says = f"{number} · compacted at {figures.count(cut.before)}" if cut.before else f"{number} · compacted"
        says += ": false alarm" if cut.is_false else ""
        notes.append(note(says if in_words else str(number), cut.at, height, width="wide", **place))
        notes.append(note(f"{number} false" if cut.is_false else str(number), cut.at, height, width="narrow", **place))
    return notes


def on_rail(places: Sequence[float], near: tuple[int, int] | None = None) -> list[list[float]]:
    """Places of compactions, those of one mark together: so many marks as the eye tells apart, between ``near`` all."""
    if near is not None:
        inside = [at for at in places if near[0] - 1 <= at <= near[1]]
        return [[at] for at in inside] + on_rail([at for at in places if at not in set(inside)])
    low, high = min(places, default=0), max(places, default=0)
    marks: list[list[float]] = [[] for _ in range(MOST_LINES)]
    for at in places:
        marks[min(int((at - low) / max(high - low, 1) * MOST_LINES), MOST_LINES - 1)].append(at)
    return [mark for mark in marks if mark]


def _rail_note(data: Pressure) -> list[Figure]:
    """How many compactions the marks on the rail stand for."""
    most = max(map(len, on_rail([cut.at for cut in data.compactions if not cut.is_false])), default=1)
    says = f"{len(data.compactions):,} compactions" + (f", up to {most} a mark" if most > 1 else "")
    place: Figure = {"xref": "paper", "yref": "paper", "at": "right bottom", "shift": (0, 3), "role": "@chart-label"}
    return [note(says, 1, 1, **place)]


def _off_the_line(cut: Cut, last: int, peak: int) -> tuple[int, Figure]:
    """Where the words of a cut stand: beside it, at the top of the lane, or on its ground where the line is high."""
    left = cut.at > 0.7 * (last + 1)
    is_high = ((cut.before if left else cut.after) or 0) > HIGH * peak
    corner = f"{'right' if left else 'left'} {'bottom' if is_high else 'top'}"
    return 0 if is_high else peak, {"yref": "y3", "at": corner, "shift": (-4 if left else 4, 2 if is_high else -2)}


def _side(bar: Bar, loud: Sequence[Bar], data: Pressure, last: int, room: float) -> int:
    """Where words beside a red bar stand free of other bars, verticals and edges: 1 right, -1 left, 0 nowhere."""
    reach = room * (last + 1)
    others = [other.centre for other in loud if other is not bar]
    verticals = [cut.at for cut in data.compactions if abs(cut.at - bar.centre) < 0.06 * (last + 1)]
    for side in (1, -1):
        end = bar.centre + side * reach
        low, high = min(bar.centre, end), max(bar.centre, end)
        if -0.5 <= end <= last + 0.5 and not any(low < at < high for at in (*others, *verticals)):
            return side
    return 0


def factor_notes(bars: Sequence[Bar], data: Pressure, scale: ByteScale, last: int, worst: Bar | None) -> list[Figure]:
    """Factors at the feet of red bars, the largest first; a label without room is left out."""
    loud = sorted((bar for bar in bars if bar.flagged), key=lambda bar: -(bar.overcount or 0))
    places = [bar.centre for bar in loud]
    wide, narrow = spaced(places, last + 1, 0.055), spaced(places, last + 1, 0.16)
    notes = []
    for bar, on_wide, on_narrow in zip(loud, wide, narrow, strict=True):
        if bar is worst or not on_wide or _under_worst(bar, worst, last):
            continue
        # Only labels with room are held against all other bars: a chart has room for a few.
        side = _side(bar, loud, data, last, 0.05)
        if not side:
            continue
        size = 13 if (bar.overcount or 0) >= 100 else 12
        corner = "left bottom" if side > 0 else "right bottom"
        words: Figure = {"yref": "y2", "at": corner, "shift": (5 * side, 1), "role": "@chart-over-ink", "size": size}
        shown = "" if on_narrow else "wide"
        notes.append(note(figures.factor(bar.overcount), bar.centre, placed(scale, bar), width=shown, **words))
    return notes


def _under_worst(bar: Bar, worst: Bar | None, last: int) -> bool:
    """True where the worst one's own words stand."""
    return worst is not None and abs(bar.centre - worst.centre) < 0.1 * (last + 1)


def worst_notes(bars: Sequence[Bar], data: Pressure, worst: Bar | None, scale: ByteScale, last: int) -> list[Figure]:
    """The worst message: factor at 18 px, what it is, a leader to its sliver, the gate it would have fired."""
    if worst is None:
        return []
    loud = [bar for bar in bars if bar.flagged]
    depth = placed(scale, worst)
    level = [bar for bar in loud if placed(scale, bar) > depth - WORDS_HIGH]
    side = _side(worst, level, data, last, 0.3)
    is_free = bool(side)
    if not side and depth > 1 + scale.zone - WORDS_HIGH:
        side = 1 if worst.centre < 0.5 * last else -1
    tokens, _ = worst.weight or (worst.total, worst.n_bytes)
    says = f"#{worst.index} {plain(worst.what, 24)}: {size_of(worst.n_bytes)}, {figures.count(tokens)} tokens"
    brief = f"#{worst.index}: {size_of(worst.n_bytes)}"
    if side:
        foot: Figure = {"yref": "y2", "at": "left bottom" if side > 0 else "right bottom", "role": "@chart-over-ink"}
        foot |= {} if is_free else {"bgcolor": "@chart-paper", "borderpad": 1}
        high, low = (7 * side, 9), (8 * side, -4)
    else:
        depth = max(placed(scale, bar) for bar in level if abs(bar.centre - worst.centre) < 0.25 * (last + 1))
        foot = {"yref": "y2", "at": "center top", "role": "@chart-over-ink"}
        high, low = (0, 0), (0, -22)
    at = min(max(worst.centre, 0.16 * last), 0.84 * last) if not side else worst.centre
    notes = [
        note(figures.factor(worst.overcount), at, depth, size=18, weight=600, shift=high, **foot),
        note(says, at, depth, size=12, shift=low, width="wide", **foot),
        note(brief, at, depth, size=12, shift=low, width="narrow", **foot),
        _sliver_note(worst, last, token_top(max(bar.total for bar in bars))),
    ]
    return notes + _gate_notes(data, worst, last)


def _gate_notes(data: Pressure, worst: Bar, last: int) -> list[Figure]:
    """Where a byte trigger fires on the worst message, in as many words as fit beside recorded compactions."""
    gate = byte_gate(data, worst)
    if gate is None or _cut_behind(data, worst):
        return []
    cuts = [cut.at for cut in data.compactions] if len(data.compactions) <= RAIL_FROM else []
    brief = "a byte trigger fires here"
    for says, share in ((f"{brief}, at {figures.count(gate[1])} tokens", 0.3), (brief, 0.18)):
        side = _free_side(gate[0], share * (last + 1), last, cuts)
        if side:
            words: Figure = {"yref": "y3", "at": "left top" if side > 0 else "right top", "shift": (6 * side, -2)}
            words |= {"role": "@chart-over-ink"}
            height = max(data.window, gate[1])
            narrow = note("byte trigger", gate[0], height, width="narrow", **words)
            return [note(says, gate[0], height, width="wide", **words), narrow]
    return []


def _free_side(at: float, reach: float, last: int, cuts: Sequence[float]) -> int:
    """1 where words to the right of a place meet no cut and no edge, -1 to the left, 0 nowhere."""
    for side in (1, -1):
        if -0.5 <= at + side * reach <= last + 0.5 and not any(0 <= side * (cut - at) <= reach for cut in cuts):
            return side
    return 0


def _sliver_note(worst: Bar, last: int, top: int) -> Figure:
    """What the worst message truly weighs, on a leader over its bar, or beside a bar that leaves no room above."""
    words: Figure = {"role": "@chart-image-ink", "size": 12, "weight": 600, "bgcolor": "@chart-paper"}
    says = f"{figures.count((worst.weight or (worst.total, 0))[0])} tokens"
    if worst.total > 0.55 * top:
        left = worst.centre > 0.8 * last
        side: Figure = {"at": "right top", "shift": (-6, 0)} if left else {"at": "left top", "shift": (6, 0)}
        return note(says, worst.centre, worst.total, **side, **words)
    leader: Figure = {
        "showarrow": True,
        "ax": 0,
        "ay": -34,
        "arrowwidth": 1,
        "arrowcolor": "@kind-image",
        "arrowhead": 0,
    }
    edge = "left" if worst.centre < 0.08 * last else "right" if worst.centre > 0.92 * last else "center"
    return note(says, worst.centre, worst.total, at=f"{edge} bottom", **words, **leader)


def _cut_behind(data: Pressure, worst: Bar) -> Cut | None:
    """The recorded compaction between the worst message and the next request."""
    following = next((at for at, _, _ in data.contexts if at > worst.message), worst.message)
    return next((cut for cut in data.compactions if worst.message < cut.at < following), None)


def byte_gate(data: Pressure, worst: Bar) -> tuple[int, int, int] | None:
    """The request after the worst message where a gate that takes bytes for tokens fires on it alone, wrongly.

    Only told where it is beyond doubt: the message by itself has more bytes than the window has tokens, while the
    context of that request is under the window.
    """
    if worst.n_bytes <= data.window:
        return None
    cut = _cut_behind(data, worst)
    if cut is not None:
        held = (cut.before or 0) < data.window
        return (round(cut.at + 0.5), cut.before or 0, 0) if cut.is_false and held else None
    following = next((point for point in data.contexts if point[0] > worst.message), None)
    return following if following and following[1] < data.window else None
