"""Safe, Balanced, Cheapest: what is never advised, whatever the rows are, and on real sessions."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxweb.commands._engine import choose
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.costs.cost import Cost
from sessions.engine.quality.baseline import as_recorded, baseline, change_words, own_policy
from sessions.engine.quality.columns import loss_columns
from sessions.engine.quality.index import build_index
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reading.texts import Texts
from sessions.engine.sweeps.advice import (
    BALANCED,
    CHEAPEST,
    KEEP,
    NOTHING,
    SAFE,
    SETTINGS,
    UNKNOWN,
    advise,
    cost_range,
    headline,
    lost,
    objections,
    overlap,
    usual_growth,
)
from sessions.engine.sweeps.sweep import UNSEEN, Axis, Row, Setting, Sweep, grid, recorded_row, sweep
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import ProviderError, RecordedCompaction
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.runs.ranges import usual_over
from sessions.runs.replay_state import ReplayState
from tests.engine.sessions import long_session
from tests.every import EVERY
from tests.samples import find_corpus, find_samples

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.sweeps.advice import Advice

WEIGHED = weigh(long_session(160))
"""A session whose context reaches 170,000 tokens of its window."""
HELD = replace(
    recorded_row(WEIGHED, None, lambda _: {"rules_gone": 1, "needs_gone": 20, "losses_open": 0}), threshold=170_000
)
FIRST, LAST = 60_000, 160_000


def made(rows: list[tuple[int, float, float, int, int, int]], compactions: int = 1, losses_open: int = 0) -> Sweep:
    """A sweep of (threshold, cost low, high, compactions, rules lost, things lost); as recorded: $10, 1 rule, 20."""
    held = replace(HELD, totals=replace(HELD.totals, compactions=compactions, cost=Cost(10, 10)),
                   more={**HELD.more, "losses_open": losses_open})  # fmt: skip
    found = [
        Row(
            Setting("claude_code", (("at", at),)), {"at": at},
            replace(HELD.totals, compactions=n, cost=Cost(low, high)), HELD.window, True, False,
            {"rules_gone": rules, "needs_gone": things, "read_again_tokens": 0, "losses_open": 0}, at, 40_000,
        )
        for at, low, high, n, rules, things in rows
    ]  # fmt: skip
    axes = (Axis("at", tuple(row.values["at"] for row in found)),)
    return Sweep(WEIGHED, axes, tuple(found), True, None, "full", "recorded", held)


def named(found: Advice, name: str) -> int | None:
    """The threshold that stands under a name, 0 for what was recorded."""
    pick = next((pick for pick in found.picks if name in pick.names), None)
    return None if pick is None else 0 if pick.as_recorded else pick.row.threshold


def hold(found: Advice, whole: Sweep) -> None:
    """Everything that is never advised."""
    held, growth = whole.recorded, usual_growth(whole.weighed)
    for pick in found.picks:
        if pick.as_recorded:
            continue
        row = pick.row
        for axis in whole.axes:
            assert row.values[axis.key] not in {axis.values[0], axis.values[-1]}, "an edge"
        assert row.threshold is None or not row.after or row.threshold >= row.after + growth, "no room"
        assert cost_range(row)[0] <= cost_range(held)[1], "dearer"
        assert row.more["rules_gone"] <= held.more["rules_gone"], "more rules lost"
        assert row.totals.compactions <= 2 * max(1, held.totals.compactions), "too often"
        assert pick.first or row.totals.compactions <= 2 * held.totals.compactions, "not said first"
        assert not (SAFE in pick.names and row.totals.compactions > held.totals.compactions)
        assert BALANCED not in pick.names or cost_range(row)[1] < cost_range(held)[0], "nothing saved"
    if found.answer == SETTINGS:
        assert found.recommended is not None
        assert not found.recommended.as_recorded
    else:
        assert found.recommended is None
    if held.totals.compactions == 0 and held.totals.peak_context_tokens < (held.threshold or held.window) / 2:
        assert found.answer == NOTHING


money = st.integers(400, 1300).map(lambda cents: cents / 100)
a_row = st.tuples(money, st.integers(0, 300), st.integers(0, 6), st.integers(0, 3), st.integers(0, 80))


@settings(max_examples=200)
@given(st.lists(a_row, min_size=1, max_size=12), st.integers(0, 4))
def test_whatever_the_rows_are(rows: list[tuple[float, int, int, int, int]], compactions: int) -> None:
    step = (LAST - FIRST) // max(len(rows), 1)
    whole = made(
        [(FIRST + step * k, low, low + more / 100, n, r, t) for k, (low, more, n, r, t) in enumerate(rows)], compactions
    )
    hold(advise(whole), whole)


def test_a_corner_is_no_advice() -> None:
    """The cheapest stands at the lowest threshold, which was only as far as one looked."""
    whole = made(
        [(60_000, 5, 5, 2, 0, 20), (90_000, 7, 7, 2, 0, 20), (120_000, 8, 8, 1, 0, 18), (150_000, 9, 9, 1, 0, 9)]
    )
    found = advise(whole)
    assert named(found, CHEAPEST) == 90_000
    assert named(found, SAFE) == 120_000
    assert found.answer == SETTINGS
    hold(found, whole)


def test_what_costs_the_same_is_told_apart_by_losses() -> None:
    """Ranges that overlap are one cost: of two such settings the gentler."""
    whole = made([(60_000, 9, 9, 1, 1, 20), (80_000, 6.0, 6.6, 2, 0, 40), (100_000, 6.5, 6.9, 2, 0, 21),
                  (150_000, 9, 9, 1, 1, 20)])  # fmt: skip
    found = advise(whole)
    assert overlap(whole.rows[1], whole.rows[2])
    assert named(found, CHEAPEST) == named(found, BALANCED) == 100_000


def test_a_rule_more_is_never_worth_it() -> None:
    whole = made([(60_000, 9, 9, 1, 1, 20), (100_000, 4, 4, 1, 2, 0), (150_000, 9, 9, 1, 1, 20)])
    assert {named(advise(whole), name) for name in (SAFE, BALANCED, CHEAPEST)} == {0}


def test_keep_is_an_answer() -> None:
    """Half the cost for eight times the losses is no balance; it is the cheapest all the same."""
    whole = made([(60_000, 9, 9, 1, 1, 20), (100_000, 6, 6, 2, 1, 160), (150_000, 9.9, 9.9, 1, 1, 20)])
    found = advise(whole)
    assert found.answer == KEEP
    assert named(found, CHEAPEST) == 100_000
    assert "Keep 170,000" in found.sentence


def test_no_advice_where_losses_are_not_known() -> None:
    rows = [(60_000, 9, 9, 1, 0, 9), (100_000, 6, 6, 1, 0, 9), (150_000, 9, 9, 1, 0, 9)]
    assert advise(made(rows, losses_open=3)).answer == UNKNOWN
    whole = made(rows)
    bare = replace(whole, rows=tuple(replace(row, more={}) for row in whole.rows))
    assert "losses are counted" in advise(bare).sentence
    assert not advise(bare).picks


def test_no_advice_along_a_context_that_was_compacted() -> None:
    """Its own compactions are in every row of such a sweep, so that no saving is the setting's."""
    rows = [(60_000, 9, 9, 1, 0, 9), (100_000, 6, 6, 1, 0, 9), (150_000, 9, 9, 1, 0, 9)]
    along = replace(made(rows), base="recorded")
    found = advise(along)
    assert (found.answer, found.picks, found.recommended) == (UNKNOWN, (), None)
    assert found.sentence == "No advice along the recorded context: it was compacted already."
    assert advise(replace(made(rows, compactions=0), base="recorded")).answer == SETTINGS, "nothing was compacted"


