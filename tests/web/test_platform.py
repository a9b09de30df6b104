"""What every page can rely on: database settings, security headers, health endpoints, who may come in."""

from __future__ import annotations

from django.apps import apps


def test_app_label_does_not_collide_with_django_sessions() -> None:
    assert apps.get_app_config("agent_sessions").name == "sessions"
