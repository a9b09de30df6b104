"""The sessions of other agents behind the reports, by the figures that the reports give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.engine.verdict_files import Codex, Opencode, Pi, weighed_text, words
from tests.why_cases.agents import ClineTask, Copilot, Gemini, Qwen

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.weigh.calibration.weighed import Weighed

NO_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
REMOTE = "Error running remote compact task: Your input exceeds the context window of this model."


def codex(window: int = 258_400, model: str = "gpt-5.2", overhead: int = 12_000) -> Codex:
    """A Codex rollout with its first prompt."""
    session = Codex(window, model, overhead)
    session.prompt()
    return session


def codex_at(context: int, *, before: int = 0, tokens: int = 4_000) -> Weighed:
    """Compacted over ``context``, by hand or by itself: the rollout does not say."""
    session = codex()
    session.until(before or context, tokens)
    if context > session.context:
        session.turn(context - session.context)
    session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_reasoning(context: int, n_chars: int, *, n: int = 40) -> Weighed:
    """Encrypted reasoning of earlier turns stands in the history; the usage counts it already."""
    session = codex()
    for k in range(n):
        item = {"type": "reasoning", "summary": [], "encrypted_content": "QUJDREVG" * (n_chars // 8)}
        session.line("response_item", item)
        session.live.append(item)
        session.turn(max(400, (context - 12_200) // n - 80))
        if k == n - 2:
            session.prompt(40)
    session.prompt(60)
    session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_remote_fails() -> Weighed:
    """The context is full, and the call that was to compact it does not fit either, four times."""
    session = codex()
    session.until(240_000)
    session.turn(17_000)
    for _ in range(4):
        session.refuse(REMOTE)
    return session.weighed()


def codex_grew() -> Weighed:
    """244,138 tokens before a compaction, 258,000 after it."""
    session = codex()
    session.until(240_000)
    session.turn(4_000)
    session.compact()
    session.context = 258_000
    for _ in range(2):
        session.turn(100)
    return session.weighed()


def codex_leaves_much() -> Weighed:
    """Each compaction leaves 200,000 of a limit of 244,800 standing."""
    session = codex()
    for _ in range(3):
        session.until(241_000)
        session.turn(4_500)
        session.compact()
        session.context = 200_000
        session.turn(300)
    return session.turn(300) or session.weighed()


def codex_twice() -> Weighed:
    """Compacted by hand, and again before the next prompt was answered."""
    session = codex()
    session.until(150_000)
    session.compact()
    session.prompt()
    session.compact()
    session.turn(300)
    return session.weighed()


def codex_cycles(n: int) -> Weighed:
    """Honest work: the limit is reached every 50 requests."""
    session = codex()
    for _ in range(n):
        session.until(243_000, 4_500)
        session.turn(max(300, 245_100 - session.context))
        session.compact()
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_smaller() -> Weighed:
    """150,000 tokens on a window of 272,000, then a model of 128,000."""
    session = codex(model="gpt-5.3-codex")
    session.until(150_000)
    session.line("turn_context", {"turn_id": "2", "model": "gpt-5.3-codex-spark"})
    session.prompt()
    session.compact()
    session.window = 121_600
    for _ in range(3):
        session.turn(300)
    return session.weighed()


def codex_stuck() -> Weighed:
    """Just under the limit, one more result, and no room."""
    session = codex(model="gpt-5.2-codex")
    session.until(242_000)
    session.turn(9_000)
    session.refuse("Codex ran out of room in the model's context window. Start a new thread.")
    return session.weighed()


def pi(model: str = "claude-opus-4-5") -> Pi:
    """A pi session with its first prompt."""
    session = Pi(model)
    session.prompt()
    return session


def pi_at(before: int, model: str = "claude-opus-4-5", said: int | None = None) -> Weighed:
    """Compacted at ``before``; ``said`` is the recorder's figure."""
    session = pi(model)
    session.until(before - 4_200)
    session.turn(max(1, before - session.context - 112))
    session.compact(session.context if said is None else said)
    session.turn(300)
    return session.weighed()


def pi_again(*, hand: bool = False) -> Weighed:
    """Compacted again at the first prompt, with the usage from before."""
    session = pi()
    session.until(184_000 if not hand else 178_000)
    before = session.context
    session.compact(before)
    session.prompt(30)
    session.compact(before + 30)
    session.turn(300)
    return session.weighed()


