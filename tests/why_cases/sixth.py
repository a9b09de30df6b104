"""A sixth set of reports, written whole before any of them was tried, after the engine was mended for the fifth.

Facts and figures only, in words of ours, as in ``cases``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import compacted, weighed_text, words
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Copilot, Gemini
from tests.why_cases.cases import COMPACTION, ERROR, NONE
from tests.why_cases.report import CONTROL, UNTOLD, Report

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

THRASHING = (
    "Autocompact is thrashing: the context refilled to the limit within 3 turns of the previous compact, 3 times in a "
    "row. A file being read or a tool output is likely too large for the context window. Try reading in smaller chunks."
)


def stopped_by_the_client() -> Weighed:
    """Full again within three requests, three times; then the client itself stops."""
    session = c.claude("claude-opus-4-6", version="2.1.220").until(166_000)
    session.turns(1, 1_400)
    session.compact()
    for _ in range(3):
        for k in range(2):
            session.reply(call=f"log{session.n}")
            session.result(f"log{session.n - 1}", (167_200 - session.context) // (2 - k) - 12)
        session.compact()
    session.refuse(THRASHING)
    return session.weighed()


def stopped_though_small() -> Weighed:
    """A session of 52,000 tokens, compacted three times and stopped in the same words."""
    session = c.claude("claude-opus-4-7", overhead=38_000, version="2.1.144")
    for figure in (52_100, 51_400, 53_000):
        session.turns(1, max(200, figure - session.context - 112))
        session.compact(summary=9_000)
    session.refuse(THRASHING)
    return session.weighed()


def document_then_500() -> Weighed:
    """A document of 1.1 MB and one of 3 MB; the limit is reached, and the compaction meets an error of the server."""
    session = c.claude("claude-opus-4-5", version="2.1.7").until(60_000)
    for k, n in enumerate((1_100_000, 3_000_000)):
        session.reply(call=f"pdf{k}")
        source = {"type": "base64", "media_type": "application/pdf", "data": "JVBE" + "QUJD" * (n // 3)}
        document = {"type": "document", "source": source}
        block = {"type": "tool_result", "tool_use_id": f"pdf{k}", "content": [{"type": "text", "text": "PDF read"}]}
        session.emit("user", message={"role": "user", "content": [block, document]})
        session.context += 40_000
    session.refuse("Context limit reached · /compact or /clear to continue")
    session.prompt(1)
    session.refuse('Error during compaction: Error: API Error: 500 {"type":"error","error":{"type":"api_error"}}')
    return session.weighed()


def command_without_a_trace() -> Weighed:
    """435,000 tokens of 1,000,000; the command was typed and nothing came of it."""
    session = c.claude("claude-sonnet-5[1m]", version="2.1.220").until(435_000, 9_000)
    session.emit("user", message={"role": "user", "content": "<command-name>/compact</command-name>"})
    session.prompt()
    return session.turns(2, 300).weighed()


def first_normal_then_refused() -> Weighed:
    """Compacted at its threshold; much later one result takes it from 70,000 over the window."""
    session = compacted(c.claude("claude-sonnet-4-5").until(167_050))
    session.until(70_000)
    session.reply(call="big")
    session.result("big", 182_000)
    session.refuse(c.TOO_LONG.format(254_900, 200_000))
    return session.weighed()


def other_errors(*texts: str) -> Weighed:
    """At 90,000 tokens errors that are no matter of the context's size."""
    session = c.claude("claude-sonnet-4-5").until(90_000)
    for text in texts:
        session.refuse(text)
        session.prompt()
    return session.turns(3, 300).weighed()


def wakes() -> Weighed:
    """Compacted at 73,409, 65,583 and 62,454, a request apart, of a model that no table knows."""
    session = o.pi("qwen3.6-fp8")
    session.until(70_000)
    for figure in (73_409, 65_583, 62_454):
        session.turn(max(60, figure - session.context - 112))
        session.compact(figure, summary=52_000)
        session.prompt()
    session.turn(300)
    return session.weighed()


def set_limit() -> Weighed:
    """A limit of 180,000 is set: four times just over it."""
    session = o.codex(258_400, "gpt-5.2-codex")
    for k in range(4):
        session.until(178_000)
        session.turn(180_150 + 90 * k - session.context - 80)
        session.turn(200)
        session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def never_small_enough() -> Weighed:
    """149,690 of 131,072: three calls for a summary end in the same words, each asked for again."""
    session = o.opencode("devstral-small")
    session.until(127_000)
    session.turn(149_690 - session.context - 112)
    text = "Session too large to compact - context exceeds model limit even after stripping media"
    for _ in range(3):
        session.last = session.add([{"type": "compaction", "auto": True}], role="user")
        error = {"name": "ContextOverflowError", "data": {"message": text}}
        session.reply(o.NO_TOKENS, [], summary=True, error=error)
        session.prompt(4)
    return session.weighed()


def lm_studio() -> Weighed:
    """A local server that keeps 4,096 tokens: the first request is refused."""
    task = ClineTask(11_000)
    return task.refuse("Cannot truncate prompt with n_keep (12109) >= n_ctx (4096)").weighed()


def gemini_seven_tenths() -> Weighed:
    """741,000 of 1,048,576: the threshold of older versions was seven tenths."""
    session = Gemini("gemini-2.5-pro").prompt().until(700_000, 30_000)
    session.turn(741_000 - session.context - 60)
    return session.compress(52_000).turn(300).turn(300).weighed()


