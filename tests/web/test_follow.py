"""The stream that announces growth, and the fragments that bring it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.models import Session
from sessions.pages.session import follow
from sessions.pages.ui.view import command_line
from sessions.services.live import follow_file
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.django_db(transaction=True)  # closing a stream closes its connection
HTMX = {"HX-Request": "true"}


@pytest.fixture
def growing(tmp_path: Path, settings: Any) -> tuple[Lines, Any]:
    """Lines of a watched file, and what writes and reads them."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    path, lines = tmp_path / "a.jsonl", Lines().prompt("Watch me").turn("one")

    def write() -> Session:
        path.write_bytes(lines.bytes())
        follow_file(path=path, quiet=False)
        return Session.objects.get()

    return lines, write


def parts(client: Client, url: str, n: int, **headers: str) -> list[str]:
    """The first ``n`` events of a stream, which is then closed as by a reader that leaves."""
    response = client.get(url, headers=headers)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    stream = iter(response.streaming_content)  # type: ignore[attr-defined]
    found = [next(stream).decode() for _ in range(n)]
    response.close()
    return found


def test_the_stream_announces_what_the_page_has_not_seen(client: Client, growing: tuple[Lines, Any]) -> None:
    lines, write = growing
    old = write()
    lines.turn("two")
    new = write()
    url = f"/s/{old.pk}/events/?version={old.version}"
    following, grew = parts(client, url, 2)
    assert "event: following" in following
    assert grew == f'id: {new.version}\nevent: grew\ndata: {{"version":"{new.version}","messages":5}}\n\n'
    assert parts(client, f"/s/{old.pk}/events/", 2, **{"Last-Event-ID": old.version})[1] == grew


def test_it_beats_and_ends(client: Client, growing: tuple[Lines, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    stored = growing[1]()
    monkeypatch.setattr(follow, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(follow, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(follow, "LIFETIME_SECONDS", 0.3)
    url = f"/s/{stored.pk}/events/?version={stored.version}"
    assert parts(client, url, 2)[1].startswith(": ")
    whole = b"".join(client.get(url).streaming_content).decode()  # type: ignore[attr-defined]
    assert "grew" not in whole
    stored.upload.live.delete()
    assert "event: ended" in parts(client, url, 2)[1]


def test_streams_are_few_and_come_back(
    client: Client, growing: tuple[Lines, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = growing[1]()
    monkeypatch.setattr(follow, "streams", threading.BoundedSemaphore(1))
    url = f"/s/{stored.pk}/events/"
    held = client.get(url)
    assert b"following" in next(iter(held.streaming_content))  # type: ignore[attr-defined]
    assert parts(client, url, 1) == ["event: full\ndata: {}\n\n"]
    held.close()
    assert "following" in parts(client, url, 1)[0]


def test_growth_brings_rows_facts_and_chart(client: Client, growing: tuple[Lines, Any]) -> None:
    lines, write = growing
    old = write()
    url = f"/s/{old.pk}/growth/"
    assert client.get(url, {"version": old.version}, headers=HTMX).status_code == 204
    lines.turn("two")
    new = write()
    query = {"version": old.version, "first": 0, "after": 3, "whole": 1}
    html = client.get(url, query, headers=HTMX).content.decode()
    assert f'name="version" value="{new.version}"' in html
    fresh = html.split('<tbody hx-swap-oob="beforeend:#rows">')[1]
    assert ['id="m-3"' in fresh, 'id="m-4"' in fresh, 'id="m-2"' in fresh] == [True, True, False]
    assert html.count('id="m-2"') == 1
    assert 'id="pressure-figure" hx-swap-oob="true"' in html
    assert "2 requests" in html
    part = client.get(url, query | {"whole": 0}, headers=HTMX).content.decode()
    assert 'id="m-4"' not in part
    assert "Load the other 2 of 2" in part


def test_a_plain_get_of_growth_is_the_page(client: Client, growing: tuple[Lines, Any]) -> None:
    stored = growing[1]()
    page = client.get(f"/s/{stored.pk}/growth/").content.decode()
    assert "<!doctype html>" in page
    assert 'aria-pressed="true"' in page


def test_following_is_what_the_address_says(client: Client, growing: tuple[Lines, Any]) -> None:
    stored = growing[1]()
    assert 'aria-pressed="false"' in client.get(f"/s/{stored.pk}/?follow=off").content.decode()
    stored.upload.live.delete()
    assert 'id="follow"' not in client.get(f"/s/{stored.pk}/?follow=on").content.decode()


def test_commands_name_a_followed_file_by_its_path_but_not_to_members(
    client: Client, tmp_path: Path, settings: Settings
) -> None:
    path = tmp_path / "my work" / "one.jsonl"
    path.parent.mkdir()
    path.write_bytes(Lines("one").prompt("Go").turn("done").bytes())
    follow_file(path=path, quiet=True)
    found = Session.objects.get()
    assert command_line(found, "why") == f"ctxweb why '{path}'"
    settings.REQUIRE_LOGIN = True
    assert command_line(found, "why") == "ctxweb why path/to/one.jsonl"
