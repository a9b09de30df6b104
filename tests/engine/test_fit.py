"""How well estimates fit the reported usage: growths, the median error, the worst, the overhead's parts."""

from __future__ import annotations

import dataclasses

import pytest

from sessions.engine.transcript.types import Block, Kind, Label, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.fit import (
    FitPoint,
    fit_document,
    fit_points,
    fit_summary,
    flagged_usages,
    median_error,
    overhead_parts,
    p95_error,
    worst_points,
)
from tests.engine.sessions import Build, text


def test_a_coherent_session_fits_exactly() -> None:
    weighed = weigh(Build(overhead=10_000).turns(12).done())
    points = fit_points(weighed)
    assert len(points) == 11
    assert all((p.measured, p.estimated) == (600, 600) for p in points)
    assert median_error(points) == 0


def test_a_growth_names_the_message_that_was_not_measured_itself() -> None:
    """Each step holds a reply of 900 measured tokens and a result of 300: the result is what was estimated."""
    build = Build(overhead=10_000)
    for turn in range(8):
        build.reply(900, f"c{turn}")
        build.result(f"c{turn}", 300)
    points = fit_points(weigh(build.done()))
    assert [p.message for p in points] == [1, 3, 5, 7, 9, 11, 13]
    assert [p.request for p in points] == [1, 2, 3, 4, 5, 6, 7]


def test_growths_at_a_compaction_and_beside_a_flagged_usage_are_left_out() -> None:
    build = Build(overhead=10_000).turns(8)
    build.compact()
    build.turns(8, start=8)
    transcript = build.done()
    assert [p.request for p in fit_points(weigh(transcript))] == [*range(1, 8), *range(9, 16)]
    doubled = transcript.requests[4]
    assert doubled.usage
    wrong = dataclasses.replace(doubled, usage=dataclasses.replace(doubled.usage, cache_read=60_000))
    requests = (*transcript.requests[:4], wrong, *transcript.requests[5:])
    weighed = weigh(dataclasses.replace(transcript, requests=requests))
    assert weighed.flagged == {4}
    assert [p.request for p in fit_points(weighed)] == [1, 2, 3, 6, 7, *range(9, 16)]


def test_without_usage_there_is_nothing_to_hold_an_estimate_against() -> None:
    weighed = weigh(Build(usage=False).turns(8).done())
    assert fit_points(weighed) == ()
    assert median_error(()) is None
    assert fit_document(weighed)["median_error"] is None


def test_the_median_error_is_a_share_of_positive_growths() -> None:
    points = [FitPoint(1, 1, 100, 90), FitPoint(2, 2, 200, 260), FitPoint(3, 3, 1_000, 1_000), FitPoint(4, 4, -50, 10)]
    assert median_error(points) == pytest.approx(0.1)


def test_the_worst_five_are_those_missed_by_most_tokens() -> None:
    points = [FitPoint(n, n, 1_000, 1_000 + rest) for n, rest in enumerate((1, -70, 30, -20, 60, 10, 5))]
    assert [point.message for point in worst_points(points)] == [1, 4, 2, 3, 5]


def test_the_overhead_is_what_the_file_holds_and_what_it_leaves_out() -> None:
    build = Build(overhead=10_000).turns(8)
    plain = weigh(build.done())
    assert [(p.tokens, p.label) for p in overhead_parts(plain)] == [(10_000, Label.CALIBRATED)]
    system = (Block(Kind.TEXT, n_tokens=4_000),)
    parts = overhead_parts(weigh(dataclasses.replace(build.done(), system=system)))
    assert [p.tokens for p in parts] == [4_000, 6_000]
    assert sum(p.tokens for p in parts) == 10_000


def test_the_document_has_every_growth() -> None:
    build = Build(overhead=10_000).turns(8)
    build.add(Role.USER, text(40), typed=True)
    document = fit_document(weigh(build.done()))
    assert len(document["growths"]) == 7
    assert document["growths"][0] == {"request": 1, "message": 1, "measured": 600, "estimated": 600}
    assert document["overhead"] == 10_000
    assert document["flagged_requests"] == []


def test_the_95th_percentile_is_the_error_that_few_growths_exceed() -> None:
    points = [FitPoint(n, n, 100, 100 + n) for n in range(40)]
    assert p95_error(points) == pytest.approx(0.38)
    assert p95_error(()) is None


def test_the_summary_says_what_was_fitted_how_far_it_is_off_and_what_is_flagged() -> None:
    build = Build(overhead=10_000).turns(8)
    transcript = build.done()
    third = transcript.requests[4]
    assert third.usage
    wrong = dataclasses.replace(third, usage=dataclasses.replace(third.usage, cache_read=60_000, cache_write=0))
    requests = (*transcript.requests[:4], wrong, *transcript.requests[5:])
    weighed = weigh(dataclasses.replace(transcript, requests=requests))
    summary = fit_summary(weighed)
    assert (summary["n_growths"], summary["ratio"], summary["wrapper"], summary["label"]) == (5, 1.0, 0, "calibrated")
    assert (summary["n_measured"], summary["median_error"], summary["p95_error"]) == (5, 0.0, 0.0)
    assert summary["effective_window"] == 190_000
    assert [row["residual"] for row in summary["worst"]] == [0] * 5
    (flagged,) = flagged_usages(weighed)
    assert (flagged.request, flagged.context_tokens) == (4, 60_005)
    # 48,205 more than request 3's 11,800; three times the step's 600 tokens of text, and 4,000, are explained.
    assert flagged.why == "the context jumps by 48,205 tokens, of which 5,800 at most are explained, and falls back"
    assert summary["flagged"] == [dataclasses.asdict(flagged)]


def test_an_output_without_an_input_is_flagged() -> None:
    build = Build(overhead=10_000).turns(3)
    first = build.requests[0]
    assert first.usage
    nothing = dataclasses.replace(first.usage, input=0, cache_read=0, cache_write=0)
    build.requests[0] = dataclasses.replace(first, usage=nothing)
    assert [f.why for f in flagged_usages(weigh(build.done()))] == ["it reports an output and no input at all"]
