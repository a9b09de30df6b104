"""An image is stored once: in the transcript, from where it is read; apart only where it has no place there."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
from pathlib import Path

import pytest
from django.core.files.storage import InMemoryStorage
from django.test import Client
from PIL import Image

from sessions import selectors
from sessions.adapters import storage
from sessions.models import Media, MediaUse, State, Upload
from sessions.services import blobs as named_blobs
from sessions.services import deleting
from sessions.services.doctor import examine
from sessions.services.ingest import ingest
from sessions.services.live import follow_file
from sessions.services.media import make_thumbnails, media_bytes
from tests.services.claude_lines import Lines, png
from tests.services.conftest import Ingest
from tests.services.packs import zipped
from tests.services.test_deleting import SHOT, files, keep_apart, the, with_shots

pytestmark = pytest.mark.django_db
FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/transcripts"


def picture(seed: int = 0) -> bytes:
    """A picture that does not shrink and can be shown."""
    noise = random.Random(seed).randbytes(200 * 150 * 3)
    out = io.BytesIO()
    Image.frombytes("RGB", (200, 150), noise).save(out, "PNG")
    return out.getvalue()


def twice(raw: bytes) -> bytes:
    """A session whose screenshot stands in the line's own copy of the result, too, as Claude Code writes it."""
    lines = Lines(session="a").prompt("Look").turn(raw)
    last = json.loads(lines.lines[-1])
    last["toolUseResult"] = last["message"]["content"][0]["content"]
    lines.lines[-1] = json.dumps(last, separators=(",", ":")).encode()
    return lines.bytes()


def test_a_screenshot_takes_its_own_size_once(ingested: Ingest, blobs: Path) -> None:
    raw = picture()
    data = twice(raw)
    upload = ingested(data)
    (stored,) = (path for path in blobs.rglob("*") if path.is_file())
    assert stored.name == upload.sha256
    assert stored.stat().st_size < len(raw) * 1.05
    with selectors.open_upload(upload) as file:
        assert file.read() == data
    media, use = Media.objects.get(), MediaUse.objects.get()
    assert (media.apart, media.n_bytes, media_bytes(media)) == (False, len(raw), raw)
    assert data[use.offset or 0 :][: use.n_chars] == base64.b64encode(raw)


def test_it_is_served_as_it_was(ingested: Ingest) -> None:
    raw = picture()
    ingested(with_shots("a", raw))
    path = f"/media/{hashlib.sha256(raw).hexdigest()}/"
    client = Client(headers={"host": "localhost"})
    answer = client.get(path)
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, raw, "image/png")
    assert "immutable" in answer["Cache-Control"]
    small = client.get(f"{path}small/")
    assert small["Content-Type"] == "image/webp"
    assert 0 < len(small.content) <= 10_000


def test_thumbnails_are_made_from_the_transcript(ingested: Ingest) -> None:
    ingested(with_shots("a", picture(1), picture(2)))
    assert make_thumbnails(Media.objects.values_list("pk", flat=True)) == 2
    assert all(media.thumbnail for media in Media.objects.all())


def test_two_sessions_with_one_image_have_it_each_in_its_own_file(ingested: Ingest, blobs: Path) -> None:
    a, b = the(ingested(with_shots("a", SHOT))), the(ingested(with_shots("b", SHOT)))
    assert (Media.objects.count(), files(blobs)) == (1, 2)
    deleting.delete(sessions=[a.pk])
    assert media_bytes(Media.objects.get()) == SHOT
    deleting.delete(sessions=[b.pk])
    assert (Media.objects.exists(), files(blobs)) == (False, 0)


def test_a_damaged_transcript_leaves_the_image_of_another(ingested: Ingest, blobs: Path) -> None:
    upload = ingested(with_shots("a", SHOT))
    media = Media.objects.get()
    next(blobs.rglob(upload.sha256)).write_bytes(b"cut off")
    with pytest.raises(FileNotFoundError):
        media_bytes(media)
    assert Client(headers={"host": "localhost"}).get(f"/media/{media.pk}/").status_code == 410
    ingested(with_shots("b", SHOT))
    assert media_bytes(media) == SHOT


def test_the_members_of_an_archive_have_their_own_places(ingested: Ingest, blobs: Path) -> None:
    other = png(320, 200, 3_000)
    data = zipped({"a.jsonl": with_shots("a", SHOT), "b.jsonl": with_shots("b", other, SHOT)})
    upload = ingested(data, "both.zip")
    assert files(blobs) == 3, "the archive and its two files"
    for media in Media.objects.all():
        assert media_bytes(media) in {SHOT, other}
    first, second = selectors.upload_sessions(upload)
    places = dict(MediaUse.objects.filter(sha256=hashlib.sha256(SHOT).hexdigest()).values_list("session", "offset"))
    assert len({places[first.pk], places[second.pk]}) == 2
    deleting.delete(sessions=[second.pk])
    assert media_bytes(Media.objects.get()) == SHOT


