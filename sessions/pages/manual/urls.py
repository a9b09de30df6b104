"""URLs of the documentation."""

from __future__ import annotations

from django.urls import path

from sessions.pages.manual import view

urlpatterns = [
    path("docs/", view.manual, name="manual"),
    path("docs/<path:name>", view.manual, name="manual_page"),
]
