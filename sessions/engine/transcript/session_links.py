"""How sessions of one family, kept in several files, name each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spawn:
    """A tool call that started a sub-agent: the agent's session id and a hash of its prompt, "" where not told."""

    call_id: str
    agent: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class SessionLinks:
    """How a session finds its family: ``home`` started it ("" for none), a hash of its prompt, and what it started."""

    session: str
    home: str = ""
    prompt: str = ""
    spawns: tuple[Spawn, ...] = ()
