"""URLs of Compare: settings of one session, and of several sessions."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from sessions.pages.sweep import view

urlpatterns = [
    path("s/<str:session_id>/compare/", view.sweep, name="sweep"),
    path(
        "s/<str:session_id>/sweep/",
        RedirectView.as_view(pattern_name="sessions:sweep", query_string=True),
        name="sweep_was",
    ),
    path("s/<str:session_id>/sweep.json", view.sweep_json, name="sweep_json"),
    path("s/<str:session_id>/sweep.csv", view.sweep_csv_view, name="sweep_csv"),
    path("sweep/", view.sweeps_page, name="sweeps"),
    path("sweep.json", view.sweeps_json, name="sweeps_json"),
    path("sweep.csv", view.sweeps_csv, name="sweeps_csv"),
    path("sweep/run/", view.start, name="sweep_start"),
    path("sweep/<uuid:run_id>/cancel/", view.cancel, name="sweep_cancel"),
]
