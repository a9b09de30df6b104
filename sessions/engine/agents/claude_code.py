"""Claude Code: its auto-compact threshold, and the environment variables that move it (policies 4).

A percentage can only lower the threshold; the window is from 100,000 tokens and never above the model's.  The trigger
is asked before every request (policies 4.2).
"""

from __future__ import annotations

from dataclasses import replace

from sessions.engine.agent import AT_LEAST, EVERY_REQUEST, WITH_TRIGGER, Agent, KnownSetting, PolicyFacts, Trigger, Uses
from sessions.engine.configuration import gate_threshold
from sessions.engine.policies import _claude_ladder
from sessions.engine.policies import claude_code as policy
from sessions.engine.setting import NOTHING, SUMMARISE, Configuration, Rendering, Setting, built_in, not_tokens

LEAST_WINDOW, MOST_WINDOW = 100_000, 1_000_000
PARAMS = policy.Params()
EXPRESSED = {"pct_override", "auto_compact_window", "auto"}


def make(setting: Setting) -> Rendering:
    """The variables to export before ``claude`` starts."""
    if setting.edit == NOTHING:
        return Rendering("export DISABLE_AUTO_COMPACT=1\n")
    if setting.policy.name == "claude_code":
        return _own(setting)
    if setting.edit != SUMMARISE:
        return Rendering(cannot=("Claude Code compacts with a summary; clearing alone is not configurable.",))
    if setting.trigger is None:
        return Rendering(cannot=(not_tokens(setting),))
    return _nearest(setting, setting.trigger)


def _own(setting: Setting) -> Rendering:
    lines = []
    window = setting.params.auto_compact_window or (setting.window if setting.window != setting.own_window else None)
    if window is not None:
        lines.append(f"export CLAUDE_CODE_AUTO_COMPACT_WINDOW={window}")
    if setting.params.pct_override is not None:
        lines.append(f"export CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={setting.params.pct_override}")
    cannot = list(built_in(setting, EXPRESSED))
    if window is not None and not LEAST_WINDOW <= window <= MOST_WINDOW:
        cannot.append(f"The window is held between {LEAST_WINDOW:,} and {MOST_WINDOW:,} tokens.")
    text = "\n".join(lines) or "# Claude Code's defaults: nothing to set"
    return Rendering(text + "\n", setting.trigger, tuple(cannot))


def _nearest(setting: Setting, trigger: int) -> Rendering:
    """The highest whole percentage that does not fire later than wanted; the default where even that is lower."""
    at = gate_threshold("claude_code", {}, setting.window, setting.model) or setting.window
    lines = []
    if setting.window != setting.own_window:
        lines.append(f"export CLAUDE_CODE_AUTO_COMPACT_WINDOW={setting.window}")
    if trigger < at:
        percents = ((p, gate_threshold("claude_code", {"pct_override": p}, setting.window, setting.model))
                    for p in range(100, 0, -1))  # fmt: skip
        percent, at = next(((p, t) for p, t in percents if t is not None and t <= trigger), (1, 0))
        lines.append(f"export CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={percent}")
    cannot = []
    if setting.window != setting.own_window and not LEAST_WINDOW <= setting.window <= MOST_WINDOW:
        cannot.append(f"The window is held between {LEAST_WINDOW:,} and {MOST_WINDOW:,} tokens.")
    text = "\n".join(lines) or "# Claude Code's default is the nearest: its threshold can only be lowered"
    return Rendering(text + "\n", at, tuple(cannot))


def _compact(window: int, max_output: int | None, cap: int | None) -> int:
    """Window − min(maximum output, cap of the reserve) − 13,000, tokens; older ones had no cap (policies 2.3, 4.1)."""
    most = max_output or _claude_ladder.DEFAULT_MAX_OUTPUT
    return _claude_ladder.ladder(replace(PARAMS, output_reserve_cap=cap), window, most).compact


SETTINGS = (
    KnownSetting({}, "the defaults: an output reserve capped at 20,000 tokens"),
    KnownSetting({"output_reserve_cap": None, "max_output": 32_000}, "an output reserve of 32,000 tokens"),
    KnownSetting({"output_reserve_cap": None}, "an output reserve of all the model may write"),
    KnownSetting({"max_output": 8_192}, "an output reserve of 8,192 tokens"),
    *(KnownSetting({"pct_override": p}, f"a percent override of {p} %") for p in range(95, 45, -5)),
)

AGENT = Agent(
    name="claude_code",
    label="Claude Code",
    rank=1,
    formats=("claude_code",),
    policies=("claude_code", "claude_code_partial"),
    facts={"claude_code": PolicyFacts(SETTINGS)},
    triggers=(
        Trigger(
            "claude_code", "Claude Code", "policies 4.1", "claude_code", AT_LEAST, Uses.TAIL,
            lambda window, model: _compact(window, model.max_output, PARAMS.output_reserve_cap),
            words="Claude Code's auto-compact threshold",
        ),
    ),
    older=(("Claude Code's threshold without the reserve cap", lambda window, _: _compact(window, None, None)),),
    windows=(1_000_000, 200_000),
    assumes_window=True,
    asked=EVERY_REQUEST,
    own_figure=WITH_TRIGGER,
    api="anthropic",
    stored_result="<persisted-output>",
    folder="~/.claude/projects",
    configuration=Configuration(
        file="shell profile, before claude starts",
        language="shell",
        source="https://code.claude.com/docs/en/env-vars, in excerpts, and "
        "public issue 31806 of anthropics/claude-code",
        checked="2026-11-22",
        differs="Claude Code keeps no messages beside its summary and puts files and skills back.",
        make=make,
        exact_for=frozenset({"claude_code"}),
    ),
)  # fmt: skip
