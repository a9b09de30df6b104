"""Every byte of a file has one fate, and the shares are those of the lines that were written."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest

from sessions.engine.reading import byte_breakdown
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reports.report import inspect_document
from sessions.engine.transcript.types import Fate, Parsed
from tests.samples import find_samples, samples_dir
from tests.services.claude_lines import Lines, png
from tests.services.families import rollout


def parsed(data: bytes, name: str = "a.jsonl") -> Parsed:
    return read_transcripts(io.BytesIO(data), name)


def by_name(result: Parsed) -> dict[str, Fate]:
    return {fate.name: fate for fate in result.fates}


def mixed() -> tuple[Lines, dict[str, int]]:
    """A session with every sort of line, and the bytes that each sort takes."""
    image = base64.b64encode(png(300, 200)).decode()
    lines = Lines().prompt("Look at ünïcode")
    said: list[dict[str, Any]] = [{"type": "thinking", "thinking": "", "signature": "S" * 500}]
    lines.emit("assistant", message={"id": "m1", "role": "assistant", "model": "claude-sonnet-4-5", "content": said})
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": image}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    twin = {"type": "image", "file": {"base64": image}}
    lines.emit("user", message={"role": "user", "content": [result]}, toolUseResult=twin)
    lines.emit("progress", data={"type": "hook_progress"})
    lines.emit("system", subtype="turn_duration")
    lines.emit("new-thing", payload=1)
    error = {"id": "m2", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "oops"}]}
    lines.emit("assistant", message=error)
    lengths = [len(line) for line in lines.lines]
    return lines, {
        "images and documents (base64)": len(image),
        "signatures and encrypted payloads": 500,
        "toolUseResult copies": len(dumps(twin)),
        "progress records": lengths[3],
        "system records": lengths[4],
        "unknown type 'new-thing'": lengths[5],
        "error and synthetic replies": lengths[6],
        "message text and tool data": len("Look at ünïcode".encode()),
        "line ends and blanks": 7,
    }


def test_each_sort_of_line_has_its_bytes() -> None:
    lines, expected = mixed()
    found = by_name(parsed(lines.bytes()))
    assert {name: found[name].n_bytes for name in expected} == expected
    assert sum(fate.n_bytes for fate in found.values()) == len(lines.bytes())
    assert sum(fate.n_lines for fate in found.values() if not fate.is_part) == 7
    assert {name for name, fate in found.items() if fate.is_context} == {
        "message text and tool data", "images and documents (base64)", "signatures and encrypted payloads",
    }  # fmt: skip
    assert {name for name, fate in found.items() if fate.is_opaque} == {
        "signatures and encrypted payloads", "unknown type 'new-thing'",
    }  # fmt: skip


def test_skipped_lines_are_told_from_line_ends() -> None:
    lines, _ = mixed()
    bad = b"{cut off"
    found = by_name(parsed(lines.bytes() + bad + b"\n" + b"[1]\n"))
    assert (found["lines that could not be read"].n_lines, found["line ends and blanks"].n_bytes) == (2, 7)
    assert found["lines that could not be read"].n_bytes == len(bad) + len("[1]") + 2


def test_codex_events_are_not_context_and_the_system_prompt_is() -> None:
    meta = {"id": "t1", "cwd": "/w", "base_instructions": {"text": "Be brief. " * 20}}
    first = dumps({"timestamp": "2026-09-01T08:00:00.000Z", "type": "session_meta", "payload": meta})
    event = dumps({"timestamp": "x", "type": "event_msg", "payload": {"type": "exec_command_end", "stdout": "y" * 300}})
    data = (first + "\n" + event + "\n").encode() + rollout("t1").split(b"\n", 1)[1]
    found = by_name(parsed(data))
    assert found["system prompt and tools"].n_bytes == 200
    assert found["system prompt and tools"].is_context
    assert (found["exec_command_end events"].n_lines, found["exec_command_end events"].n_bytes) == (1, len(event))
    assert not found["exec_command_end events"].is_context
    assert found["message text and tool data"].n_bytes == len("Work as t1ok")
    assert sum(fate.n_bytes for fate in found.values()) == len(data)


def test_other_formats_weigh_their_messages_against_the_file() -> None:
    chat = {"messages": [{"role": "user", "content": "x" * 100}, {"role": "assistant", "content": "y" * 50}]}
    data = dumps(chat).encode()
    found = by_name(parsed(data, "a.json"))
    assert found["message text and tool data"].n_bytes == 150
    assert found["everything else in the file"].n_bytes == len(data) - 150


def test_the_sentence_names_the_largest_parts() -> None:
    some = (
        Fate("kept", 5, 570, True), Fate("copies", 5, 300, False, True), Fate("progress records", 9, 129, False),
        Fate("ends", 0, 1, False),
    )  # fmt: skip
    said = "43% of this file is not sent to the model: copies 30%, progress records 13%"
    assert byte_breakdown.sentence(some) == said
    assert byte_breakdown.sentence(()) == ""
    assert byte_breakdown.sentence([Fate("kept", 1, 9, True)]) == "0% of this file is not sent to the model"
    assert [byte_breakdown.share(*pair) for pair in ((1, 10_000), (0, 5), (5, 0), (1, 100))] == [
        "under 0.1%", "0%", "0%", "1.0%",
    ]  # fmt: skip


def test_several_files_add_up() -> None:
    one, two = (Fate("a", 1, 10, True), Fate("b", 1, 5, False)), (Fate("b", 2, 20, False),)
    assert byte_breakdown.merged([one, two]) == (Fate("b", 3, 25, False), Fate("a", 1, 10, True))


def test_the_document_carries_them() -> None:
    lines, expected = mixed()
    rows = inspect_document(parsed(lines.bytes()))["fates"]
    assert {row["name"]: row["n_bytes"] for row in rows}.items() >= expected.items()
    assert set(rows[0]) == {"name", "n_lines", "n_bytes", "is_context", "is_part", "is_opaque"}


SAMPLES = find_samples()
FOLDERS = ("claude-code", "codex")
PATHS = [path for folder in FOLDERS for path in (SAMPLES / folder).rglob("*.jsonl")] if SAMPLES else []
NAMES = sorted(str(path.relative_to(SAMPLES)) for path in PATHS) if SAMPLES else ["claude-code"]


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_the_fates_of_every_shared_sample_add_up_to_its_size(name: str) -> None:
    data = (samples_dir() / name).read_bytes()
    result = parsed(data, name)
    assert sum(fate.n_bytes for fate in result.fates) == len(data)
    n_lines = sum(1 for line in data.splitlines() if line.strip(b" \t\r\n\0"))
    assert sum(fate.n_lines for fate in result.fates if not fate.is_part) == n_lines
