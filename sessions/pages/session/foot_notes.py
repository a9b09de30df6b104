"""The words on the pressure chart: compactions, factors at the feet of red bars, the worst message in full."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.pages.session.bars import Bar, ByteScale, Cut, Mark, Pressure, placed
from sessions.pages.ui import figures
from sessions.pages.ui.chart import Figure, note, plain, size_of, spaced, thousands
from sessions.pages.ui.saw import MOST_LINES

WORDS_HIGH = 0.8
"""Height of the worst message's words, in units of the byte axis's upper part."""


RAIL_FROM, WORDS_TO, WORDS_WIDE = 20, 4, 0.2
"""More compactions than the first stand as thin marks without words; up to the second each is told in words, which are
so wide a part of the chart."""
FLAG_WIDE = 0.035
"""The part of the chart within which two numbers would stand on each other."""
TOP, UNDER_LINE, OVER_LINE = 0.97, 0.05, 0.12
"""Where the highest numbers stand, and how far under and over the window's line one would stand on it or on its name,
as shares of the context's axis."""


Flag = list[tuple[int, Cut]]
"""Compactions that stand on one spot, each with its number from 1."""


def flags(data: Pressure, last: int) -> list[Flag]:
    """The compactions by the number that stands for them: neighbours share one; a false alarm has its own."""
    found: list[Flag] = []
    for number, cut in sorted(enumerate(data.compactions, 1), key=lambda one: one[1].at):
        beside = found[-1][-1][1] if found else None
        close = beside is not None and cut.at - beside.at < FLAG_WIDE * (last + 1)
        if beside is not None and close and not cut.is_false and not beside.is_false:
            found[-1].append((number, cut))
        else:
            found.append([(number, cut)])
    return found


def spot(flag: Flag) -> Cut:
    """Where a flag stands: in the middle of its compactions, as high as the highest."""
    cuts = [cut for _, cut in flag]
    highest = max((cut.before or 0 for cut in cuts), default=0)
    return cuts[0] if len(cuts) == 1 else Cut((cuts[0].at + cuts[-1].at) / 2, highest, None)


def rise(cut: Cut, room: float, window: int) -> float:
    """How high the number of a compaction stands: above the line, on a stalk where it was a false alarm.

    At the top where it would else stand on the window's line, or on its name there.
    """
    top, high = TOP * room, (cut.before or 0) + (0.24 if cut.is_false else 0.075) * room
    on_name = -UNDER_LINE * room < high - window < OVER_LINE * room
    return top if on_name else min(high, top)


def compaction_notes(data: Pressure, last: int, room: float) -> list[Figure]:
    """What each did beside its number, false alarms first, none too close; ``room``: the end of the context's axis."""
    if len(data.compactions) > RAIL_FROM:
        return _rail_note(data)
    found = flags(data, last)
    if len(found) > WORDS_TO:
        return []
    ranked = sorted(((spot(flag), len(flag)) for flag in found), key=lambda one: not one[0].is_false)
    wide, taken, notes = WORDS_WIDE * (last + 1), [(cut.at, cut.at) for cut, _ in ranked], []
    at_end = any(cut.at + wide > last + 1 for cut, _ in ranked)
    for cut, n in ranked:
        left = _words_side(cut.at, wide, at_end, taken, last + 1)
        if left is None or cut.before is None:
            continue
        taken.append((cut.at - wide, cut.at) if left else (cut.at, cut.at + wide))
        off = 13 if n == 1 else 22
        place: Figure = {
            "yref": "y3",
            "at": f"{'right' if left else 'left'} middle",
            "shift": (-off if left else off, 0),
        }
        place |= {"weight": 600, "bgcolor": "@chart-paper", "borderpad": 1}
        if cut.is_false:
            place["role"] = "@chart-over-ink"
        high = rise(cut, room, data.window)
        notes += [note(words, cut.at, high, width=width, **place) for words, width in _flag_words(cut, n)]
    return notes


def _flag_words(cut: Cut, n: int) -> tuple[tuple[str, str], ...]:
    """What a flag says where there is room, and on a narrow chart."""
    if n > 1:
        return (figures.plural(n, "compaction"), "wide"), (f"{n} ×", "narrow")
    before = figures.count(cut.before)
    if cut.is_false:
        return (f"false alarm at {before}", "wide"), ("false", "narrow")
    after = f" → {figures.count(cut.after)}" if cut.after is not None else ""
    return (before + after, "wide"), (thousands(cut.before or 0), "narrow")


def _words_side(at: float, wide: float, first: bool, taken: Sequence[tuple[float, float]], end: float) -> bool | None:
    """Whether words beside a number stand on its left: ``first`` where that is free; None where neither side is."""
    for left in (first, not first):
        low, high = (at - wide, at) if left else (at, at + wide)
        if low >= -1 and high <= end and not any(low < to and of < high for of, to in taken):
            return left
    return None


def clearing_notes(data: Pressure, last: int) -> list[Figure]:
    """What was cleared in place, and what fell without a record, in a word under the mark, while they are few."""
    if len(data.cleared) > WORDS_TO:
        return []
    free = spaced([mark.at for mark in data.cleared], last + 1, 0.2)
    place: Figure = {"yref": "y3", "at": "left top", "shift": (8, -2), "role": "@chart-label", "width": "wide"}
    return [
        note(_fallen(mark), mark.at, mark.tokens, **place)
        for mark, wide in zip(data.cleared, free, strict=True)
        if wide
    ]


def _fallen(mark: Mark) -> str:
    by = f" {figures.MINUS}{figures.count(mark.fell)}" if mark.fell else ""
    return f"cleared{by}" if mark.is_recorded else f"fell{by}, no record"


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
    says = figures.plural(len(data.compactions), "compaction") + (f", up to {most} a mark" if most > 1 else "")
    place: Figure = {"xref": "paper", "yref": "paper", "at": "right bottom", "shift": (0, 3), "role": "@chart-label"}
    return [note(says, 1, 1, **place)]


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
        if not on_wide or (worst is not None and abs(bar.centre - worst.centre) < 0.1 * (last + 1)):
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
        foot = {"yref": "y2", "at": "center top", "role": "@chart-over-ink", "bgcolor": "@chart-paper", "borderpad": 1}
        high, low = (0, 2), (0, -18)
    at = min(max(worst.centre, 0.16 * last), 0.84 * last) if not side else worst.centre
    notes = [
        note(figures.factor(worst.overcount), at, depth, size=18, weight=600, shift=high, **foot),
        note(says, at, depth, size=12, shift=low, width="wide", **foot),
        note(brief, at, depth, size=12, shift=low, width="narrow", **foot),
        _sliver_note(worst, last),
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


def _sliver_note(worst: Bar, last: int) -> Figure:
    """What the worst message truly weighs, beside the top of its bar."""
    left = worst.centre > 0.8 * last
    words: Figure = {"role": "@chart-image-ink", "size": 12, "weight": 600, "bgcolor": "@chart-paper"}
    words |= {"at": "right bottom", "shift": (-6, 0)} if left else {"at": "left bottom", "shift": (6, 0)}
    says = f"{figures.count((worst.weight or (worst.total, 0))[0])} tokens"
    return note(says, worst.centre, 0.45, **words)


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
