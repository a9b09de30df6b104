"""Guessing passwords: five wrong ones close the door for that name from that address, for nobody else, for a while."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from axes.models import AccessAttempt
from click.testing import CliRunner
from django.contrib.auth.models import User

from ctxweb.cli import cli

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(autouse=True)
def _accounts(settings: SettingsWrapper) -> None:
    settings.REQUIRE_LOGIN = True
    for name in ("alice", "bob"):
        User.objects.create_user(name, password=PASSWORD)


def sign_in(client: Client, name: str, password: str, address: str = HERE, browser: str = "a") -> HttpResponse:
    """The answer to the form."""
    data = {"username": name, "password": password}
    return client.post("/login/", data, REMOTE_ADDR=address, headers={"User-Agent": browser})  # type: ignore[return-value]


def guess(client: Client, n_times: int, name: str = "alice") -> list[int]:
    """Statuses of so many wrong attempts, each from another browser."""
    return [sign_in(client, name, "wrong", browser=str(n)).status_code for n in range(n_times)]


def test_the_fifth_wrong_password_closes_the_door_and_says_until_when(client: Client) -> None:
    assert guess(client, 5) == [200, 200, 200, 200, 429]
    response = sign_in(client, "alice", PASSWORD)
    page = response.content.decode()
    assert response.status_code == 429
    assert "5 sign-ins as alice failed from your address. Try again in 15 minutes." in page
    assert response["Retry-After"] == "900"
    assert client.get("/", follow=False).status_code == 302, "nobody is signed in"


def test_others_come_in_meanwhile(client: Client) -> None:
    guess(client, 6)
    assert sign_in(client, "bob", PASSWORD).status_code == 302
    client.logout()
    assert sign_in(client, "alice", PASSWORD, ELSEWHERE).status_code == 302


def test_the_door_opens_again_and_trying_does_not_keep_it_closed(client: Client) -> None:
    guess(client, 5)
    AccessAttempt.objects.update(attempt_time=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=14))
    response = sign_in(client, "alice", "wrong")
    assert "Try again in 1 minute." in response.content.decode()
    AccessAttempt.objects.update(attempt_time=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=16))
    assert sign_in(client, "alice", PASSWORD).status_code == 302


def test_a_success_forgets_the_failures_before(client: Client) -> None:
    guess(client, 4)
    assert sign_in(client, "alice", PASSWORD).status_code == 302
    client.logout()
    assert guess(client, 4) == [200] * 4


def test_a_new_password_opens_the_door(client: Client) -> None:
    guess(client, 5)
    result = CliRunner().invoke(cli, ["user", "alice", "--password-stdin"], input="another long password\n")
    assert result.exit_code == 0
    assert sign_in(client, "alice", "another long password").status_code == 302


def test_names_that_do_not_exist_are_treated_alike(client: Client) -> None:
    assert guess(client, 5, "nobody") == [200, 200, 200, 200, 429]


def test_no_password_is_stored(client: Client) -> None:
    sign_in(client, "alice", "a wrong secret")
    attempt = AccessAttempt.objects.get()
    assert "wrong secret" not in repr(attempt.__dict__)
