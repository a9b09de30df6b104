"""Uploads and images in an S3 bucket: the real server and worker against whatever speaks S3 at ``S3_TEST_ENDPOINT``.

    moto_server -p 5555 &
    S3_TEST_ENDPOINT=http://127.0.0.1:5555 python -m pytest tests/servers/test_s3.py

It needs django-storages[s3] beside ctxweb, and credentials as for any AWS tool (moto takes any).
"""

from __future__ import annotations

import http.client
import importlib.util
import io
import json
import os
import re
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from tests.cli.processes import rows, run, set_up
from tests.cli.serving import Served, until
from tests.faults.clients import HEADERS, MULTIPART, form
from tests.faults.files import File
from tests.services.claude_lines import Lines
from tests.services.packs import zipped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORM = "application/x-www-form-urlencoded"
ENDPOINT = os.environ.get("S3_TEST_ENDPOINT", "")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.services,
    pytest.mark.skipif(not ENDPOINT, reason="S3_TEST_ENDPOINT names no server"),
    pytest.mark.skipif(importlib.util.find_spec("storages") is None, reason="django-storages is not installed"),
]


@pytest.fixture
def bucket() -> Iterator[Any]:
    import boto3

    found = boto3.resource("s3", endpoint_url=ENDPOINT).Bucket(f"ctxweb-{uuid.uuid4().hex[:12]}")
    found.create()
    yield found
    found.objects.all().delete()
    found.delete()


@pytest.fixture
def served(tmp_path: Path, bucket: Any) -> Iterator[Served]:
    server = Served(set_up(tmp_path / "data"), CTXWEB_S3_BUCKET=bucket.name, CTXWEB_S3_ENDPOINT=ENDPOINT)
    yield server
    server.stop()


def _stored(bucket: Any) -> list[str]:
    return sorted(found.key for found in bucket.objects.all())


def _picture() -> bytes:
    out = io.BytesIO()
    Image.effect_noise((640, 480), 60).convert("RGB").save(out, "PNG")
    return out.getvalue()


def _post(served: Served, path: str, body: bytes, kind: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port(), timeout=60)
    connection.request("POST", path, body, {**HEADERS, "Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, answer.headers.get("Location", ""), text


def _upload(served: Served, name: str, data: bytes) -> None:
    status, _, text = _post(served, "/uploads/", form(File(name, data, 0, "")), MULTIPART)
    assert status == 302, text
    states = "select state from agent_sessions_job"
    until(lambda: {row[0] for row in rows(served.data, states)} == {"done"})


def test_everything_but_the_database_lies_in_the_bucket(served: Served, bucket: Any) -> None:
    picture = _picture()
    _upload(served, "one.jsonl", Lines().prompt("Look at <this>").turn(picture).turn("fine").bytes())
    ((session_id, n_messages),) = rows(served.data, "select id, n_messages from agent_sessions_session")
    assert n_messages == 5
    assert len(_stored(bucket)) == 1, "the upload, which holds its picture"
    assert all(re.fullmatch(r"[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64}", key) for key in _stored(bucket))
    assert [path for path in (served.data / "blobs").rglob("*") if path.is_file()] == []
    assert "Look at &lt;this&gt;" in served.get(f"/s/{session_id}/m/0/").text
    ((sha256,),) = rows(served.data, "select sha256 from agent_sessions_media")
    until(lambda: rows(served.data, "select length(thumbnail) > 0 from agent_sessions_media") == [(1,)])
    page = served.get(f"/s/{session_id}/").text
    assert page
    connection = http.client.HTTPConnection("127.0.0.1", served.port(), timeout=60)
    connection.request("GET", f"/media/{sha256}/", headers=HEADERS)
    assert connection.getresponse().read() == picture
    connection.close()
    status, _, text = _post(served, f"/s/{session_id}/share/?view=replay&policy=none", b"", FORM)
    assert status == 201
    path = re.search(r'value="http://[^"/]+(/l/[^"]+)"', text)[1]  # type: ignore[index]
    assert json.loads(served.get(f"{path}view.json").text)
    _post(served, "/delete/", f"s={session_id}".encode(), FORM)
    until(lambda: _stored(bucket) == [])


def test_an_archive_is_read_in_parts_from_the_bucket(served: Served, bucket: Any) -> None:
    filler = os.urandom(700_000).hex()
    files = {
        f"{n}.jsonl": Lines(f"{n}1111111-2222-3333-4444-555555555555").prompt(f"Task {n} {filler}").turn("ok").bytes()
        for n in range(4)
    }
    _upload(served, "all.zip", zipped(files))
    assert rows(served.data, "select count(*), sum(n_messages) from agent_sessions_session") == [(4, 12)]
    assert len(_stored(bucket)) == 5, "the archive and its files"
    done = run(served.data, "doctor", CTXWEB_S3_BUCKET=bucket.name, CTXWEB_S3_ENDPOINT=ENDPOINT)
    assert done.returncode == 0, done.stdout + done.stderr
