"""A fifth set of reports, written whole before any of them was tried, after the engine was mended for the fourth.

Facts and figures only, in words of ours, as in ``cases``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import weighed_text, words
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Gemini, Qwen
from tests.why_cases.cases import COMPACTION, ERROR, MISSING, NONE
from tests.why_cases.fresh import kimi
from tests.why_cases.rare import langsmith
from tests.why_cases.report import CONTROL, UNTOLD, Report

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def on_resume() -> Weighed:
    """Taken up a day later at 152,000 tokens and compacted before a word is typed."""
    session = c.claude("claude-opus-4-5", version="2.1.180").until(151_000)
    session.reply()
    session.day = "2026-10-02"
    session.compact()
    session.prompt()
    return session.turns(3, 400).weighed()


def at_the_next_prompt() -> Weighed:
    """A task ends over the threshold; the compaction comes with the next prompt."""
    session = c.claude("claude-opus-4-5", version="2.1.63").until(166_000, 2_000)
    session.reply(call="last")
    session.result("last", 1_800)
    session.reply(output=700)
    session.prompt(5)
    session.compact()
    return session.turns(3, 400).weighed()


def full_and_by_hand() -> Weighed:
    """Up to the window for many requests without one that came by itself; the command helps."""
    session = c.claude("claude-sonnet-4-5", version="2.1.161").until(196_000, 2_400)
    session.reply()
    session.prompt()
    session.compact("manual")
    return session.turns(3, 400).weighed()


def falls_without_a_mark() -> Weighed:
    """80,000 tokens, taken up again, and 50,000 are there; nothing is recorded."""
    session = c.claude("claude-opus-4-5", version="2.1.23").until(80_000)
    session.reply()
    session.day = "2026-10-02"
    session.prompt()
    session.context = 50_000
    return session.turns(5, 400).weighed()


def spark_cycles() -> Weighed:
    """A model of a small window, at its limit again and again."""
    session = o.codex(121_600, "gpt-5.3-codex-spark")
    for _ in range(6):
        session.until(113_500, 3_000)
        session.turn(2_900)
        session.compact(summary=2_500)
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def opencode_errors(model: str, until: int, refusal: str, summary: str) -> Weighed:
    """Refused, and then the call for the summary ends in an error as well; "" leaves either out."""
    session = o.opencode(model).until(until)
    if refusal:
        session.reply(NO_TOKENS, [], error={"name": "APIError", "data": {"message": refusal, "statusCode": 400}})
    if summary:
        session.last = session.add([{"type": "compaction", "auto": not refusal}], role="user")
        session.reply(NO_TOKENS, [], summary=True, error={"name": "APIError", "data": {"message": summary}})
    return session.weighed()


def copilot_twice() -> Weighed:
    """The input that is reported holds the cached tokens, and they are added once more."""
    session = o.opencode("gpt-5-mini")
    while session.context < 61_000:
        session.turn(2_500, whole=session.context, cached=session.context - 700)
    session.compact()
    return session.turn(300, whole=session.context, cached=0).weighed()


def qwen_json() -> Weighed:
    """120,000 tokens, then a command's output of 140,000; the endpoint takes 202,745."""
    session = Qwen(202_745).prompt().until(120_000, 8_000).turn(140_000)
    return session.refuse(
        "400 InternalError.Algo.InvalidParameter: Range of input length should be [1, 202745]"
    ).weighed()


