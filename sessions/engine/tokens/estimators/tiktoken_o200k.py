"""Text by tiktoken's o200k_base, unscaled; images by the rule of the session's provider.

Signatures and encrypted payloads weigh nothing (replay-semantics 3), nor do call ids and names.  A PDF weighs its
pages by the provider's rule (estimators 11); where its pages could not be counted, one page, which is a lower bound
and is named in ``Media.problem``.  For models other than OpenAI's the text count is an estimate.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimator import Estimator
from sessions.engine.tokens.estimators._images import document_tokens, image_tokens
from sessions.engine.transcript.types import Block, Kind


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block's text, its media and its parts; raises ValueError on a count that is not settled."""
    if block.n_tokens < 0:
        raise ValueError("the block's token count is not settled (measure.settle)")
    tokens = block.n_tokens + sum(size(part, model) for part in block.parts)
    if block.kind is Kind.IMAGE and block.media is not None:
        tokens += image_tokens(block.media, model)
    elif block.kind is Kind.DOCUMENT and block.media is not None and not block.n_tokens:
        tokens += document_tokens(block.media, model)
    return tokens


ESTIMATOR = Estimator(
    "tiktoken_o200k", "tiktoken o200k", "openai/tiktoken o200k_base; images by provider rule", "tokens", size
)
