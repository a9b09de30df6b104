"""CAMEL's memories: a session for each agent, calls and results in records of their own, what a summary stands for."""

from __future__ import annotations

from sessions.engine.reading.reading import read_contents
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.truth_facts import FIXTURES, fixture


def test_a_record_is_a_message_and_a_summary_stands_first() -> None:
    session, other = fixture("camel/memory.jsonl").transcripts
    assert (session.id, other.id, len(other.messages), other.compactions) == ("miller", "keeper", 2, ())
    assert [(str(m.role), [str(b.kind) for b in m.blocks], m.summary) for m in session.messages] == [
        ("system", ["text"], False),
        ("user", ["text"], True),
        ("user", ["text"], False),
        ("assistant", ["tool_use"], False),
        ("user", ["tool_result"], False),
        ("assistant", ["thinking", "text"], False),
    ]
    assert session.messages[3].call_ids() == session.messages[4].result_ids() == {"c1"}
    assert [(r.message, r.usage) for r in session.requests] == [(3, None), (5, None)]
    assert [(c.message, c.outside) for c in session.compactions] == [(1, True)]
    with (FIXTURES / "camel/memory.jsonl").open("rb") as file:
        ((call,), (answer,)) = (read_contents(file, "camel", session.messages[n]) for n in (3, 4))
    assert (call.text, answer.text or answer.parts[0].text) == ('{"at":"wheel"}', '{"turns":4}')


def test_a_summary_without_a_word_is_told() -> None:
    (session,) = fixture("camel/empty.jsonl").transcripts
    assert (session.id, [m.summary for m in session.messages]) == ("keeper", [False, False, False])
    assert [(c.message, c.outside) for c in session.compactions] == [(None, True)]
    weighed = weigh(session)
    assert "an empty summary: the memory was cleared" in headline(weighed, verdicts_of(weighed))
