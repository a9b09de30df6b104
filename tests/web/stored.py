"""Stored sessions for page tests, read from small synthetic files."""

from __future__ import annotations

import io
from functools import cache

from sessions.engine.demo.session import write_demo
from sessions.models import Session
from sessions.services.ingest import ingest
from sessions.services.uploads import receive
from tests.services.claude_lines import Lines, png
from tests.services.packs import zipped

SHOT = 12
"""Position of the screenshot in ``pressed``: prompt, then reply and result in turn."""


@cache
def demo_file() -> bytes:
    """The demo's transcript, written once: its pictures take a while."""
    file = io.BytesIO()
    write_demo(file)
    return file.getvalue()


def store(data: bytes, filename: str = "pay-button.jsonl") -> Session:
    """The root session of a file, read as an upload is: of a file that begins with one that is stored, that one's."""
    upload = ingest(upload_id=receive(file=io.BytesIO(data), filename=filename).upload.pk)
    return Session.objects.roots().get(upload=upload)


def store_pair() -> dict[str, Session]:
    """Two sessions of one archive, each by the word that it alone says: in its prompt and in a result."""
    words = ("heliotrope", "marigold")
    files = {f"{word}.jsonl": Lines(word).prompt(f"Look for {word}").turn(f"{word} found").bytes() for word in words}
    upload = ingest(upload_id=receive(file=io.BytesIO(zipped(files)), filename="pair.zip").upload.pk)
    return {session.native_id: session for session in upload.sessions.all()}


def pressed(n_turns: int = 20) -> bytes:
    """A session with one screenshot of 400 KB among ``n_turns`` replies, and Markdown that must not run."""
    lines = Lines().prompt("Fix the <b>Pay</b> button")
    for turn in range(n_turns):
        if 2 + 2 * turn == SHOT:
            lines.turn(png(1_254, 1_254, 400_000), text="A screenshot will tell")
        else:
            lines.turn(f"output {turn}: " + "all good\n" * 60, text=f"**Step** {turn} <img src=x onerror=alert(1)>")
    return lines.bytes()
