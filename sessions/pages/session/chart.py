"""The session's chart: context at each request by what fills it, under it the tokens of each message and its bytes.

Both bands have one x axis of message positions.  In the lower one text mirrors at the baseline; what falls through the
floor weighs more in bytes than any text of the session could, and an over-counted message is red with its factor.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from django.utils.safestring import SafeString

from sessions.engine.base import registry
from sessions.engine.reading.encodings import clearing_words, refusal_words
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Message
from sessions.engine.why.case import COMPACTION
from sessions.engine.why.falls import Fall
from sessions.engine.why.shared import shared_facts
from sessions.engine.why.verdicts import is_false
from sessions.pages.session import foot_notes, lanes
from sessions.pages.session.bars import (
    Bar,
    ByteScale,
    Cut,
    Mark,
    Pressure,
    binned,
    byte_scale,
    placed,
    raised,
)
from sessions.pages.session.foot_notes import byte_gate
from sessions.pages.session.lanes import LAYERS, SOFT, layers
from sessions.pages.ui import figures
from sessions.pages.ui.causes import held
from sessions.pages.ui.chart import (
    OUTSIDE,
    Figure,
    axis,
    drawn,
    figure_text,
    index_ticks,
    layout,
    line,
    nice_top,
    verticals,
)
from sessions.pages.ui.labelled import KIND_WORDS
from sessions.pages.ui.saw import MOST_LINES, envelope, thinned
from sessions.runs.overview import KINDS, Overview, called, kinds_of

ROLES = {kind: f"@kind-{kind.replace('_', '-')}" for kind in KINDS}
LIMIT_PX, WORST_PX = 6, 7.5
NOMINAL_PX = 950
LANES = {"context": (0.46, 1.0), "tokens": (0.2550, 0.40), "bytes": (0.0, 0.2550)}
RAIL = (0.975, 1.0)
"""Where the marks of many compactions stand, as a share of the plot's height."""
CALM = {"context": (0.36, 1.0), "tokens": (0.12, 0.29), "bytes": (0.0, 0.12)}
"""The lanes where nothing is over-counted: bytes mirror tokens, and there is no zone beneath."""
HEIGHT, NARROW_HEIGHT = 392, 392
MARGIN, NARROW_MARGIN = {"l": 62, "r": 20, "t": 6, "b": 20}, {"l": 50, "r": 12, "t": 6, "b": 20}
ZONE = 1.72
"""Height of the logarithmic zone over the upper part of the bytes."""
FLAT = 0.05
"""Share of the window under which a context that was never compacted gets an axis of its own."""
DISC_PX = 17
"""The number of a compaction."""


def pressure_json(view: Overview, measure: str) -> SafeString:
    """The pressure chart as JSON; ``measure`` names a byte estimator."""
    name = f"pressure {measure}"
    return SafeString(view.kept(name, lambda: figure_text(pressure_figure(_data(view, measure)))))


def pressure_near(view: Overview, measure: str, near: tuple[int, int]) -> str:
    """The same figure, finer between the two messages ``near``."""
    return figure_text(pressure_figure(_data(view, measure), near))


def _data(view: Overview, measure: str) -> Pressure:
    return view.once(f"pressure {measure}", lambda: _pressure(view, measure))


def _pressure(view: Overview, measure: str) -> Pressure:
    bars = [Bar(i, *facts) for i, facts in enumerate(zip(view.kinds, *view.measured(measure), strict=True))]
    contexts = sorted((message, tokens, request) for message, (request, tokens, _) in view.contexts.items())
    compactions = _cuts(view)
    name = dict(view.measures)[measure]
    refused, cleared = _marks(view, contexts)
    fills = dict(zip(view.contexts, layers(view), strict=True))
    window, per_token = view.weighed.own_window, view.per_token
    return Pressure(
        bars, contexts, compactions, window, per_token, name, refused, cleared,
        partial(_told, view, measure, said(view)), [fills[message] for message, _, _ in contexts],
    )  # fmt: skip


def _told(view: Overview, measure: str, said_of: Callable[[int], str], bar: Bar) -> Bar:
    """A bar that is shown, with its words; an over-counted one of its own has its most over-counted block too."""
    told = replace(bar, said=said_of(bar.message))
    if not bar.flagged:
        return told
    weight = worst_weight(view, bar.index, measure) if bar.last < 0 else None
    return replace(told, what=called(view.messages[bar.message], view.tools), weight=weight)


