from __future__ import annotations

import bz2
import gzip
import logging
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from sessions import selectors
from sessions.engine.base import limits
from sessions.models import Job, Member, Session, State
from sessions.services import ingest as ingest_module
from sessions.services import parts
from sessions.services.ingest import ingest
from tests.services.claude_lines import png, session
from tests.services.conftest import Ingest
from tests.services.families import project
from tests.services.packs import tar_gz, tarred, zipped
from tests.services.test_ingest import Lines, everything

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, params=["whole", "in parts", "file by file"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small archive is read at once, a large one in parts: nothing of what comes out may differ."""
    if request.param != "whole":
        monkeypatch.setattr(parts, "SPREAD_BYTES", 0)
    if request.param == "file by file":
        monkeypatch.setattr(parts, "PART_FILES", 1)
    name: str = request.param
    return name


@pytest.mark.parametrize("make", [zipped, tarred, tar_gz])
def test_every_transcript_gives_its_own_sessions(ingested: Ingest, make: object) -> None:
    one, two = session(2), session(1, session="22222222-0000-0000-0000-000000000000") + b"{cut\n"
    upload = ingested(make({"x/one.jsonl": one, "notes.md": b"# Hi", "two.jsonl": two}), "up.bin")  # type: ignore[operator]
    assert (upload.status, upload.format) == (State.DONE, "claude_code")
    assert "of 3 files, 2 of them transcripts" in upload.reason
    rows = [(m.name, m.status, m.format, m.n_sessions, m.n_skipped) for m in list(upload.members.all())]
    assert rows == [
        ("x/one.jsonl", "read", "claude_code", 1, 0),
        ("notes.md", "other", "", 0, 0),
        ("two.jsonl", "read", "claude_code", 1, 1),
    ]
    assert "not a transcript" in Member.objects.get(name="notes.md").error
    first, second = selectors.upload_sessions(upload)
    assert (first.member, first.position, second.member, second.position) == ("x/one.jsonl", 0, "two.jsonl", 1)
    assert (first.n_messages, second.n_messages) == (5, 3)
    assert upload.n_skipped == 1
    assert upload.skipped[0][2].startswith("two.jsonl: ")
    assert sum(row[2] for row in upload.fates) == len(one) + len(two) + len(b"# Hi")


def test_the_text_of_a_members_message_is_found_again(ingested: Ingest) -> None:
    image = png(300, 200)
    upload = ingested(tar_gz({"a.md": b"x", "b.jsonl": Lines().prompt("Look <here>").turn(image).turn("ok").bytes()}))
    (stored,) = selectors.upload_sessions(upload)
    (text,) = selectors.message_contents(stored, 0)
    assert text.text == "Look <here>"
    assert stored.worst_message == 2
    assert selectors.message_contents(stored, 2)[0].parts[0].media_type == "image/png"


def test_a_gzipped_file_is_read_as_that_file(ingested: Ingest) -> None:
    upload = ingested(gzip.compress(session(2)), "talk.jsonl.gz")
    (stored,) = selectors.upload_sessions(upload)
    assert (stored.member, stored.n_messages, stored.filename) == ("talk.jsonl", 5, "talk.jsonl")
    cut = ingested(gzip.compress(session(400))[:-2_000], "cut.jsonl.gz")
    assert cut.status == State.DONE
    assert "cut off" in cut.members.all()[0].error
    assert cut.n_skipped == 1


def test_an_eval_log_stays_its_own_format_also_inside_an_archive(ingested: Ingest) -> None:
    said = b'[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}]'
    sample = b'{"id": 1, "epoch": 1, "messages": ' + said + b"}"
    log = zipped({"header.json": b'{"eval": {"model": "m"}}', "samples/1_epoch_1.json": sample})
    alone = ingested(log, "log.eval")
    assert (alone.format, alone.members.count()) == ("inspect", 0)
    packed = ingested(zipped({"logs/log.eval": log, "a.jsonl": session(1)}))
    assert packed.format == "mixed"
    stored = Session.objects.get(upload=packed, format="inspect")
    assert stored.member == "logs/log.eval"
    assert selectors.message_contents(stored, 0)[0].text == "Hi"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped({}), "without files"),
        (zipped({"a.md": b"# Hi", "b.txt": b"x"}), "2 files, none of them a transcript"),
        (zipped({"a.md": b"# Hi"}), "a.md: not a transcript"),
        (tar_gz({}, {"a.jsonl": "/etc/passwd"}), "a link: not followed"),
        (zipped({"a.jsonl": session(1)})[:-20], "broken zip"),
        (b"\x1f\x8b\x08 not really", "broken gzip"),
    ],
)
def test_an_archive_without_a_transcript_is_a_failure_that_says_so(ingested: Ingest, data: bytes, words: str) -> None:
    upload = ingested(data, "up.zip")
    assert upload.status == State.FAILED
    assert words in upload.error
    assert not Session.objects.exists()


def test_beyond_the_limits_nothing_is_kept(ingested: Ingest, monkeypatch: pytest.MonkeyPatch, blobs: Path) -> None:
    monkeypatch.setattr(limits, "ARCHIVE_RATIO_FLOOR", 10_000)
    upload = ingested(zipped({"a.jsonl": session(1), "bomb": b"0" * 5_000_000}))
    assert upload.status == State.FAILED
    assert "200 times" in upload.error
    assert (Session.objects.count(), Member.objects.count()) == (0, 0)


def test_hostile_names_are_only_text(ingested: Ingest, blobs: Path) -> None:
    upload = ingested(zipped({"../../../evil.jsonl": session(1), "/abs.jsonl": session(2), "n\0ul.jsonl": session(3)}))
    assert upload.status == State.DONE
    names = [path.name for path in blobs.parent.rglob("*") if path.is_file()]
    assert len(names) == 4
    assert all(len(name) == 64 for name in names), "blobs by hash, nothing else"


def test_members_of_the_same_name_and_content_are_told_apart(ingested: Ingest) -> None:
    inner = zipped({"a.jsonl": session(1)})
    upload = ingested(zipped({"x.zip": inner, "x.zip/a.jsonl": session(1)}))
    assert [m.name for m in list(upload.members.all())] == ["x.zip/a.jsonl", "x.zip/a.jsonl"]
    assert len({s.pk for s in selectors.upload_sessions(upload)}) == 2


def test_reading_an_archive_twice_keeps_identities_and_links(ingested: Ingest) -> None:
    upload = ingested(zipped(project()))
    before, members = everything(), list(Member.objects.values_list("position", "name", "status"))
    Job.objects.update(state=State.QUEUED)
    ingest(upload_id=upload.pk)
    assert everything() == before
    assert list(Member.objects.values_list("position", "name", "status")) == members


def test_a_fault_of_ours_in_one_member_spares_the_others(
    ingested: Ingest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    read = ingest_module.read_transcripts

    def faulty(file: object, name: str, **kwargs: object) -> object:
        return 1 / 0 if name == "b.jsonl" else read(file, name, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest_module, "read_transcripts", faulty)
    with caplog.at_level(logging.ERROR):
        upload = ingested(zipped({"a.jsonl": session(1), "b.jsonl": session(2)}))
    assert [m.status for m in list(upload.members.all())] == ["read", "failed"]
    assert "ZeroDivisionError" in Member.objects.get(name="b.jsonl").error
    assert "member 1 of upload" in caplog.text


def test_a_member_without_a_name_is_read(ingested: Ingest) -> None:
    upload = ingested(zipped({"": session(2)}), "up.zip")
    assert (upload.status, upload.error) == (State.DONE, "")
    assert [(member.name, member.n_sessions) for member in upload.members.all()] == [("", 1)]


@pytest.mark.parametrize(("packed", "name"), [
    (bz2.compress, "talk.jsonl.bz2"), (lzma.compress, "talk.jsonl.xz"), (zstandard.compress, "talk.jsonl.zst"),
])  # fmt: skip
def test_a_compressed_file_is_read_as_that_file(ingested: Ingest, packed: Callable[[bytes], bytes], name: str) -> None:
    upload = ingested(packed(session(2)), name)
    assert (upload.status, upload.error) == (State.DONE, "")
    assert [member.name for member in upload.members.all()] == ["talk.jsonl"]
