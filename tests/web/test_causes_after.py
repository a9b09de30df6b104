"""Beside the chart: what came after each compaction, its harm, and the agents whose triggers fire there too."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from sessions import selectors
from sessions.engine.why.aftermath import aftermaths
from sessions.models import Session
from tests.web.stored import demo_file, store

HTMX = {"HX-Request": "true"}


@pytest.fixture
def demo(db: None) -> Session:
    return store(demo_file(), "demo.jsonl")


def told(client: Client, session: Session) -> str:
    response = client.get(f"/s/{session.pk}/causes/", headers=HTMX)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode()))


def test_the_page_asks_for_it_and_without_a_script_all_evidence_is_a_link(client: Client, demo: Session) -> None:
    html = client.get(f"/s/{demo.pk}/").content.decode()
    assert f'hx-get="/s/{demo.pk}/causes/" hx-trigger="load"' in html
    assert client.get(f"/s/{demo.pk}/causes/").headers["Location"] == f"/s/{demo.pk}/why/"


def test_each_compaction_says_when_it_was_full_again_and_what_it_cost(client: Client, demo: Session) -> None:
    text = told(client, demo)
    first, second = aftermaths(selectors.load_weighed(demo.pk))
    assert f"At 80% of {first.threshold:,} again {first.n_requests} requests later, with Read (" in text
    assert f"{sum(one.what == 'file' for one in first.again)} files re-read" in text
    assert second.n_requests is None
    assert re.search(r"Not at 80% of [\d,]+ again: [\d,]+ tokens at the end\.", text)
    assert "3 of 3 rules lost: “One rule for the whole session: never touch package-lock.json" in text
    assert "broken in message 160" in text


def test_what_the_context_held_is_told_by_when_it_did(client: Client, demo: Session) -> None:
    """The second compaction's way ends with the session: nothing was full again, and no other list is named."""
    html = client.get(f"/s/{demo.pk}/why/aftermath/", headers=HTMX).content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    assert [one.until for one in aftermaths(selectors.load_weighed(demo.pk))] == ["full", "end"]
    assert "At 80%: Read" in text
    assert re.search(r"At the end: \w", text), text
    assert "In it" not in text


def test_agents_whose_trigger_fires_at_the_first_false_alarm(client: Client, demo: Session) -> None:
    text = told(client, demo)
    assert re.search(
        r"Triggers at request 18 ?buzz-agent before 1332 compacted here, as recorded\.|buzz-agent compacted here", text
    )
    own, others = re.split(r"\d+ of \d+ other triggers fire here", text)
    assert "buzz-agent, bytes" in own
    assert "buzz-agent" not in others
    assert re.search(r"buzz-agent, bytes ?3,134,8\d\d bytes, estimated ≥ 167,232 tokens", text), text


def test_a_session_without_an_event_asks_nothing_more(client: Client, session: Session) -> None:
    assert "/causes/" not in client.get(f"/s/{session.pk}/").content.decode()


def test_a_session_that_compacted_nothing_has_nothing_after_it(client: Client, session: Session) -> None:
    assert not selectors.load_weighed(session.pk).transcript.compactions
    assert "At 80% of" not in told(client, session)
