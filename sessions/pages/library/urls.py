"""URLs of the library."""

from __future__ import annotations

from django.urls import path

from sessions.pages.library import view

urlpatterns = [
    path("", view.library, name="library"),
    path("sessions.csv", view.sessions_csv, name="sessions_csv"),
    path("sessions.json", view.sessions_json, name="sessions_json"),
]
