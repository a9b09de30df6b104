"""Carry bill, oracle, survival, AUROC and the study: golden values."""

from __future__ import annotations

import pytest

from sessions.engine.quality.assess import assess_recorded
from sessions.engine.quality.auroc import Interval, ScoredUnit, auroc, with_interval
from sessions.engine.quality.carry import working_set
from sessions.engine.quality.corpus import markdown, reading, study_corpus, study_document
from sessions.engine.quality.oracle import compact_instructions, oracle
from sessions.engine.quality.study import Predictor, Study, units_of
from sessions.engine.quality.survival import survival
from tests.engine.told import Told

FILLER = "words that nobody needs again, " * 20


def carried():
    """One result used two requests later, one never; a third reply ends it."""
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", f"job_runner {FILLER}")
    told.reply("", b=("Read", {"file_path": "/app/b.py"}))
    told.result("b", f"pay_bar {FILLER}")
    told.reply("job_runner it is")
    told.prompt("go on")
    told.reply("done")
    return told


def test_carry_bill():
    """Idle: tokens × requests after the last use (entering counts), at the cache-read price."""
    weighed, index = carried().done()
    found = working_set(weighed, index)
    used = next(b for b in found.blocks if (b.message, b.kind) == (2, "tool_result"))
    idle = next(b for b in found.blocks if (b.message, b.kind) == (4, "tool_result"))
    assert (used.entered, used.last_use, used.left, used.n_uses, used.idle_requests) == (1, 2, None, 1, 1)
    assert (idle.entered, idle.last_use, idle.n_uses, idle.idle_requests) == (2, 2, 0, 1)
    assert idle.usd == pytest.approx(idle.tokens * 1 * weighed.model.cache_read_price / 1e6)
    prompt = next(b for b in found.blocks if b.message == 0)
    assert prompt.binding
    assert prompt.idle_token_requests == 0
    assert found.usd == pytest.approx(sum(b.usd for b in found.blocks))


def test_working_set_curve():
    """At every request: carried = all blocks sent; needed within one request ahead is what that request uses."""
    weighed, index = carried().done()
    found = working_set(weighed, index, window=1)
    tokens = weighed.tokens
    assert found.carried == (tokens[0], sum(tokens[:3]), sum(tokens[:5]), sum(tokens[:7]))
    assert all(n + u <= c for n, u, c in zip(found.needed, found.unknown, found.carried, strict=True))
    wide = working_set(weighed, index, window=20)
    assert all(w >= n for w, n in zip(wide.needed, found.needed, strict=True))
    assert wide.needed[0] == tokens[0]


def test_compaction_ends_a_block():
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", f"job_runner {FILLER}")
    told.reply("reading done")
    told.compact("A file was read.")
    told.reply("done")
    weighed, index = told.done()
    recorded = {b.message: b for b in working_set(weighed, index).blocks if b.kind == "tool_result"}
    whole = {b.message: b for b in working_set(weighed, index, base="full").blocks if b.kind == "tool_result"}
    assert (recorded[2].entered, recorded[2].left, recorded[2].idle_requests) == (1, 2, 0)
    assert (whole[2].left, whole[2].idle_requests) == (None, 1)


def compacted():
    """A compaction that drops two needed lines and a rule among much filler."""
    told = Told()
    told.prompt("Never touch package-lock.json here.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", f"{FILLER}\nthe job_runner starts pay_bar and 31 px\n{FILLER}")
    told.reply("", b=("Bash", {"command": "make all"}))
    told.result("b", f"{FILLER}\nticket SHOP-812 asks for it\n{FILLER}")
    told.reply("fine")
    told.compact("Two files were looked at, SHOP-812 is the ticket.")
    told.reply("job_runner, pay_bar, 31 px and SHOP-812 are used")
    told.reply("done")
    return told


def test_oracle(monkeypatch: pytest.MonkeyPatch):
    """Two lines cover all four needs; the summary covers one."""
    monkeypatch.setattr("sessions.engine.quality.oracle.SHARE", 1.0)
    told = compacted()
    weighed, index = told.done()
    (assessment,) = assess_recorded(weighed, index)
    found = oracle(assessment, weighed, index, lambda m: told.contents[m.index])
    assert [(line.text, line.message, line.covers) for line in found.lines] == [
        ("the job_runner starts pay_bar and 31 px", 2, 3), ("ticket SHOP-812 asks for it", 4, 1),
    ]  # fmt: skip
    assert (found.wanted, found.covered, found.summary_covered) == (4, 4, 1)
    assert found.tokens == sum(line.tokens for line in found.lines)
    text = compact_instructions(assessment, found)
    assert "- Never touch package-lock.json here." in text
    assert text.endswith("- ticket SHOP-812 asks for it")


