"""The address of two replays side by side: the first as everywhere, the second under names that begin with ``b.``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.urls import reverse

from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.runs import replay_state as urlstate

PREFIX = "b."
MOST_ID = 64


@dataclass(frozen=True, slots=True)
class AbState:
    """Two replays: ``a`` with what is looked at, ``b`` without; ``session`` is the id of B's, "" for A's own."""

    a: urlstate.ReplayState
    b: urlstate.ReplayState
    session: str = ""
    errors: Mapping[str, str] = field(default_factory=dict, compare=False)


def names_b(query: Mapping[str, str]) -> bool:
    """Whether a query string says anything of a second replay."""
    return any(name.startswith(PREFIX) for name in query)


def parse(query: Mapping[str, str], own: Weighed | None = None, own_b: Weighed | None = None) -> AbState:
    """Both states; without any ``b.`` the second is a copy of the first.  ``own…`` are their sessions."""
    a = urlstate.parse({name: text for name, text in query.items() if not name.startswith(PREFIX)}, own)
    rest = {name.removeprefix(PREFIX): text for name, text in query.items() if name.startswith(PREFIX)}
    if not names_b(query):
        return AbState(a, urlstate.only_replayed(a), errors=a.errors)
    b = urlstate.parse(rest, own_b)
    errors = dict(a.errors) | {f"{PREFIX}{name}": text for name, text in b.errors.items()}
    return AbState(a, urlstate.only_replayed(b), rest.get("session", "")[:MOST_ID], errors)


def query(state: AbState, **changes: object) -> str:
    """The shortest query string of both, without "?"; ``changes`` are of A.  B's policy is always named."""
    first, second = urlstate.query(state.a, **changes), second_query(state)
    return f"{first}&{second}" if first else second


def address(session_id: str, a: urlstate.ReplayState, b: urlstate.ReplayState, other: str = "") -> str:
    """Where a session's replay stands beside ``b``, of itself or of the session ``other``."""
    two = AbState(a, urlstate.only_replayed(b), other)
    return f"{reverse('sessions:ab', args=[session_id])}?{query(two)}"


def second_query(state: AbState) -> str:
    """B's part of the query string."""
    pairs = [(f"{PREFIX}policy", state.b.policy)] + ([(f"{PREFIX}session", state.session)] if state.session else [])
    rest = urlstate.query(state.b).split("&")
    others = [PREFIX + pair for pair in rest if pair and not pair.startswith("policy=")]
    return "&".join([urlencode(pairs, safe=":,"), *others])
