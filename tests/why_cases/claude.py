"""The Claude Code sessions behind the reports, by the figures that the reports give."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import Claude, compacted, png

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed

TOO_LONG = "API Error: 400 prompt is too long: {} tokens > {} maximum"
SHOT = (1_336_000, 1_254, 1_521)
"""Base64 characters, side in pixels, tokens: 334,000 tokens by characters ÷ 4 (claude-code 49552)."""
NO_SUMMARY = "Error during compaction: Error: Conversation too long. Press esc twice to go up a few messages."


def claude(model: str = "claude-opus-4-5", overhead: int = 15_000, version: str = "2.1.150") -> Claude:
    """A Claude Code session with its first prompt."""
    session = Claude(model, overhead)
    session.version = version
    session.prompt()
    return session


def claude_at(
    context: int, model: str = "claude-opus-4-5", *, pre: int | None = None, version: str = "2.1.150",
    overhead: int = 15_000,
) -> Weighed:  # fmt: skip
    """Compacted by itself just over ``context``; the recorder's figure is ``pre``."""
    session = claude(model, overhead, version)
    session.until(context - 500)
    session.reply(call="last")
    session.result("last", max(1, context + 1 - session.context))
    return compacted(session, pre=pre).weighed()


def advised(real: int, model: str) -> Weighed:
    """A request that asked an advisor: its usage adds up both of its own iterations, and the next check compacts."""
    session = claude(model)
    session.until(real, 20_000 if real > 200_000 else 2_000)
    n = session.context
    one = {"input_tokens": 2, "cache_read_input_tokens": n - 1_700, "cache_creation_input_tokens": 1_000}
    two = {"input_tokens": 2, "cache_read_input_tokens": n - 702, "cache_creation_input_tokens": 700}
    steps = [
        {"type": "message", "output_tokens": 60, **one},
        {"type": "advisor_message", "input_tokens": n + 4_000, "cache_read_input_tokens": 0, "output_tokens": 400},
        {"type": "message", "output_tokens": 90, **two},
    ]
    total: dict[str, Any] = {key: one[key] + two[key] for key in one}
    session.reply(output=150, iterations=steps, **total)
    pre = sum(total.values()) + 150
    session.prompt(40)
    return compacted(session, pre=pre).weighed()


def thrashing(n: int, results: int, tokens: int) -> Weighed:
    """Compacted at the threshold, then ``n`` times again after so many large results."""
    session = claude()
    session.until(167_001)
    session.reply(call="last")
    session.result("last", 3_000)
    session.compact()
    for _ in range(n):
        for k in range(results):
            call = f"big{session.n}"
            session.reply(call=call)
            size = tokens if k < results - 1 else max(200, 167_400 - session.context)
            session.result(call, size)
        session.compact()
    return session.turns(2, 400).weighed()


def read_overflows() -> Weighed:
    """91,760 tokens, then one Read of 372,000, and the compaction fails as well."""
    session = claude("claude-opus-4-6")
    session.until(91_700, 2_000)
    session.reply(call="big")
    session.result("big", 372_000)
    session.refuse(NO_SUMMARY)
    return session.weighed()


def linked_image() -> Weighed:
    """A resource read as base64 text: 420,000 characters that the provider counts as text."""
    session = claude("claude-sonnet-4-5")
    session.until(60_000, 2_000)
    session.reply(call="res")
    text = base64.b64encode(bytes((7 * k * k + 13 * k) % 251 for k in range(315_000))).decode()
    block = {"type": "tool_result", "tool_use_id": "res", "content": [{"type": "text", "text": text}]}
    session.emit("user", message={"role": "user", "content": [block]})
    session.refuse(TOO_LONG.format(371_204, 200_000))
    return session.weighed()


def overhead_spiral() -> Weighed:
    """173,000 of 200,000 tokens are there before the first word, and six compactions follow each other."""
    session = claude(overhead=160_000)
    for _ in range(6):
        session.turns(2, 3_300)
        session.compact(summary=1_000)
    return session.turns(2, 300).weighed()


