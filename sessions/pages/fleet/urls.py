"""URLs of the fleet page."""

from __future__ import annotations

from django.urls import path

from sessions.pages.fleet import view

urlpatterns = [
    path("fleet/", view.fleet, name="fleet"),
    path("fleet.json", view.fleet_json, name="fleet_json"),
    path("fleet.csv", view.fleet_csv, name="fleet_csv"),
    path("fleet/run/", view.start, name="fleet_start"),
]
