"""``ctxweb check``: floors at, under and over their limits, on files and folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from ctxweb.commands.check import markdown_table, write_junit, write_sarif
from sessions.engine.demo.session import write_demo
from sessions.engine.sweeps.checks import Floor

FIRES = ["--policy", "claude_code", "--window", "60000", "--summarizer", "extractive"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo session, and a file that is no transcript."""
    folder = tmp_path_factory.mktemp("corpus")
    with (folder / "demo.jsonl").open("wb") as file:
        write_demo(file)
    (folder / "notes.txt").write_text("nothing here")
    return folder


def check(*arguments: object) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(cli, ["check", *map(str, arguments), "--json"])
    document = json.loads(result.stdout) if result.stdout else {}
    return result.exit_code, document, result.stderr


def value(corpus: Path, name: str) -> float:
    _, document, _ = check(corpus, *FIRES, f"--{name.replace('_', '-')}", 0)
    return document["floors"][0]["value"]


@pytest.mark.parametrize("name", ["max_compactions", "max_peak", "max_tokens", "max_lost", "max_rules_lost"])
def test_most_holds_at_its_limit_and_breaks_one_under(corpus: Path, name: str) -> None:
    at = value(corpus, name)
    option = f"--{name.replace('_', '-')}"
    code, document, _ = check(corpus, *FIRES, option, at)
    assert (code, document["passed"]) == (0, True)
    code, document, _ = check(corpus, *FIRES, option, at - 1)
    assert (code, document["passed"]) == (1, False)
    assert document["floors"] == [
        {"name": name, "limit": at - 1, "value": at, "session": document["floors"][0]["session"], "ok": False}
    ]


@pytest.mark.parametrize("name", ["min_freed", "min_cache_share", "min_probe_score"])
def test_least_holds_at_its_limit_and_breaks_one_over(corpus: Path, name: str) -> None:
    at = value(corpus, name)
    option = f"--{name.replace('_', '-')}"
    assert check(corpus, *FIRES, option, at)[0] == 0
    assert check(corpus, *FIRES, option, at + 1)[0] == 1


def test_cost_is_held_at_its_upper_end(corpus: Path) -> None:
    file = corpus / "demo.jsonl"
    replayed = json.loads(CliRunner().invoke(cli, ["replay", str(file), *FIRES, "--json"]).stdout)
    assert value(corpus, "max_cost") == pytest.approx(replayed["totals"]["cost_usd"]["high"], abs=1e-6)


def test_a_floor_with_nothing_to_measure_holds(corpus: Path) -> None:
    code, document, _ = check(corpus, "--policy", "none", "--min-interval", 5)
    assert code == 0
    assert document["floors"][0]["value"] is None


def test_a_folder_may_hold_other_files_a_named_file_may_not(corpus: Path) -> None:
    assert check(corpus, *FIRES, "--max-compactions", 99)[0] == 0
    code, document, said = check(corpus / "notes.txt", *FIRES, "--max-compactions", 99)
    assert code == 1
    assert not document["passed"]
    assert "notes.txt" in said


def test_without_a_floor_or_with_a_wrong_policy_it_is_wrong_usage(corpus: Path) -> None:
    code, _, said = check(corpus, *FIRES)
    assert code == 2
    assert "no limit is given" in said
    assert check(corpus, "--policy", "nothing", "--max-cost", 1)[0] == 2


def test_the_table_names_what_broke(corpus: Path) -> None:
    result = CliRunner().invoke(cli, ["check", str(corpus), *FIRES, "--max-compactions", "0"])
    assert result.exit_code == 1
    assert "EXCEEDED" in result.stdout
    assert "1 of 1 limit exceeded or unknown." in result.stdout


def test_the_workflow_example_uses_options_that_exist() -> None:
    text = (Path(__file__).parents[2] / "docs" / "examples" / "compaction.yml").read_text()
    shown = CliRunner().invoke(cli, ["check", "--help"]).stdout
    options = [word for word in text.split() if word.startswith("--")]
    assert len(options) >= 8
    assert all(option in shown for option in options)


def test_a_program_that_fails_fails_the_check(corpus: Path) -> None:
    code, document, said = check(corpus, "--policy-cmd", "false", "--set", "share=10", "--max-compactions", 9)
    assert code == 1
    assert document["floors"][0]["ok"]
    assert "false ended with status 1" in said


def test_a_start_up_budget_holds_at_its_limit(corpus: Path, tmp_path: Path) -> None:
    """What stands before the first prompt; met at the limit, exceeded one below it; Markdown and JUnit say the same."""
    _, document, _ = check(corpus, "--policy", "none", "--max-startup", "1M")
    (at,) = {floor["value"] for floor in document["floors"]}
    assert at > 0
    assert check(corpus, "--policy", "none", "--max-startup", at)[0] == 0
    report = tmp_path / "report.xml"
    command = ["check", str(corpus), "--policy", "none", "--max-startup", str(at - 1), "--junit", str(report)]
    done = CliRunner().invoke(cli, [*command, "--markdown"])
    assert done.exit_code == 1
    assert done.stdout.startswith("**Context check:** 1 of 1 limit exceeded or unknown.\n")
    assert f"| {at - 1:,} | {at:,} | EXCEEDED |" in done.stdout
    suite = ElementTree.fromstring(report.read_bytes())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert suite.find("testcase/failure").get("message") == f"{at:,}, allowed {at - 1:,}"


def test_a_session_name_breaks_no_report(tmp_path: Path) -> None:
    floor = Floor("max_peak", 1, 2, "a|b <x>`\x1b[31m\x00&", ok=False)
    assert "| a\\|b \\<x\\>\\`\ufffd\\[31m\ufffd\\& |" in markdown_table([floor], [])
    write_junit(tmp_path / "r.xml", [floor], ["x\x00"])
    assert ElementTree.fromstring((tmp_path / "r.xml").read_bytes()).get("errors") == "1"


def test_a_limit_on_losses_that_depends_on_placeholders_is_not_called_met(corpus: Path) -> None:
    """Nothing is known to be lost, and nothing to be kept: unknown, which breaks a limit unless that is allowed."""
    options = (*FIRES[:4], "--summarizer", "stub:4000", "--max-lost", 0)
    code, document, _ = check(corpus, *options)
    assert code == 1
    [found] = document["floors"]
    assert (found["value"], found["ok"]) == (None, False)
    result = CliRunner().invoke(cli, ["check", str(corpus), *map(str, options)])
    assert "UNKNOWN" in result.stdout
    assert check(corpus, *options, "--allow-unknown")[0] == 0


def test_a_sarif_report_names_what_is_exceeded_and_unread(tmp_path: Path) -> None:
    path = tmp_path / "r.sarif"
    over = Floor(name="max_cost", limit=1.0, value=2.5, session="a b/s.jsonl#id-1", ok=False)
    fine = Floor(name="max_peak", limit=9.0, value=2.0, session="s.jsonl#id-1", ok=True)
    write_sarif(path, [over, fine], ["bad.jsonl: not a transcript\x00"])
    document = json.loads(path.read_text(encoding="utf-8"))
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["max_cost", "max_peak", "read"]
    first, second = run["results"]
    assert first["message"]["text"] == "id-1: EXCEEDED: 2.5, allowed 1."
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/s.jsonl"
    assert second["ruleId"] == "read"
    assert "\x00" not in path.read_text(encoding="utf-8")
