"""What commands write: no file that is there is lost, and no text that a person wrote into one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ctxweb.cli import cli
from ctxweb.commands import skills
from ctxweb.commands._writing import new_file
from ctxweb.commands.skills import BODY, END, START
from sessions.engine.demo.session import write_demo

MINE = b"what a person wrote\r\n\xff\n"
WRITERS = {
    "export --out": ("export", "{file}", "--to", "jsonl", "--out"),
    "report --out": ("report", "{file}", "--policy", "claude_code", "--out"),
    "report --svg": ("report", "{file}", "--policy", "claude_code", "--svg"),
    "report --skeleton": ("report", "{file}", "--policy", "claude_code", "--skeleton"),
    "demo --out": ("demo", "--out"),
    "skeleton --out": ("skeleton", "{file}", "--out"),
    "share --out": ("share", "{file}", "--policy", "claude_code", "--out"),
}
"""The commands that write a file which is named, and how; the last word is the file."""
REPORTS_OF_A_BUILD = {"check --junit", "check --sarif"}
"""Made for a build server at every run, under one name."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "demo.jsonl"
    with path.open("wb") as out:
        write_demo(out)
    return path


def wrote(name: str, file: Path, out: Path, *more: str) -> Result:
    words = [word.format(file=file) for word in WRITERS[name]]
    return CliRunner().invoke(cli, [*words, str(out), *more])


def test_every_command_that_writes_a_named_file_is_known() -> None:
    """An option that takes a file which need not be there: one that is written."""
    with click.Context(cli) as context:
        commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    found = {
        f"{name} {max(option.opts, key=len)}"
        for name, command in commands.items() if command is not None
        for option in command.params
        if isinstance(option, click.Option) and isinstance(option.type, click.Path)
        and not option.type.exists and not option.type.dir_okay
    }  # fmt: skip
    assert found == {*WRITERS, *REPORTS_OF_A_BUILD}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_is_there_stays_unless_forced(name: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.txt"
    out.write_bytes(MINE)
    out.chmod(0o640)
    refused = wrote(name, file, out)
    assert refused.exit_code == 1
    assert f"{out} is there already. Choose another name, or pass --force." in refused.stderr
    assert out.read_bytes() == MINE
    done = wrote(name, file, out, "--force")
    assert done.exit_code == 0, done.output
    assert out.stat().st_size > 100
    assert MINE not in out.read_bytes()
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["demo.jsonl", "mine.txt"]
    fresh = tmp_path / "fresh.txt"
    assert wrote(name, file, fresh).exit_code == 0
    assert fresh.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.startswith("demo")])
def test_a_transcript_is_not_written_over_itself(name: str, file: Path, tmp_path: Path) -> None:
    before, link = file.read_bytes(), tmp_path / "link.jsonl"
    link.symlink_to(file)
    for out in (file, link):
        refused = wrote(name, file, out, "--force")
        assert refused.exit_code == 1
        assert "is the file that is read" in refused.stderr
    assert file.read_bytes() == before


def break_off(path: Path) -> None:
    with new_file(path, force=True) as out:
        out.write(b"half of it")
        raise RuntimeError("broken off")


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_a_build_s_report_is_not_written_over_a_transcript(option: str, file: Path) -> None:
    before = file.read_bytes()
    result = CliRunner().invoke(
        cli, ["check", str(file), "--policy", "claude_code", "--max-cost", "9", option, str(file)]
    )
    assert result.exit_code == 1
    assert "is the file that is read" in result.stderr
    assert file.read_bytes() == before


def test_what_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    old, fresh = tmp_path / "old", tmp_path / "fresh"
    old.write_bytes(MINE)
    for path in (old, fresh):
        with pytest.raises(RuntimeError, match="broken off"):
            break_off(path)
    assert old.read_bytes() == MINE
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_place_that_cannot_be_written_is_named(file: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "missing" / "out.txt", tmp_path / ("x" * 300)):
        result = wrote("demo --out", file, out)
        assert result.exit_code == 1
        assert "Choose another file." in result.stderr


