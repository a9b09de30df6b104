"""Full-text search: what is found, what never is, and how the index follows what is stored.  On either database."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ctxweb.startup import migrate
from sessions import selectors
from sessions.adapters import fulltext
from sessions.engine.search.terms import read_query
from sessions.models import CatchingUp, SearchedSession, SearchPart, SearchRun, Session, Viewer, seen_as
from sessions.selectors import search
from sessions.services import queue, work
from sessions.services import search as indexing
from sessions.services.deleting import delete
from sessions.services.ingest import ingest
from sessions.services.live import follow_file
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines

pytestmark = pytest.mark.django_db

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
SAID = (
    "Look at sessions/api/routes.py and get_user_name",
    "permission denied in getHTTPResponse",
    "denied permission, see routes.py",
    f"export GITHUB_TOKEN={TOKEN} and go on",
    "東京の天気 and Ärger",
)


def store(*said: str, name: str = "a.jsonl", session: str = "") -> Session:
    lines = Lines(session) if session else Lines()
    for text in said:
        lines.prompt(text)
    upload = ingest(upload_id=receive(file=io.BytesIO(lines.bytes()), filename=name).upload.pk)
    return Session.objects.roots().get(upload=upload)


def index() -> None:
    held = indexing.claim()
    assert held is not None
    indexing.run_claimed(held)


def found(words: str) -> dict[str, int]:
    page = selectors.session_list(search=words)
    assert page.found is not None
    return dict(page.found.counts)


def n_documents() -> int:
    table = f"{fulltext.TABLE}_docsize" if fulltext.is_sqlite() else fulltext.TABLE
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(
    "words",
    [
        "routes.py", "api/routes", "user_name", "getHTTPResponse", "httpresponse", '"permission denied"', "permission",
        "denied routes", "東京", "ÄRGER", "rout*", "getH*", "export", "nobody", '"', "a' OR 1=1 --", "( NEAR", "\\",
        "AND", "-denied", "col:x", "💥 look", "^look", "tok:*",
    ],
)  # fmt: skip
def test_the_index_finds_what_the_rules_say(words: str) -> None:
    """The same rules judge: what either database finds is what they say of the texts."""
    session = store(*SAID)
    index()
    query = read_query(words)
    wanted = [i for i, text in enumerate(SAID) if query and query.holds(text)]
    assert found(words) == ({session.pk: len(wanted)} if wanted else {})
    shown = selectors.session_list(search=words).hits
    assert not wanted or shown[session.pk].message in wanted
    listed = search.in_session(session, query)
    assert listed is None or [i for i in listed if query.says(SAID[i])] == wanted


@pytest.fixture
def indexed() -> Session:
    session = store(*SAID)
    index()
    return session


def test_any_question_has_an_answer(indexed: Session) -> None:
    @hypothesis_settings(max_examples=60)
    @given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=200))
    def ask(words: str) -> None:
        with transaction.atomic():
            selectors.session_list(search=words)

    ask()


def test_a_secret_is_not_in_the_index(indexed: Session) -> None:
    assert not found(TOKEN)
    assert not found("ghp_*")
    assert found("GITHUB_TOKEN") == {indexed.pk: 1}
    hit = selectors.session_list(search="GITHUB_TOKEN").hits[indexed.pk]
    assert TOKEN not in "".join(piece.text for piece in hit.pieces)


def test_a_hit_leads_to_its_message_with_its_words() -> None:
    session = store("nothing", "a needle in the hay", "and more")
    index()
    hit = selectors.session_list(search="needle").hits[session.pk]
    assert (hit.message, hit.n_messages) == (1, 1)
    assert [piece.text for piece in hit.pieces if piece.is_match] == ["needle"]


def test_names_of_tools_and_what_they_said_are_found() -> None:
    lines = Lines().prompt("go").turn("Traceback in billing_worker.py", text="Let me look.")
    upload = ingest(upload_id=receive(file=io.BytesIO(lines.bytes()), filename="t.jsonl").upload.pk)
    index()
    session = Session.objects.get(upload=upload)
    assert found("Bash") == {session.pk: 1}
    assert found("billing_worker.py") == {session.pk: 1}


def test_more_messages_come_first_and_a_title_before_all() -> None:
    often = store("a", *["needle"] * 9, name="often.jsonl", session="1" * 8)
    seldom = store("b", "needle", name="seldom.jsonl", session="2" * 8)
    named = store("needle work", name="named.jsonl", session="3" * 8)
    index()
    assert [one.pk for one in selectors.session_list(search="needle").sessions] == [named.pk, often.pk, seldom.pk]
    assert selectors.session_list(search="needle", sort="title").sessions[0].title == "a"


def test_filters_stay() -> None:
    session = store("needle")
    index()
    assert selectors.session_list(search="needle", format="claude_code").sessions == (session,)
    assert not selectors.session_list(search="needle", format="codex").sessions
    page = selectors.session_list(search="needle", only="compacted")
    assert not page.found or not page.found.counts


def test_another_persons_private_session_is_neither_found_nor_counted(django_user_model: type) -> None:
    people = django_user_model.objects  # type: ignore[attr-defined]
    alice, bob = people.create_user("alice"), people.create_user("bob")
    lines = Lines().prompt("the private needle")
    got = receive(file=io.BytesIO(lines.bytes()), filename="p.jsonl", owner_id=alice.pk, private=True)
    ingest(upload_id=got.upload.pk)
    index()
    with seen_as(Viewer(alice.pk)):
        assert selectors.session_list(search="needle").total == 1
        assert search.coverage().n_sessions == 1
    for who in (Viewer(bob.pk), Viewer()):
        with seen_as(who):
            page = selectors.session_list(search='needle "private needle"')
            assert (page.total, page.hits) == (0, {})
            assert page.found is not None
            assert not page.found.counts
            assert not page.found.n_messages
            assert not page.found.n_unread
            assert search.coverage().n_sessions == 0


def test_what_is_deleted_is_gone_at_once_and_then_from_the_index() -> None:
    gone, stays = store("needle one", session="1" * 8), store("needle two", name="b.jsonl", session="2" * 8)
    index()
    assert n_documents() == 2
    delete(sessions=[gone.pk])
    assert found("needle") == {stays.pk: 1}
    assert work.is_waiting()
    index()
    assert n_documents() == 1
    assert found("needle") == {stays.pk: 1}
    assert not fulltext.orphans(1)


def test_a_file_that_grew_is_indexed_where_it_grew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "PART_MESSAGES", 10)
    lines, path = Lines(), tmp_path / "live.jsonl"
    for n in range(40):
        lines.prompt(f"message number w{n} needle")
    path.write_bytes(lines.bytes())
    follow_file(path=path, quiet=True)
    index()
    asked: list[str] = []
    monkeypatch.setattr(indexing, "without_secrets", lambda text: asked.append(text) or text)
    lines.prompt("and one more needle")
    path.write_bytes(lines.bytes())
    follow_file(path=path, quiet=True)
    assert search.coverage().is_growing
    index()
    session = Session.objects.get()
    assert asked == ["and one more needle"], "only what is new is cut into terms"
    assert found("needle") == {session.pk: 41}
    assert found("w7") == {session.pk: 1}
    assert search.coverage().is_whole


def test_a_message_that_changed_is_found_by_its_new_words_alone(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    path.write_bytes(Lines().prompt("first").prompt("old words").bytes())
    follow_file(path=path, quiet=True)
    index()
    path.write_bytes(Lines().prompt("first").prompt("new words").prompt("more").bytes())
    follow_file(path=path, quiet=True)
    index()
    assert Session.objects.count() == 1
    assert not found("old")
    assert found("new") == found("more") == {Session.objects.get().pk: 1}
    indexing.MOST_RETIRED, before = 0, indexing.MOST_RETIRED
    try:
        assert indexing.clear_up() == (2 if fulltext.is_sqlite() else 0)
    finally:
        indexing.MOST_RETIRED = before
    assert n_documents() == 3
    assert found("first") == {Session.objects.get().pk: 1}


def test_reading_an_upload_again_costs_no_terms(indexed: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(SearchPart.objects.values_list("pk", flat=True))
    monkeypatch.setattr(indexing, "terms_of", lambda text: pytest.fail("nothing is new"))
    SearchedSession.objects.update(version="older")
    indexing.ask()
    index()
    assert list(SearchPart.objects.filter(live=True).values_list("pk", flat=True)) == before


def test_what_was_stored_before_is_indexed_by_a_worker_and_the_library_says_how_far_it_is() -> None:
    store("needle")
    SearchRun.objects.all().delete()
    assert search.coverage() == search.Coverage(0, 1)
    indexing.ask()
    assert work.work_one()
    assert search.coverage() == search.Coverage(1, 1)
    assert SearchRun.objects.get().state == CatchingUp.DONE
    assert not work.work_one()


def test_a_process_that_is_to_end_gives_the_run_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store("needle")
    held = indexing.claim()
    assert held is not None
    queue.stopping.set()
    try:
        with pytest.raises(queue.Interrupted):
            indexing.run_claimed(held)
    finally:
        queue.stopping.clear()
    assert SearchRun.objects.get().state == CatchingUp.QUEUED
    index()
    assert search.coverage().is_whole


def test_a_session_whose_file_is_gone_is_said_so_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    store("needle")

    def lost(session: Session) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(selectors, "open_text", lost)
    index()
    covered = search.coverage()
    assert (covered.n_searchable, covered.n_problems, covered.is_growing) == (0, 1, False)


def test_without_fts5_titles_are_searched_and_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fulltext, "is_available", lambda: False)
    session = store("needle in the title")
    assert not work.work_one()
    assert selectors.session_list(search="needle").sessions == (session,)
    assert not search.coverage().is_possible


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL always has its index")
def test_a_folder_that_was_migrated_without_fts5_is_indexed_after_the_next_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {fulltext.TABLE}")
    with monkeypatch.context() as without:
        without.setattr(fulltext, "is_available", lambda: False)
        store("needle")
        migrate()
    SearchRun.objects.all().delete()
    migrate()
    assert SearchRun.objects.get().state == CatchingUp.QUEUED
    assert not found("needle"), "nothing is indexed yet, and nothing fails"
    assert work.work_one()
    assert len(found("needle")) == 1
    migrate()
    assert SearchRun.objects.get().state == CatchingUp.DONE


def test_an_index_of_another_database_is_made_anew(indexed: Session) -> None:
    with transaction.atomic():
        for part in (2, 3, 4, 5):
            fulltext.add(SearchPart.objects.latest("pk").pk + part, [(0, {"phantom"})])
    store("another needle", name="b.jsonl", session="9" * 8)
    store("third needle", name="c.jsonl", session="8" * 8)
    store("fourth needle", name="d.jsonl", session="7" * 8)
    index()
    assert len(found("needle")) == 3
    assert found("routes.py") == {indexed.pk: 2}
    assert not found("phantom")


def test_questions_do_not_grow_with_the_hits() -> None:
    counts = []
    for n in (3, 300):
        store(*["needle"] * n, name=f"{n}.jsonl", session=str(n) * 4)
        index()
        with CaptureQueriesContext(connection) as queries:
            selectors.session_list(search="needle", file="", model="")
        counts.append(len(queries) / Session.objects.count())
    assert counts[1] <= counts[0]
