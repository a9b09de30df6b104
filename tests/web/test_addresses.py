"""A page's address says what the page shows and nothing else: what is read from it is what it is written as."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from sessions.pages.ab import state as ab
from sessions.pages.fleet import state as fleet
from sessions.pages.library import state as library
from sessions.pages.quality import state as quality
from sessions.pages.session import state as session
from sessions.pages.sweep import state as sweep
from sessions.pages.transcript import view as transcript
from sessions.pages.ui.addresses import TRAVELS
from sessions.runs import replay_state as replay
from tests.arch.repository import ROOT
from tests.every import examples

NUMBERS = ("", "0", "1", "7", "1,000", "200000", "-1", "x")
REPLAY = {
    "policy": ("claude_code", "pi", "parametric", "codex_local", "nope"), "base": ("full", "recorded", "x"),
    "estimator": ("", "chars_per_4", "wire_bytes"), "summarizer": ("recorded", "stub:50", "stub", "extractive"),
    "stub": NUMBERS, "window": NUMBERS, "fail": ("", "always", "every:2", "first", "x"), "fail_n": NUMBERS,
    "event": NUMBERS, "request": NUMBERS, "at": NUMBERS, "gate": ("", "on", "off"), "layout": ("", "unified", "groups"),
    "only": ("", "kept", "dropped", "x"), "from": NUMBERS, "to": NUMBERS, "rows": ("", "3-9", "9-3", "0-0"),
    "p.pct_override": ("40", "80", "none", "900"), "p.share": ("50", "90 %"), "p.reserve": ("1,000", "16384"),
    "was": ("claude_code", "pi"),
}  # fmt: skip
WORDS = ("", "two words", "ä&=?#+", " padded ", "a,b:c")


class Address(NamedTuple):
    """How one page reads its address and writes it, and values of each name that it may hold."""

    parse: Callable[[QueryDict], Any]
    query: Callable[[Any], str]
    values: dict[str, tuple[str, ...]]


ADDRESSES = {
    "replay": Address(lambda q: replay.parse(q.dict()), replay.query, REPLAY),
    "quality": Address(quality.parse, quality.query, REPLAY | {
        "of": ("", "replay", "recorded", "x"), "horizon": NUMBERS, "find": WORDS, "ask": (*WORDS, "one\ntwo", "!"),
        "critical": ("none", "path", "x"), "compare": ("on", ""),
    }),
    "sweep": Address(sweep.parse, sweep.query, REPLAY | {
        "over": ("p.pct_override=40:100:13", "window=100000:200000:3", "x"), "losses": ("on", "off", ""),
        "max_compactions": NUMBERS, "max_cost": ("1.5", "$2", "x"), "max_rules_gone": NUMBERS, "s": ("one", "two"),
        "measure": ("cost", "peak", "x"), "against": ("compactions", "peak", "needs_gone"), "sort": ("cost", "-peak"),
        "pick": NUMBERS, "b": NUMBERS, "agent": ("claude_code", "nope"),
    }),
    "two replays": Address(lambda q: ab.parse(q.dict()), ab.query, REPLAY | {
        f"b.{name}": values for name, values in REPLAY.items()} | {"b.session": ("", "abc")}),
    "library": Address(lambda q: library.parse(q.dict()), lambda s: library.query(s).removeprefix("?"), {
        **dict.fromkeys(("q", "only", "format", "model", "agent", "client", "project", "week", "file", "sort"), WORDS),
        "start": NUMBERS, "by": ("none", "project", "x"),
    }),
    "session": Address(lambda q: session.parse(q.dict()), lambda s: session.query(s).removeprefix("?"), {
        "only": session.FILTERS, "measure": (*session.MEASURES, "x"), "m": NUMBERS, "start": NUMBERS,
        "until": NUMBERS, "tab": session.TABS, "follow": session.FOLLOWS,
    }),
    "transcript": Address(lambda q: transcript.parse(q.dict()),
                          lambda s: transcript.address("", s, []).removeprefix("?"),
                          {"m": NUMBERS, "start": NUMBERS, "q": WORDS, "show": ("words", "")}),
    "fleet": Address(lambda q: fleet.parse(q.dict()), lambda s: fleet.query(s.by, s.alike).removeprefix("?"),
                     dict.fromkeys(("by", *fleet.BY), (*fleet.BY, *WORDS))),
}  # fmt: skip


@st.composite
def addresses(draw: st.DrawFn, values: dict[str, tuple[str, ...]]) -> QueryDict:
    found = QueryDict(mutable=True)
    for name in draw(st.lists(st.sampled_from(sorted(values)), max_size=8)):
        found.appendlist(name, draw(st.sampled_from(values[name])))
    return found


@pytest.mark.parametrize("page", list(ADDRESSES))
@examples(400)
@given(data=st.data())
def test_what_an_address_is_written_as_says_the_same(page: str, data: st.DataObject) -> None:
    parse, query, values = ADDRESSES[page]
    state = parse(data.draw(addresses(values)))
    written = query(state)
    assert parse(QueryDict(written)) == state, written
    assert query(parse(QueryDict(written))) == written


@pytest.mark.parametrize("page", list(ADDRESSES))
def test_every_field_can_be_asked_for(page: str) -> None:
    """A field that no address sets would be shown and never shared."""
    parse, _, values = ADDRESSES[page]
    plain = parse(QueryDict())
    states = [parse(QueryDict(f"{name}={value}", mutable=True)) for name in values for value in values[name]]
    states += [parse(QueryDict(text)) for text in ("request=1&at=2", "b.policy=pi", "policy=pi&policy=none")]
    for one in fields(plain):
        if one.compare and one.name not in {"usual_losses", "between"}:
            assert any(getattr(state, one.name) != getattr(plain, one.name) for state in states), one.name


def test_a_tab_carries_the_same_by_its_address_and_by_a_click() -> None:
    script = (ROOT / "static/js/app.js").read_text(encoding="utf-8")
    (said,) = re.findall(r'const TRAVELS = new Set\("([a-z ]+)"', script)
    assert set(said.split()) == TRAVELS
