"""Where URLs lead."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("", include("sessions.urls"))]