def pi_silent(n: int, end: str = "") -> Weighed:
    """No usage at all: the trigger that reads it never fires."""
    session = pi("local-model")
    for _ in range(n):
        session.turn(4_000, output=100, input=0, cacheRead=0, cacheWrite=0)
        used = json.loads(session.lines[-2])
        used["message"]["usage"] = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
        session.lines[-2] = json.dumps(used)
    if end:
        session.refuse(end)
        session.prompt()
    return session.weighed()


def pi_long_run(n: int, *, prompt_after: int | None = None) -> Weighed:
    """So many requests over the limit within one run that has not ended, or with a prompt after some of them."""
    session = pi()
    session.until(184_000, 800)
    for k in range(n):
        session.turn(600)
        if k == prompt_after:
            session.prompt()
    return session.weighed()


def pi_shots(text: str) -> Weighed:
    """30 screenshots of 1.1 MB."""
    session = pi()
    for _ in range(30):
        session.turn(300, image=(1_100_000, 1_254, 1_521))
    session.refuse(text)
    session.prompt()
    session.turn(100)
    return session.weighed()


def pi_wrote(figure: Callable[[Pi], int]) -> Weighed:
    """Compacted at 60,000 tokens with a figure of the recorder's own."""
    session = pi()
    session.until(60_000, 1_500)
    session.compact(figure(session))
    session.turn(300)
    return session.weighed()


def pi_summed(n: int = 6) -> Weighed:
    """A counter that adds up the usage of the newest requests decides."""

    def newest(session: Pi) -> int:
        read = [json.loads(line).get("message", {}).get("usage") for line in session.lines]
        return sum(used["input"] + used["cacheRead"] + used["output"] for used in [u for u in read if u][-n:])

    return pi_wrote(newest)


def pi_whole_window() -> Weighed:
    """The reply reserves the whole window."""
    session = pi("gpt-4.1")
    session.turn(1_000)
    text = "maximum context length is 131072 tokens. However, you requested about 138956 tokens"
    session.refuse(f"400 This endpoint's {text} (7884 of text input, 131072 in the output).")
    session.prompt()
    session.turn(200)
    return session.weighed()


def pi_refused_then_compacted() -> Weighed:
    """Refused with figures, compacted, and sent again."""
    session = pi("gpt-5.2")
    session.until(200_000)
    session.turn(90_000)
    session.refuse("Your input exceeds the context window of this model: 290412 tokens > 272000 maximum")
    session.compact(session.context)
    session.turn(400)
    return session.weighed()


def opencode(model: str = "claude-sonnet-4-5", overhead: int = 12_000) -> Opencode:
    """An opencode export with its first prompt."""
    session = Opencode(model, overhead)
    session.prompt()
    return session


def opencode_at(context: int, model: str, *, auto: bool = True) -> Weighed:
    """Compacted over ``context``."""
    session = opencode(model)
    session.until(context - 3_200)
    session.turn(max(1, context - session.context - 112))
    session.turn(200)
    session.compact(auto=auto)
    return session.turn(300).turn(300).weighed()


def opencode_every_step(n: int) -> Weighed:
    """A local model whose output limit is its whole window: every step is over what is left."""
    session = opencode("qwen3:4b-instruct", 6_000)
    for _ in range(n):
        session.turn(300)
        session.compact(summary=300)
    return session.turn(300).weighed()


def opencode_smaller() -> Weighed:
    """A change to a model of a smaller window."""
    session = opencode("gpt-5.4")
    session.until(400_000, 9_000)
    session.compact()
    session.model = "claude-sonnet-4-5"
    return session.turn(300).turn(300).weighed()


def opencode_caches_twice() -> Weighed:
    """The input holds the cached tokens already."""
    session = opencode("gpt-5.1-codex")
    while session.context < 184_000:
        session.turn(3_000, whole=session.context, cached=session.context - 768)
    session.compact()
    return session.turn(300, whole=session.context, cached=0).weighed()


def opencode_twice(n_between: int = 0) -> Weighed:
    """Compacted, and at once again, or after so many requests."""
    session = opencode("gpt-5.2")
    session.until(255_000)
    session.compact(summary=60_000)
    for _ in range(n_between):
        session.turn(300)
    session.compact(summary=3_000)
    return session.turn(300).turn(300).weighed()


def opencode_unknown(peak: int) -> Weighed:
    """A model whose window nobody knows, far over what is assumed."""
    session = opencode("deepseek-v4.1-flash")
    session.until(peak, 30_000)
    return session.weighed()


def opencode_pinned() -> Weighed:
    """The provider cuts: every request reports the same input."""
    session = opencode("hy3")
    session.until(190_000, 4_000)
    for _ in range(12):
        session.turn(900, whole=196_608, cached=0)
    return session.weighed()