def test_losses_are_held_against_all_recorded_compactions_or_none() -> None:
    """Two of three compactions as recorded lose less than three would: nothing is measured against them."""
    cut = RecordedCompaction(request=0, boundary=0, outside=True)
    unseen = replace(WEIGHED, transcript=replace(WEIGHED.transcript, compactions=(cut,)))
    counts = {"rules_gone": 0, "needs_gone": 0, "losses_open": 0}
    assert recorded_row(unseen, None, lambda _: counts).more == {**counts, UNSEEN: 1}
    assert UNSEEN not in recorded_row(WEIGHED, None, lambda _: counts).more
    whole = made([(60_000, 9, 9, 3, 0, 9), (100_000, 6, 6, 3, 0, 9), (150_000, 9, 9, 3, 0, 9)], compactions=3)
    held = replace(whole.recorded, more={**whole.recorded.more, UNSEEN: 1})
    found = advise(replace(whole, recorded=held))
    assert (found.answer, found.picks) == (UNKNOWN, ())
    assert found.sentence == "No advice: what 1 of 3 recorded compactions dropped is not in the file."
    assert headline(whole.rows[1], whole.recorded).endswith("lost")
    assert headline(whole.rows[1], held) == "Compact at 100,000 tokens: 40% cheaper, 3 compactions as recorded"


