"""What a policy sends of a list, for tests of single policies."""

from __future__ import annotations

from tests.parity.ours import run


def user(chars: int = 4) -> dict:
    return {"role": "user", "chars": chars}


def reply(*calls: str, chars: int = 4, name: str = "Read", args: int = 0, thinking: int = 0) -> dict:
    made = [{"id": call, "name": name, "args": args} for call in calls]
    return {"role": "assistant", "chars": chars, "thinking": thinking, "calls": made}


def result(call: str, chars: int = 4) -> dict:
    return {"role": "tool", "results": [{"id": call, "chars": chars}]}


def turns(n: int, chars: int = 400) -> list[dict]:
    """A prompt and ``n`` tool turns: positions 1, 3, … call, 2, 4, … answer."""
    found = [user()]
    for turn in range(n):
        found += [reply(f"c{turn}"), result(f"c{turn}", chars)]
    return found


def last(spec: list[dict], policy: str, *, window: int = 1_000_000, summary: int = 50, **params: object) -> list:
    """The messages of the last request: positions, or "new" for what the policy inserted."""
    return [message[0] for message in views(spec, policy, window=window, summary=summary, **params)[-1]]


def views(spec: list[dict], policy: str, *, window: int = 1_000_000, summary: int = 50, **params: object) -> list:
    """Every request's list: each message as [who, text, thinking, calls, results]."""
    return run(spec, policy, params, window=window, summary=summary).views
