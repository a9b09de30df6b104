"""A fourth set of reports, written whole before any of them was tried, after the engine was mended for the third.

Facts and figures only, in words of ours, as in ``cases``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.engine.verdict_files import words
from tests.why_cases import claude as c
from tests.why_cases import others as o
from tests.why_cases.agents import ClineTask, Copilot, Gemini, Qwen
from tests.why_cases.cases import COMPACTION, ERROR, MISSING, NONE
from tests.why_cases.fresh import kimi
from tests.why_cases.rare import Acp, aider, crush, hermes, kimi_quiet, langsmith, letta, openhands, vscode
from tests.why_cases.report import CONTROL, UNTOLD, Report
from tests.why_cases.third import goose_error

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

CAPI = (
    "The request is too large to send through CAPI Responses. Try shortening the conversation or prompt. "
    "(5.0 MB request; 5.0 MB limit)"
)


def share_not_met() -> Weighed:
    """A share of 60% is set, 72% are reached; nothing in the file tells of the setting."""
    return c.claude("claude-opus-4-5", version="2.1.156").until(144_000).weighed()


def limit_and_command() -> Weighed:
    """Up to the window without a compaction; the client says so, and the command helps."""
    session = c.claude("claude-sonnet-4-5", version="2.1.118").until(196_500, 2_500)
    session.refuse("Context limit reached · /compact or /clear to continue")
    session.prompt()
    session.compact("manual")
    return session.turns(3, 400).weighed()


def large_paste() -> Weighed:
    """120,000 tokens, a paste of 95,000, and it is too long."""
    session = c.claude("claude-opus-4-5", version="2.1.200").until(120_000)
    session.reply()
    session.prompt(95_000)
    session.refuse("Prompt is too long")
    return session.weighed()


def too_much_media() -> Weighed:
    """102 small pictures: the request is refused, and the compaction with the same words."""
    session = c.claude("claude-opus-4-5", version="2.1.14")
    for k in range(102):
        session.reply(call=f"p{k}")
        session.result(f"p{k}", 60, image=(7_000, 200, 54))
    text = "Too much media: 0 document pages + 102 images > 100"
    body = f'API Error: 400 {{"type":"error","error":{{"type":"invalid_request_error","message":"{text}"}}}}'
    for _ in range(2):
        session.refuse(body)
        session.prompt(1)
    session.refuse(f"Error during compaction: Error: {body}")
    return session.weighed()


def too_many_pixels() -> Weighed:
    """A picture over 2,000 pixels among many: every prompt is refused, those without a picture too."""
    session = c.claude("claude-opus-4-6[1m]", version="2.1.119")
    for k in range(24):
        session.reply(call=f"p{k}")
        session.result(f"p{k}", 400, image=(300_000, 2_400, 4_784))
    for _ in range(3):
        session.refuse(
            "An image in the conversation exceeds the dimension limit for many-image requests (2000px). "
            "Run /compact to remove old images from context, or start a new session."
        )
        session.prompt()
    return session.weighed()


def one_message_compact() -> Weighed:
    """One prompt of 195,000 tokens; the compaction is too long."""
    session = c.claude("claude-3-7-sonnet-20250219", version="0.2.73")
    session.reply()
    session.prompt(194_000)
    text = "prompt is too long: 210118 tokens > 200000 maximum"
    session.refuse(f'Error during compaction: 400 {{"error":{{"type":"invalid_request_error","message":"{text}"}}}}')
    return session.weighed()


def quoted() -> Weighed:
    """A page that the agent reads quotes an error; a rate limit and an overload come besides."""
    session = c.claude("claude-opus-4-5").until(60_000)
    session.reply(call="web")
    block = {"type": "tool_result", "tool_use_id": "web", "content": c.TOO_LONG.format(210_000, 200_000)}
    session.emit("user", message={"role": "user", "content": [block]})
    session.turns(3, 400)
    session.refuse('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')
    session.prompt()
    session.refuse("API Error: Rate limit reached")
    session.prompt()
    return session.turns(4, 400).weighed()


def codex_off() -> Weighed:
    """Off in the settings, at work, and compacted with 40% left."""
    session = o.codex(258_400, "gpt-5.2-codex").until(155_000)
    session.turn(400)
    session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_usual() -> Weighed:
    """Compacted at 246,000: 244,800 is its threshold."""
    session = o.codex(258_400, "gpt-5.6-sol").until(243_000)
    session.turn(3_100)
    session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_network() -> Weighed:
    """A lost connection and a turn that was broken off, at half."""
    session = o.codex().until(120_000)
    session.refuse("stream disconnected before completion: error sending request for url")
    session.line("event_msg", {"type": "turn_aborted", "reason": "interrupted"})
    session.prompt()
    for _ in range(4):
        session.turn(900)
    return session.weighed()


def opencode_command_adds() -> Weighed:
    """50,241 tokens, the command, 51,405 tokens."""
    session = o.opencode("claude-sonnet-4-5").until(47_000)
    session.turn(max(1, 50_241 - session.context - 112))
    session.compact(auto=False)
    session.context = 51_405
    return session.turn(300).turn(300).weighed()


def gemini_impossible() -> Weighed:
    """The client counts 32,650,000 tokens and sends nothing; 131,000 were measured."""
    session = Gemini("gemini-3-pro-preview").prompt().until(131_000)
    for _ in range(2):
        text = "Sending this message (9 tokens) might exceed the context window limit (-31,601,307 tokens left)."
        session.prompt(9)
        session.add("info", content=f"{text} Please try reducing the size of your message or use the /compress command")
    return session.weighed()


def gemini_doubled() -> Weighed:
    """905,405 tokens compressed to more than they were; then 1,624,359 are refused."""
    session = Gemini("gemini-2.5-flash").prompt().until(870_000, 40_000)
    session.turn(905_405 - session.context - 60)
    session.compress(1_624_000)
    session.prompt(50)
    text = "The input token count (1624359) exceeds the maximum number of tokens allowed (1048576)."
    return session.refuse(f"[API Error: {text}]").weighed()


def gemini_other_limit() -> Weighed:
    """337,807 are refused by a model that takes 65,536."""
    session = Gemini("gemini-2.5-pro").prompt().until(337_000)
    text = "The input token count (337807) exceeds the maximum number of tokens allowed (65536)."
    return session.refuse(f'[API Error: [{{"error": {{"code": 400, "message": "{text}"}}}}]]').weighed()


def cline_small() -> Weighed:
    """24,000 tokens, one file of 18,000, and a limit of 40,000."""
    task = ClineTask(9_000).until(24_000, 2_500)
    task.say("api_req_started", json.dumps({"request": words(42_328 - task.context)}))
    text = "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000"
    task.say("api_req_failed", f"400 {text}", kind="ask")
    return task.weighed()


def roo_cut_by_server() -> Weighed:
    """The server keeps 24,576 tokens of what is sent: so many are reported, whatever is sent."""
    task = ClineTask(9_000).until(24_000, 2_500)
    for _ in range(12):
        task.context = 24_576
        task.turn(2_500)
    return task.weighed()


def qwen_session_limit() -> Weighed:
    """Its own limit of 256,000 passed by 308,113; the command fails for a reason of its own."""
    session = Qwen(1_000_000).prompt().until(300_000)
    session.refuse("Session token limit exceeded: 308,113 tokens > 256,000 limit.")
    session.prompt(1)
    session.refuse("Failed to compress chat history: Cannot add a user turn after another user turn.")
    return session.weighed()


def copilot_body(*, command: bool) -> Weighed:
    """5 MB of a body by reasoning that cannot be read; the command meets it as well."""
    session = Copilot("gpt-5.6-sol").prompt()
    for _ in range(110):
        session.turn(1_600)
        session.lines[-2]["data"]["reasoningOpaque"] = "QUJDREVG" * 4_600
    session.event("session.error", {"errorType": "query", "message": f"Execution failed: Error: {CAPI}"})
    if command:
        session.compact(error=CAPI)
    return session.weighed()


def crush_one_result() -> Weighed:
    """30,000 tokens, one result of 382,000, and a server of 131,072."""
    text = "request (412533 tokens) exceeds the available context size (131072 tokens), try increasing it"
    return crush([2_500] * 11 + [382_000], ("Bad Request", text), "qwen3-coder-next")


def zed_command() -> Weighed:
    """306,234 of 272,000: neither a prompt nor a compaction goes through."""
    session = Acp(272_000).until(269_000)
    session.turn(37_000)
    text = (
        "completion request failed, message: Context window exceeded: 306234 tokens exceeds the limit of 272000 tokens"
    )
    return session.refuse(text).compact_fails(f"Manual compaction failed: {text}").weighed()


def pi_ollama() -> Weighed:
    """Refused by 100,918 tokens over a window that the file does not name, after one large result."""
    session = o.pi("minimax-m2.5:cloud")
    session.until(176_000)
    session.turn(130_000)
    session.refuse("400 `prompt too long; exceeded max context length by 100918 tokens`")
    return session.weighed()


def pi_fails_unseen() -> Weighed:
    """Compactions fail and leave no entry: 560,000 to 590,000 of 1,000,000."""
    session = o.pi("claude-opus-4-7")
    session.until(560_000, 14_000)
    for _ in range(6):
        session.prompt()
        session.turn(4_500)
    return session.weighed()


def pi_early() -> Weighed:
    """190,054 of 262,144: it stops after a tool's result, and the next message compacts first."""
    session = o.pi("kimi-k2.7-code")
    session.until(186_000)
    session.turn(190_054 - session.context - 112)
    session.compact(190_054)
    session.prompt()
    session.turn(300)
    return session.weighed()


