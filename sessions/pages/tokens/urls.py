"""URLs of personal tokens."""

from __future__ import annotations

from django.urls import path

from sessions.pages.tokens import view

urlpatterns = [
    path("settings/tokens/", view.tokens, name="tokens"),
    path("settings/tokens/<int:token_id>/revoke/", view.revoke, name="token_revoke"),
]
