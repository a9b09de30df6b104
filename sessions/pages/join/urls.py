"""The URL of an invitation."""

from __future__ import annotations

from django.urls import path

from sessions.pages.join import view

urlpatterns = [path("join/<str:token>/", view.join, name="join")]
