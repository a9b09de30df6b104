"""The browser_use format, on a small file of our own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of

HISTORY = Path(__file__).parent.parent / "fixtures" / "transcripts" / "browser_use" / "history.json"


@cache
def session() -> Transcript:
    with HISTORY.open("rb") as file:
        (found,) = read_transcripts(file, HISTORY.name).transcripts
    return found


def test_a_step_is_a_state_a_reply_and_results() -> None:
    assert [(m.id, m.role) for m in session().messages] == [
        ("step-1.state", Role.USER),
        ("step-1", Role.ASSISTANT),
        ("step-1.results", Role.USER),
        ("step-2.state", Role.USER),
        ("step-2.results", Role.USER),
        ("step-3.state", Role.USER),
        ("step-3", Role.ASSISTANT),
        ("step-3.results", Role.USER),
    ]
    assert [(r.message, r.usage) for r in session().requests] == [(1, None), (6, None)]
    assert not any(message.typed for message in session().messages)


def test_actions_are_calls_and_results_answer_them_in_order() -> None:
    reply, results = session().messages[1:3]
    assert [(b.name, b.call_id) for b in reply.blocks] == [("", ""), ("search_google", "0.0"), ("wait", "0.1")]
    assert [(b.call_id, b.is_error) for b in results.blocks] == [("0.0", True)]
    assert [b.kind for b in session().messages[6].blocks] == [Kind.THINKING, Kind.TEXT, Kind.TOOL_USE]
    assert session().messages[6].blocks[2].name == "done"


def test_screenshots_are_images_inline_or_linked() -> None:
    inline, link = [leaf.media for m in session().messages for leaf in m.leaves() if leaf.kind is Kind.IMAGE]
    assert inline
    assert link
    assert (inline.media_type, inline.width, inline.height) == ("image/png", 1, 1)
    assert (link.n_base64, link.n_url) == (0, len("/tmp/shot.png"))
    assert session().messages[5].preview.startswith("Current url: about:blank")


def test_the_estimate_is_named_and_is_no_usage() -> None:
    assert session().warnings[1] == (
        "input_tokens in the file (3,000 to 3,100 tokens a step) are browser-use's own estimate, not usage"
    )


def test_what_was_not_sent_is_no_peak() -> None:
    """Where the file has no estimate of browser-use's own, its messages are more than any request held."""
    made = session()
    bare = replace(made, warnings=tuple(note for note in made.warnings if "own estimate" not in note))
    weighed = weigh(bare)
    said = headline(weighed, verdicts_of(weighed))
    assert "tokens together (estimated), more than was sent: browser-use drops each step's state" in said
    assert "Peak" not in said
