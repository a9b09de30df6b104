"""Pages travel compressed, streams do not, and nobody on another site learns a length."""

from __future__ import annotations

import gzip

import pytest
from django.test import Client

from sessions.models import Session
from tests.web.stored import pressed, store

ASKS = {"Accept-Encoding": "gzip"}


@pytest.fixture
def session(db: None) -> Session:
    return store(pressed())


def test_a_page_is_compressed_for_who_can_read_it(client: Client, session: Session) -> None:
    plain = client.get(f"/s/{session.pk}/")
    small = client.get(f"/s/{session.pk}/", headers=ASKS)
    assert plain.get("Content-Encoding") is None
    assert small["Content-Encoding"] == "gzip"
    assert b"<h1>" in gzip.decompress(small.content)
    assert len(small.content) < len(plain.content) / 3
    assert {"Accept-Encoding", "Sec-Fetch-Site"} <= set(small["Vary"].split(", "))


@pytest.mark.parametrize("who", ["cross-site", "same-site"])
def test_another_site_gets_it_as_it_is(client: Client, session: Session, who: str) -> None:
    answer = client.get(f"/s/{session.pk}/", headers={**ASKS, "Sec-Fetch-Site": who})
    assert answer.get("Content-Encoding") is None


@pytest.mark.parametrize("who", ["same-origin", "none"])
def test_this_site_and_a_person_get_it_small(client: Client, session: Session, who: str) -> None:
    answer = client.get(f"/s/{session.pk}/", headers={**ASKS, "Sec-Fetch-Site": who})
    assert answer["Content-Encoding"] == "gzip"


def test_a_stream_is_left_alone(client: Client, session: Session) -> None:
    answer = client.get(f"/s/{session.pk}/messages.csv", headers=ASKS)
    assert answer.streaming
    assert answer.get("Content-Encoding") is None