def test_an_image_that_is_written_otherwise_lies_apart(ingested: Ingest, blobs: Path) -> None:
    """Escaped slashes, as some writers of JSON put them."""
    data = with_shots("a", SHOT)
    escaped = data.replace(b"/", b"\\/")
    upload = ingested(escaped)
    media = Media.objects.get()
    assert (media.apart, media_bytes(media), files(blobs)) == (True, SHOT, 2)
    assert MediaUse.objects.get().n_chars == 0
    assert list(examine(deep=True)) == []
    ingested(with_shots("b", SHOT))
    assert Media.objects.get().apart, "the first session still needs it"
    deleting.delete(uploads=[upload.pk])
    assert media_bytes(media) == SHOT
    assert (Media.objects.get().apart, files(blobs)) == (False, 1)


def test_an_image_that_is_lost_is_read_again_where_it_has_no_place(ingested: Ingest) -> None:
    ingested(with_shots("a", SHOT))
    ingested(with_shots("b", SHOT).replace(b"/", b"\\/"))
    media = Media.objects.get()
    for lose in (lambda: None, lambda: Media.objects.update(apart=False)):
        storage.remove(media.pk)
        lose()
        (finding,) = examine()
        assert finding.mend is not None
        finding.mend()
        for upload in Upload.objects.exclude(status=State.DONE):
            ingest(upload_id=upload.pk)
        assert list(examine(deep=True)) == []
        assert (Media.objects.get().apart, storage.exists(media.pk)) == (True, True)


def test_an_image_lies_apart_for_the_later_session_that_needs_it(ingested: Ingest) -> None:
    first = ingested(with_shots("a", SHOT))
    ingested(with_shots("b", SHOT).replace(b"/", b"\\/"))
    deleting.delete(uploads=[first.pk])
    media = Media.objects.get()
    assert (media.apart, media_bytes(media)) == (True, SHOT)


def test_a_file_that_grows_moves_nothing(tmp_path: Path, blobs: Path) -> None:
    lines, path = Lines(session="a").prompt("Look").turn(SHOT), tmp_path / "a.jsonl"
    for n_files in (1, 2):
        path.write_bytes(lines.bytes())
        follow_file(path=path, quiet=True)
        assert files(blobs) == n_files, "this version and the one before"
        assert media_bytes(Media.objects.get()) == SHOT
        lines.turn("and on")
    lines.lines.insert(0, b'{"type":"summary","summary":"something before","leafUuid":"x"}')
    path.write_bytes(lines.bytes())
    follow_file(path=path, quiet=True)
    assert media_bytes(Media.objects.get()) == SHOT


def test_an_image_that_is_not_where_it_should_stand_is_found_deep_down(ingested: Ingest) -> None:
    ingested(with_shots("a", SHOT))
    MediaUse.objects.update(offset=3)
    assert list(examine()) == []
    (finding,) = examine(deep=True)
    assert (finding.kind, "is not where it should stand" in finding.text) == ("incomplete", True)
    assert finding.mend
    finding.mend()
    ingest(upload_id=Upload.objects.get().pk)
    assert list(examine(deep=True)) == []
    assert media_bytes(Media.objects.get()) == SHOT


def test_a_blob_is_named_by_an_image_only_while_it_lies_apart(ingested: Ingest) -> None:
    ingested(with_shots("a", SHOT))
    media = Media.objects.get()
    assert media.pk not in named_blobs.named()
    keep_apart(media, SHOT)
    assert named_blobs.named([media.pk]) == {media.pk}


def test_on_another_storage_it_is_read_from_the_transcript_too(
    ingested: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "default_storage", InMemoryStorage())
    upload = ingested(with_shots("a", SHOT))
    assert [blob.sha256 for blob in storage.stored()] == [upload.sha256]
    assert media_bytes(Media.objects.get()) == SHOT
    deleting.delete(uploads=[upload.pk])
    assert list(storage.stored()) == []


@pytest.mark.parametrize("name", ["crush/crush.db", "inspect/log.eval", "opencode/opencode.db"])
def test_images_of_databases_and_archives_of_a_format_lie_apart(ingested: Ingest, name: str) -> None:
    ingested((FIXTURES / name).read_bytes(), name)
    media = Media.objects.get()
    assert media.apart
    assert hashlib.sha256(media_bytes(media)).hexdigest() == media.pk
    assert list(examine(deep=True)) == []
