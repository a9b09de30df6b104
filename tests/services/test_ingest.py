from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from sessions import selectors
from sessions.adapters import storage
from sessions.engine.transcript.types import Kind
from sessions.models import Job, Media, Session, SessionFacts, State, Upload
from sessions.pages.session.facts import leading
from sessions.runs.overview import overview
from sessions.services import ingest as ingest_module
from sessions.services import jobs
from sessions.services.ingest import ingest
from sessions.services.links import create_link, find_link
from sessions.services.media import media_bytes
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png, session
from tests.services.conftest import Ingest

pytestmark = pytest.mark.django_db
SIGN_OF_LIFE = re.compile(r'UPDATE "\w+" SET ("done_bytes" = \d+, )?"heartbeat_at" = [^,]+ WHERE ')


def everything() -> list[object]:
    """All rows that an ingest writes, without the moments they were written."""
    return [
        list(Session.objects.order_by("pk").values_list("pk", "upload", "parent", "n_messages", "tokens", "spark")),
        [(f.pk, bytes(f.packed)) for f in SessionFacts.objects.order_by("pk")],
        list(Media.objects.order_by("pk").values_list("pk", "width", "height")),
    ]


def test_a_session_is_stored_with_its_figures(ingested: Ingest) -> None:
    upload = ingested(session(3))
    assert (upload.status, upload.format, upload.error, upload.n_skipped) == (State.DONE, "claude_code", "", 0)
    assert (upload.job.state, upload.job.done_bytes) == (State.DONE, upload.n_bytes)
    stored = Session.objects.get()
    assert (stored.n_messages, stored.n_requests, stored.n_tool_calls, stored.n_images) == (7, 3, 3, 0)
    assert stored.title == "Find out why the test fails"
    assert (stored.usage_input, stored.usage_cache_write, stored.usage_output) == (12, 1500, 120)
    assert stored.usage_cache_read == 12_000 + 12_500 + 13_000
    assert (stored.peak_context, stored.peak_label) == (13_504, "measured")
    assert stored.spark["points"] == [12_504, 13_004, 13_504]
    assert stored.tokens == sum(selectors.load_weighed(stored.pk).tokens)
    assert stored.opening == "user text Find out why the test fails"
    assert stored.started_at is not None
    assert stored.ended_at is not None
    assert stored.started_at.isoformat() == "2026-09-01T08:00:01+00:00"


def test_the_peak_is_of_what_the_branch_was_sent(ingested: Ingest) -> None:
    """The call that wrote a summary, off the branch, had more than any context of the conversation."""
    file = Path(__file__).parents[1] / "fixtures" / "transcripts" / "copilot_cli" / "compaction.jsonl"
    ingested(file.read_bytes())
    stored = Session.objects.get(branch_of=None, parent=None)
    view = overview(stored.pk)
    peak, _ = leading(view, None)
    assert max(r.usage.context for r in view.weighed.transcript.requests if r.usage) == 170_000
    assert (stored.peak_context, stored.peak_label) == (peak.value, peak.label) == (80, "calibrated")
    assert max(stored.spark["points"]) == stored.peak_context


def test_facts_and_texts_come_back(ingested: Ingest) -> None:
    ingested(session(2))
    stored = selectors.get_session(Session.objects.get().pk)
    weighed = selectors.load_weighed(stored.pk)
    assert [m.index for m in weighed.transcript.messages] == [0, 1, 2, 3, 4]
    assert sum(weighed.tokens) == stored.tokens
    text, use = selectors.message_contents(stored, 1)
    assert (text.kind, text.text, use.kind, use.name) == (Kind.TEXT, "Let me look.", Kind.TOOL_USE, "Bash")
    (result,) = selectors.message_contents(stored, 4)
    assert "output 1" in result.text + "".join(part.text for part in result.parts)


def test_an_image_is_stored_once_and_stands_out(ingested: Ingest, blobs: Path) -> None:
    image = png(1254, 1254, 60_000)
    lines = Lines().prompt("Look").turn(image).turn(image).turn("fine")
    upload = ingested(lines.bytes())
    stored, media = Session.objects.get(), Media.objects.get()
    assert (stored.n_images, stored.worst_message) == (2, 2)
    assert (media.sha256, media.n_bytes) == (hashlib.sha256(image).hexdigest(), len(image))
    assert (media.media_type, media.width, media.height) == ("image/png", 1254, 1254)
    assert media_bytes(media) == image
    weighed = selectors.load_weighed(stored.pk)
    assert stored.worst_overcount == weighed.worst_overcount(weighed.transcript.messages[2])
    assert stored.worst_overcount > 10
    n_files = sum(path.is_file() for path in blobs.rglob("*"))
    assert n_files == 1, "the upload, which holds the image"
    assert upload.status == State.DONE


