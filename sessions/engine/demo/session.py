"""Writes the demo: our own generated Claude Code session with the founding example in it (seeds 2.1).

About 180 messages and 62K tokens of history, recorded usage, a model of the high-resolution tier, and at message 37 a
tool result with a real 1254 x 1254 PNG whose base64 is 3,118,884 characters long and which costs 2,025 tokens.
Everything follows from one seed: the same bytes on every run.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from sessions.engine.demo.files import COMPONENTS, ROOT, git_log, grep, numbered, path_of, source, test_log
from sessions.engine.demo.png import screenshot
from sessions.engine.demo.story import RULE, SAYINGS, TASKS, THOUGHTS, Task
from sessions.engine.estimators._images import tokens_of_size
from sessions.engine.tokenizer import count

MODEL = "claude-opus-4-8"
FILE_NAME = "demo-pay-button.jsonl"
SCREENSHOT_SIDE, SCREENSHOT_BASE64 = 1254, 3_118_884
SMALL_SIZE, SMALL_BASE64 = (375, 667), 87_212
SEED = 1332
OVERHEAD = 2_860
"""Tokens of the system prompt and the tools that the demo's harness would send."""
RATIO = 1.46
"""Tokens per o200k token in the demo's usage; each message strays a little from it."""
IMAGE_WRAPPER = 22

Block = dict[str, Any]


def write_demo(file: BinaryIO, *, with_image: bool = True) -> None:
    """Write the session as JSONL; ``with_image=False`` leaves the screenshots out (a text stands in their place)."""
    writer = _Writer(file, with_image=with_image)
    for number, task in enumerate(TASKS):
        writer.prompt(task.prompt)
        if number == 0:
            writer.prompt(RULE)
        for step in task.steps:
            writer.step(task, step)
        writer.reply([{"type": "text", "text": task.closing}], "end_turn")
    writer.finish()


