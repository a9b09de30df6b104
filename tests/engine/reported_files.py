"""Sessions of the tests of verdicts beside those of ``tests.why_cases``: variants and near misses of public reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.engine.verdict_files import Claude, Codex, Opencode, Pi, compacted

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def shown_long_then(context: int) -> Weighed:
    session = Claude("claude-opus-4-6")
    session.prompt()
    session.until(340_000)
    session.compact("manual")
    session.until(context)
    return compacted(session).weighed()


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


def opencode_impossible() -> Weighed:
    """3,500,000 tokens reported on a window of 272,000, right after 61,198."""
    session = Opencode("gpt-5.2")
    session.prompt()
    session.until(61_000)
    session.turn(300, whole=3_500_000, cached=0)
    session.compact()
    return session.turn(300).turn(300).weighed()


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
