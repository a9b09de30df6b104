"""URLs of the library."""

from __future__ import annotations

from django.urls import path

from sessions.pages.library import view

urlpatterns = [
    path("", view.library, name="library"),
    path("found/", view.choose, name="found"),
    path("found/state/", view.sync_state, name="found_state"),
    path("sessions.csv", view.sessions_csv, name="sessions_csv"),
    path("sessions.json", view.sessions_json, name="sessions_json"),
]
