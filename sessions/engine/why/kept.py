"""The classes that what is kept of a session's verdicts and triggers is made of (``columns``)."""

from __future__ import annotations

from sessions.engine.agents.agent import Trigger
from sessions.engine.transcript.types import Label
from sessions.engine.why.culprits import Culprit
from sessions.engine.why.evidence import Evidence
from sessions.engine.why.overcount import Firing, GateResult, OverCount
from sessions.engine.why.verdicts import Verdict

VERDICTS = (Verdict, Evidence)
OVER_COUNT = (OverCount, GateResult, Firing, Culprit, Label, Trigger)
