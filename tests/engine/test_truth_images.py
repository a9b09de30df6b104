"""Image and document rules against what providers recorded on the shared samples (estimators 12)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from sessions.engine.models.model_info import model_info
from sessions.engine.reading import images
from sessions.engine.reading.jsonio import loads
from sessions.engine.tokens.estimators._images import image_tokens, tokens_of_size
from sessions.engine.transcript.types import Kind, Message
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.truth_facts import all_messages, fact, leaves, parsed, place, sample_names
from tests.samples import samples_dir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sessions.engine.weigh.calibration.weighed import Weighed

MIXED = {("claude-code/trycua-vim.jsonl", 42): ("todo_reminder",)}
"""Screenshots that an attachment follows before the next call, so that the growth is not the screenshot's alone."""


def steps(name: str) -> Iterator[tuple[Weighed, Message, int, tuple[str, ...]]]:
    """Each recorded step with an image: the session as weighed, the result, its measured cost, what came between."""
    transcript = parsed(name).transcripts[0]
    weighed = weigh(transcript)
    for line, before, output, after, n_between in fact(name, "image_steps", []):
        message = next(m for m in transcript.messages if any(o.line == line for o in m.origins))
        between = transcript.messages[message.index + 1 : message.index + 1 + n_between]
        yield weighed, message, after - before - output, tuple(m.attachment for m in between)


@pytest.mark.parametrize("name", sample_names("claude-code"))
def test_every_unmixed_screenshot_is_within_3_percent_of_what_it_cost(name: str) -> None:
    """1,062 tokens for 1024 x 768 JPEGs of 48 to 195 KB alike; by the fit and by the prior alone."""
    prior = weigh(parsed(name).transcripts[0], train_fraction=0)
    for weighed, message, measured, between in steps(name):
        place = (name, message.origins[0].line)
        assert between == MIXED.get(place, ())
        (leaf,) = (leaf for leaf in message.leaves() if leaf.kind is Kind.IMAGE)
        assert leaf.media
        assert (leaf.media.width, leaf.media.height) == (1024, 768)
        assert 47_000 < leaf.media.n_base64 < 196_000
        assert weighed.image_tokens(leaf) == 1_036
        if not between:
            assert measured == 1_062
            assert weighed.tokens[message.index] == pytest.approx(measured, rel=0.03)
            assert prior.tokens[message.index] == pytest.approx(measured, rel=0.03)


def test_there_are_fourteen_screenshots_and_one_is_mixed() -> None:
    found = [between for name in sample_names("claude-code") for *_, between in steps(name)]
    samples_dir()
    assert (len(found), sum(map(bool, found))) == (14, 1)


def input_of(name: str) -> dict[str, Any]:
    value = loads(place(name).read_bytes())
    usage: dict[str, Any] = value.get("usage") or value["usageMetadata"]
    return usage


def test_a_big_png_on_gemini_and_on_gpt_4o() -> None:
    """3,008 x 2,000: 3,354 image tokens on Gemini 2.0; within the whole request's 1,119 on gpt-4o, 14 of them text."""
    details = input_of("gemini-api/image_inline_data_2.7MB.0.response.json")["promptTokensDetails"]
    (image,) = leaves("gemini-api/image_inline_data_2.7MB.0.request.json", Kind.IMAGE)
    assert image.media
    assert image_tokens(image.media, model_info("gemini-2.0-flash")) == 3_354
    assert {d["modality"]: d["tokenCount"] for d in details}["IMAGE"] == 3_354
    whole = input_of("openai-chat/image_data_uri_2.7MB.0.response.json")["prompt_tokens"]
    (image,) = leaves("openai-chat/image_data_uri_2.7MB.0.request.json", Kind.IMAGE)
    assert image.media
    tokens = image_tokens(image.media, model_info("gpt-4o"))
    assert (tokens, whole) == (1_105, 1_119)
    assert tokens <= whole


@pytest.mark.parametrize("name", ["tool_result_image", "direct_image_after_tool"])
def test_a_photo_on_claude_is_within_6_percent_of_what_it_added(name: str) -> None:
    """597 x 566: the message with it, against the second request less the first and its reply."""
    first, second = (input_of(f"anthropic-api/{name}.{n}.response.json") for n in (0, 1))
    added = second["input_tokens"] - first["input_tokens"] - first["output_tokens"]
    (transcript,) = parsed(f"anthropic-api/{name}.1.request.json").transcripts
    weighed = weigh(transcript)
    message = max(all_messages(f"anthropic-api/{name}.1.request.json"), key=lambda m: weighed.tokens[m.index])
    assert tokens_of_size(597, 566, "standard") == 462
    assert weighed.tokens[message.index] == pytest.approx(added, rel=0.06)
    if name == "tool_result_image":
        assert added == 484


def test_a_photo_on_gpt_5_mini_is_within_6_percent_of_what_it_added() -> None:
    name = "openai-chat/image_after_tool"
    first, second = (input_of(f"{name}.{n}.response.json") for n in (0, 1))
    added = second["prompt_tokens"] - first["prompt_tokens"] - first["completion_tokens"]
    (image,) = leaves(f"{name}.1.request.json", Kind.IMAGE)
    assert image.media
    tokens = image_tokens(image.media, model_info("gpt-5-mini"))
    assert (tokens, added) == (411, 424)
    assert tokens == pytest.approx(added, rel=0.06)


def test_a_pdf_page_costs_its_image_and_its_text() -> None:
    """A page of a few words: recorded just above its image; the estimate stands for a full page and says so."""
    recorded = input_of("anthropic-api/pdf_document_input.0.response.json")["input_tokens"]
    page_image = tokens_of_size(1075, 1520, "standard")
    (document,) = leaves("anthropic-api/pdf_document_input.0.request.json", Kind.DOCUMENT)
    assert document.media
    assert document.media.n_pages == 1
    assert page_image == 1_551
    assert page_image < recorded < 1.05 * page_image


def test_a_header_is_read_from_a_prefix_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PNG of 3 MB: the first 64 bytes are decoded; a JPEG behind 260 KB of EXIF: no more than the prefixes."""
    decoded: list[int] = []
    decode = base64.b64decode

    def counted(data: bytes) -> bytes:
        decoded.append(len(data))
        return decode(data)

    monkeypatch.setattr(base64, "b64decode", counted)
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (3008).to_bytes(4, "big") + (2000).to_bytes(4, "big")
    facts = images.media_facts("image/png", base64.b64encode(head + bytes(3_000_000)).decode())
    assert (facts.width, facts.height, decoded) == (3008, 2000, [100])
    decoded.clear()
    segments = b"".join(b"\xff\xe1\xff\xff" + bytes(65_533) for _ in range(4))
    frame = b"\xff\xc0\0\x11\x08" + (480).to_bytes(2, "big") + (640).to_bytes(2, "big")
    jpeg = b"\xff\xd8" + segments + frame + bytes(2_000_000)
    facts = images.media_facts("image/jpeg", base64.b64encode(jpeg).decode())
    assert (facts.width, facts.height, len(decoded)) == (640, 480, 4)
    assert max(decoded) < 1.2 * (1 << 20) * 4 / 3
