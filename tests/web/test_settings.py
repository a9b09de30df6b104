"""The settings page: a key is used by the browser that gave it, and is nowhere to be found."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.test import Client
from pytest_django import Settings

from sessions.adapters import memory
from sessions.services import model_access
from tests.fake_anthropic import Answer, FakeAnthropic

KEY = "sk-ant-given-on-the-page-9876"
pytestmark = pytest.mark.django_db


@pytest.fixture
def api(fake_anthropic: FakeAnthropic, settings: Settings) -> FakeAnthropic:
    settings.ANTHROPIC_BASE_URL = fake_anthropic.base_url
    return fake_anthropic


def give(client: Client, key: str = KEY) -> str:
    return client.post("/settings/key/", {"key": key}, follow=True).content.decode()


def test_without_a_key_it_says_what_one_adds(client: Client) -> None:
    text = client.get("/settings/").content.decode()
    assert "No key." in text
    assert "Forget the key" not in text
    assert "What leaves this machine" in text


def test_a_key_is_used_by_the_browser_that_gave_it(client: Client, api: FakeAnthropic) -> None:
    text = give(client)
    assert "ends in <code>9876</code>" in text
    assert KEY not in text
    assert "The key works" in client.post("/settings/key/test/").content.decode()
    assert KEY in " ".join(api.requests[0].headers.values())
    stranger = Client()
    assert "No key." in stranger.get("/settings/").content.decode()
    assert stranger.post("/settings/key/test/").status_code == 422
    assert len(api.requests) == 1


def test_a_key_is_not_written_anywhere(client: Client) -> None:
    give(client)
    held = [session.get_decoded() for session in BrowserSession.objects.all()]
    assert len(held) == 1
    assert KEY not in str(held)
    assert all(KEY not in cookie.value for cookie in client.cookies.values())
    files = [path for path in Path(django_settings.DATA).rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_forgotten_key_is_gone(client: Client) -> None:
    give(client)
    handle = client.session[model_access.HANDLE]
    assert model_access.access_for(handle) is not None
    text = client.post("/settings/key/forget/", follow=True).content.decode()
    assert "No key." in text
    assert model_access.access_for(handle) is None


def test_another_key_replaces_it(client: Client) -> None:
    give(client)
    handle = client.session[model_access.HANDLE]
    assert "ends in <code>4321</code>" in give(client, "sk-ant-another-4321")
    assert model_access.access_for(handle) is None


def test_signing_out_forgets_it(client: Client) -> None:
    client.force_login(User.objects.create_user("mara"))
    give(client)
    handle = client.session[model_access.HANDLE]
    client.post("/logout/")
    assert model_access.access_for(handle) is None


@pytest.mark.parametrize(
    "key", ["", "short", "two words of a key", "sk-ant-\nnext-line", "sk-ant-schlüssel", "x" * 501]
)
def test_what_cannot_be_a_key_is_refused(client: Client, key: str) -> None:
    response = client.post("/settings/key/", {"key": key})
    assert response.status_code == 422
    assert "A key is one line" in response.content.decode()
    assert model_access.HANDLE not in client.session


def test_a_key_that_fails_says_why(client: Client, api: FakeAnthropic) -> None:
    give(client)
    api.then(Answer(401))
    assert "The API refuses this key: fake authentication_error." in client.post("/settings/key/test/").content.decode()


def test_the_installations_key_serves_everyone_but_is_not_shown(client: Client, settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = "sk-ant-of-the-environment"
    text = client.get("/settings/").content.decode()
    assert "ANTHROPIC_API_KEY" in text
    assert "sk-ant-of-the-environment" not in text
    assert "Forget the key" not in text
    give(client)
    assert model_access.access_for(client.session[model_access.HANDLE]).key == KEY


def test_only_so_many_keys_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MAX_KEYS", 2)
    handles = [model_access.keep_key(f"sk-ant-number-{n}") for n in range(3)]
    assert [model_access.access_for(handle) is not None for handle in handles] == [False, True, True]


def test_pages_are_not_stored_by_caches(client: Client) -> None:
    assert client.get("/settings/")["Cache-Control"] == "private, no-store"
    assert client.get("/settings/key/").status_code == 405
