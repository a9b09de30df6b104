"""Beside a running agent: the status line reads what is new, and instructions are written where an agent looks."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxweb import statusline
from ctxweb.cli import cli
from sessions.engine.agents.claude_code import running_threshold

GIVEN = {"model": {"id": "claude-opus-4-6"}, "context_window": {"context_window_size": 200_000}, "version": "2.1.150"}


def reply(number: int, context: int, output: int = 10, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": context - 10, "output_tokens": output}
    return {"type": "assistant", "message": {"id": f"m{number}", "model": "claude-opus-4-6", "usage": usage}, **more}


def image() -> dict[str, Any]:
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    return {"type": "user", "message": {"content": [{"type": "tool_result", "content": [picture]}, picture]}}


def write(path: Path, *rows: dict[str, Any], end: str = "\n") -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + end)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXWEB_DATA", str(tmp_path / "data"))
    for name in statusline.OVERRIDES:
        monkeypatch.delenv(name, raising=False)


def said(path: Path, **more: Any) -> str:
    return statusline.said({**GIVEN, "transcript_path": str(path), **more})


def test_the_line_says_how_full_and_until_when(tmp_path: Path) -> None:
    """Golden: 100,000 of 167,000; (167,000 − 100,000 − 10) ÷ 10,000 a request = 6.7, about 7; two images."""
    path = tmp_path / "s.jsonl"
    write(path, image(), *(reply(n, 60_000 + 10_000 * n) for n in range(5)))
    line = "Context 100,000 tokens (60% of 167,000) · compacts in about 7 requests · 2 images could go"
    assert said(path) == line
    write(path, reply(5, 110_000, isSidechain=True))
    assert said(path) == line, "a subagent's request is another context"
    write(path, {"type": "system", "subtype": "compact_boundary"}, reply(6, 20_000))
    assert said(path) == "Context 20,000 tokens (12% of 167,000) · 146,990 left"


def test_what_the_client_reports_goes_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, reply(1, 50_000))
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 15, "cache_read_input_tokens": 80_000}
    told = said(path, context_window={"context_window_size": 200_000, "current_usage": usage})
    assert told.startswith("Context 80,020 tokens (48% of 167,000)")


def test_a_reply_written_in_parts_is_one_request(tmp_path: Path) -> None:
    """Lines of one message id share its usage; the last one stands."""
    path = tmp_path / "s.jsonl"
    write(path, *(reply(n, 10_000 * (n + 1), output) for n in range(4) for output in (1, 500)))
    state = statusline.read_new(path, tmp_path)
    assert (state["contexts"], state["output"]) == ([10_000, 20_000, 30_000, 40_000], 500)


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is not ended is read when it is; a file that shrank is read anew."""
    path = tmp_path / "s.jsonl"
    write(path, *(reply(n, 1_000 + n) for n in range(50)))
    taken: list[bytes] = []
    take = statusline._take
    monkeypatch.setattr(statusline, "_take", lambda state, line: (taken.append(line), take(state, line)))
    assert statusline.read_new(path, tmp_path)["context"] == 1_049
    assert len(taken) == 50
    write(path, reply(51, 2_000), end="")
    assert statusline.read_new(path, tmp_path)["context"] == 1_049
    write(path, end="\n")
    assert statusline.read_new(path, tmp_path)["context"] == 2_000
    assert len(taken) == 51
    path.write_text(json.dumps(reply(1, 70)) + "\n", encoding="utf-8")
    assert statusline.read_new(path, tmp_path)["context"] == 70


@pytest.mark.parametrize(("growths", "left", "requests"), [
    ([10, 10, 10], 100, 10), ([10, 10], 100, None), ([0, 0, 0], 100, None), ([-5, 1, 1], 100, None),
    ([10, 20, 30], 19, 1), ([10, 20, 30], 0, 0), ([10, 20, 30], -5, 0),
])  # fmt: skip
def test_the_forecast_is_the_mean_growth(growths: list[int], left: int, requests: int | None) -> None:
    contexts = [1_000]
    for growth in growths:
        contexts.append(contexts[-1] + growth)
    assert statusline.forecast({"contexts": contexts}, left) == requests


