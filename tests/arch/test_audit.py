"""The audit of pinned packages: a known weakness fails it, a source that does not answer is named and fails nothing."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from scripts import audit
from tests.arch.repository import ROOT, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HASH = f"--hash=sha256:{'0' * 64}"


class Advisories(BaseHTTPRequestHandler):
    """A source in the shape of osv.dev that knows one weakness, of ``weak`` 1.0."""

    def do_POST(self) -> None:
        """One question about one package."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["package"]["name"]
        fixed = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}
        affected = {"package": {"name": "weak", "ecosystem": "PyPI"}, "ranges": [fixed]}
        known = {"id": "PYSEC-2026-1", "summary": "It is weak.", "affected": [affected]}
        body = json.dumps({"vulns": [known]} if name == "weak" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The words that name the source on the command line."""
    monkeypatch.setenv("NO_PROXY", "*")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield ["--osv-url", f"http://127.0.0.1:{server.server_port}/"]
    server.shutdown()
    server.server_close()


def pinned(tmp_path: Path, *lines: str) -> list[Path]:
    path = tmp_path / "requirements.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return [path]


def test_a_known_weakness_fails_it(tmp_path: Path, source: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    files = pinned(tmp_path, f"strong==2.0 {HASH}", f"weak==1.0 {HASH}")
    assert audit.main(source, files, ("osv",)) == 1
    said = capsys.readouterr().out
    assert said == "weak 1.0: PYSEC-2026-1, mended in 1.1\nAudited: 2. With a known weakness: 1.\n"


def test_without_one_it_passes(tmp_path: Path, source: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(source, pinned(tmp_path, f"strong==2.0 {HASH}"), ("osv",)) == 0
    assert capsys.readouterr().out == "Audited: 1. With a known weakness: 0.\n"


def test_where_nobody_answers_it_says_so_and_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    nobody = ["--osv-url", "http://127.0.0.1:9/"]
    assert audit.main(nobody, pinned(tmp_path, f"strong==2.0 {HASH}"), ("osv",)) == 0
    assert capsys.readouterr().out == "not audited: no advisory source reachable\n"


def test_a_mirror_that_knows_no_package_is_no_source() -> None:
    skipped = {"name": "strong", "skip_reason": "not found"}
    lines, bad = audit.told([skipped, {"name": "weak", "version": "1.1", "vulns": []}])
    assert (lines[0], bad) == ("not audited, unknown to the source: strong", 0)
    assert lines[1].startswith("Audited: 1.")


def test_a_fault_of_ours_is_none_of_the_network(tmp_path: Path, source: list[str]) -> None:
    with pytest.raises(SystemExit, match="pip-audit ended with status 1"):
        audit.main(source, pinned(tmp_path, "strong==2.0"), ("osv",))  # it has no hash


def test_every_pin_is_asked_about_and_the_gate_asks() -> None:
    assert {path.stem for path in audit.FILES} == {"base", "dev", "mcp", "server"}
    assert re.search(
        r"^ +for name in .*\baudit\b.*; do step \$name make \$name; done$", text(ROOT / ".ci/run"), re.MULTILINE
    )


def test_what_runs_elsewhere_is_named_by_commit_or_by_hash() -> None:
    """Actions by commit; the packages that the action and the image install by hash; images are not said to be."""
    files = [text(ROOT / name) for name in ("action.yml", "docs/examples/compaction.yml")]
    used = re.findall(r"uses: (?!\./)(\S+)", "\n".join(files))
    assert len(used) >= 3
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", one) for one in used), used
    for name in ("action.yml", "Containerfile"):
        installs = re.findall(r"pip install (.*)", text(ROOT / name))
        assert len(installs) == 2
        assert all("--require-hashes" in one or "--no-deps" in one for one in installs), installs
    claims = [text(path) for path in (*(ROOT / "docs").glob("**/*.md"), ROOT / "README.md", ROOT / "Containerfile")]
    assert not [one for one in claims if "Everything is pinned" in one]
