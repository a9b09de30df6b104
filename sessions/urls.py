"""URLs of the app, grouped by screen."""

from __future__ import annotations

from django.urls import URLPattern, path

from sessions.views import (
    ab,
    counts,
    deleting,
    diff,
    export,
    follow,
    library,
    links,
    preferences,
    quality,
    replay,
    saved,
    session,
    summaries,
    sweep,
    uploads,
    why,
)

app_name = "sessions"

library_urls: list[URLPattern] = [
    path("", library.library, name="library"),
    path("delete/", deleting.delete, name="delete"),
    path("sessions.csv", library.sessions_csv, name="sessions_csv"),
    path("sessions.json", library.sessions_json, name="sessions_json"),
]
upload_urls: list[URLPattern] = [
    path("uploads/", uploads.upload, name="upload"),
    path("uploads/status/", uploads.uploads_status, name="uploads_status"),
    path("uploads/<uuid:upload_id>/", uploads.upload_report, name="upload_report"),
    path("uploads/<uuid:upload_id>.json", uploads.upload_report_json, name="upload_report_json"),
    path("uploads/<uuid:upload_id>/download/", uploads.upload_download, name="upload_download"),
    path("uploads/<uuid:upload_id>/rejected.csv", uploads.upload_rejected, name="upload_rejected"),
    path("media/<str:sha256>/", uploads.media, name="media"),
    path("demo/", uploads.demo, name="demo"),
]
session_urls: list[URLPattern] = [
    path("s/<str:session_id>/", session.session, name="session"),
    path("s/<str:session_id>.json", session.session_json, name="session_json"),
    path("s/<str:session_id>/messages/", session.message_rows, name="messages"),
    path("s/<str:session_id>/events/", follow.events, name="events"),
    path("s/<str:session_id>/growth/", follow.growth, name="growth"),
    path("s/<str:session_id>/messages.csv", session.messages_csv, name="messages_csv"),
    path("s/<str:session_id>/m/<int:index>/", session.inspector_view, name="inspector"),
    path("s/<str:session_id>/m/<int:index>/raw.json", session.message_raw, name="message_raw"),
]
export_urls: list[URLPattern] = [
    path("s/<str:session_id>/export.<str:suffix>", export.export_list, name="export"),
]
replay_urls: list[URLPattern] = [
    path("s/<str:session_id>/replay/", replay.replay, name="replay"),
    path("s/<str:session_id>/replay.json", replay.replay_json, name="replay_json"),
    path("s/<str:session_id>/replay/step/", replay.step, name="step"),
    path("s/<str:session_id>/ab/", ab.ab, name="ab"),
    path("s/<str:session_id>/ab.json", ab.ab_json, name="ab_json"),
    path("s/<str:session_id>/diff/", diff.diff, name="diff"),
    path("s/<str:session_id>/diff.json", diff.diff_json, name="diff_json"),
]
saved_urls: list[URLPattern] = [
    path("saved/", saved.saved, name="saved"),
    path("saved/<int:view_id>/delete/", saved.saved_delete, name="saved_delete"),
    path("s/<str:session_id>/save/", saved.save, name="save"),
]
why_urls: list[URLPattern] = [
    path("s/<str:session_id>/why/", why.why, name="why"),
    path("s/<str:session_id>/why.json", why.why_json, name="why_json"),
]
quality_urls: list[URLPattern] = [
    path("s/<str:session_id>/quality/", quality.quality, name="quality"),
    path("s/<str:session_id>/quality.json", quality.quality_json, name="quality_json"),
    path("s/<str:session_id>/quality/judge/", quality.ask_model, name="quality_judge"),
    path("quality/", quality.warnings, name="quality_warned"),
]
sweep_urls: list[URLPattern] = [
    path("s/<str:session_id>/sweep/", sweep.sweep, name="sweep"),
    path("s/<str:session_id>/sweep.json", sweep.sweep_json, name="sweep_json"),
    path("s/<str:session_id>/sweep.csv", sweep.sweep_csv_view, name="sweep_csv"),
    path("s/<str:session_id>/apply/", sweep.apply_page, name="apply"),
    path("s/<str:session_id>/apply.json", sweep.apply_json, name="apply_json"),
    path("sweep/", sweep.sweeps_page, name="sweeps"),
    path("sweep.json", sweep.sweeps_json, name="sweeps_json"),
    path("sweep.csv", sweep.sweeps_csv, name="sweeps_csv"),
    path("sweep/run/", sweep.start, name="sweep_start"),
    path("sweep/<uuid:run_id>/cancel/", sweep.cancel, name="sweep_cancel"),
]
link_urls: list[URLPattern] = [
    path("s/<str:session_id>/share/", links.share, name="share"),
    path("s/<str:session_id>/share/removed/", links.share_removed, name="share_removed"),
    path("links/<int:link_id>/revoke/", links.link_revoke, name="link_revoke"),
    path("l/<str:token>/", links.link, name="link"),
    path("l/<str:token>/replay/", links.link_part, {"part": "replay"}, name="link_replay"),
    path("l/<str:token>/diff/", links.link_part, {"part": "diff"}, name="link_diff"),
    path("l/<str:token>/removed/", links.link_removed, name="link_removed"),
    path("l/<str:token>/view.json", links.link_json, name="link_json"),
]
count_urls: list[URLPattern] = [
    path("s/<str:session_id>/count/", counts.session_count, name="count"),
    path("s/<str:session_id>/m/<int:index>/count/", counts.message_count, name="message_count"),
]
summary_urls: list[URLPattern] = [
    path("s/<str:session_id>/summaries/", summaries.write, name="summaries"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/", summaries.progress, name="summary_job"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/cancel/", summaries.cancel, name="summary_cancel"),
]
settings_urls: list[URLPattern] = [
    path("settings/", preferences.settings_page, name="settings"),
    path("settings/prices/", preferences.prices, name="settings_prices"),
    path("settings/key/", preferences.key, name="settings_key"),
    path("settings/key/test/", preferences.key_test, name="settings_key_test"),
    path("settings/key/forget/", preferences.key_forget, name="settings_key_forget"),
]

urlpatterns = [
    *library_urls,
    *upload_urls,
    *session_urls,
    *export_urls,
    *replay_urls,
    *saved_urls,
    *why_urls,
    *quality_urls,
    *sweep_urls,
    *link_urls,
    *count_urls,
    *summary_urls,
    *settings_urls,
]
