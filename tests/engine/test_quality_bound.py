"""The rules of a session that are tracked are the first 2,000, and what is left out is said."""

from __future__ import annotations

import pytest

from sessions.engine.quality.assess import assess_recorded, warnings_of
from sessions.engine.quality.rules import MAX_PER_MESSAGE, MAX_RULES
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
    found = assess_recorded(weighed, index)
    assert [len(one.constraints) for one in found] == [MAX_RULES]
    words = "2,000 rules are followed, the first said; later ones are not looked for"
    assert (words in warnings_of(found, index, "recorded")) is bool(n_more)
