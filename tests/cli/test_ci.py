"""The documented runs in CI, as printed: docs/api.md against a server, the action with the words of the workflow."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.arch.repository import ROOT, text
from tests.cli.processes import set_up
from tests.cli.serving import Served
from tests.web.stored import pressed

pytestmark = pytest.mark.exhaustive

BLOCKS = re.findall(r"^```sh\n(.*?)^```$", text(ROOT / "docs/api.md"), re.MULTILINE | re.DOTALL)
PRINTED_URL = "http://127.0.0.1:8400"
"""The address in the document; the test's server has another port."""


def block(begins: str) -> str:
    """The one block of the document that begins so."""
    (found,) = [one for one in BLOCKS if one.startswith(begins)]
    return str(found)


def run(command: str, folder: Path, env: dict[str, str], given: str = "") -> subprocess.CompletedProcess[str]:
    """A command of a document in a shell, where ``ctxweb`` and ``python`` are this environment's."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env | {"PATH": paths, "NO_PROXY": "*"}, input=given, check=False,
        text=True, capture_output=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a build has: a recorded session, and the documents of a copy of ctxweb."""
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "session.jsonl").write_bytes(pressed(6))
    (folder / "docs").symlink_to(ROOT / "docs")
    return folder


def test_every_command_of_the_api_document_works_with_the_token_that_it_makes(tmp_path: Path, folder: Path) -> None:
    served = Served(set_up(tmp_path / "data"), CTXWEB_REQUIRE_LOGIN="1")
    try:
        url = f"http://127.0.0.1:{served.port()}"
        assert run("ctxweb user alice --password-stdin", folder, served.env, "correct horse\n").returncode == 0
        made = run(block("ctxweb token"), folder, served.env)
        env = served.env | {"CTXWEB_TOKEN": made.stdout.strip(), "CTXWEB_URL": url, "CTXWEB_DATA": str(tmp_path / "no")}
        if shutil.which("curl"):
            sent = run(block("curl"), folder, env)
            assert sent.returncode == 0, sent.stderr
            assert '"ctxweb.upload/1"' in sent.stdout
        ingested = run(block("ctxweb ingest"), folder, env)
        assert ingested.returncode == 0, ingested.stderr
        assert re.match(r"(new|duplicate) +session\.jsonl\s+claude_code, 1 session", ingested.stderr)
        client = block("CTXWEB_URL").replace(PRINTED_URL, url)
        stored = run(client, folder, env)
        assert (stored.returncode, stored.stderr) == (0, "")
        assert stored.stdout.endswith(": stored. This needs a token with the scope read.\n")
        both = run(f"{block('ctxweb token').partition('#')[0]} --scope read", folder, served.env).stdout.strip()
        told = run(client, folder, env | {"CTXWEB_TOKEN": both})
        assert (told.returncode, told.stderr) == (0, "")
        assert re.match(r"s_[a-z2-7]{12}: (?!stored)\w", told.stdout)
        wrong = run(client, folder, env | {"CTXWEB_TOKEN": "ctxweb_unknown"})
        assert wrong.returncode == 1
        assert wrong.stderr.startswith("The server answered 401: ")
        assert "Traceback" not in wrong.stderr + served.output
    finally:
        served.stop()


def test_the_action_does_what_the_workflow_asks(tmp_path: Path) -> None:
    """Its own shell lines with the inputs of the example, on the demo session and the example's policy."""
    action = yaml.safe_load(text(ROOT / "action.yml"))
    job = yaml.safe_load(text(ROOT / "docs/examples/compaction.yml"))["jobs"]["limits"]
    (given,) = [step["with"] for step in job["steps"] if step["uses"] == "./.ctxweb"]
    assert set(given) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(given)
    env = {name: value for name, value in os.environ.items() if not name.startswith("CTXWEB_")}
    env |= {"CTXWEB_DATA": str(tmp_path / "data"), "RUNNER_TEMP": str(tmp_path), "PYTHONPATH": str(ROOT)}
    env |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    shutil.copy(ROOT / "docs/examples/compact.py", tmp_path)
    (tmp_path / given["sessions"]).mkdir(parents=True)
    assert run(f"ctxweb demo --out {given['sessions']}/demo.jsonl", tmp_path, env).returncode == 0
    done = run(step(action, "check"), tmp_path, env | filled(action, "check", given))
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "summary").read_text(encoding="utf-8")
    assert said.startswith("**Context check:**")
    assert "demo.jsonl" in said
    status = (tmp_path / "output").read_text(encoding="utf-8").strip().removeprefix("status=")
    assert status in {"0", "123"}, done.stderr  # xargs says 123 for any failure; what failed is in the table
    limits = re.findall(r"--(max|min)-(\w+(?:-\w+)*)", given["arguments"])
    assert len(limits) >= 7
    assert all(f"{most}_{name.replace('-', '_')}" in said for most, name in limits), said
    (last,) = [one for one in action["runs"]["steps"] if "STATUS" in one.get("env", {})]
    assert run(last["run"], tmp_path, env | {"STATUS": status}).returncode == int(status)


def step(action: dict[str, Any], ident: str) -> str:
    """The shell lines of one of its steps."""
    (found,) = [one for one in action["runs"]["steps"] if one.get("id") == ident]
    return str(found["run"])


def filled(action: dict[str, Any], ident: str, given: dict[str, str]) -> dict[str, str]:
    """The environment of one of its steps with the inputs in their places."""
    (found,) = [one["env"] for one in action["runs"]["steps"] if one.get("id") == ident]
    return {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], value) for name, value in found.items()}
