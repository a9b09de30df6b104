"""Writes sessions of agents that are met less often: ACP, Letta, LangSmith, OpenHands, Hermes, aider, Crush."""

from __future__ import annotations

import io
import json
import sqlite3
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.verdict_files import weighed_text, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.weigh.calibration.weighed import Weighed


class Acp:
    """Messages of the Agent Client Protocol between an editor and its agent."""

    def __init__(self, size: int, used: int = 12_000) -> None:
        self.size, self.used, self.n = size, used, 0
        self.lines: list[dict[str, Any]] = []

    def update(self, update: str, **fields: Any) -> None:
        """One session/update."""
        told = {"sessionId": "s1", "update": {"sessionUpdate": update, **fields}}
        self.lines.append({"jsonrpc": "2.0", "method": "session/update", "params": told})

    def turn(self, tokens: int) -> Acp:
        """A prompt, a call with its result, and how full the context is then."""
        self.n += 1
        asked = {"sessionId": "s1", "prompt": [{"type": "text", "text": words(40)}]}
        self.lines.append({"jsonrpc": "2.0", "id": self.n, "method": "session/prompt", "params": asked})
        call = f"c{self.n}"
        self.update("tool_call", toolCallId=call, title="Read", kind="read", status="pending", rawInput={"path": call})
        content = [{"type": "content", "content": {"type": "text", "text": words(tokens)}}]
        self.update("tool_call_update", toolCallId=call, status="completed", content=content)
        self.update("agent_message_chunk", content={"type": "text", "text": "Read it."})
        self.used += tokens + 60
        self.update("usage_update", used=self.used, size=self.size)
        self.lines.append({"jsonrpc": "2.0", "id": self.n, "result": {"stopReason": "end_turn"}})
        return self

    def until(self, used: int, tokens: int = 8_000) -> Acp:
        """Turns until the next would pass ``used``."""
        while self.used + tokens + 60 <= used:
            self.turn(tokens)
        return self

    def refuse(self, text: str) -> Acp:
        """A prompt that ends in an error."""
        self.n += 1
        asked = {"sessionId": "s1", "prompt": [{"type": "text", "text": words(40)}]}
        self.lines.append({"jsonrpc": "2.0", "id": self.n, "method": "session/prompt", "params": asked})
        self.lines.append({"jsonrpc": "2.0", "id": self.n, "error": {"code": -32603, "message": text}})
        return self

    def compact_fails(self, text: str) -> Acp:
        """A compaction that begins and fails."""
        self.update("compaction_update", compactionId="k1", status="in_progress")
        self.update("compaction_update", compactionId="k1", status="failed", error=text)
        return self

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text("\n".join(json.dumps(line) for line in self.lines) + "\n")


