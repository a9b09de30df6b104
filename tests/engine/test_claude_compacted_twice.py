"""What a Claude Code compaction kept where a second one writes the history again; replies cut while they thought."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.claude_lines import Lines


def line(kind: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False, **more}


def turn(number: int, parent: str | None, context: int) -> list[dict[str, Any]]:
    """A prompt and its reply: uuids ``u`` and ``a`` with the number."""
    usage = {"input_tokens": context, "output_tokens": 9}
    message = {"id": f"m{number}", "role": "assistant", "content": [{"type": "text", "text": "ok"}], "usage": usage}
    said = {"role": "user", "content": f"Prompt {number}."}
    return [
        line("user", f"u{number}", parent, message=said),
        line("assistant", f"a{number}", f"u{number}", message={**message, "stop_reason": "end_turn"}),
    ]


def compact(number: int, parent: str, before: int, **kept: Any) -> list[dict[str, Any]]:
    """The line of a hook below ``parent``, the boundary, and the summary ``s`` with the number."""
    facts = {"trigger": "manual", "preTokens": before, "messagesSummarized": 8, "durationMs": 9_000, **kept}
    boundary = line("system", f"b{number}", None, logicalParentUuid=f"h{number}", subtype="compact_boundary")
    summary = line("user", f"s{number}", f"b{number}", message={"role": "user", "content": "So far."})
    return [
        line("system", f"h{number}", parent, subtype="stop_hook_summary"),
        {**boundary, "compactMetadata": facts},
        {**summary, "isCompactSummary": True},
    ]


def chain(numbers: range, parent: str | None, context: int) -> list[dict[str, Any]]:
    turns = [turn(n, f"a{n - 1}" if n > numbers.start else parent, context + 100 * n) for n in numbers]
    return [one for each in turns for one in each]


def segment(number: int, head: str) -> dict[str, Any]:
    return {"preservedSegment": {"headUuid": head, "anchorUuid": f"b{number}", "tailUuid": f"h{number}"}}


def read(lines: list[dict[str, Any]]) -> Transcript:
    body = "".join(json.dumps(one) + "\n" for one in lines)
    return read_transcripts(io.BytesIO(body.encode()), "s.jsonl").transcripts[0]


@pytest.mark.parametrize("named", [True, False])
def test_lines_that_a_second_compaction_writes_again_were_not_kept_by_the_first(named: bool) -> None:
    old, new = chain(range(4), None, 20_000), chain(range(4, 8), "s1", 9_000)
    first = compact(1, "a3", 30_000, **(segment(1, "a3") if named else {}))
    second = compact(2, "u3", 31_000, **(segment(2, "a7") if named else {}))
    session = read([*old, *first, *new, *old[:-1], *second, *chain(range(8, 10), "s2", 9_000)])
    assert [m.id for m in session.messages if m.summary] == ["s1", "s2"]
    kept = [[session.messages[i].id for i in c.preserved] for c in session.compactions]
    assert kept == ([["m3"], ["m7"]] if named else [[], []])
    assert all(request.on_branch for request in session.requests)
    assert len(session.messages) == 22


def test_lines_written_again_right_after_a_compaction_were_kept_by_it() -> None:
    old = chain(range(4), None, 20_000)
    session = read([*old, *compact(1, "a3", 30_000), *old[-2:], *chain(range(4, 6), "s1", 9_000)])
    (compaction,) = session.compactions
    assert [session.messages[i].id for i in compaction.preserved] == ["u3", "m3"]


def test_the_sdk_writes_the_facts_of_a_compaction_in_snake_case() -> None:
    old = chain(range(4), None, 20_000)
    hook, boundary, summary = compact(1, "a3", 30_000)
    facts = {"trigger": "auto", "pre_tokens": 30_123, "preserved_messages": {"uuids": ["a3"]}, "precomputed": True}
    boundary = {key: value for key, value in boundary.items() if key != "compactMetadata"} | {"compact_metadata": facts}
    session = read([*old, hook, boundary, summary, *chain(range(4, 6), "s1", 9_000)])
    (compaction,) = session.compactions
    assert (compaction.trigger, compaction.tokens_before) == ("auto", 30_123)
    assert [session.messages[i].id for i in compaction.preserved] == ["m3"]


@pytest.mark.parametrize(("stop", "text", "is_cut"), [
    ("max_tokens", "", True), ("max_tokens", "Then", False), ("end_turn", "", False),
])  # fmt: skip
def test_a_reply_of_thinking_alone_that_reached_its_maximum_is_not_sent_again(
    stop: str, text: str, is_cut: bool
) -> None:
    lines = Lines()
    lines.prompt("Look.")
    lines.reply(0, {"type": "thinking", "thinking": "", "signature": "x" * 900}, output=9_000)
    if text:
        lines.reply(0, {"type": "text", "text": text}, output=9_000)
    lines.context -= 9_000 if is_cut else 0
    body = lines.text().replace('"stop_reason": "end_turn"', f'"stop_reason": "{stop}"')
    lines.lines = body.splitlines()
    lines.prompt("Go on.")
    lines.reply(1, {"type": "text", "text": "Done."})
    session = read_transcripts(io.BytesIO(lines.text().encode()), "s.jsonl").transcripts[0]
    assert session.requests[0].aborted is is_cut
    assert session.messages[1].blocks[0].kind is Kind.THINKING
    if is_cut:
        assert not weigh(session).shifts
