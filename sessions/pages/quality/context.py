"""What the quality page shows: the events of a side, the chosen one's losses, what was carried, a text followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from django.urls import reverse

from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.quality.assess import Assessment, assess_replay
from sessions.engine.quality.carry import BlockUse
from sessions.engine.quality.oracle import compact_instructions
from sessions.engine.quality.standing import GONE, OPEN
from sessions.engine.transcript.types import Transcript
from sessions.models import Session
from sessions.pages.quality import state as urlstate
from sessions.pages.quality.chart import Chain, carried_figure, telephone_figure
from sessions.pages.quality.lost import Losses, Probing, build_left, dollars_of, percent
from sessions.pages.ui.addresses import Choice, with_query
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.figures import plural
from sessions.runs import replays
from sessions.runs.overview import tool_names
from sessions.runs.quality import MOST_EVENTS, RECORDED, JudgeView, QualityRun, followed, hand_off, judge

HORIZONS = (None, 20, 100)
MOST_ROWS = 60


class EventLosses:
    """One event: its rules and needs by state, the skill's score, what it would cost to read again."""

    def __init__(self, one: Assessment, judged: QualityRun, href: str, *, chosen: bool) -> None:
        self.one, self.href, self.chosen = one, href, chosen
        stood = [rule for rule in one.constraints if not rule.lost_before]
        self.n_rules, self.rules = len(stood), Counter(rule.state for rule in stood)
        self.counts = Counter(need.state for need in one.needs)
        self.n_broken, self.percent = len(_broken((one,))), percent(one.score.score)
        self.again_dollars = dollars_of(one.refetch.tokens, judged.prices)


class ChosenLosses:
    """The chosen event in full."""

    def __init__(self, session: Session, judged: QualityRun, one: Assessment, state: urlstate.QualityState) -> None:
        recorded = one in judged.recorded
        self.one, self.oracle = one, hand_off(session, judged, one)
        diff = reverse("sessions:diff", args=[session.pk]) + "?" + urlstate.query(state, of="", event=one.number)
        self.diff_href = "" if recorded else diff
        again = judged.fetched_again.get(one.number) if recorded else None
        self.lost = Losses(one, judged.weighed, judged.prices, again)
        self.probing = Probing(one, state, len(judged.asked.own))
        self.instructions = compact_instructions(one, self.oracle)
        self.judging = JudgeView(session, state.judging, one, recorded=recorded)


class QualityView:
    """Everything that ``sessions/quality/_view.html`` shows; raises FileNotFoundError where the upload is gone."""

    def __init__(self, session: Session, state: urlstate.QualityState) -> None:
        judged = judge(session, state.judging)
        self.recorded = recorded = shows_recorded(judged, state)
        found = judged.recorded if recorded else judged.events
        here = reverse("sessions:quality", args=[session.pk])
        chosen = chosen_event(found, state)

        def to(**changes: object) -> str:
            return with_query(here, urlstate.query(state, **changes))

        rows = _nearest(found, chosen)
        self.headline, self.alarm = _headline(found), bool(_broken(found))
        self.sides = _sides(judged, to, recorded=recorded)
        self.horizons = [
            Choice("to the end" if n is None else f"next {n} requests", to(horizon=n), n == state.horizon)
            for n in HORIZONS
        ]
        self.events = [EventLosses(one, judged, to(event=one.number), chosen=one is chosen) for one in rows]
        self.n_events = len(found) if recorded else len(judged.ran.replay.events)
        self.n_judged = min(len(found), MOST_EVENTS) if not recorded else len(found)
        self.has_open = any(need.state == OPEN for one in rows for need in one.needs)
        self.quiet = _quiet(judged, recorded=recorded) if not found else ""
        self.error = judged.ran.error
        self.chosen = ChosenLosses(session, judged, chosen, state) if chosen else None
        self.left = build_left(judged.index, found)
        chains = _chains(session.pk, judged, found, state, recorded=recorded)
        self.chains = None if chains is None else Chains(chains, to(compare=not state.compare), compared=state.compare)
        self.compare_href = "" if state.compare or not found else to(compare=True)
        self.carrying = Carrying(judged, [one.event.request for one in found][:MOST_ROWS], recorded=recorded)
        self.followed = followed(session, judged, state.find, found) if state.find else None
        self.warnings = judged.warnings(recorded=recorded)
        self.tokens_label = str(judged.weighed.total_label)
        self.prices_source = judged.prices.source if judged.prices else "no price is known for this model"


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
    rules = {kept.text for one in found for kept in one.constraints if kept.is_lost}
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


