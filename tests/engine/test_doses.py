"""Dropped file reads that may be read again, by dose; and the tables that say how often that happens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.costs.prices import Prices
from sessions.engine.policies.policy import Item
from sessions.engine.quality.again_table import CHANCES, KINDS, N_CALLS, SHARES
from sessions.engine.quality.assess import Assessor
from sessions.engine.quality.calls import READ
from sessions.engine.quality.corpus import markdown, plain, study_corpus
from sessions.engine.quality.dose_tables import StudyUnit, dose_table, half
from sessions.engine.quality.doses import BINS, bin_of, chance_words
from sessions.engine.quality.references import KINDS as REFERENCE_KINDS
from tests.bench.chances import KEPT, LOST, SHIFTED, counted, share
from tests.engine.test_quality_events import Made, items
from tests.engine.told import Told


def story():
    """Two files and a command are looked at; after message 8 the agent uses names of the first file and the command."""
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", "the job_runner starts pay_bar and cash_desk " + "x " * 400)
    told.reply("", b=("Read", {"file_path": "/app/b.py"}))
    told.result("b", "nothing_here")
    told.reply("", c=("Bash", {"command": "make all"}))
    told.result("c", "built with tool_chain")
    told.prompt("go on")
    told.reply("Now job_runner, pay_bar and cash_desk, with tool_chain.", d=("Bash", {"command": "make test"}))
    told.result("d", "")
    told.reply("done")
    return told


def likely(kept, inserted=(), texts=None):
    """What may be read again of an event after message 7 that keeps some messages."""
    weighed, index = story().done()
    made = Made(weighed, kept, inserted)
    made.before, made.message = tuple(items(weighed, range(8))), 7
    return Assessor(weighed, index).assess(made, 0, texts or {}).likely


def test_a_dropped_read_with_names_used_later_is_warned_of_and_a_command_is_not():
    found = likely([7])
    assert [call.key for call in found.calls] == ["/app/a.py"]
    assert (found.share, found.anyway) == SHARES[READ][bin_of(3)]
    assert found.tokens > 200
    assert {READ} == KINDS


def test_what_is_kept_or_said_in_the_summary_is_not_warned_of():
    assert likely(range(8)).n == 0
    weighed, _ = story().done()
    message = replace(weighed.transcript.messages[0], summary=True)
    summary = Item("e0.0", message, 1, 0, -1, inserted=True)
    assert likely([7], [summary], {"e0.0": "job_runner, pay_bar and cash_desk stay"}).n == 0
    assert likely([7], [summary], {"e0.0": "only job_runner"}).share == SHARES[READ][bin_of(2)][0]
    assert likely([7], [summary]).n == 0  # a summary without text: it depends


def test_the_sentence_has_both_shares_tokens_and_dollars():
    found = likely([7])
    share, anyway = SHARES[READ][bin_of(3)]
    words = found.words(None)
    assert words.startswith(f"1 dropped file read may be re-read ({share:.0%}; {anyway:.0%} would be anyway)")
    assert words.endswith(f"about {found.tokens:,} tokens")
    prices = Prices(1_000.0, 1.0, 1.0, None, None, "")
    assert found.words(prices).endswith(f", ${found.tokens / 1_000:,.2f}")
    assert likely(range(8)).words(prices) == ""


@pytest.mark.parametrize(("dose", "number"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (99, 3)])
def test_bins_meet(dose, number):
    assert bin_of(dose) == number
    assert len(SHARES[READ]) == len(BINS)


def units(n_sessions, dropped, placebo):
    """Per session ten dropped results and ten of the placebo, with so many fetched again of dose 2."""
    return [
        StudyUnit(f"s{s}", 0, side, 2, 0, 1, 0.0, 1, k < (placebo if side else dropped), READ, (("identifier", 2),))
        for s in range(n_sessions)
        for side in (False, True)
        for k in range(10)
    ]


def test_a_difference_holds_where_interval_and_halves_say_so():
    table = dose_table("files read", units(12, 4, 1))
    row = table.doses[1]
    assert (row.n, row.n_again, row.n_placebo, row.n_placebo_again) == (120, 48, 120, 12)
    assert row.difference == pytest.approx(0.3)
    assert (row.least, row.most) == (pytest.approx(0.3), pytest.approx(0.3))
    assert table.holds
    assert not dose_table("files read", units(12, 1, 1)).holds
    assert not dose_table("files read", units(9, 4, 1)).holds  # too few sessions for an interval
    assert {half(f"s{s}") for s in range(12)} == {0, 1}


def test_one_half_against_it_is_enough_not_to_hold():
    mixed = [u for u in units(40, 8, 1) if half(u.session)] + [u for u in units(12, 1, 2) if not half(u.session)]
    table = dose_table("files read", mixed)
    assert table.lost.least is not None
    assert not table.holds


def test_the_study_says_in_words_what_it_found_and_what_it_cannot():
    told = story()
    told.compact("Two files were read.")
    told.reply("job_runner again", e=("Read", {"file_path": "/app/a.py"}))
    told.result("e", "the job_runner")
    told.reply("end")
    result = study_corpus([told.done()])
    said = list(plain(result))
    assert any(line.startswith("Files read with something lost") and "too few" in line for line in said)
    assert "## In plain words" in markdown(result)


def test_the_chance_of_a_kind_stands_beside_the_placebo() -> None:
    assert set(CHANCES) <= {*REFERENCE_KINDS, "rule"}
    for lost, anyway in CHANCES.values():
        assert 0 <= lost <= 1
        assert 0 <= anyway <= 1
    lost, anyway = CHANCES["path"]
    assert chance_words("path") == f"{lost:.1%} within 20 calls, {anyway:.1%} without a compaction"
    assert chance_words("location") == "under 0.1% within 20 calls, under 0.1% without a compaction"
    assert not chance_words("nothing of the kind")


def test_the_benchmark_counts_lost_kept_and_shifted_things() -> None:
    told = Told()
    told.prompt("See src/kept.py, src/used.py and src/gone.py. Never touch a.lock.")
    for n in range(N_CALLS + 5):
        told.reply("", **{f"c{n}": ("Read", {"file_path": f"/w/src/f{n}.py"})})
        told.result(f"c{n}", "text")
    told.compact("The work is in src/kept.py.")
    told.reply("", again=("Read", {"file_path": "src/used.py"}))
    told.result("again", "text")
    counts, n_events = counted(*told.done())
    assert n_events == 1
    paths = {group: share(counts, group, "path") for group in (LOST, KEPT, SHIFTED)}
    assert paths[KEPT] == (0, 1)
    assert paths[LOST][0] == 1, "src/used.py alone is named again"
    assert paths[LOST][1] > N_CALLS
    assert paths[SHIFTED][0] == 0, "before the compaction none of those that stood is named again"
    assert share(counts, LOST, "rule") == (0, 1)
