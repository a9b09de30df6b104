"""The documentation lists what there is: settings, commands, make targets."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from ctxweb.cli import COMMANDS, cli
from tests.arch.repository import ROOT, files

README = (ROOT / "README.md").read_text(encoding="utf-8")
VARIABLE = re.compile(r"""env_(?:str|bool|int|word)\(\s*["']([A-Z_]+)["']|_names\(["']([A-Z_]+)["']""")


def variables() -> set[str]:
    """Every environment variable that the code reads through ctxweb.env."""
    sources = [path for path in files(".py") if path.relative_to(ROOT).parts[0] in {"ctxweb", "sessions"}]
    found = (match for path in sources for match in VARIABLE.findall(path.read_text(encoding="utf-8")))
    return {first or second for first, second in found}


def test_every_setting_is_documented() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs/settings.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == variables()


def test_readme_starts_with_the_two_commands() -> None:
    first_screen = README.splitlines()[:15]
    assert any(line.startswith("make run ") for line in first_screen)
    assert any(line.startswith("make test ") for line in first_screen)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)) <= targets


def test_every_command_is_in_the_table() -> None:
    modules = {path.stem for path in (ROOT / "ctxweb/commands").glob("[a-z]*.py")}
    assert modules <= set(COMMANDS)


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_command_has_help(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 3


def test_unknown_command_is_wrong_usage() -> None:
    assert CliRunner().invoke(cli, ["inspekt"]).exit_code == 2


def test_changelog_states_the_version() -> None:
    heading = re.search(r"^## (\d+\.\d+\.\d+\S*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