def passes_by(n: int, context: int, *, model: str = "claude-opus-4-7", end: str = "", hand: bool = False) -> Weighed:
    """So many requests over the threshold with nothing coming of it, then nothing, a refusal, or a manual one."""
    session = claude(model)
    session.until(167_200, 2_000)
    each = max(200, (context - 167_200) // n - 112)
    session.turns(n, each)
    if end:
        session.refuse(end)
    if hand:
        session.prompt()
        session.compact("manual")
        session.turns(3, 400)
    return session.weighed()


def refused(context: int, text: str, *, model: str = "claude-sonnet-4-5", last: int = 0) -> Weighed:
    """Refused right after ``context``, with a last result of so many tokens."""
    session = claude(model)
    session.until(context)
    if last:
        session.reply(call="big")
        session.result("big", last)
    session.refuse(text)
    return session.weighed()


def resumed_over() -> Weighed:
    """A session taken up two days later at 176,000 tokens: every prompt is refused, nothing compacts."""
    session = claude()
    session.until(166_500, 2_000)
    session.reply(call="last")
    session.result("last", 9_500)
    session.day = "2026-10-03"
    for _ in range(2):
        session.prompt(900)
        session.refuse("Prompt is too long")
    return session.weighed()


def resumed_long() -> Weighed:
    """A resumed session of a long window at 500,000 of 1,000,000: nothing is due yet."""
    session = claude("claude-opus-4-6")
    session.context = 210_000
    session.until(500_000, 12_000)
    return session.weighed()


def compacted_nothing() -> Weighed:
    """An automatic boundary at 410,589 of 1,000,000 after which the context is what it was."""
    session = claude("claude-opus-4-6")
    session.until(410_500, 10_000)
    before = session.context
    session.compact()
    session.context = before + 460
    return session.turns(4, 400).weighed()


def at_one_figure(figure: int, n: int, model: str, spread: int) -> Weighed:
    """``n`` automatic compactions within ``spread`` tokens of one figure."""
    session = claude(model)
    for k in range(n):
        session.until(figure - 3_500)
        session.reply(call=f"last{k}")
        session.result(f"last{k}", max(1, figure + (k * spread) // max(1, n - 1) - session.context - 12))
        session.compact()
    return session.turns(3, 400).weighed()


def pasted(*refusals: str, pre: int | None = None) -> Weighed:
    """A screenshot pasted at 17,600 tokens, then refused or compacted."""
    session = claude()
    session.until(17_600, 500)
    session.reply()
    source = {"type": "base64", "media_type": "image/png", "data": png(SHOT[0], SHOT[1])}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    session.emit("user", message={"role": "user", "content": content})
    session.context += SHOT[2]
    for text in refusals:
        session.refuse(text)
    return (compacted(session, pre=pre) if pre else session).weighed()


def screenshots(n: int) -> Weighed:
    """A browser session with so many screenshots and nothing wrong."""
    session = claude()
    for k in range(n):
        session.reply(call=f"p{k}")
        session.result(f"p{k}", 900, image=(90_000, 1_024, 1_062))
    return session.weighed()


def spiked() -> Weighed:
    """A usage of twice the context right before a compaction."""
    session = claude()
    session.until(85_000)
    true = session.context
    session.turns(1, 500, cache_read_input_tokens=2 * true)
    return compacted(session, pre=2 * true + 700).weighed()


def with_subagent() -> Weighed:
    """A subagent's compaction inside its parent's file is not the parent's."""
    session, agent = claude(), Claude("claude-haiku-4-5")
    session.until(60_000)
    agent.prompt()
    agent.until(167_050)
    compacted(agent)
    for line in map(json.loads, agent.lines):
        line["isSidechain"] = True
        for key in ("uuid", "parentUuid", "logicalParentUuid"):
            if line.get(key):
                line[key] = f"9{line[key][1:]}"
        if line.get("message", {}).get("id"):
            line["message"]["id"] += "-agent"
        session.lines.append(json.dumps(line))
    return session.turns(4, 400).weighed()


def proxied(*, refusal: str = "") -> Weighed:
    """A proxy reports 3,982 tokens at every request, whatever is sent: the cached ones are missing."""
    session = claude("glm-4.6")
    for _ in range(45):
        session.turns(1, 3_200, input_tokens=3_982, cache_read_input_tokens=0, cache_creation_input_tokens=0)
    if refusal:
        session.refuse(refusal)
    return session.weighed()
