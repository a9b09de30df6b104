"""``ctxweb generations``: what is left of rules, paths and identifiers after each of several compactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import emit, settings, wrong_usage
from ctxweb.commands._options import AS_JSON, POLICY_HELP, SETTINGS, WINDOW, takes
from ctxweb.commands._replaying import SESSION_OPTIONS, opened
from ctxweb.terminal import Head, figure, show_table, terminal, titled
from sessions.engine.base.words import counted
from sessions.engine.quality.doses import chance_words
from sessions.engine.quality.generations import Generations, generations, generations_document
from sessions.engine.quality.index import build_index
from sessions.engine.quality.recorded import recorded_events
from sessions.engine.replays.replay import replay

LISTED = 20
"""Values that the terminal lists; JSON has all."""
MARKS = {"verbatim": "verbatim", "mentioned": "mentioned", "open": "depends on the summary", "gone": "lost"}


@click.command("generations", cls=EachFile)
@takes(
    click.option("--policy", help=f"{POLICY_HELP} Default: the compactions that were recorded."),
    *SESSION_OPTIONS, WINDOW, SETTINGS, AS_JSON,
)  # fmt: skip
def command(file: Path, policy: str | None, as_json: bool, **options: Any) -> None:
    """Follow rules, paths and identifiers of FILE through every compaction, recorded or of a policy."""
    weighed, texts = opened(file, options)
    with texts:
        index = build_index(weighed.transcript, texts.of)
        if policy is None:
            found = generations(weighed, index, recorded_events(weighed), {})
        else:
            with wrong_usage():
                made = replay(weighed, policy, params=settings(options["pairs"]), window=options["window"], texts=texts)
            found = generations(weighed, index, list(enumerate(made.events)), made.wording(index.sketch_of))
    if as_json:
        emit(generations_document(found, weighed.transcript.id, policy or ""))
    else:
        _print(found, weighed.transcript.id, policy or "as recorded")


def _print(found: Generations, session: str, policy: str) -> None:
    console = terminal()
    n = len(found.events)
    console.print(titled(policy, f" on {session}: {counted(n, 'compaction')}, {counted(len(found.values), 'value')}."))
    if not n:
        return
    heads = (
        *map(figure, ("compaction", "request", "summary")),
        *(figure(word) for word in MARKS.values()),
        figure("left"),
    )
    show_table(console, heads, [
        (str(k), f"{one.request:,}", f"{one.summary_tokens:,}", *(f"{one.counts[state]:,}" for state in MARKS),
         f"{one.share:.0%}")
        for k, one in enumerate(found.events, 1)
    ])  # fmt: skip
    console.print(f"Half of it is left {_half(found.half_life, n)}.")
    heads = (
        Head("kind"),
        *map(figure, ("values", "left at the end")),
        Head("half is left"),
        Head("elsewhere a lost one is used again"),
    )
    show_table(console, heads, [
        (one.kind, f"{one.n:,}", f"{one.shares[-1]:.0%}", _half(one.half_life, n), chance_words(one.kind) or "–")
        for one in found.kinds
    ])  # fmt: skip
    gone = [one for one in found.values if one.lost_at is not None and one.used_at is not None]
    if gone:
        console.print(titled("Lost and used later", f" ({min(len(gone), LISTED):,} of {len(gone):,})"))
        heads = (Head("kind"), Head("value"), figure("lost at compaction"), figure("used at message"))
        rows = [(one.kind, one.text, f"{(one.lost_at or 0) + 1:,}", f"{one.used_at:,}") for one in gone[:LISTED]]
        show_table(console, heads, rows)


def _half(half: float | None, n: int) -> str:
    return f"above {counted(n, 'compaction')}" if half is None else f"after {half:.1f} compactions"
