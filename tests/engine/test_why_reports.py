"""Public reports, rebuilt: what the first line says about each (docs/benchmarks/verdicts.md)."""

from __future__ import annotations

from functools import cache

import pytest

from tests.why_cases.cases import CONTROLS, REPORTS
from tests.why_cases.fifth import FIFTH
from tests.why_cases.fourth import FOURTH
from tests.why_cases.fresh import FRESH
from tests.why_cases.report import UNTOLD
from tests.why_cases.score import RIGHT, SURE, Result, calibration, score
from tests.why_cases.sixth import SIXTH
from tests.why_cases.third import THIRD

ALL = REPORTS | FRESH | THIRD | FOURTH | FIFTH | SIXTH


@cache
def scored(name: str) -> Result:
    """What came of a report, rebuilt once for all that is asked of it."""
    return score(name, ALL[name])


def test_there_are_enough_of_each_kind() -> None:
    assert len(REPORTS) >= 60
    assert len(CONTROLS) >= 10
    assert sum(report.group == UNTOLD for report in REPORTS.values()) >= 8


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_first_line_is_right(name: str) -> None:
    result = scored(name)
    assert result.outcome == RIGHT, result.sentence


def test_no_first_line_is_certain_and_wrong() -> None:
    results = [scored(name) for name in ALL]
    assert not [result.name for result in results if result.outcome == SURE]
    said, right = calibration(results)["certain"]
    assert said == right
