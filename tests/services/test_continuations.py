"""A file that comes again, longer: one session, its id and links; figures are those of the whole file read alone."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from sessions import selectors
from sessions.models import (
    Continuation,
    Job,
    MediaUse,
    Session,
    SessionFacts,
    SessionFigures,
    SessionKey,
    State,
    Upload,
)
from sessions.services import continuations, jobs, parts
from sessions.services import ingest as ingesting
from sessions.services.deleting import delete
from sessions.services.ingest import ingest, ingest_claimed
from sessions.services.links import create_link, find_link
from sessions.services.uploads import receive
from tests.every import EVERY
from tests.services.claude_lines import Lines, session
from tests.services.conftest import Ingest
from tests.services.packs import zipped

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).parents[1] / "fixtures" / "transcripts"
MOST_BYTES = 60_000
N_CUTS, N_FILES = (40, 100) if EVERY else (3, 2)


def _line_files() -> list[Path]:
    """Some files of each folder that can be cut after a line and read all the same."""
    found: list[Path] = []
    for folder in sorted(FIXTURES.iterdir()):
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size < MOST_BYTES]
        cut = []
        for path in files:
            lines = path.read_bytes().splitlines(keepends=True)
            if len(lines) > 3 and lines[0][:1] == b"{" and lines[0].rstrip()[-1:] == b"}":
                cut.append(path)
        found += sorted(cut, key=lambda path: -path.stat().st_size)[:N_FILES]
    return found


def _cuts(data: bytes) -> list[int]:
    """Places to cut: between lines, within one, and within the last."""
    ends = [n + 1 for n, byte in enumerate(data[:-1]) if byte == 10 and n > continuations.HEAD_BYTES]
    drawn = random.Random(len(data))
    between = drawn.sample(ends, min(N_CUTS, len(ends)))
    within = [drawn.randrange(continuations.HEAD_BYTES, len(data)) for _ in range(N_CUTS // 2)]
    return sorted({*between, *within, len(data) - 2})


def _state(upload: Upload) -> dict[str, Any]:
    """Everything that is stored of an upload, without its ids and times."""
    found: dict[str, Any] = {}
    names = {one.pk: one.position for one in upload.sessions.all()}
    for row in upload.sessions.order_by("position"):
        kept = {f.attname: getattr(row, f.attname) for f in Session._meta.concrete_fields}
        kept |= {name: names.get(kept[name]) for name in ("parent_id", "branch_of_id") if kept[name]}
        found[str(row.position)] = (
            {name: value for name, value in kept.items() if name not in {"id", "upload_id", "file_key", "created_at"}},
            bytes(SessionFacts.objects.get(session=row).packed),
            [{**one, "session_id": ""} for one in SessionFigures.objects.filter(session=row).values()],
            sorted(SessionKey.objects.filter(session=row).values_list("key", flat=True)),
            sorted(MediaUse.objects.filter(session=row).values_list("sha256", flat=True)),
        )
    left_out = {"id", "created_at", "dismissed", "owner", "private"}
    return found | {f.name: getattr(upload, f.name) for f in Upload._meta.concrete_fields if f.name not in left_out}


@pytest.mark.parametrize("path", _line_files(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_it_is_as_if_the_whole_file_had_come_at_once(path: Path, ingested: Ingest) -> None:
    data = path.read_bytes()
    whole = ingested(data, path.name)
    expected = _state(whole)
    assert whole.status == State.DONE
    delete(uploads=[whole.pk])
    n_continued = 0
    for cut in _cuts(data):
        before = ingested(data[:cut], path.name)
        ids = set(before.sessions.values_list("pk", flat=True))
        now = ingested(data, path.name)
        assert _state(now) == expected, cut
        if now.pk == before.pk:
            n_continued += 1
            assert ids <= set(now.sessions.values_list("pk", flat=True))
            assert Upload.objects.count() == 1
            assert now.job.done_bytes == now.job.total_bytes == len(data)
        delete(uploads=list(Upload.objects.values_list("pk", flat=True)))
    assert n_continued


def test_the_session_keeps_its_id_its_link_and_what_was_noted(ingested: Ingest, blobs: Path) -> None:
    lines = Lines().prompt("Go").turn("one")
    first = ingested(lines.bytes())
    before = Session.objects.get()
    link, token = create_link(session=before, view="session", title="Look")
    again = ingested(lines.turn("two").turn("three").bytes(), "other name.jsonl")
    assert (again.pk, again.filename, again.sha256 == first.sha256) == (first.pk, "session.jsonl", False)
    assert again.came_as is not None
    assert (again.came_as.is_beginning, again.came_as.n_new) == (False, 4)
    now = Session.objects.get()
    assert (now.pk, now.n_messages) == (before.pk, before.n_messages + 4)
    assert find_link(token=token) == link
    assert "three" in str(selectors.message_contents(selectors.get_session(now.pk), now.n_messages - 1))
    assert sum(path.is_file() for path in blobs.rglob("*")) == 1, "the shorter bytes are gone"
    assert Job.objects.count() == 1


def test_it_goes_on_again_and_again(ingested: Ingest) -> None:
    lines = Lines().prompt("Go").turn("one")
    first = ingested(lines.bytes())
    for n in range(3):
        assert ingested(lines.turn(f"{n}").bytes()).pk == first.pk
    assert Session.objects.get().n_messages == 9
    assert Continuation.objects.count() == 3
    delete(uploads=[first.pk])
    assert not Continuation.objects.exists()


def test_the_beginning_of_a_file_that_is_there_leads_to_it(ingested: Ingest, blobs: Path) -> None:
    lines = Lines().prompt("Go").turn("one")
    short = lines.bytes()
    whole = ingested(lines.turn("two").bytes())
    state = _state(whole)
    led = ingested(short, "short.jsonl")
    assert led.pk == whole.pk
    assert led.came_as is not None
    assert (led.came_as.is_beginning, led.came_as.n_new) == (True, 0)
    assert _state(led) == state
    assert (Upload.objects.count(), Session.objects.count()) == (1, 1)
    assert sum(path.is_file() for path in blobs.rglob("*")) == 1


def test_the_longest_beginning_goes_on(ingested: Ingest) -> None:
    """Two that were stored apart, before continuations were known."""
    lines = Lines().prompt("Go").turn("one")
    a = ingested(lines.bytes())
    Upload.objects.update(head="")
    b = ingested(lines.turn("two").bytes())
    assert a.pk != b.pk
    Upload.objects.update(head=b.head)
    assert ingested(lines.turn("three").bytes()).pk == b.pk
    assert Upload.objects.get(pk=a.pk).sha256 == a.sha256


def test_files_that_only_begin_alike_are_not_read_for_it(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of one evaluation begin with the same long prompt."""
    long = Lines().prompt("One prompt for all. " * 40)
    for n in range(3):
        long.turn(f"run {n}")
        ingested(long.bytes() + b" " * n)
    hashed: list[list[int]] = []
    plain = continuations._beginnings
    monkeypatch.setattr(continuations, "_beginnings", lambda file, n: hashed.append(list(n)) or plain(file, n))
    ingested(Lines().prompt("One prompt for all. " * 40).bytes() + b"{}\n")
    assert [one for one in hashed if one] == []
    assert Upload.objects.filter(head=Upload.objects.first().head).count() == Upload.objects.count() > 1


