"""Cline: length of the serialised message / 3, rounded up, at least 1; base64 of images included (policies 2.4).

JSON punctuation, keys, escapes and the message's own metadata are not counted, so this is a lower bound (escapes alone
add 4.8% of the characters of public transcripts, 0 to 16% by file).
"""

from __future__ import annotations

from sessions.engine.tokens.estimators._counts import rounded_once, up
from sessions.engine.tokens.estimators.chars import chars

CHARS_PER_TOKEN = 3

ESTIMATOR = rounded_once(
    "cline", "Cline estimate", "cline/cline SDK compaction-shared.ts, llms/tokens.ts",
    lambda block, _model: chars(block), lambda n_chars: max(1, up(n_chars, CHARS_PER_TOKEN)),
)  # fmt: skip
