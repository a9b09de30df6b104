"""The documentation lists what there is: plugins, settings, commands, make targets."""

from __future__ import annotations

import re
import tomllib

import click
from click.testing import CliRunner

from ctxweb.cli import COMMANDS, GROUPS, cli
from ctxweb.env import PREFIX, SETTINGS
from scripts import registry_docs
from sessions.engine.base.registry import plugins
from sessions.engine.policies.params import specs
from tests.arch.repository import ROOT, files, nobody, relative, text

VARIABLE = re.compile(r"""env_(?:str|bool|int|word|url)\(\s*["']([A-Z0-9_]+)["']|_names\(["']([A-Z0-9_]+)["']""")


def test_links_lead_somewhere():
    """Relative links between the documents, after a move too."""
    broken = [
        f"{relative(path)}: {target}"
        for path in files(".md")
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert not broken, broken


def test_tables_are_what_the_registry_holds() -> None:
    """A plugin that no table shows, or a table that no file shows, is not documented."""
    stale = [name for name in registry_docs.FILES if text(ROOT / name) != registry_docs.written(text(ROOT / name))]
    nobody(stale, "Run python scripts/registry_docs.py.")
    shown = {table for name in registry_docs.FILES for table in re.findall(r"<!-- table: (\w+) -->", text(ROOT / name))}
    assert shown == set(registry_docs.TABLES)


def test_every_policy_says_what_it_does_and_where_its_rule_comes_from() -> None:
    """The rows of the tables say something, and so does every parameter a person can set."""
    policies = plugins("policies").values()
    silent = [
        f"{policy.name}: {name}"
        for policy in policies
        for name, told in (("label", policy.label), ("help", policy.help), ("source", policy.source))
        if not told.strip()
    ]
    silent += [f"{p.name}: tier {p.tier!r}" for p in policies if p.tier not in registry_docs.TIERS and p.name != "none"]
    silent += [f"{p.name}.{s.name}" for p in policies for s in specs(p.params) if not (s.help or s.label).strip()]
    nobody(silent, "Fill in what its POLICY or its parameter leaves empty.")


def test_every_setting_is_documented() -> None:
    sources = [path for path in files(".py") if path.relative_to(ROOT).parts[0] in {"ctxweb", "sessions"}]
    found = (match for path in sources for match in VARIABLE.findall(text(path)))
    listed = re.findall(r"^\| `([A-Z0-9_]+)` \|", text(ROOT / "docs/settings.md"), re.MULTILINE)
    assert sorted(listed) == sorted({first or second for first, second in found})
    assert {f"{PREFIX}{name}" for name in SETTINGS} == {name for name in listed if name.startswith(PREFIX)}


def test_readme_starts_with_the_two_commands() -> None:
    readme = text(ROOT / "README.md")
    assert len(readme.splitlines()) <= 100, "The README is for the first minute."
    first_screen = readme.splitlines()[:15]
    assert any(line.startswith("make run ") for line in first_screen)
    assert any(line.startswith("make test ") for line in first_screen)
    targets = set(re.findall(r"^([a-z-]+):", text(ROOT / "Makefile"), re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z-]+)", readme + text(ROOT / "CONTRIBUTING.md"), re.MULTILINE)
    nobody(sorted(set(named) - targets), "The documents name a make target that is not there.")


def test_every_command_is_listed_and_has_help() -> None:
    modules = {path.stem for path in (ROOT / "ctxweb/commands").glob("[a-z]*.py")}
    nobody(sorted(modules - set(COMMANDS)), "Add the command to COMMANDS of ctxweb/cli.py.")
    helps = {name: CliRunner().invoke(cli, [name, "--help"]) for name in cli.list_commands(click.Context(cli))}
    mute = [name for name, result in helps.items() if result.exit_code or len(result.output.splitlines()) <= 3]
    nobody(mute, "The command's --help fails or says nothing.")
    assert CliRunner().invoke(cli, ["inspekt"]).exit_code == 2


def test_the_help_shows_commands_in_groups_those_of_the_main_job_first() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    titles = [shown.index(f"\n{title}:\n") for title in GROUPS]
    assert titles == sorted(titles)
    assert next(iter(GROUPS.values())).keys() == {"why", "open", "replay", "sweep", "apply", "share"}
    assert re.findall(r"^  (\w+)  ", shown[titles[0] :], re.MULTILINE) == cli.list_commands(click.Context(cli))


def test_every_marker_is_used_and_explained() -> None:
    markers = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["pytest"]["ini_options"]["markers"]
    names = [marker.partition(":")[0] for marker in markers]
    tests = "\n".join(text(path) for path in files(".py") if path.is_relative_to(ROOT / "tests"))
    nobody([name for name in names if f"pytest.mark.{name}" not in tests], "No test carries the marker.")
    nobody([name for name in names if f"`{name}`" not in text(ROOT / "CONTRIBUTING.md")], "CONTRIBUTING.md is silent.")


def test_changelog_has_the_promised_form() -> None:
    """Versions with a date or "unreleased", and every line under the group that it belongs to."""
    changelog = text(ROOT / "CHANGELOG.md")
    headings = re.findall(r"^##+ .*", changelog, re.MULTILINE)
    assert re.fullmatch(r"## \d+\.\d+\.\d+\S* \((unreleased|\d{4}-\d\d-\d\d)\)", headings[0])
    form = re.compile(r"## \d+\.\d+\.\d+\S* \(\d{4}-\d\d-\d\d\)|### (Changed|Added|Fixed|Removed)(: .+)?")
    nobody([heading for heading in headings[1:] if not form.fullmatch(heading)], "Not a heading of the changelog.")
    parts = re.split(r"^(##+) .*$", changelog, flags=re.MULTILINE)
    loose = [body for level, body in zip(parts[1::2], parts[2::2], strict=True) if level == "##" and body.strip()]
    nobody(loose, "The line stands under a version and in no group.")


def test_every_claim_about_another_tool_says_how_it_was_seen() -> None:
    """And each of these tools has a row that names its version, or says that none was noted."""
    comparison = text(ROOT / "docs/comparison.md")
    versions, claims = re.split(r"^\| \| ctxweb \|", comparison, maxsplit=1, flags=re.MULTILINE)
    tools = [name.strip() for name in claims.splitlines()[0].strip(" |").split("|")]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in claims.splitlines()[2:] if row[:1] == "|"]
    assert len(rows) >= 10
    unversioned = [tool for tool in tools if not re.search(rf"^\| {re.escape(tool)} \|.*\d", versions, re.MULTILINE)]
    nobody(unversioned, "The tool has no row that says which version was seen.")
    seen = re.compile(r"\((run|read|stated|documentation|description)\)|^not run$")
    nobody(
        [
            f"{row[0]}: {tool}"
            for row in rows
            for tool, cell in zip(tools, row[2:], strict=True)
            if not seen.search(cell)
        ],
        "The claim does not say how it was seen.",
    )