def letta(stats: Iterable[tuple[int, int]], window: int, tokens: int) -> Weighed:
    """One compaction after a step for every pair of its own counts, before and after."""
    rows: list[dict[str, Any]] = [{"message_type": "system_message", "content": words(2_000)}]
    for k, (before, after) in enumerate(stats):
        for n in range(4):
            step = f"step-{k}-{n}"
            rows.append({"message_type": "user_message", "content": words(tokens // 8)})
            told = {"step_id": step, "content": words(tokens // 8)}
            rows.append({"message_type": "assistant_message", **told})
        counts = {"context_tokens_before": before, "context_tokens_after": after, "context_window": window}
        told = {"summary": words(700), "compaction_stats": {"trigger": "post_step_context_check", **counts}}
        rows.append({"message_type": "summary_message", **told})
    rows.append({"message_type": "user_message", "content": words(60)})
    rows.append({"message_type": "assistant_message", "step_id": "last", "content": words(60)})
    dated = [{"id": f"message-{n}", "date": f"2026-03-01T10:{n:02d}:00+00:00", **row} for n, row in enumerate(rows)]
    return weighed_text(json.dumps(dated))


def langsmith(used: Sequence[int], error: str) -> Weighed:
    """Runs of a model with these usages, the last one an error."""

    def message(kind: str, **kwargs: Any) -> dict[str, Any]:
        name = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage"}[kind]
        path = ["langchain", "schema", "messages", name]
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"type": kind, **kwargs}}

    sent = [message("system", content=words(6_000))]
    lines = []
    for n, tokens in enumerate([*used, 0]):
        run = {"id": f"l{n}", "name": "ChatAnthropic", "run_type": "llm", "trace_id": "t1", "parent_run_id": None}
        sent = [*sent, message("human", content=words(3_000))]
        run |= {"start_time": f"2026-03-01T10:{n:02d}:00", "inputs": {"messages": [sent]}}
        run |= {"extra": {"metadata": {"ls_model_name": "claude-sonnet-4-5"}}}
        if not tokens:
            lines.append(run | {"outputs": None, "error": error})
            break
        usage = {"input_tokens": tokens, "output_tokens": 900, "total_tokens": tokens + 900}
        reply = message("ai", content=words(900), usage_metadata=usage)
        sent = [*sent, reply]
        lines.append(run | {"outputs": {"generations": [[{"text": "", "message": reply}]]}})
    return weighed_text("\n".join(json.dumps(line) for line in lines) + "\n")


def openhands(condensed: Iterable[Sequence[int]], n: int = 5, *, asked: bool = True) -> Weighed:
    """OpenHands V0: some events, then one condensation after the other with the ids that each forgets."""
    events: list[dict[str, Any]] = [{"source": "user", "action": "message", "args": {"content": words(300)}}]
    for k in range(n):
        run: dict[str, Any] = {"source": "agent", "action": "run", "args": {"command": f"ls {k}", "thought": "I look."}}
        call = {"tool_call_id": f"c{k}", "function_name": "execute_bash", "total_calls_in_response": 1}
        answer: dict[str, Any] = {"id": f"r{k}", "model": "gpt-5", "choices": [], "usage": None}
        events.append(run | {"tool_call_metadata": call | {"model_response": answer}})
        facts = {"source": "agent", "observation": "run", "content": words(700), "cause": len(events) - 1}
        events.append(facts | {"extras": {"command": "ls"}, "tool_call_metadata": call | {"model_response": answer}})
    for ids in condensed:
        if asked:
            events.append({"source": "agent", "action": "condensation_request", "args": {}})
        facts = {"forgotten_event_ids": list(ids), "summary": None, "summary_offset": None}
        events.append({"source": "agent", "action": "condensation", "args": facts})
    dated = [{"id": k, "timestamp": f"2025-09-08T11:{k // 60:02d}:{k % 60:02d}"} | e for k, e in enumerate(events)]
    return weighed_text(json.dumps(dated))


def hermes(sizes: Sequence[int], tokens: int, model: str) -> Weighed:
    """One conversation in as many sessions: each ends for compression, the next holds so many messages."""
    lines, number = [], 0
    for k, size in enumerate(sizes):
        rows = []
        for n in range(size):
            number += 1
            text = "[CONTEXT SUMMARY]: " + words(300) if k and n == 0 else words(tokens) + str(2 * k + n)
            role = "user" if n % 2 == 0 else "assistant"
            rows.append({"id": number, "session_id": f"h{k}", "role": role, "content": text, "timestamp": number})
        facts: dict[str, Any] = {
            "id": f"h{k}",
            "source": "cli",
            "model": model,
            "started_at": 1_770_000_000 + k,
            "messages": rows,
        }
        if k:
            facts["parent_session_id"] = f"h{k - 1}"
        if k < len(sizes) - 1:
            facts["end_reason"] = "compression"
        lines.append(facts)
    return weighed_text("\n".join(json.dumps(line) for line in lines) + "\n")


def vscode(rounds: Sequence[int], *, summary_after: int | None = None, error: str = "") -> Weighed:
    """VS Code's chat: a request with rounds of so many tokens of results, maybe a summary, maybe an error behind."""
    calls = [{"id": f"c{k}", "name": "read_file", "arguments": json.dumps({"p": k})} for k in range(len(rounds))]
    told = [{"id": f"r{k}", "response": "I read.", "toolCalls": [call]} for k, call in enumerate(calls)]
    results = {f"c{k}": {"content": [{"$mid": 21, "value": words(n)}]} for k, n in enumerate(rounds)}
    metadata: dict[str, Any] = {"toolCallRounds": told, "toolCallResults": results}
    if summary_after is not None:
        metadata["summary"] = {"toolCallRoundId": f"r{summary_after}", "text": words(900)}
    asked = {"message": {"text": words(80), "parts": []}, "timestamp": 1_770_000_000_000}
    asked |= {"modelId": "copilot/claude-opus-4.5", "response": [{"value": "Read."}]}
    requests: list[dict[str, Any]] = [{"requestId": "q0", **asked, "result": {"metadata": metadata}}]
    if error:
        requests.append({"requestId": "q1", **asked, "response": [], "result": {"errorDetails": {"message": error}}})
    facts = {"version": 3, "sessionId": "v1", "responderUsername": "GitHub Copilot", "customTitle": "t"}
    return weighed_text(json.dumps(facts | {"requests": requests}))


def aider(sent: Sequence[str], model: str, end: Iterable[str]) -> Weighed:
    """aider's history: a prompt and a reply for every count it prints, then lines of its own."""
    lines = [
        "",
        "# aider chat started at 2025-01-09 10:00:00",
        "",
        f"> Main model: {model} with diff edit format  ",
        "",
    ]
    for tokens in sent:
        lines += ["#### Change it  ", "", words(300), "", f"> Tokens: {tokens} sent, 345 received.  ", ""]
    lines += ["#### Once more  ", "", *(f"> {line}  " for line in end), ""]
    return weighed_text("\n".join(lines))


def crush(tokens: Sequence[int], error: tuple[str, str], model: str) -> Weighed:
    """Crush's database: calls with results of so many tokens, then a request that ends in an error."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE sessions (id, parent_session_id, title, prompt_tokens, completion_tokens, created_at, "
                 "updated_at, summary_message_id)")  # fmt: skip
    base.execute("CREATE TABLE messages (id, session_id, role, parts, model, created_at, updated_at, "
                 "is_summary_message)")  # fmt: skip
    base.execute("INSERT INTO sessions VALUES ('k1', NULL, 't', 29800, 200, 1, 2, NULL)")
    rows: list[tuple[str, list[dict[str, Any]]]] = [("user", [{"type": "text", "data": {"text": words(60)}}])]
    for k, n in enumerate(tokens):
        call = {"id": f"c{k}", "name": "grep", "input": "{}", "finished": True}
        rows.append(("assistant", [{"type": "tool_call", "data": call}]))
        result = {"tool_call_id": f"c{k}", "name": "grep", "content": words(n), "is_error": False}
        rows.append(("tool", [{"type": "tool_result", "data": result}]))
    finish = {"reason": "error", "time": 9, "message": error[0], "details": error[1]}
    rows.append(("assistant", [{"type": "finish", "data": finish}]))
    for n, (role, parts) in enumerate(rows):
        named = model if role == "assistant" else None
        base.execute("INSERT INTO messages VALUES (?, 'k1', ?, ?, ?, ?, ?, 0)",
                     (f"m{n:03d}", role, json.dumps(parts), named, 1_770_000_000 + n, 1_770_000_000 + n))  # fmt: skip
    return weigh(read_transcripts(io.BytesIO(base.serialize())).transcripts[0])


def kimi_quiet() -> Weighed:
    """Kimi Code at a quarter, and no compaction."""
    lines = [json.dumps({"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281})]
    said = {"role": "user", "content": [{"type": "text", "text": words(60)}], "origin": {"kind": "user"}}
    lines.append(json.dumps({"type": "context.append_message", "message": said, "time": 1785612812820}))
    for k in range(6):
        part = {"type": "content.part", "stepUuid": f"s{k}", "part": {"type": "text", "text": words(200)}}
        used = {"inputOther": 200, "output": 210, "inputCacheRead": 60_000 + 900 * k, "inputCacheCreation": 0}
        events = ({"type": "step.begin", "uuid": f"s{k}"}, part, {"type": "step.end", "uuid": f"s{k}", "usage": used})
        lines += [json.dumps({"type": "context.append_loop_event", "event": e, "time": 1785612812821}) for e in events]
    return weighed_text("\n".join(lines) + "\n")
