"""LangChain's three: at, below and above each limit."""

from __future__ import annotations

import pytest

from tests.engine.policies.sent import last, reply, result, turns, user, views


def sizes(spec):
    """Approximate tokens of each message: characters and role by 4, up, + 3."""
    from sessions.engine.base import registry
    from sessions.engine.weigh.calibration.calibrate import weigh
    from sessions.engine.weigh.sizes import message_sizes
    from tests.parity.lists import transcript

    return message_sizes(weigh(transcript(spec)), registry.get("estimators", "langchain"))


def test_a_call_is_counted_with_the_brackets_of_its_list():
    """``[{'name': 'Read', 'args': {}, 'id': 'c0', 'type': 'tool_call'}]`` is 63 characters; + 4 of text + 9 of role."""
    assert len("[{'name': 'Read', 'args': {}, 'id': 'c0', 'type': 'tool_call'}]") == 63
    assert sizes([user(), reply("c0")])[1] == -(-(63 + 4 + 9) // 4) + 3


@pytest.mark.golden("langchain_trim")
@pytest.mark.parametrize(("over", "shown"), [(0, [0, 1, 2, 3]), (1, [1, 2, 3])])
def test_trim_keeps_what_is_at_most_the_budget(over, shown):
    spec = [user(40), reply(chars=40), user(40), user(40)]
    assert last(spec, "langchain_trim", max_tokens=sum(sizes(spec)) - over) == shown


def test_trim_starts_and_ends_where_asked():
    spec = turns(3)
    budget = sum(sizes(spec)) - 1
    assert last(spec, "langchain_trim", max_tokens=budget, start_on="assistant") == [1, 2, 3, 4, 5, 6]
    assert last(spec, "langchain_trim", max_tokens=budget, start_on="user") == []
    first = {"max_tokens": sum(sizes(spec)[:4]), "strategy": "first"}
    assert last(spec, "langchain_trim", **first, orphans="keep") == [0, 1, 2, 3]
    assert last(spec, "langchain_trim", **first, end_on="tool") == [0, 1, 2]
    assert [m[3] for m in views(spec, "langchain_trim", **first)[-1]][3] == [], "the call without its result goes"


def cleared(spec, **params):
    return [n for n, m in enumerate(views(spec, "langchain_clear_tool_uses", **params)[-1]) if m[4] and m[4][0][1] == 9]


@pytest.mark.golden("langchain_clear_tool_uses")
@pytest.mark.parametrize(("over", "positions"), [(0, []), (1, [2])])
def test_clearing_starts_over_the_trigger(over, positions):
    """Exactly at the trigger nothing happens; with keep 3 of 4, the oldest goes."""
    spec = turns(4)
    assert cleared(spec, trigger=sum(sizes(spec)) - over) == positions


def test_clearing_stops_when_enough_is_cleared():
    """A result of 400 characters weighs 105, "[cleared]" 7: two of them free 196."""
    spec = turns(6)
    freed = sizes(spec)[2] - (-(-(9 + 4 + 2) // 4) + 3)
    assert cleared(spec, trigger=0, keep=0) == [2, 4, 6, 8, 10, 12]
    assert cleared(spec, trigger=sum(sizes(spec)) - 1, keep=0, clear_at_least=2 * freed) == [2, 4]
    assert cleared(spec, trigger=sum(sizes(spec)) - 1, keep=0, clear_at_least=2 * freed + 1) == [2, 4, 6]


def test_arguments_are_emptied_on_demand():
    spec = [user(), reply("a", args=50), result("a", 400), reply("b", args=50), result("b", 400)]
    given = {"trigger": 0, "keep": 1}
    assert [m[3][0][1] for m in views(spec, "langchain_clear_tool_uses", **given)[-1] if m[3]] == [64, 64]
    given["clear_tool_inputs"] = "on"
    assert [m[3][0][1] for m in views(spec, "langchain_clear_tool_uses", **given)[-1] if m[3]] == [2, 64]


@pytest.mark.golden("langchain_clear_tool_uses")
@pytest.mark.parametrize(
    ("excluded", "keep", "positions"),
    [("", 1, [2, 4, 6]), ("Bash", 1, [2, 6]), ("Bash", 0, [2, 6]), ("Bash Read", 1, []), ("bash", 1, [2, 4, 6])],
)
def test_excluded_tools_stay_and_use_up_keep(excluded, keep, positions):
    """Read, Bash, Read, Bash: keep is taken off first, so the last Bash is what keep holds."""
    spec = [user()]
    for n, name in enumerate(("Read", "Bash", "Read", "Bash")):
        spec += [reply(f"c{n}", name=name), result(f"c{n}", 400)]
    assert cleared(spec, trigger=0, keep=keep, exclude_tools=excluded) == positions


NO_OTHER = {"trigger_fraction": None, "usage": "none", "summary_input": None}


@pytest.mark.golden("langchain_summarization")
@pytest.mark.parametrize(("trigger", "shown"), [(9, ["new", 5, 6, 7, 8]), (10, list(range(9)))])
def test_summarization_at_a_number_of_messages(trigger, shown):
    """9 messages, keep 3: the cut at 6 is a result and moves back to its reply, 5."""
    assert last(turns(4), "langchain_summarization", trigger_messages=trigger, keep_messages=3, **NO_OTHER) == shown


@pytest.mark.golden("langchain_summarization")
@pytest.mark.parametrize(("over", "fires"), [(0, True), (-1, False)])
def test_summarization_at_the_trigger_in_tokens(over, fires):
    spec = turns(4)
    given = {"trigger_tokens": sum(sizes(spec)) - over, "keep_messages": 2, **NO_OTHER}
    assert (last(spec, "langchain_summarization", **given)[0] == "new") is fires


def test_the_summary_call_that_sees_no_user_message_is_not_made():
    """Its fixed sentence stands for it: 48 characters of frame and 48 of the sentence."""
    given = {**NO_OTHER, "trigger_messages": 9, "keep_messages": 2, "summary_input": 120}
    assert views(turns(4), "langchain_summarization", **given)[-1][0][1] == 48 + 48
    given["summary_input"] = 4_000
    assert views(turns(4), "langchain_summarization", summary=70, **given)[-1][0][1] == 280
