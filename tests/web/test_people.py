"""A team on one server: coming by invitation, whose a session is, and what becomes of it when somebody goes."""

from __future__ import annotations

import errno
import io
import re

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from ctxweb.cli import cli
from sessions.engine.base.words import home_as_tilde
from sessions.models import Invitation, ReplayLink, SavedView, Session, Upload
from sessions.services import people
from sessions.services.ingest import ingest
from sessions.services.links import Terms, create_link, reply
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines
from tests.web.team import PASSWORD, account

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("team")]

GIVEN = {"name": "dora", "password": PASSWORD, "again": PASSWORD}


def bytes_of(words: str = "Fix it") -> bytes:
    return Lines().prompt(words).turn("done", text="ok").bytes()


def stored(owner: User | None, words: str = "Fix it", *, private: bool = False) -> Session:
    got = receive(file=io.BytesIO(bytes_of(words)), filename="a.jsonl", owner_id=owner.pk if owner else None,
                  private=private)  # fmt: skip
    ingest(upload_id=got.upload.pk)
    return Session.objects.roots().get(upload=got.upload)


def test_an_invitation_makes_one_account_and_signs_it_in() -> None:
    token = people.invite(hint="Dora").token
    client = Client()
    assert "meant for Dora" in client.get(f"/join/{token}/").content.decode()
    client.session.save()
    assert client.post(f"/join/{token}/", GIVEN).status_code == 302
    assert client.get("/").status_code == 200
    assert not User.objects.get(username="dora").is_superuser
    again = Client().post(f"/join/{token}/", GIVEN | {"name": "eve"})
    assert again.status_code == 404
    assert not User.objects.filter(username="eve").exists()
    assert token not in repr(list(Invitation.objects.values()))


def test_signing_in_by_an_invitation_changes_the_browsers_session() -> None:
    client = Client()
    session = client.session
    session["planted"] = True
    session.save()
    before = client.cookies["ctxweb_session"].value
    client.post(f"/join/{people.invite().token}/", GIVEN)
    assert client.cookies["ctxweb_session"].value != before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "ALICE"}, "This name is taken."),
        ({"again": "another one"}, "The two passwords differ."),
        ({"password": "short", "again": "short"}, "too short"),
        ({"name": "a b"}, "Enter a valid username"),
    ],
)
def test_what_cannot_be_taken_is_said_and_the_invitation_still_stands(given: dict[str, str], words: str) -> None:
    account("alice")
    token = people.invite().token
    response = Client().post(f"/join/{token}/", GIVEN | given)
    assert response.status_code == 422
    assert words in response.content.decode()
    assert people.find_invitation(token=token) is not None


def test_without_accounts_no_invitation_opens(settings: Settings) -> None:
    settings.REQUIRE_LOGIN = False
    assert Client().get(f"/join/{people.invite().token}/").status_code == 404


def test_admins_invite_and_withdraw_on_the_page() -> None:
    _, admin = account("carol", is_admin=True)
    page = admin.post("/people/invite/", {"hint": "Dora"}).content.decode()
    found = re.search(r'value="http://testserver(/join/[^"]+)"', page)
    assert found is not None
    assert Client().get(found[1]).status_code == 200
    admin.post(f"/people/invitations/{Invitation.objects.get().pk}/withdraw/")
    assert Client().get(found[1]).status_code == 404


def test_the_last_admin_stays_one() -> None:
    carol, admin = account("carol", is_admin=True)
    bob, _ = account("bob")
    assert admin.post(f"/people/{carol.pk}/role/", {"role": "member"}).status_code == 409
    assert admin.post(f"/people/{carol.pk}/remove/", {"things": "team"}).status_code == 409
    admin.post(f"/people/{bob.pk}/role/", {"role": "admin"})
    assert admin.post(f"/people/{carol.pk}/role/", {"role": "member"}).status_code == 302
    assert admin.get(f"/people/{bob.pk}/remove/")["Location"].startswith("/login/")
    admin.force_login(carol)
    assert admin.get(f"/people/{bob.pk}/remove/").status_code == 403


