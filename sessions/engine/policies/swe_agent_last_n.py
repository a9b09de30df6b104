"""SWE-agent LastNObservations: all but the newest observations are elided, in batches on demand (policies 11.6).

An observation is a message with tool results, number 0 the first user message; in a session without tool results every
user message is one (actions as text).  Demonstrations are not in a replay's list; the tags ``keep_output`` and
``remove_output``, which override the rule, are not recorded.  How many lines were omitted is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from sessions.engine.policies._lists import USER, role_of
from sessions.engine.policies.edits import clear_results, marker
from sessions.engine.policies.params import when
from sessions.engine.policies.policy import Gate, Item, Layer, Policy, View

ELIDED = "Old environment output: (k lines omitted)"


@dataclass(frozen=True, slots=True)
class Params:
    """How many stay, and in what steps."""

    n: int = when(
        5, "Keep observations", "Newest ones left whole; 5 in SWE-agent's own configurations", "observations", 1, 10_000
    )
    polling: int = when(
        1, "In batches of", "Elides when so many more are due: the cache breaks less often", "observations", 1, 10_000
    )


def elided(n_observations: int, n: int, polling: int) -> int:
    """How many of the oldest observations are elided, the task not counted."""
    last = max(0, n_observations // polling * polling - n)
    return max(0, last - 1)


def due(params: Params, view: View) -> list[int]:
    """Positions to elide now, newest first: elided ones are all older."""
    # The observations without the task.
    found = view.results or [position for position, item in enumerate(view.items) if role_of(item) == USER][1:]
    n_old = min(len(found), elided(1 + len(found), params.n, params.polling))
    old = (found[place] for place in reversed(range(n_old)))
    return list(takewhile(lambda position: not view.items[position].edited, old))


def gate(params: Params, view: View) -> Gate:
    """Observations are due."""
    return Gate.over(len(due(params, view)), 0, "observations older than those kept", "observations")


def edit(params: Params, view: View) -> dict[int, Item]:
    """One line each."""
    return {position: _elide(view, view.items[position]) for position in due(params, view)}


def _elide(view: View, item: Item) -> Item:
    calls = item.message.result_ids()
    return clear_results(view, item, calls, ELIDED) if calls else view.tools.rewrite(item, [marker(ELIDED)])


POLICY = Policy(
    name="swe_agent_last_n", label="SWE-agent last N observations",
    source="SWE-agent/SWE-agent history_processors.py LastNObservations",
    help="Elides all but the newest observations.",
    params=Params, layers=(Layer("swe_agent_last_n", "Elide observations", gate, edit, cheap=True),),
    summary_calls=False, threshold_param="n", tier="golden",
)  # fmt: skip
