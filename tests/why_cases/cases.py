"""The reports, by repository and number, and the first line that each deserves.

Facts and figures only, in words of ours.  What a report blames and its file cannot show is "cannot be told" here.
"""

from __future__ import annotations

from tests.engine.verdict_files import compacted
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Gemini, messages_exchange, responses_exchange
from tests.why_cases.report import CONTROL, UNTOLD, Report

COMPACTION, ERROR, MISSING, NONE = "compaction", "error", "missing", "none"

EARLY = {
    "claude-code 53687, 16% of a window that the file does not name": Report(
        lambda: c.claude_at(167_400, "claude-opus-4-7"), COMPACTION, ("threshold_reached",), True, figures=(167_000,)
    ),
    "claude-code 72600, 468,102 of 1,000,000": Report(
        lambda: c.claude_at(468_102, "claude-opus-4-8[1m]"), COMPACTION, ("wrong_window",), figures=(467_000,)
    ),
    "claude-code 36014, 171,000 after 340,000 were shown": Report(
        lambda: c.claude_at(167_400, "claude-opus-4-6[1m]"), COMPACTION, ("wrong_window",), figures=(167_000,)
    ),
    "claude-code 53065, advisor, 976,488 for 481,788": Report(
        lambda: c.advised(481_788, "claude-opus-5[1m]"), COMPACTION, ("other_usage_added",), True
    ),
    "claude-code 81620, advisor on a window of 200,000": Report(
        lambda: c.advised(92_000, "claude-opus-4-5"), COMPACTION, ("other_usage_added",), True
    ),
    "claude-code 60600, full again in three requests, three times": Report(
        lambda: c.thrashing(3, 3, 48_000), COMPACTION, ("refilled",), True, figures=(150_000,)
    ),
    "claude-code 85668, one file fills it again and again": Report(
        lambda: c.thrashing(3, 1, 150_000), COMPACTION, ("refilled", "one_message_overflowed"), True
    ),
    "claude-code 15426, a binary file read after a compaction": Report(
        lambda: c.thrashing(1, 1, 150_000), COMPACTION, ("refilled", "one_message_overflowed"), True
    ),
    "claude-code 24677, 86% are there before the first word": Report(
        c.overhead_spiral, COMPACTION, ("overhead_near_threshold",), True
    ),
    "claude-code 49552, a screenshot, compacted": Report(
        lambda: c.pasted(pre=351_512), COMPACTION, ("image_or_document_as_text",), True, figures=(1_336_000,)
    ),
    "claude-code 82863, a usage of twice the context": Report(
        c.spiked, COMPACTION, ("usage_double_counted",), True
    ),
    "claude-code 61334, tools over-counted": Report(
        lambda: c.claude_at(74_000, overhead=30_000, pre=167_400), COMPACTION,
        ("usage_double_counted", "unsent_text_counted", "cannot_tell"),
    ),
    "claude-code 53801, three times at 195,000": Report(
        lambda: c.at_one_figure(195_010, 3, "claude-opus-4-7", 40), COMPACTION, ("threshold_reached",),
        figures=(195_010,),
    ),
    "claude-code 18152, four times at 166,100": Report(
        lambda: c.at_one_figure(166_100, 4, "claude-opus-4-5", 60), COMPACTION, ("threshold_reached",)
    ),
    "claude-code 34805, an automatic one that changed nothing": Report(
        c.compacted_nothing, COMPACTION, ("summary_as_large", "wrong_window", "cannot_tell"), True
    ),
    "codex 39767, reasoning counted once more": Report(
        lambda: o.codex_reasoning(206_000, 6_400), COMPACTION, ("reasoning_counted_twice",)
    ),
    "codex 32483, reasoning counted before a turn": Report(
        lambda: o.codex_reasoning(214_000, 5_600), COMPACTION, ("reasoning_counted_twice",)
    ),
    "codex 40619, larger after it": Report(o.codex_grew, COMPACTION, ("summary_as_large",), True, figures=(258_000,)),
    "codex 35032, 80% are left": Report(
        o.codex_leaves_much, COMPACTION, ("retained_through_compaction",), True, figures=(200_000,)
    ),
    "codex 31834, by hand and at once again": Report(o.codex_twice, COMPACTION, ("usage_stale_after_compaction",)),
    "codex 11641, a smaller model": Report(o.codex_smaller, COMPACTION, ("smaller_model",), figures=(128_000,)),
    "codex 24876, asked late": Report(
        lambda: o.codex_at(251_000, before=250_000, tokens=1_500), COMPACTION,
        ("threshold_reached", "asked_at_turn_end"), figures=(244_800,),
    ),
    "pi 1860, again at the first prompt": Report(o.pi_again, COMPACTION, ("usage_stale_after_compaction",), True),
    "pi 7253, by hand and at once again": Report(
        lambda: o.pi_again(hand=True), COMPACTION, ("usage_stale_after_compaction",), True
    ),
    "openclaw 119690, a counter that adds up": Report(o.pi_summed, COMPACTION, ("usage_double_counted",)),
    "pi 4496, 128,000 are assumed": Report(
        lambda: o.pi_at(111_700, "some-model"), COMPACTION, ("threshold_reached", "fallback_window")
    ),
    "opencode 49965, output limit equal to the window": Report(
        lambda: o.opencode_every_step(8), COMPACTION, ("output_reserve",)
    ),
    "opencode 15871, 200,000 taken for a long window": Report(
        lambda: o.opencode_at(168_300, "claude-opus-4-6"), COMPACTION,
        ("threshold_reached", "fallback_window", "wrong_window"), True,
    ),
    "opencode 4416, cached tokens twice": Report(o.opencode_caches_twice, COMPACTION, ("usage_double_counted",)),
    "opencode 50574, a smaller model": Report(o.opencode_smaller, COMPACTION, ("smaller_model",), figures=(200_000,)),
    "kilocode 10888, at once again": Report(o.opencode_twice, COMPACTION, ("usage_stale_after_compaction",)),
    "goose 4635, at once again": Report(o.goose_again, COMPACTION, ("usage_stale_after_compaction",)),
    "gemini-cli 15225, 734,649 became 707,322": Report(
        o.gemini_barely, COMPACTION, ("summary_as_large",), True, figures=(707_322,)
    ),
    "cline 9599, near 200,000 of 1,000,000": Report(
        lambda: o.cline_cut(171_000, 90_000), COMPACTION, ("threshold_reached", "fallback_window", "wrong_window")
    ),
    "copilot-cli 3542, 80% of the window": Report(
        lambda: o.copilot_at(160_200), COMPACTION, ("threshold_reached", "cannot_tell")
    ),
    "qwen-code 9455, refused and then compacted": Report(
        o.qwen_overflows, COMPACTION, ("after_refusal",), True, figures=(1_101_200,)
    ),
    "pi 146724, refused and then compacted": Report(
        o.pi_refused_then_compacted, COMPACTION, ("after_refusal",), True, figures=(290_412,)
    ),
    "messages API, a trigger of 120,000 in the request": Report(
        lambda: messages_exchange(120_000, 121_344), COMPACTION, ("threshold_reached",), True, figures=(120_000,)
    ),
    "responses API, a compact_threshold of 90,000 in the request": Report(
        lambda: responses_exchange(90_000, 96_412), COMPACTION, ("threshold_reached",), figures=(90_000,)
    ),
}  # fmt: skip

