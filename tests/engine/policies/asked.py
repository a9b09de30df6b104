"""Asks a policy's gate or edit about a session built for it."""

from __future__ import annotations

from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build


def session_of(context: int, *, overhead: int = 10_000, model: str = "claude-sonnet-4-5", image=None):
    """Two requests; the second is sent with exactly ``context`` tokens, reply of the first (100) included."""
    session = Build(overhead=overhead, model=model)
    asked(session, 1_000)
    session.reply(100, "c0")
    session.result("c0", context - overhead - 1_100, *([image] if image else []))
    session.reply(100)
    return weigh(session.done())


def asked(session: Build, tokens: int) -> None:
    """A prompt of so many tokens as its provider counts them: with an OpenAI model 6 are around it (estimators 7.2)."""
    around = 6 if session.model.startswith("gpt") else 0
    session.prompt(tokens - around)
    session.context += around


def reply_of(total: int, *, overhead: int = 10_000, model: str = "claude-sonnet-4-5"):
    """Two requests; input and output of the first reply are exactly ``total`` tokens."""
    session = Build(overhead=overhead, model=model)
    asked(session, total - overhead - 100)
    session.reply(100, "c0")
    session.result("c0", 10)
    session.reply(100)
    return weigh(session.done())


def fires_at(weighed, policy, request=1, **options):
    """Whether the policy's own gate fires at a request, and what it compared."""
    result = replay(weighed, policy, summarizer="stub:100", **options)
    gate = result.gates[request]
    return gate.fires, gate.measure, gate.threshold, gate.operator


def conversation(n_turns=3, *, rounds=2, tokens=500, prompt=50, model="claude-sonnet-4-5", name="Read"):
    """Turns of a prompt, ``rounds`` tool rounds with results of ``tokens`` and an answer of 100 tokens; then a prompt
    and its reply.
    """
    session = Build(model=model)
    call = 0
    for _ in range(n_turns):
        session.prompt(prompt)
        for _ in range(rounds):
            session.reply(100, f"c{call}", name=name, target=f"/src/{call}.py")
            session.result(f"c{call}", tokens)
            call += 1
        session.reply(100)
    session.prompt(prompt)
    session.reply(100)
    return weigh(session.done())


def ids(items):
    """Ids of a list."""
    return [item.id for item in items]
