"""Settings of the policies that leave a part of the list, and a jump held against the walk field by field."""

from __future__ import annotations

import dataclasses
from dataclasses import fields

from hypothesis import strategies as st

from sessions.engine.calibration.calibrate import weigh
from sessions.engine.cost import totals
from sessions.engine.cost_fit import replay_range
from sessions.engine.prices import prices_of
from sessions.engine.replay import replay
from sessions.engine.sweeps.fast.jumped import jumped
from sessions.engine.sweeps.sweep import Setting, sweep
from sessions.engine.types import Block, Kind, Role
from tests.engine.sessions import Build, image, text
from tests.recordings import recordings, transcripts

SEQUENCES = ("gates", "sent")
MOST_BYTES = 150_000
"""Of a recording that is replayed under every policy."""
COMPRESSED = {
    "trigger": [20, 70], "min_messages": [0, 1, 10, 30], "capacity": ["static", "static", "static", "effective"],
    "keep_last": [1, 5, 12], "usage": ["recorded", "recorded", "recorded", "none"],
}  # fmt: skip
"""Of the compression skill's strategies."""
SETTINGS = {
    "codex_local": {
        "auto_compact_token_limit": [None, 3_000, 9_000, 40_000, 120_000], "scope": ["total", "body_after_prefix"],
        "mode": ["summary", "summary", "token_budget"], "user_message_tokens": [0, 40, 300, 1_000, 5_000, 20_000],
    },
    "codex_remote": {
        "auto_compact_token_limit": [None, 3_000, 9_000, 40_000, 120_000], "scope": ["total", "body_after_prefix"],
        "version": ["v1", "v2"], "retained_tokens": [0, 40, 300, 1_000, 5_000, 64_000],
    },
    "opencode_compaction": {
        "max_output": [None, 500, 500], "input_limit": [None, 0, 20_000], "reserved": [None, 100],
        "tail_turns": [0, 1, 2, 5], "preserve_recent_tokens": [None, 0, 100, 900, 4_000], "recent_cap": [15_000, 1_000],
    },
    "opencode_compaction_v2": {
        "buffer": [0, 500, 3_000], "max_output": [None, 500, 500], "keep_tokens": [0, 200, 1_500, 15_000],
        "tool_output_chars": [0, 300, 2_000],
    },
    "pi": {
        "reserve": [0, 500, 2_000], "keep_recent": [0, 100, 1_000, 4_000], "when": ["turns", "requests"],
        "usage": ["recorded", "recorded", "recorded", "none"],
    },
    "roo_code": {
        "condense_percent": [5, 30, 60, 100], "max_tokens": [None, 1, 500], "buffer_percent": [0, 10, 60],
        "auto_condense": ["on", "on", "on", "off"],
    },
    "gemini_compression": {
        "threshold": [0.2, 0.5, 0.9], "preserve": [0.05, 0.3, 0.8], "response_budget": [50_000, 50_000, 0, 1_000],
        "response_chars": [40_000, 40_000, 1_000], "usage": ["recorded", "recorded", "recorded", "none"],
    },
    "cline_agentic": {
        "max_input_tokens": [None, None, 4_000, 9_000, 120_000], "trigger": [20, 60, 90], "target": [10, 70],
        "preserve_recent_tokens": [0, 300, 2_000, 20_000], "summary_tokens": [1, 200, 4_096],
        "usage": ["recorded", "none"],
    },
    "langchain_summarization": {
        "trigger_fraction": [None, 0.3, 0.8], "trigger_tokens": [None, 4_000, 9_000, 40_000], "combine": ["any", "all"],
        "keep_messages": [1, 2, 5, 20], "keep_tokens": [None, None, 50, 700, 3_000],
        "keep_fraction": [None, None, None, 0.05, 0.3], "summary_input": [None, 50, 500, 4_000],
        "trigger_messages": [None, None, None, 10], "usage": ["recorded", "recorded", "recorded", "none"],
    },
    "anthropic_background": {
        "start_at": [0, 1_500, 4_000, 9_000, 25_000], "arrives_after": [1, 2, 5, 20],
        "usage": ["recorded", "recorded", "recorded", "none"],
    },
    "parametric": {
        "share": [None, 30, 80], "tokens": [None, 4_000, 9_000], "reserve": [None, 500], "combine": ["any", "all"],
        "counted": ["usage", "usage", "context", "estimate"], "operator": [">=", ">"], "keep_last": [0, 2, 5, 900],
        "keep_unit": ["messages", "messages", "tokens", "turns"], "edit": ["summarise", "summarise", "truncate"],
        "breaker": [3, 3, None], "usage": ["recorded", "recorded", "none"],
    },
    "kimi": {"share": [None, 30, 85], "reserve": [None, 500, 3_000], "keep_last": [0, 2, 5]},
    "effective_window": {"share": [20, 70], "keep_last": [0, 2, 10], "operator": [">=", ">"]},
    "copilot_chat": {"share": [20, 60, 85], "setting": [None, 4_000, 9_000]},
    "anchored_iterative": COMPRESSED, "opaque": COMPRESSED, "regenerative_full": COMPRESSED,
    "goose": {"threshold": [0, 0.2, 0.5, 0.8, 1], "usage": ["recorded", "recorded", "none"]},
    "inspect_summary": {
        "threshold": [0.2, 0.5, 0.9], "threshold_tokens": [None, None, 2_000, 9_000],
        "usage": ["recorded", "recorded", "none"],
    },
    "anthropic_on_demand": {
        "compact_at": [0, 1_500, 4_000, 9_000, 25_000], "keep_turns": [0, 0, 1, 3],
        "usage": ["recorded", "recorded", "recorded", "none"],
    },
    "anthropic_sdk_compaction": {"context_token_threshold": [1_500, 4_000, 6_000, 9_000, 25_000]},
    "buzz_handoff": {
        "measure": ["pressure_bytes", "wire_bytes"], "image_charge": [16_384, 500], "max_output": [0, 500, 2_000],
        "reserve_output": ["on", "off"], "growth": ["on", "off"], "max_history_bytes": [65_536, 16 * 1024 * 1024],
        "max_handoffs": [0, 1, 3, 10],
    },
}  # fmt: skip
"""Values of the parameters that move what a jump goes by, and of those with which it must not jump."""
CLEARED = {
    "anthropic_clear_tool_uses": {
        "trigger": [0, 1_500, 4_000, 9_000, 25_000], "keep": [0, 1, 3, 8], "clear_at_least": [None, None, 300, 3_000],
        "stop_early": ["off", "off", "off", "on"], "clear_tool_inputs": ["off", "off", "off", "on"],
        "exclude_tools": ["", "", "", "edit"], "trigger_tool_uses": [None, None, None, 4],
    },
    "langchain_clear_tool_uses": {
        "trigger": [0, 1_500, 4_000, 9_000, 25_000], "keep": [0, 1, 3, 8], "clear_at_least": [0, 0, 0, 500],
        "clear_tool_inputs": ["off", "off", "off", "on"], "exclude_tools": ["", "", "", "edit"],
    },
}  # fmt: skip
"""The same of policies that clear old results at every request."""
ALWAYS = {
    "anthropic_on_demand": {"compact_at"},
    "kimi": {"reserve"}, "parametric": {"counted"},
    "anthropic_background": {"start_at"},
    "anthropic_clear_tool_uses": {"trigger"}, "langchain_clear_tool_uses": {"trigger"},
    "anthropic_sdk_compaction": {"context_token_threshold"}, "buzz_handoff": {"max_output", "max_history_bytes"},
    "opencode_compaction": {"max_output"}, "opencode_compaction_v2": {"buffer", "max_output"}, "pi": {"reserve"},
}  # fmt: skip
"""Parameters that are always drawn: at their defaults no short session compacts."""
COMPACTING = {
    "anthropic_on_demand": {"compact_at": 15_000},
    "kimi": {"reserve": 5_000},
    "parametric": {"counted": "usage"},
    "anthropic_background": {"start_at": 40_000, "arrives_after": 3},
    "cline_agentic": {"preserve_recent_tokens": 2_000},
    "anthropic_sdk_compaction": {"context_token_threshold": 40_000},
    "pi": {"reserve": 500, "keep_recent": 1_000},
}
"""Settings at which sessions compact that are shorter than those the defaults are made for."""
MOST_TURNS = {"cline_agentic": 10, "gemini_compression": 10}
"""Tool turns from prompt to prompt at most, of policies that cut at prompts alone."""
OWN_LIMIT = {"anthropic_on_demand": "compact_at"}
"""Limits in tokens that are set beside the window, of policies that compact in few small recordings."""


