"""A Claude Code project with sub-agents, and Codex rollouts that started each other, file by file."""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.jsonio import dumps
from tests.services.claude_lines import Lines

HOME = "aaaaaaaa-0000-0000-0000-000000000001"


def parent(home: str = HOME) -> bytes:
    """A session that starts two agents: one named in the result of its call, one known by its prompt alone."""
    lines = Lines(home).prompt("Look at everything")
    for call, prompt, agent in (("toolu_one", "Read the docs", "a111"), ("toolu_two", "Read the code", "")):
        tool = {"type": "tool_use", "id": call, "name": "Task", "input": {"prompt": prompt, "subagent_type": "x"}}
        message = {"id": f"msg_{call}", "role": "assistant", "model": "claude-sonnet-4-5", "content": [tool]}
        lines.emit("assistant", message=message)
        result = {"type": "tool_result", "tool_use_id": call, "content": "done"}
        twin = {"status": "completed", "prompt": prompt} | ({"agentId": agent} if agent else {})
        lines.emit("user", message={"role": "user", "content": [result]}, toolUseResult=twin)
    return lines.bytes()


def agent(name: str, prompt: str, home: str = HOME) -> bytes:
    """The file of one agent."""
    lines = Lines(home)
    facts: dict[str, Any] = {"isSidechain": True, "agentId": name}
    lines.emit("user", message={"role": "user", "content": prompt}, **facts)
    said = {"id": f"msg_{name}", "role": "assistant", "model": "claude-haiku-4-5", "content": [
        {"type": "text", "text": f"I am {name}"}]}  # fmt: skip
    lines.emit("assistant", message=said, **facts)
    return lines.bytes()


def project(home: str = HOME) -> dict[str, bytes]:
    """The tree below ``.claude/projects``, agents before their parent, with files that are no transcripts."""
    return {
        f"-home-u-proj/{home}/subagents/agent-a111.jsonl": agent("a111", "Read the docs", home),
        f"-home-u-proj/{home}/subagents/agent-a222.jsonl": agent("a222", "Read the code", home),
        f"-home-u-proj/{home}.jsonl": parent(home),
        "-home-u-proj/notes.md": b"# Notes\n",
        "-home-u-proj/empty.jsonl": b"",
    }


def rollout(ident: str, parent_id: str = "", spawned: str = "") -> bytes:
    """A Codex rollout; ``spawned`` is the id of the agent that its call started."""
    meta: dict[str, Any] = {"id": ident, "cwd": "/w", "cli_version": "0.140.0"}
    if parent_id:
        meta["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": parent_id, "depth": 1}}}
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"Work as {ident}"}]}
    ]
    if spawned:
        items.append({"type": "function_call", "name": "spawn_agent", "arguments": "{}", "call_id": "call_s"})
        output = dumps({"agent_id": spawned})
        items.append({"type": "function_call_output", "call_id": "call_s", "output": output})
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
    items.append(answer)
    lines = [{"timestamp": "2026-09-01T08:00:00.000Z", "type": "session_meta", "payload": meta}]
    lines += [{"timestamp": "2026-09-01T08:00:01.000Z", "type": "response_item", "payload": item} for item in items]
    return "".join(dumps(line) + "\n" for line in lines).encode()
