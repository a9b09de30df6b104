"""What every page can rely on: security headers, health endpoints, who may come in."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from pytest_django import Settings

from ctxweb.urls import urlpatterns as real_urls

pytestmark = pytest.mark.django_db


def policy(response: HttpResponse) -> dict[str, set[str]]:
    """The response's Content-Security-Policy, parsed: directives come in no particular order."""
    header = response["Content-Security-Policy"]
    return {name: set(values) for name, *values in (part.split() for part in header.split(";") if part.strip())}


def test_app_label_does_not_collide_with_django_sessions() -> None:
    assert apps.get_app_config("agent_sessions").name == "sessions"


def test_policy_is_strict(client: Client) -> None:
    directives = policy(client.get("/login/"))
    assert directives["default-src"] == {"'self'"}
    assert directives["frame-ancestors"] == {"'none'"}
    assert directives["object-src"] == {"'none'"}
    assert directives["base-uri"] == {"'none'"}
    assert not any("unsafe" in value for values in directives.values() for value in values)


def test_nonce_of_the_style_element_is_the_policys(client: Client) -> None:
    response = client.get("/login/")
    nonce = re.search(r'<style id="plotly.js-style-global" nonce="([^"]+)">', response.content.decode())
    assert nonce is not None
    assert f"'nonce-{nonce[1]}'" in policy(response)["style-src"]
    assert nonce[1] not in client.get("/login/").content.decode(), "a nonce is used once"


def test_htmx_script_carries_the_nonce(client: Client) -> None:
    page = client.get("/login/").content.decode()
    scripts = re.findall(r"<script[^>]*django_htmx[^>]*>", page)
    assert scripts
    assert all("nonce=" in script for script in scripts)


def test_other_headers(client: Client) -> None:
    response = client.get("/healthz")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"


def test_cookies_have_names_of_their_own(client: Client) -> None:
    User.objects.create_user("alice", password="correct horse")
    client.post("/login/", {"username": "alice", "password": "correct horse"})
    assert set(client.cookies) == {"ctxweb_session", "ctxweb_csrf", "ctxweb_known"}
    assert client.cookies["ctxweb_session"]["httponly"]
    assert client.cookies["ctxweb_session"]["samesite"] == "Lax"


def test_request_id_is_made_or_taken(client: Client) -> None:
    assert len(client.get("/healthz")["X-Request-ID"]) == 16
    assert client.get("/healthz", headers={"X-Request-ID": "abc-1"})["X-Request-ID"] == "abc-1"
    assert client.get("/healthz", headers={"X-Request-ID": "a b\tc"})["X-Request-ID"] != "a b\tc"


def test_foreign_host_names_are_refused(client: Client) -> None:
    """A page elsewhere that points its own name at 127.0.0.1 gets nothing."""
    assert client.get("/login/", headers={"host": "127.0.0.1:8400"}).status_code == 200
    assert client.get("/login/", headers={"host": "rebound.example"}).status_code == 400


def test_healthz_needs_no_database(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert "no-store" in response["Cache-Control"]


def test_readyz_follows_the_workers_heartbeat(client: Client, settings: Settings, tmp_path: Path) -> None:
    settings.CELERY_BROKER_URL = ""
    settings.WORKER_HEARTBEAT = tmp_path / "worker.heartbeat"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False, "database": "ok", "worker": "no heartbeat for 15 s"}
    settings.WORKER_HEARTBEAT.touch()
    assert client.get("/readyz").json() == {"ready": True, "database": "ok", "worker": "ok"}
    for moved in (-60, 3600):  # silent, or silent and the clock set back
        long_ago = time.time() + moved
        os.utime(settings.WORKER_HEARTBEAT, (long_ago, long_ago))
        assert client.get("/readyz").status_code == 503


