"""Sessions as public reports describe them, for the tests of verdicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.engine.verdict_files import Claude, Codex, Opencode, Pi, compacted, png, weighed_text, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.calibration.weighed import Weighed

SHOT = (1_336_000, 1_254, 1_521)
"""Base64 characters, side in pixels, tokens: 334,000 tokens by characters ÷ 4 (claude-code 49552)."""
TOO_LONG = "API Error: 400 prompt is too long: {} tokens > 200000 maximum"


def claude(context: int, model: str = "claude-opus-4-5", *, overhead: int = 15_000, pre: int | None = None) -> Weighed:
    """Compacted by itself just over ``context``."""
    session = Claude(model, overhead)
    session.prompt()
    session.until(context - 500)
    session.reply(call="last")
    session.result("last", max(1, context + 1 - session.context))
    return compacted(session, pre=pre).weighed()


def shown_long_then(context: int) -> Weighed:
    session = Claude("claude-opus-4-6")
    session.prompt()
    session.until(340_000)
    session.compact("manual")
    session.until(context)
    return compacted(session).weighed()


def pasted(*refusals: str, pre: int | None = None) -> Weighed:
    """A screenshot pasted at 17,600 tokens, then refused or compacted."""
    session = Claude()
    session.prompt()
    session.until(17_600, 500)
    session.reply()
    source = {"type": "base64", "media_type": "image/png", "data": png(SHOT[0], SHOT[1])}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    session.emit("user", message={"role": "user", "content": content})
    session.context += SHOT[2]
    for text in refusals:
        session.refuse(text)
    return (compacted(session, pre=pre) if pre else session).weighed()


def many_shots(refusal: str) -> Weighed:
    """pi with 30 screenshots of 1.1 MB."""
    session = Pi()
    session.prompt()
    for _ in range(30):
        session.turn(300, image=(1_100_000, 1_254, 1_521))
    session.refuse(refusal)
    session.prompt()
    session.turn(100)
    return session.weighed()


def refused_at(context: int, text: str, last: int = 0) -> Weighed:
    session = Claude("claude-sonnet-4-5")
    session.prompt()
    session.until(context)
    if last:
        session.reply(call="big")
        session.result("big", last)
    session.refuse(text)
    return session.weighed()


def codex_switches() -> Weighed:
    """150,000 tokens on a window of 272,000, then a model of 128,000, whose limit is 115,200."""
    session = Codex(258_400, "gpt-5.3-codex")
    session.prompt()
    session.until(150_000)
    session.line("turn_context", {"turn_id": "2", "model": "gpt-5.3-codex-spark"})
    session.prompt()
    session.compact()
    session.window = 121_600
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_switches_refused() -> Weighed:
    """No compaction is missing before the change: the larger window held 240,000."""
    session = Codex(258_400, "gpt-5.3-codex")
    session.prompt()
    session.until(240_000)
    session.line("turn_context", {"turn_id": "2", "model": "gpt-5.3-codex-spark"})
    session.refuse("Codex ran out of room in the model's context window.")
    session.window, session.context = 121_600, 30_000
    session.turn(300)
    return session.weighed()


def claude_switches(refusal: str = "") -> Weighed:
    session = Claude("claude-sonnet-4-5")
    session.prompt()
    session.until(400_000)
    session.model = "claude-opus-4-5"
    session.prompt()
    if refusal:
        session.refuse(refusal)
        return session.turns(3, 500).weighed()
    return compacted(session).weighed()


def opencode_switches() -> Weighed:
    session = Opencode("gpt-5.4")
    session.prompt()
    session.until(400_000)
    session.compact()
    session.model = "claude-sonnet-4-5"
    return session.turn(300).turn(300).weighed()


def opencode_caches_twice() -> Weighed:
    session = Opencode("gpt-5.1-codex")
    session.prompt()
    while session.context < 184_000:
        session.turn(3_000, whole=session.context, cached=session.context - 768)
    session.compact()
    return session.turn(300, whole=session.context, cached=0).weighed()


def opencode_impossible() -> Weighed:
    """3,500,000 tokens reported on a window of 272,000, right after 61,198."""
    session = Opencode("gpt-5.2")
    session.prompt()
    session.until(61_000)
    session.turn(300, whole=3_500_000, cached=0)
    session.compact()
    return session.turn(300).turn(300).weighed()


def opencode_twice(n_between: int) -> Weighed:
    session = Opencode("gpt-5.2")
    session.prompt()
    session.until(255_000)
    session.compact(summary=60_000)
    for _ in range(n_between):
        session.turn(300)
    session.compact(summary=3_000)
    return session.turn(300).turn(300).weighed()


def pi_again() -> Weighed:
    """Compacted again at the first prompt, with the usage from before."""
    session = Pi()
    session.prompt()
    session.until(184_000)
    before = session.context
    session.compact(before)
    session.prompt(30)
    session.compact(before + 30)
    session.turn(300)
    return session.weighed()


def pi_late() -> Weighed:
    """pi asks at the end of a run only: 36 requests over 255,616."""
    session = Pi("gpt-5.2")
    session.prompt()
    session.until(297_000, 1_000)
    used = {"input": 10, "output": 20, "cacheRead": session.context - 10, "cacheWrite": 0}
    content = [{"type": "text", "text": "done"}]
    message = {"role": "assistant", "content": content, "model": "gpt-5.2", "stopReason": "stop", "usage": used}
    session.entry("message", message=message)
    session.compact(session.context + 20)
    session.prompt()
    session.turn(300)
    return session.weighed()


def pi_within_a_run(*, prompts: bool = False) -> Weighed:
    """Twelve requests over pi's limit within one run, or with a prompt between."""
    session = Pi()
    session.prompt()
    session.until(184_000, 800)
    for n in range(12):
        session.turn(800)
        if prompts and n == 6:
            session.prompt()
    return session.weighed()


