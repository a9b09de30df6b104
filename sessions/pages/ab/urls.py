"""URLs of the A/B page."""

from __future__ import annotations

from django.urls import path

from sessions.pages.ab import view

urlpatterns = [
    path("s/<str:session_id>/ab/", view.ab, name="ab"),
    path("s/<str:session_id>/ab.json", view.ab_json, name="ab_json"),
]
