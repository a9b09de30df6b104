"""Writes what the registries hold into README.md and docs: formats, policies, estimators, agents, commands.

Run ``python scripts/registry_docs.py`` after adding one; a test fails while the tables are not what it would write.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import click  # noqa: E402

from ctxweb.cli import COMMANDS, cli  # noqa: E402
from sessions.engine.base.registry import plugins  # noqa: E402
from sessions.engine.models.model_info import model_info  # noqa: E402
from sessions.engine.policies.params import specs  # noqa: E402
from sessions.engine.reading.formats import NO, UNKNOWN, Coverage, Records  # noqa: E402
from sessions.engine.redact import BY_KEY, NOT_LOOKED_FOR  # noqa: E402

WINDOW = 200_000
"""The window that triggers are asked for, in tokens: what they count does not depend on it."""
FILES = ("README.md", "docs/reference.md", "docs/commands.md", "docs/guides/share-safely.md")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; pipes in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def formats() -> str:
    """Every registered format."""
    rows = [[f"`{f.name}`", f.label, f.source] for f in plugins("formats").values()]
    return table(["format", "what it is", "files it reads"], rows)


def coverage() -> str:
    """What of every agent's sessions is read."""
    names = [field.name for field in dataclasses.fields(Coverage) if field not in dataclasses.fields(Records)]
    rows = [
        [f.label, *(getattr(getattr(f, "coverage", UNKNOWN), name) or "–" for name in names)]
        for f in plugins("formats").values()
    ]
    return table(["agent or format", "versions seen", *names[1:]], rows)


def records() -> str:
    """Where the files of every agent record each event."""
    names = [field.name for field in dataclasses.fields(Records)]
    rows = [
        [f.label, *(getattr(getattr(f, "coverage", UNKNOWN), name) or NO for name in names)]
        for f in plugins("formats").values()
    ]
    return table(["agent or format", *names], rows)


TIERS = {"founding": "founding system", "differential": "tested against the original code",
         "golden": "golden values and recordings", "preset": "preset of trigger and edit"}  # fmt: skip


def policies() -> str:
    """Every registered policy and how it is proven."""
    found = plugins("policies").values()
    rows = [[f"`{p.name}`", p.help, TIERS.get(p.tier, ""), p.source, "; ".join(p.caveats)] for p in found]
    return table(["policy", "what it does", "proof", "source of the rule", "what it does not guarantee"], rows)


def estimators() -> str:
    """Every registered estimator."""
    rows = [[f"`{e.name}`", e.label, e.unit, e.source] for e in plugins("estimators").values()]
    return table(["estimator", "what it is", "unit", "source of the rule"], rows)


def summarizers() -> str:
    """Every registered summarizer."""
    rows = [[f"`{s.name}{':N' if s.takes_number else ''}`", s.label, s.source] for s in plugins("summarizers").values()]
    return table(["summarizer", "what it is", "source of the rule"], rows)


def agents() -> str:
    """Every registered agent, what it is known to do first where it is known."""
    rows = []
    for agent in plugins("agents").values():
        asked = [(t, t.asked(WINDOW, model_info("")).reason) for t in agent.triggers]
        measured = "; ".join(f"{t.label}: {counts}, by `{t.estimator}` ({t.source})" for t, counts in asked)
        rows.append([f"`{agent.name}`", agent.label, _names(agent.formats), _names(agent.policies), measured,
                     agent.asked, agent.configuration.file if agent.configuration else ""])  # fmt: skip
    head = ["agent", "what it is", "its transcripts", "its policies", "its triggers: what they measure", "asked",
            "configured in"]  # fmt: skip
    return table(head, rows)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def parameters() -> str:
    """Every parameter of every policy."""
    rows = []
    for policy in plugins("policies").values():
        for spec in specs(policy.params):
            bounds = ", ".join(spec.choices) or spec.bounds
            default = "none" if spec.default is None else str(spec.default) or "none"
            rows.append([f"`{policy.name}`", f"`{spec.name}`", default, bounds, spec.help or spec.label])
    return table(["policy", "parameter", "default", "range", "what it is"], rows)


def claims() -> str:
    """How much there is, in one line of the README."""
    policies = plugins("policies").values()
    tested = sum(p.tier == "differential" for p in policies)
    return (
        f"* **The session under {len(policies)} compaction policies**, {tested} of them tested against the original "
        f"code. {len(plugins('formats'))} transcript formats."
    )


def commands() -> str:
    """The help of every command, as `ctxweb COMMAND --help` prints it."""
    found = []
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command
        command._help_option = None  # click keeps that of the first call, which may have been without its group
        parent = click.Context(cli, info_name="ctxweb", help_option_names=["-h", "--help"])
        context = click.Context(command, info_name=name, parent=parent, terminal_width=100)
        found.append(f"## ctxweb {name}\n\n{COMMANDS[name]}\n\n```text\n{context.get_help().rstrip()}\n```")
    return "\n\n".join(found)


def redacted() -> str:
    rows = [[f"`{kind.key}`", kind.name, f"`{kind.marker}`"] for kind in BY_KEY.values()]
    return table(["kind", "redacted", "marker"], rows)


def not_looked_for() -> str:
    return "\n".join(f"* {kind}" for kind in NOT_LOOKED_FOR)


TABLES = {
    "redacted": redacted, "not_looked_for": not_looked_for,
    "formats": formats, "coverage": coverage, "records": records, "claims": claims, "policies": policies,
    "estimators": estimators, "summarizers": summarizers, "parameters": parameters, "agents": agents,
    "commands": commands,
}  # fmt: skip


def written(text: str) -> str:
    """``text`` with every ``<!-- table: name -->`` … ``<!-- end -->`` filled in."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- table: {match[1]} -->\n{TABLES[match[1]]()}\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->", fill, text, flags=re.DOTALL)


def main() -> None:
    """Rewrite the files in place."""
    for name in FILES:
        path = ROOT / name
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
