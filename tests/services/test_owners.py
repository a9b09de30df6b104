"""Equal bytes of two people: each has their own session, on their own terms; the bytes are stored once."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from sessions import selectors
from sessions.models import Session, Upload
from sessions.services import deleting, people
from sessions.services.ingest import ingest
from sessions.services.links import create_link, find_link
from sessions.services.live import Change, follow_file
from sessions.services.uploads import Received, receive
from tests.services.claude_lines import Lines
from tests.services.packs import zipped

pytestmark = pytest.mark.django_db

FILE = Lines().prompt("Fix it " * 60).turn("done", text="ok").bytes()
KINDS = {"file": ("a.jsonl", FILE), "archive": ("a.zip", zipped({"one/a.jsonl": FILE}))}


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


def send(owner: User | None, data: bytes = FILE, name: str = "a.jsonl", *, private: bool = False) -> Received:
    """The upload of these bytes, read."""
    owner_id = owner.pk if owner else None
    got = receive(file=io.BytesIO(data), filename=name, owner_id=owner_id, private=private)
    ingest(upload_id=got.upload.pk)
    return got


def words(upload: Upload) -> str:
    """The first message of its session, read from the stored bytes."""
    session = Session.objects.roots().get(upload=upload)
    first = selectors.load_weighed(session.pk).transcript.messages[0]
    with closing(selectors.load_texts(session)) as texts:
        return "".join(one.text or "" for one in texts.of(first))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first_is_private", [False, True])
@pytest.mark.parametrize("second_is_private", [False, True])
def test_each_has_their_own(
    alice: User, bob: User, blobs: Path, kind: str, *, first_is_private: bool, second_is_private: bool
) -> None:
    name, data = KINDS[kind]
    hers = send(alice, data, name, private=first_is_private)
    n_blobs = sum(one.is_file() for one in blobs.rglob("*"))
    his = send(bob, data, name, private=second_is_private)
    assert sum(one.is_file() for one in blobs.rglob("*")) == n_blobs
    assert not his.duplicate
    assert (his.upload.owner, his.upload.private) == (bob, second_is_private)
    mine, theirs = (Session.objects.roots().get(upload=one.upload) for one in (his, hers))
    assert mine.pk != theirs.pk
    assert (mine.private, theirs.private) == (second_is_private, first_is_private)
    again = send(bob, data, name, private=second_is_private)
    assert (again.duplicate, again.upload) == (True, his.upload)


@pytest.mark.parametrize("kind", KINDS)
def test_what_becomes_of_one_leaves_the_other(alice: User, bob: User, kind: str) -> None:
    name, data = KINDS[kind]
    hers, his = (send(one, data, name).upload for one in (alice, bob))
    session = Session.objects.roots().get(upload=hers)
    mine = Session.objects.roots().get(upload=his)
    link = create_link(session=mine, view="session", maker_id=bob.pk)
    before = words(his)
    people.set_private(session=session, private=True)
    assert not Session.objects.get(pk=mine.pk).private
    deleting.delete(uploads=[hers.pk])
    assert not Session.objects.filter(pk=session.pk).exists()
    assert find_link(token=link.token) is not None
    assert words(his) == before
    deleting.delete(sessions=[mine.pk])
    assert not Session.objects.exists()


@pytest.mark.parametrize("sessions_to", [people.TEAM, people.DELETE])
def test_a_person_who_goes_takes_nothing_of_the_other(alice: User, bob: User, sessions_to: str) -> None:
    send(alice)
    his = send(bob, private=True).upload
    User.objects.create_superuser("carol")
    people.remove_account(user=alice, sessions_to=sessions_to)
    found = Session.objects.roots().get(upload=his)
    assert (found.private, found.upload.owner) == (True, bob)
    assert "Fix it" in words(his)


def test_only_me_said_later_is_kept_too_and_never_the_other_way(alice: User) -> None:
    first = send(alice).upload
    again = send(alice, private=True)
    assert (again.duplicate, again.upload.pk) == (True, first.pk)
    assert Session.objects.get().private
    assert Upload.objects.get().private
    send(alice)
    assert Session.objects.get().private


def test_a_file_that_grew_goes_on_with_its_owners_own(alice: User, bob: User) -> None:
    lines = Lines().prompt("Grow " * 100).turn("one")
    short = lines.bytes()
    hers, his = send(alice, short).upload, send(bob, short, private=True).upload
    ids = [Session.objects.get(upload=one).pk for one in (hers, his)]
    longer = lines.turn("two").bytes()
    came = send(bob, longer, private=True).upload
    assert Upload.objects.called(came.pk).pk == his.pk
    n_messages = [Session.objects.get(pk=one).n_messages for one in ids]
    assert n_messages[1] > n_messages[0]
    deleting.delete(uploads=[his.pk])
    assert Session.objects.get(pk=ids[0]).upload_id == hers.pk
    assert "Grow" in words(hers)


def test_a_watched_file_is_the_consoles_and_no_persons(alice: User, tmp_path: Path) -> None:
    path = tmp_path / "watched.jsonl"
    path.write_bytes(FILE)
    watched = follow_file(path=path, quiet=True).upload
    assert watched is not None
    hers = send(alice, private=True).upload
    assert (hers.pk == watched.pk, hers.private) == (False, True)
    # the other way round: what a person uploaded is not followed
    other = tmp_path / "other.jsonl"
    data = Lines().prompt("Another " * 60).turn("x").bytes()
    kept = send(alice, data, private=True).upload
    other.write_bytes(data)
    followed = follow_file(path=other, quiet=True)
    assert (followed.change, followed.upload == kept) == (Change.NEW, False)
    assert send(None).upload.pk == watched.pk, "the console's own is recognised"
