"""What a session is called: the first sentence that somebody typed."""

from __future__ import annotations

import pytest

from sessions.engine.base import limits
from sessions.engine.reading.formats._blocks import first_title, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n  Fix   the pay button \nand more", "Fix the pay button"),
        ("Implement the following plan:\n\n# Rename the hooks\n\nText", "Rename the hooks"),
        ("Please implement the following plan\nA", "A"),
        ("Implement the following plan:\n\n", "Implement the following plan:"),
        ("#\n## Goal", "Goal"),
        ("", ""),
        (f"{'word ' * 15}splitted here", f"{'word ' * 14}word…"),
        ("x" * 200, "x" * limits.TITLE_CHARS),
    ],
)
def test_a_title_is_the_first_line_that_says_something(text: str, title: str) -> None:
    assert title_of(text) == title
    assert len(title_of(text)) <= limits.TITLE_CHARS


def test_a_command_gives_way_to_words() -> None:
    assert first_title(["", "/clear", "/review 12", "Look at the tests", "Later"]) == "Look at the tests"
    assert first_title(["/clear", "/exit"]) == "/clear"
    assert first_title(["/Users/x/notes.md is wrong"]) == "/Users/x/notes.md is wrong"
    assert first_title([]) == ""
