"""URLs of the links."""

from __future__ import annotations

from django.urls import path

from sessions.pages.links import replies, stranger, view

urlpatterns = [
    path("s/<str:session_id>/share/", view.share, name="share"),
    path("s/<str:session_id>/share/removed/", view.share_removed, name="share_removed"),
    path("s/<str:session_id>/share/file/", view.share_file, name="share_file"),
    path("s/<str:session_id>/share/report.md", view.share_report, name="share_report"),
    path("s/<str:session_id>/share/chart.svg", view.share_chart, name="share_chart"),
    path("links/<int:link_id>/revoke/", view.link_revoke, name="link_revoke"),
    path("links/<int:link_id>/recompute/", view.link_recompute, name="link_recompute"),
    path("links/<int:link_id>/renew/", view.link_renew, name="link_renew"),
    path("links/<int:link_id>/replied/", view.link_replied, name="link_replied"),
    path("l/<str:token>/", stranger.link, name="link"),
    path("l/<str:token>/replay/", stranger.link_part, {"part": "replay"}, name="link_replay"),
    path("l/<str:token>/diff/", stranger.link_part, {"part": "diff"}, name="link_diff"),
    path("l/<str:token>/compaction/<int:number>/", stranger.link_compaction, name="link_compaction"),
    path("l/<str:token>/m/<int:index>/", stranger.link_message, name="link_message"),
    path("l/<str:token>/chart/", stranger.link_chart, name="link_chart"),
    path("l/<str:token>/chart.svg", stranger.link_svg, name="link_svg"),
    path("l/<str:token>/reply/", replies.link_reply, name="link_reply"),
    path("l/<str:token>/removed/", stranger.link_removed, name="link_removed"),
    path("l/<str:token>/view.json", stranger.link_json, name="link_json"),
    path("l/<str:token>/view.csv", stranger.link_table, {"kind": "csv"}, name="link_csv"),
    path("l/<str:token>/view.jsonl", stranger.link_table, {"kind": "jsonl"}, name="link_jsonl"),
]
