"""URLs of the counts by the provider."""

from __future__ import annotations

from django.urls import path

from sessions.pages.counts import view

urlpatterns = [
    path("s/<str:session_id>/count/", view.session_count, name="count"),
    path("s/<str:session_id>/m/<int:index>/count/", view.message_count, name="message_count"),
]
