"""URLs of the app, grouped by screen."""

from __future__ import annotations

from django.urls import URLPattern, path

from sessions.views import library

app_name = "sessions"

library_urls: list[URLPattern] = [
    path("", library.library, name="library"),
]
upload_urls: list[URLPattern] = []
session_urls: list[URLPattern] = []
replay_urls: list[URLPattern] = []
link_urls: list[URLPattern] = []

urlpatterns = library_urls + upload_urls + session_urls + replay_urls + link_urls
