"""What the quality page shows: the events of a side, the chosen one's losses, what was carried, a text followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.safestring import SafeString

from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.quality.assess import Assessment, assess_replay
from sessions.engine.quality.carry import BlockUse, WorkingSet
from sessions.engine.quality.oracle import Oracle, compact_instructions
from sessions.engine.quality.standing import GONE, OPEN
from sessions.engine.quality.survival import Survival
from sessions.engine.transcript.types import Transcript
from sessions.models import Session
from sessions.pages.quality import state as urlstate
from sessions.pages.quality.chart import Chain, carried_figure, telephone_figure
from sessions.pages.quality.lost import (
    Left,
    Losses,
    Probing,
    build_left,
    build_lost,
    build_probing,
    dollars_of,
    percent,
)
from sessions.pages.ui.addresses import Choice, with_query
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.figures import plural
from sessions.runs import replays
from sessions.runs.overview import tool_names
from sessions.runs.quality import MOST_EVENTS, RECORDED, JudgeView, QualityRun, build_judging, followed, hand_off, judge

HORIZONS = (None, 20, 100)
MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class EventLosses:
    """One event: its rules and needs by state, the skill's score, what it would cost to read again."""

    one: Assessment
    rules: Counter[str]
    n_broken: int
    counts: Counter[str]
    percent: float | None
    again_dollars: float | None
    chosen: bool
    href: str


@dataclass(frozen=True, slots=True)
class ChosenLosses:
    """The chosen event in full."""

    one: Assessment
    diff_href: str
    lost: Losses
    probing: Probing
    oracle: Oracle
    instructions: str
    judging: JudgeView


@dataclass(frozen=True, slots=True)
class QualityView:
    """Everything that ``sessions/quality/_view.html`` shows."""

    headline: str
    alarm: bool
    recorded: bool
    sides: tuple[Choice, ...]
    horizons: tuple[Choice, ...]
    events: tuple[EventLosses, ...]
    n_events: int
    n_judged: int
    has_open: bool
    quiet: str
    error: str
    chosen: ChosenLosses | None
    left: Left | None
    chains: Chains | None
    compare_href: str
    carrying: Carrying
    followed: Survival | None
    warnings: tuple[str, ...]
    tokens_label: str
    prices_source: str


def build_quality(session: Session, state: urlstate.QualityState) -> QualityView:
    """The page of a state; raises FileNotFoundError where the upload is gone."""
    judged = judge(session, state.judging)
    recorded = shows_recorded(judged, state)
    found = judged.recorded if recorded else judged.events
    n_events = len(found) if recorded else len(judged.ran.replay.events)
    here = reverse("sessions:quality", args=[session.pk])
    chosen = chosen_event(found, state)

    def to(**changes: object) -> str:
        return with_query(here, urlstate.query(state, **changes))

    rows = _nearest(found, chosen)
    return QualityView(
        headline=_headline(found),
        alarm=bool(_broken(found)),
        recorded=recorded,
        sides=_sides(judged, to, recorded=recorded),
        horizons=tuple(
            Choice("to the end" if n is None else f"next {n} requests", to(horizon=n), n == state.horizon)
            for n in HORIZONS
        ),
        events=tuple(_row(one, judged, to, chosen=one is chosen) for one in rows),
        n_events=n_events,
        n_judged=min(len(found), MOST_EVENTS) if not recorded else len(found),
        has_open=any(need.state == OPEN for one in rows for need in one.needs),
        quiet=_quiet(judged, recorded=recorded) if not found else "",
        error=judged.ran.error,
        chosen=_detail(session, judged, chosen, state) if chosen else None,
        left=build_left(judged.index, found),
        chains=build_chains(session.pk, judged, found, state, to(compare=not state.compare), recorded=recorded),
        compare_href="" if state.compare or not found else to(compare=True),
        carrying=_carrying(judged, found, recorded=recorded),
        followed=followed(session, judged, state.find, found) if state.find else None,
        warnings=judged.warnings(recorded=recorded),
        tokens_label=str(judged.weighed.total_label),
        prices_source=judged.prices.source if judged.prices else "no price is known for this model",
    )


def shows_recorded(judged: QualityRun, state: urlstate.QualityState) -> bool:
    """Which side: as the address says, else the recording's where only it compacted."""
    if state.of:
        return state.of == "recorded"
    return not judged.ran.replay.events and bool(judged.recorded)


def chosen_event(found: tuple[Assessment, ...], state: urlstate.QualityState) -> Assessment | None:
    """The event of the address, the last there is where it names a later one, else the first; None without any."""
    if not found:
        return None
    wanted = state.replay.event
    if wanted is None:
        return found[0]
    return next((one for one in found if one.number == wanted), found[-1])


