"""Conversations of LM Studio, on a small file of our own."""

from __future__ import annotations

import io
from pathlib import Path

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_formats_contract import FIXTURES, read

BELLS = FIXTURES / "lm_studio" / "bells.json"


def test_a_conversation_is_its_selected_versions_step_by_step() -> None:
    (session,) = read(BELLS).transcripts
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in session.messages] == [
        ("system", ["text"]), ("user", ["text"]), ("assistant", ["text", "tool_use"]), ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]  # fmt: skip
    assert session.messages[2].call_ids() == session.messages[3].result_ids() == {"7"}
    assert [(r.message, r.usage.input, r.usage.output) for r in session.requests if r.usage] == [
        (2, 41, 20), (4, 2_450, 5),
    ]  # fmt: skip
    assert (session.title, session.model, session.window) == ("Bells", "lab/small-4b", 1_024)


def test_a_prompt_over_the_room_that_the_model_was_loaded_with_is_told() -> None:
    (session,) = read(BELLS).transcripts
    weighed = weigh(session)
    assert [event.words for event in session.events] == [
        "the model is loaded with 1,024 tokens; LM Studio cuts the middle of a prompt that is longer",
    ]
    said = headline(weighed, verdicts_of(weighed))
    assert "2,450 tokens, 2.4 times its room: the model is loaded with 1,024 tokens; LM Studio cuts the middle" in said


def test_an_answer_that_ended_at_a_limit_is_told() -> None:
    (session,) = read(BELLS.parent / "cut.json").transcripts
    assert session.events[-1].words == "the reply was cut off: contextLengthReached"


def test_a_selection_that_is_none_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(
        BELLS.read_text(encoding="utf-8").replace('"currentlySelected": 1', '"currentlySelected": -5'), "utf-8"
    )
    parsed = read(path)
    assert [len(session.messages) for session in parsed.transcripts] == [2]
    assert len(parsed.skipped) == 2


def test_a_server_that_stops_at_its_limit_is_not_said_to_cut() -> None:
    text = BELLS.read_text(encoding="utf-8")
    assert "truncateMiddle" in text
    made = text.replace("truncateMiddle", "stopAtLimit").encode()
    (session,) = read_transcripts(io.BytesIO(made), BELLS.name).transcripts
    assert session.events[0].words == "the model is loaded with 1,024 tokens; LM Studio stops at the limit"
    weighed = weigh(session)
    assert "context length" not in headline(weighed, verdicts_of(weighed))
