"""URLs of the app, grouped by screen."""

from __future__ import annotations

from django.urls import URLPattern, path

from sessions.views import library, uploads

app_name = "sessions"

library_urls: list[URLPattern] = [
    path("", library.library, name="library"),
    path("sessions.csv", library.sessions_csv, name="sessions_csv"),
    path("sessions.json", library.sessions_json, name="sessions_json"),
]
upload_urls: list[URLPattern] = [
    path("uploads/", uploads.upload, name="upload"),
    path("uploads/status/", uploads.uploads_status, name="uploads_status"),
    path("uploads/<uuid:upload_id>/download/", uploads.upload_download, name="upload_download"),
    path("uploads/<uuid:upload_id>/rejected.csv", uploads.upload_rejected, name="upload_rejected"),
    path("media/<str:sha256>/", uploads.media, name="media"),
    path("demo/", uploads.demo, name="demo"),
]
session_urls: list[URLPattern] = []
replay_urls: list[URLPattern] = []
link_urls: list[URLPattern] = []

urlpatterns = library_urls + upload_urls + session_urls + replay_urls + link_urls
