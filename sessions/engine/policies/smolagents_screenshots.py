"""smolagents' documented callback for vision agents: pictures older than two steps go (policies 11.18)."""

from __future__ import annotations

from sessions.engine.policies._parametric import preset

POLICY = preset(
    "smolagents_screenshots",
    "smolagents: old screenshots dropped",
    "huggingface/smolagents, documented step callback: screenshots older than two steps are removed",
    "Drops pictures once they are two steps old; text stays.",
    "tiktoken_o200k",
    share=None,
    messages=1,
    edit="drop images",
    keep_last=2,
    keep_unit="replies",
)
