"""A second set of reports, written whole before any of them was tried: what the first set may have been fitted to.

Facts and figures only, in words of ours, as in ``cases``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import Claude, compacted, weighed_text, words
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Copilot, Gemini, Qwen, clock
from tests.why_cases.cases import COMPACTION, ERROR, NONE
from tests.why_cases.report import CONTROL, UNTOLD, Report

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def limit_of_the_plan() -> Weighed:
    """The summary's call ends at a limit of the plan, and the context goes on to grow."""
    session = c.claude("claude-opus-4-5", version="2.1.156")
    session.until(168_000, 2_000)
    session.refuse("Error during compaction: You've hit your session limit · resets 9pm (America/Los_Angeles)")
    session.turns(10, 2_000)
    return session.weighed()


def tools_at_every_message() -> Weighed:
    """Tool definitions of 150,000 tokens: every message is followed by a compaction."""
    session = c.claude(overhead=150_000, version="2.0.76")
    for _ in range(5):
        session.turns(1, 4_200)
        session.prompt(300)
        session.compact(summary=900)
    return session.turns(1, 300).weighed()


def too_long_then_restarted() -> Weighed:
    """The summary's call is too long; after a restart the same command works."""
    session = c.claude("claude-sonnet-4-5", version="2.0.0")
    session.until(180_000, 2_000)
    session.prompt()
    session.refuse(c.NO_SUMMARY)
    session.prompt()
    session.compact("manual")
    return session.turns(3, 400).weighed()


def documents_first() -> Weighed:
    """Three documents fill the context in the first requests."""
    session = c.claude("claude-opus-4-5")
    for k in range(3):
        session.reply(call=f"doc{k}")
        session.result(f"doc{k}", 51_000)
    return compacted(session).weighed()


def next_day() -> Weighed:
    """Taken up a day later at 100,000 tokens: nothing is cached any more, and nothing else is the matter."""
    session = c.claude("claude-opus-4-5").until(100_000)
    session.day = "2026-10-02"
    session.prompt()
    session.turns(1, 300, input_tokens=3, cache_creation_input_tokens=100_300, cache_read_input_tokens=0)
    return session.turns(4, 300).weighed()


def opencode_off() -> Weighed:
    """Compacted by hand, then twice in a row by itself at a quarter of the window."""
    session = o.opencode("claude-sonnet-4-5")
    session.until(80_000)
    session.compact(auto=False)
    session.prompt()
    session.until(50_000)
    session.compact()
    session.compact()
    return session.turn(300).turn(300).weighed()


def opencode_error(session: Any, text: str, *, summary: bool = False) -> None:
    """A reply that the provider refused."""
    error = {"name": "APIError", "data": {"message": text, "statusCode": 400}}
    session.reply(NO_TOKENS, [], error=error, **({"summary": True} if summary else {}))


def opencode_nothing() -> Weighed:
    """97% of 272,000 and nothing compacts; then refused without a figure."""
    session = o.opencode("gpt-5.5")
    session.until(264_000, 2_000)
    opencode_error(session, "Your input exceeds the context window of this model. Please adjust your input.")
    return session.weighed()


def opencode_recovery() -> Weighed:
    """One result passes the window; the call that was to compact it is refused as well."""
    session = o.opencode("claude-opus-4-5")
    session.until(140_000)
    session.turn(64_000)
    opencode_error(session, "prompt is too long: 205312 tokens > 200000 maximum")
    session.last = session.add([{"type": "compaction", "auto": True}], role="user")
    opencode_error(session, "prompt is too long: 206100 tokens > 200000 maximum", summary=True)
    return session.weighed()


def codex_small_remote() -> Weighed:
    """A model of 121,600 tokens: the remote compaction does not fit."""
    session = o.codex(121_600, "gpt-5.3-codex-spark")
    session.until(112_000)
    session.turn(7_500)
    session.refuse(o.REMOTE)
    return session.weighed()


def codex_over_and_over() -> Weighed:
    """Compacted at the limit, and six times more without an answer between."""
    session = o.codex()
    session.until(241_000)
    session.turn(4_500)
    for _ in range(7):
        session.compact()
    session.turn(300)
    return session.weighed()


