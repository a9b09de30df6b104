"""``ctxweb export``: of a file without a database, of a stored session with one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pytest_django import Settings

from ctxweb.commands import export
from sessions.engine.reading.jsonio import loads
from sessions.engine.reading.reading import read_transcripts
from tests.cli.processes import run
from tests.engine.claude_lines import claude_session
from tests.web.stored import pressed, store, store_pair


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(claude_session(n_turns=40, compact_after=20), encoding="utf-8")
    return path


def call(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(export.command, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_a_file_to_our_own_lines_and_back(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    said = call(file, "--to", "jsonl", "-o", out).stderr
    with file.open("rb") as before, out.open("rb") as after:
        (original,), (copy,) = read_transcripts(before).transcripts, read_transcripts(after).transcripts
    assert [m.id for m in copy.messages] == [m.id for m in original.messages]
    assert copy.requests == original.requests
    assert copy.compactions == original.compactions
    assert f"the whole session: {len(original.messages)} messages written, nothing left out" in said


def test_the_list_that_a_request_was_sent(file: Path) -> None:
    whole = loads(call(file, "--to", "anthropic").stdout.encode())["messages"]
    last = loads(call(file, "--to", "anthropic", "--request", 40).stdout.encode())["messages"]
    assert len(last) < len(whole), "the recorded compaction took messages out"
    full = loads(call(file, "--to", "anthropic", "--request", 40, "--policy", "none").stdout.encode())["messages"]
    assert len(full) > len(last)


def test_both_sides_of_an_event(file: Path) -> None:
    options = ("--to", "openai", "--policy", "claude_code", "--window", 60_000, "--compaction", 1)
    before = loads(call(file, *options, "--side", "before").stdout.encode())["messages"]
    written = call(file, *options, "--summarizer", "extractive")
    after = loads(written.stdout.encode())["messages"]
    assert len(after) < len(before)
    assert after[0]["content"].startswith("## Primary Request and Intent\n")
    assert f"stub in their place ({len(after) - 1})" in written.stderr, "what is read again is a stub"


@pytest.mark.parametrize(
    "options",
    [
        ("--to", "yaml"),
        ("--to", "jsonl", "--compaction", "1"),
        ("--to", "jsonl", "--policy", "none"),
        ("--to", "jsonl", "--policy", "none", "--compaction", "1"),
        ("--to", "jsonl", "--side", "after"),
        ("--to", "jsonl", "--request", "9999"),
        ("--to", "jsonl", "--policy", "nothing", "--request", "0"),
        ("--to", "jsonl", "--session", "nobody"),
    ],
)
def test_wrong_usage_is_said(file: Path, options: tuple[str, ...]) -> None:
    assert call(file, *options, code=2).stderr.startswith("Usage:")


def test_a_stored_session(db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr("ctxweb.startup.migrate", lambda: 0)
    session = store(pressed())
    document = loads(call(session.pk, "--to", "openai").stdout.encode())
    assert sum("tool_calls" in message for message in document["messages"]) == session.n_tool_calls
    assert "no session" in call("s_nobody", "--to", "openai", code=2).stderr
    assert (
        "does not exist. Ids of stored sessions begin with s_" in call("nobody.jsonl", "--to", "openai", code=2).stderr
    )


@pytest.mark.parametrize("target", ["jsonl", "anthropic", "openai"])
def test_each_session_of_an_archive_has_its_own_words(
    db: None, target: str, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr("ctxweb.startup.migrate", lambda: 0)
    pair = store_pair()
    for word, session in pair.items():
        (other,) = pair.keys() - {word}
        written = call(session.pk, "--to", target).stdout
        assert f"Look for {word}" in written
        assert f"{word} found" in written
        assert other not in written


def test_a_file_needs_no_database(file: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    done = run(data, "export", file, "--to", "jsonl")
    assert done.stdout.count("\n") > 40
    assert not data.exists()