def _cuts(view: Overview) -> list[Cut]:
    found = [verdict for verdict in view.verdicts if verdict.what == COMPACTION]
    false = {v.number for v in found if is_false(v)}
    passed = {v.number: v.threshold for v in found if not is_false(v)}
    return [
        Cut(
            (c.message if c.message is not None else c.boundary) - 0.5, before, c.tokens_after, n in false,
            passed.get(n),
        )
        for n, (c, before) in enumerate(zip(view.weighed.transcript.compactions, held(view), strict=True))
    ]  # fmt: skip


def _marks(view: Overview, contexts: Sequence[tuple[int, int, int]]) -> tuple[list[Mark], list[Mark]]:
    """Refusals at the size their text gives or that of the request before, clearings at that of the one before."""
    transcript = view.weighed.transcript

    def before(message: int) -> int:
        return next((tokens for at, tokens, _ in reversed(contexts) if at < message), 0)

    refused = [
        Mark(
            e.message - 0.5,
            e.tokens if e.kind == ErrorKind.CONTEXT and e.tokens else before(e.message),
            refusal_words(e),
        )
        for e in transcript.errors
    ]

    def after(message: int) -> int:
        return next((tokens for at, tokens, _ in contexts if at >= message), 0)

    cleared = [
        Mark(c.message - 0.5, before(c.message), clearing_words(c), max(before(c.message) - after(c.message), 0))
        for c in transcript.clearings
    ]
    places = {request: message for message, _, request in contexts}
    falls = view.kept("falls", lambda: shared_facts(view.weighed).falls, (Fall,))
    cleared += [
        Mark(
            places[one.request] - 0.5, one.before, f"Fell from {one.before:,} to {one.after:,}: {one.because}",
            one.before - one.after, is_recorded=one.cleared,
        )
        for one in falls
        if one.request in places
    ]  # fmt: skip
    return refused, cleared


def pressure_figure(data: Pressure, near: tuple[int, int] | None = None) -> Figure:
    """The figure, in roles; ``layout.meta`` tells the page how to redraw it for a width.

    ``near`` are two messages between which it is finer.  ``meta.coarse``: it shows less than there is.
    """
    bars = [data.told(bar) for bar in binned(data.bars, near=near)]
    top = nice_top(max((bar.total for bar in bars), default=0))
    worst = max((bar for bar in bars if bar.flagged), key=lambda bar: bar.overcount or 0, default=None)
    largest = max((bar.n_bytes for bar in bars), default=0)
    scale = byte_scale(top, data.bytes_per_token, largest, ZONE) if worst else mirrored(top, data, largest)
    lane = LANES if worst else CALM
    last = max((bar.index + bar.width - 1 for bar in bars), default=0)
    largest_context = max((tokens for _, tokens, _ in data.contexts), default=0)
    is_flat = not data.compactions and not data.refused and 0 < largest_context < FLAT * data.window
    peak = max([0 if is_flat else data.window, largest_context, *(mark.tokens for mark in data.refused)])
    figure = layout(HEIGHT, NARROW_HEIGHT, MARGIN, NARROW_MARGIN, barmode="stack", bargap=0, hovermode=False)
    coarse = len(bars) < len(data.bars) or len(data.compactions) > MOST_LINES
    figure["meta"] |= {"points": points(data, bars), "coarse": coarse}
    figure |= {"xaxis": _message_axis(last), "yaxis": lanes.token_axis(top, lane["tokens"])}
    figure |= {"yaxis2": lanes.byte_axis(scale, lane["bytes"]), "yaxis3": lanes.context_axis(peak, lane["context"])}
    room = peak * lanes.CONTEXT_ROOM
    figure["shapes"] = [
        *lanes.grounds(scale, data.window, peak), *lanes.thresholds(data, last), *_verticals(data, near),
        *_stalks(data, room),
    ]  # fmt: skip
    figure["annotations"] = [
        *lanes.headings(
            scale, data, last, foot=lane["tokens"][1], place=worst.centre / max(last, 1) if worst else None,
            is_flat=is_flat,
        ),
        *foot_notes.compaction_notes(data, last, room),
        *foot_notes.clearing_notes(data, last),
        *foot_notes.factor_notes(bars, data, scale, last, worst),
        *foot_notes.worst_notes(bars, data, worst, scale, last),
    ]  # fmt: skip
    traces = [
        *_token_bars(bars, top), *_byte_bars(bars, scale, last, worst), *_context(data, near), *_events(data),
        *_discs(data, last, room),
    ]  # fmt: skip
    return drawn(traces, figure)


