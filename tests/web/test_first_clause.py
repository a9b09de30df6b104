"""What stands large at the head of a session, and what follows it."""

from __future__ import annotations

import pytest

from sessions.pages.ui.figures import SHORT_CLAUSE, first_clause


@pytest.mark.parametrize(
    ("text", "first", "rest"),
    [
        ("Compacted before request 32: 245,009 tokens passed; 22,924 after it. And 1 more.",
         "Compacted before request 32: 245,009 tokens passed", "22,924 after it. And 1 more."),
        ("No compaction. Peak 104,748 tokens, 52% of 200,000. No error is recorded.",
         "No compaction. Peak 104,748 tokens, 52% of 200,000.", "No error is recorded."),
        ('Refused at request 5: "Too long. Send less; or compact." was said (a limit; of size). Send less.',
         'Refused at request 5: "Too long. Send less; or compact." was said (a limit; of size).', "Send less."),
        ("It passed Codex's limit, 0.9 of the raw window", "It passed Codex's limit, 0.9 of the raw window", ""),
        ("", "", ""),
    ],
)  # fmt: skip
def test_first_clause(text: str, first: str, rest: str) -> None:
    assert first_clause(text) == (first, rest)


def test_a_clause_of_the_least_length_stands_alone() -> None:
    for n, alone in ((SHORT_CLAUSE - 1, False), (SHORT_CLAUSE, True)):
        assert (first_clause(f"{'x' * n}. After it.") == (f"{'x' * n}.", "After it.")) == alone
