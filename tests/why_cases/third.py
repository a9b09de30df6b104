"""A third set of reports, written whole before any of them was tried, after the engine was mended for the second.

Facts and figures only, in words of ours, as in ``cases``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import weighed_text, words
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Copilot, Gemini, Qwen
from tests.why_cases.cases import COMPACTION, ERROR, NONE
from tests.why_cases.report import CONTROL, UNTOLD, Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessions.engine.weigh.calibration.weighed import Weighed

GEMINI_LIMIT = "The input token count ({}) exceeds the maximum number of tokens allowed (1048576)."
NO_COMPRESS = "Failed to compress chat history: "
DISCONNECTED = (
    "Error running remote compact task: stream disconnected before completion: error sending request for url "
    "(https://chatgpt.com/backend-api/codex/responses/compact)"
)
NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


def four_times() -> Weighed:
    """Four times in a day between 360,677 and 366,989 of 1,000,000."""
    session = c.claude("claude-opus-4-7[1m]", version="2.1.119")
    for k, figure in enumerate((366_432, 366_989, 360_677, 366_790)):
        session.until(figure - 4_000, 14_000)
        session.reply(call=f"last{k}")
        session.result(f"last{k}", figure - session.context - 12)
        session.compact(summary=77_000)
    return session.turns(3, 400).weighed()


def request_too_large() -> Weighed:
    """The client says that 20 MB are passed; everything that was said is 1.2 MB of text."""
    session = c.claude("claude-opus-4-6[1m]", version="2.1.94")
    session.until(200_000, 6_000)
    for _ in range(2):
        session.refuse("Request too large (max 20MB). Double press esc to go back and try with a smaller file.")
        session.prompt()
    return session.weighed()


def image_too_large() -> Weighed:
    """One picture is over what the provider takes of one; the compaction meets it as well."""
    session = c.claude("claude-sonnet-4-5", version="2.0.53").until(60_000)
    text = "messages.14.content.1.image.source.base64: image exceeds 5 MB maximum: 5355736 bytes > 5242880 bytes"
    session.reply(call="shot")
    session.result("shot", 200, image=(600_000, 1_254, 1_521))
    session.refuse(f'API Error: 400 {{"type":"error","error":{{"type":"invalid_request_error","message":"{text}"}}}}')
    session.prompt()
    session.refuse(f"Error during compaction: Error: API Error: 400 {text}")
    return session.weighed()


def off_and_full() -> Weighed:
    """Switched off, 199,125 tokens, and the command meets a conversation that is too long."""
    session = c.claude("claude-opus-4-6", version="2.1.41")
    session.until(167_200, 2_000)
    session.turns(14, 2_140)
    session.prompt()
    session.refuse(c.NO_SUMMARY)
    return session.weighed()


def half_overhead() -> Weighed:
    """A fresh session of one word: 100,000 tokens are there, and each compaction frees 60,000."""
    session = c.claude(overhead=100_000, version="2.1.196")
    for _ in range(3):
        for k in range(2):
            session.reply(call=f"big{session.n}{k}")
            session.result(f"big{session.n - 1}{k}", (167_300 - session.context) // (2 - k) - 12)
        session.compact(summary=3_000)
    return session.turns(2, 400).weighed()


def rebuilt_larger() -> Weighed:
    """30,029 tokens counted as 190,384; 197,548 are there after it."""
    session = c.claude("claude-opus-4-8")
    session.until(29_000, 1_200)
    session.turns(1, 30_029 - session.context - 112)
    session.compact(pre=190_384)
    session.context = 197_548
    return session.turns(3, 300).weighed()


def before_compaction_existed() -> Weighed:
    """187,254 sent with a reply of 20,000, of 204,798."""
    session = c.claude("claude-3-7-sonnet-20250219", version="0.2.9")
    session.until(184_000, 3_000)
    session.turns(1, 187_254 - session.context - 112)
    text = "input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798, decrease input length"
    session.refuse(f'API Error: 400 {{"type":"error","error":{{"type":"invalid_request_error","message":"{text}"}}}}')
    return session.weighed()


def three_reports() -> Weighed:
    """Three teammates hand back long reports at once; then nothing fits, a compaction neither."""
    session = c.claude("claude-opus-4-6", version="2.1.63")
    session.until(148_000, 3_000)
    for k in range(3):
        session.reply(call=f"read{k}", output=60)
        session.result(f"read{k}", 4_500 if k < 2 else 58_000)
    session.refuse("Context limit reached · /compact or /clear to continue")
    session.prompt()
    session.refuse(c.NO_SUMMARY)
    return session.weighed()


def gemini_not_beneficial() -> Weighed:
    """1,058,724 are refused, a compression is not beneficial, 1,058,725 are refused."""
    session = Gemini("gemini-2.5-pro").prompt()
    session.until(1_040_000, 40_000)
    session.turn(14_000).refuse(f"[API Error: {GEMINI_LIMIT.format(1058724)}]")
    session.add("user", content="/compress")
    session.add("info", content="Compression was not beneficial for this history size.")
    session.prompt(1)
    return session.refuse(f"[API Error: {GEMINI_LIMIT.format(1058725)}]").weighed()


def gemini_command(context: int, text: str) -> Weighed:
    """The command to compress fails."""
    session = Gemini("gemini-2.5-pro").prompt().until(context, 30_000)
    session.add("user", content="/compress")
    return session.refuse(NO_COMPRESS + text).weighed()


def roo_at_once() -> Weighed:
    """A new task: condensed four times within the first requests, at some 14,000 tokens."""
    task = ClineTask(9_000).turn(4_000)
    for _ in range(4):
        facts = {"prevContextTokens": task.context, "newContextTokens": 10_400, "cost": 0.02, "summary": words(1_300)}
        task.say("condense_context", "", contextCondense=facts)
        task.context = 10_400
        task.turn(2_900)
    return task.weighed()


def roo_one_line() -> Weighed:
    """A command's output of one line takes the context from 60,000 over 300,000."""
    task = ClineTask().until(60_000, 3_000)
    task.say("api_req_started", json.dumps({"request": words(240_000)}))
    task.say("api_req_failed", "400 prompt is too long: 303412 tokens > 200000 maximum", kind="ask")
    return task.weighed()


