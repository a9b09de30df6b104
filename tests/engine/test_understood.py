"""What a file holds and nobody understood is said with how much it is; a file that was understood says nothing."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.packing import pack
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reports.report import inspect_document
from tests.engine.claude_lines import claude_session
from tests.engine.test_formats_contract import FIXTURES
from tests.samples import samples_dir

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed

TURN = {"role": "user", "content": "Paint the fence"}
SAID = {"role": "assistant", "content": "Brush."}


def read(data: bytes, name: str = "a.jsonl") -> Parsed:
    return read_transcripts(io.BytesIO(data), name)


def lines(*values: Any) -> bytes:
    return b"".join(dumps(value).encode() + b"\n" for value in values)


def gaps(data: bytes) -> list[tuple[str, int, int]]:
    return [(gap.kind, gap.part, gap.whole) for gap in read(data).gaps]


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_a_file_that_is_understood_says_nothing() -> None:
    assert gaps(lines(TURN, SAID, TURN, SAID)) == []
    assert gaps(claude_session(n_turns=9, compact_after=4).encode()) == []


@pytest.mark.parametrize(("n_known", "told"), [(9, []), (8, [("blocks", 1, 9)])])
def test_more_than_a_tenth_of_unknown_blocks_is_told(n_known: int, told: list[tuple[str, int, int]]) -> None:
    """One of ten is a tenth, one of nine is more; the message has other blocks, too."""
    known = [{"type": "text", "text": "one"}] * (n_known - 2)
    data = lines(TURN, said({"type": "smell", "of": "paint"}, *known), SAID)
    assert gaps(data) == told


def test_an_encrypted_block_is_known_to_be_that() -> None:
    data = lines(TURN, said({"type": "smell", "encrypted_content": "abcd"}), SAID)
    assert gaps(data) == []


def test_what_was_not_understood_is_named() -> None:
    (gap,) = read(lines(TURN, said({"type": "smell"}), SAID)).gaps
    assert gap.text == "1 of 3 blocks (33%) of unknown type: smell"


@pytest.mark.parametrize(("turn", "missing"), [(TURN, "reply"), (SAID, "prompt or tool result")])
def test_one_role_alone_is_told(turn: dict[str, Any], missing: str) -> None:
    assert gaps(lines(*[turn] * 3)) == []
    (gap,) = read(lines(*[turn] * 4)).gaps
    assert gap.text == f"No {missing} was found among 4 messages"


def test_call_ids_without_a_call_are_told() -> None:
    turn = {**SAID, "calls": [{"toolCallId": "c1", "toolName": "read"}]}
    assert gaps(lines(TURN, turn, TURN)) == []
    (gap,) = read(lines(TURN, turn, TURN, turn)).gaps
    assert gap.text == "No tool call was read, but the file names 2 call ids"


def test_a_call_id_in_a_text_is_no_call() -> None:
    quoted = {**SAID, "content": 'write "tool_call_id": "c1" here'}
    assert gaps(lines(TURN, quoted, TURN, quoted)) == []


def test_token_counts_that_nobody_read_are_told() -> None:
    counted = {**SAID, "meta": {"input_tokens": 12, "output_tokens": 3}}
    (gap,) = read(lines(TURN, counted, TURN, counted)).gaps
    assert gap.text == "No usage was read, but the file holds 2 token counts"
    nothing = {**SAID, "meta": {"input_tokens": 0}}
    assert gaps(lines(TURN, nothing, TURN, nothing)) == []


def test_counts_over_the_edge_of_a_piece_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {**SAID, "meta": {"input_tokens": 12}}
    data = lines(*[TURN, counted] * 40)
    for size in (211, 300, 997):
        monkeypatch.setattr("sessions.engine.reading.understood.CHUNK_BYTES", size)
        assert gaps(data) == [("usage", 0, 40)]


def test_lines_that_cannot_be_read_are_told_with_their_share() -> None:
    data = lines(TURN, SAID, TURN, SAID) + b'{"role": "user", "content": "Pai'
    (gap,) = read(data).gaps
    assert gap.text == "The file is cut off in line 5, its last: 16% of its bytes could not be read"
    assert (gap.part, gap.whole) == (32, len(data))


def test_lines_before_the_end_that_cannot_be_read_are_counted() -> None:
    data = lines(TURN, SAID) + b"{oops}\n" + lines(TURN) + b'{"role": "user", "content": "Pai'
    (gap,) = read(data).gaps
    assert gap.text.startswith("2 lines (")
    assert "First, on line 3: not JSON" in gap.text


def test_parts_of_a_document_have_no_lines() -> None:
    document = dumps([{"conversations": [{"from": "human", "value": "Bees?"}, {"from": "gpt", "value": "Yes"}]}, {}])
    (gap,) = read(document.encode(), "a.json").gaps
    assert gap.text.startswith("1 part could not be read. First, on line 1:")


def test_lines_of_unknown_types_are_told() -> None:
    strange = [{"type": "hologram", "sessionId": "s", "uuid": f"u{n}"} for n in range(20)]
    data = claude_session(n_turns=9, compact_after=4).encode()
    ((kind, n_strange, n_lines),) = gaps(data + lines(*strange))
    assert (kind, n_strange) == ("records", 20)
    assert n_lines == data.count(b"\n") + 20


def test_the_document_and_every_session_say_it_and_a_stored_one_keeps_it() -> None:
    parsed = read(lines(TURN, said({"type": "smell"}), SAID))
    document = inspect_document(parsed)
    assert document["not_understood"] == [
        {"kind": "blocks", "text": "1 of 3 blocks (33%) of unknown type: smell", "part": 1, "whole": 3}
    ]
    (transcript,) = parsed.transcripts
    assert transcript.gaps == parsed.gaps
    assert pack.unpack(pack.pack(transcript)).gaps == transcript.gaps


UNDERSTOOD = ("claude_code", "codex", "copilot_cli", "qwen_code", "kimi_code", "cursor", "antigravity", "factory_droid")


@pytest.mark.parametrize("path", [p for name in UNDERSTOOD for p in sorted((FIXTURES / name).glob("*"))], ids=str)
def test_fixtures_of_whole_sessions_say_nothing_but_what_is_wrong_with_them(path: Any) -> None:
    odd = {"odd_lines.jsonl", "bare_items.jsonl"}
    assert bool(read(path.read_bytes(), path.name).gaps) == (path.name in odd)


@pytest.mark.samples
def test_a_log_with_results_alone_says_all_that_is_missing() -> None:
    path = samples_dir() / "inspect" / "inspect_ai-log_tool_call_error.json"
    assert {gap.kind for gap in read(path.read_bytes(), path.name).gaps} == {"roles", "calls", "usage"}
