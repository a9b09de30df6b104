from __future__ import annotations

import csv
import io
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from PIL import Image
from pytest_django import DjangoAssertNumQueries

from sessions.models import Job, Media, Session, State, Upload
from sessions.selectors.uploads import upload_list
from sessions.services import ingest, media, work
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png, session

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


LIBRARY, UPLOADS = "/", "/uploads/"


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"


def post(client: Client, *files: tuple[str, bytes], **headers: str) -> HttpResponse:
    posted = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(reverse("sessions:upload"), {"files": posted}, headers=headers)  # type: ignore[return-value]


def test_it_works(client: Client) -> None:
    response = post(client, ("a.jsonl", session(2)), ("notes.txt", b"Dear diary"), **HTMX)
    html = response.content.decode()
    assert response.status_code == 200
    assert "<html" not in html
    assert "1 session, 5 messages" in html
    assert f'href="{Session.objects.get().get_absolute_url()}"' in html
    assert html.index("a.jsonl") < html.index("notes.txt")
    assert "failed" in html
    assert "Text, not JSON" in html
    assert response["HX-Trigger"] == "uploads-done"
    assert "hx-get" not in html


def test_a_plain_form_is_led_to_the_page(client: Client) -> None:
    response = client.post(
        reverse("sessions:upload"), {"files": SimpleUploadedFile("a.jsonl", session(1))}, follow=True
    )
    assert response.redirect_chain[0][1] == 302
    html = response.content.decode()
    assert "<html" in html
    assert "a.jsonl" in html
    assert "HX-Trigger" not in response


def test_the_same_bytes_are_recognised_under_their_new_name(client: Client) -> None:
    post(client, ("a.jsonl", session(1)))
    html = post(client, ("copy, of a.jsonl", session(1)), **HTMX).content.decode()
    assert "same file" in html
    assert "copy, of a.jsonl" in html
    assert "same bytes as a.jsonl, nothing stored twice" in html
    assert Upload.objects.count() == 1
    again = client.get(
        reverse("sessions:uploads_status", query={"same": f"{Upload.objects.get().pk}:copy, of a.jsonl"})
    )
    assert "same bytes as a.jsonl" in again.content.decode()


def test_a_file_that_grew_continues_its_session(client: Client) -> None:
    post(client, ("a.jsonl", session(1)))
    stored = Session.objects.get()
    response = post(client, ("a.jsonl", session(3)), **HTMX)
    html = response.content.decode()
    assert "the same file as before, 4 new messages. 1 session, 7 messages" in html
    assert f'href="{stored.get_absolute_url()}"' in html
    assert response["HX-Trigger"] == "uploads-done"
    assert shown(client, LIBRARY).count(f'href="{stored.get_absolute_url()}"') >= 1
    assert (Session.objects.get().pk, Upload.objects.count()) == (stored.pk, 1)
    html = post(client, ("old.jsonl", session(2)), **HTMX).content.decode()
    assert "the beginning of a.jsonl, which is here; nothing stored twice" in html


def test_the_address_of_a_file_that_grew_stays(client: Client) -> None:
    post(client, ("a.jsonl", session(1)))
    upload, _ = receive(file=io.BytesIO(session(3)), filename="a.jsonl")
    ingest.ingest(upload_id=upload.pk)
    assert upload.pk != Upload.objects.get().pk
    url = reverse("sessions:uploads_status", query={"ids": str(upload.pk)})
    assert "4 new messages" in client.get(url, headers=HTMX).content.decode()
    assert client.get(reverse("sessions:upload_report", args=[upload.pk])).status_code == 200
    assert client.get(f"/api/uploads/{upload.pk}").json()["uploads"][0]["new_messages"] == 4
    download = client.get(reverse("sessions:upload_download", args=[upload.pk]))
    assert b"".join(download.streaming_content) == session(3)  # type: ignore[attr-defined]


def test_a_hostile_name_is_only_text(client: Client) -> None:
    html = post(client, ('"><script>alert(1)<x.jsonl', session(1)), **HTMX).content.decode()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_no_file_is_a_bad_request(client: Client) -> None:
    response = client.post(reverse("sessions:upload"))
    assert response.status_code == 400
    assert "files" in response.content.decode()


