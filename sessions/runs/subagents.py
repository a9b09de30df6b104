"""The subagents of a stored session by type."""

from __future__ import annotations

from collections import defaultdict

from sessions import selectors
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.session_cache import Remembered
from sessions.engine.sweeps.subagents import NO_TYPE, types_of
from sessions.models import Session

KEPT = 32
TYPES: Remembered[dict[str, str]] = Remembered("subagent types", KEPT)
"""The types by call, remembered with the session that started them."""


def by_type(session: Session) -> dict[str, tuple[Session, ...]]:
    """Every subagent that the session or one of its subagents started, by type, those of the largest context first."""
    found: dict[str, list[Session]] = defaultdict(list)
    level, seen = [session], {session.pk}
    while level:
        below: list[Session] = []
        of_level = selectors.children_of(level)
        for parent in level:
            children = [child for child in of_level.get(parent.pk, ()) if child.pk not in seen and child.n_requests]
            seen.update(child.pk for child in children)
            types = _types(parent, frozenset(child.parent_call_id for child in children)) if children else {}
            for child in children:
                found[types.get(child.parent_call_id, NO_TYPE)].append(child)
            below += children
        level = below
    kinds = {name: tuple(sorted(those, key=lambda one: -(one.peak_context or 0))) for name, those in found.items()}
    return dict(sorted(kinds.items(), key=lambda pair: -(pair[1][0].peak_context or 0)))


def _types(parent: Session, calls: frozenset[str]) -> dict[str, str]:
    weighed = selectors.load_weighed(parent.pk)
    held = weighed.cache.find(TYPES, calls)
    if held is None:
        try:
            with selectors.load_texts(parent) as texts:
                held = types_of(weighed.transcript, calls, texts.of)
        except UnreadableInput:
            return {}
        weighed.cache.put(TYPES, held, calls)
    return held
