"""URLs of deleting."""

from __future__ import annotations

from django.urls import path

from sessions.pages.delete import view

urlpatterns = [path("delete/", view.delete, name="delete")]
