"""The type of a subagent by the call that started it, and what to set for those of one type."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sessions.engine.quality.columns import loss_columns
from sessions.engine.sweeps.across import advise_all, recommend_across
from sessions.engine.sweeps.subagents import advise_types, types_document, types_of
from sessions.engine.sweeps.sweep import Axis, Setting, Sweep, sweep
from sessions.engine.transcript.types import Content, Kind
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import long_session
from tests.engine.test_recall import long_told, story
from tests.engine.test_sweep import LOSSES, compacted
from tests.engine.test_sweep import swept as grid_swept


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Task", {"subagent_type": "explore", "agent": "other", "prompt": "Look"}, "explore"),
        ("task", {"agent_type": " general-purpose "}, "general-purpose"),
        ("spawn_agent", {"agent_role": "worker"}, "worker"),
        ("Task", {"subagent_type": "", "agent_name": "Cellar"}, "Cellar"),
        ("Task", {"subagent_type": 3, "prompt": "Look"}, ""),
        ("Task", ["explore"], ""),
        ("ask_cellar", {"what": "age"}, "ask_cellar"),
    ],
)
def test_a_call_names_the_type(tool: str, arguments: Any, expected: str) -> None:
    call = Content(Kind.TOOL_USE, text=json.dumps(arguments), name=tool, call_id="c1")
    other = Content(Kind.TOOL_USE, text='{"agent": "no"}', name=tool, call_id="c2")
    message = SimpleNamespace(call_ids=lambda: frozenset({"c1", "c2"}))
    parent = cast("Any", SimpleNamespace(messages=[message]))
    found = types_of(parent, {"c1"}, lambda _: (other, call))
    assert found == ({"c1": expected} if expected else {})
    assert types_of(parent, {"c9"}, lambda _: pytest.fail("nothing of these is asked for")) == {}


def swept(told: Any) -> Sweep:
    weighed, index = told.done()
    values = (40, 50, 60, 70, 80, 90)
    points = [Setting("sliding_window", (("trigger", value), ("target", 30)), 20_000) for value in values]
    return sweep(weighed, points, (Axis("trigger", values),), columns=loss_columns(weighed, index))


def test_types_stand_by_their_largest_context_each_with_its_advice() -> None:
    """Of small ones there is nothing to tune, however many; where one is large, all have a say in the setting."""
    small, large = swept(story()), swept(long_told())
    found = advise_types({"small": [small, small], "large": [large], "mixed": [small, large]}, {})
    assert [one.type for one in found] == ["large", "mixed", "small"]
    assert found[0].peak == found[1].peak == large.recorded.totals.peak_context_tokens > found[2].peak
    assert [one.n_compacted for one in found] == [int(large.recorded.totals.compactions > 0)] * 2 + [0]
    assert (found[2].advice.answer, found[2].setting) == ("nothing", None)
    assert found[2].advice.sentence.startswith("Nothing to tune in any of them: the largest context is")


def test_a_type_has_one_setting_for_all_of_its_subagents() -> None:
    """That of the least mean regret; the document says it, and each subagent's own figures."""
    sweeps = [compacted(grid_swept(weigh(long_session(n)), columns=lambda _: LOSSES), n // 30) for n in (150, 300, 450)]
    (one,) = advise_types({"explore": sweeps}, {})
    across = recommend_across(sweeps)
    assert across is not None
    assert (one.setting, one.n_compacted) == (across.setting, 3)
    assert advise_all(sweeps) == (one.advice, across.setting, across)
    (told,) = types_document("s", [one])["types"]
    assert (told["type"], told["n_subagents"], told["sentence"]) == ("explore", 3, f"{one.advice.sentence}")
    assert told["recommended"]["params"] == dict(across.setting.params)
    assert max(each["peak_context_tokens"] for each in told["subagents"]) == told["peak_context_tokens"]


def test_subagents_of_few_requests_near_their_limit_have_something_to_tune_that_is_not_known() -> None:
    short = [compacted(grid_swept(weigh(long_session(n)), columns=lambda _: LOSSES), 1) for n in (8, 12)]
    advice, setting, across = advise_all(short)
    assert (advice.answer, setting, across) == ("nothing", None, None)
    n = max(len(one.weighed.steps) for one in short)
    assert advice.sentence.endswith(f"none has more than {n} requests.")
    long = compacted(grid_swept(weigh(long_session(150)), columns=lambda _: LOSSES), 5)
    assert advise_all([short[0], long])[0].answer != "nothing"
