"""What a model takes in one client, or from one seller, where that is not the model's own window (policies 15).

A row holds for a client, a provider as transcripts write it, models by the start of their bare names, and days; the
first that fits is taken.  Windows are the most input in tokens that one request may carry.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.engine.base.moments import moment
from sessions.engine.models.model_info import (
    ModelInfo,
    asks_for_long,
    begins_with,
    is_own,
    model_info,
    normalised,
    with_window,
)
from sessions.engine.models.models_table import LONG
from sessions.engine.transcript.types import Transcript

CLAUDE_CODE, CLAUDE_WINDOW = "claude_code", 200_000


@dataclass(frozen=True, slots=True)
class Offer:
    """One row: ``days`` are the first and the first that it no longer holds for, "" where it has no such end."""

    provider: str
    models: tuple[str, ...]
    window: int
    source: str
    agent: str = ""
    days: tuple[str, str] = ("", "")


CODEX, COPILOT, COPILOT_CLI = "openai-codex", "github-copilot", "copilot_cli"
CODEX_MODELS = ("gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.3", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6")
CLAUDE_ON_COPILOT = (
    "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
    "claude-opus-5", "claude-opus-5-5", "claude-sonnet-4", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-sonnet-5",
    "claude-sonnet-5-5", "claude-fable-5", "claude-fable-5-1",
)  # fmt: skip
OFFERS = (
    Offer(CODEX, ("gpt-5.3-codex-spark",), 128_000, "recorded by Codex 0.144"),
    Offer(CODEX, ("gpt-5.6",), 372_000, "openai/codex issue 31860, earendil-works/pi PR 6471", days=("", "2026-07-13")),
    Offer(CODEX, CODEX_MODELS, 258_400, "cline/cline PR 12129", "cline", days=("2026-07-07", "")),
    Offer(CODEX, CODEX_MODELS, 272_000, "openai/codex issues 19319 and 31860, earendil-works/pi PR 6837"),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 200_000, "recorded by Copilot CLI 1.0", COPILOT_CLI),
    Offer(COPILOT, ("claude-haiku-4-5",), 128_000, "litellm 1.109.1"),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 128_000, "models.dev of 2026-03-31", days=("", "2026-05-28")),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 168_000, "models.dev of 2026-05-28", days=("2026-05-28", "2026-09-23")),
    Offer(COPILOT, CLAUDE_ON_COPILOT, 200_000, "models.dev of 2026-09-23", days=("2026-09-23", "")),
    Offer(COPILOT, ("gpt-5.6-luna",), 200_000, "litellm 1.109.1"),
    Offer(COPILOT, ("gpt-5.2-codex", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6"), 272_000, "models.dev"),
    Offer(COPILOT, ("gpt-5", "gpt-5-mini", "gpt-5.1", "gpt-5.3-codex", "gpt-4.1"), 128_000, "litellm 1.109.1"),
    Offer(COPILOT, ("gpt-4o",), 64_000, "litellm 1.109.1"),
)
"""Subscriptions and Copilot limit the input alone (policies 15.2, 15.3); days are those of the lists that were read."""


def offered(transcript: Transcript, name: str) -> tuple[ModelInfo, str]:
    """The model called ``name`` as the session's client has it, and where that is from; "" is the model's own window.

    A model of the user's own table is taken as it stands there; the day is the one the session started on, and who sold
    the model is what its newest request says.
    """
    own, day = model_info(name), moment(transcript.started_at)
    # Other formats may name Claude Code as their client.
    agent = CLAUDE_CODE if transcript.client.lower().startswith("claude code") else transcript.format
    if not name or is_own(name):
        return own, ""
    if agent == CLAUDE_CODE:
        return _in_claude_code(own)
    sold = (r.provider for r in reversed(transcript.requests) if r.provider and r.model == name)
    provider = COPILOT if agent == COPILOT_CLI else next(sold, "")
    date = "" if day is None else day.date().isoformat()
    row = next((row for row in OFFERS if _fits(row, agent, provider, normalised(name), date)), None)
    return (own, "") if row is None else (with_window(name, row.window, is_limit=True), f"{provider}: {row.source}")


def _in_claude_code(own: ModelInfo) -> tuple[ModelInfo, str]:
    """Claude's models have their own window; any other name is taken for 200,000, or asks for more (policies 15.1)."""
    if own.family == "claude" and own.known:
        return own, ""
    window = LONG if asks_for_long(own.name) else CLAUDE_WINDOW
    return with_window(own.name, window), "Claude Code takes a model that it does not know for 200,000"


def _fits(row: Offer, agent: str, provider: str, plain: str, day: str) -> bool:
    first, end = row.days
    held = (not first or not day or day >= first) and (not end or (day != "" and day < end))
    models = any(begins_with(plain, prefix) for prefix in row.models)
    return row.provider == provider and row.agent in {"", agent} and models and held