def test_who_sees_an_upload_is_chosen_with_it_and_remembered() -> None:
    _, alice = account("alice")
    for words, who in (("one", {"who": "mine"}), ("two", {}), ("three", {"who": "team"})):
        file = io.BytesIO(bytes_of(words))
        file.name = f"{words}.jsonl"
        alice.post("/uploads/", {"files": file} | who)
    kept = dict(Upload.objects.values_list("filename", "private"))
    assert kept == {"one.jsonl": True, "two.jsonl": True, "three.jsonl": False}
    assert set(Upload.objects.values_list("owner__username", flat=True)) == {"alice"}


def test_a_session_changes_hands_with_its_upload_and_reading_again_keeps_that() -> None:
    alice, browser = account("alice")
    _, bob = account("bob")
    session = stored(alice, private=True)
    assert bob.get(f"/s/{session.pk}/").status_code == 404
    browser.post(f"/s/{session.pk}/who/", {"who": "team"})
    assert bob.get(f"/s/{session.pk}/").status_code == 200
    assert bob.get(f"/uploads/{session.upload_id}/").status_code == 200
    browser.post(f"/s/{session.pk}/who/", {"who": "mine"})
    session.upload.job.state = "queued"
    session.upload.job.save()
    ingest(upload_id=session.upload_id)
    assert bob.get(f"/s/{session.pk}/").status_code == 404
    assert bob.get(f"/uploads/{session.upload_id}/").status_code == 404
    upload = Upload.objects.get()
    assert (upload.owner, upload.private) == (alice, True)


def test_equal_bytes_tell_nobody_that_somebody_keeps_them() -> None:
    alice, _ = account("alice")
    bob, browser = account("bob")
    hers = stored(alice, private=True)
    got = receive(file=io.BytesIO(bytes_of()), filename="b.jsonl", owner_id=bob.pk)
    assert not got.duplicate
    ingest(upload_id=got.upload.pk)
    mine = Session.objects.get(upload=got.upload)
    page = browser.get(f"/s/{mine.pk}/").content.decode()
    assert hers.pk not in page
    assert "resumed or forked" not in page
    again = receive(file=io.BytesIO(bytes_of()), filename="c.jsonl", owner_id=bob.pk)
    assert again.duplicate
    assert again.upload == got.upload


def test_relatives_that_one_may_not_see_are_not_named() -> None:
    alice, _ = account("alice")
    _, bob = account("bob")
    parent, child = stored(alice, "the secret parent", private=True), stored(alice, "the child")
    Session.objects.filter(pk=child.pk).update(parent=parent, shares_with=parent)
    page = bob.get(f"/s/{child.pk}/").content.decode()
    assert parent.pk not in page
    assert "secret parent" not in page
    assert Session.objects.get(pk=child.pk).parent_id == parent.pk


@pytest.mark.parametrize("things", ["team", "delete", "heir"])
def test_removing_an_account_does_with_its_things_as_said(things: str) -> None:
    alice, browser = account("alice")
    bob, bobs = account("bob")
    _, admin = account("carol", is_admin=True)
    hidden, shown = stored(alice, "one", private=True), stored(alice, "two")
    link = create_link(session=shown, view="session", maker_id=alice.pk)
    SavedView.objects.create(session=shown, owner=alice, kind="replay", name="kept")
    page = admin.get(f"/people/{alice.pk}/remove/").content.decode()
    assert "2 sessions" in page
    assert "1 replay link" in page
    assert admin.post(f"/people/{alice.pk}/remove/", {"things": ""}).status_code == 409
    chosen = str(bob.pk) if things == "heir" else things
    assert admin.post(f"/people/{alice.pk}/remove/", {"things": chosen}).status_code == 302
    assert browser.get("/").status_code == 302, "signed out at once"
    assert Client().get(f"/l/{link.token}/").status_code == 404
    assert not SavedView.objects.exists()
    assert not User.objects.filter(username="alice").exists()
    if things == "delete":
        assert not Session.objects.exists()
        return
    assert ReplayLink.objects.get().revoked
    assert set(Upload.objects.values_list("owner__username", flat=True)) == {"bob" if things == "heir" else None}
    assert bobs.get(f"/s/{hidden.pk}/").status_code == 200
    _, dora = account("dora")
    assert dora.get(f"/s/{hidden.pk}/").status_code == (404 if things == "heir" else 200)


