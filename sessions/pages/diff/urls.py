"""URLs of the diff."""

from __future__ import annotations

from django.urls import path

from sessions.pages.diff import view

urlpatterns = [
    path("s/<str:session_id>/diff/", view.diff, name="diff"),
    path("s/<str:session_id>/diff.json", view.diff_json, name="diff_json"),
]
