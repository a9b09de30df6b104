"""The command ``ctxweb``: a table of subcommands, each imported only when it is called.

Every module in ``ctxweb.commands`` declares one ``command``.  Loading lazily keeps ``ctxweb inspect`` free of Django
and ``ctxweb --help`` instant.  JSON goes to standard output; everything else a user reads goes to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NoReturn

import click

from ctxweb.env import misspelt
from sessions.engine.base.suggestions import unknown
from sessions.faults import fault_of

GROUPS = {
    "Find out and tune": {
        "why": "Why a session was compacted, and where the triggers of known agents fire on it.",
        "open": "Show a session on the dashboard, which is started where it does not run.",
        "replay": "Replay a transcript under a compaction policy.",
        "sweep": "Replay a transcript over a range of settings.",
        "apply": "Write a setting as the configuration of Claude Code, Codex, LangChain and others.",
        "share": "A replay as one HTML file that opens anywhere.",
    },
    "Look closer": {
        "list": "Sessions that agents keep on this machine.",
        "inspect": "What fills a transcript's context.",
        "diff": "The message list before and after one compaction.",
        "recorded": "Recorded compactions beside what a policy does there.",
        "aftermath": "What came after every recorded compaction: when at 80% of the threshold again, and re-reads.",
        "generations": "What is left of rules, paths and identifiers after each of several compactions.",
        "probe": "What the compactions of a replay lose.",
        "report": "Verdict, evidence, setting and losses as Markdown for an issue.",
        "export": "A message list as JSONL, an Anthropic request or a chat request.",
        "count": "Tokens of a transcript by the provider's own count.",
        "skeleton": "The shape of a transcript without its texts, for a report.",
    },
    "Many sessions": {
        "fleet": "Many sessions by agent, version, model, project or week, and what another threshold would cost.",
        "check": "Fail a build when a policy exceeds your limits.",
        "study": "Compare predicted losses with real re-reads.",
    },
    "Stored sessions": {
        "ingest": "Store and count transcripts, archives or folders.",
        "watch": "Follow a folder of transcripts while they are written.",
        "search": "Find words, names of tools and paths in the stored sessions.",
        "delete": "Delete sessions and uploads with everything that belongs to them.",
        "demo": "Store the demo session.",
    },
    "Beside an agent": {
        "statusline": "One line beside the running agent: context, and when it compacts.",
        "hook": "Keep a transcript before the agent compacts it.",
        "skills": "Teach an agent to ask ctxweb about its own sessions.",
        "mcp": "Answer an agent about its own sessions, over MCP.",
    },
    "The server": {
        "serve": "Serve the dashboard with its worker.",
        "worker": "Run a worker for a shared broker.",
        "user": "Invite people, create accounts, give a new password, remove an account.",
        "token": "Make, list and end tokens for the HTTP API.",
        "backup": "Copy database and files into one archive, while the server runs.",
        "restore": "Make a data folder from a backup.",
        "doctor": "Find what is wrong with the stored data, and mend it.",
    },
    "What is known": {
        "formats": "Transcript formats that can be read.",
        "policies": "Compaction policies and their parameters.",
        "estimators": "Definitions of a block's size.",
    },
}
"""Name to one line of help by what they are for, in the order shown; ``name`` is a module of ``ctxweb.commands``."""
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}


class CommandTable(click.Group):
    """A group whose subcommands are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands that this installation has."""
        return [name for name in COMMANDS if find_spec(f"ctxweb.commands.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called ``cmd_name``, None where there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"ctxweb.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what an error says is text, whatever file its words come from."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(_plain(error.format_message()), error.ctx) from error
        except click.ClickException as error:
            plain = click.ClickException(_plain(error.format_message()))
            plain.exit_code = error.exit_code  # type: ignore[misc]  # whatever class of error it was
            raise plain from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; an unknown one is answered with the one nearest to it."""
        word = click.utils.make_str(args[0])
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            raise click.UsageError(unknown("command", word, self.list_commands(ctx), "List: `ctxweb --help`."), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        here = set(self.list_commands(ctx))
        width = max(map(len, here))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), told) for name, told in group.items() if name in here])


def _plain(words: str) -> str:
    from sessions.engine.redact.escaping import printable

    return printable(words)


def _version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Print the version; what finds it is loaded for this alone."""
    if asked and not ctx.resilient_parsing:
        from ctxweb.version import ctxweb_version

        click.echo(f"ctxweb, version {ctxweb_version()}")
        ctx.exit()


@click.group(
    cls=CommandTable,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--yes", is_flag=True, help="Without a command: read these sessions without asking.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
@click.pass_context
def cli(ctx: click.Context, *, yes: bool) -> None:
    """See what fills an agent's context, and tune when and how it is compacted.

    Without a command: the newest sessions of every agent on this machine.
    """
    for line in misspelt():
        from ctxweb.terminal import say

        say(f"Warning: {line}")
    if ctx.invoked_subcommand is None:
        ctx.invoke(importlib.import_module("ctxweb.commands.list").command, yes=yes)
    elif yes:
        raise click.UsageError(f"--yes stands after the command: `ctxweb {ctx.invoked_subcommand} --yes`.")


def main() -> None:
    """Run the command line; a fault (sessions.faults) is one sentence and status 1, one of ctxweb shows where it is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            cli(prog_name="ctxweb")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        _leave("")
    except Exception as error:
        fault = fault_of(error)
        if fault is None:
            raise
        _leave(f"Error: {fault.words}")


def _leave(words: str) -> NoReturn:
    """Say ``words`` and end with status 1; what is left for standard output goes nowhere, as nobody takes it."""
    if words:
        from ctxweb.terminal import say

        with suppress(OSError):
            say(words)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # a stream of no file, or none at all
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(1)
