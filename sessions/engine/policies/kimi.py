"""kimi-cli: compacts at 85 % of the window or where 50,000 more would fill it, whichever comes first (policies 11.19).

The last two user or assistant messages stay; the rest becomes one user message.  128k: 78,000; 200k: 150,000; 1M:
850,000.
"""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "kimi",
    "kimi-cli compaction",
    "MoonshotAI kimi-cli: used ≥ 0.85 × window, or used + 50,000 ≥ window",
    "Summarises all but the last two messages at 85 % of the window, or 50,000 tokens under it.",
    "tiktoken_o200k",
    share=85.0,
    reserve=50000,
    counted="usage",
    keep_last=2,
)
