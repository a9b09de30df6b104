"""The chart of a replay as SVG, drawn from the same document as the file: it needs no script and no style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sessions.engine.redact import Choice
from sessions.engine.redact.escaping import xml

WIDE, TALL = 960, 360
LEFT, RIGHT, TOP, FOOT = 70, 120, 40, 40
INK, MUTED, LINE, ACCENT, DANGER = "#1f2933", "#667380", "#d9dee3", "#2457d6", "#b3261e"


def svg(document: dict[str, Any], *, title: str, choice: Choice) -> str:
    """A ``ctxweb.handout/1`` document as SVG: context in tokens by request; of texts its redacted ``title`` alone."""
    position, window = document["positions"][document["chosen"]], document["session"]["window"]
    known = [tokens for tokens in (*position["context"], *document["recorded"]) if tokens is not None]
    in_tokens = position["threshold"] is not None and position["unit"] == "tokens"
    top = max([*known, position["threshold"] if in_tokens else 1, 1]) * 1.06
    last = max(len(position["context"]), len(document["recorded"]), 2) - 1
    scale = _Scale(top, last, document["n_each"])
    parts = [_frame(scale, xml(title, choice, 110), document["session"]["requests"])]
    if window <= top:
        parts.append(_level(scale, window, f"window {window:,}", MUTED, dashed=False))
    if in_tokens:
        parts.append(_level(scale, position["threshold"], f"at {position['threshold']:,}", ACCENT, dashed=True))
    parts.append(_steps(scale, document["recorded"], MUTED, 1.25))
    parts.append(_steps(scale, position["context"], ACCENT, 2.25))
    parts += [_event(scale, event) for event in position["events"]]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {TALL}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="{xml(title, choice)}"><title>{xml(title, choice)}</title>'
        f'<rect width="{WIDE}" height="{TALL}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


class _Scale:
    """Where requests and tokens stand; ``each`` requests share a point."""

    def __init__(self, top: float, last: int, each: int) -> None:
        self.top, self.last, self.each = top, last, each

    def x(self, point: float) -> float:
        return round(LEFT + (WIDE - LEFT - RIGHT) * point / self.last, 1)

    def y(self, tokens: float) -> float:
        return round(TALL - FOOT - (TALL - TOP - FOOT) * tokens / self.top, 1)


def _frame(scale: _Scale, title: str, n_requests: int) -> str:
    marks, step = [], _round_step(scale.top / 4)
    for part in range(int(scale.top / step) + 1):
        tokens = step * part
        y = scale.y(tokens)
        marks.append(f'<path d="M{LEFT} {y}H{WIDE - RIGHT}" stroke="{LINE}"/>')
        marks.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end" fill="{MUTED}">{_short(tokens)}</text>')
    words = f'<text x="{LEFT}" y="20" font-size="14" font-weight="600" fill="{INK}">{title}</text>'
    foot = f'<text x="{LEFT}" y="{TALL - 12}" fill="{MUTED}">request 0</text>'
    foot += (
        f'<text x="{WIDE - RIGHT}" y="{TALL - 12}" text-anchor="end" fill="{MUTED}">{max(n_requests - 1, 0):,}</text>'
    )
    side = f'<text x="{WIDE - RIGHT + 8}" y="{TOP + 4}" fill="{MUTED}">tokens</text>'
    key = f'<text x="{WIDE - RIGHT + 8}" y="{TALL - 28}" fill="{ACCENT}">this setting</text>'
    key += f'<text x="{WIDE - RIGHT + 8}" y="{TALL - 12}" fill="{MUTED}">recorded</text>'
    return words + "".join(marks) + foot + side + key


def _round_step(rough: float) -> int:
    """1, 2 or 5 times a power of ten, at least ``rough``."""
    power = 10 ** math.floor(math.log10(max(rough, 1)))
    return int(next(unit * power for unit in (1, 2, 5, 10) if unit * power >= rough))


def _short(tokens: float) -> str:
    """168K, 3.1M, 0."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.1f}M"
    return f"{tokens / 1_000:,.0f}K" if tokens >= 1_000 else f"{tokens:.0f}"


def _level(scale: _Scale, tokens: float, words: str, colour: str, *, dashed: bool) -> str:
    y = scale.y(tokens)
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    line = f'<path d="M{LEFT} {y}H{WIDE - RIGHT}" stroke="{colour}"{dash}/>'
    return line + f'<text x="{WIDE - RIGHT + 8}" y="{y + 4}" fill="{colour}">{words}</text>'


def _steps(scale: _Scale, context: Sequence[int | None], colour: str, width: float) -> str:
    path, drawing = [], False
    for point, tokens in enumerate(context):
        if tokens is None:
            drawing = False
            continue
        x, y = scale.x(point), scale.y(tokens)
        path.append(f"H{x}V{y}" if drawing else f"M{x} {y}")
        drawing = True
    return f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="{width}"/>' if path else ""


def _event(scale: _Scale, event: dict[str, Any]) -> str:
    """The number of a compaction over the line; red where a rule that it lost is broken."""
    colour = DANGER if event.get("broken") else ACCENT
    x, y = scale.x(event["request"] / scale.each), scale.y(event["before"])
    box = f'<rect x="{x - 8}" y="{y - 20}" width="16" height="16" rx="3" fill="#fff" stroke="{colour}"/>'
    words = f'<text x="{x}" y="{y - 8}" text-anchor="middle" font-size="11" fill="{colour}">{event["event"] + 1}</text>'
    return f"<g><title>compaction {event['event'] + 1}</title>{box}{words}</g>"