def test_the_table_polls_until_all_is_done(client: Client) -> None:
    upload, _ = receive(file=io.BytesIO(session(1)), filename="a.jsonl")
    url = reverse("sessions:uploads_status", query={"ids": str(upload.pk)})
    waiting = client.get(url, headers=HTMX)
    assert f'hx-get="{url}"' in waiting.content.decode()
    assert 'hx-trigger="load delay:600ms"' in waiting.content.decode()
    assert "waiting for the worker" in waiting.content.decode()
    assert "HX-Trigger" not in waiting
    assert waiting["Cache-Control"] == "no-store"

    Upload.objects.update(status=State.READING)
    Job.objects.update(state=State.READING, done_bytes=upload.n_bytes // 2, phase="packing", worker="elsewhere:1:0")
    reading = client.get(url, headers=HTMX).content.decode()
    assert '<progress class="progress" max="100" value="50"' in reading
    assert "style=" not in reading

    assert "weighing and packing its sessions" in reading

    Job.objects.update(state=State.QUEUED)
    Upload.objects.update(status=State.QUEUED)
    client.get(url, headers=HTMX)
    assert Upload.objects.get().status == State.QUEUED, "who looks does no work"
    assert work.work_one()
    done = client.get(url, headers=HTMX)
    assert done["HX-Trigger"] == "uploads-done"


def test_a_page_without_javascript_refreshes_while_something_is_read(client: Client) -> None:
    upload, _ = receive(file=io.BytesIO(session(1)), filename="a.jsonl")
    url = reverse("sessions:uploads_status", query={"ids": str(upload.pk)})
    assert 'http-equiv="refresh"' in client.get(url).content.decode()
    assert work.work_one()
    assert 'http-equiv="refresh"' not in client.get(url).content.decode()


def test_polling_many_rows_costs_the_same_queries(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n_files in (1, 12):
        for n in range(n_files):
            receive(file=io.BytesIO(session(1, session=f"{n_files}-{n}")), filename=f"{n}.jsonl")
            assert work.work_one()
        query = {"ids": [str(pk) for pk in Upload.objects.values_list("pk", flat=True)]}
        with django_assert_max_num_queries(3):
            client.get(reverse("sessions:uploads_status", query=query), headers=HTMX)


@pytest.mark.parametrize("query", ["", "?ids=", "?ids=x", f"?ids={uuid.UUID(int=7)}", "?same=x:y", "?same=%00"])
def test_unknown_ids_are_left_out(client: Client, query: str) -> None:
    response = client.get(reverse("sessions:uploads_status") + query, headers=HTMX)
    assert response.status_code == 200
    assert "<tr" not in response.content.decode()


@pytest.mark.parametrize("n_times", [1, 90_000], ids=["as it is", "packed at rest"])
def test_the_bytes_come_back_unchanged_and_only_as_a_file(client: Client, n_times: int) -> None:
    data = b"<script>alert(1)</script>\xff\r\n\n" * n_times
    post(client, ("évil.html", data))
    response = client.get(reverse("sessions:upload_download", args=[Upload.objects.get().pk]))
    assert b"".join(response.streaming_content) == data  # type: ignore[attr-defined]
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment")
    assert "%C3%A9vil.html" in response["Content-Disposition"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(data))
    assert client.get(reverse("sessions:upload_download", args=[uuid.uuid4()])).status_code == 404


def test_rejected_parts_are_listed_as_csv(client: Client) -> None:
    post(client, ("a.jsonl", session(2) + b"=cmd|calc\n"))
    upload = Upload.objects.get()
    html = client.get(upload_status_url(upload), headers=HTMX).content.decode()
    assert "new, 1 skipped" in html
    url = reverse("sessions:upload_rejected", args=[upload.pk])
    assert f'href="{url}"' in html
    response = client.get(url)
    text = b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]
    header, row = csv.reader(io.StringIO(text))
    assert header == ["line", "offset", "reason"]
    assert row[:2] == [str(upload.skipped[0][0]), str(upload.skipped[0][1])]
    assert row[2] == upload.skipped[0][2]


def upload_status_url(upload: Upload) -> str:
    return reverse("sessions:uploads_status", query={"ids": str(upload.pk)})


def test_an_image_is_served_with_a_fixed_type_and_for_ever(client: Client) -> None:
    image = png(40, 30)
    post(client, ("a.jsonl", Lines().prompt("Look").turn(image).turn("ok").bytes()))
    url = reverse("sessions:media", args=[Media.objects.get().pk])
    response = client.get(url)
    assert response.content == image
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in response["Cache-Control"]
    Media.objects.update(media_type="image/svg+xml")
    assert client.get(url).status_code == 404
    assert client.get(reverse("sessions:media", args=["0" * 64])).status_code == 404


def picture() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((900, 600), 90).save(out, "PNG")
    return out.getvalue()


def test_an_image_has_its_thumbnail_when_its_file_is_read(client: Client) -> None:
    post(client, ("a.jsonl", Lines().prompt("Look").turn(picture()).turn("ok").bytes()))
    stored = Media.objects.get()
    assert stored.thumbnail
    url = reverse("sessions:thumbnail", args=[stored.pk])
    response = client.get(url)
    assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("image/webp", "nosniff")
    assert len(response.content) <= 10_000 < stored.n_bytes
    page = client.get(Session.objects.get().get_absolute_url() + "m/2/").content.decode()
    assert f'src="{url}"' in page
    assert f'href="{reverse("sessions:media", args=[stored.pk])}"' in page


def test_a_thumbnail_of_an_older_library_is_made_when_it_is_asked_for(client: Client) -> None:
    post(client, ("a.jsonl", Lines().prompt("Look").turn(picture()).turn("ok").bytes()))
    Media.objects.update(thumbnail=None)
    url = reverse("sessions:thumbnail", args=[Media.objects.get().pk])
    first = client.get(url).content
    assert Media.objects.get().thumbnail == first == client.get(url).content


def test_an_image_that_cannot_be_decoded_has_no_preview_and_fails_nothing(client: Client) -> None:
    post(client, ("a.jsonl", Lines().prompt("Look").turn(png(60_000, 60_000)).turn("ok").bytes()))
    assert Upload.objects.get().status == State.DONE
    assert Media.objects.get().thumbnail == b""
    response = client.get(reverse("sessions:thumbnail", args=[Media.objects.get().pk]))
    assert response["Content-Type"] == "image/svg+xml"
    assert b"no preview" in response.content
    assert client.get(reverse("sessions:thumbnail", args=["0" * 64])).status_code == 404


def test_an_upload_makes_thumbnails_within_its_bound(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "make_thumbnails", lambda hashes: media.make_thumbnails(hashes, most_bytes=10))
    post(client, ("a.jsonl", Lines().prompt("Look").turn(picture()).turn("ok").bytes()))
    assert Media.objects.get().thumbnail is None
    monkeypatch.setattr(ingest, "make_thumbnails", lambda hashes: 1 / 0)
    post(client, ("b.jsonl", Lines().prompt("Look").turn(picture() + b"2").turn("ok").bytes()))
    assert [u.status for u in Upload.objects.all()] == [State.DONE] * 2


def test_the_demo_takes_the_way_of_every_upload(client: Client) -> None:
    for expected in ("new", "same file"):
        html = client.post(reverse("sessions:demo"), headers=HTMX).content.decode()
        assert expected in html
    assert Upload.objects.get().filename == "demo.jsonl"
    stored = Session.objects.get()
    assert stored.worst_overcount is not None
    assert round(stored.worst_overcount) == 1540


def shown(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def test_failures_stay_above_the_library_until_they_are_dismissed(client: Client) -> None:
    post(client, ("good.jsonl", session(2)), ("wrong.png", picture()), ("empty.jsonl", b""))
    for _ in range(2):  # a reload loses nothing
        page = shown(client, LIBRARY)
        assert "wrong.png" in page
        assert "empty.jsonl" in page
        assert "good.jsonl</code>" not in page
    wrong = Upload.objects.get(filename="wrong.png")
    answer = client.post(reverse("sessions:upload_dismiss", args=[wrong.pk]), headers=HTMX)
    assert (answer.status_code, answer.content) == (200, b"")
    page = shown(client, LIBRARY)
    assert "wrong.png" not in page
    assert "empty.jsonl" in page
    assert Upload.objects.filter(filename="wrong.png").exists()


def test_why_a_file_failed_is_a_sentence_on_pages(client: Client) -> None:
    post(client, ("wrong.png", picture()), ("notes.txt", b"Dear diary"), ("a.json", b'{"a": 1}'))
    page = shown(client, UPLOADS)
    assert "A PNG picture, not a transcript. Upload the .jsonl or .json that the agent wrote" in page
    assert "Text, not JSON." in page
    assert "JSON, but no known transcript format" in page
    assert "line 1, byte 0" not in page
    assert "This shape is read" not in page
    report = shown(client, reverse("sessions:upload_report", args=[Upload.objects.get(filename="wrong.png").pk]))
    assert "<h2>wrong.png could not be read</h2>" in report
    assert ">none<" not in report


def test_demo_paste_and_files_stay_reachable_in_a_library_with_sessions(client: Client) -> None:
    post(client, ("good.jsonl", session(2)))
    page = shown(client, LIBRARY)
    assert f'action="{reverse("sessions:demo")}"' in page
    assert 'data-dialog="paste"' in page
    assert '<dialog class="dialog" id="paste"' in page
    assert "accept=" not in page


def test_a_library_without_sessions_tells_its_failures_too(client: Client) -> None:
    post(client, ("wrong.png", picture()))
    page = shown(client, LIBRARY)
    assert "Open the demo session" in page
    assert "wrong.png" in page


def test_every_upload_has_its_place(client: Client) -> None:
    post(client, ("good.jsonl", session(2)), ("wrong.png", picture()))
    page = shown(client, UPLOADS)
    assert "good.jsonl" in page
    assert "A PNG picture, not a transcript" in page
    assert "2 files: 1 failed" in page
    client.post(reverse("sessions:uploads_dismiss"))
    page = shown(client, UPLOADS)
    assert "Every upload was dismissed" in page
    assert "Show 2 dismissed" in page
    page = shown(client, f"{UPLOADS}?dismissed=1")
    assert "good.jsonl" in page
    assert "/dismiss/" not in page.replace(reverse("sessions:uploads_dismiss"), "")


def test_the_list_of_uploads_has_pages_and_its_queries_do_not_grow(
    client: Client, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        post(client, (f"file {number}.jsonl", b"\n" * number + session(2)))
    with django_assert_max_num_queries(6):
        assert "4 files, all read" in shown(client, UPLOADS)
    monkeypatch.setattr(upload_list, "__kwdefaults__", {"start": 0, "dismissed": False, "limit": 3})
    page = shown(client, UPLOADS)
    assert "file 3.jsonl" in page
    assert "file 0.jsonl" not in page
    assert "1 older" in page
    assert "file 0.jsonl" in shown(client, f"{UPLOADS}?start=3")


def test_what_failed_again_is_shown_again(client: Client) -> None:
    post(client, ("wrong.png", picture()))
    client.post(reverse("sessions:uploads_dismiss"))
    assert "wrong.png" not in shown(client, LIBRARY)
    post(client, ("wrong.png", picture()))
    assert "wrong.png" in shown(client, LIBRARY)


def test_what_is_being_read_cannot_be_dismissed(client: Client) -> None:
    upload = receive(file=io.BytesIO(session(2)), filename="a.jsonl").upload
    client.post(reverse("sessions:upload_dismiss", args=[upload.pk]))
    assert not Upload.objects.get().dismissed
    page = shown(client, UPLOADS)
    assert "1 file: 1 being read" in page
    assert 'hx-get="/uploads/"' in page
