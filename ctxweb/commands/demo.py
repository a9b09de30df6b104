"""``ctxweb demo``: the generated session with the founding example, stored like any upload or written to a file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from ctxweb.commands._engine import emit
from ctxweb.commands._options import PRINTS_JSON
from ctxweb.commands._writing import TARGET, force_option, new_file
from ctxweb.commands.ingest import ingest_file
from ctxweb.startup import start_django
from ctxweb.terminal import say

FILENAME = "demo.jsonl"


@click.command()
@click.option("--out", type=TARGET, help="Write the file here and store nothing.")
@force_option
@PRINTS_JSON
def command(out: Path | None, force: bool, as_json: bool) -> None:
    """Store the demo session: 179 messages of buzz-agent, compacted twice.

    A screenshot counted as text caused the first compaction at 17,297 tokens. The second reached its threshold.
    """
    from sessions.engine.demo.session import write_demo

    if out:
        with new_file(out, force=force) as file:
            write_demo(file)
        _tell({"files": [str(out)]}, f"written: {out}", as_json=as_json)
        return
    start_django()
    with tempfile.TemporaryFile() as file:
        write_demo(file)
        file.seek(0)
        result = ingest_file(file, FILENAME, FILENAME)
    words = f"{result['status']}: {', '.join(result['sessions']) or result['error']}"
    _tell({"uploads": [result]}, words, as_json=as_json)
    sys.exit(1 if result["status"] == "failed" else 0)


def _tell(document: dict[str, object], words: str, *, as_json: bool) -> None:
    emit(document) if as_json else say(words)
