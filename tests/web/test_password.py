"""One's own password is changed on a page; other browsers are signed out by it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db
NEW = "staple-horse-battery"


def test_it_is_changed_with_the_old_one_alone(settings: Settings) -> None:
    assert Client().get("/password/").status_code == 404  # no accounts here
    settings.REQUIRE_LOGIN = True
    assert Client().get("/password/")["Location"].startswith("/login/")
    user = User.objects.create_user("alice", password="correct-horse-battery")
    here, elsewhere = Client(), Client()
    for browser in (here, elsewhere):
        browser.force_login(user)
    wrong = here.post("/password/", {"old_password": "no", "new_password1": NEW, "new_password2": NEW})
    assert wrong.status_code == 200
    assert b"old-error" in wrong.content
    old = {"old_password": "correct-horse-battery"}
    for bad in ({"new_password1": "short", "new_password2": "short"}, {"new_password1": NEW, "new_password2": "x"}):
        assert b"again-error" in here.post("/password/", old | bad).content
    done = here.post("/password/", old | {"new_password1": NEW, "new_password2": NEW}, follow=True)
    assert b"Your password is changed" in done.content
    assert elsewhere.get("/password/").status_code == 302
    user.refresh_from_db()
    assert user.check_password(NEW)
