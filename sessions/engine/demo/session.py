"""Writes the demo: our own generated session of buzz-agent, as it was before it charged images a flat size (seeds 2.1).

179 messages.  At message 37 stands a real 1254 x 1254 PNG whose base64 is 3,118,884 characters long and which costs
2,025 tokens; buzz-agent took each of its bytes for a token, so it handed off at request 18 though nothing was full.  At
request 78 it handed off because its threshold was truly reached.  Written in ctxweb's own lines, which can say what an
agent counted.  Everything follows from one seed: the same bytes on every run.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from sessions.engine.demo.story import CLIENT, HANDOFFS, RULE, SAYINGS, TASKS, THOUGHTS, TITLE, Task
from sessions.engine.demo.tools import IMAGE_TOKENS, Block, Tools
from sessions.engine.tokens.tokenizer import count

MODEL = "claude-opus-4-8"
SEED = 1332
WINDOW, THRESHOLD = 200_000, 167_232
"""buzz-agent's threshold at this window: what its trigger compares bytes with, one to one (seeds 2.3)."""
OVERHEAD = 3_367
"""Tokens of the system prompt and the tools that the agent would send."""
RATIO = 1.46
"""Tokens per o200k token in the demo's usage; each message strays a little from it."""


def write_demo(file: BinaryIO) -> None:
    """Write the session: its head, then one message a line."""
    writer = _Writer()
    for number, task in enumerate(TASKS):
        writer.prompt(task.prompt)
        if number == 0:
            writer.prompt(RULE)
        for step in task.steps:
            writer.step(task, step)
        writer.reply([{"type": "text", "text": task.closing}])
    lines = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in writer.lines())
    file.writelines(line.encode() + b"\n" for line in lines)


class _Writer:
    """Keeps the clock, the context that the provider would report, and what the agent's trigger counts."""

    def __init__(self) -> None:
        self._rng = random.Random(SEED)  # noqa: S311  the demo is to be the same every time
        self._tools = Tools(self._rng)
        self._clock = datetime(2026, 10, 6, 8, 12, 5, tzinfo=UTC)
        self._messages: list[Block] = []
        self._compactions: list[Block] = []
        self._n_requests = 0
        self._context = OVERHEAD
        """Tokens that the next request sends."""
        self._sent = 0
        """Tokens that the last request sent: what the next one reads from the cache."""
        self._grown = 0
        """Bytes that came to the list since the last request."""
        self._live = 0
        """The newest prompt of the user, which stands again after a hand-off."""

    def lines(self) -> list[Block]:
        """The head and all messages."""
        head = {
            "ctxweb": "session/1", "id": f"buzz-{SEED}", "title": TITLE, "model": MODEL, "client": CLIENT,
            "window": WINDOW, "n_messages": len(self._messages), "compactions": self._compactions,
        }  # fmt: skip
        return [head, *self._messages]

    def prompt(self, text: str) -> None:
        self._clock += timedelta(seconds=self._rng.randint(20, 140))
        self._live = len(self._messages)
        self._add("user", text, typed=True)
        self._context += self._weight(text)

    def step(self, task: Task, kind: str) -> None:
        """One model reply with a tool call, and the call's result."""
        component = self._tools.component(task.component)
        name, arguments, result = self._tools.use(component, kind)
        call = f"toolu_01{self._rng.getrandbits(88):022x}"
        blocks: list[Block] = []
        if self._rng.random() < 0.3:
            thought = self._rng.choice(THOUGHTS).format(component=component, n=self._rng.randint(9, 64))
            blocks.append(
                {"type": "thinking", "thinking": thought, "signature": f"{self._rng.getrandbits(1_600):0400x}"}
            )
        blocks.append({"type": "text", "text": SAYINGS[kind].format(component=component)})
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        self.reply(blocks)
        self._add("user", [{"type": "tool_result", "tool_use_id": call, "content": result}], typed=False)
        self._context += self._weight(result)
        if kind == "S":
            self._tools.grow()

    def reply(self, blocks: list[Block]) -> None:
        """A response with its usage, after the agent's trigger was asked: last input and the growth in bytes."""
        counted = self._sent + self._grown
        if self._sent and counted >= THRESHOLD:
            self._hand_off(counted)
        said = " ".join(_text_of(block) for block in blocks)
        output, fresh = self._weight(said) + 4, self._rng.randint(1, 6)
        read = min(self._sent, self._context - fresh)
        usage = {"input": fresh, "cache_read": read, "cache_write": self._context - read - fresh, "output": output}
        self._clock += timedelta(seconds=self._rng.randint(2, 19))
        request = {"index": self._n_requests, "model": MODEL, "response_id": f"msg_01{self._rng.getrandbits(88):022x}"}
        self._sent, self._grown = self._context, 0
        self._add("assistant", blocks, usage=usage, request=request)
        self._n_requests += 1
        self._context += output

    def _hand_off(self, counted: int) -> None:
        """The whole list becomes one summary; the live prompt stands again."""
        text, boundary = HANDOFFS[len(self._compactions)], len(self._messages)
        prompt = self._messages[self._live]["content"]
        after = OVERHEAD + self._weight(text) + self._weight(prompt)
        self._compactions.append({
            "boundary": boundary, "request": self._n_requests, "message": boundary, "trigger": "auto",
            "tokens_before": counted, "tokens_after": after, "preserved": [self._live],
        })  # fmt: skip
        self._add("user", text, typed=False, summary=True, compaction=len(self._compactions) - 1)
        self._context, self._sent = after, OVERHEAD

    def _weight(self, content: Any) -> int:
        """What the content weighs for the demo's provider: near RATIO x o200k, images by the 28-pixel rule."""
        if isinstance(content, str):
            return max(1, round(count(content).n_tokens * RATIO * self._rng.uniform(0.985, 1.015)))
        return sum(
            self._weight(part["text"]) if part["type"] == "text" else IMAGE_TOKENS[len(part["source"]["data"])]
            for part in content
        )

    def _add(self, role: str, content: Any, **fields: Any) -> None:
        self._clock += timedelta(seconds=self._rng.randint(1, 7))
        ident = f"{self._rng.getrandbits(64):016x}"
        line = {"role": role, "content": content, "id": ident, "timestamp": round(self._clock.timestamp(), 3)}
        self._messages.append(line | fields)
        self._grown += _n_bytes(content)


def _text_of(block: Block) -> str:
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'], separators=(',', ':'))}"
    return str(block.get("text") or block.get("thinking"))


def _n_bytes(content: Any) -> int:
    """Bytes as buzz-agent counted them: texts, ids, a call's name and arguments, an image's base64 and media type."""
    if isinstance(content, str):
        return len(content.encode())
    total = 0
    for block in content:
        if block["type"] == "tool_use":
            arguments = json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
            total += len(block["id"]) + len(block["name"]) + len(arguments.encode())
        elif block["type"] == "tool_result":
            total += len(block["tool_use_id"]) + _n_bytes(block["content"])
        elif block["type"] == "image":
            total += len(block["source"]["data"]) + len(block["source"]["media_type"])
        else:
            total += len(_text_of(block).encode()) + len(block.get("signature", ""))
    return total
