"""``ctxweb recorded``: the table, the document, what it says about settings, wrong usage."""

from __future__ import annotations

import json

import pytest

from sessions.engine.models.model_info import use_own_models
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
    assert "Unknown policy 'nobody'. List: `ctxweb policies`." in error


def test_it_says_whose_threshold_it_starts_from(file, tmp_path):
    """An older client by its version; the policy's own defaults where asked for."""
    old = tmp_path / "old.jsonl"
    old.write_text(file.read_text(encoding="utf-8").replace("2.1.150", "2.1.14"), encoding="utf-8")
    document = json.loads(run("recorded", old, "--json")[0])
    assert document["as_recorded"] == "as recorded: threshold 155,000 (Claude Code 2.1.14)"
    assert document["compactions"][0]["threshold"] == 155_000
    plain = json.loads(run("recorded", old, "--start", "defaults", "--json")[0])
    assert plain["as_recorded"] is None
    assert plain["compactions"][0]["threshold"] == 167_000
    assert "as recorded: threshold 155,000 (Claude Code 2.1.14)" in run("recorded", old)[0].replace("\n", " ")
    replayed = json.loads(run("replay", old, "--policy", "claude_code", "--json")[0])
    assert (replayed["as_recorded"], replayed["params"]["max_output"]) == (document["as_recorded"], 32_000)
    given = json.loads(run("replay", old, "--policy", "claude_code", "--set", "max_output=8000", "--json")[0])
    assert (given["params"]["max_output"], given["params"]["output_reserve_cap"]) == (8_000, None)


def test_a_model_table_of_ones_own(file, tmp_path, monkeypatch):
    """A window from the file that CTXWEB_MODELS names; what is wrong with it is wrong usage."""
    table = tmp_path / "models.toml"
    table.write_text('[models."claude-sonnet-4-5"]\nwindow = 96_000\n', encoding="utf-8")
    monkeypatch.setenv("CTXWEB_MODELS", str(table))
    try:
        assert json.loads(run("recorded", file, "--json")[0])["window"] == 96_000
        table.write_text('[models."claude-sonnet-4-5"]\nwindow = 9\n', encoding="utf-8")
        _, said = run("recorded", file, expect=2)
        assert "models.toml, model 'claude-sonnet-4-5', window" in " ".join(said.split())
        table.unlink()
        _, said = run("recorded", file, expect=2)
        assert "there is no model table" in " ".join(said.split())
    finally:
        use_own_models({})
