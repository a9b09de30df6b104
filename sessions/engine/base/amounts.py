"""Numbers as people write them: 200,000, 200_000, 200k, 1.5M, 60%."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"([+-]?)(\d[\d,_ ]*(?:\.\d*)?|\.\d+)(e[+-]?\d+)?\s*([kKmM%]?)")
SCALES = {"": 1.0, "k": 1_000.0, "m": 1_000_000.0}


def read_amount(text: str, *, share_of: float | None = None) -> float:
    """The number that ``text`` writes; ``k`` is a thousand, ``M`` a million.

    ``share_of`` says what 100% stands for: 100 where per cents are meant, 1 where a fraction is. Raises ValueError for
    what is no number, and for a per cent sign where ``share_of`` is None.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a number")
    sign, digits, exponent, mark = found.groups()
    number = float(sign + re.sub("[,_ ]", "", digits) + (exponent or ""))
    if mark != "%":
        return number * SCALES[mark.lower()]
    if share_of is None:
        raise ValueError("a per cent sign where no share is meant")
    return number * share_of / 100
