"""What the snippets share: JSON, numbers as Python writes them, context sizes as LangChain takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions.engine.agents.setting import Setting

MODEL = "anthropic:claude-sonnet-4-5"
PROVIDERS = {"claude": "anthropic", "gpt": "openai", "gemini": "google_genai"}


def as_json(value: dict[str, Any]) -> str:
    """A file of JSON."""
    return json.dumps(value, indent=2) + "\n"


def model(setting: Setting) -> str:
    """The session's model as LangChain names it, an example where it is not known."""
    family = next((family for family in PROVIDERS if setting.model.startswith(family)), "")
    return f"{PROVIDERS[family]}:{setting.model}" if family else MODEL


def number(value: float) -> str:
    """120_000, 0.8."""
    return f"{value:_}" if isinstance(value, int) else f"{value:g}"


def names(words: str) -> str:
    """["Read", "Bash"]."""
    return json.dumps(words.split())


def trigger(setting: Setting) -> str:
    """When, as a LangChain context size; raises NotTokens where the trigger counts neither tokens nor messages."""
    if setting.policy.name == "langchain_summarization":
        return _own_trigger(setting)
    if setting.trigger_messages is not None:
        return f'("messages", {number(setting.trigger_messages)})'
    return f'("tokens", {number(setting.tokens)})'


def _own_trigger(setting: Setting) -> str:
    """All that are given: a list is any of them, a mapping all of them at once (policies 10.2)."""
    params = setting.params
    given = [("fraction", params.trigger_fraction), ("tokens", params.trigger_tokens),
             ("messages", params.trigger_messages)]  # fmt: skip
    found = [(name, value) for name, value in given if value is not None]
    if len(found) == 1:
        return f'("{found[0][0]}", {number(found[0][1])})'
    if params.combine == "all":
        return "{" + ", ".join(f'"{name}": {number(value)}' for name, value in found) + "}"
    return "[" + ", ".join(f'("{name}", {number(value)})' for name, value in found) + "]"


def keep(setting: Setting) -> str:
    """What stays, as a LangChain context size; "" for the default."""
    if setting.policy.name == "langchain_summarization" and setting.params.keep_fraction is not None:
        return f'("fraction", {number(setting.params.keep_fraction)})'
    if setting.keep_tokens is not None:
        return f'("tokens", {number(setting.keep_tokens)})'
    return "" if setting.keep_messages is None else f'("messages", {number(setting.keep_messages)})'
