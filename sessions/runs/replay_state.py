"""The address of a replay and of a diff: policy, parameters, estimator, summarizer, window, event, request.

Reading is strict: what does not exist or is out of range becomes an error next to its field, and the default stands
in its place, so that a wrong address still shows a page.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlencode

from sessions.engine.agents.agent import nothing_known, policy_facts
from sessions.engine.agents.setting import OWN_AGENT
from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.suggestions import no_such
from sessions.engine.policies import params as parameters
from sessions.engine.policies.policy import Policy
from sessions.engine.quality.baseline import own_policy
from sessions.engine.replays import initial_params
from sessions.engine.replays.replay import BASES
from sessions.engine.weigh.calibration.weighed import Weighed

DEFAULT_POLICY = "claude_code"
DEFAULT_SUMMARIZER = "recorded"
DEFAULT_STUB = 4_000
MOST_STUB = 1_000_000
LEAST_WINDOW, MOST_WINDOW = 1_000, 10_000_000
GATES = ("", "on", "off")
LAYOUTS = ("", "unified", "groups")
OPS = ("", "kept", "edited", "dropped", "inserted", "moved")
FAILS = ("always", "every", "first")
MOST_FAIL = 1_000
ROLE = "role"
REPLAYED, LOOKED, SHARED = "what is replayed", "what is looked at", "looked at as it was shared"
"""What a field of an address is for; a stranger chooses what is looked at, except what stays as it was shared."""


def _looked(default: Any, role: str = LOOKED) -> Any:
    return field(default=default, metadata={ROLE: role})


@dataclass(frozen=True, slots=True)
class ReplayState:
    """What is replayed and what is looked at.

    ``params`` holds only values that differ from what they start from (``starts``), as text; ``window`` None is the
    session's own; ``fail`` makes summary calls fail ("always", "every:N", "first:N"); ``event`` and ``request`` are
    0-based, ``at`` is the position of the list sent then at which the page shown begins; ``gate`` shows or hides the
    gate's lane ("" decides by itself).  Of the diff: ``rows`` is a folded run to show, ``layout`` its layout, ``only``
    the one fate shown, ``between`` two requests whose lists are compared.
    """

    policy: str = DEFAULT_POLICY
    base: str = "full"
    estimator: str = ""
    summarizer: str = DEFAULT_SUMMARIZER
    window: int | None = None
    params: tuple[tuple[str, str], ...] = ()
    fail: str = ""
    event: int | None = _looked(None)
    request: int | None = _looked(None)
    at: int | None = _looked(None, SHARED)
    gate: str = _looked("")
    layout: str = _looked("")
    only: str = _looked("")
    between: tuple[int, int] | None = _looked(None, SHARED)
    rows: tuple[int, int] | None = _looked(None)
    errors: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def plugin(self) -> Policy:
        policy: Policy = registry.get("policies", self.policy)
        return policy

    @property
    def given(self) -> dict[str, object]:
        """Parameters as the engine takes them."""
        return dict(self.params)


def names_of(*roles: str) -> tuple[str, ...]:
    """The fields of an address that have one of these roles, those without a role being replayed."""
    return tuple(one.name for one in fields(ReplayState) if one.compare and one.metadata.get(ROLE, REPLAYED) in roles)


LOOKED_AT = names_of(LOOKED, SHARED)
NOTHING_LOOKED_AT: dict[str, Any] = {one.name: one.default for one in fields(ReplayState) if one.name in LOOKED_AT}


def only_replayed(state: ReplayState) -> ReplayState:
    return replace(state, **NOTHING_LOOKED_AT)


def own_state(weighed: Weighed, base: str = "") -> ReplayState:
    """The replay of the agent that wrote the session, with its client's known settings; one's own where none is known.

    ``base`` is as given, else along the recorded context where that was compacted.
    """
    transcript = weighed.transcript
    policy = own_policy(weighed) or OWN_AGENT
    base = base or ("recorded" if transcript.compactions else "full")
    known = policy_facts(policy).settings
    had = next((one.params for one in known if one.params and one.words in transcript.client), {})
    return ReplayState(policy=policy, base=base, params=tuple((name, str(value)) for name, value in had.items()))


def own_way(weighed: Weighed) -> str:
    """The query of the session's own policy along its full history, with its "?"."""
    return f"?{query(own_state(weighed, 'full'))}"


