"""A setting that cannot be meant ends a command with one sentence and status 2; what commands make is the owner's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from ctxweb.env import SettingError, env_bool, env_int, env_str, env_word
from tests.cli.processes import run, set_up
from tests.services.claude_lines import session


def test_a_misspelt_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXWEB_DATA_DIR", "elsewhere")
    monkeypatch.setenv("CTXWEB_SECRET_KEY_FILE", "/run/secrets/key")
    monkeypatch.setenv("CTXWEB_HOUSE", "not near anything")
    answer = CliRunner().invoke(cli, ["formats"])
    assert answer.stderr == "Warning: CTXWEB_DATA_DIR is not a setting. Did you mean CTXWEB_DATA?\n"
    assert answer.exit_code == 0
    assert "claude_code" in answer.stdout


@pytest.mark.parametrize("word", ["1", "true", "YES", "On", " yes "])
def test_words_for_yes(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("CTXWEB_X", word)
    assert env_bool("CTXWEB_X") is True


@pytest.mark.parametrize("word", ["0", "false", "No", "OFF"])
def test_words_for_no(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("CTXWEB_X", word)
    assert env_bool("CTXWEB_X") is False


@pytest.mark.parametrize("word", ["", " "])
def test_empty_is_the_default(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("CTXWEB_X", word)
    assert env_bool("CTXWEB_X") is False
    assert env_int("CTXWEB_X", 7) == 7
    assert env_word("CTXWEB_X", "a", ("a", "b")) == "a"


@pytest.mark.parametrize("word", ["maybe", "2", "yess", "tru", "none", "nein"])
def test_other_words_are_refused(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("CTXWEB_X", word)
    with pytest.raises(SettingError) as caught:
        env_bool("CTXWEB_X")
    assert caught.value.message == f"CTXWEB_X is {word!r}. Use one of: 1, true, yes, on, 0, false, no, off."


@pytest.mark.parametrize("text", ["x", "1.5", "1_000", "-1", "0", "9" * 40, "١"])
def test_other_numbers_are_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("CTXWEB_X", text)
    with pytest.raises(SettingError, match=r"CTXWEB_X is .* Use a whole number of at least 1"):
        env_int("CTXWEB_X", 7, minimum=1)


def test_a_secret_file_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CTXWEB_X_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingError, match=r"CTXWEB_X_FILE is .*none.: No such file or directory"):
        env_str("CTXWEB_X")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CTXWEB_REQUIRE_LOGIN", "maybe"),
        ("CTXWEB_MAX_UPLOAD_MB", "2 GB"),
        ("CTXWEB_LOG_LEVEL", "loud"),
        ("DATABASE_URL", "mysqlite://x"),
    ],
)
def test_commands_say_it_and_end(tmp_path: Path, variable: str, value: str) -> None:
    for arguments in (["serve", "--port", "65000"], ["worker"]):
        done = run(tmp_path, *arguments, **{variable: value})
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"Error: {variable} ")
        assert done.stderr.count("\n") == 1


def modes(data: Path) -> dict[str, str]:
    """Every file and folder under ``data`` that others than the owner can use, with its mode."""
    paths = [data, *data.rglob("*")]
    return {
        str(path): oct(stat.S_IMODE(path.stat().st_mode)) for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077
    }


def test_what_ingest_makes_is_the_owners(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(session(2))
    data = tmp_path / "new" / "data"
    done = run(data, "ingest", str(file))
    assert done.returncode == 0, done.stderr
    assert (data / "ctxweb.sqlite3").exists()
    assert list((data / "blobs").rglob("*")) != []
    assert modes(data) == {}


def test_what_an_older_version_left_open_is_narrowed(tmp_path: Path) -> None:
    data = set_up(tmp_path / "data")
    assert run(data, "user", "x", "--password-stdin").returncode == 1
    data.chmod(0o755)
    (data / "ctxweb.sqlite3").chmod(0o644)
    (data / "blobs").chmod(0o755)
    assert len(modes(data)) == 3
    assert run(data, "user", "x", "--password-stdin").returncode == 1
    assert modes(data) == {}


def test_static_files_stand_below_the_public_address(tmp_path: Path) -> None:
    shows = "from ctxweb.startup import load_django; load_django(); from django.conf import settings as s; "
    shows += "print(s.STATIC_URL, s.FORCE_SCRIPT_NAME)"
    for given, says in (("https://ctxweb.example.org/ctx/", "/ctx/static/ /ctx"), ("", "/static/ None")):
        env = {
            **os.environ,
            "CTXWEB_DATA": str(tmp_path),
            "CTXWEB_PUBLIC_URL": given,
            "DJANGO_SETTINGS_MODULE": "ctxweb.settings",
        }
        made = subprocess.run([sys.executable, "-c", shows], env=env, capture_output=True, check=True, text=True)
        assert made.stdout.strip() == says