def test_reading_twice_yields_the_same_rows_once(ingested: Ingest) -> None:
    upload = ingested(Lines().prompt("Look").turn(png(100, 100)).turn("fine").bytes())
    link, token = create_link(session=Session.objects.get(), view="replay", state="threshold=1000")
    before = everything()
    Job.objects.update(state=State.QUEUED)
    ingest(upload_id=upload.pk)
    assert everything() == before
    reopened = find_link(token=token)
    assert reopened is not None
    assert reopened.pk == link.pk


def test_a_finished_upload_is_left_alone(ingested: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = ingested(session(1))
    monkeypatch.setattr(ingest_module, "read_transcripts", pytest.fail)
    assert ingest(upload_id=upload.pk).status == State.DONE


def test_only_the_newest_claim_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    upload, _ = receive(file=io.BytesIO(session(1)), filename="a.jsonl")
    read = ingest_module.read_transcripts

    def overtaken(*args: object, **kwargs: object) -> object:
        Job.objects.update(claims=2, worker="elsewhere:1:0")
        return read(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest_module, "read_transcripts", overtaken)
    ingest(upload_id=upload.pk)
    assert not Session.objects.exists()
    assert Upload.objects.get().status == State.READING


def test_progress_is_reported_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    data = session(2_000)
    upload, _ = receive(file=io.BytesIO(data), filename="a.jsonl")
    seen: list[int] = []
    shown: list[dict[str, object]] = []
    held = jobs.claim(upload_id=upload.pk)
    assert held is not None

    def note(done_bytes: int) -> None:
        seen.append(done_bytes)
        shown.append(dict(held.shown))

    ingest_module.ingest_claimed(held, note)
    assert seen == sorted(seen)
    assert seen[-1] == len(data)
    assert [one["done_bytes"] for one in shown] == seen
    assert {str(one["phase"]) for one in shown} == {"reading", "counting"}
    assert held.shown["phase"] == "writing"


def test_queries_do_not_grow_with_the_messages() -> None:
    """Signs of life come by the clock, so they are not counted.

    The second session begins as the first does, which is found and read: two queries. PostgreSQL has one more: the lock
    that keeps blobs from being removed while they are named (``blobs``), and that of uploads which begin alike.
    SQLite's write transaction is both.
    """
    locks = 2 * int(connection.vendor == "postgresql")
    for n_turns, n_kin in ((5, 0), (400, 2)):
        upload, _ = receive(file=io.BytesIO(b"\n" * n_turns + session(n_turns)), filename="a.jsonl")
        with CaptureQueriesContext(connection) as queries:
            ingest(upload_id=upload.pk)
        asked = [query["sql"] for query in queries if not SIGN_OF_LIFE.match(query["sql"])]
        assert len(asked) <= 30 + n_kin + locks, "\n".join(asked)
        assert len([query for query in asked if "pg_advisory_xact_lock" in query]) == locks


def test_a_locked_database_queues_the_job_again(monkeypatch: pytest.MonkeyPatch) -> None:
    upload, _ = receive(file=io.BytesIO(session(1)), filename="a.jsonl")

    def locked(*args: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(ingest_module, "insert_sessions", locked)
    with pytest.raises(OperationalError):
        ingest(upload_id=upload.pk)
    assert Upload.objects.get().status == Job.objects.get().state == State.QUEUED
    monkeypatch.undo()
    assert ingest(upload_id=upload.pk).status == State.DONE


def test_a_fault_of_ours_is_said_and_the_bytes_are_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    upload, _ = receive(file=io.BytesIO(session(1)), filename="a.jsonl")
    monkeypatch.setattr(ingest_module, "pack_sessions", lambda *_: 1 / 0)
    failed = ingest(upload_id=upload.pk)
    assert failed.status == State.FAILED
    assert "ZeroDivisionError" in failed.error
    assert "bytes are kept" in failed.error
    assert "ingest of upload" in caplog.text
    with storage.open_blob(upload.sha256) as file:
        assert file.read() == session(1)


def test_sub_agents_are_linked_to_their_parent(ingested: Ingest) -> None:
    lines = Lines().prompt("Ask a helper").turn("helper says yes")
    main, lines.parent = lines.parent, None
    lines.emit("user", isSidechain=True, agentId="a1", message={"role": "user", "content": "Look around"})
    said = {
        "id": "msg_s",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": "ok"}],
    }
    lines.emit("assistant", isSidechain=True, agentId="a1", message=said)
    lines.parent = main
    lines.turn("done")
    ingested(lines.bytes())
    root = Session.objects.roots().get()
    child = Session.objects.get(parent=root)
    assert (root.n_requests, child.n_requests) == (2, 1)
    page = selectors.session_list()
    assert page.total == 1
    assert page.sessions[0].n_children == 1  # type: ignore[attr-defined]
    assert selectors.child_sessions(root) == (child,)
