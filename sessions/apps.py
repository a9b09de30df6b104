"""The Django app.  Its label differs from its name because django.contrib.sessions already owns "sessions"."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Sessions of LLM agents: uploads, messages, replays and links."""

    name = "sessions"
    label = "agent_sessions"
    verbose_name = "agent sessions"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have a key forgotten when whoever gave it signs out, and settings looked at anew by every request."""
        from django.contrib.auth.signals import user_logged_out
        from django.core.signals import request_started

        from sessions import tasks
        from sessions.adapters.own_models import look_again
        from sessions.services import column_runs, queue
        from sessions.services.model_access import forget_at_sign_out
        from sessions.services.prices import forget_prices

        user_logged_out.connect(forget_at_sign_out, dispatch_uid="sessions.forget_key")
        queue.tell[:] = [tasks.wake]
        column_runs.pages[:] = [kept_by_pages]
        request_started.connect(forget_prices, dispatch_uid="sessions.forget_prices")
        request_started.connect(look_again, dispatch_uid="sessions.look_again")


def kept_by_pages() -> Mapping[str, Callable[[str], None]]:
    """What works out all that a page keeps of a session, in the order in which pages are visited."""
    from sessions.pages.session.view import work_out as session
    from sessions.pages.why.context import work_out as why
    from sessions.runs.replays import work_out as replay

    return {"session": session, "why": why, "replay": replay}