class _Writer:
    """Keeps the parent chain, the clock and the context that the provider would report."""

    def __init__(self, file: BinaryIO, *, with_image: bool) -> None:
        self._file = file
        self._with_image = with_image
        self._rng = random.Random(SEED)  # noqa: S311  the demo is to be the same every time
        self._clock = datetime(2026, 10, 6, 8, 12, 5, tzinfo=UTC)
        self._parent: str | None = None
        self._session = self._uuid()
        self._context = OVERHEAD
        """Tokens that the next request sends."""
        self._sent = 0
        """Tokens that the last request sent: what the next one reads from the cache."""

    def prompt(self, text: str) -> None:
        self._clock += timedelta(seconds=self._rng.randint(20, 140))
        self._user(text)
        self._context += self._weight(text)

    def step(self, task: Task, kind: str) -> None:
        """One model reply with a tool call, and the call's result."""
        component = task.component if self._rng.random() < 0.4 else self._rng.choice(COMPONENTS)
        name, arguments, result = self._tool(component, kind)
        call = f"toolu_01{self._rng.getrandbits(88):022x}"
        blocks: list[Block] = []
        if self._rng.random() < 0.3:
            thought = self._rng.choice(THOUGHTS).format(component=component, n=self._rng.randint(9, 64))
            blocks.append({"type": "thinking", "thinking": thought, "signature": self._signature()})
        blocks.append({"type": "text", "text": SAYINGS[kind].format(component=component)})
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        self.reply(blocks, "tool_use")
        self._user([{"tool_use_id": call, "type": "tool_result", "content": result}], toolUseResult=_twin(result))
        self._context += self._weight(result)

    def reply(self, blocks: list[Block], stop: str) -> None:
        """One response: a line for each block, all with its id and its final usage."""
        said = " ".join(_text_of(block) for block in blocks)
        output = self._weight(said) + 4
        fresh = self._rng.randint(1, 6)
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": self._context - self._sent - fresh,
            "cache_read_input_tokens": self._sent,
            "output_tokens": output,
            "service_tier": "standard",
        }
        response = f"msg_01{self._rng.getrandbits(88):022x}"
        request = f"req_01{self._rng.getrandbits(88):022x}"
        self._clock += timedelta(seconds=self._rng.randint(2, 19))
        for block in blocks:
            message = {
                "id": response, "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                "stop_reason": stop, "stop_sequence": None, "usage": usage,
            }  # fmt: skip
            self._line("assistant", requestId=request, message=message)
        self._sent = self._context
        self._context += output

    def finish(self) -> None:
        title = {"type": "ai-title", "aiTitle": "Pay button covers the total on small phones"}
        self._write({**title, "sessionId": self._session})

    def _tool(self, component: str, kind: str) -> tuple[str, Block, Any]:
        rng = self._rng
        if kind in "rctl":
            file_kind = {"r": "tsx", "c": "css", "t": "test", "l": "json"}[kind]
            lines = source(component, file_kind, rng, rng.randint(*_PARTS[file_kind]))
            return "Read", {"file_path": path_of(component, file_kind)}, numbered(lines)
        if kind == "g":
            word = rng.choice(("position: fixed", "safe-area-inset", "useLayoutEffect", "z-index", "StickyFooter"))
            arguments = {"pattern": word, "path": f"{ROOT}/src", "output_mode": "content"}
            return "Grep", arguments, grep(word, rng, rng.randint(8, 19))
        if kind == "e":
            return self._edit(component)
        if kind == "b":
            command = "npx playwright test --project=phone --reporter=list"
            log = test_log(rng, rng.randint(10, 27), rng.choice((0, 0, 1, 3)))
            return "Bash", {"command": command, "description": "Run the phone tests"}, log
        if kind == "h":
            command = f"git log --oneline -25 -- {path_of(component).removeprefix(ROOT + '/')}"
            return "Bash", {"command": command, "description": "Recent commits"}, git_log(rng, 25)
        return self._picture(kind)

    def _edit(self, component: str) -> tuple[str, Block, Any]:
        lines = source(component, "css", self._rng, 4)
        old, new = "\n".join(lines[1:8]), "\n".join([*lines[1:5], "  grid-template-rows: 1fr auto;", *lines[5:8]])
        path = path_of(component, "css")
        result = f"The file {path} has been updated. Here is the part that changed:\n{numbered(new.splitlines(), 2)}"
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}, result

    def _picture(self, kind: str) -> tuple[str, Block, Any]:
        large = kind == "S"
        size = (SCREENSHOT_SIDE, SCREENSHOT_SIDE) if large else SMALL_SIZE
        name = "mcp__browser__screenshot"
        arguments = {"url": "http://localhost:5173/checkout?voucher=open", "width": size[0], "height": size[1]}
        note = {"type": "text", "text": f"Screenshot taken, {size[0]} x {size[1]} pixels."}
        seed = self._rng.randint(1, 9_999)
        if not self._with_image:
            return name, arguments, [note, {"type": "text", "text": "[picture left out]"}]
        length, bits = (SCREENSHOT_BASE64, 8) if large else (SMALL_BASE64, 2)
        data = screenshot(*size, length, seed, bits=bits)
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        return name, arguments, [note, picture]

    def _weight(self, content: Any) -> int:
        """What the content weighs for the demo's provider: near RATIO x o200k, images by the 28-pixel rule."""
        if isinstance(content, str):
            return max(1, round(count(content).n_tokens * RATIO * self._rng.uniform(0.985, 1.015)))
        total = 0
        for part in content:
            if part["type"] == "text":
                total += self._weight(part["text"])
            else:
                small = len(part["source"]["data"]) == SMALL_BASE64
                width, height = SMALL_SIZE if small else (SCREENSHOT_SIDE, SCREENSHOT_SIDE)
                total += tokens_of_size(width, height, "high-res") + IMAGE_WRAPPER
                self._rng.random()  # as the text in its place would, so that both variants tell the same story
        return total

    def _user(self, content: Any, **fields: Any) -> None:
        self._clock += timedelta(seconds=self._rng.randint(1, 7))
        self._line("user", message={"role": "user", "content": content}, **fields)

    def _line(self, kind: str, **fields: Any) -> None:
        ident = self._uuid()
        stamp = self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write({
            "parentUuid": self._parent, "isSidechain": False, "userType": "external", "cwd": ROOT,
            "sessionId": self._session, "version": "2.1.219", "gitBranch": "fix/pay-bar", "type": kind, "uuid": ident,
            "timestamp": stamp, **fields,
        })  # fmt: skip
        self._parent = ident

    def _write(self, value: Block) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def _uuid(self) -> str:
        bits = f"{self._rng.getrandbits(128):032x}"
        return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:]}"

    def _signature(self) -> str:
        return f"{self._rng.getrandbits(1_600):0400x}"


_PARTS = {"tsx": (2, 4), "css": (4, 8), "test": (3, 5), "json": (10, 18)}


def _text_of(block: Block) -> str:
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'], separators=(',', ':'))}"
    return str(block.get("text") or block.get("thinking"))


def _twin(result: Any) -> Block:
    """The recorder's own copy of a result, which the model never sees."""
    if isinstance(result, str):
        return {"stdout": result, "stderr": "", "interrupted": False, "isImage": False}
    return {"stdout": result[0]["text"], "stderr": "", "interrupted": False, "isImage": True}
