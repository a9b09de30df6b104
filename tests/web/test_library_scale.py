"""The work of a library page does not grow with the sessions, and its rows are those that reading all would give."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions import selectors
from sessions.models import SORTS, Session, SessionFigures, Upload
from sessions.models.listed import key_of
from sessions.models.viewer import Viewer, seen_as
from sessions.selectors import files
from sessions.selectors.library import library_facts
from tests.web.rows import NOON, make_session

pytestmark = pytest.mark.django_db
ADDRESSES = (
    "/", "/?sort=title", "/?sort=-tokens", "/?only=images", "/?only=missed", "/?model=a", "/?agent=b", "/?format=pi",
    "/?only=compacted",
)  # fmt: skip


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Rows that each fetch brought."""
    seen: list[int] = []

    def counted(name: str) -> None:
        def fetch(self: CursorWrapper, *given: object) -> object:
            rows = getattr(self.cursor, name)(*given)
            seen.append(len(rows) if isinstance(rows, list) else rows is not None)
            return rows

        monkeypatch.setattr(CursorWrapper, name, fetch, raising=False)

    for name in ("fetchone", "fetchmany", "fetchall"):
        counted(name)
    return seen  # type: ignore[return-value]


def fill(start: int, stop: int) -> None:
    """Sessions of two models, with and without images, compactions and missed ones."""
    for n in range(start, stop):
        made = make_session(n, model="ab"[n % 2], n_images=n % 3, n_compactions=n % 2)
        SessionFigures.objects.create(session=made, rules=1, agent="b", n_missed=n % 2)


def work(client: Client, address: str, fetched: list[int]) -> tuple[int, int]:
    fetched.clear()
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries), sum(fetched)


def test_ten_times_the_sessions_take_the_same_queries_and_rows(client: Client, fetched: list[int]) -> None:
    fill(1, 151)  # so many that each filter leaves a full page
    before = {address: work(client, address, fetched) for address in ADDRESSES}
    fill(151, 1501)
    assert {address: work(client, address, fetched) for address in ADDRESSES} == before
    assert before["/"][0] <= 9


def test_fifty_and_five_hundred_are_the_same_work(client: Client, fetched: list[int]) -> None:
    fill(1, 51)
    before = work(client, "/", fetched)
    fill(51, 501)
    assert work(client, "/", fetched) == before


def make_files(seed: int) -> None:
    """Sessions alone and in files of all sizes, some of them subagents or branches, with many equal values."""
    chance = random.Random(seed)
    n = 0
    for size in (1, 1, 2, 4, 5, 6, 9, 30, 1, 1, 3):
        first = None
        for position in range(size):
            n += 1
            values = {
                "model": chance.choice("ab"), "tokens": chance.randrange(4), "n_images": chance.randrange(2),
                "title": chance.choice("xyz"), "n_compactions": chance.randrange(2), "peak_label": "estimated",
                "ended_at": chance.choice((None, NOON, NOON + dt.timedelta(hours=n))),
                "peak_context": chance.choice((1, 2)), "wrong_cause": chance.choice(("", "x")),
            }  # fmt: skip
            if first is None:
                first = make_session(n, **values)
            else:
                kept = {field.name: getattr(first, field.name) for field in Session._meta.concrete_fields}
                relative = {"parent": first} if chance.random() < 0.1 else {}
                Session.objects.create(**kept | values | {"id": f"s_{n:06d}", "position": position} | relative)


def expected(found: list[Session]) -> tuple[list[str], dict[str, tuple[int, int, int]]]:
    """The ids of all rows, and of each that stands for a file how many sessions, tokens and wrong ones it has."""
    together: dict[tuple[object, str], list[Session]] = {}
    for one in found:
        together.setdefault((one.upload_id, one.member), []).append(one)
    large = [some for some in together.values() if len(some) >= files.GROUPED_FROM]
    hidden = {one.pk for some in large for one in some[1:]}
    sums = {
        some[0].pk: (len(some), sum(one.tokens for one in some), sum(bool(one.wrong_cause) for one in some))
        for some in large
    }
    return [one.pk for one in found if one.pk not in hidden], sums


@pytest.mark.parametrize("sort", [*SORTS, *(f"-{name}" for name in SORTS)])
def test_rows_are_those_that_reading_every_session_gives(sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_files(7)
    monkeypatch.setattr(files, "STEP", 3)
    monkeypatch.setattr(files, "MOST_PASSED", 2)
    monkeypatch.setattr(files, "FASTER", 1)
    for only, model in (("", ""), ("images", ""), ("compacted", "a")):
        found = [one for one in Session.objects.roots().sorted_by(sort)
                 if (one.n_images if only == "images" else one.n_compactions if only else True)
                 and model in ("", one.model)]  # fmt: skip
        rows, sums = expected(found)
        assert sums
        for start in range(0, len(rows) + 2, 4):
            page = selectors.session_list(only=only, model=model, sort=sort, start=start, limit=4, grouped=True)
            assert [one.pk for one in page.sessions] == rows[start : start + 4]
            assert (page.total, page.n_sessions) == (len(rows), len(found))
            assert {pk: (one.n_sessions, one.tokens, one.n_wrong) for pk, one in page.groups.items()} == {
                pk: sums[pk] for pk in rows[start : start + 4] if pk in sums
            }


def test_the_key_of_a_file_follows_it() -> None:
    session = make_session(1)
    assert session.file_key == key_of(session.upload_id, "")
    session.member = "folder/\N{SNOWMAN}.jsonl"
    session.save()
    session.refresh_from_db()
    assert session.file_key == key_of(session.upload_id, "folder/\N{SNOWMAN}.jsonl")


def test_facts_count_subagents_once_and_branches_never() -> None:
    first = make_session(1)
    make_session(2, parent=first, model="", wrong_cause="not a root")
    make_session(3, format="pi", n_compactions=1, wrong_cause="late")
    make_session(4, branch_of=first, model="left", worst_overcount=99.0, worst_message=1)
    make_session(5)
    make_session(6, worst_overcount=12.0, worst_message=3)
    facts = library_facts()
    assert facts.n_sessions == 5
    assert facts.formats == ("claude_code", "pi")
    assert facts.models == ("claude-opus-4-8", "left")
    assert facts.choices == {"all": 4, "wrong": 1, "overcount": 1, "compacted": 1}


def test_a_member_sees_the_teams_and_their_own(django_user_model) -> None:  # type: ignore[no-untyped-def]
    mine, other = (django_user_model.objects.create(username=name) for name in ("mine", "other"))
    for n, (owner, private) in enumerate(((mine, True), (other, True), (other, False)), start=1):
        made = make_session(n, private=private)
        Upload.objects.filter(pk=made.upload_id).update(owner=owner)
    for who, n_seen in ((Viewer(mine.pk), 2), (Viewer(other.pk), 2), (Viewer(), 0), (Viewer(is_admin=True), 3)):
        with seen_as(who):
            assert selectors.session_list(grouped=True).n_sessions == n_seen
            assert library_facts().n_sessions == n_seen
            assert library_facts().choices["all"] == n_seen
