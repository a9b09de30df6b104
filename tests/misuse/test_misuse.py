"""A corpus of misuse: wrong command lines and hostile files; none ends in a traceback or in broken JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
import pytest

from ctxweb.cli import COMMANDS
from sessions.services.backups import copies
from tests.cli.processes import run
from tests.engine.test_formats_mutations import FILES, FIXTURES
from tests.every import EVERY
from tests.fuzz.mutations import TEXTS, mutant
from tests.misuse.judge import verdict
from tests.misuse.lines import lines, policies

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_django import Settings

N_LINES, N_FILES = 500, 500
SEEDS_OF_A_FILE = 5 if EVERY else 3
WAYS = (
    ("inspect", "{}"), ("why", "{}"), ("inspect", "{}", "--json"), ("why", "{}", "--json"),
    ("replay", "{}", "--policy", "{policy}"), ("replay", "{}", "--policy", "{policy}", "--json", "--window", "1000"),
    ("diff", "{}", "--policy", "{policy}", "--window", "2000"), ("diff", "{}", "--policy", "{policy}", "--json"),
    ("probe", "{}", "--policy", "{policy}", "--window", "2000"), ("probe", "{}", "--policy", "{policy}", "--json"),
    ("sweep", "{}", "--policy", "{policy}", "--over", "window=1000:200000:2", "--json"),
    ("check", "{}", "--policy", "{policy}", "--max-cost", "1"), ("recorded", "{}"), ("recorded", "{}", "--json"),
    ("export", "{}", "--to", "jsonl"), ("export", "{}", "--to", "anthropic"), ("export", "{}", "--to", "openai"),
    ("apply", "{}", "--policy", "{policy}", "--json"), ("study", "{}"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command writes beside itself lands in the test's own folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A transcript among files that are none."""
    place = tmp_path / "[bold] odd folder"
    place.mkdir()
    (place / "good.jsonl").write_bytes((FIXTURES / "claude_code" / "rewind.jsonl").read_bytes())
    odd = {
        "empty": b"",
        "deep": b"[" * 100_000,
        "binary": bytes(range(256)) * 8,
        "[bold]": b"{}",
        "zip": b"PK\x03\x04x",
    }
    for name, data in {**odd, "nul.json": b"\0" * 4096, "zstd": b"\x28\xb5\x2f\xfd1234"}.items():
        (place / name).write_bytes(data)
    return place


@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.django_db(transaction=False)
def test_a_wrong_command_line_is_answered_in_words(
    command: str, folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    monkeypatch.setattr(copies, "MOST_TRIES", 1)  # the test's own transaction holds the database
    every = lines(folder / "good.jsonl", folder)
    assert len(every) >= N_LINES
    mine = [line for line in every if (line[0] if line and line[0] in COMMANDS else "") == command]
    assert mine
    wrong = {line: said for line in mine if (said := verdict(line))}
    assert not wrong


def test_there_are_enough_hostile_files() -> None:
    assert len(FILES) * SEEDS_OF_A_FILE + 3 * len(TEXTS) >= N_FILES


@pytest.mark.parametrize("place", range(len(FILES)), ids=[f"{name}/{path.name}" for name, path in FILES])
def test_a_damaged_file_is_answered_in_words(place: int, tmp_path: Path) -> None:
    name, path = FILES[place]
    wrong = {}
    for seed in range(SEEDS_OF_A_FILE):
        file = tmp_path / f"{seed}{path.suffix}"
        file.write_bytes(mutant(name, path, seed))
        way = WAYS[(place * SEEDS_OF_A_FILE + seed) % len(WAYS)]
        if said := verdict(_filled(way, file, place + seed)):
            wrong[seed, way] = said
    assert not wrong


@pytest.mark.parametrize("way", [way for way in WAYS if "--json" not in way], ids=lambda way: way[0])
def test_a_hostile_text_is_shown_and_not_obeyed(way: tuple[str, ...], tmp_path: Path) -> None:
    wrong = {}
    for number, text in enumerate(TEXTS):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(hostile_session(text))
        if said := verdict(_filled(way, file, number)):
            wrong[text[:40]] = said
    assert not wrong


def hostile_session(text: str) -> bytes:
    """A Claude Code session whose title, ids, tools and texts are all ``text``."""
    usage = {"input_tokens": 190_000, "output_tokens": 10}
    reply = {"id": "m", "role": "assistant", "model": text, "usage": usage}
    use = {"type": "tool_use", "id": text, "name": text, "input": {"file_path": text, text: [text]}}
    result = {"type": "tool_result", "tool_use_id": text, "content": text, "is_error": True}
    common = {"sessionId": text, "version": text, "cwd": text}
    rows = [
        {"type": "summary", "summary": text, "leafUuid": "d"},
        {"type": "user", "uuid": "a", **common, "message": {"role": "user", "content": f"{text} Never {text}"}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", **common, "message": reply | {"content": [use]}},
        {"type": "user", "uuid": "c", "parentUuid": "b", **common, "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "uuid": "d", "parentUuid": "c", **common,
         "message": reply | {"id": "n", "content": [{"type": "text", "text": text}]}},
    ]  # fmt: skip
    return b"\n".join(json.dumps(row).encode() for row in rows)


def _filled(way: tuple[str, ...], file: Path, number: int) -> list[str]:
    names = policies()
    return [part.format(str(file), policy=names[number % len(names)]) if part[0] == "{" else part for part in way]


@pytest.mark.parametrize(
    "arguments",
    [["nope"], ["inspect", "/nope"], ["why", "{}", "--json"], ["inspect", "{}"], ["ingest", "{}", "--json"]],
    ids=lambda arguments: arguments[0],
)
def test_a_process_never_shows_a_traceback(arguments: list[str], folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, *[part.format(folder / "binary") if part == "{}" else part for part in arguments])
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "Error" in done.stderr or json.loads(done.stdout)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: 1 // 0, "ZeroDivisionError"),
        (lambda: click.echo('{"a": NaN}'), "NaN is not JSON"),
        (lambda: click.echo("{"), "no JSON"),
        (lambda: click.echo("\x1b[31m", err=True), "steers"),
        (lambda: click.echo("{}"), ""),
    ],
    ids=["traceback", "nan", "cut", "escape", "fine"],
)
def test_the_judge_sees_what_is_wrong(answer: Callable[[], None], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = [click.Option(["--json", "as_json"], is_flag=True)]
    shown = click.Command("formats", callback=lambda as_json: answer(), params=options)
    monkeypatch.setattr("ctxweb.commands.formats.command", shown)
    found = verdict(["formats", "--json"])
    assert said in found
    assert bool(said) == bool(found)
