"""``ctxweb apply``."""

from __future__ import annotations

import json

from click.testing import CliRunner

from ctxweb.cli import cli
from sessions.engine.reports.configuration import configurable


def run(*arguments):
    """The command in this process."""
    return CliRunner().invoke(cli, ["apply", *arguments])


def test_one_agent_prints_what_can_be_piped_into_its_file():
    """The configuration alone on standard output; what it is on standard error."""
    result = run("--policy", "codex_local", "--set", "auto_compact_token_limit=90000", "--for", "codex")
    assert result.exit_code == 0
    assert result.stdout == "model_auto_compact_token_limit = 90000\n"
    assert "Codex: ~/.codex/config.toml (exactly this policy)" in result.stderr


def test_all_agents_and_json():
    """Every agent with its source; the same as a document."""
    said = run("--policy", "anchored_iterative", "--set", "trigger=60", "--window", "200000")
    assert said.stdout.count("# keys: ") == len(configurable())
    assert "Nearest fit, not the same policy" in said.stdout
    document = json.loads(run("--policy", "anchored_iterative", "--set", "trigger=60", "--json").stdout)
    assert document["schema"] == "ctxweb.apply/1"
    assert {agent["agent"] for agent in document["agents"]} >= {"claude_code", "codex", "langchain"}


def test_wrong_usage():
    """Exit status 2 with the names that exist."""
    assert run("--policy", "nothing").exit_code == 2
    result = run("--policy", "none", "--for", "vim")
    assert result.exit_code == 2
    assert "Unknown agent 'vim'. Known: anthropic_api" in result.stderr
