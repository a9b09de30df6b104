"""Tables of the terminal at every width: where one does not fit it is a list, and no figure is ever cut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli

COMMANDS = (
    ("replay", "--policy", "claude_code"),
    ("diff", "--policy", "claude_code", "--table"),
    ("sweep", "--policy", "parametric", "--over", "share=40%:80%:3", "--regret"),
    ("inspect", "--top", "5"),
    ("recorded",),
    ("check", "--policy", "claude_code", "--max-peak", "150k", "--max-compactions", "3"),
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("widths") / "demo.jsonl"
    assert CliRunner().invoke(cli, ["demo", "--out", str(file)]).exit_code == 0
    return file


def printed(demo: Path, command: tuple[str, ...], columns: int) -> str:
    name, *options = command
    done = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(cli, [name, str(demo), *options])
    assert done.exit_code in {0, 1}, done.output
    return done.stdout


def figures(text: str) -> set[str]:
    return set(re.findall(r"\d[\d,.]*\d", text))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_figure_is_cut(demo: Path, command: tuple[str, ...]) -> None:
    """What 400 columns show, 80, 60 and 40 show, too; nothing runs over the width; nothing ends in an ellipsis."""
    whole = figures(printed(demo, command, 400))
    assert len(whole) >= 3
    for columns in (80, 60, 40):
        text = printed(demo, command, columns)
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        # A word that is longer than the width is broken by the terminal itself.
        assert whole <= figures(text) | figures(text.replace("\n", "")), (columns, whole - figures(text))
        assert max(map(len, text.splitlines())) <= columns


def test_a_policy_is_shown_by_name() -> None:
    said = CliRunner().invoke(cli, ["policies", "claude_code"]).stdout
    assert "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" in said
    assert "ctxweb replay FILE --policy claude_code" in said
    assert "Did you mean 'claude_code'?" in CliRunner().invoke(cli, ["policies", "claudcode"]).stderr


def test_a_cost_without_a_price_fails_a_check(demo: Path, tmp_path: Path) -> None:
    """Unknown is not met, unless that is allowed."""
    file = tmp_path / "unpriced.jsonl"
    file.write_text(demo.read_text(encoding="utf-8").replace("claude-opus-4-8", "no-such-model"), encoding="utf-8")
    command = ["check", str(file), "--policy", "none", "--max-cost", "5"]
    done = CliRunner().invoke(cli, command)
    assert (done.exit_code, "UNKNOWN" in done.stdout) == (1, True)
    assert CliRunner().invoke(cli, [*command, "--allow-unknown"]).exit_code == 0


def test_messages_as_a_table_for_programs(demo: Path) -> None:
    """Every message unless fewer are asked for; the largest first where sorted."""
    rows = CliRunner().invoke(cli, ["inspect", str(demo), "--csv"]).stdout.splitlines()
    assert rows[0] == "session,message,role,kinds,tokens,known,transcript_bytes,overcount"
    assert len(rows) == 1 + 179
    top = CliRunner().invoke(cli, ["inspect", str(demo), "--csv", "--top", "2", "--sort", "bytes"]).stdout.splitlines()
    assert next(row.split(",")[1] for row in top[1:]) == "37"
    assert len(top) == 3


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    done = CliRunner().invoke(cli, ["inspct"])
    assert done.exit_code == 2
    assert "Did you mean 'inspect'? List: `ctxweb --help`." in done.stderr
