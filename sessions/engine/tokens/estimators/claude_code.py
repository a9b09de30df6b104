"""Claude Code's own rough count, without the usage anchor that its trigger adds (policies 2.4).

Chars are code points: UTF-16 units, which the original counts, differ for characters outside the basic plane only.
``claude_code_padded``, the variant for micro-compaction and notes: here each message is padded, not the sum over all,
less than one token more a message.  That its rough counts are these (JSON-like files included) is assumed.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Estimator
from sessions.engine.tokens.estimators._counts import half_up, rounded_once, up
from sessions.engine.transcript.types import Block, Kind

MEDIA_TOKENS = 2_000
JSON_SUFFIXES = (".json", ".jsonl", ".jsonc")


def size(block: Block, _model: ModelInfo) -> int:
    """Estimated tokens of the block and its parts."""
    return _size(block, dense=False)


def _size(block: Block, *, dense: bool) -> int:
    if block.kind in (Kind.IMAGE, Kind.DOCUMENT):
        return MEDIA_TOKENS
    dense = dense or (block.kind is Kind.TOOL_RESULT and block.target.lower().endswith(JSON_SUFFIXES))
    n_chars = block.n_chars + (len(block.name) if block.kind is Kind.TOOL_USE else 0)
    own = half_up(n_chars, 2 if dense else 4)
    return own + sum(_size(part, dense=dense) for part in block.parts) if block.parts else own


ESTIMATORS = (
    Estimator("claude_code", "Claude Code estimate", "Claude Code's rough token estimation", "tokens", size),
    rounded_once(
        "claude_code_padded",
        "Claude Code estimate × 4/3",
        "Claude Code's microcompact and session-memory estimate (third-party analyses)",
        size,
        lambda tokens: up(4 * tokens, 3),
    ),
)
