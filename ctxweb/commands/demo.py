"""``ctxweb demo``: the generated session with the founding example, stored like any upload."""

from __future__ import annotations

import sys
import tempfile

import click

from ctxweb.commands._engine import emit
from ctxweb.commands.ingest import ingest_file, start_django
from ctxweb.terminal import say

FILENAME = "demo.jsonl"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document to standard output.")
def command(as_json: bool) -> None:
    """Store the demo session: a screenshot whose base64 is 3,118,884 bytes long, in a history of about 62K tokens."""
    start_django()
    from sessions.engine.demo.session import write_demo

    with tempfile.TemporaryFile() as file:
        write_demo(file)
        file.seek(0)
        result = ingest_file(file, FILENAME, FILENAME)
    if as_json:
        emit({"uploads": [result]})
    else:
        say(f"{result['status']}: {', '.join(result['sessions']) or result['error']}")
    sys.exit(1 if result["status"] == "failed" else 0)