def parse(query: Mapping[str, str], own: Weighed | None = None) -> ReplayState:
    """The state that a query string asks for, with what is wrong in it under ``errors`` by field name.

    ``own`` is the session: an address without a policy means its own agent's, and naming its window, or what its client
    starts a policy from, is no choice.  ``was`` is the policy whose form was sent: where it is another, its parameters
    mean nothing and are left out.
    """
    if own is not None and "policy" not in query:
        query = {**dict(_pairs(own_state(own, "full"), names_of(REPLAYED))), **query}
    errors: dict[str, str] = {}
    policy = _known(query, "policy", tuple(registry.plugins("policies")), DEFAULT_POLICY, errors)
    window = _window(query, errors)
    stale = query.get("was", policy) != policy
    request = _index(query, "request", errors)
    return ReplayState(
        policy=policy,
        base=_known(query, "base", BASES, "full", errors),
        estimator=_known(query, "estimator", ("", *registry.plugins("estimators")), "", errors),
        summarizer=_summarizer(query, errors),
        window=None if own is not None and window == own.window else window,
        params=() if stale else _params(query, policy, own, errors),
        fail=_fail(query, errors),
        event=_index(query, "event", errors),
        request=request,
        at=_index(query, "at", errors) if request is not None else None,
        gate=_known(query, "gate", GATES, "", errors),
        layout=_known(query, "layout", LAYOUTS, "", errors),
        only=_known(query, "only", OPS, "", errors),
        between=_between(query, errors),
        rows=_rows(query, errors),
        errors=errors,
    )


def query(state: ReplayState, **changes: object) -> str:
    """The shortest query string of the state with ``changes``, without "?"; it names its policy always."""
    wanted = replace(state, **changes)  # type: ignore[arg-type]  # names are checked by replace
    return urlencode(_pairs(wanted, names_of(REPLAYED, LOOKED, SHARED)), safe=":,")


def _pairs(state: ReplayState, names: Sequence[str]) -> list[tuple[str, str]]:
    """What an address writes of these fields: each that is no default, and the policy, which has no default."""
    plain = ReplayState()
    unsaid = {*WRITTEN_APART, *(("at",) if state.request is None else ())}
    held = [(name, getattr(state, name)) for name in names if name not in unsaid]
    pairs = [(n, str(v)) for n, v in held if v is not None and (n == "policy" or v != getattr(plain, n))]
    pairs += [(f"p.{name}", value) for name, value in state.params if "params" in names]
    if state.between and "between" in names:
        pairs += [("from", str(state.between[0])), ("to", str(state.between[1]))]
    if state.rows and "rows" in names:
        pairs.append(("rows", f"{state.rows[0]}-{state.rows[1]}"))
    return pairs


WRITTEN_APART = ("params", "between", "rows")
"""Fields that an address writes under other names than their own, or not as they are."""


def looked_at(state: ReplayState, **changes: object) -> str:
    """The part of the query that says what is looked at, for a frozen replay."""
    wanted = replace(state, **changes)  # type: ignore[arg-type]
    return urlencode(_pairs(wanted, LOOKED_AT), safe=":,")


def frozen(state: ReplayState, looking: ReplayState) -> ReplayState:
    """A shared state of which a stranger chooses only what is looked at."""
    chosen = {n: v for n in names_of(LOOKED) if (v := getattr(looking, n)) not in (None, "")}
    return replace(state, **chosen, errors=looking.errors)


def arguments(
    state: ReplayState, names: Sequence[str] = ("base", "estimator", "summarizer", "window", "fail")
) -> list[str]:
    """The policy, ``names`` where they are not as usual, and the parameters as options of the command line."""
    options = ["--policy", state.policy]
    for name in names:
        value = getattr(state, name)
        if value != getattr(ReplayState(), name):
            options += [f"--{name}", str(value)]
    for name, value in state.params:
        options += ["--set", f"{name}={value}"]
    return options


def replay_command(state: ReplayState, file: str) -> str:
    """The ``ctxweb replay`` that makes the replay of the state."""
    return shlex.join(["ctxweb", "replay", file, *arguments(state)])


def apply_command(state: ReplayState, *files: str) -> str:
    """The ``ctxweb apply`` that writes the configuration of the state."""
    return shlex.join(["ctxweb", "apply", *files, *arguments(state, ("window",))])


def _known(query: Mapping[str, str], name: str, known: tuple[str, ...], default: str, errors: dict[str, str]) -> str:
    value = query.get(name, default)
    if value in known:
        return value
    errors[name] = no_such(name, value, known)
    return default


