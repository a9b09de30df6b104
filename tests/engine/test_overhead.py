"""The overhead by name: parts in the file, the rest, standing messages, the output of /context."""

from __future__ import annotations

import dataclasses
import io
import json

from sessions.engine.reading.noted_events import context_output
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.reports.report import session_document
from sessions.engine.transcript.types import Block, Kind, Label, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import REST, OverheadPart, overhead_parts, standing_parts
from sessions.engine.weigh.calibration.prior import AROUND
from tests.engine.sessions import Build, text

OUTPUT = """<local-command-stdout>Context Usage
claude-sonnet-4-5 · 85k/200k tokens (42%)
⛁ System prompt: 2.6k tokens (1.3%)
⛁ System tools: 13.3k tokens (6.7%)
⛁ MCP tools: 950 tokens (0.5%)
⛁ Memory files: 1,204 tokens (0.6%)
⛁ Messages: 60k tokens (30%)
⛶ Free space: 115k (57.5%)</local-command-stdout>"""


def named(*blocks: tuple[str, int]) -> tuple[Block, ...]:
    return tuple(Block(Kind.TEXT, n_tokens=tokens, name=name) for name, tokens in blocks)


def test_the_system_prompt_and_every_tool_are_parts_and_the_rest_is_named() -> None:
    transcript = dataclasses.replace(
        Build(overhead=10_000).turns(8).done(), system=named(("", 4_000), ("Read", 700), ("", 500))
    )
    parts = overhead_parts(weigh(transcript))
    assert parts == (
        OverheadPart("system prompt", 4_500, Label.CALIBRATED),
        OverheadPart("tool Read", 700, Label.CALIBRATED),
        OverheadPart(REST, 4_800, Label.CALIBRATED),
    )
    assert sum(part.tokens for part in parts) == 10_000


def test_definitions_longer_than_the_overhead_are_shares_of_it() -> None:
    transcript = dataclasses.replace(Build(overhead=300).turns(8).done(), system=named(("a", 300), ("b", 100)))
    assert overhead_parts(weigh(transcript)) == (
        OverheadPart("tool a", 225, Label.ESTIMATED),
        OverheadPart("tool b", 75, Label.ESTIMATED),
    )


def test_standing_attachments_are_named_with_their_message_and_are_not_in_the_overhead() -> None:
    build = Build(overhead=5_000)
    build.prompt()
    build.add(Role.USER, text(200), attachment="skill_listing")
    build.add(Role.USER, text(30), attachment="todo_reminder")
    weighed = weigh(build.turns(8).done())
    (rest,), (skills,) = overhead_parts(weighed), standing_parts(weighed)
    assert (rest.name, rest.tokens, rest.message) == (REST, weighed.overhead, None)
    around = AROUND["skill_listing"]
    assert (skills.name, skills.message) == ("skill list", 1)
    assert 200 + around <= skills.tokens <= 200 + 1.3 * around
    assert session_document(weighed)["overhead_parts"][1] == {
        "name": "skill list", "tokens": skills.tokens, "label": "calibrated", "message": 1,
    }  # fmt: skip


def test_an_unknown_overhead_has_no_parts() -> None:
    assert overhead_parts(weigh(Build(usage=False).turns(2).done())) == ()


def test_the_output_of_context_names_its_parts_without_messages() -> None:
    assert context_output(OUTPUT) == {
        "system prompt": 2_600, "system tools": 13_300, "mcp tools": 950, "memory files": 1_204,
    }  # fmt: skip
    assert context_output("System prompt: none") == {}


def test_it_is_read_from_the_messages_where_texts_are_at_hand() -> None:
    usage = {"input_tokens": 30_000, "output_tokens": 5}
    lines = [
        {
            "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s",
            "message": {"role": "user", "content": "hi"},
        },
        {
            "type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s",
            "message": {
                "id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage,
                "content": [{"type": "text", "text": "Hello."}],
            },
        },
        {
            "type": "user", "uuid": "u2", "parentUuid": "a1", "sessionId": "s",
            "message": {"role": "user", "content": OUTPUT},
        },
    ]  # fmt: skip
    data = "\n".join(map(json.dumps, lines)).encode()
    parsed = read_transcripts(io.BytesIO(data), "s.jsonl")
    weighed = weigh(parsed.transcripts[0])
    parts = overhead_parts(weighed, Texts(lambda: io.BytesIO(data), parsed.format))
    assert [(p.name, p.tokens) for p in parts][:2] == [("system prompt", 2_600), ("system tools", 13_300)]
    assert sum(p.tokens for p in parts) == weighed.overhead
    assert [p.name for p in overhead_parts(weighed)] == [REST]
