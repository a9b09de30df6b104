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
    """How a session finds its family in other files.

    ``home`` is the id of the session that started it, "" for one that no other started; ``prompt`` the hash of its
    first prompt; ``spawns`` the sub-agents it started itself.
    """

    session: str
    home: str = ""
    prompt: str = ""
    spawns: tuple[Spawn, ...] = ()
