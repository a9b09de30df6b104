"""pi sessions: both versions, what a compaction keeps before its own line, branches, aborted replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Kind, Role, Usage

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed, Transcript

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts" / "pi"


def parsed(name: str) -> Parsed:
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name)


def session(name: str) -> Transcript:
    (found,) = parsed(name).transcripts
    return found


def test_requests_of_version_1() -> None:
    linear = session("version_1.jsonl")
    assert (linear.id, linear.title, linear.model) == ("pi-one", "Read the notes", "claude-opus-4-5")
    assert [r.message for r in linear.requests] == [1, 3, 8, 11, 13]
    assert [r.usage for r in linear.requests] == [
        Usage(10, 0, 500, 20), Usage(5, 510, 80, 9), Usage(1, 590, 40, 2, placeholder=True), Usage(3, 0, 200, 7),
        Usage(2, 200, 30, 4),
    ]  # fmt: skip
    assert linear.warnings == ("Replies aborted or failed without usage: 1; not counted as requests",)
    assert [r.aborted for r in linear.requests] == [False, False, True, False, True], "pi does not send it again"


def test_what_was_kept_stands_before_the_compaction() -> None:
    first, second = session("version_1.jsonl").compactions
    assert (first.boundary, first.message, first.request, first.preserved) == (9, 9, 3, (4, 5, 6, 7, 8))
    assert (first.tokens_before, first.tokens_after, first.trigger) == (633, 203, None)
    assert (second.boundary, second.message, second.request, second.preserved) == (14, 14, 5, ())
    assert second.tokens_after is None, "no request follows"


def test_blocks_and_shell_commands_of_version_1() -> None:
    linear = session("version_1.jsonl")
    kinds = [[str(leaf.kind) for leaf in message.leaves()] for message in linear.messages[:3]]
    assert kinds == [["text", "image"], ["thinking", "tool_use"], ["tool_result", "text", "image"]]
    assert [(message.typed, message.meta) for message in linear.messages[4:8]] == [
        (True, False), (False, False), (False, True), (True, False),
    ]  # fmt: skip
    with (FIXTURES / "version_1.jsonl").open("rb") as file:
        (shell,) = read_contents(file, "pi", linear.messages[6])
    assert shell.text == "Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2"
    assert linear.messages[12].blocks[0].is_error


def test_the_branch_of_the_last_entry_is_the_session() -> None:
    tree = session("version_3_tree.jsonl")
    assert [message.preview for message in tree.messages] == [
        "Write a test", "bash: pytest", "1 passed", "Passed.", "A wrong way was tried.", "Mind the style.",
        "The right way", 'Right. · {"type":"something_new","x":1}', "# Done so far", "Next", "Yes.",
    ]  # fmt: skip
    assert [message.id for message in tree.messages[:3]] == ["00000002", "00000003", "00000004"]
    assert [(r.message, r.on_branch, r.usage and r.usage.context) for r in tree.requests] == [
        (1, True, 300), (3, True, 350), (None, False, 410), (7, True, 430), (10, True, 120),
    ]  # fmt: skip
    assert tree.title == "A named session"
    assert tree.messages[7].blocks[1].kind is Kind.OPAQUE
    assert [(message.role, message.meta) for message in tree.messages[4:6]] == [(Role.USER, True)] * 2
    assert tree.warnings == ("Messages on branches that the session left: 2; their requests are counted",)
    assert parsed("version_3_tree.jsonl").warnings == ("1 record of type 'a_type_of_tomorrow' was not read",)


def test_a_compaction_of_version_3_names_the_first_kept_entry() -> None:
    (compaction,) = session("version_3_tree.jsonl").compactions
    assert (compaction.boundary, compaction.preserved, compaction.message) == (8, (6, 7), 8)
    assert (compaction.tokens_before, compaction.request, compaction.tokens_after) == (437, 4, 120)


def test_messages_of_pis_library_without_entries_around_them() -> None:
    bare = session("bare_messages.jsonl")
    assert [(str(m.role), [str(b.kind) for b in m.blocks]) for m in bare.messages] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    assert [request.usage and request.usage.context for request in bare.requests] == [None, 1_310]
    assert (bare.model, bare.messages[2].result_ids()) == ("small", {"call_0"})
