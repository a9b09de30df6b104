"""Gemini CLI: chat compression at half of the model's limit, or the share of its settings.json (policies 7.1)."""

from __future__ import annotations

from sessions.engine.agents._snippet import as_json
from sessions.engine.agents.agent import Agent, Place, Trigger
from sessions.engine.agents.setting import Configuration, Rendering, Setting


def render(setting: Setting) -> Rendering:
    """The share of the model's token limit at which it compresses, rounded down to four decimal places."""
    share = min(1.0, setting.tokens * 10_000 // setting.window / 10_000)
    cannot = [f"It is a share of the running model's limit: {share:g} of {setting.window:,} tokens here."]
    if setting.keep_messages is not None or setting.keep_tokens is not None:
        cannot.append("It keeps the newest three tenths of the history, and nothing sets another share.")
    return Rendering(as_json({"model": {"compressionThreshold": share}}), None, cannot)


AGENT = Agent(
    name="gemini_cli", label="Gemini CLI", rank=3, formats=("gemini_cli",),
    policies=("gemini_compression", "gemini_masking"),
    triggers=(
        Trigger(
            "gemini_cli", "Gemini CLI", "policies 7.1", "gemini_compression",
            words="Gemini CLI's half of the limit",
            note="Looks at the last prompt's tokens; the list's estimate only before the first.",
        ),
    ),
    older=(
        Trigger("older", "Gemini CLI", "policies 7.1", "gemini_compression", {"threshold": 0.7}, words="its older 0.7"),
    ),
    places={"gemini_cli": Place("~/.gemini/tmp", ("*/chats/*.json*",))},
    configuration=Configuration(
        file="~/.gemini/settings.json", language="json", checked="2026-11-22", make=render,
        source="google-gemini/gemini-cli, docs/reference/configuration.md",
        otherwise="Gemini CLI compresses with a summary; clearing alone and switching off are not settings.",
        differs="Gemini CLI cuts large tool results first and checks its summary with a second call.",
    ),
)  # fmt: skip
