"""Numbers as people write them, and names that they may have meant."""

from __future__ import annotations

import pytest

from sessions.engine.base.amounts import read_amount
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.registry import get, plugins
from sessions.engine.base.suggestions import meant, unknown
from sessions.engine.policies.params import build
from sessions.engine.sweeps.sweep import axis_of, read_over


@pytest.mark.parametrize(("written", "number"), [
    ("200000", 200_000), ("200,000", 200_000), ("200_000", 200_000), ("200 000", 200_000), ("200k", 200_000),
    ("200K", 200_000), ("1.5M", 1_500_000), (".5m", 500_000), ("-3", -3), ("1e3", 1_000), (" 7 ", 7),
])  # fmt: skip
def test_a_number_is_read_as_written(written: str, number: float) -> None:
    assert read_amount(written) == number


@pytest.mark.parametrize("written", ["", "k", "k200", "2kk", "200 G", "0x10", "nan", "inf", "1:2", "60%"])
def test_what_is_no_number_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|per cent"):
        read_amount(written)


def test_a_per_cent_is_a_share_of_what_is_meant() -> None:
    assert read_amount("60%", share_of=100) == 60
    assert read_amount("60 %", share_of=1) == 0.6


def test_parameters_take_them() -> None:
    """sliding_window's trigger is in per cent, gemini_compression's a fraction, claude_code's buffer in tokens."""
    assert build(get("policies", "sliding_window").params, {"trigger": "60%"}).trigger == 60
    assert build(get("policies", "claude_code").params, {"buffer": "13k"}).buffer == 13_000
    fraction = next(
        (name, spec)
        for name, policy in plugins("policies").items()
        for spec in policy.params.__dataclass_fields__.values()
        if spec.metadata["high"] == 1 and isinstance(spec.metadata["step"], float)
    )
    name, spec = fraction
    assert getattr(build(get("policies", name).params, {spec.name: "50%"}), spec.name) == 0.5
    with pytest.raises(BadParameter, match="buffer is a number"):
        build(get("policies", "claude_code").params, {"buffer": "10%"})


def test_a_sweep_takes_them() -> None:
    assert axis_of(read_over("window=100k:0.2M:2"), ["none"]).values == (100_000, 200_000)
    assert axis_of(read_over("trigger=40%:60%:3"), ["sliding_window"]).values == (40, 50, 60)
    for text, said in (("window=40%:60%:2", "tokens, not per cent"), ("buffer=1%:2%:2", "is no share")):
        with pytest.raises(BadParameter, match=said):
            axis_of(read_over(text), ["claude_code"])
    with pytest.raises(BadParameter, match="start:stop:count"):
        read_over("trigger=40%:60:3")


@pytest.mark.parametrize(("typed", "near"), [
    ("claudecode", "claude_code"), ("Claude-Code", "claude_code"), ("sliding", "sliding_window"), ("zzz", ""), ("", ""),
    ("\x1b[31m", ""), ("--", ""),
])  # fmt: skip
def test_the_nearest_name(typed: str, near: str) -> None:
    assert meant(typed, plugins("policies")) == near


def test_an_unknown_name_is_answered_with_what_exists() -> None:
    assert unknown("agent", "codx", ["codex", "pi"]) == "Unknown agent 'codx'. Did you mean 'codex'? Known: codex, pi"
    assert unknown("agent", "vim", ["codex", "pi"]) == "Unknown agent 'vim'. Known: codex, pi"
