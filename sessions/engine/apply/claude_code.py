"""Claude Code: environment variables (policies 4.1).

A percentage can only lower the threshold; the window is from 100,000 tokens and never above the model's.
"""

from __future__ import annotations

from sessions.engine.wanted import NOTHING, SUMMARISE, Agent, Made, Wanted, built_in, gate_threshold, not_tokens

LEAST_WINDOW, MOST_WINDOW = 100_000, 1_000_000
EXPRESSED = {"pct_override", "auto_compact_window", "auto"}


def make(setting: Wanted) -> Made:
    """The variables to export before ``claude`` starts."""
    if setting.edit == NOTHING or (setting.policy.name == "claude_code" and setting.params.auto == "off"):
        return Made("export DISABLE_AUTO_COMPACT=1\n")
    if setting.policy.name == "claude_code":
        return _own(setting)
    if setting.edit != SUMMARISE:
        return Made(cannot=("Claude Code compacts with a summary; clearing alone is not configurable.",))
    if setting.trigger is None:
        return Made(cannot=(not_tokens(setting),))
    return _nearest(setting, setting.trigger)


def _own(setting: Wanted) -> Made:
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
    return Made(text + "\n", setting.trigger, tuple(cannot))


def _nearest(setting: Wanted, trigger: int) -> Made:
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
    return Made(text + "\n", at, tuple(cannot))


AGENT = Agent(
    name="claude_code",
    label="Claude Code",
    file="shell profile, before claude starts",
    language="shell",
    source="https://code.claude.com/docs/en/env-vars, in excerpts, and public issue 31806 of anthropics/claude-code",
    checked="2026-11-22",
    own=frozenset({"claude_code"}),
    differs="Claude Code keeps no messages beside its summary and puts files and skills back.",
    make=make,
)
