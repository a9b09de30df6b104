"""Where URLs lead."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from ctxweb.health import healthz, readyz
from ctxweb.signin import password
from sessions.api.page import docs
from sessions.api.routes import api

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("login/", LoginView.as_view(template_name="sessions/login.html"), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", password, name="password"),
    path("api/", docs, name="api_docs"),
    path("api/", api.urls),
    path("", include("sessions.urls")),
]

handler403, handler404, handler500 = (f"ctxweb.fault_pages.handler{status}" for status in (403, 404, 500))
