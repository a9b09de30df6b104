"""``ctxweb delete``: nothing goes without a look and a yes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ctxweb.commands import delete
from sessions.engine.reading.jsonio import loads
from sessions.models import Session, Upload
from tests.cli.processes import rows, run, set_up
from tests.services.claude_lines import session
from tests.services.packs import zipped
from tests.web.stored import pressed, store


@pytest.fixture
def call(db: None, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command in this process, on the test database."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr(delete, "start_django", lambda: None)
    return lambda *arguments: CliRunner().invoke(delete.command, list(arguments))


def test_without_a_yes_nothing_goes(call: Any) -> None:
    found = store(session())
    result: Result = call(found.pk)
    assert result.exit_code == 2
    assert "nothing was deleted" in result.stderr
    assert re.search(rf"session {found.pk}  Find out why the test fails", result.stderr)
    assert "1 session with 7 messages." in result.stderr
    assert "1 upload and 1 stored file" in result.stderr
    assert Session.objects.exists()


def test_the_document_says_what_would_go_and_with_yes_what_went(call: Any) -> None:
    found = store(pressed())
    first = loads(call(found.pk, "--json").stdout.encode())
    assert (first["schema"], first["deleted"]) == ("ctxweb.delete/1", False)
    assert Session.objects.exists()
    second = loads(call(found.pk, "--json", "--yes").stdout.encode())
    assert second == first | {"deleted": True}
    assert (second["messages"], second["media"], second["blobs"]) == (found.n_messages, 1, 1)
    assert second["sessions"] == [
        {"id": found.pk, "title": str(found), "upload": str(found.upload_id), "subagent": False}
    ]
    assert not Upload.objects.exists()


def test_unique_beginnings_are_enough(call: Any) -> None:
    a, b = store(session(1), "a.jsonl"), store(b"\n" + session(2), "b.jsonl")
    both = call("s_", "--yes")
    assert (both.exit_code, Session.objects.count()) == (2, 2)
    assert "2 sessions begin with `s_`" in both.stderr
    assert call("s_nothing", "--yes").exit_code == 2
    assert call("--upload", "zzz", "--yes").exit_code == 2
    length = next(n for n in range(3, 15) if a.pk[:n] != b.pk[:n])
    assert call(a.pk[:length], "--yes").exit_code == 0
    assert call("--upload", str(b.upload_id)[:8], "--yes").exit_code == 0
    assert not Upload.objects.exists()


def test_what_stays_is_said(call: Any) -> None:
    store_both = zipped({"a.jsonl": session(1), "b.jsonl": session(2)})
    import io

    from sessions.services.ingest import ingest
    from sessions.services.uploads import receive

    upload = ingest(upload_id=receive(file=io.BytesIO(store_both), filename="both.zip").upload.pk)
    one = upload.sessions.first()
    assert one is not None
    result = call(one.pk, "--yes")
    assert "The bytes of both.zip stay: 1 other session needs them. Delete the upload to remove them." in result.stderr
    assert Session.objects.count() == 1


@pytest.mark.parametrize("arguments", [(), ("--older-than", "x"), ("--older-than", "-1d"), ("",)])
def test_wrong_use_deletes_nothing(call: Any, arguments: tuple[str, ...]) -> None:
    store(session())
    assert call(*arguments, "--yes").exit_code == 2
    assert Session.objects.exists()


def test_nothing_that_old(call: Any) -> None:
    store(session())
    result = call("--older-than", "5000d", "--yes")
    assert (result.exit_code, result.stderr) == (0, "Nothing matches, so nothing is deleted.\n")


@pytest.mark.exhaustive
def test_a_real_process_leaves_no_bytes(tmp_path: Path) -> None:
    file, data = tmp_path / "a.jsonl", set_up(tmp_path / "data")
    file.write_bytes(session())
    assert run(data, "ingest", str(file)).returncode == 0
    done = run(data, "delete", "--older-than", "0", "--yes")
    assert done.returncode == 0, done.stderr
    assert rows(data, "select count(*) from agent_sessions_session") == [(0,)]
    assert [path for path in (data / "blobs").rglob("*") if path.is_file()] == []
