"""When Claude Code's notes are written and what stays beside them, each at its figure (policies 4.8)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sessions.engine.policies._claude_notes import Notes, _start, keep_notes
from sessions.engine.policies.claude_code import Params
from sessions.engine.policies.policy import LastUsage
from sessions.engine.transcript.types import Block, Kind, Message, Role


def shown(n, role=Role.ASSISTANT, *, size=0, calls=0, inserted=False):
    """A message with text, and so many calls."""
    made = [Block(Kind.TOOL_USE, call_id=f"{n}.{k}") for k in range(calls)]
    message = Message(n, f"m{n}", role, (Block(Kind.TEXT, n_chars=4), *made))
    return SimpleNamespace(id=f"m{n}", size=size, inserted=inserted, message=message)


def after(total, items, notes=None, usage=None, seen="m0"):
    """The notes after a request of this size; ``notes`` were written of what was there up to ``seen``."""
    memory = {} if notes is None else {"notes": notes, "notes_seen": seen}
    return keep_notes(
        Params(), SimpleNamespace(items=items, size=total, usage=usage, state=SimpleNamespace(memory=memory))
    )


PROMPT = shown(0, Role.USER)


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(("total", "written"), [(9_999, False), (10_000, True), (10_001, True)])
def test_notes_are_written_first_at_ten_thousand(total, written):
    """They cover the newest reply, whatever came after it."""
    items = [PROMPT, shown(1), shown(2, calls=1), shown(3, Role.USER)]
    notes = after(total, items)
    assert notes == Notes(written, total if written else 0, "m2" if written else "", 0 if written else 1)
    usage = LastUsage(total - 900, 900, 0, 0)
    assert after(5, items, usage=usage).written is written, "what was reported counts, the reply included"


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(
    ("total", "calls", "again"),
    [
        (14_999, 3, False),
        (15_000, 3, True),
        (15_001, 2, False),
        (15_000, 0, True),
        (14_999, 0, False),
        (15_000, 4, True),
    ],
)
def test_notes_are_written_again_after_growth_and_calls(total, calls, again):
    """5,000 more and three calls, or a last reply without any."""
    notes = after(total, [PROMPT, shown(1), shown(2, calls=calls)], Notes(True, 10_000, "m0", 0))
    assert (notes.covers == "m2") is again
    assert (notes.tokens, notes.calls) == ((total, 0) if again else (10_000, calls))


def test_calls_add_up_between_two_notes():
    notes = after(14_000, [PROMPT, shown(1, calls=2)], Notes(True, 10_000, "m0", 0))
    assert (notes.covers, notes.calls) == ("m0", 2)
    assert after(16_000, [PROMPT, shown(1, calls=2), shown(2, calls=1)], notes, seen="m1").covers == "m2"


def test_a_context_that_shrank_grows_from_there():
    notes = after(4_000, [PROMPT, shown(1, calls=1)], Notes(True, 100_000, "m0", 3))
    assert (notes.covers, notes.tokens) == ("m0", 4_000)
    assert after(9_000, [PROMPT, shown(1, calls=1), shown(2, calls=1)], notes, seen="m1").covers == "m2"


@pytest.mark.golden("claude_code")
@pytest.mark.parametrize(
    ("size", "start"),
    [(2_000, 15), (1_999, 14), (3_000, 15), (9_999, 15), (10_000, 16), (10_001, 16), (40_000, 19), (1, 0)],
)
def test_what_stays_beside_the_notes(size, start):
    """10,000 tokens and five messages, but no more once 40,000 are reached; twenty messages, all covered."""
    view = SimpleNamespace(tools=SimpleNamespace(size_by=lambda item, _: item.size))
    items = [shown(n, size=size) for n in range(20)]
    assert _start(Params(), view, items, 20) == start


@pytest.mark.parametrize(("summary", "start"), [(13, 15), (14, 15), (15, 16), (16, 17), (19, 20)])
def test_nothing_from_before_the_last_compaction_stays(summary, start):
    view = SimpleNamespace(tools=SimpleNamespace(size_by=lambda item, _: item.size))
    items = [shown(n, size=2_000, inserted=n == summary) for n in range(20)]
    assert _start(Params(), view, items, 20) == start
    assert _start(Params(), view, items, 3) == summary + 1, "what the notes do not cover stays, back to the compaction"
