from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxweb.commands import demo, ingest
from sessions.engine.reading.jsonio import loads
from sessions.models import Job, Session, State, Upload
from sessions.services import jobs
from sessions.services.processes import this_process
from sessions.services.uploads import receive
from tests.cli.processes import rows, run
from tests.services.claude_lines import session
from tests.services.families import HOME, project
from tests.services.packs import tar_gz, zipped


@pytest.fixture
def ctxweb(db: None, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command in this process, on the test database; returns its exit status and its JSON."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    for module in (ingest, demo):
        monkeypatch.setattr(module, "start_django", lambda: None)

    def call(command: Any, *arguments: object) -> tuple[int, Any]:
        result = CliRunner().invoke(command, [str(a) for a in arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, loads(result.stdout.encode()) if "--json" in arguments else result.stderr

    return call


def test_it_creates_the_database_and_needs_no_worker(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(session(2))
    data = tmp_path / "data"
    done = run(data, "ingest", str(file), "--json")
    assert done.returncode == 0, done.stderr
    assert rows(data, "select status, format from agent_sessions_upload") == [("done", "claude_code")]
    assert rows(data, "select n_messages from agent_sessions_session") == [(5,)]
    (upload,) = loads(done.stdout.encode())["uploads"]
    assert rows(data, "select id from agent_sessions_session") == [tuple(upload["sessions"])]
    again = run(data, "ingest", str(file), "--json")
    assert loads(again.stdout.encode())["uploads"][0]["status"] == "duplicate"


@pytest.mark.parametrize("ahead", [False, True])
def test_a_file_that_grew_continues_its_session(
    ctxweb: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: bool
) -> None:
    if ahead:
        monkeypatch.setattr(ingest, "AHEAD_BYTES", 0)
    file = tmp_path / "a.jsonl"
    file.write_bytes(session(2))
    _, document = ctxweb(ingest.command, file, "--json")
    file.write_bytes(session(4))
    _, grown = ctxweb(ingest.command, file, "--json")
    found = document["uploads"][0] | {"sha256": hashlib.sha256(session(4)).hexdigest()}
    assert grown["uploads"] == [found | {"status": "continued", "new_messages": 4}]
    file.write_bytes(session(3))
    _, shorter = ctxweb(ingest.command, file, "--json")
    assert shorter["uploads"] == [found | {"status": "duplicate"}]
    file.write_bytes(session(5))
    _, words = ctxweb(ingest.command, file)
    assert f"continued {file}\n  claude_code, 1 session, the same file as before, 2 new messages" in words


def test_the_document_is_the_contract(ctxweb: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    good, copy, bad = (tmp_path / "in" / name for name in ("a.jsonl", "b.jsonl", "c.txt"))
    good.write_bytes(session(2) + b"{cut\n")
    copy.write_bytes(good.read_bytes())
    bad.write_bytes(b"Dear diary")
    status, document = ctxweb(ingest.command, tmp_path / "in", "--json")
    assert status == 1
    first, second, third = document["uploads"]
    stored = Session.objects.get()
    assert first == {
        "file": str(good),
        "sha256": hashlib.sha256(good.read_bytes()).hexdigest(),
        "status": "new",
        "format": "claude_code",
        "sessions": [stored.pk],
        "new_messages": None,
        "skipped": 1,
        "error": None,
        "members": [],
    }
    assert second == {**first, "file": str(copy), "status": "duplicate"}
    assert (third["status"], third["format"], third["sessions"], third["skipped"]) == ("failed", None, [], 0)
    assert "line 1, byte" in third["error"]


def test_folders_are_read_without_what_is_hidden(ctxweb: Any, tmp_path: Path) -> None:
    for n, name in enumerate(("in/b/2.jsonl", "in/a.jsonl", "in/.git/3.jsonl", "in/b/.4.jsonl"), start=1):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(session(n))
    status, document = ctxweb(ingest.command, tmp_path / "in", "--json")
    assert status == 0
    assert [u["file"] for u in document["uploads"]] == [str(tmp_path / "in/a.jsonl"), str(tmp_path / "in/b/2.jsonl")]


def test_a_file_that_cannot_be_opened_does_not_stop_the_others(
    ctxweb: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_bytes(session(1))
    (tmp_path / "b.jsonl").write_bytes(session(2))
    read = type(tmp_path).open

    def refuse(path: Path, *args: Any, **kwargs: Any) -> Any:
        if path.name == "a.jsonl":
            raise PermissionError(13, "Permission denied")
        return read(path, *args, **kwargs)

    monkeypatch.setattr(type(tmp_path), "open", refuse)
    status, document = ctxweb(ingest.command, tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--json")
    assert status == 1
    assert [u["status"] for u in document["uploads"]] == ["failed", "new"]
    assert "Permission denied" in document["uploads"][0]["error"]


def test_what_a_dead_worker_left_is_taken_over(ctxweb: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(session(1))
    with file.open("rb") as opened:
        upload, _ = receive(file=opened, filename="a.jsonl")
    jobs.claim(upload_id=upload.pk)
    Job.objects.update(worker=this_process().rpartition(":")[0] + ":999999999")
    status, document = ctxweb(ingest.command, file, "--json")
    assert (status, document["uploads"][0]["status"]) == (0, "duplicate")
    assert Upload.objects.get().status == State.DONE
    assert Job.objects.get().claims == 2


def test_words_go_to_standard_error(ctxweb: Any, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(session(1))
    status, errors = ctxweb(ingest.command, tmp_path / "a.jsonl")
    assert status == 0
    assert "new" in errors
    assert "1 session" in errors


def test_the_demo_is_stored_once(ctxweb: Any) -> None:
    for expected in ("new", "duplicate"):
        status, document = ctxweb(demo.command, "--json")
        assert (status, document["uploads"][0]["status"]) == (0, expected)
    assert Session.objects.count() == 1


def test_the_demo_is_written_to_a_file(ctxweb: Any, tmp_path: Path) -> None:
    status, document = ctxweb(demo.command, "--json", "--out", tmp_path / "demo.jsonl")
    assert (status, document["files"]) == (0, [str(tmp_path / "demo.jsonl")])
    assert (tmp_path / "demo.jsonl").read_bytes().count(b"\n") == 180
    assert Session.objects.count() == 0
    status, said = ctxweb(demo.command, "--out", tmp_path / "missing" / "demo.jsonl")
    assert status == 1
    assert "No such file or directory. Choose another file." in said


def test_wrong_usage_is_status_2(ctxweb: Any, tmp_path: Path) -> None:
    assert ctxweb(ingest.command)[0] == 2
    assert ctxweb(ingest.command, tmp_path / "missing.jsonl")[0] == 2


def test_an_archive_gives_a_result_for_every_file(ctxweb: Any, tmp_path: Path) -> None:
    (tmp_path / "up.tar.gz").write_bytes(tar_gz({"x/a.jsonl": session(1), "notes.md": b"# Hi"}))
    (tmp_path / "none.zip").write_bytes(zipped({"notes.md": b"# Hi", "more.md": b"x"}))
    status, document = ctxweb(ingest.command, tmp_path, "--json")
    assert status == 1
    none, up = document["uploads"]
    assert (none["status"], none["sessions"], len(none["members"])) == ("failed", [], 2)
    assert (up["status"], up["format"], len(up["sessions"])) == ("new", "claude_code", 1)
    members = [(m["name"], m["status"], m["sessions"]) for m in up["members"]]
    assert members == [("x/a.jsonl", "read", 1), ("notes.md", "other", 0)]
    _, errors = ctxweb(ingest.command, tmp_path / "up.tar.gz")
    assert "notes.md: not a transcript" in errors


def test_a_projects_folder_is_linked(ctxweb: Any, tmp_path: Path) -> None:
    for name, data in project().items():
        (tmp_path / "projects" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "projects" / name).write_bytes(data)
    ctxweb(ingest.command, tmp_path / "projects", "--json")
    children = Session.objects.filter(parent__native_id=HOME)
    assert sorted(children.values_list("native_id", "parent_call_id")) == [
        ("agent-a111", "toolu_one"), ("agent-a222", "toolu_two"),
    ]  # fmt: skip


def test_a_folder_of_several_agents_keeps_the_folders_that_link_their_sessions(ctxweb: Any, tmp_path: Path) -> None:
    """Cursor's subagent names no parent: only the folder it lies in does."""
    turn = b'{"role":"user","message":{"content":[{"type":"text","text":"<user_query>Count</user_query>"}]}}\n'
    said = b'{"role":"assistant","message":{"content":[{"type":"text","text":"Two."}]}}\n'
    call = (
        b'{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Task","input":{"prompt":"Count"}}]}}\n'
    )
    root = tmp_path / "agents"
    for name, data in {
        "cursor/c1/c1.jsonl": turn.replace(b"Count", b"Go") + call + said,
        "cursor/c1/subagents/c2.jsonl": turn + said,
        "claude/a.jsonl": session(2),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    status, document = ctxweb(ingest.command, root, "--json")
    assert status == 0
    assert {upload["format"] for upload in document["uploads"]} == {"cursor", "claude_code"}
    names = set(Upload.objects.values_list("filename", flat=True))
    assert names == {"agents/cursor/c1/c1.jsonl", "agents/cursor/c1/subagents/c2.jsonl", "agents/claude/a.jsonl"}
    child = Session.objects.get(native_id="c2")
    assert child.parent is not None
    assert child.parent.native_id == "c1"
    assert child.filename == "c2.jsonl"


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(session(3)))
    writer.start()
    done = run(tmp_path / "data", "ingest", str(pipe), "--json")
    writer.join()
    (upload,) = loads(done.stdout.encode())["uploads"]
    assert (upload["status"], upload["format"]) == ("new", "claude_code"), done.stderr
