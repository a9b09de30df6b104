"""``ctxweb skills``: instructions by which an agent knows when to ask ctxweb; shown before they are written."""

from __future__ import annotations

from pathlib import Path

import click

from ctxweb.terminal import say, tell

SKILL = """\
---
name: ctxweb
description: Find out why this or an earlier session was compacted, what that lost, and what fills the context now. \
Use it after a compaction, when something said before is missing, or when the context is nearly full.
---

{body}"""
BODY = """\
ctxweb answers about agent sessions on this machine. It only reads.

* After a compaction: ask what was lost (MCP tool `what_was_lost`), then get the exact text back (`restore`).
* Before a large read: ask how full the context is (`context_now`).
* When asked why a session compacted: `why_compacted`, or `ctxweb why` in a shell.
* When asked for a better threshold: `best_setting`, or `ctxweb sweep` in a shell.

Say figures with their label: measured, calibrated or estimated. If ctxweb says that it cannot tell, say so too.
The tools need `ctxweb mcp` to be set up. Without it, use the commands.
"""
START, END = "<!-- ctxweb -->", "<!-- /ctxweb -->"
PLACES = {
    "claude_code": ("~/.claude/skills/ctxweb/SKILL.md", True),
    "codex": ("~/.codex/AGENTS.md", False),
    "opencode": ("~/.config/opencode/AGENTS.md", False),
    "gemini_cli": ("~/.gemini/GEMINI.md", False),
}
"""Where an agent looks for instructions, and whether that file is ours alone; else it is the user's and gets a part."""


@click.command("skills")
@click.argument("what", type=click.Choice(["install", "show"]), default="show")
@click.option("--for", "agent", type=click.Choice(list(PLACES)), default="claude_code", show_default=True)
@click.option("--yes", is_flag=True, help="Write without asking.")
def command(what: str, agent: str, *, yes: bool) -> None:
    """Show or install instructions by which an agent knows when to ask ctxweb.

    The file and its text are shown before anything is written. Your own text in that file stays.
    """
    name, own = PLACES[agent]
    path = Path(name).expanduser()
    text = SKILL.format(body=BODY) if own else f"{START}\n{BODY}{END}\n"
    tell(f"{path}:\n\n{text}")
    if what == "show":
        return
    if not yes:
        click.confirm("Write this?", abort=True, err=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if own else _joined(path, text), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{path}: {error}. Nothing was written.") from error
    say(f"Written: {path}")


def _joined(path: Path, part: str) -> str:
    """The user's file with our part at its place, or at its end."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before, found, rest = text.partition(START)
    if found:
        return before + part + rest.partition(END)[2].removeprefix("\n")
    return f"{text.rstrip()}\n\n{part}" if text.strip() else part
