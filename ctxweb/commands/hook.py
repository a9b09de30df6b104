"""``ctxweb hook precompact``: keeps a session's transcript before the agent compacts it."""

from __future__ import annotations

import gzip
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ctxweb.env import data_dir
from ctxweb.terminal import tell_json
from sessions.engine.base.errors import EngineError
from sessions.engine.reading.jsonio import loads

FOLDER, MOST_COPIES = "kept", 20
SUFFIX, WRITTEN = ".jsonl.gz", "%Y%m%dT%H%M%S%f"
MOST_BYTES = 1_000_000
NAME = re.compile(r"[^A-Za-z0-9-]+")


@click.command("hook")
@click.argument("when", type=click.Choice(["precompact"]))
def command(when: str) -> None:
    """Keep the transcript that is about to be compacted: a hook for Claude Code.

    Reads the hook's JSON on standard input. In ~/.claude/settings.json:
    {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "ctxweb hook precompact"}]}]}}

    The copy is compressed and stays on this machine; the newest 20 are kept. `ctxweb inspect COPY` reads it. Nothing
    that goes wrong here stops the compaction.
    """
    try:
        given = loads(sys.stdin.buffer.read(MOST_BYTES))
        words = _kept(given if isinstance(given, dict) else {})
    except (EngineError, OSError, ValueError) as error:
        words = f"no copy was kept: {error}"
    tell_json({"systemMessage": f"ctxweb: {words}"})


def _kept(given: dict[str, Any]) -> str:
    """What was done: the copy's path and the session's size."""
    named = given.get("transcript_path")
    if not isinstance(named, str) or not named:
        return "no copy was kept: the hook named no transcript"
    transcript = Path(named)
    folder = data_dir() / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    session = NAME.sub("-", str(given.get("session_id") or transcript.stem))[:80]
    copy = folder / f"{datetime.now(UTC):{WRITTEN}}-{session}{SUFFIX}"
    part = copy.with_suffix(".part")
    try:
        with transcript.open("rb") as source, part.open("xb") as raw:
            part.chmod(0o600)
            with gzip.GzipFile(fileobj=raw, mode="wb") as target:
                shutil.copyfileobj(source, target)
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)
    for old in sorted(folder.glob(f"*{SUFFIX}"))[:-MOST_COPIES]:
        old.unlink(missing_ok=True)
    return f"kept the transcript before compaction ({transcript.stat().st_size / 1e6:.1f} MB): {copy}"