def test_limits_of_the_reader_hold() -> None:
    whole = made([(60_000, 9, 9, 1, 0, 9), (80_000, 6, 6, 2, 0, 9), (100_000, 7, 7, 1, 0, 9), (150_000, 9, 9, 1, 0, 9)])
    assert named(advise(whole), CHEAPEST) == 80_000
    assert named(advise(whole, {"max_compactions": 1}), CHEAPEST) == 100_000
    assert advise(whole, {"max_compactions": 0}).sentence == "No setting meets the limits."


def test_nothing_to_tune_in_a_short_chat() -> None:
    """A small context is told as what it is, without any setting."""
    weighed = weigh(long_session(30, tokens=100))
    axes, points = grid(["claude_code"], [usual_over(ReplayState(), weighed)])
    whole = sweep(weighed, points, axes, columns=lambda _: {"rules_gone": 0, "needs_gone": 0, "losses_open": 0})
    found = advise(whole)
    assert found.answer == NOTHING
    assert found.sentence.startswith("Nothing to tune: the context peaked at ")
    assert not found.picks


def test_no_sentence_is_against_a_row_beside_it() -> None:
    """What is cheaper, loses less or needs a larger window is told as what it is, where it may not be advised."""
    rows = [(60_000, 4, 4, 1, 1, 0), (80_000, 9, 9, 1, 1, 30), (100_000, 9.9, 9.9, 1, 1, 20), (150_000, 9, 9, 1, 1, 20)]
    whole = made(rows)
    found, why = advise(whole), objections(whole)
    assert found.sentence == "Keep 170,000: what cheaper settings lose outweighs what they save."
    assert [why[id(row)] for row in whole.rows] == ["end of the range", "", "", "end of the range"]
    sizes = (100_000, 150_000, 1_000_000, 2_000_000)
    wide = [replace(row, window=n, values={"window": n}) for n, row in zip(sizes, whole.rows, strict=True)]
    windows = replace(whole, axes=(Axis("window", sizes),), rows=tuple(wide))
    assert objections(windows)[id(wide[2])] == "larger window"
    dear = made([(60_000, 9, 9, 1, 1, 20), (100_000, 11, 11, 1, 1, 0), (150_000, 9, 9, 1, 1, 20)])
    assert objections(dear)[id(dear.rows[1])] == "dearer"
    assert advise(dear).sentence.endswith("no other setting that may be advised saves 3% with its re-reads.")


def test_what_went_over_its_window_is_never_kept() -> None:
    rows = [(60_000, 9, 9, 1, 1, 20), (100_000, 11, 11, 2, 1, 40), (150_000, 9, 9, 1, 1, 20)]
    whole = made(rows)
    assert advise(whole).answer == KEEP
    dead = replace(whole, recorded=replace(whole.recorded, fits=False))
    found = advise(dead)
    assert found.sentence.startswith("The recorded session went over its window, or was refused. Compact at 100,000")
    assert [(pick.name, pick.as_recorded) for pick in found.picks] == [(SAFE, False)]
    assert advise(replace(dead, rows=dead.rows[:1])).answer == UNKNOWN
    refused = replace(WEIGHED, transcript=replace(WEIGHED.transcript, errors=(ProviderError(ErrorKind.CONTEXT, 9, 9),)))
    assert recorded_row(WEIGHED, None).fits
    assert not recorded_row(refused, None).fits


