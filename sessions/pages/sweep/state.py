"""The address of a sweep: what is replayed, over which values, with which floors, and what is looked at.

Reading is strict, as that of a replay: what makes no sense becomes an error next to its field, and the page is shown
without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.http import QueryDict

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.policies.params import specs
from sessions.engine.reports.configuration import configurable
from sessions.engine.sweeps.floors import read_floors
from sessions.engine.sweeps.sweep import Over, read_over
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Session
from sessions.pages.ui.addresses import whole
from sessions.runs import replay_state
from sessions.runs.ranges import usual_over
from sessions.runs.replay_state import ReplayState
from sessions.services.sweeping import Options

MAX_AXES, MAX_POLICIES, MAX_SESSIONS = 2, 60, 50
FLOORS = {
    "max_compactions": "compactions", "max_peak": "tokens", "max_cost": "dollars", "max_rules_gone": "rules",
    "max_needs_gone": "uses",
}  # fmt: skip
LOSSES = ("rules_gone", "needs_gone", "read_again_tokens")
MEASURES = ("cost", "compactions", "peak")
AGAINST = ("compactions", "peak", "needs_gone", "rules_gone", "forgotten")
SLOTS = ("x", "y")
LOSSES_AT_ONCE = 1_400
"""Messages of a session whose losses are counted unless the reader says otherwise: what a page may wait for."""


@dataclass(frozen=True, slots=True)
class SweepState:
    """``replay`` is what all settings have in common; ``policies`` are compared where there are several.

    ``floors`` are limits by name; ``measure`` colours the heat map, ``against`` is the second axis; ``pick`` is the row
    selected, None the recommended one, ``b`` the row beside it, None what the session started from; ``usual_losses``
    whether losses are counted unless the address says otherwise; ``sort`` a column, with "-" in front for the largest
    first; ``sessions`` are those of a sweep over several.
    """

    replay: ReplayState = field(default_factory=ReplayState)
    policies: tuple[str, ...] = ()
    overs: tuple[Over, ...] = ()
    losses: bool = False
    usual_losses: bool = False
    floors: tuple[tuple[str, float], ...] = ()
    measure: str = "cost"
    against: str = "compactions"
    sort: str = ""
    pick: int | None = None
    b: int | None = None
    agent: str = ""
    sessions: tuple[str, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def several(self) -> bool:
        return len(self.policies) > 1


def parse(query: QueryDict, own: Weighed | None = None) -> SweepState:
    """The state that a query string asks for, with what is wrong in it under ``errors`` by field name."""
    errors: dict[str, str] = {}
    known = registry.plugins("policies")
    named = list(dict.fromkeys(name for name in query.getlist("policy") if name in known))[:MAX_POLICIES]
    plain = {key: str(query.get(key, "")) for key in query} | ({"policy": named[0]} if named else {})
    replay = replay_state.only_replayed(replay_state.parse(plain, own))
    if own is None:  # several sessions: each starts from its own client, which a default of the form is not to undo
        defaults = {spec.name: replay_state.written(spec.default) for spec in specs(replay.plugin.params)}
        replay = replace(replay, params=tuple((n, value) for n, value in replay.params if value != defaults[n]))
    errors |= replay.errors
    policies = tuple(named) or (replay.policy,)
    if len(policies) > 1:
        replay = replace(replay, policy=policies[0], params=())
    usual = own is not None and len(own.transcript.messages) <= LOSSES_AT_ONCE
    losses = {"on": True, "off": False}.get(query.get("losses", ""), usual)
    columns = AGAINST if losses else AGAINST[:2]
    against = query.get("against", "")
    measure = query.get("measure", "")
    return SweepState(
        replay=replay,
        policies=policies,
        overs=() if query.get("was", policies[0]) != policies[0] else _overs(query, errors),
        losses=losses,
        usual_losses=usual,
        floors=_floors(query, errors, losses=losses),
        measure=measure if measure in MEASURES else "cost",
        against=against if against in columns else usual_against(losses=losses),
        sort=query.get("sort", "")[:60],
        pick=whole(query.get("pick"), 5),
        b=whole(query.get("b"), 5),
        agent=query.get("agent", "") if query.get("agent", "") in configurable() else "",
        sessions=tuple(dict.fromkeys(query.getlist("s")))[:MAX_SESSIONS],
        errors=errors,
    )


def query(state: SweepState, **changes: object) -> str:
    """The shortest query string of the state with ``changes``, without "?"."""
    wanted = replace(state, **changes)  # type: ignore[arg-type]  # names are checked by replace
    pairs = [("s", one) for one in wanted.sessions]
    pairs += [("policy", name) for name in wanted.policies]
    shared = replay_state.query(wanted.replay)
    pairs += [(key, value) for key, value in parse_qsl(shared) if key != "policy"]
    pairs += [("over", written_over(over)) for over in wanted.overs]
    pairs += [("losses", "on" if wanted.losses else "off")] if wanted.losses != wanted.usual_losses else []
    pairs += [(name, f"{limit:.10g}") for name, limit in wanted.floors]
    usual = {"measure": "cost", "against": usual_against(losses=wanted.losses), "sort": "", "agent": ""}
    pairs += [(name, getattr(wanted, name)) for name, value in usual.items() if getattr(wanted, name) != value]
    pairs += [(name, str(at)) for name, at in (("pick", wanted.pick), ("b", wanted.b)) if at is not None]
    return urlencode(pairs, safe=":,=")


def usual_against(*, losses: bool) -> str:
    """The front's second axis unless another is asked for: uses that were lost, where they are counted."""
    return "needs_gone" if losses else "compactions"


