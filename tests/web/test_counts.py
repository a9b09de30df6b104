"""Counting by the provider from the pages: explained without a key, asked once with one, and failures in words."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.adapters import anthropic_client
from sessions.models import Session
from sessions.pages.counts import view as counts
from sessions.services import exact_counts
from tests.fake_anthropic import Answer, FakeAnthropic, counted

HTMX = {"HX-Request": "true"}


@pytest.fixture
def keyed(
    client: Client, fake_anthropic: FakeAnthropic, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> FakeAnthropic:
    """The browser has given a key; ranges are of ten messages, longer where a call is open."""
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(exact_counts, "RANGE_MESSAGES", 10)
    settings.ANTHROPIC_BASE_URL = fake_anthropic.base_url
    client.post("/settings/key/", {"key": f"sk-ant-{fake_anthropic.base_url}"})
    return fake_anthropic


def test_without_a_key_the_button_explains_itself(client: Client, session: Session) -> None:
    for path in (f"/s/{session.pk}/?m=3&tab=sizes", f"/s/{session.pk}/m/3/?tab=sizes", f"/s/{session.pk}/count/"):
        text = client.get(path).content.decode()
        assert "free of charge, for those with a key" in text
        assert 'href="/settings/"' in text
        assert "Count with Anthropic" not in text


def test_a_message_is_counted_once(client: Client, session: Session, keyed: FakeAnthropic) -> None:
    assert "Count with Anthropic" in client.get(f"/s/{session.pk}/m/0/?tab=sizes").content.decode()
    assert keyed.requests == []
    keyed.then(counted(11))
    for _ in range(2):
        text = client.post(f"/s/{session.pk}/m/0/count/", headers=HTMX).content.decode()
        assert text.lstrip().startswith('<section id="provider-count"')
        assert "11\N{NO-BREAK SPACE}tokens" in text or "11 tokens" in text
        assert "the provider's own estimate" in text
    assert len(keyed.requests) == 1
    assert "Fix the <b>Pay</b> button" in keyed.requests[0].body["messages"][0]["content"][0]["text"]


def test_a_screenshot_is_sent_with_its_bytes(client: Client, session: Session, keyed: FakeAnthropic) -> None:
    page = client.post(f"/s/{session.pk}/m/12/count/").content.decode()
    assert page.startswith("<!doctype html>")
    assert "tool results without their call sent as text: 1" in page
    kinds = [block["type"] for block in keyed.requests[0].body["messages"][0]["content"]]
    assert "image" in kinds


def test_a_failure_stands_beside_the_button(client: Client, session: Session, keyed: FakeAnthropic) -> None:
    keyed.then(Answer(429, headers={"retry-after": "60"}))
    text = client.post(f"/s/{session.pk}/m/0/count/", headers=HTMX).content.decode()
    assert "The API asks for fewer requests: fake rate_limit_error. Try again in 60 s." in text
    assert "Count with Anthropic" in text


def test_the_whole_session_goes_on_until_it_is_done(
    client: Client, session: Session, keyed: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "SECONDS", 0)
    keyed.decide = lambda _: counted(100)
    address = f"/s/{session.pk}/count/"
    first = client.post(address, headers=HTMX).content.decode()
    assert "Counting: 1 of 4 ranges." in first
    assert 'hx-trigger="submit, load delay:200ms"' in first
    for _ in range(2):
        client.post(address, headers=HTMX)
    last = client.post(address, headers=HTMX).content.decode()
    assert "hx-trigger" not in last
    assert "<form" not in last
    assert "400" in last
    assert len(keyed.requests) == 4
    assert "0–10</a>" in client.get(address).content.decode()  # and they are there for whoever comes later
    assert len(keyed.requests) == 4


def test_another_model(client: Client, session: Session, keyed: FakeAnthropic) -> None:
    client.post(f"/s/{session.pk}/count/", {"model": "claude-haiku-5-5"})
    assert {seen.body["model"] for seen in keyed.requests} == {"claude-haiku-5-5"}


def test_a_refused_key_ends_the_counting(client: Client, session: Session, keyed: FakeAnthropic) -> None:
    keyed.then(counted(5), Answer(401))
    text = client.post(f"/s/{session.pk}/count/", headers=HTMX).content.decode()
    assert "The API refuses this key" in text
    assert "What was counted is kept." in text
    assert "load delay" not in text


def test_messages_that_are_not_there(client: Client, session: Session) -> None:
    assert client.post(f"/s/{session.pk}/m/9999/count/").status_code == 404
    assert client.get(f"/s/{session.pk}/m/0/count/").status_code == 405
    assert client.get("/s/s_none/count/").status_code == 404