LATE = {
    "claude-code 24764, one Read of 372,000": Report(
        c.read_overflows, ERROR, ("one_message_overflowed",), True, figures=(372_000,)
    ),
    "claude-code 6099, base64 as text in a resource": Report(
        c.linked_image, ERROR, ("one_message_overflowed",), True
    ),
    "60% on the gauge, then one result": Report(
        lambda: c.refused(120_000, c.TOO_LONG.format(216_112, 200_000), last=95_000), ERROR,
        ("one_message_overflowed",), True, figures=(216_112,),
    ),
    "claude-code 2558, no room left for the summary": Report(
        lambda: c.passes_by(4, 178_000, end="Error during compaction: Error: API Error: 400 input length and "
        "`max_tokens` exceed context limit: 198127 + 20000 > 200000"), ERROR,
        ("summary_request_too_long", "output_reserve"), True, figures=(198_127,),
    ),
    "claude-code 49552, a screenshot, refused with a figure": Report(
        lambda: c.pasted(c.TOO_LONG.format(351_512, 200_000)), ERROR, ("image_or_document_as_text",), True,
        figures=(1_336_000,),
    ),
    "claude-code 63015, past the threshold and nothing comes": Report(
        lambda: c.passes_by(12, 181_000), MISSING, ("off_or_not_started",), figures=(167_000,)
    ),
    "claude-code 68635, 100% and the session ends": Report(
        lambda: c.passes_by(16, 196_000), MISSING, ("off_or_not_started",)
    ),
    "claude-code 83682, compacted by hand after 18 requests over it": Report(
        lambda: c.passes_by(18, 194_000, hand=True), MISSING, ("off_or_not_started",)
    ),
    "claude-code 24942, refused after requests over the threshold": Report(
        lambda: c.passes_by(10, 197_000, end=c.TOO_LONG.format(202_952, 200_000)), ERROR,
        ("off_or_not_started",), figures=(202_952,),
    ),
    "claude-agent-acp 1024, resumed over the limit": Report(
        c.resumed_over, ERROR, ("not_started_after_resume", "off_or_not_started", "cannot_tell")
    ),
    "codex 24014, the compaction does not fit either": Report(
        o.codex_remote_fails, ERROR, ("summary_request_too_long",), True
    ),
    "codex 11641, a smaller model, refused": Report(
        lambda: c.refused(400_000, c.TOO_LONG.format(400_112, 200_000), model="claude-opus-4-5"), ERROR,
        ("cannot_tell", "off_or_not_started", "wrong_window"),
    ),
    "pi 8328, no usage, no trigger": Report(lambda: o.pi_silent(60), MISSING, ("no_usage_reported",)),
    "pi 8328, no usage, and refused": Report(
        lambda: o.pi_silent(60, "Your input exceeds the context window: 246120 tokens > 200000 maximum"), ERROR,
        ("no_usage_reported",), figures=(246_120,),
    ),
    "pi 7821, a run that does not end": Report(lambda: o.pi_long_run(14), MISSING, ("asked_at_turn_end",)),
    "pi 1936, the body is too large": Report(
        lambda: o.pi_shots('413 {"error":{"type":"request_too_large"}}'), ERROR, ("body_size_limit",), True,
        figures=(413,),
    ),
    "pi 8351, the body is too large, said in Chinese": Report(
        lambda: o.pi_shots("OpenAI API error (413): 请求体大小超出了当前模型的上限（最大 30 MB）"), ERROR,
        ("body_size_limit",), True,
    ),
    "openhands 9937, the reply reserves the whole window": Report(
        o.pi_whole_window, ERROR, ("output_reserve",), True, figures=(7_884,)
    ),
    "openhands 7023, the reply's reserve passes the window": Report(
        lambda: c.refused(166_000, "API Error: 400 input length and `max_tokens` exceed context limit: "
        "170500 + 32000 > 200000"), ERROR, ("output_reserve",), True, figures=(170_500,),
    ),
    "router 363, a model that the client does not know": Report(
        lambda: c.refused(131_000, "This model's maximum context length is 131072 tokens. However, you requested "
        "about 133000 tokens.", model="glm-4.6"), ERROR, ("fallback_window", "wrong_window"), True,
        figures=(131_072,),
    ),
    "router 363, a proxy that leaves the cached tokens out": Report(
        lambda: c.proxied(refusal="This model's maximum context length is 131072 tokens. However, your messages "
        "resulted in 152821 tokens"), ERROR, ("cache_tokens_left_out", "fallback_window", "cannot_tell"),
        figures=(152_821,),
    ),
    "opencode 17340, the summary's call is refused": Report(
        o.opencode_summary_fails, ERROR, ("summary_request_too_long",), True
    ),
    "gemini-cli 12115, over half for long, then refused": Report(
        o.gemini_refused, ERROR, ("off_or_not_started",), figures=(1_067_544,)
    ),
    "cline 5728, over its maximum for long, then refused": Report(
        lambda: o.cline_refused(250_000, "400 This endpoint's maximum context length is 256000 tokens. However, you "
        "requested about 282160 tokens (282160 of text input).", last=20_000), ERROR,
        ("off_or_not_started", "cannot_tell", "wrong_window", "fallback_window"), figures=(282_160,),
    ),
    "copilot-cli 4663, sixteen compactions fail": Report(
        lambda: o.copilot_fails(16), ERROR, ("compaction_failed",), True
    ),
}  # fmt: skip

