"""Summaries by a model on the command line: what they would take is said and confirmed before any call is made."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ctxweb.terminal import progress, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.engine.replays.replay import Replay
    from sessions.engine.replays.summaries import Writer
    from sessions.services.model_summaries import Wanted


def with_summaries(run: Callable[[Writer | None], Replay], *, yes: bool, prompt: Path | None) -> Replay:
    """The replay with its summaries, those written before from the database; the rest after a confirmation."""
    from ctxweb.startup import start_django

    start_django()
    from django.conf import settings

    from sessions.services.model_access import environment_access
    from sessions.services.model_summaries import SummaryWriter

    model, instructions = settings.ANTHROPIC_MODEL, prompt.read_text(encoding="utf-8") if prompt else ""
    looking = SummaryWriter(model, instructions=instructions)
    made = run(looking)
    if not looking.wanted:
        return made
    access = environment_access()
    if access is None:
        raise click.ClickException(
            f"{_n_summaries(looking.wanted)} not written yet, and there is no key to have them written: set "
            "ANTHROPIC_API_KEY, or take --summarizer extractive, which needs no model"
        )
    _confirm(model, tuple(looking.wanted), yes=yes)
    writing = SummaryWriter(model, instructions=instructions, access=access, on_progress=_progress)
    try:
        return run(writing)
    finally:
        if writing.n_written:
            say(f"{writing.n_written} written and kept; they will not be asked for again")


def _confirm(model: str, wanted: tuple[Wanted, ...], *, yes: bool) -> None:
    """Say what it takes; go on after a yes.  Where nobody can be asked, ``--yes`` has to be given."""
    from sessions.services.model_summaries import estimate

    say(f"{_n_summaries(wanted)} not written yet: {estimate(model, wanted).words} (estimated).")
    say("The text of the messages that are dropped goes to the provider.")
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("give --yes to make these calls where nobody can be asked")
    click.confirm("Make these calls?", abort=True, err=True)


def _n_summaries(wanted: list[Wanted] | tuple[Wanted, ...]) -> str:
    return "1 summary is" if len(wanted) == 1 else f"{len(wanted)} summaries are"


def _progress(n_written: int, n_chars: int) -> None:
    """One line that is written over on a terminal; elsewhere one line per summary."""
    if sys.stderr.isatty():
        end = "\n" if not n_chars else ""
        progress(f"summary {n_written + bool(n_chars)}: {n_chars:,} characters", end=end)
    elif not n_chars:
        say(f"summary {n_written} written")