@pytest.mark.parametrize("name", ["export --out", "skeleton --out", "demo --out"])
def test_a_pipe_takes_what_is_written(name: str, file: Path, tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    assert wrote(name, file, pipe).exit_code == 0
    reader.join()
    assert len(read[0]) > 100


# ---- skills install


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Codex reads what its user wrote."""
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / ".codex/AGENTS.md"
    path.parent.mkdir()
    return path


def install(agent: str = "codex") -> Result:
    return CliRunner().invoke(cli, ["skills", "install", "--for", agent, "--yes"])


def copies(path: Path) -> list[bytes]:
    return [copy.read_bytes() for copy in path.parent.glob(f"{path.name}.*.bak")]


@pytest.mark.parametrize(
    "text",
    [
        f"Mine.\n{START}\nold\nMine, too.\n", f"Mine.\n{END}\nMine, too.\n", f"{END}\nMine.\n{START}\n",
        f"{START}\na\n{END}\nMine.\n{START}\nb\n{END}\n", f"{START}\nMine.\n{START}\nb\n{END}\n",
        f"{START}\na\n{END}\nMine.\n{END}\n", "Größe\n".encode("latin-1"), "Mine.\n".encode("utf-16"),
        "Mine.\n".encode("utf-16-le"), b"\xff" + START.encode() + END.encode(),
    ],
)  # fmt: skip
def test_a_file_whose_marks_are_unclear_is_left_as_it_is(mine: Path, text: str | bytes) -> None:
    before = text.encode() if isinstance(text, str) else text
    mine.write_bytes(before)
    result = install()
    assert result.exit_code == 1
    assert "Nothing was written." in result.stderr
    assert mine.read_bytes() == before
    assert copies(mine) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("text", ["Mine.", "Mine.  \n\n\n", "\ufeffMine.\n", "\n\n", "Grüße 東京\n\n* a\n"])
def test_what_a_person_wrote_stays_byte_for_byte(mine: Path, text: str, newline: str) -> None:
    before = text.replace("\n", newline).encode()
    mine.write_bytes(before)
    mine.chmod(0o640)
    assert install().exit_code == 0
    added = mine.read_bytes()
    assert added.startswith(before)
    assert added.decode().count(START) == 1
    assert (b"\r\n" in added) == (b"\r\n" in before)
    assert copies(mine) == [], "nothing of it went"
    assert "Already there" in install().stderr
    assert mine.read_bytes() == added
    assert mine.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_part_that_is_replaced_is_kept_in_a_copy(mine: Path, newline: str) -> None:
    """What stands around it stays; what somebody wrote into it is in the copy."""
    parts = ("Mine.\n", f"{START}\nan older text, and a line of mine\n{END}", "\nMine, too.\n\n")
    before, part, after = (one.replace("\n", newline).encode() for one in parts)
    mine.write_bytes(before + part + after)
    result = install()
    assert result.exit_code == 0
    body = f"{START}\n{BODY}{END}".replace("\n", newline).encode()
    assert mine.read_bytes() == before + body + after
    assert copies(mine) == [before + part + after]
    assert "As it was: " in result.stderr


def test_a_skill_that_was_edited_is_kept_in_a_copy(mine: Path) -> None:
    assert install("claude_code").exit_code == 0
    path = mine.parents[1] / ".claude/skills/ctxweb/SKILL.md"
    edited = path.read_bytes() + b"My own line.\n"
    path.write_bytes(edited)
    assert install("claude_code").exit_code == 0
    assert BODY in path.read_text(encoding="utf-8")
    assert copies(path) == [edited]


def test_a_link_to_a_file_elsewhere_stays_one(mine: Path) -> None:
    there = mine.parents[1] / "dotfiles.md"
    there.write_text("Mine.\n", encoding="utf-8")
    mine.symlink_to(there)
    assert install().exit_code == 0
    assert mine.is_symlink()
    assert there.read_text(encoding="utf-8").startswith("Mine.\n")


def test_a_full_disk_leaves_the_file_as_it_was(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine.write_bytes(MINE[:-3])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(skills, "replace_bytes", full)
    result = install()
    assert result.exit_code == 1
    assert "No space left on device. It is as it was." in result.stderr
    assert mine.read_bytes() == MINE[:-3]