def chat_functions() -> Weighed:
    """One call of the chat API: 2,426 of messages, 2,933 of functions, 4,096 for the reply, 8,192 in all."""
    text = (
        "This model's maximum context length is 8192 tokens. However, you requested 9455 tokens (2426 in the messages, "
        "2933 in the functions, and 4096 in the completion)."
    )
    tool = {"type": "function", "function": {"name": "find", "description": words(2_800), "parameters": {}}}
    said = [{"role": "user", "content": words(600)}, {"role": "assistant", "content": words(900)}]
    request = {"model": "gpt-4", "max_tokens": 4_096, "tools": [tool]}
    done = {
        "id": "c1", "object": "chat.completion", "model": "gpt-4", "created": 1_788_600_000,
        "choices": [{"index": 0, "message": said[1], "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3_540, "completion_tokens": 900, "total_tokens": 4_440},
    }  # fmt: skip
    error = {"error": {"message": text, "type": "invalid_request_error", "code": "context_length_exceeded"}}
    second = [*said, {"role": "user", "content": words(900)}]
    pairs = [
        {"request": request | {"messages": said[:1]}, "response": done},
        {"request": request | {"messages": second}, "response": error},
    ]
    return weighed_text(json.dumps(pairs))


def roo_long() -> Weighed:
    """Condensed at 196,000 though a window of 1,000,000 was asked for."""
    task = ClineTask().until(196_000, 3_000)
    facts = {"prevContextTokens": task.context, "newContextTokens": 18_000, "cost": 0.3, "summary": words(2_500)}
    task.say("condense_context", "", contextCondense=facts)
    task.context = 18_000
    return task.turn(300).turn(300).weighed()


def openclaw_sum() -> Weighed:
    """A count of eight calls of one turn, 433,428, stands for a context of 51,500."""
    session = o.pi("gpt-5.4")
    session.until(50_500, 2_000)
    for _ in range(8):
        session.turn(60)
    used = [json.loads(line).get("message", {}).get("usage") for line in session.lines]
    newest = [u["input"] + u["cacheRead"] + u["output"] for u in used if u][-8:]
    session.compact(sum(newest))
    session.turn(300)
    return session.weighed()


def swe_agent() -> Weighed:
    """Ended because the window was full; nothing says how large it was."""
    history: list[dict[str, Any]] = [{"role": "system", "content": words(900), "agent": "main"}]
    for _ in range(16):
        history.append({"role": "user", "content": words(7_000), "agent": "main"})
        history.append({"role": "assistant", "content": words(150), "agent": "main"})
    history.append({"role": "user", "content": words(7_000), "agent": "main"})
    stats = {"tokens_sent": 1_900_000, "tokens_received": 2_400, "api_calls": 16}
    info = {"exit_status": "exit_context", "model_stats": stats}
    return weighed_text(json.dumps({"trajectory": [], "history": history, "info": info}))


def goose_notice() -> Weighed:
    """goose's own notice: 80% passed, and it compacts."""
    held: list[dict[str, Any]] = []

    def say(role: str, content: dict[str, Any], *, user: bool = True, agent: bool = False) -> None:
        facts = {"id": f"m{len(held)}", "role": role, "created": 1_788_800_000 + len(held), "content": [content]}
        held.append(facts | {"metadata": {"userVisible": user, "agentVisible": agent}})

    for _ in range(14):
        say("user", {"type": "text", "text": words(6_000)})
        say("assistant", {"type": "text", "text": words(1_400)})
    notice = {"type": "systemNotification", "notificationType": "inlineMessage"}
    say("assistant", notice | {"msg": "Exceeded auto-compact threshold of 80%. Performing auto-compaction..."})
    say("user", {"type": "text", "text": words(800)}, user=False, agent=True)
    say("user", {"type": "text", "text": words(60)}, agent=True)
    say("assistant", {"type": "text", "text": words(200)}, agent=True)
    facts = {"id": "g1", "working_dir": "/w", "message_count": len(held), "total_tokens": 1_000}
    return weighed_text(json.dumps({**facts, "model_config": {"model_name": "gpt-4o"}, "conversation": held}))


def amp_summary() -> Weighed:
    """Amp: 151,000 of the 168,000 that it may send, and a summary inside the thread."""
    messages: list[dict[str, Any]] = []
    context = 14_000

    def reply(n: int) -> None:
        used = {"model": "claude-sonnet-4-5", "maxInputTokens": 168_000, "inputTokens": 10, "outputTokens": 100}
        used |= {"cacheCreationInputTokens": 500, "cacheReadInputTokens": n - 510, "totalInputTokens": n}
        content = [{"type": "text", "text": words(90)}]
        state = {"type": "complete", "stopReason": "end_turn"}
        messages.append({"role": "assistant", "content": content, "state": state, "usage": used})

    while context < 151_000:
        messages.append({"role": "user", "content": [{"type": "text", "text": words(6_000)}]})
        context += 6_100
        reply(context)
    summary = {"type": "summary", "summary": {"type": "message", "summary": words(900)}}
    messages.append({"role": "info", "content": [summary]})
    messages.append({"role": "user", "content": [{"type": "text", "text": words(40)}]})
    reply(16_000)
    numbered = [{**message, "messageId": n} for n, message in enumerate(messages)]
    return weighed_text(json.dumps({"v": 12, "id": "T-0001", "created": 1, "title": "t", "messages": numbered}))


def gemini_quota() -> Weighed:
    """A quota of input tokens of the free tier is used up: no matter of the window."""
    session = Gemini("gemini-2.5-flash").prompt().until(240_000)
    session.refuse(
        '[API Error: {"error":{"code":429,"message":"You exceeded your current quota. Quota exceeded for metric: '
        'generate_content_free_tier_input_token_count, limit: 250000","status":"RESOURCE_EXHAUSTED"}}]'
    )
    session.prompt()
    return session.turn(400).turn(400).weighed()


FIFTH = {
    "claude-code 24079, 113,000 of 200,000": Report(
        lambda: c.claude_at(113_000, "claude-opus-4-6", version="2.1.37"), COMPACTION, ("cannot_tell", "wrong_window"),
        group=UNTOLD,
    ),
    "claude-code 70651, compacted on resume": Report(
        on_resume, COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "claude-code 29780, with the next prompt": Report(at_the_next_prompt, COMPACTION, ("threshold_reached",), True),
    "claude-code 65148, 100% and by hand": Report(full_and_by_hand, MISSING, ("off_or_not_started",)),
    "claude-code 21635, less after a resume": Report(falls_without_a_mark, NONE, (), group=UNTOLD),
    "codex 36665, a small model again and again": Report(spark_cycles, COMPACTION, ("threshold_reached",), True),
    "oh-my-openagent 2356, 141,422 of 128,000, and no compaction": Report(
        lambda: opencode_errors("claude-sonnet-4-5", 139_000, "prompt token count of 141422 exceeds the limit of "
        "128000", "prompt token count of 142010 exceeds the limit of 128000"), ERROR,
        ("summary_request_too_long", "wrong_window"), True, figures=(128_000,),
    ),
    "opencode 3314, counted twice at 61,000": Report(copilot_twice, COMPACTION, ("usage_double_counted",)),
    "opencode 45249, nothing in six days": Report(
        lambda: o.opencode("claude-sonnet-5").until(480_000, 9_000).weighed(), NONE, (), group=UNTOLD
    ),
    "opencode 16356, 200,148 of what was taken for 1,000,000": Report(
        lambda: opencode_errors("us.anthropic.claude-opus-4-6-v1", 198_000, "The model returned the following errors: "
        "prompt is too long: 200148 tokens > 200000 maximum", "messages.5.content.6: `thinking` blocks in the latest "
        "assistant message cannot be modified"), ERROR, ("compaction_failed", "wrong_window", "off_or_not_started"),
        True,
    ),
    "opencode 31215, too large to compact": Report(
        lambda: opencode_errors("big-pickle", 150_000, "", "Conversation history too large to compact - exceeds model "
        "context limit"), ERROR, ("summary_request_too_long",), True,
    ),
    "archi 599, four results, 452,217": Report(
        lambda: langsmith([9_000], "BadRequestError('Input tokens exceed the configured limit of 272000 tokens. Your "
        "messages resulted in 452217 tokens.')"), ERROR, ("cannot_tell", "one_message_overflowed", "wrong_window"),
        group=UNTOLD, figures=(452_217,),
    ),
    "qwen-code 4049, a command's output": Report(qwen_json, ERROR, ("one_message_overflowed",)),
    "5ire 268, functions and a reply": Report(chat_functions, ERROR, ("output_reserve",), True, figures=(5_359,)),
    "kimi-cli 184, a time-out": Report(
        lambda: kimi("<html><head><title>504 Gateway Time-out</title></head></html>", 8), ERROR,
        ("compaction_failed",), True,
    ),
    "kimi-code 834, a maximum that is not taken": Report(
        lambda: kimi("[compaction.failed] APIStatusError: 400 max_tokens参数非法：限制数值范围[1,131072]", 8), ERROR,
        ("compaction_failed", "output_reserve"), True,
    ),
    "roo 9831, condensed under the long window": Report(
        roo_long, COMPACTION, ("cannot_tell", "wrong_window", "fallback_window", "threshold_reached"), group=UNTOLD
    ),
    "roo 1709, 75,213 and a reply of 128,000": Report(
        lambda: o.cline_refused(74_000, "400 input length and `max_tokens` exceed context limit: 75213 + 128000 > "
        "200000, decrease input length or `max_tokens` and try again"), ERROR, ("output_reserve",), True,
        figures=(75_213,),
    ),
    "openclaw 117314, eight calls added up": Report(openclaw_sum, COMPACTION, ("usage_double_counted",)),
    "openclaw 2397, 186,006": Report(
        lambda: o.pi_at(186_006, "claude-sonnet-4-5"), COMPACTION, ("threshold_reached",), True
    ),
    "swe-agent, out of context": Report(swe_agent, ERROR, ("cannot_tell",), group=UNTOLD),
    "goose, 80% by its own notice": Report(goose_notice, COMPACTION, ("threshold_reached", "cannot_tell")),
    "Amp, a summary at 90%": Report(amp_summary, COMPACTION, ("threshold_reached", "cannot_tell")),
    "Gemini CLI, a quota": Report(gemini_quota, NONE, (), group=CONTROL),
    "Claude Code, 310,000 of the long window": Report(
        lambda: c.claude("claude-sonnet-4-5[1m]").until(310_000, 12_000).weighed(), NONE, (), group=CONTROL
    ),
    "Qwen Code, 60%": Report(lambda: Qwen(262_144).prompt().until(157_000).weighed(), NONE, (), group=CONTROL),
    "pi, 85%": Report(lambda: o.pi().until(168_000).weighed(), NONE, (), group=CONTROL),
}  # fmt: skip
