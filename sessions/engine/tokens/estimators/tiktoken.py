"""Text by tiktoken's o200k_base, unscaled, or as its cl100k_base counts it; images by the provider's rule.

Signatures and encrypted payloads weigh nothing (replay-semantics 3), nor do call ids and names.  A PDF weighs its
pages by the provider's rule (estimators 11); where its pages could not be counted, one page, which is a lower bound
and is named in ``Media.problem``.  cl100k is counted where the texts are at hand (``ctxweb replay`` and its kin read
them from the file), derived elsewhere (estimators 4): a second tokenizer pass would more than double what reading a
session costs.
"""

from __future__ import annotations

from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.estimators import Counts, Estimator
from sessions.engine.tokens.estimators._counts import half_up, non_ascii, settled
from sessions.engine.tokens.estimators._images import document_tokens, image_tokens
from sessions.engine.transcript.types import Block, Kind

PER_1000_TOKENS, PER_1000_NON_ASCII = 994, 108


def size(block: Block, model: ModelInfo) -> int:
    """Tokens of the block's text, its media and its parts; raises ValueError on a count that is not settled."""
    tokens = settled(block) + sum(size(part, model) for part in block.parts)
    if block.kind is Kind.IMAGE and block.media is not None:
        tokens += image_tokens(block.media, model)
    elif block.kind is Kind.DOCUMENT and block.media is not None and not block.n_tokens:
        tokens += document_tokens(block.media, model)
    return tokens


def exactly(block: Block, model: ModelInfo, counts: Counts) -> int:
    """The same with cl100k's counts of texts where they are known, else derived."""
    own = settled(block)
    text = counts(block)
    if text is None:
        text = half_up(PER_1000_TOKENS * own + PER_1000_NON_ASCII * non_ascii(block), 1000)
    media = size(block, model) - own - sum(size(part, model) for part in block.parts)
    return text + media + sum(exactly(part, model, counts) for part in block.parts)


ESTIMATORS = (
    Estimator(
        "tiktoken_o200k", "tiktoken o200k", "openai/tiktoken o200k_base; images by provider rule", "tokens", size
    ),
    Estimator(
        "tiktoken_cl100k",
        "tiktoken cl100k (derived from o200k)",
        "openai/tiktoken cl100k_base, counted from texts at hand, else 0.994 × o200k + 0.108 × non-ASCII; "
        "images by rule",
        "tokens",
        lambda block, model: exactly(block, model, lambda _block: None),
        vocabulary="cl100k_base",
        exactly=exactly,
    ),
)
