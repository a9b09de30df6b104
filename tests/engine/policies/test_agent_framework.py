"""Microsoft Agent Framework: golden limits, groups, both ways of running the phases."""

from __future__ import annotations

import pytest

from sessions.engine.policies.agent_framework import label_length, limits
from tests.engine.policies.sent import last, turns, user, views


def test_golden_limits():
    assert limits(128_000, 4_096) == (123_904, 61_952, 99_123)


@pytest.mark.parametrize(
    ("results", "length"),
    [([], 10), ([("Read", 5)], 11), ([("Read", 0)], 5), ([("", 7)], 7), ([("Read", 5), ("Bash", 3)], 22)],
)
def test_the_line_of_results(results, length):
    assert label_length(results) == length


def size(n_turns, chars):
    """A prompt 1; a turn: the reply's text 1 and call 2 (2 + 4 + 2 characters), the result ⌈(chars + 2) ÷ 4⌉."""
    return 1 + n_turns * (1 + 2 + -(-(chars + 2) // 4))


@pytest.mark.golden("agent_framework")
@pytest.mark.parametrize(("over", "edited"), [(0, 0), (1, 2)])
def test_old_tool_calls_collapse_over_half_the_budget(over, edited):
    """6 turns, the newest 4 stay: two become "[Tool results: Read: …]" of 16 + 6 + 398 characters."""
    budget = 2 * (size(6, 398) - over)
    sent = views(turns(6, 398), "agent_framework", window=budget, max_output=0, truncation=1.0)[-1]
    collapsed = [m for m in sent if m[1] == len("[Tool results: ") + len("Read: ") + 398 + 1]
    assert len(collapsed) == edited
    assert len(sent) == 13 - edited


def test_a_line_is_at_most_4096_characters():
    sent = views(turns(6, 9_000), "agent_framework", window=20_000, max_output=0)[-1]
    assert 4_096 in [m[1] for m in sent]


def test_the_oldest_go_until_the_first_limit_is_met():
    """Five prompts of 400 characters (100 tokens): over 80% of 600, down to 50%: three stay."""
    spec = [user(400) for _ in range(5)]
    given = {"max_output": 0, "window": 600}
    assert last(spec, "agent_framework", **given) == [2, 3, 4]
    assert last(spec, "agent_framework", **{**given, "window": 625}) == [0, 1, 2, 3, 4], "500 is not over 500"
    assert last(spec, "agent_framework", **given, first_user="on") == [0, 3, 4]
    assert last(spec, "agent_framework", **{**given, "window": 900}, phases="budget") == [1, 2, 3, 4]
