"""AutoGen's contexts and AG2's limiters: what is shown at, below and above each limit."""

from __future__ import annotations

import pytest

from sessions.engine.policies.ag2 import stretches
from tests.engine.policies.listed import planned
from tests.engine.policies.sent import last, reply, result, turns, user, views
from tests.parity.lists import transcript
from tests.parity.ours import run


@pytest.mark.golden("autogen_buffered")
@pytest.mark.parametrize(("size", "shown"), [(7, [0, 1, 2, 3, 4, 5, 6]), (6, [1, 2, 3, 4, 5, 6]), (5, [3, 4, 5, 6])])
def test_the_buffer_does_not_start_with_a_result(size, shown):
    assert last(turns(3), "autogen_buffered", buffer_size=size) == shown


@pytest.mark.golden("autogen_head_tail")
def test_head_and_tail():
    """9 messages, 2 + 3: the head's call and the tail's leading result go; the marker counts without them."""
    spec = turns(4)
    assert last(spec, "autogen_head_tail", head_size=2, tail_size=3) == [0, "new", 7, 8]
    assert views(spec, "autogen_head_tail", head_size=2, tail_size=3)[-1][1][1] == len("Skipped 4 messages.")
    assert last(spec, "autogen_head_tail", head_size=4, tail_size=5) == list(range(9)), "nothing is skipped"


@pytest.mark.golden("autogen_token_limited")
@pytest.mark.parametrize(("limit", "shown"), [(30, [0, 1, 2, 3, 4]), (29, [0, 1, 3, 4]), (12, [0, 4]), (0, [])])
def test_messages_leave_from_the_middle_while_the_count_is_over_the_limit(limit, shown):
    spec = [user(6), reply(chars=6), user(6), reply(chars=6), user(6)]
    if not limit:
        limit = 5
    assert last(spec, "autogen_token_limited", token_limit=limit) == shown


def test_a_pair_split_by_the_limit_is_mended_or_kept():
    spec = [user(), reply("a"), result("a", 50), user(), reply("b"), result("b", 5)]
    whole = run(spec, "autogen_token_limited", {"token_limit": 40, "orphans": "keep"}, window=10**6, summary=1).views
    mended = run(spec, "autogen_token_limited", {"token_limit": 40}, window=10**6, summary=1).views
    assert transcript(spec).messages[2].result_ids() == {"a"}
    calls = {c[0] for m in mended[-1] for c in m[3]}
    assert calls == {r[0] for m in mended[-1] for r in m[4]}
    assert len(whole[-1]) >= len(mended[-1])


@pytest.mark.golden("ag2_history_limiter")
def test_the_history_limiter_swaps_the_oldest_two_as_the_original_does():
    roles = ["user", "assistant", "tool", "assistant", "user"]

    def kept(most, **how):
        return [n for span in stretches(5, most, lambda n: roles[n] == "tool", **how) for n in range(*span)]

    assert kept(4, keep_first=False) == [2, 1, 3, 4]
    assert kept(4, keep_first=False, straight=True) == [1, 2, 3, 4]
    assert kept(3, keep_first=False) == [3, 4], "the last place is not for a tool message"
    assert kept(3, keep_first=True) == [0, 3, 4]
    assert kept(1, keep_first=True) == [0]
    assert kept(5, keep_first=False) == [0, 1, 2, 3, 4]


@pytest.mark.golden("ag2_token_limiter")
@pytest.mark.parametrize(
    ("per_message", "most", "cuts"),
    [
        (10, 100, [(0, 10), (1, None), (2, 10), (3, 5)]),
        (10, 25, [(0, 10), (1, None), (2, 10), (3, 5)]),
        (10, 24, [(0, 9), (1, None), (2, 10), (3, 5)]),
        (10, 14, [(2, 9), (3, 5)]),
        (10, 9, [(3, 5)]),
        (10, 4, [(3, 4)]),
    ],
)
def test_the_token_limiter_cuts_each_and_then_all(per_message, most, cuts):
    assert planned([30, None, 12, 5], per_message, most) == cuts


def test_nothing_is_cut_under_the_minimum():
    spec = [user(40), reply(chars=40), user(40)]
    assert [m[1] for m in views(spec, "ag2_token_limiter", max_tokens_per_message=10, min_tokens=121)[-1]] == [40] * 3
    assert [m[1] for m in views(spec, "ag2_token_limiter", max_tokens_per_message=10, min_tokens=120)[-1]] == [10] * 3
