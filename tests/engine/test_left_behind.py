"""What Claude Code no longer sent, though no compaction took it: before a clear in the same file (formats 3.5)."""

from __future__ import annotations

import dataclasses
from io import BytesIO

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.replays.lists import items_at
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.falls import falls_of
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.claude_lines import OVERHEAD, Lines

PLAN = "Implement the following plan: one module a day, the lock file last. " * 4


def turns(lines: Lines, n_turns: int, start: int = 0) -> None:
    for turn in range(start, start + n_turns):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": f"/app/m{turn}.py"}}
        lines.reply(turn, {"type": "text", "text": f"Now part {turn} of the build."}, call)
        lines.result(f"toolu_{turn}", "\n".join(f"{n}: value_{n * turn} = compute({n})" for n in range(60)))


def transcript(lines: Lines) -> Transcript:
    (found,) = read_transcripts(BytesIO(lines.text().encode()), "s.jsonl").transcripts
    return found


def cleared(*, hangs: bool = False, where: str = "data") -> Transcript:
    """Six turns, a clear, six more; ``hangs``: its line has a parent; ``where`` the name of the hook stands."""
    lines = Lines()
    lines.prompt("Find out why the build is slow and plan how to make it fast. " * 3)
    turns(lines, 6)
    lines.parent = lines.parent if hangs else None
    fact = {"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:clear", "command": "x"}
    lines.emit("progress" if where == "data" else "attachment", **{where: fact})
    lines.context = lines.context if hangs else OVERHEAD
    lines.prompt(PLAN)
    turns(lines, 6, start=6)
    lines.reply(12, {"type": "text", "text": "The build is fast now."})
    return transcript(lines)


def test_the_message_after_a_clear_begins_the_conversation_anew() -> None:
    found = cleared()
    assert [m.index for m in found.messages if m.afresh] == [13]
    assert found.compactions == ()
    assert [m.index for m in cleared(where="attachment").messages if m.afresh] == [13]


def test_a_clear_that_hangs_from_the_line_before_it_clears_nothing() -> None:
    """The client writes one at the head of a file; and a later line may name the hook without being its call."""
    assert not any(m.afresh for m in cleared(hangs=True).messages)
    lines = Lines()
    lines.emit("progress", data={"hookName": "SessionStart:clear"})
    lines.prompt(PLAN)
    assert not any(m.afresh for m in transcript(lines).messages)


def test_estimates_begin_anew_after_a_clear() -> None:
    """Without the usage that would tell: only what is after it and the overhead count, reminders of lists too."""
    told = weigh(cleared(), train_fraction=0.3)
    after = [step for step in told.steps if step.stop > 13]
    assert [step.request for step in after] == list(range(6, 13))
    assert sorted(told.hidden) == [5, 11]
    reminded = [told.hidden[11] if step.request >= 11 else 0 for step in after]
    bodies = [sum(told.tokens[13 : step.stop]) for step in after]
    expected = [told.overhead + body + more for body, more in zip(bodies, reminded, strict=True)]
    assert [told.estimated[step.request] for step in after] == expected


def without_usage(found: Transcript) -> Transcript:
    return dataclasses.replace(found, requests=tuple(dataclasses.replace(r, usage=None) for r in found.requests))


@pytest.mark.parametrize("usage", [True, False])
def test_all_that_stood_before_a_clear_is_a_loss(usage: bool) -> None:
    """Measured or not: at the clear the earlier messages weigh nothing, in the series as in a replay."""
    found = cleared()
    weighed = weigh(found if usage else without_usage(found))
    series = weighed.recorded
    (loss,) = series.losses
    step = weighed.steps[loss.step]
    assert step.afresh == 13
    assert {index for index, _ in loss.parts} == set(range(weighed.steps[loss.step - 1].stop))
    assert loss.tokens == series.context[loss.step - 1] - weighed.overhead
    assert sum(series.weights) + weighed.overhead == series.context[-1]
    made = replay(weighed, "none")
    assert tuple(made.context_tokens) == series.context
    list_there = items_at(replay(weighed, "none", base="recorded"), step.request)
    assert [item.message.index for item in list_there] == [13]


def test_a_fall_at_a_clear_is_told_as_one() -> None:
    lines = Lines()
    lines.prompt("Read the whole tree. " * 3)
    turns(lines, 40)
    lines.parent = None
    lines.emit("progress", data={"hookName": "SessionStart:clear"})
    lines.context = OVERHEAD
    lines.prompt(PLAN)
    turns(lines, 6, start=40)
    lines.reply(46, {"type": "text", "text": "Done."})
    weighed = weigh(transcript(lines))
    (fall,) = falls_of(weighed, frozenset())
    assert (fall.request, fall.cleared, fall.restarted) == (40, True, False)
    said = headline(weighed, verdicts_of(weighed))
    assert "at request 40; the conversation was cleared and begun anew there." in said
