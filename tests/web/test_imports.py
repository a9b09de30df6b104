"""The import report: page, document, and the links that lead there."""

from __future__ import annotations

import io
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions.models import Session, Upload
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import session
from tests.services.families import HOME, project
from tests.services.packs import zipped

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"


def stored(data: bytes, filename: str) -> Upload:
    return ingest(upload_id=receive(file=io.BytesIO(data), filename=filename).upload.pk)


def page(client: Client, upload: Upload) -> str:
    response = client.get(reverse("sessions:upload_report", args=[upload.pk]))
    assert response.status_code == 200
    html = response.content.decode()
    assert " style=" not in html
    return html


def test_a_file_is_accounted_for(client: Client) -> None:
    upload = stored(session(2) + b"{cut\n", "a.jsonl")
    html = page(client, upload)
    assert "of this file is not sent to the model" in html
    assert "JSON around messages" in html
    assert reverse("sessions:upload_rejected", args=[upload.pk]) in html
    assert upload.sessions.get().get_absolute_url() in html
    document = client.get(reverse("sessions:upload_report_json", args=[upload.pk])).json()
    assert document["schema"] == "ctxweb.import/1"
    assert document["lines"] == {"read": 8, "used": 7, "not_context": 0, "opaque": 0, "skipped": 1}
    assert sum(fate["n_bytes"] for fate in document["fates"]) == upload.n_bytes == document["bytes"]["accounted"]
    never = sum(fate["n_bytes"] for fate in document["fates"] if not fate["is_context"])
    assert document["bytes"]["never_sent"] == never
    assert f"{document['sentence']}." in html
    assert document["skipped"][0]["line"] == 8


def test_an_archive_lists_its_files(client: Client) -> None:
    upload = stored(zipped(project()), "projects.zip")
    html = page(client, upload)
    assert "5 in the archive, 3 read" in html
    assert "notes.md" in html
    assert "not a transcript" in html
    assert "subagent of" in html
    document = client.get(reverse("sessions:upload_report_json", args=[upload.pk])).json()
    assert [member["status"] for member in document["members"]] == ["read", "read", "read", "other", "other"]
    root = next(s for s in document["sessions"] if s["native_id"] == HOME)
    calls = {s["parent_call_id"] for s in document["sessions"] if s["parent_id"] == root["id"]}
    assert calls == {"toolu_one", "toolu_two"}


def test_a_failed_and_a_waiting_upload_have_a_report(client: Client) -> None:
    failed = stored(zipped({"<b>.md": b"x", "b.txt": b"y"}), "up.zip")
    html = page(client, failed)
    assert "none of them a transcript" in html
    assert "&lt;b&gt;.md" in html
    waiting, _ = receive(file=io.BytesIO(session(1)), filename="w.jsonl")
    assert "still being read" in page(client, waiting)
    assert client.get(reverse("sessions:upload_report", args=[uuid.uuid4()])).status_code == 404
    assert client.get(reverse("sessions:upload_report_json", args=[uuid.uuid4()])).status_code == 404


def test_the_uploads_table_and_the_session_lead_there(client: Client) -> None:
    upload = stored(session(2), "a.jsonl")
    url = reverse("sessions:upload_report", args=[upload.pk])
    table = client.get(reverse("sessions:uploads_status", query={"ids": str(upload.pk)})).content.decode()
    assert f'<a href="{url}">Report</a>' in table
    html = client.get(upload.sessions.get().get_absolute_url()).content.decode()
    assert f'href="{url}"' in html
    assert "Import report" in html


def test_parents_and_sub_agents_lead_to_each_other(client: Client) -> None:
    stored(zipped(project()), "projects.zip")
    root = Session.objects.roots().get()
    child = Session.objects.get(native_id="agent-a222")
    html = client.get(root.get_absolute_url()).content.decode()
    assert "2 subagents" in html
    assert child.get_absolute_url() in html
    assert 'href="?m=3#m-3"' in html
    html = client.get(child.get_absolute_url()).content.decode()
    assert f'href="{root.get_absolute_url()}?m=3#m-3"' in html
    assert "ctxweb inspect path/to/agent-a222.jsonl" in html


def test_the_text_of_a_member_is_shown(client: Client) -> None:
    stored(zipped(project()), "projects.zip")
    child = Session.objects.get(native_id="agent-a222")
    for tab in ("parsed", "raw"):
        html = client.get(reverse("sessions:inspector", args=[child.pk, 1]), {"tab": tab}).content.decode()
        assert "I am a222" in html


def test_many_files_cost_no_more_queries(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    files = {f"{n}.jsonl": session(1, session=f"s-{n}") for n in range(30)} | {f"{n}.md": b"x" for n in range(600)}
    upload = stored(zipped(files), "many.zip")
    with django_assert_max_num_queries(4):
        html = page(client, upload)
    assert "the first 500 are shown" in html
    assert len(client.get(reverse("sessions:upload_report_json", args=[upload.pk])).json()["members"]) == 630
