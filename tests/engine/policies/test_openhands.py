"""OpenHands' condensers: golden counts, and each at, below and above its limit."""

from __future__ import annotations

import pytest

from tests.engine.policies.sent import last, reply, result, turns, user, views


def prompts(n: int) -> list[dict]:
    return [user(40) for _ in range(n)]


@pytest.mark.golden("openhands_llm_summarizing")
@pytest.mark.parametrize(("n", "forgotten"), [(120, 0), (121, 62)])
def test_v0_summarizing_golden(n, forgotten):
    """121 events with 120 and 4: forget 62, view 60."""
    sent = last(prompts(n), "openhands_llm_summarizing")
    assert n - sum(who != "new" for who in sent) == forgotten
    assert len(sent) == (60 if forgotten else n)
    assert sent[:4] == [0, 1, 2, 3]


@pytest.mark.golden("openhands_sdk")
@pytest.mark.parametrize(("max_size", "keep_first", "tail", "forgotten"), [(80, 4, 35, 42), (240, 2, 117, 122)])
def test_sdk_golden(max_size, keep_first, tail, forgotten):
    """80 with 4: at 81 events 35 stay at the end and 42 are forgotten; 240 with 2: 117 and 122."""
    given = {"max_size": max_size, "keep_first": keep_first}
    sent = last(prompts(max_size + 1), "openhands_sdk", **given)
    assert sent.index("new") == keep_first
    assert len(sent) - keep_first - 1 == tail
    assert max_size + 1 - len(sent) + 1 == forgotten
    assert "new" not in last(prompts(max_size), "openhands_sdk", **given)


def test_sdk_splits_no_pair_and_no_thinking_loop():
    """12 messages, the end of what is forgotten would be at 9: a result."""
    spec = [*turns(5), user()]
    given = {"max_size": 11, "keep_first": 1}
    assert last(spec, "openhands_sdk", **given) == [0, "new", 9, 10, 11]
    looped = [dict(message) for message in spec]
    looped[3]["thinking"] = 9
    assert last(looped, "openhands_sdk", **given) == [0, "new", 11], "the loop from 3 to 10 goes as one"


def test_sdk_token_limit_and_least_progress():
    """Ten of 40 characters, over 399: so many go that what goes weighs over 400 − 199."""
    given = {"max_size": 1_000, "keep_first": 1}
    assert last(prompts(10), "openhands_sdk", max_tokens=400, **given) == list(range(10))
    assert last(prompts(10), "openhands_sdk", max_tokens=399, **given) == [0, "new", 7, 8, 9]
    assert last(prompts(10), "openhands_sdk", max_tokens=399, minimum_progress=0.7, **given) == ["new"], "hard reset"
    soft = {"max_size": 9, "keep_first": 1, "minimum_progress": 0.9}
    assert last(prompts(10), "openhands_sdk", **soft) == list(range(10)), "too little is no reason for a reset"


@pytest.mark.golden("openhands_amortized")
@pytest.mark.parametrize(("n", "shown"), [(10, list(range(10))), (11, [0, 7, 8, 9, 10])])
def test_v0_amortized(n, shown):
    assert last(prompts(n), "openhands_amortized", max_size=10, keep_first=1) == shown


@pytest.mark.golden("openhands_recent")
@pytest.mark.parametrize(("n", "shown"), [(5, [0, 1, 2, 3, 4]), (6, [0, 2, 3, 4, 5])])
def test_v0_recent(n, shown):
    assert last(prompts(n), "openhands_recent", max_events=5, keep_first=1) == shown


@pytest.mark.golden("openhands_masking")
def test_v0_masking():
    """9 messages, a window of 4: results at 2 and 4 are masked, those at 6 and 8 are not."""
    sent = views(turns(4), "openhands_masking", attention_window=4)[-1]
    assert [m[4][0][1] for m in sent if m[4]] == [len("<MASKED>")] * 2 + [400] * 2


@pytest.mark.golden("openhands_window")
def test_v0_window_acts_when_refused():
    """Of 8 that are not essential 4 stay, counted from the end; its leading result goes."""
    spec = [user(), *[m for turn in range(4) for m in (reply(f"c{turn}"), result(f"c{turn}", 400))]]
    spec[1]["calls"][0]["name"] = "recall"
    assert last(spec, "openhands_window", window=100_000) == list(range(9))
    refused = last(spec, "openhands_window", window=1_500)
    assert refused[:3] == [0, 1, 2], "the first user message and its recall"
    assert refused[-1] == 8
    assert 3 not in refused
