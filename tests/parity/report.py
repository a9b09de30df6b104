"""docs/benchmarks/parity.md, written by the one command."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.base import registry

if TYPE_CHECKING:
    from tests.parity.__main__ import Outcome
    from tests.parity.cases import Original

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "parity.md"
HEAD = """# Policies against the originals' own code

Written by `make parity`: do not edit. Each policy below replays a session's requests one by one; the original's own
code, installed into an environment of its own, is given the same messages at the same requests. Compared is every list
as sent: which messages, in which order, with how much text, thinking, arguments and results each. Lists are random from
a fixed seed (up to 14 replies with up to three parallel calls, answered in any order) and, where they are at hand, the
beginnings of the shared transcript samples. Texts are of the same lengths on both sides. Every case draws its own
parameters and window. The notes say which lists are richer, and what is switched off for a comparison.

Where an original counts with a tokenizer or asks a provider, it is given our count; its own counters by characters
(LangChain's, pi's, Gemini CLI's) run as they are. A fake model writes summaries of a fixed length; what the provider
reports as usage is what our replay says it would. Two rules of the replay are off here, as they are not the
originals': an edit that frees nothing is not made, and three events in a row that leave the gate on stop a policy.
Where an original may split tool pairs, it is compared with `orphans=keep`. "Given up" counts lists at which both fail
at the same request: the original with an error, ours with a failed attempt.

"""


def write(outcomes: list[Outcome], missing: list[tuple[Original, str]], page: Path = PAGE) -> None:
    """Write the page."""
    rows = [
        "| policy | original | version | lists | from samples | requests | events | given up | differences |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in outcomes:
        package = f"{one.original.environment.version_of} | {one.version}"
        rows.append(
            f"| {title(one.original)} | {package} | {one.n_random + one.n_samples:,} | {one.n_samples:,} "
            f"| {one.n_requests:,} | {one.n_events:,} | {one.n_failed:,} | {one.n_different:,} |"
        )
    notes = [f"* {title(one.original)}: {lists_of(one.original)} {one.original.note}".rstrip() for one in outcomes]
    notes += [f"* {title(original)}: not compared in this run, {reason}." for original, reason in missing]
    proven = {one.original.policy for one in outcomes}
    policies = registry.plugins("policies")
    rest = sorted(name for name in policies if policies[name].tier == "differential" and name not in proven)
    if rest:
        names = ", ".join(f"`{name}`" for name in rest)
        notes.append(f"* Held to golden values alone, their originals not being at hand: {names}.")
    seconds = sum(one.seconds for one in outcomes)
    foot = f"\nPython {platform.python_version()}, {seconds / 60:.0f} minutes in all, both sides on one core each.\n"
    page.write_text(HEAD + "\n".join(rows) + "\n\n" + "\n".join(notes) + "\n" + foot, encoding="utf-8")


def lists_of(original: Original) -> str:
    """What the lists of an original hold, and what is switched off for it."""
    shape = original.shape
    parts = {
        "parallel calls": shape.parallel > 1,
        "arguments": shape.args,
        "thinking": shape.thinking,
        "pictures": bool(shape.images),
        "letters outside ASCII": bool(shape.letters),
        "prompts without text": bool(shape.empty),
        "prompts in a row": bool(shape.repeated),
        "system messages": shape.system,
    }
    held, off = ([name for name, is_on in parts.items() if is_on is wanted] for wanted in (True, False))
    return f"lists with {', '.join(held) or 'plain texts'}; off: {', '.join(off) or 'nothing'}."


def title(original: Original) -> str:
    """The policy's name and what of it is compared."""
    return f"`{original.policy}`" + (f" ({original.label})" if original.label else "")
