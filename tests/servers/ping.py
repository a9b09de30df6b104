"""A task of the tests, and a worker that knows it: ``python -m tests.servers.ping`` is ``ctxweb worker`` plus this."""

from __future__ import annotations

import os
from pathlib import Path

from ctxweb.celery import app


@app.task(name="tests.ping")
def ping(path: str) -> None:
    """Write the id of the worker's process to ``path``."""
    Path(path).write_text(str(os.getpid()), encoding="ascii")


if __name__ == "__main__":
    from ctxweb.commands.worker import command

    command([])