def codex_here_and_there() -> Weighed:
    """Once at 70%, once at 97%."""
    session = o.codex()
    session.until(181_000)
    session.compact()
    session.turn(300)
    session.until(243_000)
    session.turn(7_000)
    session.compact()
    session.turn(300)
    return session.weighed()


def roo_condense(before: int, *, error: str = "") -> Weighed:
    """Roo's own record of a compaction, or of one that failed."""
    task = ClineTask().until(before, 3_000)
    if error:
        task.say("condense_context_error", error)
        return task.turn(300).turn(300).weighed()
    facts = {"prevContextTokens": task.context, "newContextTokens": 14_000, "cost": 0.1, "summary": words(2_000)}
    task.say("condense_context", "", contextCondense=facts)
    task.context = 14_000
    return task.turn(300).turn(300).weighed()


def kimi(error: str, n: int = 6) -> Weighed:
    """Kimi Code: some requests, then a compaction that failed."""
    lines: list[dict[str, Any]] = [
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281},
        {"type": "config.update", "modelAlias": "moonshot-ai/kimi-k2.6", "time": 1785612803282},
    ]
    context = 14_000
    said = {"role": "user", "content": [{"type": "text", "text": words(60)}], "origin": {"kind": "user"}}
    lines.append({"type": "context.append_message", "message": said, "time": 1785612812820})
    for k in range(n):
        uuid, call = f"step-{k}", f"call-{k}"
        lines.append({"type": "context.append_loop_event", "event": {"type": "step.begin", "uuid": uuid, "step": k}})
        lines.append({"type": "llm.request", "kind": "loop", "model": "kimi-k2.6"})
        part = {"type": "tool.call", "stepUuid": uuid, "toolCallId": call, "name": "Read", "args": {"path": "a"}}
        lines.append({"type": "context.append_loop_event", "event": part})
        used = {"inputOther": 200, "output": 60, "inputCacheRead": context - 200, "inputCacheCreation": 0}
        end = {"type": "step.end", "uuid": uuid, "usage": used, "finishReason": "tool_use"}
        lines.append({"type": "context.append_loop_event", "event": end})
        result = {"type": "tool.result", "toolCallId": call, "result": {"output": words(8_000)}}
        lines.append({"type": "context.append_loop_event", "event": result})
        context += 8_060
    lines.append({"type": "full_compaction.begin", "source": "manual", "time": 1785615337143})
    lines.append({"type": "full_compaction.cancel", "error": {"message": error}, "time": 1785615337144})
    return weighed_text("\n".join(json.dumps(line) for line in lines) + "\n")


def gemini_inflated() -> Weighed:
    """Two requests of 3,400 tokens, then 1,485,530 are refused."""
    session = Gemini("gemini-2.5-flash", overhead=3_300).prompt().turn(40).turn(40)
    text = "The input token count (1485530) exceeds the maximum number of tokens allowed (1048576)."
    return session.refuse(f"[API Error: {text}]").weighed()


def gemini_twice() -> Weighed:
    """809,158 became 11,758, and at once again."""
    session = Gemini().prompt()
    session.until(790_000)
    session.turn(809_158 - session.context)
    session.compress(11_758)
    session.prompt()
    second = {"id": "s2", "timestamp": clock(len(session.lines)), "type": "user"}
    text = f"<state_snapshot>{words(2_700)}</state_snapshot>"
    session.lines.append({"$set": {"messages": [second | {"content": text}]}})
    return session.turn(300).turn(300).weighed()


def qwen_useless() -> Weighed:
    """81,651 became 81,273, and the next request is refused."""
    session = Qwen(95_000).prompt().until(81_000, 6_000)
    session.turn(max(60, 81_651 - session.context - 60)).compress(81_651, 81_273)
    session.turn(9_000).turn(9_900)
    return session.refuse(
        "400 request (100582 tokens) exceeds the available context size (100096 tokens), try increasing it"
    ).weighed()


