"""The fleet page's address: what sessions are grouped by, and what those looked at have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from sessions.engine.sweeps.fleet.values import BY


@dataclass(frozen=True, slots=True)
class FleetState:
    """``alike`` holds values by the names of ``BY``, those asked for alone."""

    by: str = BY[0]
    alike: Mapping[str, str] = field(default_factory=dict)


def parse(query: Mapping[str, str]) -> FleetState:
    """The state that a query string asks for; what makes no sense is left out."""
    by = query.get("by", "")
    given = {name: query.get(name, "").replace("\x00", "")[:255] for name in BY}
    return FleetState(by if by in BY else BY[0], {name: value for name, value in given.items() if value})


def query(by: str, alike: Mapping[str, str]) -> str:
    """The shortest query string, with its "?"; empty for the default."""
    pairs = [("by", by)] if by != BY[0] else []
    pairs += [(name, alike[name]) for name in BY if alike.get(name)]
    return f"?{urlencode(pairs)}" if pairs else ""
