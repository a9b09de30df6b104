"""What a file itself says that its session cost stands as it says, beside what list prices make of its usage."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from sessions.engine.costs.cost_report import stated_sentences
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.reading import read_transcripts
from tests.engine.truth_facts import FIXTURES, fixture


def opencode(*costs: Any) -> float | None:
    """A session of replies that cost so much."""
    tokens = {"input": 900, "output": 4, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    asked = {"info": {"id": "m", "role": "user", "time": {"created": 1}}, "parts": [{"type": "text", "text": "Look."}]}
    said = [
        {"info": {"id": f"m{n}", "role": "assistant", "modelID": "m", "providerID": "p", "time": {"created": n + 2},
                  "tokens": tokens, "cost": cost}, "parts": [{"type": "text", "text": "Done."}]}
        for n, cost in enumerate(costs)
    ]  # fmt: skip
    data = json.dumps({"info": {"id": "ses"}, "messages": [asked, *said]}).encode()
    return read_transcripts(io.BytesIO(data), "x.json").transcripts[0].stated_usd


def test_the_costs_of_the_calls_add_up() -> None:
    assert opencode(0.25, 0.5) == pytest.approx(0.75)
    assert opencode(0, 0.5) == pytest.approx(0.5)


@pytest.mark.parametrize("wrong", [0, None, "0.5", -1, True, float("nan"), float("inf"), {"total": 1}])
def test_what_is_no_amount_is_none(wrong: Any) -> None:
    assert opencode(wrong) is None


def test_pi_tells_a_total_of_each_call_and_cline_a_cost_of_each_request() -> None:
    lines = (FIXTURES / "pi/refused_then_compacted.jsonl").read_text(encoding="utf-8")
    n_calls = lines.count('"cost"')
    priced = re.sub(r'"cost": ?\{"total": ?0', '"cost":{"total":0.125', lines)
    (session,) = read_transcripts(io.BytesIO(priced.encode()), "a.jsonl").transcripts
    assert n_calls
    assert session.stated_usd == pytest.approx(0.125 * n_calls)
    assert fixture("pi/refused_then_compacted.jsonl").transcripts[0].stated_usd is None
    assert fixture("cline/ui.json").transcripts[0].stated_usd == pytest.approx(0.01)


def test_it_is_kept_and_told_in_words() -> None:
    (session, *_) = fixture("cline/ui.json").transcripts
    assert unpack(pack(replace(session, stated_usd=1.5))).stated_usd == 1.5
    assert stated_sentences(1.5) == ("The file itself says: $1.50.",)
    assert stated_sentences(None) == ()