def qwen_reserve() -> Weighed:
    """The summary's call asks for a reply of 20,000 beside 48,120 of a window of 65,536."""
    session = Qwen(65_536).prompt().until(47_900, 3_000)
    text = "maximum context length is 65536 tokens. However, you requested 68120 tokens"
    return session.refuse(f"This model's {text} (48120 in the messages, 20000 in the completion).").weighed()


def pi_extension() -> Weighed:
    """An extension breaks the request off and compacts at 227,419 of 272,000."""
    session = o.pi("gpt-5.2")
    session.until(223_000)
    session.turn(227_419 - session.context - 112)
    session.refuse("This operation was aborted")
    session.compact(227_419)
    session.turn(300)
    return session.weighed()


def goose_unknown() -> Weighed:
    """Compacted at about 104,000 tokens of a model that no table knows."""
    messages: list[dict[str, object]] = []

    def say(role: str, tokens: int, *, user: bool = True, agent: bool = False) -> None:
        content = [{"type": "text", "text": words(tokens)}]
        facts = {"id": f"m{len(messages)}", "role": role, "created": 1_772_359_200 + len(messages), "content": content}
        messages.append({**facts, "metadata": {"userVisible": user, "agentVisible": agent}})

    for _ in range(19):
        say("user", 4_000)
        say("assistant", 1_500)
    say("user", 700, user=False, agent=True)
    say("user", 50, agent=True)
    say("assistant", 100, agent=True)
    facts = {"id": "g1", "working_dir": "/w", "message_count": len(messages), "total_tokens": 1_000}
    model = {"model_config": {"model_name": "dsflash"}}
    return weighed_text(json.dumps({**facts, **model, "conversation": messages}))


def haiku_agent() -> Weighed:
    """A small model at its threshold."""
    session = Claude("claude-haiku-4-5")
    session.prompt()
    session.until(166_900)
    session.reply(call="last")
    session.result("last", max(1, 167_100 - session.context))
    return compacted(session).weighed()


