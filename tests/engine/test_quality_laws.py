"""Laws of needed and lost on random sessions."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.engine.base.registry import plugins
from sessions.engine.policies.policy import Item
from sessions.engine.quality.assess import Assessor, assess_replay
from sessions.engine.quality.calls import arguments_of, strings_of
from sessions.engine.quality.columns import loss_columns
from sessions.engine.quality.index import flat_text
from sessions.engine.quality.needs import gone_of, used_later
from sessions.engine.quality.standing import STATES
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Kind
from tests.engine.told import Told
from tests.every import examples

WORDS = (
    "src/app.py", "/srv/app/src/app.py", "payBarHeight", "job_runner", "31 px", "ABC-12", "https://example.org/x",
    '"Order was refused"', "`npm run check`", "TypeError: x is not y", "plain", "Never touch package-lock.json here.",
    "You must use pnpm, not npm, here.",
)  # fmt: skip


@st.composite
def sessions(draw):
    """A session of words, and how many of its messages come before the event."""
    told = Told()
    told.prompt(" ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))))
    for n in range(draw(st.integers(2, 8))):
        said = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=3)))
        command = draw(st.sampled_from(["npm run check", "rm package-lock.json", "cat src/app.py", "npm install x"]))
        told.reply(said, **{f"c{n}": ("Bash", {"command": command})})
        told.result(f"c{n}", " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=4))))
    return told, draw(st.integers(1, len(told.messages) - 2))


class Made:
    """An event made by hand."""

    summary_source = ""

    def __init__(self, weighed, before, after):
        self.before, self.after = tuple(before), tuple(after)
        self.request = next((r.index for r in weighed.transcript.requests if r.message > before[-1].message.index), 0)
        self.message, self.index, self.before_tokens, self.after_tokens = None, 0, 10, 5


def items(weighed, indices):
    """Items of some messages."""
    return [Item(m.id, m, 1, 0, 0) for m in (weighed.transcript.messages[i] for i in indices)]


def judge(pair, before, after, texts=None, inserted=()):
    """The assessment of an event from ``before`` to ``after``."""
    weighed, index = pair
    event = Made(weighed, items(weighed, before), [*inserted, *items(weighed, after)])
    return Assessor(weighed, index).assess(event, 0, texts or {})


def text_of(told, message):
    """All text of a message, commands as they were typed."""
    return "\n".join(
        "\n".join(strings_of(arguments_of(c))) if c.kind is Kind.TOOL_USE else flat_text(c)
        for c in told.contents[message]
    )


@examples(120)
@given(made=sessions(), seed=st.integers(0, 1_000))
def test_laws(made, seed):
    """No-op, monotony, restoring, order, determinism, partition."""
    told, n_before = made
    pair = told.done()
    everything = list(range(n_before))
    rng = random.Random(seed)
    kept = [m for m in everything if rng.random() < 0.5]

    no_op = judge(pair, everything, everything)
    assert no_op.count("gone") == no_op.count("mentioned") == 0
    assert no_op.score.gone == 0
    assert no_op.refetch.tokens == 0

    found = judge(pair, everything, kept)
    assert found.needed == sum(found.count(state) for state in ("verbatim", "mentioned", "gone"))
    assert found.needed == no_op.needed
    assert replace(found, event=None) == replace(judge(told.done(), everything, kept), event=None)

    if kept:
        fewer = judge(pair, everything, kept[1:])
        assert fewer.count("gone") >= found.count("gone")
        assert fewer.count("verbatim") <= found.count("verbatim")

    shuffled = list(kept)
    rng.shuffle(shuffled)
    again = judge(pair, everything, shuffled)
    assert (again.needs, again.constraints, again.answers) == (found.needs, found.constraints, found.answers)

    dropped = [m for m in everything if m not in kept]
    restored = judge(pair, everything, sorted((*kept, *dropped)))
    assert restored.needs == no_op.needs
    summary = Item("e0.0", pair[0].transcript.messages[0], 1, 0, -1, inserted=True)
    text = "\n".join(text_of(told, m) for m in dropped)
    said = judge(pair, everything, kept, {"e0.0": text}, [summary])
    assert said.count("gone") == 0
    assert said.count("verbatim") == found.count("verbatim")


def long_told():
    """Forty turns of reading, with a rule, names that come back, and replies long enough to compact."""
    told = Told()
    told.prompt("Never touch package-lock.json here. Look at src/app.py and pay_bar.")
    for n in range(40):
        told.reply(
            f"pay_bar{n % 7}_row and job_runner{n % 5}_id " + "so " * 40,
            **{f"c{n}": ("Read", {"file_path": f"/srv/app/src/mod{n % 9}.py"})},
        )
        told.result(f"c{n}", f"pay_bar{n % 6}_row job_runner{n % 4}_id ABC-{n % 8} " + "filler words again " * 200)
        if n % 10 == 9:
            told.prompt(f"go on with mod{n % 9}.py")
    told.reply("done")
    return told  # fmt: skip


@pytest.mark.parametrize("base", ["full", "recorded"])
@pytest.mark.parametrize("policy", sorted(plugins("policies")))
def test_every_policy(policy, base, told_pair):
    """The three states add up under every policy, and gaps say the same as needs."""
    weighed, index = told_pair
    made = replay(weighed, policy, base=base, window=20_000, summarizer="extractive")
    for found in tuple(assess_replay(made, index))[:5]:
        assert found.needed == sum(found.count(state) for state in STATES)
        gone = [reference for _, reference in gone_of(used_later(found.before, index), found.after, index)]
        assert gone == [need.id for need in found.needs if need.state == "gone"]
        assert len(found.constraints) == 1
    columns = loss_columns(weighed, index)(made)
    assert columns["rules_gone"] in {0, 1}


@pytest.fixture(scope="module")
def told_pair():
    """The long session, weighed and indexed once."""
    return long_told().done()
