"""URLs of the A/B page."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from sessions.pages.ab import view

urlpatterns = [
    path("s/<str:session_id>/compare/ab/", view.ab, name="ab"),
    path("s/<str:session_id>/ab/", RedirectView.as_view(pattern_name="sessions:ab", query_string=True), name="ab_was"),
    path("s/<str:session_id>/ab.json", view.ab_json, name="ab_json"),
]