@pytest.mark.parametrize(("version", "environment", "tokens"), [
    ("2.1.150", {}, 167_000), ("2.1.20", {}, 155_000), ("", {}, 167_000),
    ("2.1.150", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 90_000),
    ("2.1.150", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}, 167_000),
    ("2.1.150", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "soon"}, 167_000),
    ("2.1.150", {"DISABLE_AUTO_COMPACT": "1"}, None), ("2.1.150", {"DISABLE_COMPACT": "true"}, None),
    ("2.1.150", {"DISABLE_AUTO_COMPACT": "0"}, 167_000),
])  # fmt: skip
def test_a_running_client_compacts_at(version: str, environment: dict[str, str], tokens: int | None) -> None:
    """Golden, from policies 4.1 to 4.3: 200,000 − 20,000 − 13,000; 50% of the effective window of 180,000."""
    assert running_threshold("claude-opus-4-6", 200_000, version, environment) == tokens


@pytest.mark.parametrize("given", [
    b"", b"[]", b"{", b"{}", b'{"transcript_path":7,"model":[],"context_window":7}', b'{"transcript_path":"/nope"}',
    b'{"transcript_path":"\\u0000"}', b'{"context_window":{"current_usage":{"input_tokens":"x"}}}',
])  # fmt: skip
def test_nothing_breaks_the_line(given: bytes, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "ctxweb", "statusline"], input=given, capture_output=True, check=True)
    assert len(done.stdout.decode().splitlines()) == 1
    assert not done.stderr


@pytest.mark.parametrize("line", [
    b'{"usage"', b'["usage"]', b'"usage"', b'{"message":{"usage":7}}',
    b'{"message":{"usage":{"input_tokens":-1}}}', b'"usage"' + b"[" * 100_000,
])  # fmt: skip
def test_a_damaged_line_is_passed_over(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line + b"\n")
    write(path, reply(1, 500))
    assert statusline.read_new(path, tmp_path)["context"] == 500


def test_a_second_call_loads_the_standard_library_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write(path, reply(1, 500))
    code = (
        "import io, json, sys; from types import SimpleNamespace as N\n"
        f"given = json.dumps({ {**GIVEN, 'transcript_path': str(path)}!r}).encode()\n"
        "sys.argv = ['ctxweb', 'statusline']; sys.stdin = N(buffer=io.BytesIO(given))\n"
        "from ctxweb.entry import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'click', 'django', 'sessions', 'rich', 'tiktoken'}\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & heavy))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True) for _ in range(2)]
    assert "sessions" in runs[0].stdout.splitlines()[-1]
    assert runs[1].stdout.splitlines()[-1] == "[]"


def test_instructions_are_shown_and_the_users_own_text_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    run = CliRunner().invoke
    assert "what_was_lost" in run(cli, ["skills"]).stdout
    assert not (tmp_path / ".claude").exists()
    assert run(cli, ["skills", "install"], input="n\n").exit_code == 1
    assert not (tmp_path / ".claude").exists()
    assert run(cli, ["skills", "install", "--yes"]).exit_code == 0
    assert (tmp_path / ".claude/skills/ctxweb/SKILL.md").read_text().startswith("---\nname: ctxweb\n")
    mine = tmp_path / ".codex/AGENTS.md"
    mine.parent.mkdir()
    mine.write_text("Mine.\n")
    for _ in range(2):
        assert run(cli, ["skills", "install", "--for", "codex", "--yes"]).exit_code == 0
    assert mine.read_text().count("<!-- ctxweb -->") == 1
    assert mine.read_text().startswith("Mine.\n\n<!-- ctxweb -->")


def hook(given: bytes) -> str:
    done = CliRunner().invoke(cli, ["hook", "precompact"], input=given)
    assert done.exit_code == 0
    (message,) = json.loads(done.stdout).values()
    return message


def test_a_transcript_is_kept_before_it_is_compacted(tmp_path: Path) -> None:
    """The copy is the owner's alone and can be read; the newest twenty stay."""
    path = tmp_path / "s.jsonl"
    write(path, {"type": "user", "uuid": "a", "sessionId": "x", "message": {"role": "user", "content": "keep me"}})
    given = json.dumps({"transcript_path": str(path), "session_id": "../x y", "trigger": "auto"}).encode()
    assert "kept the transcript" in hook(given)
    (copy,) = (tmp_path / "data/kept").iterdir()
    assert gzip.decompress(copy.read_bytes()) == path.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600
    assert "1 message" in CliRunner().invoke(cli, ["inspect", str(copy)]).stdout
    for _ in range(21):
        hook(given)
    left = sorted((tmp_path / "data/kept").iterdir())
    assert len(left) == 20
    assert copy not in left


@pytest.mark.parametrize(
    "given", [b"", b"[]", b"{", b"{}", b'{"transcript_path":"/nope"}', b'{"transcript_path":"\\u0000"}']
)
def test_a_hook_that_keeps_nothing_stops_no_compaction(given: bytes) -> None:
    assert "no copy was kept" in hook(given)