def compared(weighed, policy, **options):
    """Whether the replay was made by jumping, after every field was held against the walk's; and its compactions."""
    prices = prices_of(weighed.model)
    fast = jumped(weighed, policy, prices=prices, **options)
    slow = replay(weighed, policy, **options)
    if fast is None:
        return False, len(slow.events)
    made = fast.replay
    for field in fields(slow):
        mine, other = getattr(made, field.name), getattr(slow, field.name)
        if field.name in SEQUENCES:
            different = [(n, *pair) for n, pair in enumerate(zip(mine, other, strict=True)) if pair[0] != pair[1]]
            assert not different, f"{field.name}: {different[:2]}"
        elif field.name != "outlines":
            assert mine == other, field.name
    assert fast.totals == totals(slow, prices=prices)
    assert replay_range(made, fast.totals, prices=prices) == replay_range(slow, fast.totals, prices=prices)
    assert made.fits == slow.fits
    for mine, other in zip(reversed(made.events), reversed(slow.events), strict=True):
        assert (mine.before, mine.after, mine.changes_at) == (other.before, other.after, other.changes_at)
    assert dict(made.outlines) == dict(slow.outlines)
    return True, len(slow.events)


def recorded_sessions():
    """Every small session at hand with requests enough, weighed, and the largest context that it recorded."""
    for _, parsed in transcripts([path for path in recordings() if path.stat().st_size < MOST_BYTES]):
        for weighed in map(weigh, parsed.transcripts):
            if len(weighed.steps) > 3:
                yield weighed, max(weighed.recorded.context)


