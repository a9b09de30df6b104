"""URLs of the app, grouped by screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.urls import URLPattern

app_name = "sessions"

library_urls: list[URLPattern] = []
upload_urls: list[URLPattern] = []
session_urls: list[URLPattern] = []
replay_urls: list[URLPattern] = []
link_urls: list[URLPattern] = []

urlpatterns = library_urls + upload_urls + session_urls + replay_urls + link_urls
