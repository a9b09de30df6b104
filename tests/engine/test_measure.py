from __future__ import annotations

import base64
import dataclasses
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.models.model_info import model_info
from sessions.engine.reading.measure import Measure, decoded_media, settle, utf8_length
from sessions.engine.tokens.estimators._images import image_tokens
from sessions.engine.tokens.text_facts import TextFacts, text_facts
from sessions.engine.tokens.tokenizer import TokenCounter, count
from sessions.engine.transcript.types import Block, Content, Kind, Message, Parsed, Role, Transcript

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (40).to_bytes(4, "big") + (30).to_bytes(4, "big") + bytes(200)
DATA = base64.b64encode(PNG).decode()


def settled(*contents: Content) -> Transcript:
    with TokenCounter() as counter:
        blocks = Measure(counter)(contents)
        assert all(block.n_tokens < 0 for block in blocks if block.n_chars)
        transcript = Transcript("s", "f", (Message(0, "m", Role.USER, blocks),), system=blocks[:1])
        return settle(Parsed(format="f", transcripts=(transcript,)), counter).transcripts[0]


def test_sizes_and_tokens_of_every_level() -> None:
    inner = (Content(Kind.TEXT, "größe 中 😀"), Content(Kind.IMAGE, media_type="image/png", data=DATA))
    result = Content(Kind.TOOL_RESULT, call_id="c1", is_error=True, parts=inner)
    use = Content(Kind.TOOL_USE, '{"a":1}', name="Read", call_id="c1", target="a.py", payload="sig…")
    transcript = settled(use, result)
    call, answer = transcript.messages[0].blocks
    assert (call.n_chars, call.n_bytes, call.n_tokens) == (7, 7, count('{"a":1}').n_tokens)
    assert (call.name, call.call_id, call.target, call.n_payload, call.media) == ("Read", "c1", "a.py", 6, None)
    assert (answer.n_chars, answer.n_tokens, answer.is_error, answer.call_id) == (0, 0, True, "c1")
    text, image = answer.parts
    assert (text.n_chars, text.n_bytes, text.n_tokens) == (9, 16, count("größe 中 😀").n_tokens)
    assert (text.n_non_ascii, call.n_non_ascii) == (4, 0)
    assert image.media is not None
    assert (image.media.n_base64, image.media.width, image.media.height) == (len(DATA), 40, 30)
    assert image.media.sha256 == hashlib.sha256(PNG).hexdigest()
    assert not image.media.problem
    assert transcript.system[0].n_tokens == call.n_tokens


def test_media_are_handed_over_decoded() -> None:
    seen: list[tuple[str, str, bytes]] = []
    urlsafe = base64.urlsafe_b64encode(bytes(range(200, 256)) * 3).decode().rstrip("=")
    contents = [
        Content(Kind.IMAGE, media_type="image/png", data=DATA),
        Content(Kind.DOCUMENT, media_type="application/pdf", data=urlsafe),
        Content(Kind.IMAGE, media_type="image/png", url="https://example.org/ü.png"),
    ]
    with TokenCounter() as counter:
        blocks = Measure(counter, on_media=lambda *call: seen.append(call))(contents)
    assert seen == [
        (hashlib.sha256(PNG).hexdigest(), "image/png", PNG),
        (hashlib.sha256(seen[1][2]).hexdigest(), "application/pdf", bytes(range(200, 256)) * 3),
    ]
    linked = blocks[2].media
    assert linked is not None
    assert (linked.n_url, linked.n_base64, linked.sha256) == (26, 0, "")


def test_broken_base64_is_kept_and_named() -> None:
    with TokenCounter() as counter:
        (block,) = Measure(counter)([Content(Kind.IMAGE, media_type="image/png", data="!!!!not base64 at all€")])
    assert block.media is not None
    assert block.media.n_base64 == 22
    assert block.media.problem
    assert block.media.width == 0


@given(st.binary(max_size=300), st.booleans(), st.booleans())
def test_any_base64_flavour_is_decoded(data: bytes, urlsafe: bool, breaks: bool) -> None:
    text = (base64.urlsafe_b64encode if urlsafe else base64.b64encode)(data).decode()
    if urlsafe:
        text = text.rstrip("=")
    if breaks:
        text = "\n".join(text[at : at + 76] for at in range(0, len(text), 76))
    assert decoded_media(text) == (data, "")


@given(st.text())
def test_utf8_length(text: str) -> None:
    assert utf8_length(text) == len(text.encode())


def test_utf8_length_of_a_lone_surrogate() -> None:
    assert utf8_length("a\ud83d") == 4


def test_settling_keeps_every_fact() -> None:
    """Settle builds blocks field by field: a field added later must be handed on too."""
    with TokenCounter() as counter:
        measure = Measure(counter)
        contents = [
            Content(
                Kind.TOOL_RESULT, "héllo", call_id="c", payload="p", is_error=True, parts=(Content(Kind.TEXT, "ä"),)
            )
        ]
        message = Message(0, "m", Role.USER, measure(contents))
        parsed = settle(Parsed(format="f", transcripts=(Transcript("t", "f", (message,)),)), counter)
    (before,), (after,) = message.blocks, parsed.transcripts[0].messages[0].blocks
    for field in dataclasses.fields(Block):
        if field.name not in {"n_tokens", "parts", *TextFacts._fields}:
            assert getattr(after, field.name) == getattr(before, field.name), field.name
    assert TextFacts(*(getattr(after, name) for name in TextFacts._fields)) == text_facts("héllo")
    assert after.parts[0].n_non_ascii == 1


@pytest.mark.parametrize(
    ("url", "problem", "tokens"),
    [
        ("", "not in the file", 0),
        ("file-abc123", "not in the file", 0),
        ("sha256:0a1b", "not in the file", 0),
        ("blob://0a1b", "not in the file", 0),
        ("/tmp/shot.png", "not in the file", 0),
        ("file-service://file-1", "not in the file", 0),
        ("sediment://file_0a1b", "not in the file", 0),
        ("file:///tmp/shot.png", "not in the file", 0),
        ("https://example.org/a.png", "", 1_369),
        ("gs://bucket/a.png", "", 1_369),
    ],
)
def test_a_picture_that_cannot_be_resolved_weighs_nothing_and_says_so(url: str, problem: str, tokens: int) -> None:
    """An id without data is no size: nothing is charged; an address weighs as 1024 x 1024."""
    with TokenCounter() as counter:
        (block,) = Measure(counter)((Content(Kind.IMAGE, media_type="image/png", url=url),))
    assert block.media is not None
    assert block.media.problem == problem
    assert image_tokens(block.media, model_info("claude-sonnet-4-5")) == tokens
