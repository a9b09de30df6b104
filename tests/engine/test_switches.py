"""A model switch inside a session: every family's text weighs by its own scale (replay-semantics 1)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from sessions.engine.transcript.types import Kind, Label, Role
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Transcript

OLD, NEW, GPT = "claude-sonnet-4-5", "claude-opus-4-8", "gpt-4o"


def switched(first: str, second: str, *, n: int = 3, usage: bool = False) -> Transcript:
    """``n`` tool turns with results of 100, 200, … tokens under each of two models; a prompt begins either half."""
    build = Build(model=first, usage=usage)
    for _ in range(2):
        build.prompt(50)
        for turn in range(n):
            build.reply(40, f"c{len(build.requests)}")
            build.result(f"c{len(build.requests) - 1}", 100 * (turn + 1))
    build.reply(40)
    requests = [dataclasses.replace(r, model=first if r.index < n else second) for r in build.requests]
    return dataclasses.replace(build.done(), requests=tuple(requests))


def results(transcript: Transcript) -> list[int]:
    weighed = weigh(transcript)
    return [weighed.tokens[m.index] for m in transcript.messages if m.role is Role.USER and not m.typed]


def test_what_came_under_another_family_weighs_by_its_prior() -> None:
    """1.18 and 12 around a result before Opus 4.7, 1.53 since; 1.0 and nothing for GPT (estimators 6).

    The third result was first sent to the second model.
    """
    old, new, gpt = (
        [round(ratio * size) + around for size in (100, 200, 300)]
        for ratio, around in ((1.18, 12), (1.53, 12), (1.0, 0))
    )
    assert results(switched(OLD, OLD)) == old + old
    assert results(switched(OLD, NEW)) == [*old[:2], new[2], *new]
    assert results(switched(OLD, GPT)) == [*old[:2], gpt[2], *gpt]
    assert results(switched(OLD, "never-heard-of")) == old + old


def test_a_reply_weighs_by_the_model_that_made_it() -> None:
    """Request 2's is the old model's, though the new one is the first that it is sent to."""
    weighed = weigh(switched(OLD, NEW))
    replies = [m.index for m in weighed.transcript.messages if m.role is Role.ASSISTANT]
    assert [round(weighed.tokens[i] / 40, 2) for i in replies] == [1.18] * 3 + [1.52] * 4


def test_from_the_change_on_the_list_before_it_is_counted_anew() -> None:
    transcript = switched(OLD, NEW)
    weighed, plain = weigh(transcript), weigh(switched(NEW, NEW))
    assert weighed.estimated[2] == sum(weighed.tokens[:5])
    assert weighed.estimated[3:] == plain.estimated[3:], "as if all had been the new model's"


def test_each_family_is_fitted_on_its_own_growths() -> None:
    """Eight turns at 1.4 under the one, eight at 0.9 under the other, each of them calibrated."""
    build = Build(model=OLD)
    build.prompt(50)
    for turn in range(20):
        build.reply(40, f"c{turn}")
        ratio = 1.4 if turn < 10 else 0.9
        size = 100 + 37 * (turn % 7)
        build.result(f"c{turn}", size)
        build.context += round((ratio - 1) * size)
    build.reply(40)
    requests = [dataclasses.replace(r, model=OLD if r.index <= 10 else GPT) for r in build.requests]
    transcript = dataclasses.replace(build.done(), requests=tuple(requests))
    weighed = weigh(transcript)
    found = [
        (weighed.tokens[m.index] / m.blocks[0].n_tokens, weighed.labels[m.index])
        for m in transcript.messages
        if m.blocks[0].kind is Kind.TOOL_RESULT
    ]
    assert {label for _, label in found} == {Label.CALIBRATED}
    assert [round(ratio, 1) for ratio, _ in found] == [1.4] * 10 + [0.9] * 10
    assert weighed.total_tokens == sum(weighed.tokens)


def test_each_message_says_by_which_scale_it_weighs() -> None:
    """The last result went to the new model; what a replay inserts is the session's own."""
    weighed = weigh(switched(OLD, NEW))
    last = [m.index for m in weighed.transcript.messages if m.role is Role.USER and not m.typed][-1]
    scale, model = weighed.own_rules(last)
    assert (scale.ratio, model.name) == (1.53, NEW)
    assert weighed.own_rules(0) == (weighed.scale, weighed.model) == weighed.own_rules(-1)
    assert sum(weighed.block_tokens(weighed.transcript.messages[last]).values()) == weighed.tokens[last]


@pytest.mark.parametrize(("second", "tokens"), [(OLD, 1_369), (GPT, 765)])
def test_an_image_goes_by_the_rule_of_the_model_it_was_sent_to(second: str, tokens: int) -> None:
    """1,024 x 1,024: 37 x 37 patches of Claude's, 85 and four tiles of 170 of gpt-4o's (estimators 9, 10)."""
    build = Build(model=OLD, usage=False)
    build.prompt(50)
    build.reply(40)
    build.add(Role.USER, image(50_000, 1_024), typed=True)
    build.reply(40)
    requests = [dataclasses.replace(r, model=(OLD, second)[r.index]) for r in build.requests]
    weighed = weigh(dataclasses.replace(build.done(), requests=tuple(requests)))
    assert weighed.block_tokens(weighed.transcript.messages[2])["image"] == tokens
