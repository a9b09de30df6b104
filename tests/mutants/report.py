"""What mutation testing found, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.mutants.mutations import Mutant

HEAD = """# Mutation testing

Made by `make mutants` (`python -m tests.mutants`): policies, estimators and edits are changed in one place, and
the tests that run the changed line have to fail. Changes: an operator of a comparison, ± 1 on a whole number, ± 0.01
on a fraction, and/or, not, min/max, any/all, +/−, ×/÷. Bounds of a form's field, annotations and words for people are
left out, and two flags that no list shows: how a figure is known (`approximate`), and `strict` of zip. A line that
runs while modules are loaded is asked of every test of its module. The sample is a share of every module's places,
three times as many of the founding systems', the same for a seed.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one mutant: killed or not, by how many tests it was looked at; why it is equivalent, if so."""

    mutant: Mutant
    killed: bool
    n_tests: int
    equivalent: str


def report(results: Sequence[Result], *, n_all: int, n_chosen: int, share: float, seed: int) -> str:
    """The page: the share killed, by module, what survived, what is equivalent."""
    counted = [r for r in results if r.killed or not r.equivalent]
    n_killed = sum(r.killed for r in counted)
    score = f"{100 * n_killed / len(counted):.1f}%" if counted else "none"
    lines = [
        HEAD,
        f"{len(results):,} of {n_all:,} places were changed ({100 * share:.0f}% of a module, thrice that of founding"
        f" ones, seed {seed})"
        + (f", {n_chosen - len(results):,} more were not for lack of time." if n_chosen > len(results) else "."),
        f"**Killed: {n_killed:,} of {len(counted):,} ({score})**, {len(results) - len(counted)} equivalent.",
        "",
        "## By module",
        "",
        "| module | changed | killed | survived | equivalent |",
        "|---|---|---|---|---|",
    ]
    for path in sorted({r.mutant.path for r in results}):
        those = [r for r in results if r.mutant.path == path]
        killed, same = sum(r.killed for r in those), sum(bool(r.equivalent) and not r.killed for r in those)
        name = path.removeprefix("sessions/engine/")
        lines.append(f"| {name} | {len(those)} | {killed} | {len(those) - killed - same} | {same} |")
    alive = [r for r in results if not r.killed]
    lines += ["", "## Survivors", ""]
    lines += [f"* `{r.mutant.key}` (line {r.mutant.line}, {r.n_tests} tests)" for r in alive if not r.equivalent] or [
        "None."
    ]
    lines += ["", "## Equivalent", ""]
    lines += [f"* `{r.mutant.key}`: {r.equivalent}" for r in alive if r.equivalent] or ["None in this sample."]
    return "\n".join(lines) + "\n"