def _nearest(found: tuple[Assessment, ...], chosen: Assessment | None) -> tuple[Assessment, ...]:
    at = found.index(chosen) if chosen else 0
    start = min(max(at - MOST_ROWS // 2, 0), max(len(found) - MOST_ROWS, 0))
    return found[start : start + MOST_ROWS]


def _headline(found: tuple[Assessment, ...]) -> str:
    """What was lost, in a sentence: rules, each once; what was used later and is lost, over all compactions."""
    if not found:
        return "Nothing was compacted here, so nothing was lost."
    rules = {kept.text for one in found for kept in one.constraints if kept.state == GONE}
    broken = _broken(found)
    n_lost, n_open = (sum(need.state == state for one in found for need in one.needs) for state in (GONE, OPEN))
    after = plural(len(found), "compaction")
    open_rules = {kept.text for one in found for kept in one.constraints if kept.state == OPEN} - rules
    unknown = f"{plural(len(open_rules), 'rule')} and {plural(n_open, 'thing')} used later"
    unknown = f"Depends on the summary, which has no text: {unknown}" if open_rules or n_open else ""
    if unknown and not rules and not n_lost:
        return f"{unknown}, after {after}."
    said = "No rule was lost" if not rules else plural(len(rules), "rule was", "rules were") + " lost"
    if broken:
        said += f", {len(broken)} broken later"
    used = f"Used later and lost: {plural(n_lost, 'thing')}" if n_lost else "Nothing used later was lost"
    return f"{said}. {used}, after {after}." + (f" {unknown}." if unknown else "")


def _broken(found: tuple[Assessment, ...]) -> set[str]:
    """Rules that were lost, and broken afterwards: harm that is certain."""
    return {k.text for one in found for k in one.constraints if k.broken_at is not None and k.state == GONE}


def _sides(judged: QualityRun, to: Callable[..., str], *, recorded: bool) -> tuple[Choice, ...]:
    n_replayed = len(judged.ran.replay.events)
    return (
        Choice(f"This replay {n_replayed:,}", to(of="replay", event=None), not recorded),
        Choice(f"As recorded {len(judged.recorded):,}", to(of="recorded", event=None), recorded),
    )


def _quiet(judged: QualityRun, *, recorded: bool) -> str:
    if not recorded:
        return replays.why_no_event(judged.ran.replay)
    if judged.weighed.transcript.compactions:
        return "What the recorded compactions dropped is not in this file, so what they lost cannot be known."
    return "This session has no recorded compaction."


def _row(one: Assessment, judged: QualityRun, to: Callable[..., str], *, chosen: bool) -> EventLosses:
    return EventLosses(
        one, Counter(kept.state for kept in one.constraints), len(_broken((one,))),
        Counter(need.state for need in one.needs), percent(one.score.score),
        dollars_of(one.refetch.tokens, judged.prices), chosen, to(event=one.number),
    )  # fmt: skip


def _detail(session: Session, judged: QualityRun, one: Assessment, state: urlstate.QualityState) -> ChosenLosses:
    recorded = one in judged.recorded
    best = hand_off(session, judged, one)
    diff = reverse("sessions:diff", args=[session.pk]) + "?" + urlstate.query(state, of="", event=one.number)
    return ChosenLosses(
        one,
        diff_href="" if recorded else diff,
        lost=build_lost(one, judged.weighed, judged.prices, judged.fetched_again.get(one.number) if recorded else None),
        probing=build_probing(one, state, len(judged.asked.own)),
        oracle=best,
        instructions=compact_instructions(one, best),
        judging=build_judging(session, state.judging, one, recorded=recorded),
    )


def _carrying(judged: QualityRun, found: tuple[Assessment, ...], *, recorded: bool) -> Carrying:
    base = RECORDED if recorded else judged.ran.replay.base
    carried = judged.carried_as_recorded if recorded else judged.carried
    return build_carrying(carried, base, [one.event.request for one in found][:MOST_ROWS], judged)


MOST_BLOCKS = 12
MOST_CHARS = 160


@dataclass(frozen=True, slots=True)
class Carrying:
    """Curve and bill; percentages are of all tokens × requests carried.

    ``rows`` are blocks that were carried after their last use: what each is called, and what that cost.
    """

    figure: SafeString
    rows: tuple[tuple[BlockUse, str, float | None], ...]
    n_idle: int
    token_requests: int
    dollars: float | None
    percent_needed: float | None
    percent_unknown: float | None
    base: str


def build_carrying(found: WorkingSet, base: str, marks: list[int], judged: QualityRun) -> Carrying:
    """The working set of one base; ``marks`` are the requests of the events; priced as cache reads."""
    idle = sorted(
        (block for block in found.blocks if block.idle_token_requests), key=lambda block: -block.idle_token_requests
    )
    carried = sum(found.carried)
    transcript = judged.weighed.transcript
    tools = tool_names(transcript.messages) if idle else {}
    price = judged.prices.cache_read / PER_MILLION if judged.prices else None
    n_token_requests = sum(block.idle_token_requests for block in idle)

    def dollars(token_requests: int) -> float | None:
        return None if price is None else price * token_requests

    return Carrying(
        figure=figure_json(carried_figure(found, marks)),
        rows=tuple(
            (block, _what(transcript, block, tools), dollars(block.idle_token_requests)) for block in idle[:MOST_BLOCKS]
        ),
        n_idle=len(idle),
        token_requests=n_token_requests,
        dollars=dollars(n_token_requests),
        percent_needed=100 * sum(found.needed) / carried if carried else None,
        percent_unknown=100 * sum(found.unknown) / carried if carried else None,
        base=base,
    )


def _what(transcript: Transcript, block: BlockUse, tools: dict[str, str]) -> str:
    """What a block is called: its tool and target, else how its message begins."""
    message = transcript.messages[block.message]
    known = tools.get(message.blocks[block.block].call_id or "", "")
    return (known or message.preview)[:MOST_CHARS]


COMPARED = ("anchored_iterative", "regenerative_full")
SUMMARIZER = "extractive"
CHAIN_EVENTS, FEWEST = 40, 3


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
    state: urlstate.QualityState,
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
                ran.replay, judged.index, horizon=judged.horizon, asked=judged.asked, most=CHAIN_EVENTS
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
