"""Small ASCII texts are counted without tiktoken, and exactly as tiktoken counts them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.engine.tokens import vocabulary
from sessions.engine.tokens.tokenizer import MOST_CHARS, MOST_WORD_CHARS, WORD, TokenCounter, count_small, fits
from sessions.engine.tokens.vocabulary import encoding
from tests.arch.repository import ROOT

ASCII = "".join(map(chr, range(128)))
WORDS = (
    "I'm",
    "WE'LL",
    "don't",
    "HTTPServer",
    " \n",
    "\r\n",
    "//",
    "    ",
    "1234567",
    "x='s",
    "\x1c",
    "\t",
    "\x00",
    "_a",
)


def of_tiktoken(text: str) -> int:
    return len(encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("path", ["sessions/engine/transcript/types.py", "README.md", "pyproject.toml"])
def test_files_of_ours_weigh_what_tiktoken_says(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8")
    plain = text.encode("ascii", "ignore").decode()[:12_000]
    words = [word for word in WORD.findall(plain) if len(word) <= MOST_WORD_CHARS]
    short = "".join(words)
    assert count_small(short) == of_tiktoken(short) > 1_000


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(alphabet=ASCII, max_size=80), st.lists(st.sampled_from(WORDS), max_size=12).map("".join)))
def test_any_ascii_text_weighs_what_tiktoken_says(text: str) -> None:
    assert count_small(text) == of_tiktoken(text)


def test_what_does_not_fit_is_left_to_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_built", set())
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    assert fits(["plain", "text"])
    assert not fits(["naïve"])
    assert not fits(["x " * (MOST_CHARS // 2), "y"])
    assert count_small("x" * (MOST_WORD_CHARS + 1)) is None
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nowhere")
    assert not fits(["plain"])


def test_a_counter_takes_each_text_the_way_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_built", set())
    texts = ["The build is slow.", "z" * 300, "value_1 = compute(1)\n"]
    with TokenCounter() as counter:
        tickets = [counter.submit(text) for text in texts]
        counts = counter.results()
        assert [counts.of(ticket).n_tokens for ticket in tickets] == [of_tiktoken(text) for text in texts]
    monkeypatch.setattr(vocabulary, "_built", set())
    monkeypatch.setattr("sessions.engine.tokens.tokenizer.encoding", lambda *_: pytest.fail("tiktoken was asked"))
    with TokenCounter() as counter:
        ticket = counter.submit(texts[0])
        assert counter.results().of(ticket).n_tokens == of_tiktoken(texts[0])
