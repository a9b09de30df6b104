"""What gates and edits look at does not grow with the history: counted in messages looked at, not in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.policies import (
    _looked,
    autogen,
    gemini,
    langchain,
    parametric,
)
from sessions.engine.replays.replay import replay
from sessions.engine.transcript.types import Message
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import long_session

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 200, 800


def counting(function: Callable[..., Any], counts: list[int]) -> Callable[..., Any]:
    def wrapped(*args: Any, **options: Any) -> Any:
        counts.append(1)
        return function(*args, **options)

    return wrapped


@pytest.mark.parametrize(
    ("policy", "module", "name"),
    [
        ("no_old_thinking", parametric, "_has_work"),
        ("batched_masking", parametric, "_edited"),
        ("gemini_compression", gemini, "role_of"),
        ("gemini_masking", gemini, "quarter_tokens"),
        ("langchain_clear_tool_uses", langchain, "_may_go"),
        ("langchain_trim", langchain, "role_of"),
        ("autogen_token_limited", autogen, "role_of"),
        ("ag2_history_limiter", Message, "halves"),
        ("autogen_head_tail", Message, "halves"),
        ("openhands_recent", Message, "halves"),
        ("langchain_trim", Message, "halves"),
    ],
)
def test_four_times_the_turns_is_four_times_the_looks(
    policy: str, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    for turns in (FEW, MANY):
        counts: list[int] = []
        with monkeypatch.context() as patched:
            patched.setattr(module, name, counting(getattr(module, name), counts))
            replay(weigh(long_session(turns)), policy, window=60_000)
        looks.append(len(counts))
    few, many = looks
    assert few > 0, "the policy looked at something"
    assert many <= 6 * few, f"{many} looks at {MANY} turns, {few} at {FEW}"


def test_another_list_is_looked_through_from_its_start() -> None:
    class View:
        def __init__(self) -> None:
            self.items: list[int] = [1, 2, 3]
            self.state = self
            self.memory: dict[str, Any] = {}

    view: Any = View()
    _looked.looked(view, "here", 2)
    assert _looked.looked_at(view, "here") == 2
    view.items.append(4)
    assert _looked.looked_at(view, "here") == 2, "it only grew"
    view.items = [1, 2, 3, 4]
    assert _looked.looked_at(view, "here") == 0
