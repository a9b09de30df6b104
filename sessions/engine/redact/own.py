"""Words and expressions of a sender's own: read so that no text, however made, holds up whoever opens the link."""

from __future__ import annotations

import re
from functools import lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST_WORDS = 100
"""Words of one's own at the most."""
MOST_REPEATS = 40
"""How often ``*``, ``+`` and ``{n,}`` repeat: without an end, time would grow with the square of the text."""
MOST_WAYS = 2_000
"""Ways in which all expressions together may match from one place: what a search costs for each character."""
MOST_WIDTH = 5_000
"""Characters that an expression may match."""

_HOME = re.compile(r"(?:[/\\]home|[/\\]users|\A-home|\A-users)[/\\-]([a-z0-9][\w.]{1,63})", re.IGNORECASE)
_NOBODY = frozenset({
    "admin", "app", "codespace", "default", "dev", "developer", "linuxbrew", "me", "node", "public", "root", "runner",
    "shared", "ubuntu", "user", "vscode", "work",
})  # fmt: skip
"""Home folders that name no person."""

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<many>[*+]|\{[0-9]*,\})|.", re.DOTALL)


def name_in(folder: str) -> tuple[str, ...]:
    """The user's name in the home folder that ``folder`` lies in, as a word to take out wherever it stands alone."""
    found = _HOME.search(folder)
    return () if found is None or found[1].lower() in _NOBODY else (rf"/\b{re.escape(found[1])}\b/",)


@lru_cache(maxsize=64)
def own_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Words of one's own as expressions, ``/…/`` as it is; ValueError for over 100, or one that cannot be used."""
    if len(words) > MOST_WORDS:
        raise ValueError(f"{len(words)} words of your own; the most is {MOST_WORDS}")
    expressions = [word for word in words if len(word) > 2 and word.startswith("/") and word.endswith("/")]
    plain = sorted(set(words) - set(expressions) - {""}, key=len, reverse=True)
    ways, found = 0, [re.compile("|".join(map(re.escape, plain)), re.IGNORECASE)] if plain else []
    for word in expressions:
        pattern, more = _read(word)
        ways += more
        if ways > MOST_WAYS:
            raise ValueError(f"{word} may match in too many ways. Repeat fewer parts, or less often: {{1,9}} for +")
        found.append(pattern)
    return tuple(found)


def _read(word: str) -> tuple[re.Pattern[str], int]:
    """The expression with an end to every repetition, and the ways in which it may match from one place."""
    try:
        re.compile(word[1:-1])
        expression = _PIECE.sub(_ended, word[1:-1])
        ways = _ways(parser.parse(expression))
        return re.compile("(?!)" if ways > MOST_WAYS else expression, re.IGNORECASE), ways
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{word} is no regular expression: {error}") from None


def _ended(piece: re.Match[str]) -> str:
    """``*``, ``+`` and ``{n,}`` with an end; a sign behind another repetition (lazy, possessive) stays."""
    many = piece["many"]
    if many is None or (many == "+" and piece.string[piece.start() - 1 : piece.start()] in ("*", "+", "?", "}")):
        return piece[0]
    least = int(many == "+") if len(many) == 1 else int(many[1:-1] or 0)
    return f"{{{least},{least + MOST_REPEATS}}}"


def _ways(parsed: Any) -> int:
    """In how many ways a parsed expression may match, counted no further than one over the most."""
    if parsed.getwidth()[1] > MOST_WIDTH:
        return MOST_WAYS + 1
    ways = 1
    for code, value in parsed:
        ways = min(ways * max(1, _ways_of(code, value)), MOST_WAYS + 1)
    return ways


def _ways_of(code: Any, value: Any) -> int:
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _ways_repeated(*value)
    if code is op.BRANCH:
        return sum(_ways(branch) for branch in value[1])
    if code is op.GROUPREF_EXISTS:
        return sum(_ways(branch) for branch in value[1:] if branch is not None)
    inner = {op.SUBPATTERN: -1, op.ASSERT: 1, op.ASSERT_NOT: 1}.get(code)
    if code is op.ATOMIC_GROUP:
        return _ways(value)
    return 1 if inner is None else _ways(value[inner])


def _ways_repeated(least: int, most: int, inner: Any) -> int:
    each = _ways(inner)
    if not inner.getwidth()[1]:
        return MOST_WAYS + 1
    if each == 1:
        return int(min(most - least + 1, MOST_WAYS + 1))
    return sum(each ** min(n, MOST_REPEATS) for n in range(least, min(most, least + MOST_REPEATS) + 1))
