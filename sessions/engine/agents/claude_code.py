"""Claude Code: its auto-compact threshold, and the environment variables that move it (policies 4).

A percentage can only lower the threshold; the window is from 100,000 tokens and never above the model's.  The trigger
is asked before every request (policies 4.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sessions.engine.agents.agent import (
    EVERY_REQUEST,
    NOTHING_KNOWN,
    WITH_TRIGGER,
    Agent,
    KnownSetting,
    Place,
    PolicyFacts,
    Trigger,
)
from sessions.engine.agents.setting import NOTHING, SWITCHED, Configuration, Rendering, Setting
from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.models.model_info import model_info
from sessions.engine.policies import params as parameters
from sessions.engine.policies._claude_ladder import LEAST_WINDOW, MOST_WINDOW, WRITTEN

OVERRIDE, OWN_WINDOW = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
ON = frozenset({"1", "true", "yes", "on"})


def make(setting: Setting) -> Rendering:
    """The variables to export before ``claude`` starts."""
    if setting.edit == NOTHING:
        return Rendering("export DISABLE_AUTO_COMPACT=1\n")
    window = setting.window if setting.window != setting.own_window else None
    if setting.policy.name == "claude_code":
        window = setting.params.auto_compact_window or window
        percent, at, otherwise = setting.params.pct_override, setting.trigger, "defaults: nothing to set"
    else:
        percent, at = _nearest(setting, setting.tokens)
        otherwise = "default is the nearest: its threshold can only be lowered"
    lines = [] if window is None else [f"export {OWN_WINDOW}={window}"]
    lines += [] if percent is None else [f"export {OVERRIDE}={percent}"]
    held = f"The window is held between {LEAST_WINDOW:,} and {MOST_WINDOW:,} tokens."
    cannot = () if window is None or LEAST_WINDOW <= window <= MOST_WINDOW else (held,)
    return Rendering("\n".join(lines or [f"# Claude Code's {otherwise}"]) + "\n", at, cannot)


def _threshold(params: Mapping[str, object], window: int, model: str) -> int | None:
    """Where it compacts under these parameters, tokens; None where at no size.  Raises BadParameter."""
    rule = registry.get("policies", "claude_code")
    at: int = rule.asked(parameters.build(rule.params, dict(params)), window, model_info(model)).threshold
    return at if at > 0 else None


def _nearest(setting: Setting, trigger: int) -> tuple[int | None, int]:
    """The highest whole percentage that fires no later, and where; no percentage where even the default is lower."""
    at = _threshold({}, setting.window, setting.model) or setting.window
    if trigger >= at:
        return None, at
    percents = ((p, _threshold({"pct_override": p}, setting.window, setting.model))
                for p in range(100, 0, -1))  # fmt: skip
    return next(((p, t) for p, t in percents if t is not None and t <= trigger), (1, 0))


WHOLE_RESERVE: dict[str, object] = {"output_reserve_cap": None, "max_output": 32_000}
"""Older versions kept all of the output free, without a cap (policies 2.3)."""
Version = tuple[int, int, int]
VERSIONS: tuple[tuple[Version, Version, dict[str, object]], ...] = (
    ((0, 0, 0), (2, 1, 20), WHOLE_RESERVE),
    ((0, 0, 0), (2, 1, 1), {"tail": "off"}),
    ((2, 1, 14), (2, 1, 29), {"output": WRITTEN}),
)
"""What the versions from one to another, both included, did otherwise than the present one (policies 4.11)."""
COUNTED = (
    ("tail", "off", "nothing that came after the last reply"),
    ("output", WRITTEN, "the output as it was written"),
)
"""Parameters of those versions that change what is counted, and what that is in words."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def settings_of(client: str) -> KnownSetting:
    """The settings of a version ("2.1.7", or words that name it)."""
    found = _VERSION.search(client)
    if not found:
        return NOTHING_KNOWN
    version = (int(found[1]), int(found[2]), int(found[3]))
    params: dict[str, object] = {}
    for first, last, differs in VERSIONS:
        params |= differs if first <= version <= last else {}
    otherwise = [words for name, value, words in COUNTED if params.get(name) == value]
    note = f"Claude Code {found[0]} counts {' and '.join(otherwise)}." if otherwise else ""
    return KnownSetting(params, f"Claude Code {found[0]}", note)


def running_threshold(
    model: str, window: int | None, version: str, environment: Mapping[str, str]
) -> int | None:  # fmt: skip
    """Where a running client compacts, tokens, under the variables it was started with; None where it does not.

    ``window`` is the model's where the client does not say. A variable that is out of range is left out (policies 4.3).
    """
    if any(environment.get(name, "").lower() in ON for name in ("DISABLE_COMPACT", "DISABLE_AUTO_COMPACT")):
        return None
    size = window or model_info(model).window
    params: dict[str, object] = dict(settings_of(version).params)
    for name, variable in (("pct_override", OVERRIDE), ("auto_compact_window", OWN_WINDOW)):
        try:
            given = {**params, name: environment.get(variable) or "none"}
            _threshold(given, size, model)
        except BadParameter:
            continue
        params = given
    return _threshold(params, size, model)


SETTINGS = (
    KnownSetting({}, "the defaults: an output reserve capped at 20,000 tokens"),
    KnownSetting(WHOLE_RESERVE, "an output reserve of 32,000 tokens"),
    KnownSetting({"output_reserve_cap": None}, "an output reserve of all the model may write"),
    KnownSetting({"max_output": 8_192}, "an output reserve of 8,192 tokens"),
    *(KnownSetting({"pct_override": p}, f"a percent override of {p}%") for p in range(95, 45, -5)),
)

AGENT = Agent(
    name="claude_code", label="Claude Code", rank=1, formats=("claude_code",),
    policies=("claude_code", "claude_code_partial"),
    facts={"claude_code": PolicyFacts(SETTINGS, lambda transcript: settings_of(transcript.client))},
    triggers=(
        Trigger(
            "claude_code", "Claude Code", "policies 4.1", "claude_code", words="Claude Code's auto-compact threshold"
        ),
    ),
    older=(
        Trigger(
            "older", "Claude Code", "policies 2.3", "claude_code", WHOLE_RESERVE,
            words="the threshold of versions up to 2.1.20",
        ),
    ),
    windows=(1_000_000, 200_000), assumes_window=True, asked=EVERY_REQUEST, own_figure=WITH_TRIGGER, api="anthropic",
    places={"claude_code": Place("~/.claude/projects", ("*/*.jsonl",))},
    configuration=Configuration(
        file="shell profile, before claude starts", language="shell", checked="2026-11-22", make=make,
        source="https://code.claude.com/docs/en/env-vars, in excerpts, and "
        "public issue 31806 of anthropics/claude-code",
        edits=SWITCHED, otherwise="Claude Code compacts with a summary; clearing alone is not configurable.",
        differs="Claude Code keeps no messages beside its summary and puts files and skills back.",
        own={"claude_code": {"pct_override", "auto_compact_window", "auto"}},
    ),
)  # fmt: skip
