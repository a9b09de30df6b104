"""URLs of the Quality page."""

from __future__ import annotations

from django.urls import path

from sessions.pages.quality import view

urlpatterns = [
    path("s/<str:session_id>/quality/", view.quality, name="quality"),
    path("s/<str:session_id>/quality.json", view.quality_json, name="quality_json"),
    path("s/<str:session_id>/quality/judge/", view.ask_model, name="quality_judge"),
    path("quality/", view.warnings, name="quality_warned"),
]
