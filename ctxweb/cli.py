"""The command ``ctxweb``: a table of subcommands, each imported only when it is called.

Every module in ``ctxweb.commands`` declares one ``command``.  Loading lazily keeps ``ctxweb inspect`` free of Django
and ``ctxweb --help`` instant.  JSON goes to standard output; everything else a user reads goes to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec

import click

from ctxweb.version import ctxweb_version
from sessions.engine.errors import EngineError

COMMANDS = {
    "serve": "Serve the dashboard with its worker.",
    "worker": "Run a worker for a shared broker.",
    "user": "Create a user, or give one a new password.",
    "ingest": "Store and count transcripts, archives or folders.",
    "watch": "Follow a folder of transcripts while they are written.",
    "delete": "Delete sessions and uploads with everything that belongs to them.",
    "doctor": "Find what is wrong with the stored data, and mend it.",
    "backup": "Copy database and files into one archive, while the server runs.",
    "restore": "Make a data folder from such an archive.",
    "demo": "Store the demo session.",
    "why": "Why a session was compacted, and where the gates of known harnesses fire on it.",
    "inspect": "What fills a transcript's context.",
    "replay": "Replay a transcript under a compaction policy.",
    "count": "Tokens of a transcript by the provider's own count.",
    "sweep": "Replay a transcript over a range of settings.",
    "apply": "Write a setting as the configuration of Claude Code, Codex, LangChain and others.",
    "diff": "The message list before and after one compaction.",
    "recorded": "Recorded compactions beside what a policy does there.",
    "probe": "What the compactions of a replay lose.",
    "study": "Whether such losses came true in recorded sessions.",
    "check": "Floors that a policy has to keep on a corpus, for a build.",
    "export": "A message list as JSONL, an Anthropic request or a chat request.",
    "formats": "Transcript formats that can be read.",
    "policies": "Compaction policies and their parameters.",
    "estimators": "Definitions of a block's size.",
}
"""Name to one line of help, in the order shown.  ``name`` is the module ``ctxweb.commands.<name>``."""


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(ctxweb_version(), prog_name="ctxweb")
def cli() -> None:
    """See what fills an agent's context, and tune when and how it is compacted."""


def main() -> None:
    """Run the command line; an error that the engine raised on purpose is shown as its message, with status 1."""
    try:
        cli(prog_name="ctxweb")
    except EngineError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader (head, less) has gone; point stdout at nothing so that the interpreter's last flush is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
