"""The telephone game: what the first event's probes still find after each later one, for one policy or for three."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from sessions.engine.quality.assess import Assessment, assess_replay
from sessions.pages.quality.chart import Chain, telephone_figure
from sessions.pages.ui.chart import figure_json
from sessions.runs import replays

if TYPE_CHECKING:
    from sessions.pages.quality.state import QualityState
    from sessions.runs.quality import QualityRun

COMPARED = ("anchored_iterative", "regenerative_full")
SUMMARIZER = "extractive"
MOST_EVENTS = 40
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Chains:
    """The chart and its courses in words; ``names`` go with the chart's line styles, in order.

    ``href`` draws the others too, or leaves them out where ``compared``.
    """

    figure: SafeString
    names: tuple[str, ...]
    says: tuple[str, ...]
    compared: bool
    href: str


def build_chains(
    session_id: str,
    judged: QualityRun,
    found: tuple[Assessment, ...],
    state: QualityState,
    href: str,
    *,
    recorded: bool,
) -> Chains | None:
    """The courses of a side; None where it has fewer than three events and nothing else is asked for."""
    own = Chain("as recorded" if recorded else judged.ran.replay.policy.name, _percents(found))
    chains = [own] if own.percents else []
    if state.compare:
        for policy in COMPARED:
            wanted = replace(state.replay, policy=policy, params=(), summarizer=SUMMARIZER)
            ran = replays.run(session_id, wanted)
            events = assess_replay(
                ran.replay, judged.index, horizon=judged.horizon, asked=judged.asked, most=MOST_EVENTS
            )
            chains.append(Chain(f"{policy}, {SUMMARIZER}", _percents(events)))
    if not state.compare and len(own.percents) < FEWEST:
        return None
    return Chains(
        figure=figure_json(telephone_figure(chains)),
        names=tuple(chain.name for chain in chains),
        says=tuple(_says(chain) for chain in chains),
        compared=state.compare,
        href=href,
    )


def _percents(found: Iterable[Assessment]) -> list[float]:
    return [100 * one.telephone.score for one in found if one.telephone.score is not None]


def _says(chain: Chain) -> str:
    """One course in words: "anchored_iterative: 80% after the first compaction, 60% after the last of 4"."""
    if not chain.percents:
        return f"{chain.name}: no compaction"
    first, last = f"{chain.percents[0]:.0f}%", f"{chain.percents[-1]:.0f}%"
    if len(chain.percents) == 1:
        return f"{chain.name}: {first} after its only compaction"
    return f"{chain.name}: {first} after the first compaction, {last} after the last of {len(chain.percents)}"
