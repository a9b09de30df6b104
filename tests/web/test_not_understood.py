"""A session whose file was not fully understood says so on its page, in its document, in the import's report."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions.services.ingest import ingest
from sessions.services.links import create_link
from sessions.services.uploads import receive
from tests.cli.test_inputs import HALF
from tests.services.packs import zipped
from tests.web.stored import pressed, store

pytestmark = pytest.mark.django_db
GAP = "1 of 2 blocks (50%) of unknown type: smell"


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"


def test_the_page_says_it_before_anything_else(client: Client) -> None:
    session = store(HALF, "half way.jsonl")
    html = client.get(f"/s/{session.pk}/").content.decode()
    head = html[html.index('id="session-head"') :]
    assert head.index(GAP) < head.index('class="lead"')
    assert "ctxweb skeleton &#x27;path/to/half way.jsonl&#x27;" in head
    (gap,) = client.get(f"/s/{session.pk}.json").json()["not_understood"]
    assert gap == {"kind": "blocks", "text": GAP, "part": 1, "whole": 2}


def test_a_file_that_was_cut_off_says_so_wherever_it_is_opened(client: Client) -> None:
    whole = pressed()
    session = store(whole[:-40], "cut.jsonl")
    line = whole[:-40].count(b"\n") + 1
    said = f"The file is cut off in line {line}, its last: "
    assert said in client.get(f"/s/{session.pk}/").content.decode()
    assert said in client.get(f"/s/{session.pk}.json").json()["not_understood"][0]["text"]
    assert said in client.get(f"/api/sessions/{session.pk}/inspect").json()["not_understood"][0]["text"]
    made = create_link(session=session, view="session")
    assert said in client.get(f"/l/{made.token}/").content.decode()


def test_a_session_that_is_understood_says_nothing(client: Client) -> None:
    session = store(pressed())
    assert "Not fully understood" not in client.get(f"/s/{session.pk}/").content.decode()
    assert client.get(f"/s/{session.pk}.json").json()["not_understood"] == []


def test_of_an_archive_only_the_session_of_that_file_says_it(client: Client) -> None:
    data = zipped({"half.jsonl": HALF, "whole.jsonl": pressed()})
    upload = ingest(upload_id=receive(file=io.BytesIO(data), filename="both.zip").upload.pk)
    pages = {one.filename: client.get(f"/s/{one.pk}/").content.decode() for one in upload.sessions.all()}
    assert {name: GAP in html for name, html in pages.items()} == {"half.jsonl": True, "whole.jsonl": False}


def test_the_imports_report_says_it(client: Client) -> None:
    session = store(HALF)
    html = client.get(reverse("sessions:upload_report", args=[session.upload_id])).content.decode()
    assert f"Not fully understood: {GAP}" in html
