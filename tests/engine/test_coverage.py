"""The table of what is read of each agent says what fixtures show: neither more nor less."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import registry
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import NO, PARTLY, UNKNOWN, YES, Coverage
from sessions.engine.reading.reading import read_transcripts
from tests.engine.test_formats_contract import FILES, FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed

READ = ("usage", "images", "compactions", "refusals", "subagents")


@cache
def parsed(path: Path) -> Parsed:
    return read_transcripts(io.BytesIO(path.read_bytes()), path.name)


def shown(name: str) -> set[str]:
    """What the fixtures of a format show."""
    found: set[str] = set()
    for read in (parsed(path) for of, path in FILES if of == name):
        for session in read.transcripts:
            found |= {"usage"} if any(request.usage for request in session.requests) else set()
            found |= {"images"} if session.n_images else set()
            found |= {"compactions"} if session.compactions or session.clearings else set()
            found |= {"refusals"} if session.errors else set()
            found |= {"subagents"} if session.parent_id is not None else set()
        found |= {"subagents"} if any(one.home or one.spawns for one in read.kin) else set()
    return found


def coverage(name: str) -> Coverage:
    found: Coverage = getattr(registry.get("formats", name), "coverage", UNKNOWN)
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_claimed_is_shown_by_a_fixture_and_what_a_fixture_shows_is_claimed(name: str) -> None:
    said, found = coverage(name), shown(name)
    unshown = {kind for kind in READ if getattr(said, kind) == YES} - found
    assert not unshown, f"coverage of {name} says YES to {sorted(unshown)}, which none of its fixtures shows when read"
    unsaid = {kind for kind in READ if getattr(said, kind) == NO} & found
    assert not unsaid, f"fixtures of {name} show {sorted(unsaid)}, to which its coverage says NO, or nothing"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_what_it_covers(name: str) -> None:
    said = coverage(name)
    assert said != UNKNOWN
    assert {getattr(said, kind) for kind in (*READ, "live")} <= {YES, PARTLY, NO}


@pytest.mark.parametrize("name", [name for name in FORMATS if coverage(name).live == YES])
def test_a_file_that_can_be_followed_is_read_while_it_is_short(name: str) -> None:
    """Of some fixture three fifths of the lines are the same session with fewer messages, and never with other ones."""
    found = any(grows(path) for of, path in FILES if of == name)
    assert found, f"coverage of {name} says live=YES, but cut after 3/5 of its lines no fixture is the same session"


def grows(path: Path) -> bool:
    lines = path.read_bytes().splitlines(keepends=True)
    part = b"".join(lines[: len(lines) * 3 // 5])
    try:
        early = read_transcripts(io.BytesIO(part), path.name)
    except UnreadableInput:
        return False
    before, after = early.transcripts[0], parsed(path).transcripts[0]
    n_same = min(len(before.messages), len(after.messages))
    same = [m.role for m in before.messages[:n_same]] == [m.role for m in after.messages[:n_same]]
    return before.id == after.id and same and 0 < len(before.messages) <= len(after.messages)