def copilot_truncates() -> Weighed:
    """The client drops the oldest messages at its limit of 128,000."""
    session = Copilot("gpt-5-mini").prompt().until(124_000)
    facts = {"tokenLimit": 128_000, "preTruncationTokensInMessages": 124_600, "tokensRemovedDuringTruncation": 31_000}
    session.event("session.truncation", facts)
    return session.turn(300).turn(300).weighed()


def kimi_auto() -> Weighed:
    """Kimi Code by itself at 214,000 of 262,144: 50,000 are kept free."""
    lines: list[dict[str, Any]] = [
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281},
        {"type": "config.update", "modelAlias": "moonshot-ai/kimi-k2.6", "time": 1785612803282},
    ]
    said = {"role": "user", "content": [{"type": "text", "text": words(60)}], "origin": {"kind": "user"}}
    lines.append({"type": "context.append_message", "message": said, "time": 1785612812820})

    def step(k: int, context: int, tokens: int) -> None:
        event = {"type": "context.append_loop_event"}
        lines.append(event | {"event": {"type": "step.begin", "uuid": f"s{k}", "step": k}})
        lines.append({"type": "llm.request", "kind": "loop", "model": "kimi-k2.6"})
        part = {"type": "tool.call", "stepUuid": f"s{k}", "toolCallId": f"c{k}", "name": "Read", "args": {"path": "a"}}
        lines.append(event | {"event": part})
        used = {"inputOther": 200, "output": 60, "inputCacheRead": context - 200, "inputCacheCreation": 0}
        lines.append(event | {"event": {"type": "step.end", "uuid": f"s{k}", "usage": used}})
        result = {"type": "tool.result", "toolCallId": f"c{k}", "result": {"output": words(tokens)}}
        lines.append(event | {"event": result})

    context = 14_000
    for k in range(25):
        step(k, context, 8_000)
        context += 8_060
    lines.append({"type": "full_compaction.begin", "source": "auto", "time": 1785615337143})
    facts = {"contextSummary": words(900), "compactedCount": 51, "tokensBefore": context, "tokensAfter": 900}
    lines.append({"type": "context.apply_compaction", "summary": words(900), **facts, "time": 1785615337144})
    for k in range(25, 28):
        step(k, 15_000 + 400 * k, 300)
    return weighed_text("\n".join(json.dumps(line) for line in lines) + "\n")


SIXTH = {
    "claude-code 82131, stopped by the client": Report(
        stopped_by_the_client, NONE, ("refilled", "one_message_overflowed"), True
    ),
    "claude-code 60485, stopped though small": Report(
        stopped_though_small, NONE, ("cannot_tell", "usage_stale_after_compaction", "overhead_near_threshold"),
        group=UNTOLD,
    ),
    "claude-code 19081, a document, and an error of the server": Report(
        document_then_500, ERROR, ("compaction_failed",), True
    ),
    "claude-code 82067, a command that leaves no trace": Report(command_without_a_trace, NONE, (), group=UNTOLD),
    "claude-code 24764, once as it should be, then one result": Report(
        first_normal_then_refused, ERROR, ("one_message_overflowed",), True, figures=(254_900,)
    ),
    "openclaw 86684, a request apart at a third": Report(
        wakes, COMPACTION, ("cannot_tell", "summary_as_large", "retained_through_compaction"), True
    ),
    "openclaw 10073, 180,692 and a reply of 34,048": Report(
        lambda: o.cline_refused(178_000, "LLM request rejected: input length and `max_tokens` exceed context limit: "
        "180692 + 34048 > 200000", last=2_500), ERROR, ("output_reserve",), True, figures=(180_692,),
    ),
    "codex, a limit that was set": Report(set_limit, COMPACTION, ("threshold_reached",), figures=(180_150,)),
    "opencode 38801, never small enough": Report(never_small_enough, ERROR, ("summary_request_too_long",), True),
    "cline, 12,109 on a server of 4,096": Report(
        lm_studio, ERROR, ("cannot_tell", "wrong_window", "fallback_window"), group=UNTOLD, figures=(4_096,)
    ),
    "gemini-cli, seven tenths": Report(gemini_seven_tenths, COMPACTION, ("threshold_reached", "cannot_tell")),
    "copilot-cli, truncated at 128,000": Report(
        copilot_truncates, COMPACTION, ("cannot_tell", "threshold_reached"), group=UNTOLD
    ),
    "Kimi Code, by itself at 214,000": Report(kimi_auto, COMPACTION, ("threshold_reached",), True),
    "Claude Code, a reply over its maximum": Report(
        lambda: other_errors(
            "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the "
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
            'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 64000 > '
            '32000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"}}',
        ), NONE, (), group=CONTROL,
    ),
    "Claude Code, a limit of the organisation": Report(
        lambda: other_errors(
            'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed '
            'your organization\'s rate limit of 40,000 input tokens per minute"}}',
            "API Error: 400 The long context beta is not yet available for this subscription.",
            "API Error: Connection error.",
        ), NONE, (), group=CONTROL,
    ),
    "opencode, at half": Report(lambda: o.opencode("claude-opus-4-5").until(96_000).weighed(), NONE, (), group=CONTROL),
}  # fmt: skip
