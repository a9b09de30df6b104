"""Compacts in pauses: after five idle minutes the cached prefix has expired, the whole context is written anew anyway.

A design of ours: both triggers must hold (two fifths of the window, five idle minutes), so busy stretches are never
interrupted.
"""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "cold_cache",
    "Compact when the cache is cold",
    "ctxweb: a cache write is due anyway after the cache's lifetime, so the rewrite costs nothing extra",
    "Waits for a pause of five minutes and a context of two fifths of the window.",
    "tiktoken_o200k",
    share=40.0,
    idle_minutes=5,
    combine="all",
)
