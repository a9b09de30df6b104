from __future__ import annotations

import pytest

from sessions.engine.quality.columns import losses_by
from sessions.engine.quality.needs import used_later
from sessions.engine.quality.recall import Recall, decoys_at, percent, recall_of, recall_words
from sessions.engine.quality.standing import standing
from sessions.engine.replays.replay import replay
from sessions.engine.sweeps.report import flat
from sessions.engine.sweeps.sweep import Setting, objectives, sweep
from tests.engine.test_quality_events import items, story
from tests.engine.test_quality_laws import long_told


def counts(*, asked=10, gone=3, still_open=0, decoys=0, named=0, tokens=100_000):
    """Counts of a replay's compactions."""
    return {
        "needs_asked": asked, "needs_gone": gone, "needs_open": still_open, "decoys": decoys, "decoys_named": named,
        "retained_tokens": tokens,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "compactions", "expected"),
    [
        (counts(), 2, Recall(0.7, 10, 50_000, at_least=False)),
        (counts(gone=0), 1, Recall(1.0, 10, 100_000, at_least=False)),
        (counts(gone=3, still_open=2), 1, Recall(0.5, 10, 100_000, at_least=True)),
        (counts(decoys=10, named=2), 1, Recall(pytest.approx((0.7 - 0.2) / 0.8), 10, 100_000, at_least=False)),
        (counts(decoys=10, named=8), 1, Recall(0.0, 10, 100_000, at_least=False)),
        (counts(decoys=10, named=10), 1, Recall(0.0, 10, 100_000, at_least=False)),
        (counts(asked=0, gone=0), 1, None),
        (counts(), 0, None),
        ({"needs_gone": 3}, 2, None),
    ],
)
def test_recall_is_what_still_answers_less_what_is_guessed(given, compactions, expected):
    assert recall_of(given, compactions) == expected


def test_words_say_where_a_summary_may_answer_more():
    assert [percent(share) for share in (0, 0.001, 0.004, 0.006, 0.5, 0.9978, 1)] == [
        "0%", "under 1%", "under 1%", "1%", "50%", "99%", "100%",
    ]  # fmt: skip
    assert recall_words(Recall(0.834, 1_012, 41_211.6, at_least=False)) == "83% of 1,012 at 41,212 tokens"
    assert recall_words(Recall(0.5, 2, 900, at_least=True)) == "at least 50% of 2 at 900 tokens"
    assert recall_words(None) == "–"


def test_what_a_tool_gives_again_is_not_asked():
    """Of six things used after message 6 a result says jobRunner again first: the context need not hold it."""
    weighed, index = story().done()
    assert len(used_later(standing(items(weighed, range(7)), weighed.transcript, index, {}), index)) == 5


def test_a_decoy_is_what_nothing_had_said():
    weighed, index = story().done()
    before = standing(items(weighed, range(7)), weighed.transcript, index, {})
    unsaid = {n for n, places in enumerate(index.places) if places[0] > 6}
    first_places = sorted(places[0] for places in index.places)
    assert decoys_at(before, before, index, first_places) == (len(unsaid), 0)
    assert decoys_at(before, before, index, []) == (0, 0)


def test_a_replay_asks_what_is_used_later_at_every_compaction():
    """Counted by hand from uses and places; what a tool gave again in between is not asked."""
    weighed, index = long_told().done()
    made = replay(weighed, "sliding_window", window=20_000, params={"trigger": 80, "target": 30})
    lost = losses_by(weighed, index)(made)
    asked = 0
    for event in made.events:
        before = standing(event.before, weighed.transcript, index, {})
        for n, uses in enumerate(index.uses):
            first = next((use for use in uses if use > before.newest), None)
            again = any(before.newest < given < (first or 0) for given in index.given[n])
            asked += first is not None and not again and before.has(index, n)
    assert len(made.events) > 1
    assert lost.counts["needs_asked"] == asked > len(lost.things) > 0
    assert lost.counts["retained_tokens"] == sum(event.after_tokens for event in made.events)


def test_a_row_of_a_sweep_says_its_recall_and_the_front_does_not_weigh_it():
    weighed, _ = long_told().done()
    columns = {**counts(gone=4, tokens=40_000), "rules_gone": 1, "read_again_tokens": 7, "losses_open": 0}
    settings = [Setting("sliding_window", (("trigger", 80), ("target", 30)), 20_000)]
    (row,) = sweep(weighed, settings, columns=lambda _: columns).rows
    told = flat(row)
    assert (told["recall"], told["asked"]) == (0.6, 10)
    assert told["retained_tokens"] == round(40_000 / row.totals.compactions)
    assert not {"decoys", "needs_asked"} & told.keys()
    assert objectives(row)[3:] == (4, 1, 7, 0)
    assert "recall" not in flat(sweep(weighed, settings).rows[0])
