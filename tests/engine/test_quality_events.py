"""What events lose: needs in three states, rules, probes, files, what to read again, and the recording's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.engine.policies.policy import Gate, Item
from sessions.engine.quality.assess import Assessor, assess_recorded, assess_replay, targets, warnings_of
from sessions.engine.quality.document import probe_document
from sessions.engine.quality.index import build_index
from sessions.engine.quality.needs import Timeline, gone_of, needs_of, used_later
from sessions.engine.quality.probes import Score, advice
from sessions.engine.quality.recorded import memory_lines, rereads
from sessions.engine.quality.standing import standing
from sessions.engine.replays.replay import replay
from tests.engine.told import Told

RULE = "One rule: never touch package-lock.json in this session."


def story():
    """Three files are read, then a compaction would come (after message 7), then two of them are used."""
    told = Told()
    told.prompt(f"Fix the footer in src/footer.css. {RULE}")
    told.reply("I'll read it.", a=("Read", {"file_path": "/app/src/footer.css"}))
    told.result("a", "height: 44px; uses payBarHeight and --unused; see ticket SHOP-812")
    told.reply("And the tests.", b=("Bash", {"command": "npm run test:phone"}))
    told.result("b", "AssertionError: total is covered by 31 px\nrun by jobRunner")
    told.reply("Decided to go with the grid because payBarHeight is fixed.")
    told.prompt("go on")
    told.reply("", c=("Edit", {"file_path": "/app/src/footer.css", "old_string": "payBarHeight", "new_string": "x"}))
    told.result("c", "done, jobRunner was told")
    told.reply("jobRunner agrees: 31 px are gone, SHOP-812 is fixed.", d=("Bash", {"command": "rm package-lock.json"}))
    told.result("d", "")
    return told


def items(weighed, indices):
    """Items of some messages."""
    messages = weighed.transcript.messages
    return [Item(messages[i].id, messages[i], weighed.tokens[i], 0, 0) for i in indices]


def needs(kept, horizon=None, texts=()):
    """State by text of what is needed after message 6, of which ``kept`` stand, and the needs themselves."""
    weighed, index = story().done()
    before = standing(items(weighed, range(7)), weighed.transcript, index, {})
    after = standing(items(weighed, kept), weighed.transcript, index, dict(texts))
    found = needs_of(3, before, after, index, Timeline(weighed), horizon=horizon)
    return {need.reference.text: need.state for need in found}, found


def test_everything_is_verbatim_when_nothing_is_dropped():
    states, _ = needs(range(7))
    assert set(states.values()) == {"verbatim"}
    assert set(states) == {
        "/app/src/footer.css", "payBarHeight", "jobRunner", "31 px", "SHOP-812", "package-lock.json",
    }  # fmt: skip


def test_what_is_dropped_is_gone_or_returned():
    """The job runner is named by a result before the agent names it; the others are not."""
    states, found = needs([6])
    assert states == {
        "/app/src/footer.css": "gone", "payBarHeight": "gone", "jobRunner": "mentioned", "31 px": "gone",
        "SHOP-812": "gone", "package-lock.json": "gone",
    }  # fmt: skip
    by_text = {need.reference.text: need for need in found}
    height = by_text["payBarHeight"]
    assert (height.source_message, height.needed_at, height.needed_request, height.distance) == (5, 7, 3, 0)
    assert (by_text["31 px"].source_message, by_text["31 px"].needed_at, by_text["31 px"].distance) == (4, 9, 1)
    assert by_text["jobRunner"].how == "returned"


def test_horizon_counts_requests():
    """Within one request only the edit is needed."""
    assert set(needs([6], horizon=1)[0]) == {"/app/src/footer.css", "payBarHeight"}
    assert len(needs([6], horizon=2)[0]) == 6


def test_summary_mentions():
    """A summary is no verbatim keeping, and names files by the end of their path."""
    weighed, index = story().done()
    policy = replay(weighed, "none")
    assert policy.events == ()
    before = standing(items(weighed, range(7)), weighed.transcript, index, {})
    summary = Item("e0.0", weighed.transcript.messages[0], 10, 0, -1, inserted=True)
    texts = {"e0.0": "Edited src/footer.css; payBarHeight matters."}
    after = standing([summary, *items(weighed, [6])], weighed.transcript, index, texts)
    found = needs_of(3, before, after, index, Timeline(weighed))
    assert {n.reference.text for n in found if n.state == "mentioned"} == {
        "/app/src/footer.css", "payBarHeight", "jobRunner",
    }  # fmt: skip


class Made:
    """An event made by hand."""

    def __init__(self, weighed, kept, inserted=()):
        self.before = tuple(items(weighed, range(7)))
        self.after = (*inserted, *items(weighed, kept))
        self.request, self.message, self.index = 3, 6, 0
        self.before_tokens = weighed.overhead + 1_000
        self.after_tokens = weighed.overhead + 300
        self.gate = Gate(True, "", 0, 0, ">=", "tokens")
        self.summary_source = ""


def assess(kept, inserted=(), texts=None):
    """The assessment of an event after message 6 that keeps some messages."""
    weighed, index = story().done()
    return Assessor(weighed, index).assess(Made(weighed, kept, inserted), 0, texts or {})


def test_rule_gone_and_broken():
    """The rule's message is dropped, and the agent then removes the lockfile."""
    (rule,) = assess([6]).constraints
    assert (rule.text, rule.state, rule.source, rule.source_message) == (RULE, "gone", "user", 0)
    assert (rule.broken_at, rule.broken_by, rule.broken_before) == (9, "rm package-lock.json", False)
    assert not rule.lost_before
    (kept,) = assess([0, 6]).constraints
    assert (kept.state, kept.broken_at) == ("verbatim", None)