def test_a_body_over_the_limit_is_refused_before_it_is_read(client: Client, settings: Settings) -> None:
    settings.MAX_UPLOAD_BYTES = 3 * settings.MAX_FORM_BYTES
    for url, n_bytes, words in [
        ("/login/", settings.MAX_FORM_BYTES + 1, "forms of at most 1 MB"),
        ("/nowhere/", settings.MAX_FORM_BYTES + 1, "forms of at most 1 MB"),
        ("/uploads/", settings.MAX_UPLOAD_BYTES + 1, "larger than 3 MB"),
    ]:
        response = client.post(url, data=b"x" * n_bytes, content_type="application/octet-stream")
        assert response.status_code == 413
        assert words in response.content.decode()
    assert client.post("/uploads/", b"x" * 2_000_000, content_type="application/octet-stream").status_code == 400


def secret(request: HttpRequest) -> HttpResponse:
    """A page that says who reads it."""
    return HttpResponse("secret")


urlpatterns = [path("secret/", secret), path("secret.json", secret), path("l/abc/", secret), *real_urls]


@pytest.mark.urls("tests.web.test_platform")
class TestLoginWall:
    """With accounts, everything is closed but the way in, replay links, static files and health."""

    @pytest.fixture(autouse=True)
    def _accounts(self, settings: Settings) -> None:
        settings.REQUIRE_LOGIN = True

    def test_page_leads_to_login_and_back(self, client: Client) -> None:
        User.objects.create_user("alice", password="correct horse")
        response = client.get("/secret/?q=1")
        assert (response.status_code, response["Location"]) == (302, "/login/?next=/secret/%3Fq%3D1")
        data = {"username": "alice", "password": "correct horse", "next": "/secret/?q=1"}
        response = client.post("/login/", data)
        assert response["Location"] == "/secret/?q=1"
        assert client.get("/secret/").content == b"secret"

    def test_wrong_password_is_said_on_the_page(self, client: Client) -> None:
        User.objects.create_user("alice", password="correct horse")
        response = client.post("/login/", {"username": "alice", "password": "wrong"})
        assert response.status_code == 200
        assert 'role="alert"' in response.content.decode()

    def test_data_and_fragments_are_refused(self, client: Client) -> None:
        assert client.get("/secret.json").status_code == 401
        response = client.get("/secret/", headers={"HX-Request": "true"})
        assert (response.status_code, response["HX-Redirect"]) == (401, "/login/")

    @pytest.mark.parametrize("open_path", ["/l/abc/", "/healthz", "/login/"])
    def test_open_paths(self, client: Client, open_path: str) -> None:
        assert client.get(open_path).status_code == 200

    def test_without_accounts_nobody_is_asked(self, client: Client, settings: Settings) -> None:
        settings.REQUIRE_LOGIN = False
        assert client.get("/secret/").content == b"secret"


def messages(**changed: object) -> set[str | None]:
    """Ids of the system checks that speak up under changed settings."""
    with override_settings(**changed):
        return {check.id for check in run_checks() if (check.id or "").startswith("ctxweb.")}


def test_system_checks(settings: Settings) -> None:
    assert messages(CELERY_BROKER_URL="filesystem://localhost") >= {"ctxweb.E003"}
    settings.CELERY_BROKER_URL = ""
    assert messages(ALLOWED_HOSTS=["127.0.0.1"]) == set()
    assert messages(ALLOWED_HOSTS=["example.org"]) == {"ctxweb.W001"}
    assert messages(ALLOWED_HOSTS=["example.org"], REQUIRE_LOGIN=True) == set()
    for address, secure, found in (
        ("https://a.example/", False, {"ctxweb.E004"}),
        ("https://a.example/", True, set()),
        ("http://a.example/", False, set()),
        ("", False, set()),
    ):
        assert messages(PUBLIC_URL=address, SESSION_COOKIE_SECURE=secure, ALLOWED_HOSTS=["127.0.0.1"]) == found


def test_templates_get_the_nonce_under_the_name_that_htmx_reads() -> None:
    request = RequestFactory().get("/")
    request.csp_nonce = "abc"
    template = engines["django"].from_string("{{ csp_nonce }}")
    assert template.render({}, request) == "abc"


def test_database_waits_for_locks() -> None:
    """SQLite: WAL, and writers that queue; an in-memory test database has no WAL."""
    if connection.vendor != "sqlite":
        pytest.skip("SQLite only")
    options = connection.settings_dict["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]
