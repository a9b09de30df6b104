"""Claude Code's estimate padded by 4/3, rounded up: its microcompact and session-memory variant.

Third-party analyses of Claude Code (``how-claude-code-works``, chapter on context engineering; the client's source is
not public): ``estimateMessageTokens`` adds up the rough counts of all blocks and returns the ceiling of 4/3 of them.
The original pads the sum over all messages it is given; here each message is padded, less than one token more a
message.  That its rough counts are those of ``claude_code`` (JSON-like files included) is assumed.
"""

from __future__ import annotations

from sessions.engine.tokens.estimators import claude_code
from sessions.engine.tokens.estimators._counts import rounded_per_message, up


def padded(tokens: int) -> int:
    """Four thirds, up."""
    return up(4 * tokens, 3)


ESTIMATOR = rounded_per_message(
    "claude_code_padded",
    "Claude Code estimate × 4/3",
    "Claude Code's microcompact and session-memory estimate (third-party analyses)",
    claude_code.size,
    padded,
)