def mirrored(top: int, data: Pressure, largest: int) -> ByteScale:
    """A linear scale to the largest message: nothing lies beyond what text weighs."""
    floor = max(top * data.bytes_per_token, largest, 1)
    return ByteScale(floor=floor, bottom=floor, zone=0)


def _message_axis(last: int) -> Figure:
    at = {"range": [-0.5, last + 0.5], "tickvals": index_ticks(0, last), "tickformat": ",d"}
    return axis(domain=[0, 1], anchor="y2", showline=True, linecolor="@chart-axis", **at, **OUTSIDE)


def _token_bars(bars: Sequence[Bar], top: int) -> list[Figure]:
    """One bar trace per kind that occurs, from the calmest at the baseline to the rarest on top."""
    traces = []
    for kind in KINDS:
        shown = [bar for bar in bars if bar.tokens.get(kind)]
        if not shown:
            continue
        trace = _bars([bar.centre for bar in shown], [raised(bar, kind, top) for bar in shown], kind, ROLES[kind])
        trace["width"] = _widths(shown)
        if kind == "opaque":
            hatch = {"shape": "/", "size": 4, "solidity": 0.5, "fgcolor": ROLES[kind], "bgcolor": "@chart-paper"}
            trace["marker"]["pattern"] = hatch
        traces.append(trace)
    return traces


def _bars(x: list[float], y: list[float] | list[int], name: str, role: str, yaxis: str = "y") -> Figure:
    return {
        "type": "bar",
        "name": name,
        "x": x,
        "y": y,
        "yaxis": yaxis,
        "marker": {"color": role, "line": {"width": 0}},
    }


def _widths(bars: Sequence[Bar]) -> int | list[int]:
    """One width for all where they agree, which keeps the JSON small."""
    widths = [bar.width for bar in bars]
    return widths[0] if len(set(widths)) == 1 else widths


def _byte_bars(bars: Sequence[Bar], scale: ByteScale, last: int, worst: Bar | None) -> list[Figure]:
    """Grey bytes, then the over-counted ones in red; ``meta.px`` is the least width of each red bar on the screen."""
    calm = [bar for bar in bars if bar.n_bytes and not bar.flagged]
    loud = [bar for bar in bars if bar.flagged]
    grey = _bars([bar.centre for bar in calm], [placed(scale, bar) for bar in calm], "bytes", "@chart-bytes", "y2")
    red = _bars([bar.centre for bar in loud], [placed(scale, bar) for bar in loud], "over-counted", "@chart-over", "y2")
    pixels = [WORST_PX if bar is worst else LIMIT_PX for bar in loud]
    red |= {"width": [max(1, px * (last + 1) / NOMINAL_PX) for px in pixels], "meta": {"px": pixels}}
    grey["width"] = _widths(calm) if calm else 1
    return [trace for trace in (grey, red) if trace["x"]]


def _context(data: Pressure, near: tuple[int, int] | None) -> list[Figure]:
    if not data.contexts:
        return []
    if near is not None:
        near = bisect_left(data.contexts, (near[0],)) - 1, bisect_left(data.contexts, (near[1],)) + 1
    tokens = [held for _, held, _ in data.contexts]
    if near is None and len(data.compactions) > MOST_LINES:
        return _band(data, *envelope(tokens))
    places = list(thinned(tokens, near=near))
    x: list[float] = [data.contexts[at][0] for at in places]
    if len(places) == 1:
        # One request is as wide as its message: a line of one point cannot be seen.
        places, x = places * 2, [x[0] - 0.5, x[0] + 0.5]
    plain: Figure = {"type": "scatter", "mode": "lines", "yaxis": "y3", "x": x}
    areas = [
        plain | {
            "name": name, "y": [data.layers[at][layer] for at in places], "stackgroup": "context", "fillcolor": role,
            "line": {"shape": "hv", "width": 0, "color": role},
        }
        for layer, (name, role) in enumerate(zip(LAYERS, (f"@soft-{name}" for name in SOFT), strict=True))
        if any(one[layer] for one in data.layers)
    ]  # fmt: skip
    if areas and areas[0]["name"] == LAYERS[0]:
        hatch = {"shape": "/", "size": 6, "solidity": 0.2, "fgcolor": "@chart-ghost", "bgcolor": "@soft-fixed"}
        areas[0]["fillpattern"] = hatch
    stroke: Figure = {"shape": "hv", "width": 1.6, "color": "@chart-recorded"}
    return [*areas, plain | {"name": "context", "y": [tokens[at] for at in places], "line": stroke}]


