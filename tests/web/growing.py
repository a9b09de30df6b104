"""Claude Code sessions in which one thing is many, as lines of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.services.claude_lines import MODEL, Lines, png

LEAST = 40
"""Of the thing, where there is as much of it as once."""


def base(name: str = "grown") -> Lines:
    """A short session with a rule, a compaction and a few calls: what every page has something to show of."""
    lines = Lines(name).prompt("Never edit src/lock.json. Find out why the build is slow.")
    for turn in range(6):
        call(lines, turn)
    compaction(lines)
    return lines.turn("all good\n" * 20)


def call(lines: Lines, number: int) -> None:
    """A file that is read, and its result."""
    ident = f"toolu_{number}_{lines.n}"
    block = {"type": "tool_use", "id": ident, "name": "Read", "input": {"file_path": f"/home/u/proj/src/f{number}.py"}}
    reply(lines, [block], lines.context + 300)
    result = {"tool_use_id": ident, "type": "tool_result", "content": f"see src/f{number % 7}.py, line {number}\n" * 3}
    lines.emit("user", message={"role": "user", "content": [result]})


def reply(lines: Lines, content: list[Any], n_input: int) -> None:
    """A reply of a request with so many tokens."""
    lines.context = max(n_input, lines.context)
    usage = {"input_tokens": n_input, "output_tokens": 40}
    message = {
        "id": f"msg_{lines.n}", "type": "message", "role": "assistant", "model": MODEL, "content": content,
        "stop_reason": "end_turn", "usage": usage,
    }  # fmt: skip
    lines.emit("assistant", requestId=f"req_{lines.n}", message=message)


def compaction(lines: Lines, summary: str = "The build is slow. Never edit it.") -> None:
    """A recorded compaction with a short summary, or another."""
    last, lines.parent = lines.parent, None
    facts = {"trigger": "auto", "preTokens": lines.context}
    lines.emit("system", subtype="compact_boundary", logicalParentUuid=last, compactMetadata=facts, content="x")
    lines.emit("user", isCompactSummary=True, message={"role": "user", "content": summary})
    lines.context = 12_000


def bad_usages(lines: Lines, n: int) -> None:
    for number in range(n):
        reply(lines, [{"type": "text", "text": f"step {number}"}], -5)
        lines.prompt(f"Go on {number}")


def rules(lines: Lines, n: int) -> None:
    for number in range(n // 8):
        lines.prompt("\n".join(f"Never edit src/f{number * 8 + k}.py." for k in range(8)))
    lines.turn("done")


def rules_calls_and_lines(lines: Lines, n: int) -> None:
    """Files that no call may write, calls that write others, and a summary with a line for each."""
    for number in range(0, 4 * n, 8):
        lines.prompt("\n".join(f"Never edit src/r{k}.py." for k in range(number, number + 8)))
        writes = [
            {"type": "tool_use", "id": f"w{k}", "name": "Write", "input": {"file_path": f"/src/w{k}.py"}}
            for k in range(number, number + 8)
        ]
        reply(lines, writes, lines.context + 100)
        results = [{"type": "tool_result", "tool_use_id": write["id"], "content": "ok"} for write in writes]
        lines.emit("user", message={"role": "user", "content": results})
    compaction(lines, "\n".join(f"Looked at src/s{k}.py, nothing there." for k in range(4 * n)))
    lines.turn("done")


def tool_calls(lines: Lines, n: int) -> None:
    for number in range(n):
        call(lines, number)


def images(lines: Lines, n: int) -> None:
    for number in range(n):
        lines.turn(png(64, 48, 200, seed=number))


def compactions(lines: Lines, n: int) -> None:
    for number in range(n // 2):
        call(lines, number)
        compaction(lines)


def refusals(lines: Lines, n: int) -> None:
    for _ in range(n):
        text = "API Error: 400 prompt is too long: 205148 tokens > 200000 maximum"
        message = {"id": f"err_{lines.n}", "role": "assistant", "model": "<synthetic>",
                   "content": [{"type": "text", "text": text}]}  # fmt: skip
        lines.emit("assistant", isApiErrorMessage=True, message=message)
        lines.turn("again")


def branches(lines: Lines, n: int) -> None:
    for number in range(n // 2):
        here = lines.parent
        lines.prompt(f"Try {number}").turn("no")
        lines.parent = here
    lines.prompt("So").turn("yes")


def attachments(lines: Lines, n: int) -> None:
    for number in range(n):
        lines.emit("attachment", attachment={"type": "nested_memory", "path": f"/m{number}.md", "content": "Use tabs."})
    lines.turn("done")


def subagents(lines: Lines, n: int) -> None:
    main = lines.parent
    for number in range(n // 4):
        lines.parent, agent = None, {"isSidechain": True, "agentId": f"agent{number}"}
        lines.emit("user", **agent, message={"role": "user", "content": f"Look at {number}"})
        text = {"type": "text", "text": "done"}
        message = {"id": f"sub_{number}", "role": "assistant", "model": MODEL, "content": [text],
                   "usage": {"input_tokens": 900, "output_tokens": 5}}  # fmt: skip
        lines.emit("assistant", **agent, requestId=f"sub_{number}", message=message)
    lines.parent = main
    lines.turn("done")


def _text(of: Callable[[int], str]) -> Callable[[Lines, int], None]:
    def make(lines: Lines, n: int) -> None:
        lines.prompt(of(50 * n)).turn(of(50 * n))

    return make


MANY: dict[str, Callable[[Lines, int], None]] = {
    "bad usages": bad_usages, "rules": rules, "tool calls": tool_calls, "images": images, "compactions": compactions,
    "refusals": refusals, "branches": branches, "attachments": attachments, "subagents": subagents,
    "long words": _text(lambda n: "x" * n), "long lines": _text(lambda n: "so it goes " * (n // 8)),
    "blank lines": _text(lambda n: "a" + "\n" * n + "b"), "paths": _text(lambda n: "src/a.py " * (n // 8)),
    "rules, calls and lines": rules_calls_and_lines,
}  # fmt: skip
"""What a session can have many of; how deep values are nested is bounded (``limits.MAX_DEPTH``)."""


def grown(what: str, times: int, name: str = "grown") -> bytes:
    """A session with so many times as much of it."""
    lines = base(f"{name}-{what}-{times}")
    MANY[what](lines, LEAST * times)
    return lines.bytes()
