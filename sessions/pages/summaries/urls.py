"""URLs of the summaries by a model."""

from __future__ import annotations

from django.urls import path

from sessions.pages.summaries import view

urlpatterns = [
    path("s/<str:session_id>/summaries/", view.write, name="summaries"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/", view.progress, name="summary_job"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/cancel/", view.cancel, name="summary_cancel"),
]
