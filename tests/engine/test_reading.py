"""Bad input of every kind: a clear message with line and byte, and nothing else in the file lost."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import limits
from sessions.engine.base.errors import UnknownName, UnreadableInput
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.tokens.tokenizer import count

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed

GOOD = (
    b'{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"Hello there"}}\n'
    b'{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant",'
    b'"content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":10,"output_tokens":2}}}\n'
)


def read(data: bytes, **options: Any) -> Parsed:
    return read_transcripts(io.BytesIO(data), "upload.jsonl", **options)


def with_line(line: bytes) -> tuple[Parsed, bytes]:
    """A good session with ``line`` between its two lines."""
    first, second = GOOD.splitlines(keepends=True)
    data = first + line + second
    return read(data), data


def said(text: str) -> bytes:
    message = {"role": "user", "content": "PLACE"}
    line = dumps({"type": "user", "uuid": "x", "parentUuid": "u1", "sessionId": "s", "message": message})
    return line.encode().replace(b"PLACE", text.encode("utf-8", "surrogatepass")) + b"\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\n\0\0", "nothing but blanks"),
        (b"Dear diary,\nnothing happened", "text, not JSON"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture, not a transcript"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF, not a transcript"),
        ("﻿{}".encode("utf-16"), "UTF-16"),
        (b'{"type":"user","mess', "JSON is cut off"),
        (b"[" * 100_000, "nested deeper than 500"),
        (b'{"name":"x","version":1}', "no known transcript format"),
        (b"[1,2,3]", "no known transcript format"),
        (b"null", "no known transcript format"),
        (b'[[4, [1, [[0, [[1700000000000, "text", ["[see above]"], [["a.py"]]]]]]]]]', "Cline's context_history.json"),
        (b"[[4, [1, [[0, 3]]]]]", "no known transcript format"),
        (b'{"version": "0.1", "files": [{"path": "a.py", "conversations": [{"ranges": []}]}]}', "an Agent Trace"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_with_a_place_and_a_next_step(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableInput, match=reason) as caught:
        read(data)
    assert caught.value.line >= 1
    assert caught.value.next_step
    assert str(caught.value).startswith("line ")


def test_the_nearest_formats_say_what_was_missing() -> None:
    with pytest.raises(UnreadableInput, match="role_content: lines have a role, but no content beside it"):
        read(b'{"role":"user","txt":"a"}\n{"role":"assistant","txt":"b"}\n')
    with pytest.raises(UnreadableInput, match="claude_code: lines have a type, but none has sessionId"):
        read(b'{"type":"user","text":"a"}\n{"type":"assistant","text":"b"}\n')
    with pytest.raises(
        UnreadableInput, match="anthropic_messages: it has messages, but they are not a list of objects"
    ):
        read(b'{"messages":{"role":"assistant","content":null},"model":"m"}')


def test_messages_with_tool_calls_are_not_anthropics() -> None:
    found = read(b'{"messages":[{"role":"assistant","content":null,"tool_calls":[]}],"model":"m"}')
    assert (found.format, found.reason) == ("openai_chat", "a request: messages, and a message has tool_calls")
    with pytest.raises(UnreadableInput, match="openai_chat: chat messages, but beside 'trajectory', which no chat"):
        read(b'{"messages":[{"role":"assistant","content":null,"tool_calls":[]}],"trajectory":[]}')


def test_a_named_format_that_does_not_exist_names_the_list() -> None:
    with pytest.raises(UnknownName, match="ctxweb formats"):
        read(GOOD, format="no_such_format")


def test_a_named_format_that_does_not_fit_says_so() -> None:
    with pytest.raises(UnreadableInput, match="2 lines were skipped"):
        read(GOOD, format="role_content")


def test_a_truncated_last_line_is_named_and_the_rest_kept() -> None:
    parsed = read(GOOD + GOOD[:60])
    (skipped,) = parsed.skipped
    assert skipped.reason == "truncated last line: JSON is cut off"
    assert (skipped.line, skipped.offset >= len(GOOD)) == (3, True)
    assert len(parsed.transcripts[0].messages) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"user","mess\n', "JSON is cut off"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "nested deeper than 500 levels"),
        (b"\0" * 40 + b"\n", "40 NUL or blank bytes"),
        (b"\xff\xfe\xfd\n", "not JSON: Expecting value"),
        (b"42\n", "not an object but a number"),
    ],
)
def test_a_bad_line_is_skipped_with_its_place(line: bytes, reason: str) -> None:
    parsed, data = with_line(line)
    (skipped,) = parsed.skipped
    start = data.index(b"\n") + 1
    assert (skipped.line, skipped.reason) == (2, reason)
    assert start <= skipped.offset <= start + len(line)
    assert len(parsed.transcripts[0].messages) == 2
    assert len(parsed.transcripts[0].requests) == 1


def test_a_line_over_the_limit_is_skipped_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 2000)
    parsed, data = with_line(said("y" * 100_000))
    (skipped,) = parsed.skipped
    assert (skipped.line, skipped.offset) == (2, data.index(b"\n") + 1)
    assert skipped.reason.startswith("line of 100,099 bytes")
    assert len(parsed.transcripts[0].messages) == 2


def test_a_first_line_over_the_limit_does_not_hide_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 2000)
    parsed = read(said("y" * 100_000) + GOOD)
    assert [skipped.line for skipped in parsed.skipped] == [1]
    assert (parsed.format, len(parsed.transcripts[0].messages)) == ("claude_code", 2)


def test_a_file_of_one_line_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 2000)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 5000)
    with pytest.raises(UnreadableInput, match=r"10,0\d\d bytes"):
        read(b'{"a":"' + b"y" * 10_000 + b'"}')


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("cut \\ud83d here", "cut \ufffd here"),
        ("raw \ud83d here", "raw \ufffd\ufffd\ufffd here"),
        ("nul \\u0000 here", "nul \0 here"),
        ("bell \a here", "bell \a here"),
        (" " * 1_000_000, " " * 1_000_000),
    ],
    ids=["lone surrogate", "surrogate bytes", "nul", "control character", "spaces"],
)
def test_strange_text_is_kept_measured_and_read_again(text: str, kept: str) -> None:
    parsed, data = with_line(said(text))
    assert not parsed.skipped
    message = parsed.transcripts[0].messages[1]
    (content,) = read_contents(io.BytesIO(data), "claude_code", message)
    assert content.text == kept
    assert message.blocks[0].n_bytes == len(kept.encode())
    assert message.blocks[0].n_tokens == count(kept).n_tokens > 0
    assert "\0" not in message.preview


def test_tokens_are_settled_and_the_reason_is_told() -> None:
    parsed = read(GOOD)
    assert [m.blocks[0].n_tokens for m in parsed.transcripts[0].messages] == [2, 1]
    assert parsed.reason == "2 of the first 2 lines are chained session lines"


def test_media_and_progress_are_handed_out() -> None:
    media: list[tuple[str, str, int]] = []
    told: list[int] = []
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    line = {"type": "user", "uuid": "i", "sessionId": "s", "message": {"role": "user", "content": [block]}}
    data = GOOD + dumps(line).encode()
    read(data, on_media=lambda sha, kind, raw: media.append((sha, kind, len(raw))), on_progress=told.append)
    assert media == [(hashlib.sha256(b"hello").hexdigest(), "image/png", 5)]
    assert told[-1] == len(data)


def test_one_source_serves_many_messages_and_a_wrong_file_is_said() -> None:
    parsed = read(GOOD)
    messages = parsed.transcripts[0].messages
    source = Source(io.BytesIO(GOOD))
    assert [read_contents(source, "claude_code", m)[0].text for m in messages] == ["Hello there", "Hi"]
    with pytest.raises(UnreadableInput):
        read_contents(io.BytesIO(GOOD[40:]), "claude_code", messages[0])
