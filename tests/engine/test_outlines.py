"""A default summary has words when somebody asks for them, and weighs the same whether anybody does."""

from __future__ import annotations

import pytest

from sessions.engine.policies.extracting import sketch
from sessions.engine.policies.outlines import CHARS_PER_TOKEN, compose
from sessions.engine.quality.assess import assess_replay
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from tests.engine.told import Told

RULE = "Never touch package-lock.json."


def long_session(n=40):
    """Prompts, reads and replies; the first prompt gives a rule, each reply decides something."""
    told = Told()
    told.prompt(f"Fix the footer. {RULE}")
    for k in range(n):
        told.reply(
            f"I decided to go with layout_{k} because it is stable.",
            **{f"c{k}": ("Read", {"file_path": f"/app/m{k}.py"})},
        )
        told.result(f"c{k}", f"def handler_{k}(): pass\n" + "x " * 2_000)
    told.reply("All done: layout_1 and handler_2 stay, package-lock.json too.")
    return told


def claude(summarizer="recorded"):
    weighed, index = long_session().done()
    return replay(weighed, "claude_code", window=48_000, summarizer=summarizer), index


def test_a_default_replay_has_the_totals_of_a_placeholder_of_its_size():
    mine, _ = claude()
    placeholder, _ = claude("stub:4000")
    assert len(mine.events) > 1
    assert mine.context_tokens == placeholder.context_tokens
    assert [e.request for e in mine.events] == [e.request for e in placeholder.events]
    assert mine.events[0].summary_source == "extractive, weighed as 4,000 tokens: no summary is recorded here"


def test_its_words_are_an_extract_and_hold_what_went_before():
    """The rule of the first prompt outlives two compactions: the second summary is made of the first."""
    mine, index = claude()
    texts = mine.wording(index.sketch_of)
    summaries = [item.id for event in mine.events for item in event.after if item.inserted and item.message.summary]
    assert len(set(summaries)) == len(mine.events)
    for one in summaries:
        assert RULE in texts[one]
        assert len(texts[one]) <= 4_000 * CHARS_PER_TOKEN
    assert texts["e0.0"] != texts["e1.0"]
    assert "e9.9" not in texts
    with pytest.raises(KeyError):
        texts["e9.9"]


def test_losses_are_judged_against_the_words():
    mine, index = claude()
    found = tuple(assess_replay(mine, index))
    assert {rule.state for one in found for rule in one.constraints} == {"mentioned"}
    assert not any(one.after.n_silent for one in found)
    assert any(one.count("gone") for one in found)
    silent = tuple(assess_replay(*claude("stub:4000")))
    assert all(one.after.n_silent and not one.count("gone") for one in silent)
    assert {rule.state for one in silent for rule in one.constraints} == {"open"}


def test_an_extract_is_cut_to_its_size_section_by_section():
    told = long_session()
    said = [sketch(m, [(c.kind, c.text) for c in told.contents[m.index]]) for m in told.messages]
    whole = compose(said, "fresh", "", 0)
    short = compose(said, "fresh", "", 0, 700)
    assert len(short) <= 700 < len(whole)
    assert RULE in short
    assert "layout_39" in short
    assert short.count("## ") == whole.count("## ")


def test_the_sketch_of_a_failed_result_is_its_first_error_line():
    told = Told()
    told.prompt("go")
    told.result("a", "line one\nfatal: not a repository\nmore")
    found = sketch(
        told.messages[1], [(Kind.TOOL_RESULT, told.contents[1][0].text or "line one\nfatal: not a repository")]
    )
    assert found.failed == "fatal: not a repository"
    assert sketch(told.messages[0], [(Kind.TEXT, "go")]).first == "go"
