"""What commands can be given to read: standard input, packed files, patterns, folders, databases, checkpoints."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import zstandard
from click.testing import CliRunner

from ctxweb.commands import check, export, inspect, replay, skeleton, study, sweep, why
from ctxweb.commands._files import inputs
from sessions.engine.base import limits
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.jsonio import dumps, loads
from tests.engine.claude_lines import claude_session
from tests.services.packs import tar_gz, zipped

SESSION = claude_session(n_turns=4, compact_after=2).encode()
OTHER = claude_session(n_turns=6, compact_after=3).encode()
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


def run(command: click.Command, *words: object, data: bytes | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(command, [str(word) for word in words], input=data)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def document(command: click.Command, *words: object, data: bytes | None = None) -> Any:
    status, out, err = run(command, *words, "--json", data=data)
    assert status == 0, err
    return loads(out.encode())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(SESSION)
    return path


def test_standard_input_is_read_like_the_file(file: Path) -> None:
    assert document(inspect.command, "-", data=SESSION) == document(inspect.command, file)


@pytest.mark.parametrize("ending", PACKED)
def test_a_packed_file_is_read_like_the_file(file: Path, tmp_path: Path, ending: str) -> None:
    packed = tmp_path / f"session.jsonl.{ending}"
    packed.write_bytes(PACKED[ending](SESSION))
    assert document(inspect.command, packed) == document(inspect.command, file)
    assert document(inspect.command, "-", data=packed.read_bytes()) == document(inspect.command, file)


@pytest.mark.parametrize("ending", PACKED)
def test_a_packed_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 1_000_000)
    packed = tmp_path / f"zeros.{ending}"
    packed.write_bytes(PACKED[ending](b"0" * 2_000_000))
    with pytest.raises(UnreadableInput, match="unpacks to more than 1,000,000 bytes"):
        run(inspect.command, packed)


def test_standard_input_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_UPLOAD_BYTES", 1_000)
    with pytest.raises(UnreadableInput, match="standard input holds more than 1,000 bytes"):
        run(inspect.command, "-", data=SESSION)


def test_several_files_give_one_document_with_a_part_each(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(OTHER)
    found = document(inspect.command, file, other)
    assert found["schema"] == "ctxweb.files/1"
    assert [(one["file"], one["error"]) for one in found["files"]] == [(str(file), None), (str(other), None)]
    assert [one["document"] for one in found["files"]] == [document(inspect.command, path) for path in (file, other)]


@pytest.mark.parametrize(("command", "options"), [
    (why.command, ()), (replay.command, ("--policy", "claude_code")),
    (sweep.command, ("--policy", "claude_code", "--over", "window=100000:200000:2")),
])  # fmt: skip
def test_every_command_of_a_file_takes_several(
    command: click.Command, options: tuple[str, ...], file: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(OTHER)
    found = document(command, file, other, *options)
    assert [one["document"] for one in found["files"]] == [document(command, path, *options) for path in (file, other)]


def test_tables_of_several_files_are_one_with_the_file_in_front(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(OTHER)
    options = ("--policy", "claude_code", "--over", "window=100000:200000:2", "--csv")
    _, out, _ = run(sweep.command, file, other, *options)
    _, alone, _ = run(sweep.command, file, *options)
    rows = out.splitlines()
    assert len(rows) == 5
    assert rows[0] == f"file,{alone.splitlines()[0]}"
    assert rows[1] == f"{file},{alone.splitlines()[1]}"
    assert rows[4].startswith(f"{other},")


def test_a_named_file_that_fails_is_told_and_does_not_stop_the_others(file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "notes.txt"
    bad.write_text("Dear diary")
    status, out, err = run(inspect.command, bad, file, "--json")
    assert status == 1
    first, second = loads(out.encode())["files"]
    assert first["document"] is None
    assert first["error"] in err
    assert second["document"]["format"] == "claude_code"


def test_a_pattern_is_matched_where_the_shell_left_it(file: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.jsonl").write_bytes(OTHER)
    found = document(inspect.command, f"{tmp_path}/**/*.jsonl")
    assert [one["file"] for one in found["files"]] == [str(file), str(tmp_path / "sub" / "other.jsonl")]
    status, _, err = run(inspect.command, f"{tmp_path}/*.nothing")
    assert (status, "No file matches" in err) == (2, True)


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    status, _, err = run(inspect.command, tmp_path / "missing.jsonl")
    assert (status, "does not exist" in err) == (2, True)


def test_a_folder_is_read_file_by_file_and_what_is_no_transcript_is_left_out(file: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear diary")
    (tmp_path / "other.jsonl").write_bytes(OTHER)
    found = document(inspect.command, tmp_path)
    assert [one["file"] for one in found["files"]] == [str(tmp_path / "other.jsonl"), str(file)]


@pytest.mark.parametrize("pack", [zipped, tar_gz])
def test_an_archive_is_read_member_by_member(pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path) -> None:
    packed = tmp_path / "up.bin"
    packed.write_bytes(pack({"a/one.jsonl": SESSION, "../../two.jsonl": OTHER, "readme": b"Dear diary"}))
    found = document(inspect.command, packed)
    assert [one["file"] for one in found["files"]] == [f"{packed}:a/one.jsonl", f"{packed}:../../two.jsonl"]
    assert all(one["document"]["format"] == "claude_code" for one in found["files"])
    assert not list(tmp_path.parent.glob("two.jsonl"))


def test_check_and_study_read_packed_files_and_patterns(file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(SESSION))
    limit = ("--policy", "claude_code", "--max-compactions", "9")
    assert (
        document(check.command, packed, *limit)["floors"][0]["value"]
        == document(check.command, file, *limit)["floors"][0]["value"]
    )
    assert document(study.command, f"{tmp_path}/*.gz") == document(study.command, file)


def test_export_reads_packed_files_and_standard_input(file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "session.jsonl.zst"
    packed.write_bytes(zstandard.compress(SESSION))
    _, plain, _ = run(export.command, file, "--to", "jsonl")
    assert run(export.command, packed, "--to", "jsonl")[1] == plain
    assert run(export.command, "-", "--to", "jsonl", data=SESSION)[1].splitlines()[1:] == plain.splitlines()[1:]


def test_names_keep_the_folders_that_agents_pair_sessions_by(tmp_path: Path) -> None:
    for name in ("ID/ID.jsonl", "ID/subagents/x.jsonl", "ID/.system_generated/logs/t.jsonl", "ID/.git/config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    below = [given.name for given in inputs([tmp_path / "ID"])]
    assert below == ["ID/.system_generated/logs/t.jsonl", "ID/ID.jsonl", "ID/subagents/x.jsonl"]
    named = [given.name for given in inputs([tmp_path / "ID/ID.jsonl", tmp_path / "ID/subagents/x.jsonl"])]
    assert named == ["ID/ID.jsonl", "ID/subagents/x.jsonl"]
    assert [given.name for given in inputs([tmp_path / "ID/ID.jsonl"])] == ["ID.jsonl"]


def test_a_database_is_given_with_what_stands_in_its_log(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    writer.execute("CREATE TABLE said (id TEXT)")
    writer.commit()
    assert [b"CREATE TABLE said" in given.path.read_bytes() for given in inputs([tmp_path])] == [True]
    writer.close()


def checkpoints(folder: Path, places: dict[str, tuple[str, bytes]]) -> None:
    for place, (session, data) in places.items():
        target = folder / place
        target.mkdir(parents=True)
        (target / "full.jsonl").write_bytes(data)
        (target / "metadata.json").write_text(dumps({"session_id": session}))
        (target / "prompt.txt").write_text("Paint the fence")
        (target.parent / "metadata.json").write_text("{}")


def names_of(words: list[str]) -> list[str]:
    return [given.name for given in inputs(words)]


def test_of_stored_checkpoints_the_longest_of_each_session_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "branch"
    short, whole = OTHER[: OTHER.index(b"\n", 900) + 1], OTHER
    places = {"0a/53780d06b7/0": ("s1", short), "9c/53780d06b7/0": ("s1", whole), "9c/53780d06b7/1": ("s2", SESSION)}
    checkpoints(folder, places)
    (folder / "readme.txt").write_text("kept")
    assert names_of([str(folder)]) == [
        "branch/9c/53780d06b7/0/full.jsonl", "branch/9c/53780d06b7/1/full.jsonl", "branch/readme.txt",
    ]  # fmt: skip


def test_a_git_branch_of_checkpoints_is_read_without_checking_it_out(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    checkpoints(folder, {"0a/53780d06b7/0": ("s1", SESSION[:400]), "9c/53780d06b7/0": ("s1", SESSION)})
    git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "entire/checkpoints/v1"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "checkpoints"], check=True)
    word = f"{folder}@entire/checkpoints/v1"
    assert [name.partition("/")[2] for name in names_of([word])] == ["checkpoints/v1/9c/53780d06b7/0/full.jsonl"]
    assert document(inspect.command, word)["format"] == "claude_code"
    with pytest.raises(click.UsageError, match="No branch '--output=x'"):
        names_of([f"{folder}@--output=x"])


def test_hidden_files_of_a_folder_are_left_out_and_a_named_one_is_not(tmp_path: Path) -> None:
    for name in (".hidden.jsonl", ".git/config", "b/2.jsonl", "a.jsonl", "a.db-wal", ".aider.chat.history.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    found = [(one.path.relative_to(tmp_path).as_posix(), one.named) for one in inputs([tmp_path])]
    assert found == [(".aider.chat.history.md", False), ("a.jsonl", False), ("b/2.jsonl", False)]
    assert [(one.path, one.named) for one in inputs([tmp_path / ".hidden.jsonl"])] == [
        (tmp_path / ".hidden.jsonl", True)
    ]


def test_study_counts_what_it_cannot_read_once_and_looks_at_nothing_hidden(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("no transcript")
    (tmp_path / "notes.txt").write_text("no transcript")
    status, _, err = run(study.command, tmp_path, tmp_path / "notes.txt")
    assert status == 0
    assert "left out, no transcripts that can be read: 1\n" in err


HALF = b"".join(
    dumps(turn).encode() + b"\n"
    for turn in (
        {"role": "user", "content": "Paint the fence"},
        {"role": "assistant", "content": [{"type": "smell", "of": "paint"}]},
    )
)


def test_what_was_not_understood_stands_first_with_the_command_that_reports_it(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_bytes(HALF)
    _, out, _ = run(inspect.command, path)
    said = " ".join(out.split())
    assert said.index("Not fully understood. 1 of 2 blocks (50%) of unknown type: smell.") < said.index("messages,")
    assert f"ctxweb skeleton {path}" in "".join(out.split("\n")).replace("skeleton/", "skeleton /")
    (gap,) = document(inspect.command, path)["not_understood"]
    assert (gap["kind"], gap["part"], gap["whole"]) == ("blocks", 1, 2)


def test_a_file_that_is_understood_has_no_such_line(file: Path) -> None:
    assert "Not fully understood" not in run(inspect.command, file)[1]
    assert document(inspect.command, file)["not_understood"] == []


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_skeleton_goes_to_standard_output_or_to_a_file(tmp_path: Path, name: str) -> None:
    path, out = tmp_path / "half.jsonl", tmp_path / name
    path.write_bytes(HALF)
    _, shown, _ = run(skeleton.command, path)
    assert [loads(line.encode()) for line in shown.splitlines()] == [
        {"role": "user", "content": "xxxxx xxx xxxxx"},
        {"role": "assistant", "content": [{"type": "wwwqb", "of": "wwwqc"}]},
    ]
    _, _, err = run(skeleton.command, path, "-o", out)
    assert f"{out}: 2 lines" in err
    written = out.read_bytes()
    assert (gzip.decompress(written) if name.endswith("gz") else written).decode() == shown
    assert run(skeleton.command, path, "--first", "1")[1] == shown.splitlines(keepends=True)[0]
