"""Figures as words: how numbers, sizes, factors and times are written on every screen (rules: the design's "Numbers").

Nothing here knows HTML.  ``None`` is a figure that the recording does not have and reads "none".
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from typing import Literal

from django.utils import timezone

from sessions.engine.base.words import counted

NONE = "none"
MINUS = "\N{MINUS SIGN}"
SHORT_CLAUSE = 30
"""Characters under which a clause says too little to stand alone."""
Loudness = Literal["", "some", "much"]
plural = counted
"""A count with its noun: "1 session", "1,204 sessions"."""


def count(value: float | None) -> str:
    """A whole number with separators: 1,540."""
    if value is None:
        return NONE
    return f"{round(value):,}".replace("-", MINUS)


def scaled(value: float | None, units: tuple[str, ...]) -> tuple[str, str]:
    """The figure and its unit, in steps of 1,000: (3118884, ("B", "KB", "MB")) -> ("3.12", "MB")."""
    if value is None:
        return NONE, ""
    number, step = abs(float(value)), 0
    sign = MINUS if value < 0 else ""
    while number >= 999.5 and step < len(units) - 1:
        number, step = number / 1000, step + 1
    digits = 0 if step == 0 or number >= 99.95 else 1 if number >= 9.995 else 2
    return f"{sign}{number:.{digits}f}", units[step]


def size(n_bytes: float | None) -> tuple[str, str]:
    """Bytes in powers of ten: ("3.12", "MB")."""
    return scaled(n_bytes, ("B", "KB", "MB", "GB", "TB"))


def short(value: float | None) -> tuple[str, str]:
    """A large count, shortened: ("62.1", "K")."""
    return scaled(value, ("", "K", "M", "G"))


def factor(value: float | None) -> str:
    """An over-count factor: ×3.4 below ten, ×62, ×1,540; ×0.04 where a sum of squares of noise would read ×0.0."""
    if value is None or not math.isfinite(value):
        return NONE
    if value >= 9.95:
        return f"×{round(value):,}"
    return f"×{value:.1f}" if value >= 0.095 else f"×{value:.2f}"


def loudness(value: float | None) -> Loudness:
    """How loud an over-count is drawn: plain below 10, tinted from 10, solid from 100."""
    if value is None or value < 10:
        return ""
    return "some" if value < 100 else "much"


def listed(parts: Iterable[str]) -> str:
    """Words as a list: "a, b and c"."""
    words = [part for part in parts if part]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def first_clause(text: str) -> tuple[str, str]:
    """The first clause of several sentences, and all that follows it, which begins a sentence of its own.

    A clause of fewer than ``SHORT_CLAUSE`` characters takes the next one along; none ends within quotes or brackets.
    """
    quoted, depth = False, 0
    for at, char in enumerate(text):
        quoted ^= char == '"'
        depth += (char == "(") - (char == ")")
        ends = char in ";." and text[at + 1 : at + 2] == " "
        if ends and at >= SHORT_CLAUSE and not quoted and depth <= 0:
            rest = text[at + 2 :]
            return text[: at + (char == ".")], rest[:1].upper() + rest[1:]
    return text, ""


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, with a mark where it goes on."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def percent(part: float | None, whole: float | None) -> str:
    """A share: "11%", with one decimal below ten; "none" where there is no whole."""
    if part is None or not whole:
        return NONE
    value = 100 * part / whole
    text = f"{value:.0f}" if abs(value) >= 9.95 or value == 0 else f"{value:.1f}"
    return text.replace("-", MINUS) + "%"


def lost(n_rules: int, n_gone: int) -> str:
    """What a headline says is lost: rules, and where there is none what is used later."""
    if n_rules:
        return f"{plural(n_rules, 'rule')} lost"
    return f"no rule lost, {plural(n_gone, 'thing')} used later and lost" if n_gone else "no rule lost"


def sign(operator: str) -> str:
    """A comparison as people write it: "≥" for ">="."""
    return {">=": "≥", "<=": "≤"}.get(operator, operator)


def signed(value: float | None) -> str:
    """A difference with its sign: +2,025 or −108,780."""
    if value is None:
        return NONE
    return ("+" if value > 0 else "") + count(value)


def moment(value: dt.datetime | None, now: dt.datetime | None = None) -> str:
    """When, as short as it is clear: 14:02 today, yesterday, 18 Nov, 18 Nov 2025 for another year."""
    if value is None:
        return NONE
    here = timezone.localtime(value)
    today = timezone.localtime(now or timezone.now()).date()
    day = here.date()
    if day == today:
        return here.strftime("%H:%M")
    if day == today - dt.timedelta(days=1):
        return "yesterday"
    text = f"{here.day} {here:%b}"
    return text if day.year == today.year else f"{text} {day.year}"


def stamp(value: dt.datetime | None) -> str:
    """When, in full: 21 Nov 2026, 14:20."""
    if value is None:
        return NONE
    here = timezone.localtime(value)
    return f"{here.day} {here:%b %Y, %H:%M}"
