"""What two who label a draw of sentences make of the reader of rules: counts, precision, recall, agreement."""

from __future__ import annotations

import pytest

from sessions.engine.quality.rules import MEMORY, SYSTEM, USER
from tests.bench.rules_drawn import N_LEFT, N_TAKEN, agreement, counted, drawn, figures

FOUND = {
    **{f"taken {n}": (USER, True) for n in range(8)},
    **{f"left {n}": (USER, False) for n in range(12)},
    **{f"note {n}": (MEMORY, True) for n in range(100)},
    "system": (SYSTEM, False),
}


def test_a_draw_takes_so_many_of_each_kind_and_the_same_again() -> None:
    chosen = drawn(FOUND)
    assert chosen == drawn(FOUND)
    assert len(chosen) == len(set(chosen)) == 8 + 12 + N_TAKEN[MEMORY] + 1
    assert N_LEFT[USER] > 12


def test_what_is_not_taken_is_made_up_for_by_what_is_left() -> None:
    left = {f"left {n}": (USER, False) for n in range(200)}
    assert len(drawn({"taken": (USER, True), **left})) == N_TAKEN[USER] + N_LEFT[USER]


def test_counts_are_of_what_was_drawn_and_of_all_that_is_read() -> None:
    """3 of 4 taken are rules, and 1 of 3 left: 6 of 8 and 4 of 12, so 6 of 10 rules are read."""
    said = [*((f"taken {n}", n < 3) for n in range(4)), *((f"left {n}", n < 1) for n in range(3))]
    user, memory, system = counted(FOUND, said)
    assert user[1:] == (8, 12, 3, 4, 1, 3)
    assert (memory[1:], system[1:]) == ((100, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0))
    assert figures((user,), [(3 / 4, 1 / 3)]) == (pytest.approx(0.75), pytest.approx(0.6))


@pytest.mark.parametrize(
    ("pairs", "share", "kappa"),
    [
        ([(True, True), (False, False)], 1, 1),
        ([(True, True), (True, False), (False, True), (False, False)], 0.5, 0),
        ([(True, True), (True, True), (True, False), (False, False)], 0.75, 0.5),
        ([(False, False)] * 3, 1, 1),
    ],
)
def test_agreement_is_told_beyond_chance(pairs: list[tuple[bool, bool]], share: float, kappa: float) -> None:
    assert agreement(pairs) == (pytest.approx(share), pytest.approx(kappa))
