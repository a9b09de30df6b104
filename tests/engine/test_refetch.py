"""What is fetched again is the same by sums, in one pass over many courses, and event by event."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.sweeps.fast import refetch
from sessions.engine.sweeps.fast.jump import Course
from sessions.engine.sweeps.fast.track import track_of
from tests.engine.test_jump import transcripts
from tests.every import examples


@examples(300)
@given(transcript=transcripts(n_turns=40), data=st.data())
def test_courses_are_counted_alike(transcript, data):
    """Cuts wherever no pair is split, rising with their steps or not."""
    track = track_of(weigh(transcript))
    if track is None or not track.reuses or track.long_pairs:
        return
    courses = [_course(data.draw, track) for _ in range(3)]
    plain = [refetch._one_by_one(track, course) for course in courses]
    assert [refetch._alone(track, course) for course in courses] == plain
    assert refetch.refetched(track, courses) == plain


def _course(draw, track):
    steps = sorted(draw(st.sets(st.integers(0, track.n_steps - 1), min_size=1, max_size=5)))
    cuts, start = [], 0
    for step in steps:
        start = max(start, track.cut_back[draw(st.integers(start, track.stops[step]))])
        cuts.append(start)
    return Course(steps, cuts, [], [], [], 0)