MOST_BLOCKS = 12
MOST_CHARS = 160


class Carrying:
    """Curve and bill of one side; percentages are of all tokens × requests carried, priced as cache reads.

    ``marks`` are the requests of the events; ``rows`` are blocks that were carried after their last use: what each is
    called, and what that cost.
    """

    def __init__(self, judged: QualityRun, marks: list[int], *, recorded: bool) -> None:
        found = judged.carried_as_recorded if recorded else judged.carried
        idle = sorted(
            (block for block in found.blocks if block.idle_token_requests), key=lambda block: -block.idle_token_requests
        )
        carried = sum(found.carried)
        transcript = judged.weighed.transcript
        tools = tool_names(transcript.messages) if idle else {}
        price = judged.prices.cache_read / PER_MILLION if judged.prices else None

        def dollars(token_requests: int) -> float | None:
            return None if price is None else price * token_requests

        self.base = RECORDED if recorded else judged.ran.replay.base
        self.figure = figure_json(carried_figure(found, marks))
        self.rows = [
            (block, _what(transcript, block, tools), dollars(block.idle_token_requests)) for block in idle[:MOST_BLOCKS]
        ]
        self.n_idle, self.token_requests = len(idle), sum(block.idle_token_requests for block in idle)
        self.dollars = dollars(self.token_requests)
        self.percent_needed = 100 * sum(found.needed) / carried if carried else None
        self.percent_unknown = 100 * sum(found.unknown) / carried if carried else None


def _what(transcript: Transcript, block: BlockUse, tools: dict[str, str]) -> str:
    """What a block is called: its tool and target, else how its message begins."""
    message = transcript.messages[block.message]
    known = tools.get(message.blocks[block.block].call_id or "", "")
    return (known or message.preview)[:MOST_CHARS]


COMPARED = ("anchored_iterative", "regenerative_full")
SUMMARIZER = "extractive"
CHAIN_EVENTS, FEWEST = 40, 3


class Chains:
    """The chart and its courses in words; ``names`` go with the chart's line styles, in order.

    ``href`` draws the others too, or leaves them out where ``compared``.
    """

    def __init__(self, chains: Sequence[Chain], href: str, *, compared: bool) -> None:
        self.figure = figure_json(telephone_figure(chains))
        self.names, self.says = [chain.name for chain in chains], [_says(chain) for chain in chains]
        self.href, self.compared = href, compared


def _chains(
    session_id: str, judged: QualityRun, found: tuple[Assessment, ...], state: urlstate.QualityState, *, recorded: bool
) -> list[Chain] | None:
    """The courses of a side; None where it has fewer than three events and nothing else is asked for."""
    own = Chain("as recorded" if recorded else judged.ran.replay.policy.name, _percents(found))
    chains = [own] if own.percents else []
    for policy in COMPARED if state.compare else ():
        wanted = replace(state.replay, policy=policy, params=(), summarizer=SUMMARIZER)
        made = replays.run(session_id, wanted).replay
        assessed = assess_replay(made, judged.index, horizon=judged.horizon, asked=judged.asked, most=CHAIN_EVENTS)
        chains.append(Chain(f"{policy}, {SUMMARIZER}", _percents(assessed)))
    return chains if state.compare or len(own.percents) >= FEWEST else None


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
