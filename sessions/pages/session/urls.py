"""URLs of the session page."""

from __future__ import annotations

from django.urls import path

from sessions.pages.session import follow, view

urlpatterns = [
    path("s/<str:session_id>/", view.session, name="session"),
    path("s/<str:session_id>.json", view.session_json, name="session_json"),
    path("s/<str:session_id>/chart.json", view.chart_json, name="session_chart"),
    path("s/<str:session_id>/messages/", view.message_rows, name="messages"),
    path("s/<str:session_id>/events/", follow.events, name="events"),
    path("s/<str:session_id>/causes/", view.full_causes, name="causes"),
    path("s/<str:session_id>/growth/", follow.growth, name="growth"),
    path("s/<str:session_id>/messages.csv", view.messages_csv, name="messages_csv"),
    path("s/<str:session_id>/m/<int:index>/", view.inspector_view, name="inspector"),
    path("s/<str:session_id>/m/<int:index>/raw.json", view.message_raw, name="message_raw"),
]
