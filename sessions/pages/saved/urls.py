"""URLs of the saved views."""

from __future__ import annotations

from django.urls import path

from sessions.pages.saved import view

urlpatterns = [
    path("saved/", view.saved, name="saved"),
    path("saved/<int:view_id>/delete/", view.saved_delete, name="saved_delete"),
    path("s/<str:session_id>/save/", view.save, name="save"),
]
