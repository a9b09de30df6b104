"""Gemini CLI: the threshold of chat compression (policies 7.1)."""

from __future__ import annotations

import json
import math

from sessions.engine.wanted import SUMMARISE, Agent, Made, Wanted, not_tokens


def make(setting: Wanted) -> Made:
    """The share of the model's token limit at which it compresses, rounded down to four digits."""
    if setting.edit != SUMMARISE:
        return Made(
            cannot=("Gemini CLI compresses with a summary; clearing alone and switching off are not settings.",)
        )
    if setting.share is None:
        return Made(cannot=(not_tokens(setting),))
    share = min(1.0, math.floor(setting.share * 10_000) / 10_000)
    text = json.dumps({"model": {"compressionThreshold": share}}, indent=2) + "\n"
    cannot = [f"It is a share of the running model's limit: {share:g} of {setting.window:,} tokens here."]
    if setting.keep_messages is not None or setting.keep_tokens is not None:
        cannot.append("It keeps the newest three tenths of the history, and nothing sets another share.")
    return Made(text, None, tuple(cannot))


AGENT = Agent(
    name="gemini_cli",
    label="Gemini CLI",
    file="~/.gemini/settings.json",
    language="json",
    source="google-gemini/gemini-cli, docs/reference/configuration.md",
    checked="2026-11-22",
    own=frozenset(),
    differs="Gemini CLI cuts large tool results first and checks its summary with a second call.",
    make=make,
)
