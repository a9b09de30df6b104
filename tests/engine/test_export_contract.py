"""Parse, export, parse: messages, order, roles, blocks and, where the target has a place for it, usage are kept."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.jsonio import JsonProblem, Source, dumps, loads
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.reports.export import export, reader, whole
from sessions.engine.reports.exports import ExportedMessage, Listing, Report
from sessions.engine.reports.exports._documents import json_object
from sessions.engine.transcript.types import Kind, Role
from tests.engine.test_formats_contract import FILES, IDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sessions.engine.transcript.types import Content, Message, Transcript

    Shape = tuple[Any, ...]

READ_BY = {"jsonl": "ctxweb_jsonl", "anthropic": "anthropic_messages", "openai": "openai_chat"}
PARAMETERS = ("name", "path")


def transcripts(path: Path) -> Iterator[tuple[Transcript, list[tuple[Content, ...]], Source]]:
    """Every session of a fixture with its texts."""
    with path.open("rb") as file:
        parsed = read_transcripts(file, path.name)
        source = Source(file)
        for transcript in parsed.transcripts:
            if transcript.messages:
                yield transcript, [read_contents(source, parsed.format, m) for m in transcript.messages], source


def written(transcript: Transcript, source: Source, target: str) -> tuple[bytes, Report]:
    report = Report()
    read = reader(None, lambda message: read_contents(source, transcript.format, message))
    return "".join(export(whole(transcript), target, read, report)).encode(), report


def read_back(data: bytes, target: str) -> tuple[Transcript, list[tuple[Content, ...]]]:
    """The exported file as the right format reads it, found without being told."""
    file = io.BytesIO(data)
    parsed = read_transcripts(file, "export.json")
    assert parsed.format == READ_BY[target]
    (transcript,) = parsed.transcripts
    assert not parsed.skipped
    source = Source(file)
    return transcript, [read_contents(source, parsed.format, m) for m in transcript.messages]


def without_offsets(message: Message) -> Message:
    """What a message says of itself; its preview is made of its first words anew."""
    return replace(message, origins=(), preview="")


@pytest.mark.parametrize(PARAMETERS, FILES, ids=IDS)
def test_our_own_lines_keep_everything(name: str, path: Path) -> None:
    del name
    for before, texts, source in transcripts(path):
        data, report = written(before, source, "jsonl")
        after, found = read_back(data, "jsonl")
        assert found == texts
        assert [without_offsets(m) for m in after.messages] == [without_offsets(m) for m in before.messages]
        assert after.requests == before.requests
        assert after.compactions == before.compactions
        assert (after.errors, after.clearings) == (before.errors, before.clearings)
        for fact in ("id", "title", "model", "client", "window", "parent_id", "parent_call_id"):
            assert getattr(after, fact) == getattr(before, fact)
        assert report.n_messages == len(before.messages)
        assert set(report.lost) <= {"blocks of the system prompt and tool definitions"}


@pytest.mark.parametrize(PARAMETERS, FILES, ids=IDS)
def test_an_anthropic_request_keeps_messages_and_blocks(name: str, path: Path) -> None:
    del name
    for before, texts, source in transcripts(path):
        expected = list(_anthropic(before, texts))
        data, report = written(before, source, "anthropic")
        if not expected:
            assert not report.n_messages
            continue
        after, found = read_back(data, "anthropic")
        assert [(m.role, shapes(c)) for m, c in zip(after.messages, found, strict=True)] == expected
        assert report.n_messages == len(expected)
        assert report.lost["reported usages"] == sum(r.usage is not None for r in before.requests)


@pytest.mark.parametrize(PARAMETERS, FILES, ids=IDS)
def test_a_chat_request_keeps_messages_and_blocks(name: str, path: Path) -> None:
    del name
    for before, texts, source in transcripts(path):
        expected = list(_together(_chat(before.messages, texts)))
        data, report = written(before, source, "openai")
        if not expected:
            assert not report.n_messages
            continue
        after, found = read_back(data, "openai")
        assert [(m.role, shapes(c)) for m, c in zip(after.messages, found, strict=True)] == expected
        opaque = sum(b.kind is Kind.OPAQUE for m in before.messages for b in m.leaves())
        assert report.lost["opaque blocks"] == opaque


def shapes(contents: Iterable[Content]) -> list[Shape]:
    """Kind, text, call id, picture (or its link) and parts of each block; arguments as the value they are."""
    return [
        (c.kind, _arguments(c.text) if c.kind is Kind.TOOL_USE else c.text, c.call_id, c.data or c.url, shapes(c.parts))
        for c in contents
    ]


def _arguments(text: str) -> str:
    """Arguments whatever their style: the value as compact JSON, free text as it is."""
    try:
        return dumps(loads(text.encode())) if text else "{}"
    except JsonProblem:
        return text


def _anthropic(session: Transcript, texts: Iterable[tuple[Content, ...]]) -> Iterator[tuple[Role, list[Shape]]]:
    """What the target says it keeps: no leading system message, no empty message, objects as arguments."""
    leading, own = True, session.format in {"claude_code", "anthropic_messages", "role_content"}
    for message, contents in zip(session.messages, texts, strict=True):
        leading = leading and message.role is Role.SYSTEM
        kept = [_sendable(c) for c in (contents if own else _readable(contents)) if c.kind is not Kind.TEXT or c.text]
        if kept and not leading:
            yield Role.ASSISTANT if message.role is Role.ASSISTANT else Role.USER, shapes(kept)


def _readable(contents: Iterable[Content]) -> list[Content]:
    """Without what only another provider can read."""
    own = [c for c in contents if c.kind is not Kind.OPAQUE or c.name == "redacted_thinking"]
    return [replace(c, parts=tuple(_readable(c.parts))) for c in own]


def _sendable(content: Content) -> Content:
    if content.kind is Kind.TOOL_USE and content.text and json_object(content.text) is None:
        return replace(content, text=dumps({"arguments": content.text}))
    if content.parts and content.text:
        first = replace(content, kind=Kind.TEXT, call_id="", parts=())
        return replace(content, text="", parts=(first, *content.parts))
    return content


def _chat(messages: Iterable[Message], texts: Iterable[tuple[Content, ...]]) -> Iterator[tuple[Role, list[Shape]]]:
    """What the target says it keeps: results one by one, their pictures after the last of them."""
    shown: list[Content] = []
    for message, contents in zip(messages, texts, strict=True):
        for result in (c for c in contents if c.kind is Kind.TOOL_RESULT):
            said = [c for c in result.parts if c.kind is Kind.TEXT and c.text]
            said = [replace(result, kind=Kind.TEXT, parts=(), call_id=""), *said] if result.text else said
            one = replace(result, text=said[0].text if said else "", parts=())
            yield Role.USER, shapes([one if len(said) < 2 else replace(result, text="", parts=tuple(said))])
            shown += [c for c in result.parts if _has_place(c) and c.kind is not Kind.TEXT]
        rest = [c for c in contents if c.kind is not Kind.TOOL_RESULT and _has_place(c)]
        if not rest:
            continue
        if shown:
            yield Role.USER, shapes(_as_text(shown))
            shown = []
        calls = [c for c in rest if c.kind is Kind.TOOL_USE]
        yield message.role, shapes(_as_text([c for c in rest if c.kind is not Kind.TOOL_USE]) + calls)
    if shown:
        yield Role.USER, shapes(_as_text(shown))


def _together(said: Iterable[tuple[Role, list[Shape]]]) -> Iterator[tuple[Role, list[Shape]]]:
    """Calls that are answered together, and what is said between them, in one message: the texts before the calls."""
    run: list[tuple[Role, list[Shape]]] = []
    for role, blocks in said:
        if role is Role.ASSISTANT and (run or any(shape[0] is Kind.TOOL_USE for shape in blocks)):
            run.append((role, blocks))
            continue
        if run and blocks[0][0] is Kind.TOOL_RESULT:
            every = [shape for _, one in run for shape in one]
            run = [(Role.ASSISTANT, sorted(every, key=lambda shape: shape[0] is Kind.TOOL_USE))]
        yield from run
        run = []
        yield role, blocks
    yield from run


def _has_place(content: Content) -> bool:
    if content.kind in (Kind.THINKING, Kind.OPAQUE):
        return False
    return content.kind is Kind.TOOL_USE or bool(content.text or content.data or content.url)


def _as_text(contents: list[Content]) -> list[Content]:
    return [replace(c, kind=Kind.TEXT) if c.kind is Kind.DOCUMENT and c.text else c for c in contents]


@pytest.mark.parametrize("target", sorted(registry.plugins("exports")))
def test_a_target_says_what_it_is(target: str) -> None:
    plugin: Any = registry.get("exports", target)
    assert plugin.label
    assert plugin.source
    assert plugin.suffix.startswith(".")
    assert "Cannot carry" in (__import__(plugin.write.__module__, fromlist=["x"]).__doc__ or "")


def test_texts_are_read_one_message_at_a_time() -> None:
    (path,) = [p for _, p in FILES if p.name == "compaction_preserved.jsonl"]
    for transcript, _, source in transcripts(path):
        reads: list[str] = []

        def read(message: Message, seen: list[str] = reads, of: Transcript = transcript, at: Source = source) -> Any:
            seen.append(message.id)
            return read_contents(at, of.format, message)

        for target in READ_BY:
            reads.clear()
            pieces = export(whole(transcript), target, reader(None, read))
            for _ in range(3):
                next(pieces)
            assert len(reads) <= 3


def test_what_an_edit_left_stands_and_the_rest_is_named_by_its_length() -> None:
    (path,) = [p for _, p in FILES if p.name == "parallel_tools.jsonl"]
    opened = transcripts(path)
    transcript, texts, source = next(opened)
    shot = next(m for m in transcript.messages if m.role is Role.USER and any(b.parts for b in m.blocks))
    cleared = replace(shot.blocks[0], parts=(), n_bytes=7, n_chars=7)
    edited = replace(shot, blocks=(cleared, *shot.blocks[1:]))
    entries = (
        ExportedMessage(shot.id, edited, original=shot),
        ExportedMessage("e0.0", replace(shot, index=-1, preview="[summary]")),
    )
    report = Report()
    read = reader(None, lambda message: read_contents(source, transcript.format, message), report)
    data = "".join(export(Listing(transcript, entries, "after"), "jsonl", read, report)).encode()
    (found, inserted) = read_back(data, "jsonl")[1]
    assert found[0].call_id == texts[shot.index][0].call_id
    assert found[0].text == "[edited by the replay: 7 bytes are left]"
    assert found[1:] == texts[shot.index][1:]
    assert [c.text for c in inserted] == ["[summary]"]
    assert sum(n for what, n in report.lost.items() if "replay" in what) == 2
