"""The classes that what is kept of a session's verdicts and triggers is made of (``columns``)."""

from __future__ import annotations

from dataclasses import replace

from sessions.engine.agent import Trigger, Uses
from sessions.engine.columns import Named, NotPlain
from sessions.engine.types import Label
from sessions.engine.why.case import Evidence
from sessions.engine.why.culprits import Culprit
from sessions.engine.why.overcount import Firing, GateResult, OverCount, triggers
from sessions.engine.why.verdicts import Verdict

APART = "\0"


def _name(gate: Trigger) -> str:
    """The trigger's name with what a session may change of it; raises NotPlain for one that is changed otherwise."""
    name = APART.join((gate.name, gate.uses, gate.operator, gate.note))
    if _found(name) != gate:
        raise NotPlain(f"the trigger {gate.name!r} is changed in a way that is not kept")
    return name


def _found(name: str) -> Trigger:
    own, uses, operator, note = name.split(APART)
    gate = next(gate for gate in triggers() if gate.name == own)
    if (uses, operator, note) == (gate.uses, gate.operator, gate.note):
        return gate
    return replace(gate, uses=Uses(uses), operator=operator, note=note)


VERDICTS = (Verdict, Evidence)
OVER_COUNT = (OverCount, GateResult, Firing, Culprit, Label, Named(Trigger, _name, _found))
