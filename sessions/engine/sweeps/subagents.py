"""Subagents of a session by type, and the setting that follows from those of each type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions.engine.quality.calls import arguments_of
from sessions.engine.sweeps.across import advise_all
from sessions.engine.sweeps.report import setting_document
from sessions.engine.transcript.types import Content, Kind, Message, Transcript

if TYPE_CHECKING:
    from sessions.engine.sweeps.advice import Advice
    from sessions.engine.sweeps.sweep import Setting, Sweep

TYPE_KEYS = ("subagent_type", "agent_type", "agent_role", "agent_name", "subagent", "agent")
"""Arguments of a call that say what type of subagent it starts, the first that is there."""
STARTERS = frozenset({"agent", "delegate", "dispatch_agent", "run_subagent", "spawn_agent", "subagent", "task"})
"""Tools that start subagents of any type: their own name is none."""
NO_TYPE = "type not recorded"


@dataclass(frozen=True, slots=True)
class TypeAdvice:
    """Subagents of one type: a complete sweep of each, and what to set for all; None: no setting is advised."""

    type: str
    sweeps: tuple[Sweep, ...]
    advice: Advice
    setting: Setting | None

    @property
    def peak(self) -> int:
        """The largest context of any of them, in tokens."""
        return max(one.recorded.totals.peak_context_tokens for one in self.sweeps)

    @property
    def n_compacted(self) -> int:
        """How many of them were compacted, as recorded."""
        return sum(one.recorded.totals.compactions > 0 for one in self.sweeps)


def types_of(
    parent: Transcript, calls: Collection[str], contents: Callable[[Message], Sequence[Content]]
) -> dict[str, str]:
    """The type of subagent that each of the calls starts: as its arguments say, else a tool of its own; no other."""
    found: dict[str, str] = {}
    for message in parent.messages:
        if not message.call_ids().isdisjoint(calls):
            for content in contents(message):
                if content.kind is Kind.TOOL_USE and content.call_id in calls:
                    found[content.call_id] = _type_in(content)
    return {call: name for call, name in found.items() if name}


def _type_in(content: Content) -> str:
    arguments = arguments_of(content)
    said = [arguments.get(key) for key in TYPE_KEYS] if isinstance(arguments, dict) else []
    named = next((value.strip() for value in said if isinstance(value, str) and value.strip()), "")
    return named or ("" if content.name.lower() in STARTERS else content.name)


def advise_types(sweeps: Mapping[str, Sequence[Sweep]], floors: Mapping[str, float]) -> tuple[TypeAdvice, ...]:
    """What to set for each type, that of the largest context first."""
    found = [TypeAdvice(name, tuple(those), *advise_all(those, floors)[:2]) for name, those in sweeps.items()]
    return tuple(sorted(found, key=lambda one: -one.peak))


def types_document(session: str, found: Sequence[TypeAdvice]) -> dict[str, Any]:
    """``ctxweb.sweep_subagents/1``: each type with how many there are, their figures and the setting for them."""
    return {
        "schema": "ctxweb.sweep_subagents/1",
        "session": session,
        "types": [
            {
                "type": one.type,
                "n_subagents": len(one.sweeps),
                "n_compacted": one.n_compacted,
                "peak_context_tokens": one.peak,
                "answer": one.advice.answer,
                "sentence": one.advice.sentence,
                "recommended": None if one.setting is None else setting_document(one.setting),
                "subagents": [
                    {
                        "session": each.weighed.transcript.id,
                        "peak_context_tokens": each.recorded.totals.peak_context_tokens,
                        "compactions": each.recorded.totals.compactions,
                    }
                    for each in one.sweeps
                ],
            }
            for one in found
        ],
    }
