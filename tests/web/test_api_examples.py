"""The examples of docs/api.md, run as they stand against a server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from sessions.models import Session
from tests.arch.repository import ROOT
from tests.web.stored import pressed


@pytest.fixture
def run(live_server: LiveServer, tmp_path: Path, settings: Settings) -> object:
    """Runs a command where the transcript lies, with the server's address."""
    settings.MEDIA_ROOT = tmp_path / "blobs"
    (tmp_path / "session.jsonl").write_bytes(pressed())
    environ = {**os.environ, "CTXWEB_URL": live_server.url, "CTXWEB_TOKEN": "", "NO_PROXY": "*"}

    def ran(*words: str) -> str:
        result = subprocess.run(
            words, check=False, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=99
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return ran


def test_the_python_example(run: object) -> None:
    said = run(sys.executable, str(ROOT / "docs/examples/api_client.py"), "session.jsonl")  # type: ignore[operator]
    found = Session.objects.get()
    assert said == f"{found.pk}: {found.headline}\n"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_example(run: object) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.DOTALL)
    [command] = [block for block in blocks if block.startswith("curl")]
    said = run("sh", "-c", command.replace('-H "Authorization: Bearer $CTXWEB_TOKEN" \\\n', ""))  # type: ignore[operator]
    assert '"url": "/api/uploads/' in said
    assert Session.objects.count() == 1
