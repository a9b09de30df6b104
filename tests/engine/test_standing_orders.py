"""Standing orders, and the steps of a task or a plan that are worded as such."""

from __future__ import annotations

import pytest

from sessions.engine.quality.orders import is_step, stands
from sessions.engine.quality.rules import MEMORY, SYSTEM, judged


@pytest.mark.parametrize(
    ("sentence", "heading", "binds"),
    [
        ("Use uv, not pip.", "Setup", True),
        ("Run the tests before every commit.", "To commit", True),
        ("Sign every commit.", "Prerequisites for a pull request", True),
        ("Run the installer.", "Setup", False),
        ("Set the port, which must be that of the server.", "Setup", False),
        ("Run the installer.", "Conventions", True),
    ],
)
def test_what_binds_lastingly_binds_under_a_how_to(sentence: str, heading: str, binds: bool) -> None:
    assert stands(sentence, "given", heading) == binds


@pytest.mark.parametrize(
    ("sentence", "binds"),
    [
        ("Never commit to main and don't forget to push.", True),
        ("You MUST run make check, don't forget to push.", True),
        ("Don't forget to push.", False),
        ("Do not merge it.", False),
        ("Do not merge it unless I say so.", True),
        ("Don't rename the tables yet.", False),
        ("Don't rename tables.", True),
    ],
)
def test_a_reminder_and_what_is_forbidden_of_the_step_at_hand_bind_no_longer(sentence: str, binds: bool) -> None:
    assert stands(sentence, "prompt") == binds


@pytest.mark.parametrize(
    ("sentence", "binds"),
    [
        ("If the build breaks, revert the change.", True),
        ("If so, revert the change.", False),
        ("To see the coverage, open the report.", False),
        ("Open the report — with the totals", False),
        ("Focus on the parser.", False),
        ("Always focus on the parser.", True),
    ],
)
def test_an_order_of_a_prompt_binds_under_a_condition_of_its_own(sentence: str, binds: bool) -> None:
    bound = "asked" if "ocus" in sentence else "prompt"
    assert stands(sentence, bound) == binds


@pytest.mark.parametrize(
    ("sentence", "heading", "is_bare"),
    [
        ("Add a chart of the results.", "Plan", True),
        ("Logs: open `run.log` for errors.", "Notes", True),
        ("Check if a chart exists.", "Plan", True),
        ("Add a chart of the results.", "Rules", False),
        ("Add a chart if there are results.", "Plan", False),
        ("Add charts only at the end.", "Plan", False),
        ("Name charts briefly.", "Plan", False),
        ("Use bar charts.", "Plan", False),
        ("Never add a chart.", "Plan", False),
        ("For **results** → Add a chart", "Plan", False),
        ("Charts must have a date.", "Plan", False),
    ],
)
def test_a_bare_step_says_nothing_of_when_or_how(sentence: str, heading: str, is_bare: bool) -> None:
    assert is_step(sentence, heading) == is_bare


def test_a_bare_step_is_no_rule_in_a_memory_file_alone() -> None:
    step = "Add a chart of the results."
    assert [list(judged(step, source)) for source in (MEMORY, SYSTEM)] == [[(step, False)], [(step, True)]]