UNTOLD_ONES = {
    "claude-code 34332, 76,000 of 1,000,000": Report(
        lambda: c.claude_at(76_144, "claude-opus-4-6[1m]"), COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "claude-code 18152, 150,000 with the switch off": Report(
        lambda: c.claude_at(150_040), COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "claude-code 16644, 24% on the gauge, 215,692 refused": Report(
        lambda: c.refused(48_000, c.TOO_LONG.format(215_692, 200_000)), ERROR, ("cannot_tell",), group=UNTOLD,
        figures=(215_692,),
    ),
    "goose 4986, four times the gauge": Report(
        lambda: c.refused(55_000, c.TOO_LONG.format(215_502, 200_000)), ERROR, ("cannot_tell",), group=UNTOLD
    ),
    "cline 3985, refused after a manual summary": Report(
        lambda: o.cline_refused(33_000, '400 {"error":{"type":"invalid_request_error","message":"prompt is too long: '
        '220321 tokens > 200000 maximum"}}'), ERROR, ("cannot_tell",), group=UNTOLD, figures=(220_321,),
    ),
    "codex 10380, just under the limit, then no room": Report(
        o.codex_stuck, ERROR, ("cannot_tell", "off_or_not_started", "one_message_overflowed"), group=UNTOLD
    ),
    "codex 206,000 without reasoning to count": Report(
        lambda: o.codex_at(206_000), COMPACTION, ("cannot_tell", "manual"), group=UNTOLD
    ),
    "openclaw 110055, 91,695 of a window that is not known": Report(
        lambda: o.pi_at(91_695, "glm-5.2"), COMPACTION, ("cannot_tell", "manual"), group=UNTOLD
    ),
    "opencode 50574, 941,272 on a window that is not known": Report(
        lambda: o.opencode_unknown(941_272), NONE, ("cannot_tell",), group=UNTOLD
    ),
    "opencode 45168, every request reports 196,608": Report(
        o.opencode_pinned, MISSING, ("prompt_cut_by_server", "off_or_not_started", "cannot_tell"), group=UNTOLD
    ),
    "cline 9748, about 100,000 of a window that is not known": Report(
        lambda: o.cline_cut(109_000, 50_000), COMPACTION, ("cannot_tell",), group=UNTOLD
    ),
    "cline 10148, every chunk of the stream added up": Report(
        o.cline_chunks, MISSING, ("cannot_tell", "usage_double_counted", "off_or_not_started"), group=UNTOLD
    ),
    "copilot-cli 3539, 146,000 are there before the first word": Report(
        lambda: o.copilot_at(147_500, system=60_000, tools=86_000), COMPACTION,
        ("cannot_tell", "overhead_near_threshold"), group=UNTOLD,
    ),
    "qwen-code 3426, nothing compacts up to the endpoint's limit": Report(
        o.qwen_refused, ERROR, ("cannot_tell", "off_or_not_started"), group=UNTOLD, figures=(266_020,)
    ),
}  # fmt: skip

CONTROLS = {
    "Claude Code, 167,000 reached": Report(
        lambda: c.claude_at(167_050), COMPACTION, ("threshold_reached",), True, CONTROL, (167_000,)
    ),
    "Claude Code 2.1.12, 155,000 reached": Report(
        lambda: c.claude_at(155_050, version="2.1.12"), COMPACTION, ("threshold_reached",), True, CONTROL, (155_000,)
    ),
    "Claude Code, 40%": Report(lambda: c.claude().until(80_000).weighed(), NONE, (), group=CONTROL),
    "Claude Code, by hand at 60,000": Report(
        lambda: compacted(c.claude().until(60_000), "manual").weighed(), COMPACTION, ("manual",), True, CONTROL
    ),
    "Claude Code, thirty screenshots": Report(lambda: c.screenshots(30), NONE, (), group=CONTROL),
    "Claude Code, 300,000 of the long window": Report(
        lambda: c.claude("claude-opus-4-6").until(300_000, 9_000).weighed(), NONE, (), group=CONTROL
    ),
    "claude-code 36751, resumed at 210,000 of the long window": Report(c.resumed_long, NONE, (), group=CONTROL),
    "claude-code 56666, 340,000 of 1,000,000 with a share of 30%": Report(
        lambda: c.claude("claude-opus-4-6[1m]").until(340_000, 9_000).weighed(), NONE, (), group=CONTROL
    ),
    "Claude Code, a subagent that compacted": Report(c.with_subagent, NONE, (), group=CONTROL),
    "codex 36664, the limit again and again": Report(
        lambda: o.codex_cycles(3), COMPACTION, ("threshold_reached",), True, CONTROL, (244_800,)
    ),
    "Codex, 70%": Report(lambda: o.codex().until(180_000).weighed(), NONE, (), group=CONTROL),
    "pi, over its limit": Report(
        lambda: o.pi_at(183_700), COMPACTION, ("threshold_reached",), True, CONTROL, (183_617,)
    ),
    "pi, 80%": Report(lambda: o.pi().until(160_000).weighed(), NONE, (), group=CONTROL),
    "opencode, at its usable window": Report(
        lambda: o.opencode_at(168_300, "claude-sonnet-4-5"), COMPACTION, ("threshold_reached",), True, CONTROL
    ),
    "Gemini CLI, 30%": Report(lambda: Gemini().prompt().until(320_000).weighed(), NONE, (), group=CONTROL),
    "Cline, 50%": Report(lambda: ClineTask().until(100_000).weighed(), NONE, (), group=CONTROL),
}  # fmt: skip

REPORTS = EARLY | LATE | UNTOLD_ONES | CONTROLS