@pytest.mark.parametrize("change", [b" ", b"x"])
def test_a_file_with_one_other_byte_is_another(ingested: Ingest, change: bytes) -> None:
    lines = Lines().prompt("Go").turn("one")
    data = lines.bytes()
    ingested(data[:400] + change + data[400:])
    ingested(lines.turn("two").bytes())
    assert (Upload.objects.count(), Continuation.objects.count()) == (2, 0)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"owner_id": "ann"}, {"owner_id": "bob"}),
        ({"owner_id": "ann", "private": True}, {"owner_id": "bob"}),
        ({"owner_id": "ann", "private": True}, {"owner_id": "bob", "private": True}),
        ({"owner_id": "ann", "private": True}, {"owner_id": "ann"}),
        ({"owner_id": "ann"}, {"owner_id": "ann", "private": True}),
        ({}, {"owner_id": "ann"}),
    ],
)
@pytest.mark.parametrize("longer_first", [False, True])
def test_nothing_of_others_or_for_others_is_continued(
    mine: dict[str, Any], theirs: dict[str, Any], *, longer_first: bool
) -> None:
    users = {name: get_user_model().objects.create_user(name).pk for name in ("ann", "bob")}
    lines = Lines().prompt("Go").turn("one")
    short, long = lines.bytes(), lines.turn("two").bytes()
    for data, said in zip((long, short) if longer_first else (short, long), (mine, theirs), strict=True):
        options = said | ({"owner_id": users[said["owner_id"]]} if "owner_id" in said else {})
        ingest(upload_id=receive(file=io.BytesIO(data), filename="a.jsonl", **options).upload.pk)
    assert (Upload.objects.count(), Session.objects.count(), Continuation.objects.count()) == (2, 2, 0)


