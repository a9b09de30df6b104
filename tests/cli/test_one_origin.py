"""A credential goes to the server that it was given for: no redirect is followed, to another server or to the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb.commands import ingest
from sessions.adapters.anthropic_client import Access, Client
from sessions.adapters.calls import CallFailed, pointed_to
from tests.arch.repository import ROOT
from tests.web.stored import pressed

TOKEN = "ctxweb_of-the-tests-alone"
CODES = (301, 302, 303, 307, 308)


@dataclass
class Place:
    """A loopback server: where it sends whoever asks, and what it was asked, headers included."""

    url: str = ""
    code: int = 200
    location: str = ""
    seen: list[str] = field(default_factory=list)


@contextmanager
def place() -> Iterator[Place]:
    """A server of this process, until the block ends."""
    found = Place()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.seen.append(f"{self.command} {self.path}\n{self.headers}")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(found.code if len(found.seen) < 9 else 500)
            if found.location:
                self.send_header("Location", found.location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Place, Place]]:
    """The server that the credential is for, and another one."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("CTXWEB_TOKEN", raising=False)
    with ExitStack() as stack:
        yield stack.enter_context(place()), stack.enter_context(place())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(pressed(2))
    return path


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_sent_file_and_its_token_follow_no_redirect(
    two: tuple[Place, Place], file: Path, code: int, elsewhere: bool
) -> None:
    asked, other = two
    there = other.url if elsewhere else f"{asked.url}/moved"
    asked.code, asked.location = code, f"{there}/api/uploads"
    result = CliRunner().invoke(ingest.command, [str(file), "--to", asked.url, "--token", TOKEN])
    assert result.exit_code == 1
    assert f"points to {there}/. Nothing was sent there. If that is your server, pass --to {there}/" in result.output
    assert TOKEN not in result.output
    assert not other.seen
    assert [line.partition("\n")[0] for line in asked.seen] == ["POST /api/uploads"]
    assert TOKEN in asked.seen[0]


@pytest.mark.parametrize("code", CODES)
def test_the_client_of_the_documents_follows_no_redirect(two: tuple[Place, Place], file: Path, code: int) -> None:
    asked, other = two
    asked.code, asked.location = code, f"{other.url}/api/uploads"
    environ = {**os.environ, "CTXWEB_URL": asked.url, "CTXWEB_TOKEN": TOKEN}
    words = (sys.executable, str(ROOT / "docs/examples/api_client.py"), str(file))
    result = subprocess.run(words, check=False, env=environ, capture_output=True, text=True, timeout=60)
    assert result.returncode
    assert f"answered {code}" in result.stderr
    assert not other.seen
    assert len(asked.seen) == 1


@pytest.mark.parametrize("code", CODES)
def test_the_key_of_a_model_follows_no_redirect(two: tuple[Place, Place], code: int) -> None:
    asked, other = two
    asked.code, asked.location = code, f"{other.url}/v1/messages/count_tokens"
    with Client(Access(TOKEN, asked.url)) as ours, pytest.raises(CallFailed) as caught:
        ours.count({"model": "claude-x", "messages": [{"role": "user", "content": "hello"}]})
    assert f"The API points to {asked.location}. No key was sent there." in str(caught.value)
    assert not other.seen
    assert len(asked.seen) == 1
    assert TOKEN in asked.seen[0]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://user:secret@other.example/x?token=1#y", "https://other.example/x"),
        ("//other.example:8443", "https://other.example:8443/"),
        ("/moved", "https://ctxweb.example/moved"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("", ""), ("file:///etc/passwd", ""), ("https://a\x1b[31m.example/", ""), ("http://h:port/", ""),
    ],
)  # fmt: skip
def test_where_a_redirect_points_is_shown_plainly(location: str, words: str) -> None:
    assert pointed_to("https://ctxweb.example/api/uploads", location) == words


def test_nothing_else_sends_a_request_that_follows() -> None:
    """Whoever opens an address does it through an opener that stays, or without a credential."""
    follows = re.compile(r"urlopen\(|follow_redirects=True|\brequests\.(?:get|post)\(|httpx2?\.(?:get|post|Client)\(")
    makes = re.compile(r"\bAnthropic\((?:(?!\n\n).)*?follow_redirects=False", re.DOTALL)
    paths = [path for folder in ("ctxweb", "sessions", "docs/examples") for path in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    assert [path for path, text in texts.items() if follows.search(text)] == []
    assert [path for path, text in texts.items() if "anthropic.Anthropic(" in text and not makes.search(text)] == []