def arguments(state: SweepState) -> list[str]:
    """The same as options of ``ctxweb sweep``."""
    options = [part for name in state.policies for part in ("--policy", name)]
    shared = replay_state.arguments(state.replay)
    options += shared[2:]
    for over in state.overs:
        options += ["--over", written_over(over)]
    for name, limit in state.floors:
        options += ["--recommend", f"{name}={limit:.10g}"]
    return [*options, *([] if state.losses else ["--no-losses"]), "--regret"]


def written_over(over: Over) -> str:
    """``key=a:b:n``."""
    return f"{over.key}={over.low:.10g}:{over.high:.10g}:{over.n}"


def _overs(query: QueryDict, errors: dict[str, str]) -> tuple[Over, ...]:
    """From ``over`` (as the command line writes it), else from the form's fields of its two slots."""
    texts = [text for text in query.getlist("over") if text]
    for slot in SLOTS:
        key = query.get(slot, "")
        if key:
            parts = [query.get(f"{slot}_{end}", "").replace(",", "").rstrip(" %") for end in ("from", "to", "n")]
            texts.append(f"{key}={':'.join(part.strip() for part in parts)}")
    found: list[Over] = []
    for text in texts[:MAX_AXES]:
        try:
            over = read_over(text)
        except BadParameter:
            errors["over"] = f"A range needs a start, an end and a number of steps, not {text[:60]!r}."
            continue
        if over.key in {o.key for o in found}:
            errors["over"] = f"{over.key} is swept once, not twice."
            continue
        found.append(over)
    return tuple(found)


def _floors(query: QueryDict, errors: dict[str, str], *, losses: bool) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for name in FLOORS:
        text = query.get(name, "").replace(",", "").strip().lstrip("$")
        if not text:
            continue
        if name.removeprefix("max_") in LOSSES and not losses:
            errors[name] = "Count what is lost, to set a limit on it."
            continue
        try:
            value = read_floors({name: text})[name]
        except BadParameter:
            errors[name] = f"A limit is a number, not {text[:40]!r}."
            continue
        if not 0 <= value < float("inf"):
            errors[name] = f"A limit is 0 or more, not {text[:40]!r}."
            continue
        found.append((name, value))
    return tuple(found)


def completed(state: SweepState, weighed: Weighed) -> SweepState:
    """The state with a range to sweep where it names none: along the policy's threshold, else along the window."""
    if state.overs or state.several:
        return state
    return replace(state, overs=(usual_over(state.replay, weighed),))


def of_several(sessions: Sequence[Session]) -> dict[str, Any]:
    """What an address of several sessions has otherwise than that of one: whose they are, and nothing chosen in it."""
    return {"sessions": tuple(one.pk for one in sessions), "pick": None, "b": None, "usual_losses": False}


def options_of(state: SweepState, sessions: Sequence[Session]) -> Options:
    """What is computed, as a run keeps it."""
    return {
        "sessions": [session.pk for session in sessions],
        "policies": list(state.policies),
        "overs": [[over.key, over.low, over.high, over.n] for over in state.overs],
        "params": dict(state.replay.params),
        "window": state.replay.window,
        "base": state.replay.base,
        "estimator": state.replay.estimator or None,
        "summarizer": state.replay.summarizer,
        "fail": state.replay.fail,
        "losses": state.losses,
    }
