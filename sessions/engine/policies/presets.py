"""Presets of the parametric policy: a trigger and an edit each, said in its parameters.

``batched_masking`` (policies 14.2), ``effective_window`` (seeds 3.2), ``kimi`` (policies 11.19),
``mini_swe_agent_summary`` (policies 11.21), ``smolagents_screenshots`` (policies 11.18).  ``cold_cache``: after five
idle minutes the cached prefix has expired, the whole context is written anew anyway.  Both triggers must hold, so busy
stretches are never interrupted.
"""

from __future__ import annotations

from sessions.engine.policies._caveats import MAY_LOSE_THE_REQUEST
from sessions.engine.policies.parametric import preset

POLICIES = (
    preset(
        "batched_masking", "Masking in batches",
        "ctxweb after the cost model of rolling masks: clearing pays when it is done rarely and frees much",
        "Clears old tool results only when a fifth of the context would go, so that the cache breaks rarely.",
        share=25.0, edit="mask results", keep_last=10, keep_unit="replies", reclaim=20,
    ),
    preset(
        "cold_cache", "Compact when the cache is cold",
        "ctxweb: a cache write is due anyway after the cache's lifetime, so the rewrite costs nothing extra",
        "Waits for a pause of five minutes and a context of two fifths of the window.",
        share=40.0, idle_minutes=5, combine="all",
    ),
    preset(
        "effective_window", "70% of the effective window",
        "context-compression skill, effective window: the window without system prompt and tools",
        "Summarises at 70% of what the window leaves for messages; ten messages stay.",
        share=70.0, capacity="effective", keep_last=10,
    ),
    preset(
        "head_and_tail", "Head and tail",
        "ctxweb: the classic middle cut, by messages",
        "At four fifths of the window only the first three and the last twenty messages stay.",
        share=80.0, edit="truncate", keep_first=3, keep_last=20, caveats=(MAY_LOSE_THE_REQUEST,),
    ),
    preset(
        "kimi", "kimi-cli compaction",
        "MoonshotAI kimi-cli: used ≥ 0.85 × window, or used + 50,000 ≥ window",
        "Summarises all but the last two messages at 85% of the window, or 50,000 tokens under it.",
        share=85.0, reserve=50_000, counted="usage", keep_last=2,
    ),
    preset(
        "mini_swe_agent_summary", "mini-swe-agent v2 summary",
        "CooperBench mini-swe-agent v2: 28,000 prompt tokens, the last two assistant turns kept",
        "Summarises at 28,000 tokens; the task and the last two replies with their results stay.",
        share=None, tokens=28_000, keep_first=1, keep_last=2, keep_unit="replies",
    ),
    preset(
        "no_old_thinking", "Old thinking cleared",
        "ctxweb: thinking of all but the last three replies goes at half the window",
        "Clears the thinking of older replies and nothing else.",
        share=50.0, edit="clear thinking", keep_last=3, keep_unit="replies",
    ),
    preset(
        "smolagents_screenshots", "smolagents: old screenshots dropped",
        "huggingface/smolagents, documented step callback: screenshots older than two steps are removed",
        "Drops pictures once they are two steps old; text stays.",
        share=None, messages=1, edit="drop images", keep_last=2, keep_unit="replies",
    ),
    preset(
        "turn_summaries", "Summary every ten turns",
        "ctxweb: by turns, at turn ends only",
        "Summarises all but the last two turns after every ten typed prompts.",
        share=None, turns=10, moment="turn-end", keep_last=2, keep_unit="turns",
    ),
)  # fmt: skip
