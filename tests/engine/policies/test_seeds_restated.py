"""Each founding system against an independent statement of its rules: random lists, every list as it is sent.

``CTXWEB_EVERY=1`` draws a thousand lists for each.
"""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

import pytest

from sessions.engine.base import registry
from sessions.engine.policies import params as parameters
from sessions.engine.reading.measure import Measure, settle
from sessions.engine.replays.summaries import Summaries
from sessions.engine.tokens.text_facts import text_facts
from sessions.engine.tokens.tokenizer import Counted
from sessions.engine.transcript.types import Content, Kind, Message, Parsed, Request, Role, Transcript
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.policies import restated
from tests.every import EVERY
from tests.parity.ours import Ours, Watched, signature

N_LISTS = 1_000 if EVERY else 100
WORDS = ("plain words ", 'a "quoted" \\ word\n', "größer 中 😀 ", "\tx", "x")
NAMES = ("Read", "Bash", "write_file")


class Lengths:
    """A counter to which a token is a character."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, int]] = []

    def submit(self, text: str, look: int) -> int:
        self._texts.append((text, look))
        return -len(self._texts)

    def results(self) -> Lengths:
        return self

    def of(self, ticket: int) -> Counted:
        text, look = self._texts[-ticket - 1]
        return Counted(len(text), facts=text_facts(text, look))


def random_messages(rng: random.Random, *, thinking: bool = False, longest: int = 1_500) -> restated.Messages:
    """A conversation that ends where a model is asked; the results of a reply stand in one message."""
    found: restated.Messages = [prompt(rng)]
    number = 0
    for _ in range(rng.randint(2, 16)):
        n_calls = rng.choice((0, 1, 1, 1, 2, 3))
        blocks: list[dict[str, Any]] = []
        if thinking and rng.random() < 0.3:
            blocks.append({"type": "thinking", "thinking": said(rng, 300), "signature": "s" * rng.randint(0, 50)})
        if not n_calls or rng.random() < 0.6:
            blocks.append({"type": "text", "text": said(rng, 300)})
        calls = [f"c{number + n}" for n in range(n_calls)]
        number += n_calls
        for call in calls:
            given = {"path": said(rng, 40), "lines": [1, 2]} if rng.random() < 0.5 else {}
            blocks.append({"type": "tool_use", "id": call, "name": rng.choice(NAMES), "input": given})
        found.append({"role": "assistant", "content": blocks})
        if calls:
            # Without escapes: how many of them a preview holds is estimated in proportion.
            texts = ["x" * rng.choice((rng.randint(0, 130), rng.randint(0, longest))) for _ in calls]
            held = zip(calls, texts, strict=True)
            answers = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, text in held]
            found.append({"role": "user", "content": answers})
        else:
            found.append(prompt(rng))
    if found[-1]["role"] == "assistant":
        found.append(prompt(rng))
    return [{**message, "at": n} for n, message in enumerate(found)]


def prompt(rng: random.Random) -> dict[str, Any]:
    return {"role": "user", "content": said(rng, 400)}


def said(rng: random.Random, most: int) -> str:
    return (rng.choice(WORDS) * most)[: rng.randint(1, most)]


def transcript(messages: restated.Messages) -> Transcript:
    """The list as a session without usage: a request before every reply and one at the end."""
    lengths: Any = Lengths()
    measure = Measure(lengths)
    made: list[Message] = []
    requests: list[Request] = []
    for n, message in enumerate(messages):
        held = message["content"]
        contents = [Content(Kind.TEXT, held)] if isinstance(held, str) else [as_content(block) for block in held]
        if message["role"] == "assistant":
            requests.append(Request(len(requests), n))
        role = Role(message["role"])
        made.append(Message(n, f"m{n}", role, measure(contents), typed=isinstance(held, str)))
    requests.append(Request(len(requests), None))
    parsed = Parsed(format="seeds", transcripts=(Transcript("seeds", "seeds", tuple(made), tuple(requests)),))
    return settle(parsed, lengths).transcripts[0]


def as_content(block: dict[str, Any]) -> Content:
    if block["type"] == "tool_use":
        arguments = json.dumps(block["input"], separators=(",", ":"), ensure_ascii=False)
        return Content(Kind.TOOL_USE, arguments, name=block["name"], call_id=block["id"])
    if block["type"] == "tool_result":
        return Content(Kind.TOOL_RESULT, block["content"], call_id=block["tool_use_id"])
    if block["type"] == "thinking":
        return Content(Kind.THINKING, block["thinking"], payload=block["signature"])
    return Content(Kind.TEXT, block["text"])


def seen_as(message: dict[str, Any]) -> list[Any]:
    """``signature`` of a plain message."""
    held = message["content"]
    if isinstance(held, str):
        return [message["at"], len(held), 0, [], []]
    found: list[Any] = [message["at"], 0, 0, [], []]
    for block in held:
        if block["type"] == "text":
            found[1] += len(block["text"])
        elif block["type"] == "thinking":
            found[2] += len(block["thinking"])
        elif block["type"] == "tool_use":
            found[3].append([block["id"], len(json.dumps(block["input"], separators=(",", ":"), ensure_ascii=False))])
        else:
            found[4].append([block["tool_use_id"], len(block["content"])])
    return found


class Sent(Watched):
    """The walk, which also counts edits and notes how large an inserted message of so many characters is."""

    inserted_sizes: dict[int, int]

    def _edit(self, request, layer, gate):
        self.ours.events += 1
        return super()._edit(request, layer, gate)

    def _send(self, k, cached):
        super()._send(k, cached)
        self.inserted_sizes |= {signature(item)[1]: item.size for item in self.context.items if item.inserted}


def ours(messages: restated.Messages, policy: str, params: dict[str, Any], window: int, summary: int) -> Sent:
    weighed = weigh(transcript(messages))
    chosen = registry.get("policies", policy)
    built = parameters.build(chosen.params, params)
    measure = registry.get("estimators", chosen.estimator)
    summaries = Summaries(weighed, f"stub:{summary}", measure)
    walk = Sent(weighed, chosen, built, measure, summaries, base="full", window=window)
    walk.ours, walk.inserted_sizes = Ours(), {}
    walk.run()
    return walk


class Theirs:
    """The same session under a restated rule, request by request.

    ``step(messages, k)`` is the rule.  A summary's text is as long as ours, what a model writes being no rule.
    """

    def __init__(self, messages: restated.Messages, walk: Sent) -> None:
        self.messages, self.walk = messages, walk
        self.sizes = [item.size for item in walk.items]
        self.n_since = 0

    def summary(self, k: int) -> str:
        return "x" * next((view[1] for view in self.walk.ours.views[k] if view[0] == "new"), 0)

    def views(self, step) -> list[list[Any]]:
        found, held, k = [], [], 0
        for message in [*self.messages, None]:
            if message is None or message["role"] == "assistant":
                held = step(held, k)
                found.append([seen_as(one) for one in held])
                k += 1
            if message is not None:
                held = [*held, message]
                self.n_since += 1
        return found


def differing(policy: str, draw, restate, **shape: Any) -> tuple[list[str], int]:
    """What differs over the lists, and how many edits there were."""
    rng = random.Random(f"20261122 {policy}")
    found, n_edits = [], 0
    for number in range(N_LISTS):
        messages = random_messages(rng, **shape)
        params, window = draw(rng, messages)
        walk = ours(messages, policy, params, window, rng.randint(0, 80))
        theirs = Theirs(messages, walk)
        everything = dataclasses.asdict(walk.params)
        views = theirs.views(restate(theirs, everything, window))
        n_edits += walk.ours.events
        if views != walk.ours.views:
            k = next(n for n, (a, b) in enumerate(zip(views, walk.ours.views, strict=True)) if a != b)
            found.append(f"list {number} request {k} {params} {window}\n{views[k]}\n{walk.ours.views[k]}")
    return found, n_edits


def layers(rng: random.Random, messages: restated.Messages) -> dict[str, Any]:
    most = rng.randint(7, 40)
    return {
        "results_limit": rng.randint(0, 3_000),
        "large_result": rng.randint(0, 1_000),
        "preview": rng.randint(0, 500),
        "max_messages": most,
        "head": rng.randint(0, 3),
        "keep_results": rng.randint(0, 5),
        "min_chars": rng.randint(0, 200),
        "breaker": None,
    }


def draw_v1(rng, messages):
    limit, most = rng.randint(0, restated.json_length(messages) // 4), rng.randint(0, 50)
    return {**layers(rng, messages), "max_output": most, "buffer": 200_000 - most - limit}, 200_000


def restate_v1(theirs, p, window):
    def step(messages, k):
        tokens = restated_tokens(theirs)
        return restated.layered_v1(messages, p, window, tokens, lambda: theirs.summary(k))

    return step


def restated_tokens(theirs):
    """Thinking's signature is sent as well: ``chars_per_4`` counts it with its block."""

    def tokens(message):
        signed = sum(
            -(-(len(b["thinking"]) + len(b["signature"])) // 4) - -(-len(b["thinking"]) // 4)
            for b in restated.content(message, "thinking")
        )
        return restated.quarter_tokens(message) + signed

    return tokens


def draw_v2(rng, messages):
    limit = rng.randint(1_000, max(1_001, restated.json_length(messages)))
    return {
        **layers(rng, messages), "limit": limit, "target": rng.randint(30, 100), "fit_preview": rng.randint(0, 400),
    }, 10_000_000  # fmt: skip


def restate_v2(theirs, p, _window):
    return lambda messages, k: restated.layered_v2(messages, p, lambda: theirs.summary(k))


def draw_buzz(rng, messages):
    whole = sum(map(restated.wire_bytes, messages))
    window = rng.randint(500, max(600, 2 * whole))
    return {
        "max_output": rng.randint(0, min(200_000, window // 2)),
        "reserve_output": rng.choice(("on", "off")),
        "max_history_bytes": 65_536,
        "max_handoffs": rng.choice((0, 1, 2, 10)),
        "usage": rng.choice(("recorded", "none")),
    }, window


def restate_buzz(theirs, p, window):
    p["left"] = p["max_handoffs"]
    last: list = [None]

    def step(messages, k):
        known = None
        if p["usage"] == "recorded" and k:
            known = (theirs.walk.ours.usage[k - 1][0], last[0])
        made, handed = restated.buzz_handoff(messages, p, window, known, lambda: theirs.summary(k))
        p["left"] -= handed
        last[0] = sum(map(restated.wire_bytes, made))
        return made

    return step


def draw_buzz_truncate(rng, messages):
    del rng, messages
    return {"max_history_bytes": 65_536}, 200_000


def restate_truncate(theirs, p, _window):
    del theirs
    return lambda messages, _k: restated.truncated(messages, p["max_history_bytes"])


def draw_skill(rng, messages):
    whole = sum(map(restated.quarter_tokens, messages)) * 4
    return {
        "trigger": rng.randint(1, 100),
        "min_messages": rng.randint(0, 12),
        "keep_last": rng.randint(1, 8),
        "usage": rng.choice(("recorded", "none")),
    }, rng.randint(300, whole + 400)  # fmt: skip


def draw_sliding(rng, messages):
    params, window = draw_skill(rng, messages)
    return {**params, "target": rng.randint(0, 100), "max_messages": rng.choice((None, rng.randint(1, 20)))}, window


def restate_skill(rule):
    """Trigger at a share of the window and at least so many new messages; ``rule`` is the edit."""

    def restate(theirs, p, window):
        ours, weights = theirs.walk.ours, theirs.walk.weighed.tokens

        def weight(message):
            return weights[message["at"]]

        def step(messages, k):
            since = last_reply(messages)
            if p["usage"] == "none" or not k:
                used = sum(size_of(theirs, message, k) for message in messages)
            else:
                used = sum(ours.usage[k - 1]) + sum(theirs.sizes[m["at"]] for m in messages[since + 1 :])
            if used < window * p["trigger"] // 100 or theirs.n_since < p["min_messages"]:
                return messages
            made = rule(messages, p, window, weight, lambda: theirs.summary(k))
            theirs.n_since = 0
            return made

        return step

    return restate


def last_reply(messages):
    return max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=-1)


def size_of(theirs, message, k):
    """A message in the estimator's tokens; a summary in those the stub was made of."""
    if message["at"] == "new":
        return theirs.walk.inserted_sizes[len(message["content"])]
    return theirs.sizes[message["at"]]


def draw_hybrid(rng, messages):
    return {"max_messages": rng.randint(1, len(messages) + 1), "keep_last": rng.randint(1, 8)}, 200_000


def restate_hybrid(theirs, p, _window):
    def step(messages, k):
        if len(messages) <= p["max_messages"]:
            return messages
        return restated.summarised(messages, p, merge=True, summary=lambda: theirs.summary(k))

    return step


def merged(messages, p, _window, _weight, summary):
    return restated.summarised(messages, p, merge=True, summary=summary)


def anew(messages, p, _window, _weight, summary):
    return restated.summarised(messages, p, merge=False, summary=summary)


def slid(messages, p, window, weight, _summary):
    return restated.sliding(messages, p, window, weight)


CASES = {
    "buzz_truncate": (draw_buzz_truncate, restate_truncate, {"longest": 40_000}),
    "anchored_iterative": (draw_skill, restate_skill(merged), {}),
    "regenerative_full": (draw_skill, restate_skill(anew), {}),
    "opaque": (draw_skill, restate_skill(anew), {}),
    "hybrid": (draw_hybrid, restate_hybrid, {}),
    "sliding_window": (draw_sliding, restate_skill(slid), {}),
    "layered_v1": (draw_v1, restate_v1, {"thinking": True}),
    "layered_v2": (draw_v2, restate_v2, {"thinking": True}),
    "buzz_handoff": (draw_buzz, restate_buzz, {"longest": 40_000}),
}


@pytest.mark.parametrize("policy", CASES)
def test_no_list_differs_from_the_rules(policy):
    draw, restate, shape = CASES[policy]
    different, n_edits = differing(policy, draw, restate, **shape)
    assert not different, f"{len(different)} of {N_LISTS}: {different[0]}"
    assert n_edits > N_LISTS // 4