def often_at(context: int) -> Weighed:
    """Claude Code lets its threshold pass by seven requests, again and again: it is not that one."""
    session = Claude("claude-opus-4-7")
    session.prompt()
    for _ in range(3):
        session.until(context)
        session.compact("auto")
    return session.turns(3, 500).weighed()


def by_hand() -> Weighed:
    session = Claude("claude-fable-5[1m]")
    session.prompt()
    session.until(219_313)
    return compacted(session, "manual").weighed()


def without_usage() -> Weighed:
    session = Claude()
    session.prompt()
    none = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    for k in range(40):
        session.reply(call=f"c{k}", output=0, **none)
        session.result(f"c{k}", 3_000)
    return compacted(session, pre=167_500).weighed()


def goose_again() -> Weighed:
    """No usage of calls, no trigger, and a threshold that people set: a compaction at 39 %, and one right after it."""
    messages: list[dict[str, object]] = []

    def say(role: str, tokens: int, *, user: bool = True, agent: bool = False) -> None:
        content = [{"type": "text", "text": words(tokens)}]
        flags = {"userVisible": user, "agentVisible": agent}
        number = len(messages)
        facts = {"id": f"m{number}", "role": role, "created": 1_772_359_200 + number}
        messages.append({**facts, "content": content, "metadata": flags})

    for _ in range(12):
        say("user", 4_000)
        say("assistant", 1_500)
    say("user", 400, user=False)
    say("user", 50)
    say("assistant", 100)
    say("user", 400, user=False, agent=True)
    say("user", 50, agent=True)
    say("assistant", 100, agent=True)
    facts = {"id": "g1", "working_dir": "/w", "message_count": len(messages), "total_tokens": 69_847}
    model = {"model_config": {"model_name": "claude-sonnet-4-5"}}
    return weighed_text(json.dumps({**facts, **model, "conversation": messages}))


def cline_chunks() -> Weighed:
    """The input of every chunk of a stream added up: a hundred times the context, from the first request on."""
    lines: list[dict[str, object]] = [{"ts": 1, "type": "say", "say": "task", "text": words(60)}]
    for n in range(6):
        request = {"request": "x", "tokensIn": 100 * (14_000 + 3_000 * n), "tokensOut": 100, "cacheReads": 0}
        lines.append({"ts": 10 * n + 2, "type": "say", "say": "api_req_started", "text": json.dumps(request)})
        lines.append({"ts": 10 * n + 3, "type": "say", "say": "text", "text": words(70)})
        lines.append({"ts": 10 * n + 4, "type": "ask", "ask": "command", "text": "ls"})
        lines.append({"ts": 10 * n + 5, "type": "say", "say": "command_output", "text": words(3_000)})
    return weighed_text(json.dumps(lines))


def resumed(*, goes_on: bool = True) -> Weighed:
    """150,000 tokens at the first request, of a history that the file does not hold; 30,000 after the compaction."""
    session = Claude()
    session.context = 150_000
    session.prompt()
    session.until(167_100, 2_000)
    session.reply(call="last")
    session.result("last", 167_100 - session.context)
    session.compact("auto")
    return (session.turns(4, 3_000) if goes_on else session).weighed()


def pi_wrote(figure: Callable[[Pi], int]) -> Weighed:
    """Compacted at 60,000 tokens with a figure of the recorder's own."""
    session = Pi()
    session.prompt()
    session.until(60_000, 1_500)
    session.compact(figure(session))
    session.turn(300)
    return session.weighed()


def newest(session: Pi, n: int) -> int:
    """The usage of the newest requests added up."""
    read = [json.loads(line).get("message", {}).get("usage") for line in session.lines]
    return sum(used["input"] + used["cacheRead"] + used["output"] for used in [u for u in read if u][-n:])


def shots_all_along(*, spike: bool) -> Weighed:
    """Ten screenshots, then a usage, or a recorder's figure, of twice the context."""
    session = Claude()
    session.prompt()
    for k in range(10):
        session.reply(call=f"p{k}")
        session.result(f"p{k}", 500, image=(60_000, 1_024, 1_062))
        session.turns(2, 3_500)
    true = session.context
    if spike:
        session.turns(1, 500, cache_read_input_tokens=2 * true)
    return compacted(session, pre=2 * true + (700 if spike else 0)).weighed()


def billed_as_text(refusal: str = "") -> Weighed:
    """A gateway that bills base64 at 1.97 characters a token."""
    session = Claude()
    session.prompt()
    session.until(40_000)
    for k in range(3):
        session.reply(call=f"p{k}")
        session.result(f"p{k}", 50, image=(100_000, 1_254, 50_761))
        session.turns(1, 200)
    if refusal:
        session.refuse(refusal)
        return session.weighed()
    return compacted(session).weighed()


def codex_keeps_images() -> Weighed:
    """46 images kept through a compaction: 210,078 of a limit of 244,800 stand right after it."""
    session = Codex()
    session.prompt()
    for _ in range(46):
        session.prompt(20, image=(300_000, 1_254, 4_200))
        session.turn(200)
    for _ in range(2):
        session.until(246_000, 3_000)
        session.compact()
        session.context = 210_078
        session.turn(300)
    session.turn(300)
    return session.weighed()


def asked_for_the_whole_window() -> Weighed:
    session = Pi("gpt-4.1")
    session.prompt()
    session.turn(1_000)
    text = "maximum context length is 131072 tokens. However, you requested about 138956 tokens"
    session.refuse(f"400 This endpoint's {text} (7884 of text input, 131072 in the output).")
    session.prompt()
    session.turn(200)
    return session.weighed()
