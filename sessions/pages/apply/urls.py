"""URLs of the “Apply it”."""

from __future__ import annotations

from django.urls import path

from sessions.pages.apply import view

urlpatterns = [
    path("s/<str:session_id>/apply/", view.apply, name="apply"),
    path("s/<str:session_id>/apply.json", view.apply_json, name="apply_json"),
]
