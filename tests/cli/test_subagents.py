"""``ctxweb sweep --subagents``: those in the file, those beside it, and none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from ctxweb.cli import cli
from tests.arch.repository import ROOT
from tests.cli.test_engine_commands import document, run
from tests.services.families import HOME, project

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "tests" / "fixtures" / "transcripts"
SWEEP = ("--policy", "claude_code", "--over", "pct_override=40:80:3", "--subagents")


def test_those_beside_the_file_are_swept_under_the_type_that_their_call_names(tmp_path: Path) -> None:
    """One is named in its call's result, one known by its prompt alone; a third file is of a call that is not here."""
    for name, data in project().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    home = tmp_path / "-home-u-proj" / f"{HOME}.jsonl"
    (strange := home.with_suffix("") / "subagents" / "agent-a333.jsonl").write_bytes(
        (strange.parent / "agent-a222.jsonl").read_bytes().replace(b"a222", b"a333").replace(b"the code", b"the sea")
    )
    found = document("sweep", home, *SWEEP)
    assert (found["schema"], found["session"]) == ("ctxweb.sweep_subagents/1", HOME)
    named = {one["type"]: [each["session"] for each in one["subagents"]] for one in found["types"]}
    assert named == {"x": ["agent-a111", "agent-a222"], "type not recorded": ["agent-a333"]}
    assert {one["recommended"] for one in found["types"]} == {None}
    out, _ = run("sweep", home, *SWEEP)
    assert "3 subagents of 2 types" in out
    assert "Nothing to tune in any of them: the largest context is" in out


def test_those_in_the_file_are_found_and_a_tool_of_its_own_is_a_type() -> None:
    found = document("sweep", FIXTURES / "agents_sdk" / "responses.json", *SWEEP)
    (one,) = found["types"]
    assert (one["type"], one["n_subagents"], one["n_compacted"]) == ("ask_cellar", 1, 0)
    assert one["peak_context_tokens"] == one["subagents"][0]["peak_context_tokens"] > 0


def test_a_session_without_any_says_so() -> None:
    alone = FIXTURES / "codex" / "subagent_old_compaction.jsonl"
    assert document("sweep", alone, *SWEEP)["types"] == []
    result = CliRunner().invoke(cli, ["sweep", str(alone), *SWEEP])
    assert "No subagents in this file, or beside it" in result.stderr


def test_rows_of_one_setting_are_not_to_be_had_by_type() -> None:
    result = CliRunner().invoke(cli, ["sweep", str(FIXTURES / "agents_sdk" / "responses.json"), *SWEEP, "--csv"])
    assert result.exit_code == 2
    assert "--subagents goes neither with --csv" in result.stderr
