"""Inspect's compactions: thresholds, what stays, when they give up."""

from __future__ import annotations

import pytest

from tests.engine.policies.sent import last, reply, result, turns, user, views
from tests.parity.ours import run


def total(spec):
    from sessions.engine.base import registry
    from sessions.engine.weigh.calibration.calibrate import weigh
    from sessions.engine.weigh.sizes import message_sizes
    from tests.parity.lists import transcript

    return sum(message_sizes(weigh(transcript(spec)), registry.get("estimators", "inspect")))


@pytest.mark.golden("inspect_summary")
@pytest.mark.parametrize(("over", "first"), [(0, list(range(5))), (1, [0, "new"])])
def test_it_fires_over_the_threshold(over, first):
    spec = [user(40), reply(chars=4_000), user(40), reply(chars=4_000), user(40)]
    given = {"threshold_tokens": total(spec) - over, "usage": "none"}
    assert last(spec, "inspect_summary", **given) == first


@pytest.mark.golden("inspect_trim")
@pytest.mark.parametrize(("n", "dropped"), [(6, 1), (10, 1), (11, 2)])
def test_trim_drops_a_floating_point_fifth(n, dropped):
    """``int(n × (1 − 0.8))`` is 1 for 10: 1 − 0.8 is a little under 0.2."""
    spec = [user(40) for _ in range(n + 1)]
    given = {"threshold_tokens": total(spec) - 1, "usage": "none"}
    assert last(spec, "inspect_trim", **given) == [0, *range(1 + dropped, n + 1)]


def test_trim_of_five_messages_drops_none_and_gives_up():
    spec = [user(40) for _ in range(6)]
    assert run(spec, "inspect_trim", {"threshold_tokens": total(spec) - 1}, window=10**6, summary=1).failed


def test_trim_leaves_no_half_of_a_pair():
    """Of 6 messages the oldest goes; its result goes with it."""
    spec = turns(3)
    given = {"threshold_tokens": total(spec) - 1, "usage": "none"}
    assert last(spec, "inspect_trim", **given) == [0, 3, 4, 5, 6]


@pytest.mark.golden("inspect_edit")
def test_edit_clears_thinking_and_results():
    spec = [user()]
    for turn in range(5):
        spec += [reply(f"c{turn}", thinking=300), result(f"c{turn}", 400)]
    given = {"threshold_tokens": total(spec) - 1, "usage": "none"}
    sent = views(spec, "inspect_edit", **given)[-1]
    assert [m[2] for m in sent if m[3]] == [0, 0, 0, 0, 300]
    assert [m[4][0][1] for m in sent if m[4]] == [len("(Tool result removed)")] * 2 + [400] * 3
    sent = views(spec, "inspect_edit", **given, keep_tool_inputs="off")[-1]
    note = len("[Tool call: Read (parameters and results removed from history)]")
    assert [m[0] for m in sent] == [0, 1, 3, 5, 6, 7, 8, 9, 10]
    assert [m[1] for m in sent[1:3]] == [4 + note] * 2


def test_it_gives_up_where_nothing_helps():
    spec = [user(40_000), reply(chars=10), user(10)]
    assert run(spec, "inspect_trim", {"threshold_tokens": 100, "usage": "none"}, window=10**6, summary=1).failed
