"""SWE-agent's elision and the checkpoints of its fork: golden triples, shared trajectories."""

from __future__ import annotations

import pytest

from sessions.engine.policies.swe_agent_last_n import elided
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies.sent import last, reply, turns, user, views
from tests.samples import samples_dir


@pytest.mark.golden("swe_agent_last_n")
@pytest.mark.parametrize(
    ("n_observations", "n", "polling", "blanked"),
    [(6, 5, 1, 0), (7, 5, 1, 1), (20, 5, 1, 14), (22, 5, 5, 14), (24, 5, 5, 14), (25, 5, 5, 19), (30, 10, 1, 19)],
)
def test_golden_triples(n_observations, n, polling, blanked):
    """The rule alone, and a replay whose last request has so many observations, the task counted."""
    assert elided(n_observations, n, polling) == blanked
    sent = views(turns(n_observations - 1), "swe_agent_last_n", n=n, polling=polling)[-1]
    assert sum(m[4][0][1] != 400 for m in sent if m[4]) == blanked


def test_actions_as_text():
    """Without tool results every user message is an observation; the first is the task."""
    spec = [m for _ in range(8) for m in (user(400), reply(chars=400))] + [user(400)]
    sent = views(spec, "swe_agent_last_n", n=5)[-1]
    assert [m[0] for m in sent if m[0] % 2 == 0 and m[1] != 400] == [2, 4, 6]


@pytest.mark.samples
@pytest.mark.parametrize("name", ["function_calling_simple.traj", "marshmallow-1867-xml.traj"])
def test_shared_trajectories(name):
    from sessions.engine.reading.reading import read_transcripts

    with (samples_dir() / "swe-agent" / name).open("rb") as file:
        (transcript,) = read_transcripts(file, name).transcripts[:1]
    result = replay(weigh(transcript), "swe_agent_last_n", params={"n": 2})
    after = result.events[-1].after
    n_observations = sum(item.message.role is Role.USER for item in after)
    assert sum(item.edited for item in after) == elided(n_observations, 2, 1) > 0


@pytest.mark.golden("summarize_every_n_turns")
@pytest.mark.parametrize(("n_turns", "summarised"), [(30, False), (31, True)])
def test_checkpoint_at_31_turns(n_turns, summarised):
    sent = last(turns(n_turns), "summarize_every_n_turns")
    assert ("new" in sent) is summarised
    if summarised:
        assert sent == [0, "new", *range(43, 63)], "turns 0 to 20 are the checkpoint"


def test_checkpoints_are_merged_or_pile_up():
    given = {"n": 3, "keep_last": 2}
    assert last(turns(8), "summarize_every_n_turns", **given) == [0, "new", *range(13, 17)]
    assert last(turns(8), "summarize_every_n_turns", **given, checkpoints="all") == [0, "new", "new", *range(13, 17)]
