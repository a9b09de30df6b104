"""Counts o200k_base tokens of a few ASCII texts without tiktoken, whose start costs more than such a file does.

The same rule as tiktoken's: its pattern cuts a text into words, and in each word the pair of the lowest rank is joined
until no pair is a token.  Written for ASCII, where the pattern's classes of letters are plain ranges.  What does not
fit (other characters, long words, much text) is left to tiktoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from sessions.engine.tokens import vocabulary

NAME = "o200k_base"
MOST_CHARS = 16_000
"""Characters of all texts together, for which this is quicker than building tiktoken's encoding."""
MOST_WORD_CHARS = 100
"""Joining pairs takes the square of a word's length."""
WORD = re.compile(
    r"[^\r\nA-Za-z0-9]?[A-Z]*[a-z]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\nA-Za-z0-9]?[A-Z]+[a-z]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    re.ASCII,
)
"""The pattern of o200k_base (tiktoken_ext/openai_public.py), with its classes of letters and digits cut to ASCII."""

_ranks = cache(vocabulary.ranks)


def fits(texts: Iterable[str], name: str = NAME) -> bool:
    """Whether these texts are counted here: few, ASCII, and tiktoken's encoding is not there already."""
    if name != NAME or not vocabulary.is_vendored(name) or vocabulary.is_built(name):
        return False
    left = MOST_CHARS
    for text in texts:
        left -= len(text)
        if left < 0 or not text.isascii():
            return False
    return True


def count_small(text: str) -> int | None:
    """Tokens of an ASCII text; None where a word is too long."""
    total = 0
    for word in WORD.findall(text):
        if len(word) > MOST_WORD_CHARS:
            return None
        total += _tokens(word.encode("ascii"))
    return total


@cache
def _tokens(word: bytes) -> int:
    """Tokens of one word: of all pairs that stand side by side, the first of the lowest rank is joined."""
    ranks = _ranks(NAME)
    if word in ranks:
        return 1
    parts = [word[place : place + 1] for place in range(len(word))]
    while len(parts) > 1:
        pairs = [ranks.get(left + right, vocabulary.RANKS[NAME]) for left, right in pairwise(parts)]
        lowest = min(pairs)
        if lowest == vocabulary.RANKS[NAME]:
            break
        place = pairs.index(lowest)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return len(parts)
