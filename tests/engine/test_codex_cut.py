"""What Codex keeps of a tool's output, at, one below and one above each boundary, and what a session then weighs."""

from __future__ import annotations

import io

import pytest

from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.byte_breakdown import MESSAGES
from sessions.engine.reading.formats._codex_cut import Cut, cut_contents, cut_named, cut_of, cut_text
from sessions.engine.reading.jsonio import dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.transcript.types import Block, Content, Kind, Message, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh

UTF8 = "😀" * 10 + "\nsecond line with text\n"


@pytest.mark.parametrize(
    ("text", "cut", "kept"),
    [
        ("example output", Cut("bytes", 1), "…13 chars truncated…t"),
        ("example output", Cut("tokens", 1), "ex…3 tokens truncated…ut"),
        ("example output", Cut("tokens", 10), "example output"),
        ("this is an example of a long output that should be truncated", Cut("tokens", 5),
         "this is an…10 tokens truncated… truncated"),
        ("this is an example of a long output that should be truncated", Cut("bytes", 30),
         "this is an exam…30 chars truncated…ld be truncated"),
        (UTF8, Cut("bytes", 20), "😀😀…21 chars truncated…with text\n"),
        (UTF8, Cut("tokens", 8), "😀😀😀😀…8 tokens truncated… line with text\n"),
        ("一二三四五六七八九十", Cut("bytes", 12), "一二…6 chars truncated…九十"),
    ],
)  # fmt: skip
def test_half_stays_from_the_head_and_half_from_the_tail(text: str, cut: Cut, kept: str) -> None:
    """The golden values of the original's own tests; characters stay whole."""
    assert cut_text(text, cut) == kept


@pytest.mark.parametrize(
    ("model", "policy", "cut"),
    [
        ("gpt-5.6-sol", None, Cut("tokens", 12_000)),
        ("gpt-5.3", None, Cut("tokens", 12_000)),
        ("gpt-5.2", None, Cut("bytes", 12_000)),
        ("gpt-5", None, Cut("bytes", 12_000)),
        ("gpt-5.2-codex", None, Cut("tokens", 12_000)),
        ("some-model", None, Cut("bytes", 12_000)),
        ("gpt-5.6", {"mode": "tokens", "limit": 123}, Cut("tokens", 148)),
        ("gpt-5.6", {"mode": "bytes", "limit": 10}, Cut("bytes", 12)),
        ("gpt-5.6", {"mode": "[trimmed]", "limit": 0}, Cut("tokens", 12_000)),
        ("", None, None),
    ],
)
def test_the_policy_is_the_turns_else_the_models(model: str, policy: object, cut: Cut | None) -> None:
    """× 1.2, rounded up: 123 tokens → 148."""
    assert cut_of(model, policy) == cut
    assert cut is None or cut_named(str(cut)) == cut


@pytest.mark.parametrize(("n_bytes", "cut"), [(47_999, False), (48_000, False), (48_001, True)])
def test_the_boundary_in_tokens_is_48_000_bytes(n_bytes: int, cut: bool) -> None:
    assert (cut_text("x" * n_bytes, Cut("tokens", 12_000)) != "x" * n_bytes) is cut


