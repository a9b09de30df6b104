"""What a session's texts give away once is left out of every page and file of its links, in every other form."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.test import Client
from django.urls import reverse

from ctxweb.commands.share import command
from sessions.models import Session
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines
from tests.web.test_links import STATE, opened, share

PASSWORD, HOST, NAME = "tiger-lily-4451", "build07", "Jane Doe"
SAID = f"The DB password {PASSWORD} is for {HOST}, says {NAME}"


def lines() -> bytes:
    """A session whose title says in a sentence what a setting, a command and a mail tell of later."""
    made = Lines().prompt(SAID)
    for n in range(24):
        made.turn(f"result {n}: " + "word " * 200, text=f"{SAID}: never forget that.")
        if n % 6 == 5:
            made.prompt(f"Always use {PASSWORD} on {HOST}, {n}")
    made.turn(f"DB_PASSWORD={PASSWORD}\nFrom: {NAME} <jane@acme.test>\nssh deploy@{HOST}.corp.example uptime")
    return b"\n".join(made.lines)


@pytest.fixture
def session(db: None, tmp_path: Path, settings: Any) -> Session:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    ingest(upload_id=receive(file=io.BytesIO(lines()), filename="a.jsonl").upload.pk)
    return Session.objects.get()


@pytest.mark.parametrize(("view", "state"), [("replay", STATE), ("diff", f"{STATE}&event=0"), ("session", "")])
def test_no_page_of_a_link_shows_it(session: Session, view: str, state: str) -> None:
    path = share(session, view, state, title=f"Look at {HOST}", note=f"{NAME} asks", chosen="1",
                 allow=["move", "reply"], hide=["passwords", "hosts", "names", "emails"])  # fmt: skip
    pages = ["", "removed/", "view.json", "view.csv"]
    pages += [] if view == "session" else ["m/0/", "m/1/", "compaction/1/"]
    pages += ["replay/?event=1", "chart/", "chart.svg", "reply/"] if view == "replay" else []
    for page in pages:
        shown = opened(f"{path}{page}") if "csv" not in page else Client().get(f"{path}{page}").content.decode()
        assert not [value for value in (PASSWORD, HOST, NAME) if value in shown], page


def test_files_do_not_show_it_either(session: Session, tmp_path: Path) -> None:
    for kind in ("file", "report", "chart"):
        address = reverse(f"sessions:share_{kind}", args=[session.pk])
        answer = Client().get(f"{address}?{STATE}&title={SAID}")
        assert answer.status_code == 200
        made = answer.content.decode()
        assert not [value for value in (PASSWORD, HOST, NAME) if value in made], kind
    (tmp_path / "a.jsonl").write_bytes(lines())
    out = tmp_path / "replay.html"
    done = CliRunner().invoke(command, [str(tmp_path / "a.jsonl"), "--out", str(out), "--title", SAID])
    assert done.exit_code == 0, done.output
    assert not [value for value in (PASSWORD, HOST, NAME) if value in out.read_text()]


def test_what_the_sender_leaves_in_stays(session: Session) -> None:
    path = share(session, chosen="1", hide=["passwords"])
    shown = opened(f"{path}m/0/")
    assert HOST in shown
    assert NAME in shown
    assert PASSWORD not in shown
