"""What came after a compaction: full again when and by what, what was read again, and when the first edit came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions.engine.why.aftermath import aftermath_document, aftermaths
from tests.engine.verdict_files import Claude, Opencode
from tests.why_cases.claude import claude, thrashing


def call(session: Claude, ident: str, name: str, tokens: int, **arguments: Any) -> None:
    """A call of a named tool and its result."""
    session.reply()
    block = {"type": "tool_use", "id": ident, "name": name, "input": arguments}
    session.lines[-1] = session.lines[-1].replace('"content": [', f'"content": [{json.dumps(block)}, ', 1)
    session.result(ident, tokens)


def session() -> Claude:
    """A file and a command read before and after a compaction; one file edited between."""
    build = claude()
    call(build, "a1", "Read", 4_000, file_path="/src/kept.py")
    call(build, "a2", "Read", 3_000, file_path="/src/edited.py")
    call(build, "a3", "Bash", 500, command="ls -l")
    build.until(150_000)
    build.compact()
    call(build, "b1", "Read", 4_000, file_path="/src/kept.py")
    call(build, "b2", "Bash", 500, command="ls -l")
    call(build, "b3", "Edit", 20, file_path="/src/edited.py")
    call(build, "b4", "Read", 3_000, file_path="/src/edited.py")
    call(build, "b5", "Bash", 500, command="make")
    call(build, "b6", "Read", 4_000, file_path="/src/kept.py")
    return build


def test_what_is_read_again_counts_once_and_not_after_an_edit() -> None:
    (one,) = aftermaths(session().weighed())
    assert [(again.what, again.target) for again in one.again] == [("file", "/src/kept.py"), ("command", "ls -l")]
    assert 4_000 <= one.again[0].tokens <= 4_100
    assert one.tokens_again == sum(again.tokens for again in one.again)
    assert one.dollars_again is not None
    assert one.dollars_again > 0
    assert one.actions == 2
    assert (one.full_at, one.n_requests, one.thrashing) == (None, None, False)


@pytest.mark.parametrize("is_before", [True, False])
def test_a_file_written_before_the_compaction_is_read_again(is_before: bool) -> None:
    """What was written to it left the context as well; what was written after it is there."""
    build = claude()
    call(build, "a1", "Read", 4_000, file_path="/src/a.py")
    if is_before:
        call(build, "a2", "Edit", 20, file_path="/src/a.py")
    build.until(150_000)
    build.compact()
    if not is_before:
        call(build, "b1", "Edit", 20, file_path="/src/a.py")
    call(build, "b2", "Read", 4_000, file_path="/src/a.py")
    (one,) = aftermaths(build.weighed())
    assert [again.target for again in one.again] == (["/src/a.py"] if is_before else [])


def test_a_list_of_tasks_is_no_edit() -> None:
    """Nor does writing one make a command worth running again."""
    build = claude()
    call(build, "a1", "Bash", 500, command="ls -l")
    build.until(150_000)
    build.compact()
    call(build, "b1", "TodoWrite", 20, todos=[])
    call(build, "b2", "TaskUpdate", 20, taskId="1")
    call(build, "b3", "Bash", 500, command="ls -l")
    call(build, "b4", "Edit", 20, file_path="/src/a.py")
    (one,) = aftermaths(build.weighed())
    assert one.actions == 3
    assert [again.target for again in one.again] == ["ls -l"]


def test_typing_into_a_command_is_no_edit() -> None:
    build = claude()
    build.until(150_000)
    build.compact()
    call(build, "b1", "exec_command", 500, cmd="make watch")
    call(build, "b2", "write_stdin", 20, session_id=1, chars="")
    call(build, "b3", "Edit", 20, file_path="/src/a.py")
    (one,) = aftermaths(build.weighed())
    assert one.actions == 2


def test_a_manual_compaction_below_the_threshold_says_nothing_of_the_context() -> None:
    build = claude()
    build.until(167_500)
    build.compact()
    build.until(60_000)
    build.compact("manual")
    build.until(50_000)
    first, second = aftermaths(build.weighed())
    assert (first.full_at, first.n_requests, first.until, first.thrashing) == (None, None, "manual", False)
    assert (second.full_at, second.n_requests, second.until) == (None, None, "end")
    assert first.last is not None
    assert 50_000 <= first.last < 0.8 * first.threshold


def test_two_manual_compactions_in_a_row_are_no_thrashing() -> None:
    build = claude()
    build.until(100_000)
    build.compact("manual")
    call(build, "b1", "Read", 1_000, file_path="/src/a.py")
    build.compact("manual")
    build.reply()
    assert [one.thrashing for one in aftermaths(build.weighed())] == [False, False]


def test_thrashing_names_what_filled_it() -> None:
    found = aftermaths(thrashing(3, 3, 48_000))
    assert [one.thrashing for one in found] == [True, True, True, False]
    assert [one.n_requests for one in found] == [3, 3, 3, None]
    assert found[0].after == 17_000
    assert found[0].label == "measured"
    source, tokens = found[0].refilled[0]
    assert source == "Read"
    assert 148_000 <= tokens <= 152_000
    assert dict(found[0].refilled)["summary"] > 1_500


def test_four_fifths_of_the_threshold_again() -> None:
    build = claude()
    build.until(167_500)
    build.compact()
    build.until(140_000)
    (one,) = aftermaths(build.weighed())
    assert one.threshold == 167_000
    assert one.n_requests == 38
    assert one.full_at == one.request + 38


def test_a_session_without_a_compaction_has_none() -> None:
    build = Opencode()
    build.prompt()
    build.turn(300)
    document = aftermath_document(build.weighed())
    assert document["compactions"] == []
    assert document["totals"]["dollars_again"] is None
