"""Fixtures of the server tests."""

from __future__ import annotations

from tests.servers.servers import postgres_url

__all__ = ["postgres_url"]
