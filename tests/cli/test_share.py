"""``ctxweb share``: one HTML file, written where one is, over nothing that was there."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.processes import run
from tests.engine.claude_lines import claude_session

SECRET = "sk-ant-api03-" + "Zq7" * 20


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packed session in a folder of its own, while one is elsewhere."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    text = claude_session(30, compact_after=20).replace("slow and", f"slow with {SECRET} and")
    assert SECRET in text
    (tmp_path / "kept/one.jsonl").write_text(text, encoding="utf-8")
    packed = tmp_path / "kept/one.jsonl.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    return packed


def test_the_file_lies_here_and_holds_no_secret(kept: Path, tmp_path: Path) -> None:
    made = run(tmp_path / "data", "share", str(kept))
    assert made.returncode == 0, made.stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["one.html"]
    page = (tmp_path / "here/one.html").read_text(encoding="utf-8")
    assert 'id="handout"' in page
    assert "Zq7Zq7" not in page


def test_what_is_there_stays_without_force(kept: Path, tmp_path: Path) -> None:
    there, plain = tmp_path / "here/one.html", kept.with_suffix("")
    there.write_text("mine", encoding="utf-8")
    refused = run(tmp_path / "data", "share", str(kept))
    assert (refused.returncode, there.read_text(encoding="utf-8")) == (1, "mine")
    assert "one.html is there already" in refused.stderr
    assert run(tmp_path / "data", "share", str(kept), "--force").returncode == 0
    assert there.read_text(encoding="utf-8").startswith("<!doctype html>")
    before = plain.read_bytes()
    assert run(tmp_path / "data", "share", str(plain), "--out", str(plain), "--force").returncode == 1
    assert plain.read_bytes() == before


def test_the_users_name_goes_with_the_home_folder(kept: Path, tmp_path: Path) -> None:
    text = claude_session(30, compact_after=20).replace("/home/me/app", "/home/mara/app")
    mine = tmp_path / "kept/mine.jsonl"
    mine.write_text(text.replace("slow and", "slow, says Mara, and"), encoding="utf-8")
    for options, is_hidden in (((), True), (("--show", "homes"), False)):
        assert run(tmp_path / "data", "share", str(mine), "--force", *options).returncode == 0
        page = (tmp_path / "here/mine.html").read_text(encoding="utf-8")
        assert ("mara" not in page.lower()) is is_hidden