def test_the_console_invites_lists_and_removes() -> None:
    def run(*words: str, given: str = "") -> tuple[int, str, str]:
        result = CliRunner().invoke(cli, ["user", *words], input=given)
        return result.exit_code, result.stdout, result.stderr

    assert run("carol", "--password-stdin", given=f"{PASSWORD}\n")[2].strip() == "Created carol, admin."
    assert run("bob", "--password-stdin", given=f"{PASSWORD}\n")[2].strip() == "Created bob, member."
    code, address, said = run("--invite", "Dora", "--days", "2")
    token = re.fullmatch(r"http://127\.0\.0\.1:8400/join/(\S+)/", address.strip())
    assert token is not None
    assert "within 2 days" in said
    assert Client().get(f"/join/{token[1]}/").status_code == 200
    stored(User.objects.get(username="bob"), private=True)
    assert "bob\tmember\t0 sessions of the team's\t1 of their own" in run("--list")[1]
    assert run("carol", "--remove", "--sessions", "team")[0] == 1
    assert run("bob", "--remove", given="nobody\n")[0] == 1
    assert run("bob", "--remove", given="delete\n")[0] == 0
    assert not Session.objects.exists()
    assert run("bob", "--invite", "--list")[0] == 2
    assert code == 0


def test_a_server_without_accounts_is_as_it_was(settings: Settings) -> None:
    settings.REQUIRE_LOGIN = False
    client = Client()
    session = stored(None)
    for path in ("/", f"/s/{session.pk}/", f"/s/{session.pk}/share/", "/people/", f"/s/{session.pk}/who/"):
        page = client.get(path)
        assert page.status_code == 200, path
        assert "upload-who" not in page.content.decode()
    assert client.post("/delete/", {"s": session.pk}).status_code == 302
    assert client.post("/people/invite/").status_code == 404


@pytest.mark.parametrize("is_stored", [False, True])
def test_only_an_admin_sees_where_the_server_keeps_things(settings: Settings, is_stored: bool) -> None:
    settings.MODELS_FILE_IS_NAMED = True
    (cem, member), (_, admin) = account("cem"), account("ada", is_admin=True)
    if is_stored:
        stored(cem)
    pages = ["/", "/settings/", "/people/"]
    seen = {who: "".join(by.get(page).content.decode() for page in pages) for who, by in
            {"member": member, "admin": admin}.items()}  # fmt: skip
    for place in (home_as_tilde(str(settings.DATA)), str(settings.MODELS_FILE)):
        assert place in seen["admin"]
        assert place not in seen["member"]
    assert "No account" not in seen["member"] + seen["admin"]


def test_a_fault_names_its_path_to_admins_alone(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    (_, member), (_, admin) = account("cem"), account("ada", is_admin=True)
    full = OSError(errno.ENOSPC, "No space left", str(settings.DATA / "x"))

    def fails(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr("sessions.selectors.session_list", fails)
    told, kept = admin.get("/"), member.get("/")
    assert (told.status_code, kept.status_code) == (507, 507)
    assert str(settings.DATA) in told.content.decode()
    assert str(settings.DATA) not in kept.content.decode()
    assert "Tell whoever runs this server." in kept.content.decode()


def test_who_made_a_link_is_said_without_an_account_too() -> None:
    cem, member = account("cem")
    first = create_link(session=stored(cem), view="replay", terms=Terms(takes_replies=True)).link
    reply(to=first, state="", title="Mine", note="", author="Visitor", maker_id=None)
    shown = member.get("/people/").content.decode()
    assert ">no account</span></td>" in shown
    assert "<td>Visitor, by the link</td>" in shown
    assert "Revoke with 1 reply</button>" in shown
