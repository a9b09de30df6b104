"""Images and documents by their link: data URIs, bare base64, addresses; usage as OpenAI counts it."""

from __future__ import annotations

import pytest

from sessions.engine.reading.formats._blocks import media_link
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.transcript.types import Content, Kind, Usage


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("data:image/png;base64,AAAA", Content(Kind.IMAGE, media_type="image/png", data="AAAA")),
        ("DATA:image/png;name=a.png;BASE64,AAAA", Content(Kind.IMAGE, media_type="image/png", data="AAAA")),
        ("data:;base64,AAAA", Content(Kind.IMAGE, data="AAAA")),
        ("data:application/pdf;base64,AAAA", Content(Kind.DOCUMENT, media_type="application/pdf", data="AAAA")),
        ("data:text/plain,a%20b", Content(Kind.DOCUMENT, media_type="text/plain", data="YSBi")),
        ("data:text/plain;charset=utf-8,a", Content(Kind.DOCUMENT, media_type="text/plain", data="YQ==")),
        ("data:image/png", Content(Kind.IMAGE, url="data:image/png")),
        ("/9j/AAAA", Content(Kind.IMAGE, media_type="image/jpeg", data="/9j/AAAA")),
        ("JVBERiAA", Content(Kind.DOCUMENT, media_type="application/pdf", data="JVBERiAA")),
        ("https://example.org/a,b.png", Content(Kind.IMAGE, url="https://example.org/a,b.png")),
    ],
)
def test_what_a_link_holds(link: str, expected: Content) -> None:
    assert media_link(link) == expected


def test_the_type_in_the_link_goes_before_the_one_beside_it_and_the_kind_before_both() -> None:
    assert media_link("data:image/png;base64,AAAA", "image/gif").media_type == "image/png"
    assert media_link("data:;base64,AAAA", "image/gif").media_type == "image/gif"
    assert media_link("data:image/png;base64,AAAA", kind=Kind.DOCUMENT).kind is Kind.DOCUMENT


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60},
             "completion_tokens_details": {"reasoning_tokens": 8}},
            Usage(40, cache_read=60, output=20, reasoning=8),
        ),
        (
            {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 60},
             "output_tokens_details": {"reasoning_tokens": 80}},
            Usage(40, cache_read=60, output=20, reasoning=20),
        ),
        (
            {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 20, "reasoning_output_tokens": 5},
            Usage(40, cache_read=60, output=20, reasoning=5),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 2, "cache_read_input_tokens": 60,
             "cache_creation_input_tokens": 30},
            Usage(10, cache_read=60, cache_write=30, output=2),
        ),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}, Usage(10, cache_read=60)),
        # By its total the prompt holds what was written, though read and written are more than it.
        (
            {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102, "cache_read_input_tokens": 95,
             "cache_creation_input_tokens": 30},
            Usage(0, cache_read=95, cache_write=5, output=2),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 227, "cache_read_input_tokens": 95,
             "cache_creation_input_tokens": 30},
            Usage(100, cache_read=95, cache_write=30, output=2),
        ),
    ],
)  # fmt: skip
def test_usage_includes_what_the_cache_read_and_what_was_reasoning(usage: object, expected: Usage | None) -> None:
    assert openai_usage(usage) == expected