FRESH = {
    "claude-code 86863, 146,000 where 167,000 were usual": Report(
        lambda: c.claude_at(146_200, version="2.1.233"), COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "claude-code 42375, 63,800 of 1,000,000": Report(
        lambda: c.claude_at(63_800, "claude-opus-4-6[1m]"), COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "claude-code 63627, 522,000 of 1,000,000 with a share of 40%": Report(
        lambda: c.claude("claude-opus-4-8[1m]").until(522_000, 9_000).weighed(), NONE, (), group=CONTROL
    ),
    "claude-code 1531, the summary's reply does not fit": Report(
        lambda: c.refused(160_000, "Error during compaction: Error: API Error: 400 input length and `max_tokens` "
        "exceed context limit: 175272 + 32000 > 200000, decrease input length or `max_tokens`", last=12_000), ERROR,
        ("output_reserve", "summary_request_too_long"), True, figures=(175_272,),
    ),
    "claude-code 63464, the compaction meets the plan's limit": Report(
        limit_of_the_plan, ERROR, ("compaction_failed",), True
    ),
    "claude-code 15377, tools fill it at every message": Report(
        tools_at_every_message, COMPACTION, ("overhead_near_threshold",), True
    ),
    "claude-code 8397, too long to compact, and then it works": Report(
        too_long_then_restarted, ERROR, ("summary_request_too_long", "compaction_failed"), True
    ),
    "claude-code 19485, documents at the beginning": Report(
        documents_first, COMPACTION, ("threshold_reached",), True, figures=(167_000,)
    ),
    "opencode 30664, off, and yet twice at a quarter": Report(
        opencode_off, COMPACTION, ("cannot_tell", "usage_stale_after_compaction"), group=UNTOLD
    ),
    "opencode 31844, 97% and nothing, then refused": Report(
        opencode_nothing, ERROR, ("off_or_not_started", "cannot_tell", "fallback_window", "wrong_window")
    ),
    "opencode 21520, 128,000 of 272,000": Report(
        lambda: o.opencode_at(128_400, "gpt-5.4"), COMPACTION, ("cannot_tell", "wrong_window", "fallback_window"),
        group=UNTOLD,
    ),
    "opencode 15849, the recovery does not fit either": Report(
        opencode_recovery, ERROR, ("summary_request_too_long", "one_message_overflowed"), True
    ),
    "codex 18572, the remote compaction of a small model": Report(
        codex_small_remote, ERROR, ("summary_request_too_long",), True
    ),
    "codex 37319, over and over": Report(
        codex_over_and_over, COMPACTION, ("usage_stale_after_compaction", "cannot_tell")
    ),
    "codex 9419, off, and yet at half": Report(
        lambda: o.codex_at(130_000), COMPACTION, ("cannot_tell", "manual"), group=UNTOLD
    ),
    "codex 24779, at 70% and at 97%": Report(
        codex_here_and_there, COMPACTION, ("cannot_tell", "manual", "threshold_reached"), group=UNTOLD
    ),
    "roo 4658, larger after condensing, skipped": Report(
        lambda: roo_condense(40_000, error="Context size increased from 40404 to 57133 during condensing; skipping"),
        ERROR, ("compaction_failed", "summary_as_large"), True,
    ),
    "roo 10968, 128,000 by the gateway, 200,000 by the client": Report(
        lambda: o.cline_refused(126_000, "400 prompt token count of 135210 exceeds the limit of 128000", last=8_000),
        ERROR, ("cannot_tell", "wrong_window", "fallback_window"), group=UNTOLD, figures=(135_210,),
    ),
    "kimi-code 476, the whole window asked for as the reply": Report(
        lambda: kimi("[compaction.failed] APIContextOverflowError: 400 This endpoint's maximum context length is "
        "262144 tokens. However, you requested about 264896 tokens (52139 of text input, 12757 of tool input, "
        "200000 in the output)."), ERROR, ("output_reserve",), True,
    ),
    "kimi-code 1055, a maximum that the endpoint does not take": Report(
        lambda: kimi("[compaction.failed] APIStatusError: 400 Invalid max_tokens value, the valid range of max_tokens "
        "is [1, 393216]"), ERROR, ("compaction_failed",), True,
    ),
    "gemini-cli 5432, 1,485,530 in a session that has just begun": Report(
        gemini_inflated, ERROR, ("cannot_tell",), group=UNTOLD, figures=(1_485_530,)
    ),
    "gemini-cli 8586, compressed twice at once": Report(
        gemini_twice, COMPACTION, ("usage_stale_after_compaction",)
    ),
    "qwen-code 1924, 81,651 became 81,273, then refused": Report(
        qwen_useless, ERROR, ("retained_through_compaction", "summary_as_large"), figures=(81_273,)
    ),
    "qwen-code 7960, a reply of 20,000 on a small window": Report(
        qwen_reserve, ERROR, ("output_reserve",), True
    ),
    "copilot-cli 4643, at 20%": Report(
        lambda: Copilot("gpt-5.6").prompt().until(80_000).compact().turn(300).turn(300).weighed(), COMPACTION,
        ("cannot_tell", "wrong_window"), group=UNTOLD,
    ),
    "pi-unipi 30, an extension at 227,419": Report(
        pi_extension, COMPACTION, ("cannot_tell", "manual"), group=UNTOLD
    ),
    "goose 10941, 104,000 of a model that is not known": Report(
        goose_unknown, COMPACTION, ("cannot_tell", "threshold_reached", "fallback_window"), group=UNTOLD
    ),
    "Claude Code, a day later without a cache": Report(next_day, NONE, (), group=CONTROL),
    "Claude Code, Haiku at its threshold": Report(
        haiku_agent, COMPACTION, ("threshold_reached",), True, CONTROL, (167_000,)
    ),
    "opencode, 40%": Report(lambda: o.opencode("gpt-5.2").until(108_000).weighed(), NONE, (), group=CONTROL),
    "Qwen Code, 45%": Report(lambda: Qwen(262_144).prompt().until(118_000).weighed(), NONE, (), group=CONTROL),
    "Copilot CLI, 60%": Report(lambda: Copilot().prompt().until(120_000).weighed(), NONE, (), group=CONTROL),
    "Roo Code, condensed at 171,000": Report(
        lambda: roo_condense(171_000), COMPACTION, ("threshold_reached", "cannot_tell"), True, CONTROL
    ),
}  # fmt: skip
