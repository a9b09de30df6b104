"""How long and how much a provider's prompt cache holds, as Anthropic documents it."""

from __future__ import annotations

TTL_SECONDS, HOUR_TTL_SECONDS = 300.0, 3600.0
"""From the last use on; the second for what is paid for as an hour's."""
LEAST_CACHED = 1_024
"""Tokens of a prompt's opening under which nothing is kept."""
