"""``ctxweb replay --summarizer anthropic``: nothing is sent before a yes, and nothing twice."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from sessions.engine.reading.jsonio import loads
from tests.cli.processes import run, set_up
from tests.engine.claude_lines import claude_session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fake_anthropic import FakeAnthropic

pytestmark = pytest.mark.exhaustive

REPLAY = ("--policy", "buzz_handoff", "--set", "max_output=1000", "--window", "20000", "--summarizer", "anthropic")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "session.jsonl"
    path.write_text(claude_session(n_turns=60), encoding="utf-8")
    return str(path)


def test_asks_first_writes_once_and_is_then_deterministic(
    file: str, tmp_path: Path, fake_anthropic: FakeAnthropic
) -> None:
    key = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": fake_anthropic.base_url}
    data = set_up(tmp_path / "data")
    asked = run(data, "replay", file, *REPLAY, **key)
    assert asked.returncode == 2
    assert "not written yet: " in asked.stderr
    assert "calls to claude-sonnet-5-5, about " in asked.stderr
    assert "give --yes" in asked.stderr
    assert fake_anthropic.requests == []

    done = run(data, "replay", file, *REPLAY, "--yes", "--json", **key)
    assert done.returncode == 0, done.stderr
    assert "summary 1 written" in done.stderr
    document = loads(done.stdout.encode())
    assert {event["summary_source"] for event in document["events"]} == {"written by claude-sonnet-5-5"}
    n_calls = len(fake_anthropic.requests)
    assert n_calls == len(document["events"])

    again = run(data, "replay", file, *REPLAY, "--json")  # without a key: all is there
    assert loads(again.stdout.encode()) == document
    assert len(fake_anthropic.requests) == n_calls


def test_without_a_key_it_says_how(file: str, tmp_path: Path) -> None:
    said = run(set_up(tmp_path / "data"), "replay", file, *REPLAY)
    assert said.returncode == 1
    assert "set ANTHROPIC_API_KEY, or take --summarizer extractive" in said.stderr


def test_instructions_go_with_every_call(file: str, tmp_path: Path, fake_anthropic: FakeAnthropic) -> None:
    prompt = tmp_path / "instructions.md"
    prompt.write_text("Keep every port number.", encoding="utf-8")
    key = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": fake_anthropic.base_url}
    run(set_up(tmp_path / "data"), "replay", file, *REPLAY, "--yes", "--prompt", str(prompt), **key)
    assert all(
        seen.body["messages"][0]["content"].endswith("Keep every port number.") for seen in fake_anthropic.requests
    )
    assert fake_anthropic.requests


@pytest.mark.parametrize("name", ["sweep", "check"])
def test_commands_that_make_no_calls_offer_none(name: str) -> None:
    """Many replays at once would be many bills: no option of theirs speaks of a model."""
    command = importlib.import_module(f"ctxweb.commands.{name}").command
    assert not {"yes", "prompt"} & {param.name for param in command.params}
    replayed = importlib.import_module("ctxweb.commands.replay").command
    assert {"yes", "prompt"} <= {param.name for param in replayed.params}