def _summarizer(query: Mapping[str, str], errors: dict[str, str]) -> str:
    """``stub`` takes its size from ``stub:N`` or from the form's own field."""
    value = query.get("summarizer", DEFAULT_SUMMARIZER)
    size = query.get("stub", "").replace(",", "").strip()
    if value == "stub":
        value = f"stub:{size or DEFAULT_STUB}"
    name, _, number = value.partition(":")
    known = registry.plugins("summarizers")
    if name not in known or (number and not known[name].takes_number):
        errors["summarizer"] = no_such("summarizer", value, [*known, "stub:N"])
        return DEFAULT_SUMMARIZER
    if number and not (number.isascii() and number.isdigit() and int(number[:9]) <= MOST_STUB and len(number) < 9):
        errors["summarizer"] = f"A placeholder summary weighs 0 to {MOST_STUB:,} tokens, not {number[:40]!r}."
        return DEFAULT_SUMMARIZER
    return value


def _fail(query: Mapping[str, str], errors: dict[str, str]) -> str:
    """``every`` and ``first`` take their number from ``every:N`` or from the form's own field."""
    value = query.get("fail", "")
    name, _, number = value.partition(":")
    number = number or query.get("fail_n", "").replace(",", "").strip() or "2"
    if value in ("", "always"):
        return value
    if name in FAILS[1:] and number.isascii() and number.isdigit() and 0 < int(number[:9]) <= MOST_FAIL:
        return f"{name}:{int(number)}"
    errors["fail"] = (
        f"Summary calls fail always, every:N or first:N with N from 1 to {MOST_FAIL:,}; not {value[:40]!r}."
    )
    return ""


def _between(query: Mapping[str, str], errors: dict[str, str]) -> tuple[int, int] | None:
    """Two requests: without ``to`` there is nothing to compare."""
    first, last = _index(query, "from", errors), _index(query, "to", errors)
    if first is None and last is None:
        return None
    if first is None or last is None:
        errors.setdefault("between", "Two requests are compared: give from and to.")
        return None
    return first, last


def _window(query: Mapping[str, str], errors: dict[str, str]) -> int | None:
    text = query.get("window", "").replace(",", "").replace(" ", "")
    if not text or text == "recorded":
        return None
    if text.isascii() and text.isdigit() and len(text) < 10 and LEAST_WINDOW <= int(text) <= MOST_WINDOW:
        return int(text)
    errors["window"] = f"The window is from {LEAST_WINDOW:,} to {MOST_WINDOW:,} tokens, not {text[:40]!r}."
    return None


def starts(policy: str, own: Weighed | None) -> dict[str, object]:
    """What every parameter starts from: its default, or the client's; left out where only a session would tell."""
    plugin: Policy = registry.get("policies", policy)
    if own is None and policy_facts(policy).client is not nothing_known:
        return {}
    specs = parameters.specs(plugin.params) if own is None else initial_params.specs(own, plugin)
    return {spec.name: spec.default for spec in specs}


def _params(
    query: Mapping[str, str], policy: str, own: Weighed | None, errors: dict[str, str]
) -> tuple[tuple[str, str], ...]:
    """The parameters that differ from what they start from, each checked by itself so each error finds its field."""
    kind, known = registry.get("policies", policy).params, starts(policy, own)
    specs = {spec.name: spec for spec in parameters.specs(kind)}
    kept: list[tuple[str, str]] = []
    for key, text in query.items():
        name = key.removeprefix("p.")
        if name == key or (not text and name in specs and not specs[name].optional):
            continue
        try:
            plain = text if name in specs and specs[name].words else text.replace(",", "").rstrip(" %")
            value = getattr(parameters.build(kind, {name: plain}), name)
        except BadParameter as error:
            errors[f"p.{name[:60]}"] = f"{str(error).rstrip('.')}."
            continue
        if name not in known or value != known[name]:
            kept.append((name, written(value)))
    order = list(specs)
    return tuple(sorted(kept, key=lambda pair: order.index(pair[0])))


def written(value: object) -> str:
    """A parameter's value as the address and the command line write it."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def is_changed(spec: parameters.Spec, state: ReplayState) -> bool:
    """Whether the state sets this parameter to other than it starts from."""
    return any(name == spec.name for name, _ in state.params)


def _index(query: Mapping[str, str], name: str, errors: dict[str, str]) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 9:
        return int(text)
    errors[name] = f"The {name} is a number counted from 0, not {text[:40]!r}."
    return None


def _rows(query: Mapping[str, str], errors: dict[str, str]) -> tuple[int, int] | None:
    text = query.get("rows", "")
    if not text:
        return None
    first, _, last = text.partition("-")
    if first.isdigit() and last.isdigit() and text.isascii() and len(text) < 18 and int(first) <= int(last):
        return int(first), int(last)
    errors["rows"] = f"Rows are written as first-last, not {text[:40]!r}."
    return None
