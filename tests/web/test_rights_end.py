"""No right outlives what gave it: a role, an account, a password, an owner's choice, a link's address and password."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.models import ApiToken, Invitation, ReplayLink, SavedView, Session, State, Upload
from sessions.models.viewer import Viewer, as_now, seen_as
from sessions.selectors import session_version
from sessions.services import people
from sessions.services.ingest import ingest
from sessions.services.links import Terms, create_link, renew_link, reply
from sessions.services.live import follow_file
from sessions.services.model_access import HANDLE, access_for
from sessions.services.tokens import make_token
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines
from tests.web.team import PASSWORD, account

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("team")]

NEW = "staple-horse-battery"


def stored(owner: User | None, words: str = "Fix it", *, private: bool = False) -> Session:
    data = Lines().prompt(words).turn("done", text="ok").bytes()
    got = receive(file=io.BytesIO(data), filename="a.jsonl", owner_id=owner.pk if owner else None, private=private)
    ingest(upload_id=got.upload.pk)
    return Session.objects.roots().get(upload=got.upload)


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def joins(token: str) -> int:
    """The status of using an invitation."""
    return Client().post(f"/join/{token}/", {"name": "eve", "password": PASSWORD, "again": PASSWORD}).status_code


def demote(user: User, browser: Client, admin: Client) -> None:
    assert admin.post(f"/people/{user.pk}/role/", {"role": "member"}).status_code == 302


def remove(user: User, browser: Client, admin: Client) -> None:
    assert admin.post(f"/people/{user.pk}/remove/", {"things": "team"}).status_code == 302


def reset(user: User, browser: Client, admin: Client) -> None:
    assert CliRunner().invoke(cli, ["user", str(user), "--password-stdin"], input=f"{NEW}\n").exit_code == 0


def change(user: User, browser: Client, admin: Client) -> None:
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert browser.post("/password/", given).status_code == 302


ENDS: tuple[Callable[[User, Client, Client], None], ...] = (demote, remove, reset, change)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("is_admin", [True, False])
def test_no_invitation_token_or_sign_in_outlives_it(
    end: Callable[[User, Client, Client], None], *, is_admin: bool
) -> None:
    alice, here = account("alice", is_admin=True)
    _, admin = account("carol", is_admin=True)
    bob, bobs = account("bob")
    elsewhere = Client()
    elsewhere.force_login(alice)
    made = people.invite(maker_id=alice.pk, is_admin=is_admin).token
    held = people.invite(hint="Alice", is_admin=True).token
    others = people.invite(maker_id=User.objects.get(username="carol").pk, is_admin=is_admin).token
    tokens = [make_token(name=one, scopes=[one], owner_id=alice.pk).secret for one in ("read", "upload", "share")]
    kept = make_token(name="bob's", owner_id=bob.pk).secret
    end(alice, here, admin)
    assert [joins(made), joins(held)] == [404, 404]
    assert not User.objects.filter(username="eve").exists()
    assert [Client().get("/api/sessions", headers=bearer(one)).status_code for one in tokens] == [401] * 3
    assert elsewhere.get("/")["Location"].startswith("/login/")
    assert here.get("/people/").status_code == (200 if end is change else 302)
    # what is another's stays
    assert joins(others) == 302
    assert Client().get("/api/sessions", headers=bearer(kept)).status_code == 200
    assert bobs.get("/").status_code == admin.get("/").status_code == 200


def test_a_pasted_key_goes_with_the_sign_in(settings: Settings) -> None:
    settings.ANTHROPIC_API_KEY = ""
    alice, here = account("alice", is_admin=True)
    _, admin = account("carol", is_admin=True)
    assert here.post("/settings/key/", {"key": "sk-ant-something"}).status_code in {200, 302}
    handle = here.session[HANDLE]
    assert access_for(handle) is not None
    demote(alice, here, admin)
    assert access_for(handle) is None


def test_a_new_admin_and_a_member_who_stays_one_lose_nothing() -> None:
    _, admin = account("carol", is_admin=True)
    bob, bobs = account("bob")
    make_token(name="bob's", owner_id=bob.pk)
    for role in ("member", "admin"):
        admin.post(f"/people/{bob.pk}/role/", {"role": role})
        assert bobs.get("/").status_code == 200
        assert ApiToken.objects.open().count() == 1


def test_a_demoted_admins_links_of_others_sessions_end() -> None:
    alice, browser = account("alice", is_admin=True)
    _, admin = account("carol", is_admin=True)
    bob, _ = account("bob")
    own, bobs, teams = stored(alice), stored(bob, "Bob's own", private=True), stored(None, "The team's")
    links = [create_link(session=one, view="session", maker_id=alice.pk).token for one in (own, bobs, teams)]
    demote(alice, browser, admin)
    assert [Client().get(f"/l/{one}/").status_code for one in links] == [200, 404, 404]


def test_a_removed_persons_links_and_what_was_replied_to_them_end() -> None:
    alice, browser = account("alice")
    bob, _ = account("bob")
    _, admin = account("carol", is_admin=True)
    link = create_link(session=stored(alice), view="replay", maker_id=alice.pk, terms=Terms(takes_replies=True))
    answer = reply(to=link.link, state="", title="", note="", author="Bob", maker_id=bob.pk)
    assert [Client().get(f"/l/{one.token}/").status_code for one in (link, answer)] == [200, 200]
    remove(alice, browser, admin)
    assert [Client().get(f"/l/{one.token}/").status_code for one in (link, answer)] == [404, 404]
    assert not ReplayLink.objects.open().exists()


@pytest.mark.parametrize("end", [demote, remove])
def test_a_token_never_has_more_than_the_role_has_now(end: Callable[[User, Client, Client], None]) -> None:
    """A token made after a demotion acts as a member's; one of a closed account as nobody's."""
    alice, browser = account("alice", is_admin=True)
    _, admin = account("carol", is_admin=True)
    bobs = stored(account("bob")[0], private=True)
    end(alice, browser, admin)
    if end is demote:
        secret = make_token(name="new", owner_id=alice.pk).secret
        assert Client().get(f"/api/sessions/{bobs.pk}/why", headers=bearer(secret)).status_code == 404
    assert not Invitation.objects.exists()


def test_what_waits_to_be_read_when_somebody_goes_is_read_for_who_has_it_then() -> None:
    alice, _ = account("alice")
    bob, bobs = account("bob")
    _, admin = account("carol", is_admin=True)
    data = Lines().prompt("Still waiting").turn("done").bytes()
    waiting = receive(file=io.BytesIO(data), filename="a.jsonl", owner_id=alice.pk, private=True).upload
    assert waiting.status == State.QUEUED
    admin.post(f"/people/{alice.pk}/remove/", {"things": str(bob.pk)})
    ingest(upload_id=waiting.pk)
    found = Session.objects.get()
    assert (found.upload.owner, found.private) == (bob, True)
    assert bobs.get(f"/s/{found.pk}/").status_code == 200


def test_a_saved_view_of_what_is_no_longer_seen_is_not_listed() -> None:
    alice, _ = account("alice")
    bob, bobs = account("bob")
    session = stored(alice, "The hidden title")
    SavedView.objects.create(session=session, owner=bob, kind="replay", name="kept")
    assert "kept" in bobs.get("/saved/").content.decode()
    people.set_private(session=session, private=True)
    page = bobs.get("/saved/").content.decode()
    assert "hidden title" not in page
    assert session.pk not in page


def test_an_open_stream_ends_with_what_let_it_in(tmp_path: Path) -> None:
    alice, _ = account("alice", is_admin=True)
    path = tmp_path / "a.jsonl"
    path.write_bytes(Lines().prompt("Watch me").turn("one").bytes())
    watched = follow_file(path=path, quiet=True).upload
    bob, _ = account("bob")
    Upload.objects.filter(pk=watched.pk if watched else None).update(owner=bob, private=True)
    Session.objects.update(private=True)
    admin = Viewer(alice.pk, is_admin=True)

    def seen() -> bool:
        with seen_as(as_now(admin)):
            return session_version(Session.objects.get().pk) is not None

    assert seen()
    account("carol", is_admin=True)
    people.set_role(user=alice, is_admin=False)
    assert not seen()
    assert as_now(Viewer(bob.pk)) == Viewer(bob.pk)
    people.remove_account(user=bob, sessions_to=people.TEAM)
    assert as_now(Viewer(bob.pk)) == Viewer()


@pytest.mark.parametrize("how", ["password", "address", "revoked"])
def test_a_cookie_of_a_link_ends_with_its_password_address_or_link(how: str) -> None:
    session = stored(None)
    link = create_link(session=session, view="session", terms=Terms(password=PASSWORD))
    browser = Client()
    assert browser.post(f"/l/{link.token}/", {"password": PASSWORD}).status_code == 302
    assert browser.get(f"/l/{link.token}/").status_code == 200
    token = link.token
    if how == "password":
        other = create_link(session=session, view="session", terms=Terms(password=NEW)).link
        ReplayLink.objects.filter(pk=link.link.pk).update(password=other.password)
    elif how == "address":
        token = renew_link(link_id=link.link.pk).token
    else:
        ReplayLink.objects.filter(pk=link.link.pk).update(revoked_at=link.link.created_at)
    assert browser.get(f"/l/{token}/").status_code == (404 if how == "revoked" else 401)
    assert how != "address" or browser.get(f"/l/{link.token}/").status_code == 404


def test_a_member_reads_prices_and_models_and_is_told_who_changes_them() -> None:
    stored(None)
    (_, member), (_, admin) = account("bob"), account("carol", is_admin=True)
    theirs, admins = (browser.get("/settings/").content.decode() for browser in (member, admin))
    for form, told in (("/settings/prices/", "change prices"), ("/settings/models/", "change models")):
        assert f'action="{form}"' not in theirs
        assert f"Only an admin may {told}." in theirs
        assert f'action="{form}"' in admins
        assert "Only an admin may" not in admins
    assert 'name="cache_read"' not in theirs
    assert "claude-sonnet-4-5" in theirs