def test_survival():
    """Which compaction lost this?"""
    told = compacted()
    weighed, index = told.done()
    assessments = tuple(assess_recorded(weighed, index))

    def fate(text):
        return survival(text, weighed.transcript, lambda m: told.contents[m.index], assessments)

    lost = fate("the JOB_RUNNER  starts")
    assert (lost.places, lost.lost_at) == (((2, 0),), 0)
    assert [(f.before, f.after) for f in lost.fates] == [("verbatim", "gone")]
    kept = fate("SHOP-812")
    assert (kept.lost_at, kept.fates[0].after) == (None, "mentioned")
    assert fate("nowhere to be found").places == ()


@pytest.mark.parametrize(
    ("units", "value"),
    [
        ([(1, False), (2, True)], 1.0),
        ([(2, False), (1, True)], 0.0),
        ([(1, False), (1, True)], 0.5),
        ([(1, False), (2, False), (2, True), (3, True)], 0.875),
        ([(1, True), (2, True)], None),
    ],
)
def test_auroc(units, value):
    assert auroc([ScoredUnit(score, outcome) for score, outcome in units]) == value


def test_auroc_within_strata():
    """Pooled over strata: a difference between strata alone counts for nothing."""
    units = [ScoredUnit(s, o, g) for s, o, g in [(1, False, "a"), (1, True, "a"), (9, True, "b"), (9, False, "b")]]
    assert auroc(units) == 0.5
    assert auroc([u._replace(stratum=None) for u in units]) == 0.5
    assert auroc([ScoredUnit(1, False, "a"), ScoredUnit(9, True, "b")]) is None


def test_interval():
    """Seeded, around the value; none with fewer than five of an outcome."""
    units = [ScoredUnit(n % 7, n % 3 == 0) for n in range(60)]
    first, second = with_interval(units), with_interval(units)
    assert first == second
    assert first.low < first.value < first.high
    few = with_interval([ScoredUnit(n, n > 16) for n in range(20)])
    assert (few.value, few.low) == (1.0, None)


def test_clusters_are_drawn_whole():
    """Copies of a unit in one cluster tell nothing new: the interval stays as wide; nine clusters have none."""
    units = [ScoredUnit(n % 7, n % 3 == 0, None, n) for n in range(30)]
    copies = [unit for unit in units for _ in range(5)]
    assert with_interval(copies) == with_interval(units)
    alone = with_interval([unit._replace(cluster=None) for unit in copies])
    assert alone.high - alone.low < with_interval(copies).high - with_interval(copies).low
    assert with_interval([unit._replace(cluster=unit.cluster % 9) for unit in units]).low is None


@pytest.mark.parametrize(
    ("raw", "adjusted", "words"),
    [
        (Interval(0.9, None, None), Interval(0.9, None, None), "Too few outcomes"),
        (Interval(0.6, 0.5, 0.7), Interval(0.6, 0.5, 0.7), "chance lies within"),
        (Interval(0.3, 0.2, 0.4), Interval(0.3, 0.2, 0.4), "less often"),
        (Interval(0.7, 0.6, 0.8), Interval(0.6, 0.5, 0.7), "but not among"),
        (Interval(0.7, 0.6, 0.8), Interval(0.7, 0.6, 0.8), "also among"),
    ],
)
def test_reading(raw, adjusted, words):
    """No more is said than the interval allows."""
    row = Predictor("needed and gone", raw, adjusted)
    assert words in reading(Study("range", 20, 1, 1, 1, 9, 3, 0, 0, (row,), row))


def test_units():
    """A dropped target that is read again, after the agent used what it held; the repeat itself counts for nothing."""
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", "the job_runner starts pay_bar")
    told.reply("", b=("Read", {"file_path": "/app/b.py"}))
    told.result("b", "nothing_here")
    told.compact("Two files were read.")
    told.reply("the job_runner again", c=("Bash", {"command": "make all"}))
    told.result("c", "")
    told.reply("", d=("Read", {"file_path": "/app/a.py"}))
    told.result("d", "the job_runner starts pay_bar")
    told.reply("done")
    pair = told.done()
    first, second = units_of(*pair)
    assert (first.needed_gone, first.fetched_again, first.absence, first.n_before) == (1, True, 1.0, 1)
    assert (second.needed_gone, second.fetched_again) == (0, False)
    assert first.recency == -1
    assert second.recency == 0
    result = study_corpus([pair])
    found = result.studies[0]
    assert (found.definition, found.n_units, found.n_again, found.n_compactions) == ("range", 2, 1, 1)
    assert found.rows[0].raw.value == 1.0
    assert study_document(result)["schema"] == "ctxweb.study/1"
    assert "too few for an interval" in markdown(result)
