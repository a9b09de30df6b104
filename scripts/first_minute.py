"""Tries the first minute: a home folder with three agents' sessions, and what an installed ctxweb says of the newest.

``python scripts/first_minute.py COMMAND`` takes the path of an installed ``ctxweb``.  It lays sessions out as Claude
Code, Codex and Gemini CLI do, types ``ctxweb`` on a terminal of its own and answers yes; then it asks the same over
MCP, by the official client, where the installation has ``ctxweb[mcp]``.  Ends with status 1 where an answer is wrong.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
FIXTURES = ROOT / "tests/fixtures/transcripts"
SECONDS = 60
THRESHOLD = 167_000
"""Tokens at which Claude Code compacts in a window of 200,000."""
TURN_TOKENS = 2_500
ANSWERS = (b"y\n", b"n\n")
"""To whether the sessions may be read, and whether the dashboard is to be opened."""
STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Truth:
    """What is so in the newest session: the request that a compaction came before, and the tokens that were there."""

    request: int
    tokens: int

    def missing(self, said: str) -> list[str]:
        """What a right verdict names, and ``said`` does not."""
        wanted = (f"Auto-compacted before request {self.request}:", f"{THRESHOLD:,}")
        return [words for words in wanted if words not in " ".join(said.split())]


def lay_out(home: Path) -> Truth:
    """Put three agents' sessions where those agents do; the newest is Claude Code's, compacted at its threshold."""
    text, truth = newest()
    files: dict[str, Path | str] = {
        ".gemini/tmp/9f86d081/chats/session-2026-11-20T10-00-a1b2.json": FIXTURES / "gemini_cli/session.json",
        ".codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-0199aaaa.jsonl": FIXTURES / "codex/rollout.jsonl",
        ".claude/projects/-home-me-app/11111111-1111-4111-8111-111111111111.jsonl": text,
    }
    now = time.time()
    for age, (name, content) in zip((7_200, 3_600, 60), files.items(), strict=True):
        path = home / name
        path.parent.mkdir(parents=True)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_text(content, encoding="utf-8")
        os.utime(path, (now - age, now - age))
    return truth


def newest() -> tuple[str, Truth]:
    """A Claude Code session that grows past the threshold, is compacted, and goes on for three requests."""
    from tests.engine.claude_lines import Lines

    lines = Lines()
    lines.prompt("Find out why the build is slow, and make it fast.")
    turn, truth = 0, Truth(0, 0)
    while not truth.request or turn < truth.request + 3:
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": f"/app/m{turn}.py"}}
        lines.reply(turn, {"type": "text", "text": f"Part {turn}."}, call)
        lines.result(f"toolu_{turn}", " ".join(f"v{number}" for number in range(TURN_TOKENS)))
        lines.context += TURN_TOKENS - 3_000  # what the text really weighs, beside a quarter of its characters
        turn += 1
        if not truth.request and lines.context > THRESHOLD:
            truth = Truth(turn, lines.context)
            lines.compact("The build is slow because every module is compiled twice. " * 60)
    lines.reply(turn, {"type": "text", "text": "The build is fast now."})
    return lines.text(), truth


def environment(home: Path) -> dict[str, str]:
    """Nothing of this process but the search path of commands."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm", "COLUMNS": "120", "LC_ALL": "C.UTF-8",
            "CTXWEB_DATA": str(home / ".data")}  # fmt: skip


def typed(command: str, home: Path) -> str:
    """What ``ctxweb`` prints on a terminal: its sessions may be read, and the dashboard stays closed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [command], stdin=theirs, stdout=theirs, stderr=theirs, cwd=home, env=environment(home), start_new_session=True
    )
    os.close(theirs)
    said, answers, end = "", [*ANSWERS], time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.2)[0]:
                continue
            try:
                read = os.read(ours, 65_536)
            except OSError:  # how a terminal says that the other side has ended
                break
            if not read:
                break
            said += read.decode("utf-8", "replace")
            if answers and said.count("[y/N]") > len(ANSWERS) - len(answers):
                os.write(ours, answers.pop(0))
        else:
            process.kill()
            raise SystemExit(f"`ctxweb` took more than {SECONDS} s. It said:\n{said}")
    finally:
        os.close(ours)
    if process.wait(timeout=SECONDS):
        raise SystemExit(f"`ctxweb` ended with status {process.returncode}:\n{said}")
    return STEERING.sub("", said)


def asked(command: str, home: Path) -> str:
    """What the MCP server answers about the latest session, over standard input and output."""
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(command=command, args=["mcp"], env=environment(home))

    async def talk() -> str:
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("why_compacted", {})
            return str(json.loads(answer.model_dump_json())["content"][0]["text"])

    return asyncio.run(asyncio.wait_for(talk(), SECONDS))


def main() -> None:
    """Try both ways and print the seconds of each."""
    command = str(Path(sys.argv[1]).absolute())
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        truth = lay_out(home)
        for what, ask in (("`ctxweb` on a terminal", typed), ("why_compacted over MCP", asked)):
            started = time.monotonic()
            said = ask(command, home)
            if missing := truth.missing(said):
                sys.exit(f"{what} does not say {missing}. It said:\n{said}")
            print(f"first minute: {what}: a right verdict after {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
