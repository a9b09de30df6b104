"""What of Claude Code's attachments is sent: by type, on facts of our own, and what it weighs in a session."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.formats._claude_attachments import UNSENT, attachment_contents
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.prior import AROUND
from tests.engine.claude_lines import Lines

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

TASK = {
    "id": "7",
    "subject": "Write the parser",
    "description": "long " * 200,
    "activeForm": "Writing",
    "blocks": ["9"],
}
SAID: list[tuple[dict[str, Any], str]] = [
    ({"type": "task_reminder", "content": [{**TASK, "status": "pending"}]}, "#7. [pending] Write the parser"),
    ({"type": "task_reminder", "content": []}, "[]"),
    ({"type": "todo_reminder", "content": [{"content": "Do", "status": "completed", "activeForm": "x"}]},
     "[1. [completed] Do]"),
    ({"type": "nested_memory", "path": "/a/CLAUDE.md", "content": {"path": "/a/CLAUDE.md", "type": "Project",
      "content": "Be brief.", "rawContent": "Be brief."}}, "/a/CLAUDE.md\nBe brief."),
    ({"type": "deferred_tools_delta", "addedNames": ["A"], "addedLines": ["A"], "removedNames": ["B"]}, "A\nB"),
    ({"type": "agent_listing_delta", "addedTypes": ["p"], "addedLines": ["- p: x"], "removedTypes": []}, "- p: x"),
    ({"type": "mcp_instructions_delta", "addedNames": ["m"], "addedBlocks": ["## m"], "removedNames": []}, "## m"),
    ({"type": "invoked_skills", "skills": [{"name": "s", "path": "/s", "content": "How."}]}, "s\n/s\nHow."),
    ({"type": "hook_success", "hookName": "SessionStart", "hookEvent": "SessionStart", "content": "Hi", "stdout": "{}"},
     "SessionStart\nHi"),
    ({"type": "hook_additional_context", "hookName": "Stop", "content": ["One", "two"]}, "Stop\nOne\ntwo"),
    ({"type": "hook_blocking_error", "hookName": "Stop", "blockingError": {"command": "c", "blockingError": "No."}},
     "Stop\nc\nNo."),
    ({"type": "date_change", "newDate": "2026-04-21"}, "2026-04-21"),
    ({"type": "compact_file_reference", "filename": "/a.py", "displayPath": "a.py"}, "/a.py"),
    ({"type": "skill_listing", "content": "- a: b", "skillCount": 1}, "- a: b"),
    ({"type": "of_tomorrow", "fact": 1}, '{"fact":1}'),
]  # fmt: skip
READDED = {"type": "deferred_tools_delta", "addedNames": ["A"] * 200, "addedLines": [], "readdedNames": ["A"] * 200}
NOT_SENT: list[dict[str, Any]] = [
    *({"type": kind, "content": "shown", "stderr": "shown"} for kind in sorted(UNSENT)),
    READDED,
    {"type": "hook_success", "hookEvent": "PostToolUse", "content": "done", "stdout": "done"},
    {"type": "hook_success", "hookEvent": "SessionStart", "content": "", "stdout": "{}"},
    {"type": "hook_additional_context", "hookName": "x", "content": []},
]


@pytest.mark.parametrize(
    ("attachment", "text"), SAID, ids=lambda value: value["type"] if isinstance(value, dict) else ""
)
def test_an_attachment_is_what_its_reminder_says_of_it(attachment: dict[str, Any], text: str) -> None:
    assert [content.text for content in attachment_contents(attachment)] == [text]


@pytest.mark.parametrize("attachment", NOT_SENT, ids=lambda value: value["type"])
def test_what_the_client_shows_or_keeps_is_not_sent(attachment: dict[str, Any]) -> None:
    assert attachment_contents(attachment) == ()


def test_the_reminder_that_a_line_records_is_what_was_sent() -> None:
    rendered = [{"content": "<system-reminder>New tools</system-reminder>"}]
    (content,) = attachment_contents(READDED, rendered)
    assert content.text == "<system-reminder>New tools</system-reminder>"


@pytest.mark.parametrize("odd", [None, 3, "x", [], [3], {}, {"content": None}, {"path": []}])
@pytest.mark.parametrize("kind", ["nested_memory", "task_reminder", "invoked_skills", "hook_blocking_error", "file"])
def test_odd_values_of_an_attachment_are_read(kind: str, odd: Any) -> None:
    attachment = {"type": kind, "content": odd, "skills": odd, "blockingError": odd}
    assert isinstance(attachment_contents(attachment, odd), tuple)


def session(*attachments: dict[str, Any]) -> Transcript:
    """A session of one turn for each attachment, which stands between a result and the next reply."""
    lines = Lines()
    lines.prompt("Look at the build.")
    for turn, attachment in enumerate(attachments):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Bash", "input": {"command": f"ls {turn}"}}
        lines.reply(turn, call)
        lines.result(f"toolu_{turn}", "a file of the build " * 40)
        lines.emit("attachment", attachment=attachment)
    lines.reply(len(attachments), {"type": "text", "text": "Done."})
    return read_transcripts(io.BytesIO(lines.text().encode()), "s.jsonl").transcripts[0]


def test_what_is_not_sent_weighs_nothing_and_what_is_sent_in_part_its_part() -> None:
    hook = {"type": "hook_non_blocking_error", "stderr": "command not found " * 40, "hookEvent": "PostToolUse"}
    tasks = {"type": "task_reminder", "content": [{**TASK, "status": "pending"}] * 3, "itemCount": 3}
    weighed = weigh(session(hook, READDED, tasks), train_fraction=0.0)
    tokens = {m.attachment: weighed.tokens[m.index] for m in weighed.transcript.messages if m.attachment}
    assert (tokens["hook_non_blocking_error"], tokens["deferred_tools_delta"]) == (0, 0)
    around = AROUND["task_reminder"]
    assert around <= tokens["task_reminder"] <= 2 * around + 60


def test_brief_instructions_of_plan_mode_are_a_sort_of_their_own() -> None:
    full, brief = (
        {"type": "plan_mode", "reminderType": form, "planFilePath": "/home/me/plans/quiet-river.md"}
        for form in ("full", "sparse")
    )
    weighed = weigh(session(READDED, full, brief), train_fraction=0.0)
    tokens = {m.attachment: weighed.tokens[m.index] for m in weighed.transcript.messages if m.attachment}
    assert tokens["plan_mode"] > AROUND["plan_mode"] > 10 * tokens["plan_mode, sparse"]