def _band(data: Pressure, at: list[int], low: list[int], high: list[int]) -> list[Figure]:
    """The envelope of a line with more teeth than the eye tells apart: lowest to highest of each bin."""
    plain: Figure = {"type": "scatter", "mode": "lines", "yaxis": "y3", "x": [data.contexts[one][0] for one in at]}
    stroke: Figure = {"shape": "hv", "color": "@chart-recorded"}
    filled: Figure = {"fill": "tonexty", "fillcolor": "@chart-grid"}
    return [
        plain | {"name": "lowest", "y": low, "line": stroke | {"width": 0.75}},
        plain | filled | {"name": "context", "y": high, "line": stroke | {"width": 1.4}},
    ]


def _events(data: Pressure) -> list[Figure]:
    """Refusals and clearings as marks on the context's line."""
    kinds = (("refused", data.refused, "x", "@chart-over"), ("cleared", data.cleared, "circle-open", "@chart-axis"))
    return [
        {
            "type": "scatter", "mode": "markers", "name": name, "yaxis": "y3", "cliponaxis": False,
            "x": [mark.at for mark in marks], "y": [mark.tokens for mark in marks],
            "text": [mark.words for mark in marks], "hovertemplate": f"%{{text}}<extra>{name}</extra>",
            "marker": {"symbol": symbol, "size": 8, "color": role, "line": {"width": 1.4, "color": role}},
        }
        for name, marks, symbol, role in kinds
        if marks
    ]  # fmt: skip


def _verticals(data: Pressure, near: tuple[int, int] | None) -> list[Figure]:
    """Recorded compactions, dotted through all lanes; many are marks on a rail, but for the false alarms, in red."""
    many = len(data.compactions) > foot_notes.RAIL_FROM
    plain = [cut.at for cut in data.compactions if not cut.is_false]
    if many:
        plain = [together[len(together) // 2] for together in foot_notes.on_rail(plain, near)]
    false = [cut.at for cut in data.compactions if cut.is_false]
    return [
        *verticals("@chart-ghost", plain, y=RAIL if many else (0, 1), dash="" if many else "2px,2px"),
        *verticals("@chart-over", false, y=(0, 1), dash="2px,2px"),
    ]


def _stalks(data: Pressure, room: float) -> list[Figure]:
    """From the line up to the number of each false alarm."""
    if len(data.compactions) > foot_notes.RAIL_FROM:
        return []
    return [
        line("@chart-over", x=(cut.at, cut.at), y=(cut.before or 0, foot_notes.rise(cut, room, data.window)), xref="x",
             yref="y3", width=1.5)
        for cut in data.compactions
        if cut.is_false
    ]  # fmt: skip


def _discs(data: Pressure, last: int, room: float) -> list[Figure]:
    """The numbers of compactions in discs, one for those that stand on one spot; those of false alarms red."""
    if not data.compactions or len(data.compactions) > foot_notes.RAIL_FROM:
        return []
    found = [(flag, foot_notes.spot(flag)) for flag in foot_notes.flags(data, last)]
    size = DISC_PX if len(found) <= foot_notes.WORDS_TO else DISC_PX - 3
    texts = [str(flag[0][0]) if len(flag) == 1 else f"{flag[0][0]}–{flag[-1][0]}" for flag, _ in found]
    sizes = [size if len(flag) == 1 else 8 + 6 * len(text) for (flag, _), text in zip(found, texts, strict=True)]
    colours = ["@chart-over" if cut.is_false else "@chart-recorded" for _, cut in found]
    return [{
        "type": "scatter", "mode": "markers+text", "name": "compactions", "yaxis": "y3", "cliponaxis": False,
        "x": [cut.at for _, cut in found], "y": [foot_notes.rise(cut, room, data.window) for _, cut in found],
        "text": texts, "textposition": "middle center", "textfont": {"size": 11, "color": "@chart-paper"},
        "marker": {"size": sizes, "color": colours},
    }]  # fmt: skip


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
