"""``ctxweb recorded``: the table, the document, what it says about settings, wrong usage."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_engine_commands import run
from tests.engine.claude_lines import claude_session


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A Claude Code session of 40 tool turns with a recorded compaction."""
    path = tmp_path_factory.mktemp("recorded") / "session.jsonl"
    path.write_text(claude_session(n_turns=40, compact_after=20), encoding="utf-8")
    return path


def test_document(file):
    """One entry for each recorded compaction, the client's own policy, settings only where asked for."""
    out, _ = run("recorded", file, "--json")
    document = json.loads(out)
    assert document["schema"] == "ctxweb.recorded/1"
    assert document["policy"] == "claude_code"
    (entry,) = document["compactions"]
    assert entry["outcome"] == "missed"
    assert entry["measure"] < entry["threshold"]
    assert document["recall"] == 0
    assert document["consistent"] is None
    calibrated = json.loads(run("recorded", file, "--json", "--calibrate")[0])["consistent"]
    assert calibrated["up_to"] == entry["measure"]
    assert calibrated["above"] < calibrated["up_to"]


def test_settings_turn_a_miss_into_a_hit(file):
    entry = json.loads(run("recorded", file, "--json")[0])["compactions"][0]
    window = entry["measure"] + 33_000
    document = json.loads(run("recorded", file, "--window", str(window), "--json")[0])
    assert document["compactions"][0]["outcome"] == "hit"
    assert (document["recall"], document["compactions"][0]["threshold"]) == (1, entry["measure"])


def test_words(file):
    out, _ = run("recorded", file, "--calibrate")
    assert "claude_code" in out
    assert "missed" in out
    assert "explains every automatic one" in out


def test_an_unknown_policy_is_wrong_usage(file):
    _, error = run("recorded", file, "--policy", "nobody", expect=2)
    assert "known:" in error
