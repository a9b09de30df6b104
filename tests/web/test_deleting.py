"""Deleting on the pages: ask with everything that goes, delete on a POST, without a script."""

from __future__ import annotations

import io
import re
import uuid

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions.models import Session, Upload
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.packs import zipped
from tests.web.stored import pressed, store

pytestmark = pytest.mark.django_db
DELETE = reverse("sessions:delete")


def text(response: HttpResponse) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_every_way_in_leads_to_the_question(client: Client, session: Session) -> None:
    for page in (session.get_absolute_url(), reverse("sessions:library"), reverse("sessions:settings")):
        assert f'"{DELETE}' in client.get(page).content.decode(), page
    report = client.get(reverse("sessions:upload_report", args=[session.upload_id])).content.decode()
    assert f'href="{DELETE}?upload={session.upload_id}"' in report
    assert f'name="s" value="{session.pk}" form="picked"' in client.get("/").content.decode()


def test_the_question_says_what_goes_and_changes_nothing(client: Client, session: Session) -> None:
    shown = client.get(DELETE, {"s": session.pk})
    assert shown.status_code == 200
    assert "Delete 1 session for good?" in text(shown)
    assert f"1 session with {session.n_messages} messages." in text(shown)
    assert "1 upload and 1 stored file, " in text(shown)
    assert "1 image or document that no other session shows." in text(shown)
    assert Session.objects.exists()


def test_a_post_deletes_and_the_library_says_so(client: Client, session: Session) -> None:
    done = client.post(DELETE, {"s": session.pk}, follow=True)
    assert done.redirect_chain == [(reverse("sessions:library"), 302)]
    assert "Deleted 1 session and 1 upload" in text(done)
    assert not Upload.objects.exists()
    assert client.get(session.get_absolute_url()).status_code == 404
    assert "Deleted" not in text(client.get("/")), "it is said once"


def test_several_and_uploads_together(client: Client, session: Session) -> None:
    other, third = (store(b"\n" * n + pressed(n), f"{n}.jsonl") for n in (3, 4))
    asked = {"s": [session.pk, other.pk], "upload": str(third.upload_id)}
    page = client.get(DELETE, asked)
    assert "Delete 3 sessions for good?" in text(page)
    fields = dict.fromkeys(re.findall(r'<input type="hidden" name="(s|upload)" value="([^"]+)"', page.content.decode()))
    assert set(fields) == {("s", session.pk), ("s", other.pk), ("upload", str(third.upload_id))}
    client.post(DELETE, asked)
    assert not Session.objects.exists()


def test_an_archive_that_stays_says_that_its_bytes_stay(client: Client, session: Session) -> None:
    data = zipped({"a.jsonl": pressed(2), "b.jsonl": pressed(3)})
    upload = ingest(upload_id=receive(file=io.BytesIO(data), filename="both.zip").upload.pk)
    one = upload.sessions.first()
    assert one is not None
    assert "The bytes of both.zip stay: 1 other session needs them." in text(client.get(DELETE, {"s": one.pk}))
    client.post(DELETE, {"s": one.pk})
    report = text(client.get(reverse("sessions:upload_report", args=[upload.pk])))
    assert "1 session of this upload was deleted." in report


def test_by_age(client: Client, session: Session) -> None:
    Session.objects.update(ended_at=timezone.now() - timezone.timedelta(days=10))
    assert "Nothing to delete" in text(client.get(DELETE, {"older": "30"}))
    assert "Delete 1 session for good?" in text(client.get(DELETE, {"older": "7"}))
    client.post(DELETE, {"older": "7"})
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    "asked",
    [{"s": "s_none"}, {"upload": str(uuid.UUID(int=7))}, {"upload": "x"}, {"s": "\0"}, {"s": "é" * 99}],
)
def test_what_is_not_there_is_not_found(client: Client, session: Session, asked: dict[str, str]) -> None:
    assert client.get(DELETE, asked).status_code == 404
    assert client.post(DELETE, asked).status_code == 404
    assert Session.objects.exists()


@pytest.mark.parametrize("older", ["", "x", "-1", "9" * 30, "٣"])
def test_an_age_that_makes_no_sense_deletes_nothing(client: Client, session: Session, older: str) -> None:
    assert client.post(DELETE, {"older": older}).status_code in {200, 404}
    assert Session.objects.exists()


def test_nothing_named_offers_the_age(client: Client, session: Session) -> None:
    assert 'name="older"' in client.get(DELETE).content.decode()


def test_a_post_needs_its_token(session: Session) -> None:
    assert Client(enforce_csrf_checks=True).post(DELETE, {"s": session.pk}).status_code == 403
    assert Session.objects.exists()


def test_whoever_is_not_signed_in_deletes_nothing(client: Client, session: Session, settings: object) -> None:
    settings.REQUIRE_LOGIN = True  # type: ignore[attr-defined]
    assert client.post(DELETE, {"s": session.pk}).status_code == 302
    assert Session.objects.exists()