def pi_recovered() -> Weighed:
    """A long run on a server of 32,768: refused, compacted, sent again."""
    session = o.pi("Qwen3.6-27B")
    session.until(31_000, 1_500)
    session.turn(2_900)
    session.refuse("400 request (34112 tokens) exceeds the available context size (32768 tokens), try increasing it")
    session.compact(session.context)
    session.turn(300)
    return session.weighed()


def atomic_too_little() -> Weighed:
    """At 103% a compaction that frees 36.6% is thrown away."""
    session = o.pi("gpt-5.5")
    session.until(272_000)
    session.turn(6_000)
    session.refuse(
        "Context overflow recovery failed: Context compaction did not meet the strict 40% reduction requirement; "
        "attempt reached 36.6% with 120 validated deletion target(s)"
    )
    return session.weighed()


def openclaw_impossible() -> Weighed:
    """514,000 and 620,000 tokens of input on a window of 262,144, where 200,000 were said."""
    session = o.pi("kimi-for-coding")
    session.until(196_000, 6_000)
    session.turn(800, cacheRead=514_000)
    session.prompt()
    session.turn(800, cacheRead=620_000)
    return session.weighed()


FOURTH = {
    "claude-code 64773, 60% set, 72% reached": Report(share_not_met, NONE, (), group=UNTOLD),
    "claude-code 52390, up to the limit, then by hand": Report(limit_and_command, ERROR, ("off_or_not_started",)),
    "claude-code 91385, a large paste": Report(large_paste, ERROR, ("one_message_overflowed",)),
    "claude-code 19822, 102 pictures, and no compaction either": Report(
        too_much_media, ERROR, ("compaction_failed",), True
    ),
    "claude-code 53560, a picture of too many pixels": Report(too_many_pixels, ERROR, ("media_limit",), True),
    "claude-code 820, to be compacted after one message": Report(
        one_message_compact, ERROR, ("summary_request_too_long", "one_message_overflowed"), True, figures=(210_118,)
    ),
    "copilot-api 210, a limit of 72,000 that the client does not know": Report(
        lambda: c.refused(70_500, 'API Error: 400 {"error":{"message":"prompt token count of 74490 exceeds the limit '
        'of 72000","code":"model_max_prompt_tokens_exceeded"}}', model="claude-sonnet-4-5", last=3_600), ERROR,
        ("wrong_window", "fallback_window"), True, figures=(72_000,),
    ),
    "codex 10365, off, and yet with 40% left": Report(
        codex_off, COMPACTION, ("cannot_tell", "wrong_window"), group=UNTOLD
    ),
    "codex 40095, at 95% of what can be used": Report(codex_usual, COMPACTION, ("threshold_reached",), True),
    "opencode 17557, 50,241 became 51,405": Report(
        opencode_command_adds, COMPACTION, ("summary_as_large",), True, figures=(51_405,)
    ),
    "opencode 1212, 184,714 and a reply of 32,000": Report(
        lambda: o.opencode_refused("input length and `max_tokens` exceed context limit: 184714 + 32000 > 200000, "
        "decrease input length or `max_tokens` and try again"), ERROR, ("output_reserve",), True, figures=(184_714,),
    ),
    "kilocode 9404, 32,000 for the summary's reply": Report(
        lambda: o.opencode_summary_ends("ContextOverflowError", "litellm.ContextWindowExceededError: This model's "
        "maximum context length is 131072 tokens. However, you requested 32000 output tokens and your prompt contains "
        "at least 99073 input tokens, for a total of at least 131073 tokens.", 98_000, "qwen3.5-27b"), ERROR,
        ("output_reserve", "summary_request_too_long"), True, figures=(99_073,),
    ),
    "kilocode 9763, given up after three attempts": Report(
        lambda: o.opencode_summary_ends("ContextOverflowError", "Compaction exhausted: context still exceeds model "
        "limits after 3 attempts", 196_000, "claude-opus-4-5"), ERROR,
        ("summary_request_too_long", "compaction_failed"), True,
    ),
    "gemini-cli 26188, 32,650,000 by its own count": Report(
        gemini_impossible, ERROR, ("request_failed",), True
    ),
    "gemini-cli 4442, larger after it, and refused": Report(
        gemini_doubled, ERROR, ("summary_as_large", "retained_through_compaction"), True, figures=(1_624_359,)
    ),
    "gemini-cli 12069, a limit of 65,536": Report(
        gemini_other_limit, ERROR, ("wrong_window", "fallback_window"), True, figures=(65_536,)
    ),
    "cline 5140, one file on a limit of 40,000": Report(
        cline_small, ERROR, ("one_message_overflowed", "wrong_window", "fallback_window"), True, figures=(42_328,)
    ),
    "cline 13194, 262,897 of 262,144": Report(
        lambda: o.cline_refused(258_000, '{"message":"400 Provider returned error","details":{"raw":"This model\'s '
        'maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens."}}', last=4_700),
        ERROR, ("off_or_not_started", "cannot_tell"), group=UNTOLD, figures=(262_897,),
    ),
    "roo 4721, cut by the server": Report(roo_cut_by_server, MISSING, ("prompt_cut_by_server",)),
    "qwen-code 732, a limit of the session, and no compression": Report(
        qwen_session_limit, ERROR, ("compaction_failed", "request_failed"), True
    ),
    "copilot-cli 4183, 5 MB": Report(lambda: copilot_body(command=False), ERROR, ("body_size_limit",), True),
    "copilot-cli 4424, 5 MB, and no compaction either": Report(
        lambda: copilot_body(command=True), ERROR, ("body_size_limit", "compaction_failed"), True
    ),
    "vscode 293191, 210,194 tokens": Report(
        lambda: vscode([4_000] * 50, error='Request Failed: 400 {"type":"error","error":{"type":'
        '"invalid_request_error","message":"prompt is too long: 210194 tokens > 200000 maximum"}}'), ERROR,
        ("cannot_tell", "off_or_not_started"), group=UNTOLD, figures=(210_194,),
    ),
    "vscode 289182, summarised at 18%": Report(
        lambda: vscode([1_800] * 12, summary_after=9), COMPACTION, ("cannot_tell",), group=UNTOLD
    ),
    "goose 11318, a local server without a figure of the window": Report(
        lambda: goose_error(30, "Ran into this error: Request failed: Bad request (400): The number of tokens to keep "
        "from the initial prompt is greater than the context length. Try to load the model with a larger context "
        "length.\n\nPlease retry.", "qwen3.6-35b-a3b"), ERROR,
        ("cannot_tell", "wrong_window", "fallback_window"), group=UNTOLD,
    ),
    "openhands 10873, nothing forgotten, over and over": Report(
        lambda: openhands([[]] * 6), NONE, ("compaction_failed", "summary_as_large", "cannot_tell"), True
    ),
    "openhands 8630, one condensation after the other": Report(
        lambda: openhands([[3, 4], [5, 6], [7, 8], [9]], asked=False), COMPACTION,
        ("cannot_tell", "usage_stale_after_compaction"), group=UNTOLD,
    ),
    "crush 3733, one result of 382,000": Report(
        crush_one_result, ERROR, ("one_message_overflowed",), True, figures=(412_533,)
    ),
    "letta 3242, its estimate and what was used": Report(
        lambda: letta([(30_617, 32_738), (31_513, 37_102), (30_544, 35_815)], 30_000, 16_000), COMPACTION,
        ("own_reason", "unsent_text_counted", "cannot_tell", "threshold_reached"), sure=True,
    ),
    "langchain 34664, tools and prompt not counted": Report(
        lambda: langsmith([88_000 + 6_900 * n for n in range(16)], "BadRequestError(\"Error code: 400 - {'type': "
        "'error', 'error': {'type': 'invalid_request_error', 'message': 'prompt is too long: 203411 tokens > 200000 "
        "maximum'}}\")"), ERROR, ("cannot_tell", "off_or_not_started", "overhead_near_threshold"), group=UNTOLD,
        figures=(203_411,),
    ),
    "hermes 53008, 245 messages became 243": Report(
        lambda: hermes((245, 245, 247), 830, "deepseek-v4-pro"), COMPACTION,
        ("summary_as_large", "retained_through_compaction"),
    ),
    "aider 2818, refused at 60,895 of 128,000": Report(
        lambda: aider(["31k", "44k", "59k"], "deepseek/deepseek-coder", ["Model deepseek/deepseek-coder has hit a "
        "token limit!", "Token counts below are approximate.", "", "Input tokens: ~60,895 of 128,000",
        "Output tokens: ~0 of 4,096", "Total tokens: ~60,895 of 128,000"]), NONE, ("cannot_tell", "wrong_window"),
        group=UNTOLD,
    ),
    "aider 705, the limit of a reply": Report(
        lambda: aider(["4.1k", "4.9k"], "claude-3-5-sonnet-20240620", ["Model claude-3-5-sonnet-20240620 has hit a "
        "token limit!", "Input tokens: 4902 of 200000", "Output tokens: 3220 of 4096 -- possibly exceeded output "
        "limit!", "Total tokens: 8122 of 200000"]), ERROR, ("request_failed",), True,
    ),
    "aider 2700, 94,260 and 8,192 of 65,536, and no summary": Report(
        lambda: aider(["41k", "52k", "61k"], "deepseek/deepseek-coder", ["litellm.BadRequestError: litellm."
        "ContextWindowExceededError: This model's maximum context length is 65536 tokens. However, you requested "
        "102452 tokens (94260 in the messages, 8192 in the completion).",
        "summarizer unexpectedly failed for all models"]),
        ERROR, ("summary_request_too_long", "wrong_window", "fallback_window", "compaction_failed", "cannot_tell"),
        True,
    ),
    "kimi-code 794, the whole window for the summary's reply": Report(
        lambda: kimi("APIContextOverflowError: 400 This endpoint's maximum context length is 1048756 tokens. However, "
        "you requested about 1087438 tokens (4999 of text input, 33863 of tool input, 1048576 in the output).", 2),
        ERROR, ("output_reserve",), True, figures=(38_862,),
    ),
    "zed 62362, 306,234 of 272,000, and no compaction": Report(
        zed_command, ERROR, ("summary_request_too_long", "one_message_overflowed"), True, figures=(306_234,)
    ),
    "pi 2626, 100,918 over a window that is not told": Report(
        pi_ollama, ERROR, ("one_message_overflowed", "cannot_tell"), group=UNTOLD
    ),
    "pi 4390, compactions that leave nothing behind": Report(pi_fails_unseen, NONE, (), group=UNTOLD),
    "pi 7678, 72% of the window": Report(
        pi_early, COMPACTION, ("cannot_tell", "wrong_window", "output_reserve"), group=UNTOLD
    ),
    "pi 3609, a long run on a small server": Report(pi_recovered, COMPACTION, ("after_refusal",), True),
    "atomic 1575, too little freed": Report(atomic_too_little, ERROR, ("compaction_failed",), True),
    "openclaw 15038, twice the window": Report(
        openclaw_impossible, NONE, ("usage_double_counted", "cannot_tell", "off_or_not_started"), group=UNTOLD
    ),
    "Claude Code, an error in a page that it read": Report(quoted, NONE, (), group=CONTROL),
    "Codex, a lost connection": Report(codex_network, NONE, (), group=CONTROL),
    "Kimi Code, a quarter": Report(kimi_quiet, NONE, (), group=CONTROL),
    "ACP, 60%": Report(lambda: Acp(200_000).until(120_000).weighed(), NONE, (), group=CONTROL),
    "VS Code, a short chat": Report(lambda: vscode([900] * 8), NONE, (), group=CONTROL),
    "aider, 30,000 tokens": Report(lambda: aider(["22k", "26k"], "gpt-4o", ["Applied edit"]), NONE, (), group=CONTROL),
}  # fmt: skip
