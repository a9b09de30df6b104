"""Clears old tool results in batches: only where at least a fifth of the context would go (policies 14.2).

Masking at every turn loses the cached prefix each time; a batch pays for its one rewrite.
"""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "batched_masking",
    "Masking in batches",
    "ctxweb after the cost model of rolling masks: clearing pays when it is done rarely and frees much",
    "Clears old tool results only when a fifth of the context would go, so that the cache breaks rarely.",
    "tiktoken_o200k",
    share=25.0,
    edit="mask results",
    keep_last=10,
    keep_unit="replies",
    reclaim=20,
)
