"""URLs of the exports."""

from __future__ import annotations

from django.urls import path

from sessions.pages.export import view

urlpatterns = [
    path("s/<str:session_id>/export.<str:suffix>", view.export_list, name="export"),
]
