"""opencode V1: characters of text / 4, halves up, per part; no image rule.

anomalyco/opencode ``packages/opencode/src/util/token.ts`` (``Token.estimate``: ``Math.round(length / 4)``), applied
by ``session/compaction.ts`` to each completed tool part's output (prune).  V1 has no rule for media, which weigh
nothing here: in what it summarises they become "[Attached mime: name]".  (Its tail selection estimates the JSON of
whole model messages, where an inline image's base64 does count: ``chars_per_4`` shows that.)  Assumed for what it
does not estimate: thinking its text, a call its name and JSON arguments, an unknown block its JSON; signatures,
payloads and ids nothing.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._counts import half_up, name_chars
from sessions.engine.transcript.types import Block


def size(block: Block, model: ModelInfo) -> int:
    """Text of the block and of each part by 4, halves up."""
    return half_up(block.n_chars + name_chars(block), 4) + sum(size(part, model) for part in block.parts)


ESTIMATOR = Estimator("opencode", "opencode V1 estimate", "opencode util/token.ts (V1)", "tokens", size)
