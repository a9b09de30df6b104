"""pi and Gemini CLI: cut points, splits, thresholds; pi against its own recorded session."""

from __future__ import annotations

import pytest

from sessions.engine.policies.gemini import split
from sessions.engine.policies.pi import Cut, find_cut
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.outputs import outputs
from tests.engine.policies.sent import last, reply, result, turns, user, views
from tests.samples import samples_dir

A, U, T = "assistant", "user", "tool"


@pytest.mark.parametrize(
    ("keep", "cut"),
    [(10, Cut(0, -1)), (20, Cut(0, -1)), (21, Cut(4, 3)), (30, Cut(4, 3)), (31, Cut(3, -1)), (50, Cut(3, -1)),
     (51, Cut(1, 0)), (61, Cut(0, -1)), (71, Cut(0, -1))],
)  # fmt: skip
def test_pi_cuts_at_the_first_message_from_there_on_that_is_no_result(keep, cut):
    """Sizes of 10: user, reply, result, user, reply, result, result reach 30 at the reply, 4.

    Where no such message follows, the cut is at the first of all.
    """
    assert find_cut([10] * 7, [U, A, T, U, A, T, T], keep) == cut


@pytest.mark.golden("pi")
@pytest.mark.parametrize(("reserve", "fires"), [(1_000, False), (1_001, True)])
def test_pi_fires_over_the_window_less_the_reserve(reserve, fires):
    spec = [user(400), reply(chars=400), user(4)]
    made = replay(weigh(session(spec)), "none")
    window = made.sent.tokens[0] + outputs(made.weighed)[0] + 1_000
    assert ("new" in last(spec, "pi", window=window, reserve=reserve, keep_recent=1)) is fires


def session(spec):
    from tests.parity.lists import transcript

    return transcript(spec)


@pytest.mark.samples
def test_pi_against_its_own_session():
    """Recorded by hand at 171 and by itself at 294: asked about the lists before, it fires at 294 alone."""
    from sessions.engine.reading.reading import read_transcripts

    with (samples_dir() / "pi" / "before-compaction.jsonl").open("rb") as file:
        (transcript,) = read_transcripts(file, "pi").transcripts
    weighed = weigh(transcript)
    assert [e.request for e in replay(weighed, "pi", base="recorded").events] == [294]
    assert replay(weighed, "pi").events[0].request == 176


@pytest.mark.parametrize(
    ("lengths", "kinds", "safe", "found"),
    [
        ([10] * 10, [U, A] * 5, True, 8),
        ([70, 10, 20], [U, U, A], True, 1),
        ([69, 11, 20], [U, U, A], True, 3),
        ([69, 11, 20], [U, U, A], False, 1),
        ([10, 90], [U, A], False, 0),
    ],
)
def test_gemini_splits_at_the_first_prompt_after_70_percent(lengths, kinds, safe, found):
    assert split(lengths, kinds, 0.7, all_safe=safe) == found


@pytest.mark.golden("gemini_compression")
def test_gemini_compresses_at_half_of_the_limit():
    """The prompt last reported is the first four messages; the history ends at the last reply."""
    spec = [user(400), reply(chars=400), user(400), reply(chars=400), user(4)]
    reported = replay(weigh(session(spec)), "none").sent.tokens[1]
    assert last(spec, "gemini_compression", window=2 * reported) == ["new", "new", 4]
    assert last(spec, "gemini_compression", window=2 * reported + 2) == [0, 1, 2, 3, 4]


@pytest.mark.golden("gemini_masking")
@pytest.mark.parametrize(("least", "n_masked"), [(2_008, 2), (2_009, 0)])
def test_gemini_masks_what_is_worth_it(least, n_masked):
    """Results of 4,000 characters weigh ⌊(4 + 13 + 4,000) ÷ 4⌋ = 1,004; the newest in the history is protected."""
    spec = [*turns(4, 4_000), reply("x"), result("x", 5)]
    sent = views(spec, "gemini_masking", protect=2_008, least=least)[-1]
    assert sum(m[4][0][1] not in {4_000, 5} for m in sent if m[4]) == n_masked
