"""The sessions of this computer in the library: offered, chosen, kept in sync; on shared servers none of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.adapters.synced import Progress, Synced, keep_progress, synced, synced_files
from sessions.services.live import follow_file
from tests.services.claude_lines import Lines
from tests.web.rows import make_session

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def home(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's own server, whose home has two sessions of one agent, in two projects, and one of another."""
    monkeypatch.setenv("HOME", str(tmp_path))
    settings.FINDS_SESSIONS, settings.DATA = True, tmp_path / "data"
    settings.DATA.mkdir()
    for name in ("claude/projects/-a/1.jsonl", "claude/projects/-b/2.jsonl", "codex/sessions/2026/rollout-3.jsonl"):
        file = tmp_path / f".{name}"
        file.parent.mkdir(parents=True)
        file.write_text("{}\n")
    return tmp_path


def names(settings: Settings) -> list[str]:
    return [path.name for path, _ in synced_files(synced(settings.DATA))]


def test_what_is_found_is_offered_and_nothing_is_kept_before_a_yes(
    client: Client, home: Path, settings: Settings
) -> None:
    for n in range(1, 3):  # the first run, and with a session
        html = client.get("/").content.decode()
        assert "Found on this computer: 2 Claude Code and 1 Codex sessions" in html
        assert "Add all 3" in html
        make_session(n)
    assert names(settings) == []


def test_all_are_kept_in_sync_new_ones_too(client: Client, home: Path, settings: Settings) -> None:
    assert client.post("/found/", {"do": "all"})["Location"] == "/"
    subagent = home / ".claude/projects/-a/1/subagents/agent-x.jsonl"
    subagent.parent.mkdir(parents=True)
    for file in (subagent, home / ".claude/projects/-b/new.jsonl"):
        file.write_text("{}\n")
    assert sorted(names(settings)) == ["1.jsonl", "2.jsonl", "agent-x.jsonl", "new.jsonl", "rollout-3.jsonl"]


def test_a_project_and_a_folder_of_ones_own_can_be_chosen(client: Client, home: Path, settings: Settings) -> None:
    mine = home / "mine" / "deep"
    mine.mkdir(parents=True)
    (mine / "9.json").write_text("{}")
    (mine / ".hidden").write_text("{}")
    page = client.get("/found/").content.decode()
    assert "~/.claude/projects/-b" in page
    client.post("/found/", {"folder": [str(home / ".claude/projects/-b"), "/etc"], "other": "~/mine"})
    assert sorted(names(settings)) == ["2.jsonl", "9.json"]
    assert f'value="{home}/mine" checked' in client.get("/found/").content.decode()
    client.post("/found/", {})
    assert synced(settings.DATA) == Synced(declined=True)


@pytest.mark.parametrize("other", ["nowhere", "/no/such/folder", "~", "/", "a\0b"])
def test_a_folder_that_cannot_be_followed_says_why(client: Client, home: Path, settings: Settings, other: str) -> None:
    answer = client.post("/found/", {"other": other})
    assert answer.status_code == 400
    assert b'role="alert"' in answer.content
    assert not synced(settings.DATA).is_chosen


def test_not_now_asks_no_more_and_the_menu_leads_there(client: Client, home: Path) -> None:
    make_session(1)
    client.post("/found/", {"do": "later"})
    html = client.get("/").content.decode()
    assert "Found on this computer" not in html
    assert 'href="/found/"' in html


def test_the_line_says_how_far_reading_is_and_can_be_paused(client: Client, home: Path, settings: Settings) -> None:
    make_session(1)
    client.post("/found/", {"do": "all"})
    keep_progress(settings.DATA, Progress(28, 9, 1))
    html = client.get("/").content.decode()
    assert "Reading 28 files, 9 done. New ones appear by themselves. 1 could not be read." in html
    part = client.get("/found/state/", {"seen": "0 "}, headers=HTMX)
    assert "<html" not in part.content.decode()
    assert "HX-Trigger" not in part
    assert client.get("/found/state/", {"seen": "0 before"}, headers=HTMX)["HX-Trigger"] == "sessions-synced"
    assert client.get("/found/state/")["Location"] == "/"
    (home / "new.jsonl").write_bytes(Lines().prompt("Go").bytes())
    follow_file(path=home / "new.jsonl", quiet=True)
    part = client.get("/found/state/", {"seen": "0 "}, headers=HTMX)
    assert "1 came since this page was opened." in part.content.decode()
    client.post("/found/", {"do": "pause"})
    html = client.get("/").content.decode()
    assert "Not kept in sync" in html
    assert 'hx-get="/found/state/' not in html
    client.post("/found/", {"do": "resume"})
    assert sorted(synced(settings.DATA).agents) == ["claude_code", "codex"]
    assert not synced(settings.DATA).paused


def test_a_shared_server_offers_uploads_only(client: Client, home: Path, settings: Settings) -> None:
    settings.FINDS_SESSIONS = False
    assert b"Found on this computer" not in client.get("/").content
    assert client.get("/found/").status_code == client.post("/found/", {"do": "all"}).status_code == 404
    assert not synced(settings.DATA).is_chosen


def test_a_damaged_choice_keeps_nothing_in_sync(home: Path, settings: Settings) -> None:
    for text in ("", "[1]", '{"agents": 3}', '{"agents": null, "paused": "yes"}'):
        (settings.DATA / "synced.json").write_text(text)
        assert not synced(settings.DATA).paused