def roo_reserve() -> Weighed:
    """205,293 of 256,000 and 51,200 for the reply: the condensing is refused, and then the request."""
    task = ClineTask().until(203_000, 3_000)
    text = (
        "400 This endpoint's maximum context length is 256000 tokens. However, you requested about 256493 tokens "
        "(194895 of text input, 10398 of tool input, 51200 in the output)."
    )
    task.say("condense_context_error", f"OpenRouter completion error: {text}")
    return task.refuse(text).weighed()


def kilo_grew() -> Weighed:
    """Refused at 207,811 without a figure; condensing makes 589,777 of them."""
    task = ClineTask().until(204_000, 3_500)
    task.refuse("Codex API error: Your input exceeds the context window of this model. Please adjust your input.")
    task.say("condense_context_error", "Context size increased from 207811 to 589777 during condensing; skipping")
    return task.weighed()


def kilo_silent() -> Weighed:
    """243,227 of 272,000, then summaries without a word and without a token, one after the other."""
    session = o.opencode("gpt-5.5")
    session.until(240_000)
    session.turn(243_227 - session.context - 112)
    session.turn(900)
    session.last = session.add([{"type": "compaction", "auto": True}], role="user")
    for _ in range(12):
        session.reply(NO_TOKENS, [], summary=True)
    return session.weighed()


def cline_dead_end() -> Weighed:
    """Over its maximum for nine requests, then too long, said by the program in between."""
    task = ClineTask().until(196_000)
    text = '{"message":"Command failed with exit code 1\\n","modelId":"sonnet"} Prompt is too long'
    return task.refuse(text).weighed()


