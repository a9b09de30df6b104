"""``ctxweb mcp``, asked by the official client over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("mcp", reason="install ctxweb[mcp]")

from mcp import Client, StdioServerParameters, stdio_client

from ctxweb.address import free_port, is_free
from ctxweb.mcp.answers import context
from ctxweb.mcp.paging import MOST_TOKENS, page, pieces
from ctxweb.mcp.searching import said_in_files
from ctxweb.mcp.shelf import Shelf
from sessions.engine.tokenizer import count
from tests.engine.claude_lines import claude_session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TOOLS = ["best_setting", "context_now", "restore", "search_sessions", "what_was_lost", "why_compacted"]
RULE = "Never touch the lock file"
SECRET = "sk-ant-api03-" + "Zq7" * 20


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with one session of Claude Code and, elsewhere in it, a file that nobody allowed."""
    session = tmp_path / ".claude/projects/-work/one.jsonl"
    session.parent.mkdir(parents=True)
    text = claude_session(60, compact_after=40)
    assert RULE in text
    session.write_text(text.replace(RULE, f"{RULE} of {SECRET}"), encoding="utf-8")
    (tmp_path / "private.jsonl").write_text(claude_session(3), encoding="utf-8")
    return tmp_path


def asked(
    home: Path, *calls: tuple[str, Mapping[str, Any]], options: tuple[str, ...] = ()
) -> tuple[list[str], list[str]]:
    """The tools' names and the answers, over standard input and output."""
    env = {**os.environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    server = StdioServerParameters(command=sys.executable, args=["-P", "-m", "ctxweb", "mcp", *options], env=env)

    async def talk() -> tuple[list[str], list[str]]:
        async with Client(stdio_client(server)) as client:
            return await _talk(client, calls)

    return asyncio.run(talk())


async def _talk(client: Any, calls: tuple[tuple[str, Mapping[str, Any]], ...]) -> tuple[list[str], list[str]]:
    tools = await client.list_tools()
    assert all(tool.annotations.read_only_hint for tool in tools.tools)
    answers = [await client.call_tool(name, dict(arguments)) for name, arguments in calls]
    assert not any(answer.is_error for answer in answers)
    return sorted(tool.name for tool in tools.tools), [answer.content[0].text for answer in answers]


def test_every_tool_answers_about_the_latest_session_in_few_tokens(home: Path) -> None:
    calls = [(name, {"message": 0} if name == "restore" else {}) for name in TOOLS]
    tools, answers = asked(home, *calls)
    assert tools == TOOLS
    said = dict(zip(TOOLS, answers, strict=True))
    assert all(count(text).n_tokens <= MOST_TOKENS for text in answers)
    assert "Claude Code" in said["search_sessions"]
    assert re.search(r"Context of the newest request: [\d,]+ tokens \(measured\)", said["context_now"])
    assert "compaction before request" in said["why_compacted"]
    assert said["what_was_lost"].startswith("Compaction 0, before request")
    assert "Rules lost:" in said["best_setting"]
    assert f"{RULE} of [key]" in said["restore"]
    assert not any(SECRET in text for text in answers)


@pytest.mark.exhaustive
def test_what_is_not_there_or_not_allowed_is_answered_in_words(home: Path) -> None:
    private = str(home / "private.jsonl")
    calls = (
        ("context_now", {"session": private}),
        ("restore", {"message": 9_999}),
        ("what_was_lost", {"compaction": 7}),
        ("best_setting", {"policy": "nothing"}),
    )
    _, answers = asked(home, *calls)
    assert "Call search_sessions." in answers[0]
    assert answers[1].startswith("No message 9999; they are 0 to ")
    assert answers[2] == "No compaction 7; they are 0 to 0."
    assert "nothing" in answers[3]


@pytest.mark.exhaustive
def test_words_are_found_in_paths_then_in_messages_and_never_in_secrets(home: Path) -> None:
    calls = [
        ("search_sessions", {"query": query} | more)
        for query, more in (
            ("one.jsonl", {}),
            ("LOCK touch", {}),
            ("compiled twice", {"session": "latest"}),
            (SECRET.lower()[:20], {}),
            (SECRET[:20], {"session": "latest"}),
            ("nobody says this", {}),
        )
    ]
    _, answers = asked(home, *calls)
    assert answers[0].startswith("1 session, the newest")
    assert answers[1].startswith("1 session with the words in a message (of the newest 1 of 1)")
    number = re.search(r"^message (\d+): .*compiled twice", answers[2], re.MULTILINE)
    assert number is not None
    _, [text] = asked(home, ("restore", {"message": int(number[1])}))
    assert "compiled twice" in text
    assert "No session of 1 matches, no path and no text" in answers[3]
    assert "no message says" in answers[4]
    assert "no path and no text" in answers[5]
    assert not any("private" in answer for answer in answers)


@pytest.mark.parametrize("word", ["ärger", "größe", "東京"])
def test_words_beyond_ascii_are_found_however_they_are_written(tmp_path: Path, word: str) -> None:
    for name, ascii_only in (("a.jsonl", True), ("b.jsonl", False)):
        line = json.dumps({"text": f"Viel {word.upper()}, {word}!"}, ensure_ascii=ascii_only)
        (tmp_path / name).write_text(line + "\n", encoding="utf-8")
    found, n_read = said_in_files(Shelf([tmp_path]).files(), [word])
    assert (len(found), n_read) == (2, 2)


@pytest.mark.exhaustive
def test_only_an_allowed_folder_is_read(home: Path) -> None:
    folder = home / "allowed"
    folder.mkdir()
    (folder / "two.jsonl").write_text(claude_session(3), encoding="utf-8")
    (folder / "link.jsonl").symlink_to(home / "private.jsonl")
    _, [answer] = asked(home, ("search_sessions", {}), options=("--allow", str(folder)))
    assert "two.jsonl" in answer
    assert "one.jsonl" not in answer
    assert "link.jsonl" not in answer


@pytest.mark.exhaustive
def test_the_same_over_http(home: Path) -> None:
    port = free_port("127.0.0.1", 18_411)
    env = {**os.environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-m", "ctxweb", "mcp", "--http", "--port", str(port)]
    with subprocess.Popen(command, env=env) as server:
        try:
            while is_free("127.0.0.1", port):
                assert server.poll() is None, "the server ended"
                time.sleep(0.05)

            async def talk() -> tuple[list[str], list[str]]:
                async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                    return await _talk(client, (("search_sessions", {}),))

            tools, [answer] = asyncio.run(talk())
        finally:
            server.terminate()
    assert tools == TOOLS
    assert "Claude Code" in answer


def test_a_long_answer_goes_on_where_it_stopped() -> None:
    lines = [f"line {number}: " + "some words of it " * 3 for number in range(300)]
    whole: list[str] = []
    offset = 0
    while True:
        text = page(lines, offset)
        assert count(text).n_tokens <= MOST_TOKENS
        more = re.search(r"\n([\d,]+) more lines: call again with offset=(\d+)\.$", text)
        if more is None:
            whole += text.split("\n")
            break
        whole += text[: more.start()].split("\n")
        offset = int(more[2])
    assert [line.strip() for line in whole] == [line.strip() for line in lines]
    assert page(lines, 10_000) == "Nothing more."
    assert "".join(pieces("x" * 450)) == "x" * 450


def test_a_secret_where_a_preview_is_cut_leaves_no_beginning(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(claude_session(3).replace(RULE, f"{'word ' * 11}{SECRET} {RULE}"), encoding="utf-8")
    [file] = Shelf([tmp_path]).files()
    said = "\n".join(context(Shelf([tmp_path]).session(str(file.path))))
    assert "[key]" in said
    assert SECRET[:12] not in said
