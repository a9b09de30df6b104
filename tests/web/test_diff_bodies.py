"""The text under a line of a diff, word by word."""

from __future__ import annotations

from sessions.pages.diff.bodies import BODY_CHARS, TextSpan, word_diff


def test_a_long_text_that_was_cut_keeps_what_is_left_of_it() -> None:
    """Both sides are compared in words, however many either has."""
    words = " ".join(str(n % 10) for n in range(BODY_CHARS // 2))
    half = words[: len(words) // 2]
    assert word_diff(words, half) == (
        (TextSpan("same", half), TextSpan("del", words[len(half) :])),
        (TextSpan("same", half),),
    )


def test_spans_are_the_texts() -> None:
    before, after = "one two\nthree, four", "one 2\nthree; four five"
    for spans, text in zip(word_diff(before, after), (before, after), strict=True):
        assert "".join(span.text for span in spans) == text
    assert word_diff("", "") == ((), ())