def test_rule_in_a_summary_is_mentioned_and_put_back_is_re_injected():
    weighed, _ = story().done()
    message = weighed.transcript.messages[0]
    attachment = Item("e0.0", message, 1, 0, -1, inserted=True)
    summary = Item("e0.0", replace(message, summary=True), 1, 0, -1, inserted=True)
    (said,) = assess([6], [summary], {"e0.0": "Rules:\n- package-lock.json must not be touched"}).constraints
    assert said.state == "mentioned"
    (back,) = assess([6], [attachment], {"e0.0": f"# Memory\n{RULE}"}).constraints
    assert back.state == "re-injected"


def test_counts_add_up_with_rules():
    found = assess([6])
    assert found.needed == 7 == found.count("verbatim") + found.count("mentioned") + found.count("gone")
    assert found.by_kind()["constraint"] == {"verbatim": 0, "mentioned": 0, "open": 0, "gone": 1}


def test_read_again():
    """Gone needs are had from the newest results that held them; a path only called and the lockfile are in none."""
    found = assess([6]).refetch
    assert [call.key for call in found.calls] == ["npm run test:phone", "/app/src/footer.css"]
    assert found.n_elsewhere == 2
    weighed, index = story().done()
    lists = (standing(items(weighed, kept), weighed.transcript, index, {}) for kept in (range(7), [6]))
    ids = [reference for _, reference in gone_of(used_later(next(lists), index), next(lists), index)]
    assert ids == [need.id for need in needs([6])[1] if need.state == "gone"]
    assert found.tokens > 0


def test_artifacts():
    assert [(a.path, a.done, a.state) for a in assess([6]).artifacts] == [("/app/src/footer.css", "read", "gone")]
    assert assess([1, 6]).artifacts[0].state == "verbatim"


def test_probes_and_accept_rule():
    """Everything kept passes; with all dropped the intent and the rule are critical failures."""
    whole = assess(range(7))
    kinds = {answer.probe.kind for answer in whole.answers}
    assert kinds == {"intent", "file_path", "decision", "rationale", "constraint"}
    assert (whole.score.score, whole.score.accepted) == (1.0, True)
    lost = assess([6])
    assert {a.probe.kind for a in lost.answers if a.probe.critical and not a.passed} == {"intent", "constraint"}
    assert (lost.score.accepted, lost.score.critical_failed) == (False, 2)
    assert "sliding window" in advice(lost.score)


@pytest.mark.parametrize(
    ("score", "accepted"),
    [(Score(10, 9, 0, 1, 0), True), (Score(10, 8, 0, 2, 0), False), (Score(10, 9, 0, 1, 1), False),
     (Score(0, 0, 0, 0, 0), None)],
)  # fmt: skip
def test_accept(score, accepted):
    """At least 90%, and no critical probe failed."""
    assert score.accepted is accepted


def test_targets():
    """Compression is of the messages alone: 700 of 1,000 tokens."""
    weighed, _ = story().done()
    event = Made(weighed, [6])
    rows = {t.name: t for t in targets(event, weighed.overhead, Score(10, 7, 0, 3, 0))}
    assert rows["compression ratio"].value == pytest.approx(0.7)
    assert (rows["compression ratio"].status, rows["probe pass rate"].status) == ("green", "amber")
    assert rows["task completion"].status == "not measured"
    event.after_tokens = weighed.overhead + 40
    rows = {t.name: t for t in targets(event, weighed.overhead, Score(10, 6, 0, 4, 0))}
    assert (rows["compression ratio"].status, rows["probe pass rate"].status) == ("red", "red")


def recorded():
    """Two compactions; the style sheet is read again after each, the other file is not."""
    told = Told()
    told.prompt("Fix it.")
    for n in range(3):
        told.reply("", **{f"a{n}": ("Read", {"file_path": "/app/a.css"})})
        told.result(f"a{n}", "height of payBar_row")
        told.reply("", **{f"b{n}": ("Read", {"file_path": f"/app/b{n}.css"})})
        told.result(f"b{n}", "nothing")
        if n < 2:
            told.compact("Read two files.")
    told.reply("done")
    return told


def test_really_fetched_again():
    weighed, index = recorded().done()
    found = rereads(weighed, index)
    assert [(r.compaction, r.n_dropped, r.n_again, r.rate) for r in found] == [(0, 2, 1, 0.5), (1, 2, 1, 0.5)]
    assert memory_lines([found]) == ("- `/app/a.css`: read again after 2 of 2 compactions",)
    assert memory_lines([found[:1]]) == ()