def opencode_summary_fails() -> Weighed:
    """145,882 tokens of 128,000; the call for the summary is refused too."""
    session = opencode("gpt-4o")
    session.until(119_000, 3_000)
    session.turn(26_000)
    session.last = session.add([{"type": "compaction", "auto": True}], role="user")
    text = "Session too large to compact - context exceeds model limit even after stripping media"
    error = {"name": "ContextOverflowError", "data": {"message": text}}
    none = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    session.reply(none, [], summary=True, error=error)
    return session.weighed()


def opencode_summary_ends(name: str, text: str, until: int, model: str) -> Weighed:
    """The call for the summary ends in an error."""
    session = opencode(model).until(until)
    session.last = session.add([{"type": "compaction", "auto": True}], role="user")
    session.reply(NO_TOKENS, [], summary=True, error={"name": name, "data": {"message": text}})
    return session.weighed()


def opencode_refused(text: str) -> Weighed:
    """A request after a long result is refused."""
    session = opencode("claude-sonnet-4").until(163_000)
    session.turn(184_600 - session.context - 112)
    session.reply(NO_TOKENS, [], error={"name": "APIError", "data": {"message": text, "statusCode": 400}})
    return session.weighed()


def goose_again() -> Weighed:
    """No usage of calls and no trigger: a compaction at 39% and one right after it."""
    messages: list[dict[str, object]] = []

    def say(role: str, tokens: int, *, user: bool = True, agent: bool = False) -> None:
        content = [{"type": "text", "text": words(tokens)}]
        number = len(messages)
        facts = {"id": f"m{number}", "role": role, "created": 1_772_359_200 + number, "content": content}
        messages.append({**facts, "metadata": {"userVisible": user, "agentVisible": agent}})

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


def gemini_barely() -> Weighed:
    """734,649 tokens before, 707,322 after."""
    session = Gemini("gemini-3-flash-preview").prompt()
    session.until(700_000)
    session.turn(734_649 - session.context)
    return session.compress(707_322).turn(300).turn(300).weighed()


def gemini_refused() -> Weighed:
    """Over half of the limit for long, and refused at its end."""
    session = Gemini().prompt()
    session.until(1_040_000, 40_000)
    text = "The input token count (1067544) exceeds the maximum number of tokens allowed (1048576)."
    return session.turn(30_000).refuse(f"[API Error: {text}]").weighed()


def cline_cut(at: int, after: int) -> Weighed:
    """The oldest half cut at ``at``."""
    return ClineTask().until(at, 3_100).cut(after).turn(300).weighed()


def cline_refused(context: int, text: str, *, last: int = 0) -> Weighed:
    """Refused by the endpoint."""
    task = ClineTask().until(context)
    return (task.turn(last) if last else task).refuse(text).weighed()


def cline_chunks() -> Weighed:
    """The input of every chunk of a stream added up, a hundred times the context from the first request on."""
    task = ClineTask()
    for n in range(6):
        used = {"tokensIn": 100 * (14_000 + 3_000 * n), "tokensOut": 100, "cacheReads": 0}
        task.say("api_req_started", json.dumps({"request": "x", **used}))
        task.say("text", words(70))
        task.say("command", "ls", kind="ask")
        task.say("command_output", words(3_000))
    return task.weighed()


def copilot_fails(n: int) -> Weighed:
    """So many compactions, none of which succeeds."""
    session = Copilot().prompt().until(150_000)
    for _ in range(n):
        session.compact(error="400 deferred tools need a search tool").turn(600)
    return session.weighed()


def copilot_at(context: int, **parts: int) -> Weighed:
    """Compacted at ``context``."""
    return Copilot(**parts).prompt().until(context).compact().turn(300).turn(300).weighed()


def qwen_overflows() -> Weighed:
    """Refused by the provider, then compacted."""
    session = Qwen(1_000_000).prompt().until(960_000, 60_000).turn(130_000)
    session.refuse("prompt is too long: 1101200 tokens > 1000000 maximum")
    return session.compress(1_101_200, 40_000).turn(300).turn(300).weighed()


def qwen_refused() -> Weighed:
    """Nothing compacts up to the limit of the endpoint."""
    session = Qwen(262_144).prompt().until(255_000, 6_000)
    text = "maximum context length is 262144 tokens. However, your messages resulted in 266020 tokens"
    return session.turn(9_000).refuse(f"This model's {text}.").weighed()