def qwen_hard_limit() -> Weighed:
    """The client itself refuses 6,276 tokens: its hard limit is 1,536 of a window of 65,536."""
    session = Qwen(65_536, 5_900).prompt().turn(200)
    text = "Context is too large to send safely after automatic compression. Estimated prompt tokens: 6276"
    return session.refuse(f"{text}; hard limit: 1536; compression status: NOOP.").weighed()


def qwen_escalated() -> Weighed:
    """71,349 of 131,072 and 64,000 for the reply."""
    session = Qwen(131_072).prompt().until(70_000, 6_000)
    text = "This endpoint's maximum context length is 131072 tokens. However, you requested about 135349 tokens"
    return session.refuse(f"400 {text} (60662 of text input, 10687 of tool input, 64000 in the output).").weighed()


def goose(messages: Sequence[tuple[str, int | str]], model: str, total: int) -> Weighed:
    """A goose session of texts and of errors as it shows them."""
    held = []
    for n, (role, what) in enumerate(messages):
        text = what if isinstance(what, str) else words(what)
        facts = {"id": f"m{n}", "role": role, "created": 1_772_359_200 + n}
        content = [{"type": "text", "text": text}]
        held.append({**facts, "content": content, "metadata": {"userVisible": True, "agentVisible": True}})
    facts = {"id": "g1", "working_dir": "/w", "message_count": len(held), "total_tokens": total}
    return weighed_text(json.dumps({**facts, "model_config": {"model_name": model}, "conversation": held}))


def goose_error(n: int, text: str, model: str) -> Weighed:
    """Some exchanges, then an error."""
    said: list[tuple[str, int | str]] = [("user" if k % 2 == 0 else "assistant", 1_100) for k in range(n)]
    return goose([*said, ("user", 30), ("assistant", text)], model, n * 1_100)


def opencode_spins() -> Weighed:
    """Done at 165,000, "continue", and one compaction after the other without an answer between."""
    session = o.opencode("claude-opus-4-7", 100_000)
    session.until(165_000)
    session.prompt(1)
    for _ in range(4):
        session.compact(summary=1_000)
    return session.weighed()


def opencode_overflow() -> Weighed:
    """Off; the provider refuses 201,412, and it compacts all the same."""
    session = o.opencode("claude-sonnet-4-5")
    session.until(198_000, 2_500)
    error = {"name": "APIError", "data": {"message": "prompt is too long: 201412 tokens > 200000 maximum"}}
    session.reply(NO_TOKENS, [], error=error)
    session.compact()
    return session.turn(300).turn(300).weighed()


def codex_other_model() -> Weighed:
    """26,910 of 258,400, another model of the same window, and a compaction."""
    session = o.codex(model="gpt-5.6-sol")
    session.until(24_000, 3_000)
    session.turn(26_910 - session.context - 80)
    session.line("turn_context", {"turn_id": "2", "model": "gpt-5.4-mini"})
    session.prompt()
    session.compact(summary=600)
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_context_left() -> Weighed:
    """187,341 sent, 85% left on the gauge, and refused without a figure."""
    session = o.codex(272_000, "gpt-5")
    session.until(183_000)
    session.turn(187_341 - session.context - 80)
    session.turn(900)
    text = "Your input exceeds the context window of this model. Please adjust your input and try again."
    session.refuse(f"stream disconnected before completion: {text}")
    return session.weighed()


def codex_disconnected() -> Weighed:
    """At the limit the call that compacts is cut off, by itself and by the command."""
    session = o.codex(model="gpt-5.5")
    session.until(241_000)
    session.turn(4_500)
    session.refuse(DISCONNECTED)
    session.prompt()
    session.refuse(DISCONNECTED)
    return session.weighed()


def pi_all_cached() -> Weighed:
    """305,000 tokens, all but 99 of them cached, and no compaction."""
    session = o.pi("claude-sonnet-4-6")
    session.until(305_000, 9_000)
    return session.weighed()


