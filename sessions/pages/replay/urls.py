"""URLs of the replay lab."""

from __future__ import annotations

from django.urls import path

from sessions.pages.replay import view

urlpatterns = [
    path("s/<str:session_id>/replay/", view.replay, name="replay"),
    path("s/<str:session_id>/replay.json", view.replay_json, name="replay_json"),
    path("s/<str:session_id>/replay/step/", view.step, name="step"),
    path("s/<str:session_id>/replay/recommended/", view.recommended, name="recommended"),
]
