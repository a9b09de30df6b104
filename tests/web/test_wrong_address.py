"""A value in an address that nobody knows: one short note with a way to the default, on every page that takes it."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from sessions.models import Session

PAGES = ("replay", "diff", "quality", "sweep", "ab")
MOST_CHARS = 260
NOTE = re.compile(r'<p class="note note-danger wrong-address".*?</p>', re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("policy=nope", "There is no policy 'nope'"),
        ("policy=claude_cod", "Did you mean 'claude_code'"),
        ("estimator=" + "x" * 400, "There is no estimator"),
        ("summarizer=nope", "Known: anthropic, extractive, recorded"),
        ("p.nope=1", "Unknown parameter 'nope'"),
        ("event=x", "The event is a number"),
    ],
)
def test_a_note_says_it_in_one_line_and_leads_to_the_default(
    client: Client, session: Session, page: str, query: str, words: str
) -> None:
    response = client.get(reverse(f"sessions:{page}", args=[session.pk]) + f"?{query}&window=150000")
    (note,) = NOTE.findall(response.content.decode())
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", note)).split())
    assert response.status_code == 400
    assert words in text
    assert len(text) < MOST_CHARS
    href = html.unescape(re.search(r'<a href="([^"]+)"', note)[1])  # type: ignore[index]
    assert "window=150000" in href
    assert client.get(href).status_code == 200


def test_a_compaction_that_is_not_there_is_named_as_people_count(client: Client, session: Session) -> None:
    page = client.get(
        reverse("sessions:diff", args=[session.pk]) + "?policy=sliding_window&window=1500&p.trigger=50&event=98"
    )
    assert "There is no compaction 99: the replay has compactions 1 to" in page.content.decode()


@pytest.mark.parametrize("page", [*PAGES, "session", "transcript", "why", "apply"])
def test_a_session_that_is_gone_is_told(client: Client, db: None, page: str) -> None:
    path = reverse(f"sessions:{page}", args=["s_aaaaaaaaaaaa"])
    whole, part = client.get(path), client.get(path, headers={"HX-Request": "true"})
    for answer in (whole, part):
        assert answer.status_code == 404
        assert "There is no such session; it may have been deleted." in answer.content.decode()
    assert "data-error-text" in part.content.decode()
    assert 'href="/"' in part.content.decode()
    assert "<html" not in part.content.decode()


@pytest.mark.parametrize("path", ["/s/{}/", "/api/sessions/{}/inspect"])
def test_a_session_deleted_while_its_page_is_made_is_told(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise type(session).DoesNotExist

    monkeypatch.setattr("sessions.selectors.load_weighed", gone)
    monkeypatch.setattr("sessions.pages.session.view.overview", gone)
    response = client.get(path.format(session.pk))
    assert response.status_code == 404
    assert "There is no such session; it may have been deleted." in response.content.decode()
