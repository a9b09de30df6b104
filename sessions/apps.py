"""The Django app.  Its label differs from its name because django.contrib.sessions already owns "sessions"."""

from __future__ import annotations

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Sessions of LLM agents: uploads, messages, replays and links."""

    name = "sessions"
    label = "agent_sessions"
    verbose_name = "agent sessions"
    default_auto_field = "django.db.models.BigAutoField"
