"""What became of the room that compactions made."""

from __future__ import annotations

from sessions.engine.quality.thrash import refills, thrash_document
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, long_session


def test_room_and_what_filled_it():
    """Thirty per cent of 100,000: about twenty turns fill it again, nearly all of it tool results."""
    made = replay(weigh(long_session(120)), "parametric", params={"share": 30}, window=100_000, summarizer="stub:500")
    found = refills(made)
    assert len(found) == len(made.events) >= 3
    first = found[0]
    assert first.floor_tokens == made.events[0].after_tokens
    assert first.headroom_tokens == 30_000 - first.floor_tokens
    assert first.requests_until_next == made.events[1].request - made.events[0].request
    assert next(iter(first.regrew)) == "tool_result"
    assert found[-1].requests_until_next is None
    assert not any(refill.futile for refill in found)
    grown = sum(sum(refill.regrew.values()) for refill in found)
    entered = sum(made.weighed.tokens[made.weighed.steps[made.events[0].request].stop : made.weighed.steps[-1].stop])
    assert grown == entered


def test_a_floor_over_the_threshold_is_futile():
    """The kept tail alone is over the threshold: every event is in vain."""
    made = replay(weigh(long_session(160)), "parametric", params={"share": 20, "keep_last": 40, "min_messages": 60},
                  window=60_000,
                  summarizer="stub:500")  # fmt: skip
    document = thrash_document(made)
    assert document["futile"] == len(made.events) >= 3
    assert all(event["headroom_tokens"] <= 0 for event in document["events"])


def test_edits_in_place_are_not_called_futile():
    made = replay(weigh(long_session(60)), "layered_v1", params={"max_messages": 10_000})
    assert len(made.events) > 20
    assert thrash_document(made)["futile"] == 0


def test_what_a_recorded_compaction_made_fills_no_room():
    """A full replay leaves its summary out, so nothing of that kind ever enters."""
    session = Build()
    session.prompt()
    session.turns(60, tokens=900)
    session.compact(5_000)
    session.turns(60, tokens=900, start=60)
    session.reply()
    made = replay(weigh(session.done()), "parametric", params={"share": 30}, window=100_000, summarizer="stub:500")
    found = refills(made)
    assert len(found) >= 2
    assert all("summary" not in refill.regrew for refill in found)
    first = made.weighed.steps[made.events[0].request].stop
    entered = [item for item in made.weighed.transcript.messages[first:-1] if not item.summary]
    grown = sum(sum(refill.regrew.values()) for refill in found)
    assert grown == sum(made.weighed.tokens[message.index] for message in entered)
