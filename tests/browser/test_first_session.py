"""A newcomer with 22 Claude Code sessions: from the first page, or from ``ctxweb``, to a setting that is applied."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Visit
from tests.cli.processes import set_up
from tests.cli.serving import ROOT, Served, until
from tests.engine.claude_lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.exhaustive

N_SESSIONS, MOST_CLICKS, MOST_SECONDS = 22, 6, 30
THRESHOLD = 167_000
"""Tokens at which Claude Code compacts in a window of 200,000."""
SCREEN = {"viewport": {"width": 1440, "height": 900}, "permissions": ["clipboard-read", "clipboard-write"]}


def claude_session(number: int) -> str:
    """Files are read one by one; after the compaction the first seven once more.  The newest reaches the threshold."""
    lines = Lines(f"{number:08d}-1111-4111-8111-111111111111")
    lines.prompt(f"Never touch package-lock.json. Make part {number} of the build fast.")
    n_before, turn = 12 + number, 0
    while turn < n_before if number else lines.context < THRESHOLD:
        read(lines, turn, turn)
        turn += 1
    lines.compact("The build is slow because every module is compiled twice. " * 60)
    for again in range(25):
        read(lines, turn + again, again % 7)
    lines.reply(turn + 25, {"type": "text", "text": "The build is fast now."})
    return lines.text()


def read(lines: Lines, turn: int, file: int) -> None:
    """One file is read: about 2,400 tokens."""
    call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": f"/app/part_{file}.py"}}
    lines.reply(turn, {"type": "text", "text": f"Part {turn}."}, call)
    lines.result(f"toolu_{turn}", "\n".join(f"value_{turn}_{n} = compute({n})" for n in range(370)))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with 22 sessions of two projects, the newest first."""
    made, now = tmp_path_factory.mktemp("home"), time.time()
    for number in range(N_SESSIONS):
        project = made / ".claude/projects" / ("-app", "-site")[number % 2]
        project.mkdir(parents=True, exist_ok=True)
        path = project / f"{number:08d}-1111-4111-8111-111111111111.jsonl"
        path.write_text(claude_session(number), encoding="utf-8")
        os.utime(path, (now - 600 * number,) * 2)
    return made


@pytest.fixture(scope="module")
def served(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """``ctxweb serve`` in an empty data directory, on that computer."""
    running = Served(set_up(tmp_path_factory.mktemp("data")), HOME=str(home))
    try:
        running.port()
        yield running
    finally:
        running.stop()


class Clicks:
    """What was pressed, and when the first page was asked for."""

    def __init__(self) -> None:
        self.n, self.started = 0, time.monotonic()

    def __call__(self, locator: Locator) -> None:
        locator.click()
        self.n += 1

    def are_few(self) -> None:
        """At most six, within half a minute of a machine that does nothing else."""
        crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        assert self.n <= MOST_CLICKS
        assert time.monotonic() - self.started <= MOST_SECONDS * crowd


def from_the_verdict_on(page: Page, press: Clicks) -> None:
    """The newest session's page is open: why it compacted, what that lost, which setting is better, and that copied."""
    page.wait_for_selector(".lead h2")
    assert re.match(r"Auto-compacted before request \d+: 16\d,\d{3} tokens passed", page.inner_text(".lead h2"))
    page.wait_for_selector("#causes dl.after")
    assert "1 of 1 rule lost. 7 files re-read" in page.inner_text("#causes dl.after")
    press(page.get_by_role("navigation", name="Views of this session").get_by_role("link", name="Compare"))
    page.wait_for_selector("#h-adv")
    assert re.match(r"Compact at [\d,]+ tokens: \d+% cheaper", page.inner_text("#h-adv"))
    press(page.locator(".pick[aria-current]").get_by_role("link", name="Apply"))
    press(page.locator("#apply").get_by_role("button", name="Copy").first)
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('PCT_OVERRIDE'))")


def test_from_the_first_page(visit: Any) -> None:
    """Page, add all, the newest session: its verdict, what it lost, which setting, applied."""
    visitor = visit(**SCREEN)
    page, press = visitor.page, Clicks()
    page.goto("/")
    assert f"{N_SESSIONS} Claude Code" in page.inner_text("#found, .found")
    press(page.get_by_role("button", name="Add all"))
    newest = page.locator("#lib-rows a[href^='/s/']").first
    newest.wait_for()
    press(newest)
    from_the_verdict_on(page, press)
    press.are_few()
    page.goto("/")
    page.wait_for_selector(f"text=All {N_SESSIONS}")
    visitor.is_clean()


def test_from_a_terminal(chromium: Browser, home: Path, tmp_path: Path) -> None:
    """``ctxweb``, two answers; the browser opens on the newest session."""
    data = set_up(tmp_path / "data")
    press = Clicks()
    with typed(home, data) as address:
        visitor = Visit(chromium, address.partition("/s/")[0], **SCREEN)
        press.n += 2
        visitor.page.goto(address)
        from_the_verdict_on(visitor.page, press)
        press.are_few()
        visitor.is_clean()
        visitor.context.close()


@contextmanager
def typed(home: Path, data: Path) -> Iterator[str]:
    """``ctxweb`` on a terminal where every question is answered by yes; the address that the browser is sent to."""
    opened, browser = data.parent / "opened", data.parent / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT),
           "CTXWEB_DATA": str(data), "BROWSER": f"{browser} %s"}  # fmt: skip
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxweb"], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True
    )
    os.close(theirs)
    said: list[bytes] = []

    def answer() -> None:
        n_answered = 0
        while process.poll() is None:
            try:
                said.append(os.read(ours, 65_536))
            except OSError:  # how a terminal says that the other side has ended
                return
            if b"".join(said).count(b"[y/N]") > n_answered:
                n_answered += 1
                os.write(ours, b"y\n")

    answering = threading.Thread(target=answer, daemon=True)
    answering.start()
    try:
        until(lambda: opened.exists() or process.poll() is not None)
        assert opened.exists(), b"".join(said).decode()
        assert b"tokens passed Claude Code's auto-compact threshold" in b"".join(b"".join(said).split(b"\r\n"))
        yield opened.read_text(encoding="utf-8").strip()
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)
        answering.join(5)
        os.close(ours)