@pytest.mark.parametrize(("definition", "n_again"), [("path", 1), ("range", 0), ("exact", 0)])
def test_definitions_of_again(definition, n_again):
    """Other lines of the same file are the same path, not the same range."""
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py", "offset": 1, "limit": 50}))
    told.result("a", "text")
    told.compact("Read a file.")
    told.reply("", b=("Read", {"file_path": "/app/a.py", "offset": 51, "limit": 50}))
    told.result("b", "text")
    told.reply("done")
    weighed, index = told.done()
    (found,) = rereads(weighed, index, definition=definition)
    assert found.n_again == n_again


def test_a_file_written_in_between_is_no_repeat():
    told = Told()
    told.prompt("Fix it.")
    told.reply("", a=("Read", {"file_path": "/app/a.py"}))
    told.result("a", "text")
    told.compact("Read a file.")
    told.reply("", b=("Write", {"file_path": "/app/a.py", "content": "new"}))
    told.result("b", "ok")
    told.reply("", c=("Read", {"file_path": "/app/a.py"}))
    told.result("c", "new")
    told.reply("done")
    weighed, index = told.done()
    assert rereads(weighed, index)[0].n_again == 0


def test_recorded_compactions_are_judged():
    """The name in the dropped result is used again, only the re-read brings it back first."""
    told = recorded()
    told.reply("payBar_row it is, and /app/b0.css")
    weighed, index = told.done()
    first, second = assess_recorded(weighed, index)
    assert (first.number, second.number) == (0, 1)
    states = {n.reference.text: (n.state, n.how) for n in second.needs}
    assert states["payBar_row"] == ("mentioned", "returned")
    assert states["/app/a.css"] == ("gone", "")
    assert first.telephone == first.score
    assert second.telephone.n == first.score.n


def test_document_partition_and_warning():
    """needed = verbatim + mentioned + gone + open; a stub's silence is said, and nothing is lost by it."""
    told = story()
    weighed = told.done()[0]
    index = build_index(weighed.transcript, lambda m: told.contents[m.index])
    made = replay(weighed, "claude_code", window=36_000, summarizer="stub:10")
    document = probe_document(made, index)
    for event in (*document["events"], *document["recorded"]):
        assert event["needed"] == sum(event[name] for name in ("verbatim", "mentioned")) + sum(
            len(event[name]) for name in ("gone", "open")
        )
    assert all(not event["gone"] and event["open"] for event in document["events"])
    assert all(event["score"]["score"] is None for event in document["events"])
    found = tuple(assess_replay(made, index))
    assert bool(found) == bool(document["events"])
    stub = replace(weighed.transcript.messages[1], summary=True)
    silent = assess([6], [Item("e0.0", stub, 1, 0, -1, inserted=True)])
    assert "depends on the summary" in warnings_of([silent], index, "stub:10")[0]
    assert {rule.state for rule in silent.constraints} == {"open"}
    assert silent.refetch.calls == ()


def test_rules_of_memory_files_are_said_to_be_read_again():
    """A replay cannot see what a harness loads at every request."""
    told = Told()
    told.prompt("<system-reminder># claudeMd\nNever touch a.lock.</system-reminder>", typed=False)
    told.prompt("Go.")
    told.reply("fine")
    told.compact("Nothing.")
    told.reply("done")
    weighed, index = told.done()
    found = tuple(assess_recorded(weighed, index))
    assert found[0].constraints[0].state == "gone"
    assert any("memory file" in warning for warning in warnings_of(found, index, "recorded"))


def put_back(preview, tokens, kept=(6,)):
    """The assessment of an event that puts something back without its text."""
    weighed, _ = story().done()
    message = replace(weighed.transcript.messages[0], index=-1, id="e0.0", blocks=(), preview=preview, typed=False)
    return assess(kept, [Item("e0.0", message, tokens, 0, -1, inserted=True)])


def test_a_file_put_back_whole_is_mentioned():
    """Its result is known; cut, it is not known what of it is left."""
    whole = put_back("[file read before the compaction: /app/src/footer.css]", 10_000)
    states = {n.reference.text: (n.state, n.how) for n in whole.needs}
    assert states["payBarHeight"] == states["SHOP-812"] == ("mentioned", "re-attached")
    cut = put_back("[file read before the compaction: /app/src/footer.css]", 2)
    states = {n.reference.text: n.state for n in cut.needs}
    assert states["SHOP-812"] == "gone"
    assert states["/app/src/footer.css"] == "mentioned"
    assert cut.after.n_unread == 1


def test_recent_messages_as_text_are_put_back():
    """All seven: nothing is gone, nothing is verbatim, the rule is re-injected."""
    found = put_back("[7 recent messages, as text]", 100, kept=())
    assert found.count("gone") == found.count("verbatim") == 0
    assert found.constraints[0].state == "re-injected"
    assert found.score.gone == 0
    fewer = put_back("[2 recent messages, as text]", 100, kept=())
    assert fewer.constraints[0].state == "gone"