def test_each_owner_continues_their_own() -> None:
    lines, made = Lines().prompt("Go").turn("one"), {}
    for data in (lines.bytes(), lines.turn("two").bytes()):
        for name in ("ann", "bob"):
            user, _ = get_user_model().objects.get_or_create(username=name)
            got = receive(file=io.BytesIO(data), filename="a.jsonl", owner_id=user.pk, private=True)
            made.setdefault(name, set()).add(ingest(upload_id=got.upload.pk).pk)
    assert {name: len(ids) for name, ids in made.items()} == {"ann": 1, "bob": 1}
    assert set(Session.objects.values_list("private", flat=True)) == {True}


def test_what_had_a_session_deleted_is_watched_or_failed_is_left_alone(ingested: Ingest) -> None:
    for change in ({"n_deleted": 1}, {"followed": True}, {"status": State.FAILED, "error": "no"}):
        lines = Lines().prompt(f"Go {change}").turn("one")
        first = ingested(lines.bytes())
        Upload.objects.filter(pk=first.pk).update(**change)
        assert ingested(lines.turn("two").bytes()).pk != first.pk


def test_another_session_in_the_same_file_does_not_push_the_first_out(ingested: Ingest) -> None:
    other = "99999999-2222-3333-4444-555555555555"
    one, two = Lines().prompt("Go").turn("one").bytes(), Lines(other).prompt("Other").turn("x").bytes()
    first = ingested(one)
    kept = Session.objects.get().pk
    ingested(one + two, "both.jsonl")
    assert Session.objects.filter(pk=kept).exists()
    assert Upload.objects.get(pk=first.pk).status == State.DONE


def test_where_ids_would_not_stay_it_is_read_as_its_own(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines().prompt("Go").turn("one")
    first = ingested(lines.bytes())
    monkeypatch.setattr(continuations, "goes_on", lambda before, packed: False)
    second = ingested(lines.turn("two").bytes())
    assert second.pk != first.pk
    assert (Session.objects.count(), Continuation.objects.count()) == (2, 0)
    assert Upload.objects.get(pk=first.pk).sha256 == first.sha256


def test_archives_are_never_taken_for_each_other(ingested: Ingest) -> None:
    data = zipped({"a.jsonl": session(2)})
    ingested(data, "a.zip")
    ingested(data + zipped({"b.jsonl": session(3)}), "b.zip")
    assert Upload.objects.count() == 2
    assert set(Upload.objects.values_list("head", flat=True)) == {""}
    assert len(data) < parts.SPREAD_BYTES


@pytest.mark.parametrize("meanwhile", ["grows", "goes", "comes"])
def test_what_happens_to_the_beginning_while_the_file_is_read(
    ingested: Ingest, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """Two uploads at once: whoever writes second sees what the first wrote."""
    lines = Lines().prompt("Go").turn("one")
    short, middle = lines.bytes(), lines.turn("two").bytes()
    long = lines.turn("three").bytes()
    first = None if meanwhile == "comes" else ingested(short)
    read, calls = ingesting.read_upload, []

    def reading(upload: Upload, *args: Any, **kwargs: Any) -> Any:
        found = read(upload, *args, **kwargs)
        calls.append(upload.n_bytes)
        if len(calls) == 1:
            if meanwhile == "goes":
                delete(uploads=[first.pk])
            else:
                ingested(middle)
        return found

    monkeypatch.setattr(ingesting, "read_upload", reading)
    now = ingested(long)
    assert (Upload.objects.count(), Session.objects.count()) == (1, 1)
    assert (now.n_bytes, Session.objects.get().n_messages) == (len(long), 7)
    if first and meanwhile == "grows":
        assert now.pk == first.pk
    assert calls.count(len(long)) == 2, "it was read again"


def test_a_worker_that_ends_leaves_both_as_they_were(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines().prompt("Go").turn("one")
    first = ingested(lines.bytes())
    before = _state(first)
    upload = receive(file=io.BytesIO(lines.turn("two").bytes()), filename="a.jsonl").upload

    class Killed(BaseException):
        pass

    def killed(*args: Any) -> None:
        raise Killed

    held = jobs.claim(upload_id=upload.pk)
    assert held is not None
    with monkeypatch.context() as patch:
        patch.setattr(ingesting, "note_upload", killed)
        with pytest.raises(Killed):
            ingest_claimed(held)
    assert _state(Upload.objects.get(pk=first.pk)) == before
    assert Upload.objects.get(pk=upload.pk).status == State.READING
    Job.objects.filter(upload=upload).update(state=State.QUEUED)
    now = ingest(upload_id=upload.pk)
    assert (now.pk, Upload.objects.count(), Session.objects.count()) == (first.pk, 1, 1)
