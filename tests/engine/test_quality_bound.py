"""The rules of a session that are tracked are the first 2,000, what is left out is said; calls are held by look-ups."""

from __future__ import annotations

import pytest

from sessions.engine.quality.assess import assess_recorded, warnings_of
from sessions.engine.quality.calls import Breaking, make_call
from sessions.engine.quality.rules import MAX_PER_MESSAGE, MAX_RULES, rules_in
from sessions.engine.transcript.types import Content, Kind
from tests.engine.test_growth import MOST, work
from tests.engine.told import Told


def said(n_rules: int) -> Told:
    """A session with so many rules, as many to a prompt as are read of one, the first of them said again at its end."""
    told = Told()
    rules = [f"Never edit src/f{number}.py." for number in range(n_rules)]
    for start in range(0, n_rules, MAX_PER_MESSAGE):
        told.prompt("\n".join(rules[start : start + MAX_PER_MESSAGE]))
    told.prompt(rules[0])
    told.reply("Noted.")
    told.compact("The build is slow.")
    told.reply("Done.")
    return told


@pytest.mark.parametrize("n_more", [0, 1, 300])
def test_two_thousand_rules_are_tracked_and_a_warning_says_so(n_more: int) -> None:
    weighed, index = said(MAX_RULES + n_more).done()
    assert MAX_RULES == 2_000
    assert [c.rule.text for c in index.constraints] == [f"Never edit src/f{n}.py." for n in range(MAX_RULES)]
    assert len(index.constraints[0].places) == 2, "a rule that is tracked is, wherever it is said again"
    assert index.n_more_rules == n_more
    found = tuple(assess_recorded(weighed, index))
    assert [len(one.constraints) for one in found] == [MAX_RULES]
    words = "2,000 rules are followed, the first said; later ones are not looked for"
    assert (words in warnings_of(found, index, "recorded")) is bool(n_more)


def test_holding_rules_against_calls_grows_with_them() -> None:
    """Each rule forbids a file that one call writes."""

    def hold(n: int) -> int:
        calls = [
            make_call(k, 0, Content(Kind.TOOL_USE, name="Write"), {"file_path": f"/app/src/f{k}.py"}) for k in range(n)
        ]
        rules = [next(rules_in(f"Never edit src/f{k}.py.", "user")) for k in range(n)]
        breaking = Breaking(calls)
        return work(lambda: [breaking.of(rule) for rule in rules])

    small, large = hold(200), hold(400)
    assert large <= MOST * small, (small, large)
