"""URLs of the Why page."""

from __future__ import annotations

from django.urls import path

from sessions.pages.why import view

urlpatterns = [
    path("s/<str:session_id>/why/", view.why, name="why"),
    path("s/<str:session_id>/why/aftermath/", view.why_aftermath, name="why_aftermath"),
    path("s/<str:session_id>/why/recorded/", view.why_recorded, name="why_recorded"),
    path("s/<str:session_id>/why/rules/", view.why_rules, name="why_rules"),
    path("s/<str:session_id>/why/chart.json", view.why_chart, name="why_chart"),
    path("s/<str:session_id>/why.json", view.why_json, name="why_json"),
]