def rows_compared(weighed, policy, settings, summarizer, *windows):
    """Whether each setting of a sweep was jumped over, after its row was held against the replay's.

    Every setting at every window.
    """
    swept = [Setting(policy, tuple(setting.items()), window) for setting in settings for window in windows]
    fast = sweep(weighed, swept, summarizer=summarizer).rows
    slow = sweep(weighed, swept, summarizer=summarizer, columns=lambda _replay: {}).rows
    assert [dataclasses.replace(row, jumped=False, pareto=False) for row in fast] == [
        dataclasses.replace(row, pareto=False) for row in slow
    ]
    return [row.jumped for row in fast]


@st.composite
def talks(draw, n_turns=25, n_calls=2):
    """Sessions with what the edits tell apart: wrappers, prompts with images, sealed reasoning, several results.

    ``n_calls`` is how many calls a reply makes at most.
    """
    session = Build(overhead=draw(st.integers(0, 3_000)), usage=draw(st.integers(0, 5)) > 0)
    often = draw(st.sampled_from([1, 2, 5]))
    if draw(st.booleans()):
        session.add(Role.SYSTEM, text(draw(st.integers(1, 300))))
    for _ in range(draw(st.integers(0, 2))):
        session.add(Role.USER, text(draw(st.integers(1, 300))))
    if draw(st.integers(0, 5)):
        _prompt(draw, session)
    called = 0
    for _ in range(draw(st.integers(2, n_turns))):
        calls = [f"c{called + n}" for n in range(draw(st.integers(0, n_calls)))]
        called += len(calls)
        session.reply(draw(st.integers(1, 400)), *calls, name=draw(st.sampled_from(["read", "edit", "Read"])),
                      target=f"/f{called % 5}.py")  # fmt: skip
        if draw(st.integers(0, 5)) == 0:
            _seal(session, draw(st.integers(900, 9_000)))
        for call in calls:
            parts = (image(5_000, 300),) if draw(st.integers(0, 9)) == 0 else ()
            session.result(call, draw(st.integers(0, 1_500)), *parts)
        if not calls or draw(st.integers(0, often)) == 0:
            if draw(st.integers(0, 5)) == 0:
                session.add(Role.USER, text(draw(st.integers(1, 100))))
            for _ in range(draw(st.integers(1, 2))):
                _prompt(draw, session)
        if draw(st.integers(0, 25)) == 0:
            session.compact(draw(st.integers(1, 800)))
    session.reply()
    return session.done()


def _prompt(draw, session):
    blocks = [text(draw(st.integers(1, 600))) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.integers(0, 5)) == 0:
        blocks.append(image(4_000, 200))
    session.add(Role.USER, *blocks, typed=True)


def _seal(session, n_payload):
    """The newest reply thought, and its reasoning is stored encrypted."""
    reply = session.messages[-1]
    sealed = Block(Kind.THINKING, n_payload=n_payload)
    session.messages[-1] = dataclasses.replace(reply, blocks=(sealed, *reply.blocks))


def chat(n_turns=120, *, every=4):
    """A long session in which a prompt comes with every few tool turns."""
    session = Build()
    session.prompt()
    for turn in range(n_turns):
        session.reply(100, f"c{turn}", name=("read", "edit")[turn % 2], target=f"/src/{turn % 9}.py")
        session.result(f"c{turn}", 900)
        if turn % every == every - 1:
            session.reply(150)
            session.prompt(80 + turn)
    session.reply()
    return session.done()
