"""The address of a quality page: the replay's state, and which side, horizon, text and probes are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from django.http import QueryDict

from sessions.engine.base.errors import BadParameter
from sessions.engine.quality.probes import AS_GENERATED, MOST_CHARS, MOST_OWN, critical_kinds
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.runs import replay_state
from sessions.runs.quality import QualityAsked

SIDES = ("", "replay", "recorded")
MOST_HORIZON = 1_000_000
MOST_FIND = 300


@dataclass(frozen=True, slots=True)
class QualityState:
    """What is judged and looked at.

    ``of`` is the side shown: the replay's events or the recording's own compactions ("" decides by itself);
    ``horizon`` is in requests after each event, None for all; ``find`` a text that is followed; ``ask`` are a reader's
    own probes, a line each; ``critical`` the kinds whose failure is never accepted, None for the skill's;
    ``compare`` draws how two ways of summarising pass on what the first event asked.
    """

    replay: replay_state.ReplayState
    of: str = ""
    horizon: int | None = None
    find: str = ""
    ask: tuple[str, ...] = ()
    critical: frozenset[str] | None = None
    compare: bool = False
    errors: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def kinds(self) -> frozenset[str]:
        return AS_GENERATED.critical if self.critical is None else self.critical

    @property
    def judging(self) -> QualityAsked:
        return QualityAsked(self.replay, self.horizon, self.ask, self.kinds)


def parse(query: QueryDict, own: Weighed | None = None) -> QualityState:
    """The state that a query string asks for; what is wrong is under ``errors`` by field, the replay's included."""
    plain = query.dict()
    found = replay_state.parse({key: str(value) for key, value in plain.items()}, own)
    errors = dict(found.errors)
    of = query.get("of", "")
    if of not in SIDES:
        errors["of"] = f"What is shown is the replay or what was recorded, not {of[:40]!r}."
        of = ""
    return QualityState(
        replay=found,
        of=of,
        horizon=_horizon(query.get("horizon", ""), errors),
        find=_find(query.get("find", ""), errors),
        ask=_ask(query, errors),
        critical=_critical(query, errors),
        compare=query.get("compare") == "on",
        errors=errors,
    )


def query(state: QualityState, **changes: object) -> str:
    """The shortest query string of the state with ``changes``, without "?"; ``event`` is the replay's."""
    if "event" in changes:
        changes["replay"] = replace(state.replay, event=changes.pop("event"))  # type: ignore[arg-type]
    wanted = replace(state, **changes)  # type: ignore[arg-type]
    pairs = [(name, str(value)) for name in ("of", "horizon", "find") if (value := getattr(wanted, name))]
    pairs += [("ask", line) for line in wanted.ask]
    if wanted.critical is not None:
        pairs.append(("critical", ",".join(sorted(wanted.critical)) or "none"))
    if wanted.compare:
        pairs.append(("compare", "on"))
    return "&".join(part for part in (replay_state.query(wanted.replay), urlencode(pairs, safe=":,")) if part)


def arguments(state: QualityState) -> list[str]:
    """The same as options of the command line; the side that is shown is no option, the document has both."""
    options = replay_state.arguments(state.replay)
    if state.replay.event is not None and state.of != "recorded":
        options += ["--compaction", str(state.replay.event + 1)]
    if state.horizon is not None:
        options += ["--horizon", str(state.horizon)]
    if state.find:
        options += ["--find", state.find]
    for line in state.ask:
        options += ["--ask", line]
    if state.critical is not None:
        options += ["--critical", ",".join(sorted(state.critical)) or "none"]
    return options


def _horizon(text: str, errors: dict[str, str]) -> int | None:
    plain = text.replace(",", "").strip()
    if not plain:
        return None
    if plain.isascii() and plain.isdigit() and 1 <= int(plain[:9]) <= MOST_HORIZON and len(plain) < 9:
        return int(plain)
    errors["horizon"] = f"The horizon is a number of requests from 1 to {MOST_HORIZON:,}, not {text[:40]!r}."
    return None


def _find(text: str, errors: dict[str, str]) -> str:
    if len(text) > MOST_FIND:
        errors["find"] = f"The text to follow has at most {MOST_FIND} characters, not {len(text):,}."
        return ""
    return text.strip()


def _ask(query: QueryDict, errors: dict[str, str]) -> tuple[str, ...]:
    """A line each, from one field of many lines or from many fields."""
    lines = [line.strip() for text in query.getlist("ask") for line in text.splitlines() if line.strip("! \t")]
    if len(lines) > MOST_OWN or any(len(line) > MOST_CHARS for line in lines):
        errors["ask"] = f"At most {MOST_OWN} questions of your own, each of at most {MOST_CHARS} characters."
        return ()
    return tuple(lines)


def _critical(query: QueryDict, errors: dict[str, str]) -> frozenset[str] | None:
    """Names with commas, or a field for each; those that are the skill's own choice are no choice."""
    if "critical" not in query:
        return None
    try:
        found = critical_kinds(",".join(query.getlist("critical")))
    except BadParameter as error:
        errors["critical"] = f"{error}.".capitalize()
        return None
    return None if found == AS_GENERATED.critical else found
