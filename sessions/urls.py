"""URLs of the app: the address of every page and document."""

from __future__ import annotations

from django.urls import path

from sessions.pages.ab import view as ab
from sessions.pages.apply import view as apply
from sessions.pages.counts import view as counts
from sessions.pages.delete import view as delete
from sessions.pages.diff import view as diff
from sessions.pages.export import view as export
from sessions.pages.fleet import view as fleet
from sessions.pages.join import view as join
from sessions.pages.library import view as library
from sessions.pages.links import stranger
from sessions.pages.links import view as links
from sessions.pages.manual import view as manual
from sessions.pages.people import view as people
from sessions.pages.quality import view as quality
from sessions.pages.replay import view as replay
from sessions.pages.saved import view as saved
from sessions.pages.session import follow
from sessions.pages.session import view as session
from sessions.pages.settings import view as settings
from sessions.pages.summaries import view as summaries
from sessions.pages.sweep import view as sweep
from sessions.pages.tokens import view as tokens
from sessions.pages.transcript import view as transcript
from sessions.pages.uploads import view as uploads
from sessions.pages.why import view as why

app_name = "sessions"

urlpatterns = [
    path("s/<str:session_id>/compare/ab/", ab.ab, name="ab"),
    path("s/<str:session_id>/ab.json", ab.ab_json, name="ab_json"),
    path("s/<str:session_id>/apply/", apply.apply, name="apply"),
    path("s/<str:session_id>/apply.json", apply.apply_json, name="apply_json"),
    path("s/<str:session_id>/count/", counts.session_count, name="count"),
    path("s/<str:session_id>/m/<int:index>/count/", counts.message_count, name="message_count"),
    path("delete/", delete.delete, name="delete"),
    path("s/<str:session_id>/diff/", diff.diff, name="diff"),
    path("s/<str:session_id>/diff.json", diff.diff_json, name="diff_json"),
    path("s/<str:session_id>/export.<str:suffix>", export.export_list, name="export"),
    path("fleet/", fleet.fleet, name="fleet"),
    path("fleet.json", fleet.fleet_json, name="fleet_json"),
    path("fleet.csv", fleet.fleet_csv, name="fleet_csv"),
    path("fleet/run/", fleet.start, name="fleet_start"),
    path("join/<str:token>/", join.join, name="join"),
    path("", library.library, name="library"),
    path("found/", library.choose, name="found"),
    path("found/state/", library.sync_state, name="found_state"),
    path("sessions.csv", library.sessions_csv, name="sessions_csv"),
    path("sessions.json", library.sessions_json, name="sessions_json"),
    path("s/<str:session_id>/share/", links.share, name="share"),
    path("s/<str:session_id>/share/removed/", links.share_removed, name="share_removed"),
    path("s/<str:session_id>/share/file/", links.share_as, {"kind": "file"}, name="share_file"),
    path("s/<str:session_id>/share/report.md", links.share_as, {"kind": "report"}, name="share_report"),
    path("s/<str:session_id>/share/chart.svg", links.share_as, {"kind": "chart"}, name="share_chart"),
    path("links/<int:link_id>/revoke/", links.link_revoke, name="link_revoke"),
    path("links/<int:link_id>/recompute/", links.link_recompute, name="link_recompute"),
    path("links/<int:link_id>/renew/", links.link_renew, name="link_renew"),
    path("links/<int:link_id>/answer/", links.link_answer, name="link_answer"),
    path("links/<int:link_id>/replied/", links.link_replied, name="link_replied"),
    path("l/<str:token>/", stranger.link, name="link"),
    path("l/<str:token>/replay/", stranger.link_part, {"part": "replay"}, name="link_replay"),
    path("l/<str:token>/diff/", stranger.link_part, {"part": "diff"}, name="link_diff"),
    path("l/<str:token>/compaction/<int:number>/", stranger.link_compaction, name="link_compaction"),
    path("l/<str:token>/m/<int:index>/", stranger.link_message, name="link_message"),
    path("l/<str:token>/chart/", stranger.link_chart, name="link_chart"),
    path("l/<str:token>/chart.svg", stranger.link_svg, name="link_svg"),
    path("l/<str:token>/reply/", stranger.link_reply, name="link_reply"),
    path("l/<str:token>/removed/", stranger.link_removed, name="link_removed"),
    path("l/<str:token>/view.json", stranger.link_json, name="link_json"),
    path("l/<str:token>/view.csv", stranger.link_table, {"kind": "csv"}, name="link_csv"),
    path("l/<str:token>/view.jsonl", stranger.link_table, {"kind": "jsonl"}, name="link_jsonl"),
    path("docs/", manual.manual, name="manual"),
    path("docs/<path:name>", manual.manual, name="manual_page"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="invite"),
    path("people/invitations/<int:invitation_id>/withdraw/", people.withdraw, name="invitation_withdraw"),
    path("people/<int:user_id>/role/", people.role, name="person_role"),
    path("people/<int:user_id>/remove/", people.remove, name="person_remove"),
    path("s/<str:session_id>/who/", people.who, name="who"),
    path("s/<str:session_id>/quality/", quality.quality, name="quality"),
    path("s/<str:session_id>/quality.json", quality.quality_json, name="quality_json"),
    path("s/<str:session_id>/quality/judge/", quality.ask_model, name="quality_judge"),
    path("quality/", quality.warnings, name="quality_warned"),
    path("s/<str:session_id>/replay/", replay.replay, name="replay"),
    path("s/<str:session_id>/replay.json", replay.replay_json, name="replay_json"),
    path("s/<str:session_id>/replay/step/", replay.step, name="step"),
    path("s/<str:session_id>/replay/recommended/", replay.recommended, name="recommended"),
    path("s/<str:session_id>/replay/losses/", replay.count_losses, name="replay_losses"),
    path("saved/", saved.saved, name="saved"),
    path("saved/<int:view_id>/delete/", saved.saved_delete, name="saved_delete"),
    path("s/<str:session_id>/save/", saved.save, name="save"),
    path("s/<str:session_id>/", session.session, name="session"),
    path("s/<str:session_id>.json", session.session_json, name="session_json"),
    path("s/<str:session_id>/chart.json", session.chart_json, name="session_chart"),
    path("s/<str:session_id>/messages/", session.message_rows, name="messages"),
    path("s/<str:session_id>/events/", follow.events, name="events"),
    path("s/<str:session_id>/causes/", session.full_causes, name="causes"),
    path("s/<str:session_id>/growth/", follow.growth, name="growth"),
    path("s/<str:session_id>/messages.csv", session.messages_csv, name="messages_csv"),
    path("s/<str:session_id>/m/<int:index>/", session.inspector_view, name="inspector"),
    path("s/<str:session_id>/m/<int:index>/raw.json", session.message_raw, name="message_raw"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/prices/", settings.prices, name="settings_prices"),
    path("settings/models/", settings.models, name="settings_models"),
    path("settings/key/", settings.key, name="settings_key"),
    path("settings/key/test/", settings.key_test, name="settings_key_test"),
    path("settings/key/forget/", settings.key_forget, name="settings_key_forget"),
    path("s/<str:session_id>/summaries/", summaries.write, name="summaries"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/", summaries.progress, name="summary_job"),
    path("s/<str:session_id>/summaries/<uuid:job_id>/cancel/", summaries.cancel, name="summary_cancel"),
    path("s/<str:session_id>/compare/", sweep.sweep, name="sweep"),
    path("s/<str:session_id>/sweep.json", sweep.sweep_json, name="sweep_json"),
    path("s/<str:session_id>/sweep.csv", sweep.sweep_csv_view, name="sweep_csv"),
    path("sweep/", sweep.sweeps_page, name="sweeps"),
    path("sweep.json", sweep.sweeps_json, name="sweeps_json"),
    path("sweep.csv", sweep.sweeps_csv, name="sweeps_csv"),
    path("sweep/run/", sweep.start, name="sweep_start"),
    path("sweep/<uuid:run_id>/cancel/", sweep.cancel, name="sweep_cancel"),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path("settings/tokens/<int:token_id>/revoke/", tokens.revoke, name="token_revoke"),
    path("s/<str:session_id>/transcript/", transcript.transcript, name="transcript"),
    path("uploads/", uploads.upload, name="upload"),
    path("uploads/status/", uploads.uploads_status, name="uploads_status"),
    path("uploads/dismiss/", uploads.dismissed, name="uploads_dismiss"),
    path("uploads/<uuid:upload_id>/dismiss/", uploads.dismissed, name="upload_dismiss"),
    path("uploads/<uuid:upload_id>/", uploads.upload_report, name="upload_report"),
    path("uploads/<uuid:upload_id>.json", uploads.upload_report_json, name="upload_report_json"),
    path("uploads/<uuid:upload_id>/download/", uploads.upload_download, name="upload_download"),
    path("uploads/<uuid:upload_id>/rejected.csv", uploads.upload_rejected, name="upload_rejected"),
    path("media/<str:sha256>/", uploads.media, name="media"),
    path("media/<str:sha256>/small/", uploads.thumbnail, name="thumbnail"),
    path("demo/", uploads.demo, name="demo"),
    path("s/<str:session_id>/why/", why.why, name="why"),
    path("s/<str:session_id>/why/aftermath/", why.why_aftermath, name="why_aftermath"),
    path("s/<str:session_id>/why/recorded/", why.why_recorded, name="why_recorded"),
    path("s/<str:session_id>/why/rules/", why.why_rules, name="why_rules"),
    path("s/<str:session_id>/why/chart.json", why.why_chart, name="why_chart"),
    path("s/<str:session_id>/why.json", why.why_json, name="why_json"),
]