def pi_whole_loop() -> Weighed:
    """Each reply's usage adds up every call of its loop: 5,031,952 tokens, where 150,000 were said."""
    session = o.pi("claude-opus-4-6")
    for total in (410_000, 702_000, 5_030_000):
        session.prompt(300)
        session.turn(45_000, cacheRead=total)
    last: dict[str, Any] = {"input": 10, "output": 100, "cacheRead": 5_031_842, "cacheWrite": 0}
    session.turn(300, **last)
    session.compact(5_031_952)
    session.turn(300, cacheRead=20_000)
    return session.weighed()


THIRD = {
    "claude-code 54056, four times at some 366,000 of 1,000,000": Report(
        four_times, COMPACTION, ("threshold_reached", "wrong_window")
    ),
    "claude-code 44950, too large by the client, 1.2 MB in all": Report(
        request_too_large, ERROR, ("cannot_tell", "body_size_limit"), group=UNTOLD
    ),
    "claude-code 2104, one picture too large, and no compaction either": Report(
        image_too_large, ERROR, ("compaction_failed",), True
    ),
    "claude-code 25620, off, 199,125, and then too long to compact": Report(
        off_and_full, ERROR, ("summary_request_too_long", "off_or_not_started"), True
    ),
    "claude-code 72857, 60,000 freed each time": Report(
        half_overhead, COMPACTION, ("overhead_near_threshold", "refilled", "retained_through_compaction"), True
    ),
    "claude-code 85483, 30,029 became 197,548": Report(
        rebuilt_larger, COMPACTION, ("summary_as_large", "unsent_text_counted", "cannot_tell"), True
    ),
    "claude-code 42, 187,254 and a reply of 20,000": Report(
        before_compaction_existed, ERROR, ("output_reserve",), True, figures=(187_254,)
    ),
    "claude-code 29831, three reports at once": Report(
        three_reports, ERROR, ("summary_request_too_long", "one_message_overflowed"), True
    ),
    "gemini-cli 14766, refused, not beneficial, refused": Report(
        gemini_not_beneficial, ERROR, ("off_or_not_started",), figures=(1_058_725,)
    ),
    "gemini-cli 16516, the command needs 1,237,145": Report(
        lambda: gemini_command(1_030_000, f"Failed to generate content: {GEMINI_LIMIT.format(1237145)}"), ERROR,
        ("summary_request_too_long",), True, figures=(1_237_145,),
    ),
    "gemini-cli 7784, the command asks for a reply of 339,835": Report(
        lambda: gemini_command(390_000, "Unable to submit request because it has a maxOutputTokens value of 339835 "
        "but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again."), ERROR,
        ("compaction_failed", "output_reserve"), True,
    ),
    "roo 11998, 51,200 for the reply": Report(
        roo_reserve, ERROR, ("output_reserve", "summary_request_too_long"), True, figures=(205_293,)
    ),
    "roo 8158, a new task condensed again and again": Report(
        roo_at_once, COMPACTION, ("cannot_tell", "output_reserve", "wrong_window"), group=UNTOLD
    ),
    "roo 5775, one line of a command": Report(
        roo_one_line, ERROR, ("one_message_overflowed",), True, figures=(303_412,)
    ),
    "kilocode 11801, 207,811 became 589,777": Report(
        kilo_grew, ERROR, ("compaction_failed", "summary_as_large"), True
    ),
    "kilocode 13983, summaries without a word": Report(kilo_silent, ERROR, ("compaction_failed",), True),
    "cline 8315, over its maximum, then too long": Report(
        cline_dead_end, ERROR, ("off_or_not_started", "cannot_tell")
    ),
    "qwen-code 6144, a hard limit of 1,536": Report(
        qwen_hard_limit, ERROR, ("cannot_tell", "output_reserve", "wrong_window", "request_failed"), True, group=UNTOLD
    ),
    "qwen-code 5950, 64,000 for the reply": Report(
        qwen_escalated, ERROR, ("output_reserve",), True, figures=(71_349,)
    ),
    "goose 8642, compacting fails in a short session": Report(
        lambda: goose_error(14, "Ran into this error trying to compact: Failed to compact: context limit exceeded even "
        "after removing all tool responses.\n\nPlease try again or create a new session", "claude-sonnet-4-5"), ERROR,
        ("compaction_failed", "summary_request_too_long"), True,
    ),
    "goose 11049, 49,152 by the server, 1,000,000 by the client": Report(
        lambda: goose_error(46, "Ran into this error: Request failed: Context length exceeded: request (51210 tokens) "
        "exceeds the available context size (49152 tokens), try increasing it.\n\nPlease retry if you think this is a "
        "transient or recoverable error.", "deepseek-v4-flash"), ERROR,
        ("cannot_tell", "wrong_window", "fallback_window"), group=UNTOLD, figures=(49_152,),
    ),
    "goose 3635, 196,758 and a reply of 8,192": Report(
        lambda: goose_error(170, 'Ran into this error: Request failed: HTTP 400 Bad Request: {"error_code":'
        '"BAD_REQUEST","message":"input length and `max_tokens` exceed context limit: 196758 + 8192 > 200000, decrease '
        'input length or `max_tokens` and try again"}.\n\nPlease retry.', "claude-sonnet-4-5"), ERROR,
        ("output_reserve",), True, figures=(196_758,),
    ),
    "copilot-cli 4571, at half": Report(
        lambda: Copilot("gpt-5.6-luna").prompt().until(136_000).compact().turn(300).turn(300).weighed(), COMPACTION,
        ("cannot_tell", "wrong_window", "fallback_window"), group=UNTOLD,
    ),
    "copilot-cli 2861, an empty reply, three times": Report(
        lambda: Copilot("claude-opus-4-6").prompt().until(130_000).compact(error="received empty response from model")
        .compact(error="received empty response from model").compact(error="received empty response from model")
        .turn(300).weighed(), ERROR, ("compaction_failed",), True,
    ),
    "opencode 27924, over and over after the work": Report(
        opencode_spins, COMPACTION, ("overhead_near_threshold", "usage_stale_after_compaction", "cannot_tell")
    ),
    "opencode 16882, off, refused, compacted": Report(
        opencode_overflow, COMPACTION, ("after_refusal",), True, figures=(201_412,)
    ),
    "codex 33833, another model of the same window": Report(
        codex_other_model, COMPACTION, ("cannot_tell", "manual", "model_changed"), group=UNTOLD
    ),
    "codex 2825, refused with 85% left": Report(codex_context_left, ERROR, ("cannot_tell",), group=UNTOLD),
    "codex 20160, the call that compacts is cut off": Report(
        codex_disconnected, ERROR, ("compaction_failed", "cannot_tell"), True
    ),
    "openclaw 66520, 305,000 of what was taken for 200,000": Report(pi_all_cached, NONE, ()),
    "gsd 5243, the usage of a whole loop": Report(
        pi_whole_loop, COMPACTION, ("usage_double_counted", "cannot_tell")
    ),
    "Claude Code, one large result at half": Report(
        lambda: c.claude("claude-opus-4-5").until(90_000).turns(1, 55_000).turns(3, 300).weighed(), NONE, (),
        group=CONTROL,
    ),
    "Codex, 93% of its limit": Report(lambda: o.codex().until(228_000).weighed(), NONE, (), group=CONTROL),
    "Roo Code, 60%": Report(lambda: ClineTask().until(118_000).weighed(), NONE, (), group=CONTROL),
    "goose, a short talk": Report(
        lambda: goose([("user", 500), ("assistant", 900), ("user", 200), ("assistant", 300)], "gpt-4o", 9_000),
        NONE, (), group=CONTROL,
    ),
}  # fmt: skip
