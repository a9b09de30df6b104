"""Gemini CLI: a text's ASCII characters / 4 and 1.5 for every other one; images 3,000, PDFs 25,800 (policies 2.4).

Characters are code points: an emoji, two UTF-16 units in the original, weighs 1.5 here and 3 there.  JSON keys and
escapes are not counted.  Assumed where the source is silent: thinking is a text part, and its signature counts only
where there is no text (then the part is JSON); an image of unstated media type is an image; other documents are JSON
(base64 / 4) beside their text; encrypted and unknown blocks are JSON.
"""

from __future__ import annotations

from sessions.engine.tokens.estimators._counts import media_chars, name_chars, non_ascii, rounded_once
from sessions.engine.transcript.types import Block, Kind

QUARTERS = 4
"""Everything is counted in quarters of a token, so that sums are exact."""
NON_ASCII_QUARTERS = 6
LONG_TEXT = 100_000
IMAGE_TOKENS, PDF_TOKENS = 3_000, 25_800
MAX_DEPTH = 3


def quarters(block: Block, depth: int) -> int:
    """Quarters of a token of a part, at the top level or so deep in others."""
    match block.kind:
        case Kind.TEXT:
            return _text(block)
        case Kind.THINKING:
            return _text(block) if block.n_chars else block.n_payload
        case Kind.IMAGE:
            return IMAGE_TOKENS * QUARTERS
        case Kind.DOCUMENT:
            return _document(block)
        case Kind.TOOL_RESULT:
            return len(block.name) + block.n_chars + _nested(block, depth + 1)
        case _:
            return block.n_chars + block.n_payload + name_chars(block)


def _nested(block: Block, depth: int) -> int:
    if depth > MAX_DEPTH:
        return 0
    return sum(quarters(part, depth) for part in block.parts) // QUARTERS * QUARTERS if block.parts else 0


def _text(block: Block) -> int:
    if block.n_chars > LONG_TEXT:
        return block.n_chars
    others = non_ascii(block)
    return block.n_chars - others + NON_ASCII_QUARTERS * others


def _document(block: Block) -> int:
    if block.media is not None and block.media.media_type.startswith("application/pdf"):
        return PDF_TOKENS * QUARTERS
    return _text(block) + media_chars(block.media)


ESTIMATOR = rounded_once(
    "gemini_cli", "Gemini CLI estimate", "google-gemini/gemini-cli utils/tokenCalculation.ts",
    lambda block, _model: quarters(block, 0),
    lambda amount: amount // QUARTERS,
)  # fmt: skip
