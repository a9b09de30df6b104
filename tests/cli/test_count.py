"""``ctxweb count``: with a key, without one, and when the API fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from pytest_django import Settings

from sessions.adapters import anthropic_client
from sessions.engine.reading.jsonio import loads
from tests.cli.processes import run, set_up
from tests.engine.claude_lines import claude_session
from tests.fake_anthropic import Answer, FakeAnthropic, counted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(claude_session(n_turns=4), encoding="utf-8")
    return path


@pytest.fixture
def keyed(fake_anthropic: FakeAnthropic, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> FakeAnthropic:
    monkeypatch.setattr(anthropic_client, "BACKOFF_SECONDS", 0.01)
    settings.ANTHROPIC_API_KEY = f"sk-{fake_anthropic.base_url}"
    settings.ANTHROPIC_BASE_URL = fake_anthropic.base_url
    return fake_anthropic


def call(*arguments: Any, code: int = 0) -> Result:
    from click.testing import CliRunner

    from ctxweb.commands import count

    result = CliRunner().invoke(count.command, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_counts_beside_our_own(keyed: FakeAnthropic, file: Path) -> None:
    keyed.then(counted(1_000))
    said = call(file)
    assert "1,000 tokens, counted by the provider for claude-" in said.stdout
    assert "(its own estimate); ctxweb says " in said.stdout
    assert said.stderr.startswith("messages 0–")
    call(file)
    assert len(keyed.requests) == 1


def test_a_range_as_json(keyed: FakeAnthropic, file: Path) -> None:
    keyed.then(counted(77))
    found = loads(call(file, "--from", 1, "--to", 2, "--model", "claude-haiku-5-5", "--json").stdout_bytes)
    assert (found["schema"], found["model"], found["complete"]) == ("ctxweb.count/1", "claude-haiku-5-5", True)
    assert (found["provider_tokens"], found["label"]) == (77, "estimated")
    assert [(r["from"], r["to"]) for r in found["ranges"]] == [(1, 2)]


def test_without_a_key_it_says_how(file: Path) -> None:
    said = call(file, code=1)
    assert "set ANTHROPIC_API_KEY" in said.stderr
    assert said.stdout == ""


def test_a_refused_key_fails(keyed: FakeAnthropic, file: Path) -> None:
    keyed.then(Answer(401))
    assert "The API refuses this key" in call(file, code=1).stderr


def test_messages_that_are_not_there(keyed: FakeAnthropic, file: Path) -> None:
    assert "messages go from 0 to" in call(file, "--from", 9_999, code=2).stderr
    assert keyed.requests == []


@pytest.mark.exhaustive
def test_the_whole_command_keeps_its_count(fake_anthropic: FakeAnthropic, file: Path, tmp_path: Path) -> None:
    given = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": fake_anthropic.base_url}
    fake_anthropic.then(counted(4_321))
    data = set_up(tmp_path / "data")
    for _ in range(2):
        done = run(data, "count", str(file), **given)
        assert "4,321 tokens" in done.stdout
    assert len(fake_anthropic.requests) == 1
