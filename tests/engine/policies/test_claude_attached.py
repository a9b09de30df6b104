"""What Claude Code puts back after a compaction: files and the instructions of skills (policies 4.9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.policies import _claude_attached
from sessions.engine.transcript.types import Block, Kind
from tests.engine.policies.listed import lists
from tests.engine.policies.test_figures_claude import named, params_of

READS = "u1 a1:a r4:a a1:b r6:b a1:c r2:c"


@pytest.mark.parametrize(
    ("given", "files"),
    [
        ({}, ["c 2", "b 6", "a 4"]),
        ({"max_files": 2}, ["c 2", "b 6"]),
        ({"max_files": 0}, []),
        ({"file_tokens": 4}, ["c 2", "b 4", "a 4"]),
        ({"files_budget": 8}, ["c 2", "b 6"]),
        ({"files_budget": 9}, ["c 2", "b 6", "a 1"]),
        ({"files_budget": 7}, ["c 2", "b 5"]),
    ],
)
def test_files_are_put_back_newest_first(given, files):
    made = _claude_attached.reattached(params_of(**given), lists(READS))
    assert [f"{draft.preview[-2:-1]} {draft.tokens}" for draft in made] == files
    assert all(draft.preview.startswith("[file read before the compaction: /") for draft in made)


def test_files_that_are_not_put_back():
    """What is still visible, failed reads, other tools, memory files and plans; a file once."""
    items = lists(READS)
    assert len(_claude_attached.reattached(params_of(), items, items[3:5])) == 2
    assert len(_claude_attached.reattached(params_of(), lists(READS.replace("r6:b", "r6:!b")))) == 2
    assert _claude_attached.reattached(params_of(), lists(READS, name="Bash")) == []
    for target, n in (
        ("/x/CLAUDE.md", 2),
        ("CLAUDE.local.md", 2),
        ("C:\\x\\MEMORY.md", 2),
        ("/x/MY-CLAUDE.md", 3),
        ("/.claude/plans/p.md", 2),
        ("", 2),
        ("/c", 2),
    ):
        items = lists(READS)
        calls = tuple(replace(b, target=target) if b.call_id else b for b in items[3].message.blocks)
        items[3] = replace(items[3], message=replace(items[3].message, blocks=calls))
        assert len(_claude_attached.reattached(params_of(), items)) == n, target


def test_a_file_is_put_back_whole():
    """At the most that was read of it, not at its last part; an edit brings it to the front and holds no file alone."""
    parts = lists("u1 a1:a r9:a a1:b r6:b a1:c r2:c")
    for place, target in ((1, "/a"), (3, "/b"), (5, "/a")):
        blocks = tuple(replace(b, target=target) if b.call_id else b for b in parts[place].message.blocks)
        parts[place] = replace(parts[place], message=replace(parts[place].message, blocks=blocks))
    assert [draft.tokens for draft in _claude_attached.reattached(params_of(), parts)] == [9, 6]
    (edited,) = named([parts[5]], "Edit")
    assert [draft.tokens for draft in _claude_attached.reattached(params_of(), [*parts[:5], edited, parts[6]])] == [
        9,
        6,
    ]
    assert [draft.tokens for draft in _claude_attached.reattached(params_of(), [*parts[3:5], edited, parts[6]])] == [6]


def test_a_typed_command_brings_its_instructions_back():
    """Not what the client says around its own commands."""
    body = replace(lists("u7")[0], message=replace(lists("u7")[0].message, meta=True))

    def line(preview):
        return replace(lists("u1")[0], message=replace(lists("u1")[0].message, preview=preview))

    command = line("<command-message>review</command-message> <command-name>/review</command-name>")
    assert [draft.tokens for draft in _claude_attached.skills(params_of(), [command, body])] == [7]
    stdout = line("<local-command-stdout></local-command-stdout>")
    assert _claude_attached.skills(params_of(), [command, stdout, body]) == []


def skilled(*sizes):
    """Skills a, b, … each with an unprompted message of so many tokens."""
    items = []
    for n, size in enumerate(sizes):
        call, body = named(lists(f"a1:{'abc'[n]} n{size}"), "Skill")
        items += [call, replace(body, message=replace(body.message, meta=True))]
    return items


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [2, 6, 4]),
        ({"skill_tokens": 5}, [2, 5, 4]),
        ({"skills_budget": 8}, [2, 6]),
        ({"skills_budget": 9}, [2, 6, 1]),
        ({"skills_budget": 2}, [2]),
    ],
)
def test_skills_are_put_back_newest_first(given, expected):
    made = _claude_attached.skills(params_of(**given), skilled(4, 6, 2))
    assert [draft.tokens for draft in made] == expected
    assert made[0].preview == "[skill invoked before the compaction: /c]"


def test_a_skill_s_body_is_an_unprompted_message_after_its_call():
    items = skilled(4)
    for changed in (
        [items[0], replace(items[1], message=replace(items[1].message, meta=False))],
        [items[0], replace(items[1], message=replace(items[1].message, summary=True))],
        [items[0], lists("a1")[0], items[1]],
        [*named(lists("a1:a"), "Read"), items[1]],
    ):
        assert _claude_attached.skills(params_of(), changed) == []
    assert [draft.tokens for draft in _claude_attached.skills(params_of(), [*items, items[1]])] == [4]
    nameless = [
        replace(items[0], message=replace(items[0].message, blocks=(Block(Kind.TOOL_USE, name="Skill"),))),
        items[1],
    ]
    assert [draft.tokens for draft in _claude_attached.skills(params_of(), [*nameless, items[1]])] == [4, 4]
