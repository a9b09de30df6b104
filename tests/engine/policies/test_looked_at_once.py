"""What a gate remembers between requests is what it would find by looking at the whole list again."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.policies import gemini
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build
from tests.every import examples


def n_prunable_plainly(params, held):
    n, counted = len(held.outputs), 0
    while n and counted + held.outputs[n - 1].tokens <= params.protect:
        n -= 1
        counted += held.outputs[n].tokens
    return n, sum(output.tokens for output in held.outputs) - counted


@st.composite
def written(draw):
    """Replies that write files of all lengths, and results of all lengths."""
    session = Build(overhead=draw(st.integers(0, 5_000)))
    session.prompt()
    for n in range(draw(st.integers(5, 40))):
        name = draw(st.sampled_from(["write_file", "edit_file", "execute"]))
        said, n_chars = session.reply(draw(st.integers(1, 2_000)), f"c{n}", name=name, target="/a"), draw(CHARS)
        call = replace(said.blocks[1], n_chars=n_chars, n_bytes=n_chars, n_tokens=n_chars // 4)
        session.messages[-1] = replace(said, blocks=(said.blocks[0], call))
        session.result(f"c{n}", draw(st.sampled_from([1, 100, 3_000])))
    session.reply()
    return session.done()


CHARS = st.sampled_from([1, 1_900, 2_000, 2_100, 9_000])


@examples(60)
@given(transcript=written(), protect=st.integers(0, 20_000), least=st.integers(1, 4_000))
def test_prunable_outputs_are_found_by_their_sums(transcript, protect, least):
    asked = []
    inside = gemini.prunable

    def both(params, view):
        asked.append(inside(params, view))
        outputs, tokens = asked[-1]
        assert (len(outputs), tokens) == n_prunable_plainly(params, view.state.memory["open"])
        return asked[-1]

    gemini.prunable = both
    try:
        replay(weigh(transcript), "gemini_masking", params={"protect": protect, "least": least})
    finally:
        gemini.prunable = inside
    assert asked