@pytest.mark.parametrize(("n_bytes", "cut"), [(11_999, False), (12_000, False), (12_001, True)])
def test_the_boundary_in_bytes_is_12_000(n_bytes: int, cut: bool) -> None:
    assert (cut_text("é" * (n_bytes // 2) + "x" * (n_bytes % 2), Cut("bytes", 12_000)).count("…") == 2) is cut


def parts(*texts: str | None) -> Content:
    made = [Content(Kind.IMAGE, url="img") if text is None else Content(Kind.TEXT, text=text) for text in texts]
    return Content(Kind.TOOL_RESULT, call_id="c", parts=tuple(made))


def test_the_items_of_an_output_share_the_budget_and_the_rest_is_omitted() -> None:
    """Pictures stay; an item that does not fit is cut to what is left, later ones are counted."""
    (found,) = cut_contents([parts("a" * 8, None, "b" * 40, "c", "d")], Cut("tokens", 5))
    assert [part.text for part in found.parts] == [
        "a" * 8, "", "bbbbbb…7 tokens truncated…bbbbbb", "[omitted 2 text items ...]",
    ]  # fmt: skip


@pytest.mark.parametrize(("last", "same"), [(11, True), (12, True), (13, False)])
def test_items_that_fill_the_budget_exactly_stay(last: int, same: bool) -> None:
    """Two tokens and three make five; an item's tokens are rounded up by themselves."""
    content = parts("a" * 7, "b" * last)
    (found,) = cut_contents([content], Cut("tokens", 5))
    assert (found is content) is same


def rollout(n_bytes: int, model: str = "gpt-5.6", **context: object) -> bytes:
    """A prompt, a call whose output has ``n_bytes`` bytes, and a reply; 2,000 tokens of overhead."""
    words = ("lorem ipsum dolor " * (n_bytes // 18 + 1))[:n_bytes]
    lines = [
        ("session_meta", {"id": "s", "cli_version": "0.150.0"}),
        ("turn_context", {"model": model, **context}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}),
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": words}),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}),
    ]
    return b"".join(dumps({"type": kind, "payload": payload}).encode() + b"\n" for kind, payload in lines)


def session(data: bytes) -> Transcript:
    (found,) = read_transcripts(io.BytesIO(data), "rollout.jsonl").transcripts
    return found


def test_a_long_output_weighs_what_was_sent() -> None:
    """48,000 bytes and the marker, not the 90,000 of the file; sizes, text and a stored session agree."""
    data = rollout(90_000)
    made = session(data)
    (result,) = made.messages[2].blocks
    assert result.n_bytes == 48_000 + len("…10500 tokens truncated…".encode())
    assert result.cut == "tokens 12000"
    (content,) = read_contents(io.BytesIO(data), "codex", made.messages[2])
    assert (len(content.text), content.text.count("…10500 tokens truncated…")) == (result.n_chars, 1)
    assert unpack(pack(made)) == made
    whole = session(rollout(48_000)).messages[2].blocks[0]
    assert whole.cut == ""
    assert 0 < weigh(made).tokens[2] - weigh(session(rollout(48_000))).tokens[2] < 20


def test_what_is_cut_off_is_told_and_accounted_for() -> None:
    data = rollout(90_000)
    found = read_transcripts(io.BytesIO(data), "rollout.jsonl")
    removed = 90_000 - 48_000 - len("…10500 tokens truncated…".encode())
    assert found.warnings == (
        f"Tool outputs that Codex cuts before it sends them: 1; {removed:,} bytes stand in the file alone",
    )
    fates = {fate.name: fate for fate in found.fates}
    assert fates["tool output that the agent cuts off before it sends it"].n_bytes == removed
    assert not fates["tool output that the agent cuts off before it sends it"].is_context
    assert 48_000 < fates[MESSAGES].n_bytes < 48_100
    assert sum(fate.n_bytes for fate in found.fates) == len(data)


@pytest.mark.parametrize(
    ("model", "context", "n_bytes"),
    [
        ("gpt-5.2", {}, 12_000),
        ("gpt-5.2-codex", {}, 48_000),
        ("gpt-5.2", {"truncation_policy": {"mode": "tokens", "limit": 100}}, 480),
    ],
)
def test_the_turns_model_decides(model: str, context: dict[str, object], n_bytes: int) -> None:
    at, over = (session(rollout(n, model, **context)).messages[2].blocks[0].cut for n in (n_bytes, n_bytes + 1))
    assert (at, bool(over)) == ("", True)


def test_an_error_that_was_cut_is_stored_with_both_marks() -> None:
    block = Block(Kind.TOOL_RESULT, 3, 5, 2, is_error=True, approximate=True, cut="bytes 12", n_non_ascii=1)
    made = Transcript("s", "codex", (Message(0, "m", Role.USER, (block, Block(Kind.TEXT, 1, 1, is_error=True))),))
    assert unpack(pack(made)) == made
