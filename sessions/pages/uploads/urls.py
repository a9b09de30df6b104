"""URLs of the uploads."""

from __future__ import annotations

from django.urls import path

from sessions.pages.uploads import view

urlpatterns = [
    path("uploads/", view.upload, name="upload"),
    path("uploads/status/", view.uploads_status, name="uploads_status"),
    path("uploads/dismiss/", view.dismissed, name="uploads_dismiss"),
    path("uploads/<uuid:upload_id>/dismiss/", view.dismissed, name="upload_dismiss"),
    path("uploads/<uuid:upload_id>/", view.upload_report, name="upload_report"),
    path("uploads/<uuid:upload_id>.json", view.upload_report_json, name="upload_report_json"),
    path("uploads/<uuid:upload_id>/download/", view.upload_download, name="upload_download"),
    path("uploads/<uuid:upload_id>/rejected.csv", view.upload_rejected, name="upload_rejected"),
    path("media/<str:sha256>/", view.media, name="media"),
    path("media/<str:sha256>/small/", view.thumbnail, name="thumbnail"),
    path("demo/", view.demo, name="demo"),
]
