"""CooperBench's mini-swe-agent v2: a summary at 28,000 prompt tokens (policies 11.21).

System prompt and task stay in front of the summary, the last two assistant turns behind it.  The operator is not
recorded: at or over is assumed.
"""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "mini_swe_agent_summary",
    "mini-swe-agent v2 summary",
    "CooperBench mini-swe-agent v2: 28,000 prompt tokens, the last two assistant turns kept",
    "Summarises at 28,000 tokens; the task and the last two replies with their results stay.",
    "tiktoken_o200k",
    share=None,
    tokens=28000,
    keep_first=1,
    keep_last=2,
    keep_unit="replies",
)
