"""Sessions that Hypothesis draws."""

from __future__ import annotations

from hypothesis import strategies as st

from sessions.engine.transcript.types import Role
from tests.engine.sessions import Build, text


@st.composite
def transcripts(draw, n_turns=30):
    """Prompts, replies with parallel calls, results that come a request late, pauses, shrinking contexts, edits."""
    session = Build(overhead=draw(st.integers(0, 5_000)), usage=draw(st.booleans()))
    if draw(st.booleans()):
        session.add(Role.SYSTEM, text(draw(st.integers(1, 500))))
    if draw(st.booleans()):
        session.prompt(draw(st.integers(1, 1_000)))
    n_calls, late = 0, []
    for _ in range(draw(st.integers(1, n_turns))):
        calls = [f"c{n_calls + i}" for i in range(draw(st.integers(0, 3)))]
        n_calls += len(calls)
        name = draw(st.sampled_from(["Read", "Edit"]))
        session.reply(draw(st.integers(1, 500)), *calls, name=name, target=f"/f{n_calls % 4}.py")
        for call in late:
            session.result(call, 50)
        late = []
        for call in draw(st.permutations(calls)):
            if draw(st.integers(0, 7)) == 0:
                late.append(call)
            else:
                session.result(call, draw(st.integers(0, 2_000)))
        if draw(st.integers(0, 7)) == 0:
            session.prompt(draw(st.integers(1, 1_000)))
        if draw(st.integers(0, 9)) == 0:
            session.clock += 400
        if draw(st.integers(0, 9)) == 0:
            session.context = max(0, session.context - draw(st.integers(1, 3_000)))
        if draw(st.integers(0, 20)) == 0:
            session.compact(draw(st.integers(1, 3_000)))
    session.reply()
    return session.done()
