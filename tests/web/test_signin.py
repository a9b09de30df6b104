"""Guessing passwords: what closes which door, for whom and how long, and who passes meanwhile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

import pytest
from axes.models import AccessAttempt
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from ctxweb.address import network
from ctxweb.cli import cli
from ctxweb.signin import KNOWN_COOKIE
from sessions.models import Session
from sessions.services.links import Terms, create_link

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(autouse=True)
def _accounts(settings: Settings) -> None:
    settings.REQUIRE_LOGIN = True
    for name in ("alice", "bob"):
        User.objects.create_user(name, password=PASSWORD)


def sign_in(client: Client, name: str, password: str, address: str = HERE, browser: str = "a") -> HttpResponse:
    """The answer to the form."""
    data = {"username": name, "password": password}
    return client.post("/login/", data, REMOTE_ADDR=address, headers={"User-Agent": browser})  # type: ignore[return-value]


def guess_from(addresses: Iterable[str], name: str = "alice") -> list[int]:
    """Statuses of wrong attempts by strangers, one from each address."""
    return [sign_in(Client(), name, "wrong", one).status_code for one in addresses]


def knows(client: Client, name: str = "alice", address: str = ELSEWHERE) -> Client:
    """A browser that signed in to the account and out again."""
    assert sign_in(client, name, PASSWORD, address).status_code == 302
    client.post("/logout/")
    return client


def crowd(n: int) -> list[str]:
    """So many addresses of networks of their own."""
    return [f"198.51.100.{number}" for number in range(1, n + 1)]


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


# ---- addresses of one network, and guesses from many


@pytest.mark.parametrize(
    ("address", "of"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_a_network_is_what_one_visitor_has_of_addresses(address: str, of: str) -> None:
    assert network(address) == of


def test_twelve_addresses_of_one_network_are_one_place() -> None:
    statuses = guess_from(f"2001:db8:1:2::{n:x}" for n in range(1, 13))
    assert statuses == [200] * 4 + [429] * 8
    assert sign_in(Client(), "alice", PASSWORD, "2001:db8:1:2:9::9").status_code == 429
    assert sign_in(Client(), "alice", PASSWORD, "2001:db8:1:3::9").status_code == 302


def test_guesses_at_one_account_from_many_addresses_are_limited() -> None:
    assert guess_from(crowd(24)) == [200] * 19 + [429] * 5
    refused = sign_in(Client(), "alice", PASSWORD, ELSEWHERE)
    assert refused.status_code == 429
    assert "20 sign-ins as alice failed, from several addresses. Try again in 15 minutes." in refused.content.decode()
    assert "A browser in which you signed in before has tries of its own." in refused.content.decode()
    assert sign_in(Client(), "bob", PASSWORD, ELSEWHERE).status_code == 302


def test_guesses_at_many_accounts_from_one_address_are_limited() -> None:
    statuses = [sign_in(Client(), f"person{n}", "wrong").status_code for n in range(24)]
    assert statuses == [200] * 19 + [429] * 5
    assert sign_in(Client(), "bob", PASSWORD).status_code == 429
    assert sign_in(Client(), "bob", PASSWORD, ELSEWHERE).status_code == 302


def test_the_account_opens_again_when_the_oldest_guesses_are_over() -> None:
    guess_from(crowd(20))
    now = dt.datetime.now(dt.UTC)
    AccessAttempt.objects.filter(ip_address="198.51.100.1").update(attempt_time=now - dt.timedelta(minutes=14))
    refused = sign_in(Client(), "alice", PASSWORD, ELSEWHERE)
    assert "Try again in 1 minute." in refused.content.decode()
    AccessAttempt.objects.filter(ip_address="198.51.100.1").update(attempt_time=now - dt.timedelta(minutes=16))
    assert sign_in(Client(), "alice", PASSWORD, ELSEWHERE).status_code == 302


# ---- nobody is locked out by others


def test_a_known_browser_comes_in_while_others_guess() -> None:
    browser = knows(Client())
    guess_from(crowd(24))
    guess_from([HERE] * 6)
    for address in (HERE, ELSEWHERE, "203.0.113.7"):
        assert sign_in(browser, "alice", PASSWORD, address).status_code == 302
        browser.post("/logout/")
    assert sign_in(Client(), "alice", PASSWORD, HERE).status_code == 429, "the guesses still count"


def test_a_known_browser_has_five_tries_of_its_own() -> None:
    browser = knows(Client())
    statuses = [sign_in(browser, "alice", "wrong", one).status_code for one in crowd(6)]
    assert statuses == [200] * 4 + [429] * 2
    refused = sign_in(browser, "alice", PASSWORD)
    assert "5 sign-ins as alice failed in this browser." in refused.content.decode()
    assert "tries of its own" not in refused.content.decode()
    assert sign_in(Client(), "alice", PASSWORD).status_code == 302, "a browser's failures close nothing for others"


@pytest.mark.parametrize("how", ["of another account", "forged", "of an older password", "of a closed account"])
def test_a_cookie_that_proves_nothing_opens_nothing(how: str) -> None:
    browser = knows(Client(), "bob" if how == "of another account" else "alice")
    if how == "forged":
        browser.cookies[KNOWN_COOKIE] = browser.cookies[KNOWN_COOKIE].value[:-4] + "AAAA"
    elif how == "of an older password":
        CliRunner().invoke(cli, ["user", "alice", "--password-stdin"], input="another long password\n")
    elif how == "of a closed account":
        User.objects.filter(username="alice").update(is_active=False)
    guess_from(crowd(20))
    given = "another long password" if how == "of an older password" else PASSWORD
    assert sign_in(browser, "alice", given).status_code == 429


def test_the_cookie_is_for_the_sign_in_alone(settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = True
    browser = Client()
    assert KNOWN_COOKIE not in sign_in(browser, "alice", "wrong").cookies
    cookie = sign_in(browser, "alice", PASSWORD).cookies[KNOWN_COOKIE]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"], cookie["secure"]) == ("/login/", True, "Lax", True)
    assert "alice" not in cookie.value
    new = {"old_password": PASSWORD, "new_password1": "staple-horse", "new_password2": "staple-horse"}
    changed = browser.post("/password/", new, secure=True)
    assert changed.status_code == 302
    assert KNOWN_COOKIE in changed.cookies, "the browser that changes the password stays known"


def test_the_password_of_a_link_is_limited_by_network_too(session: Session) -> None:
    link = create_link(session=session, view="session", terms=Terms(password=PASSWORD))

    def tried(password: str, address: str) -> int:
        return Client(REMOTE_ADDR=address).post(f"/l/{link.token}/", {"password": password}).status_code

    statuses = [tried("wrong", f"2001:db8:1:2::{n:x}") for n in range(1, 8)]
    assert statuses == [403] * 5 + [429] * 2
    assert tried(PASSWORD, "2001:db8:1:2:9::9") == 429
    assert tried(PASSWORD, "2001:db8:1:3::9") == 302
