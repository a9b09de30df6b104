"""``ctxweb statusline``: one line beside the running agent."""

from __future__ import annotations

import click


@click.command("statusline")
def command() -> None:
    """One line for Claude Code: context, when it compacts, images that could go.

    Reads Claude Code's JSON on standard input. In ~/.claude/settings.json:
    {"statusLine": {"type": "command", "command": "ctxweb statusline"}}
    """
    from ctxweb.statusline import main

    main()