def test_the_recorded_setting_stays_where_another_is_no_better() -> None:
    whole = made([(60_000, 9, 9, 1, 1, 20), (180_000, 10, 10, 1, 1, 20), (190_000, 10, 10, 1, 1, 20)])
    assert named(advise(whole), SAFE) == 0


def test_a_cheaper_row_is_told_where_nothing_has_to_be_compacted() -> None:
    rows = [(60_000, 9, 9, 1, 0, 2), (80_000, 9, 9, 1, 0, 2), (150_000, 10, 10, 0, 0, 0)]
    whole = made(rows, compactions=0)
    far = replace(whole, recorded=replace(whole.recorded, threshold=900_000, window=1_000_000))
    sentence = advise(far).sentence
    assert sentence.startswith("No need to compact: the context peaked at ")
    assert ". Compacting at 80,000 tokens: 10% cheaper, 1 compaction instead of 0, " in sentence


def test_the_baseline_is_what_was_sent() -> None:
    """Contexts, peak and count are the recording's; held against itself it costs the same."""
    sums = baseline(WEIGHED)
    assert sums.peak_context_tokens == max(WEIGHED.recorded.context)
    assert sums.compactions == len(WEIGHED.transcript.compactions)
    assert as_recorded(WEIGHED).context_tokens == tuple(WEIGHED.recorded.context)
    assert change_words(sums, sums) == "the same cost"
    assert sums.cost is not None
    assert sums.cost.low == sums.cost.high


def whole_of(data: bytes, name: str) -> Sweep | None:
    """A file's usual sweep under its own policy, with losses; None where it holds nothing to replay."""
    parsed = read_transcripts(io.BytesIO(data), name)
    if not parsed.transcripts:
        return None
    weighed = weigh(choose(parsed, None))
    policy = own_policy(weighed) or "claude_code"
    texts = Texts(lambda: io.BytesIO(data), parsed.format)
    axes, points = grid([policy], [usual_over(ReplayState(policy=policy), weighed)])
    columns = loss_columns(weighed, build_index(weighed.transcript, texts.of))
    return sweep(weighed, points, axes, texts=texts, columns=columns)


def sample_files() -> list[Path]:
    """Samples of a size that a test may read."""
    folder = find_samples()
    if folder is None:
        return []
    names = {".jsonl", ".json"}
    return [at for at in sorted(folder.rglob("*")) if at.suffix in names and 5_000 < at.stat().st_size < 400_000]


@pytest.mark.parametrize("file", sample_files()[::3], ids=lambda at: at.name)
def test_on_samples(file: Path) -> None:
    try:
        whole = whole_of(file.read_bytes(), file.name)
    except UnreadableInput:
        pytest.skip("holds no session")
    if whole is not None:
        hold(advise(whole), whole)


@pytest.mark.exhaustive
def test_on_the_corpus() -> None:
    """The sessions that compacted by themselves: every never holds, and Balanced loses no more than was lost."""
    folder = find_corpus()
    if folder is None:
        pytest.skip("no corpus")
    with (folder / "INDEX.tsv").open(encoding="utf-8") as index:
        names = [row["file"] for row in csv.DictReader(index, delimiter="\t") if int(row["automatic"])]
    mine, theirs = [], []
    for name in names[:: 1 if EVERY else 3]:
        whole = whole_of(gzip.decompress((folder / name).read_bytes()), name.removesuffix(".gz"))
        assert whole is not None
        found = advise(whole)
        hold(found, whole)
        balanced = next((pick for pick in found.picks if BALANCED in pick.names), None)
        if balanced is not None:
            mine.append(lost(balanced.row))
            theirs.append(lost(whole.recorded))
    assert len(mine) >= (25 if EVERY else 8)
    assert median(mine) <= median(theirs)
