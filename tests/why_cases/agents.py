"""Writes transcripts of Gemini CLI, Cline, Copilot CLI, Qwen Code and the two APIs, with usage that tests may bend."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.engine.verdict_files import weighed_text, words

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def clock(n: int) -> str:
    """The time of record ``n``: one a second."""
    return f"2026-10-01T{8 + n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}.000Z"


class Lines:
    """A file of JSON lines; ``context`` is what the provider would report next."""

    def __init__(self, overhead: int) -> None:
        self.overhead, self.context, self.n = overhead, overhead, 0
        self.lines: list[dict[str, Any]] = []

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text("\n".join(json.dumps(line) for line in self.lines) + "\n")


class Gemini(Lines):
    """Gemini CLI's log of one chat."""

    def __init__(self, model: str = "gemini-2.5-pro", overhead: int = 9_000) -> None:
        super().__init__(overhead)
        self.model = model
        times = {"startTime": clock(0), "lastUpdated": clock(1)}
        self.lines.append({"sessionId": "g1", "projectHash": "ab", **times, "kind": "main"})

    def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """One message."""
        n = len(self.lines)
        message = {"id": f"m{n}", "timestamp": clock(n), "type": kind, **fields}
        self.lines.append(message)
        return message

    def prompt(self, tokens: int = 50) -> Gemini:
        """A typed prompt."""
        self.add("user", content=words(tokens))
        self.context += tokens
        return self

    def turn(self, tokens: int, output: int = 60) -> Gemini:
        """A call with its result."""
        self.n += 1
        used = {"input": self.context, "output": output, "cached": 0, "thoughts": 0, "tool": 0}
        answer = [{"functionResponse": {"id": f"c{self.n}", "name": "ls", "response": {"output": words(tokens)}}}]
        call = {"id": f"c{self.n}", "name": "ls", "args": {"p": "."}, "result": answer, "status": "success"}
        facts = {"tokens": used | {"total": self.context + output}, "model": self.model, "toolCalls": [call]}
        self.add("gemini", content="I look.", thoughts=[], **facts)
        self.context += output + tokens
        return self

    def until(self, context: int, tokens: int = 20_000) -> Gemini:
        """Turns until the next would pass ``context``."""
        while self.context + tokens <= context:
            self.turn(tokens)
        return self

    def compress(self, after: int) -> Gemini:
        """The list replaced by a state snapshot, and what the next call then holds."""
        snapshot = {"id": "s1", "timestamp": clock(len(self.lines)), "type": "user"}
        text = "<state_snapshot>" + words(max(10, after - self.overhead)) + "</state_snapshot>"
        self.lines.append({"$set": {"messages": [snapshot | {"content": text}]}})
        self.context = after
        return self

    def refuse(self, text: str) -> Gemini:
        """An error as the client shows it."""
        self.add("error", content=text)
        return self


class ClineTask:
    """Cline's ui messages; ``context`` is what the provider would report next."""

    def __init__(self, overhead: int = 12_000) -> None:
        self.overhead, self.context, self.n = overhead, overhead, 0
        self.entries: list[dict[str, Any]] = [{"ts": 1, "type": "say", "say": "task", "text": words(60)}]

    def say(self, say: str, text: str, *, kind: str = "say", **fields: Any) -> None:
        """One entry."""
        self.entries.append({"ts": 10 * len(self.entries), "type": kind, kind: say, "text": text} | fields)

    def turn(self, tokens: int, **fields: Any) -> ClineTask:
        """A request with its reply and a command's output."""
        used = {"tokensIn": 10, "tokensOut": 100, "cacheReads": self.context - 10, "cacheWrites": 0}
        self.say("api_req_started", json.dumps({"request": "x", **used}), **fields)
        self.say("text", words(70))
        self.say("command", "ls", kind="ask")
        self.say("command_output", words(tokens))
        self.context += 100 + tokens
        return self

    def until(self, context: int, tokens: int = 4_000) -> ClineTask:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 100 <= context:
            self.turn(tokens)
        return self

    def cut(self, after: int) -> ClineTask:
        """A request after the oldest messages were cut."""
        n = 2 * (len(self.entries) // 8)
        self.context = after
        return self.turn(300, conversationHistoryDeletedRange=[2, n], conversationHistoryIndex=n + 1)

    def refuse(self, text: str) -> ClineTask:
        """A request that failed."""
        self.say("api_req_started", json.dumps({"request": "x"}))
        self.say("api_req_failed", text, kind="ask")
        return self

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text(json.dumps(self.entries))


class Copilot(Lines):
    """Copilot CLI's events; it reports no input of calls."""

    def __init__(self, model: str = "claude-sonnet-4-5", system: int = 9_000, tools: int = 3_000) -> None:
        super().__init__(system + tools)
        self.system, self.tools = system, tools
        self.event("session.start", {"sessionId": "c1", "version": 1, "producer": "copilot-agent"})
        self.event("session.model_change", {"newModel": model})
        self.model = model

    def event(self, kind: str, data: dict[str, Any]) -> None:
        """One event."""
        n = len(self.lines)
        parent = f"e{n - 1}" if n else None
        self.lines.append({"type": kind, "data": data, "id": f"e{n}", "timestamp": clock(n), "parentId": parent})

    def prompt(self, tokens: int = 50) -> Copilot:
        """A typed prompt."""
        self.event("user.message", {"content": words(tokens), "attachments": []})
        self.context += tokens
        return self

    def turn(self, tokens: int) -> Copilot:
        """A call with its result."""
        self.n += 1
        call = {"toolCallId": f"c{self.n}", "name": "view", "arguments": {"path": "a.md"}, "type": "function"}
        facts = {"messageId": f"m{self.n}", "model": self.model, "outputTokens": 60, "apiCallId": f"api-{self.n}"}
        self.event("assistant.message", {"content": "I look.", "toolRequests": [call], **facts})
        result = {"content": words(tokens), "detailedContent": ""}
        self.event("tool.execution_complete", {"toolCallId": f"c{self.n}", "success": True, "result": result})
        self.context += 60 + tokens
        return self

    def until(self, context: int, tokens: int = 4_000) -> Copilot:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 60 <= context:
            self.turn(tokens)
        return self

    def compact(self, *, error: str = "") -> Copilot:
        """A compaction, or one that failed."""
        spoken = self.context - self.system - self.tools
        parts = {"systemTokens": self.system, "conversationTokens": spoken, "toolDefinitionsTokens": self.tools}
        self.event("session.compaction_start", parts)
        if error:
            self.event("session.compaction_complete", {"success": False, "error": error})
            return self
        done = {"success": True, "summaryContent": words(900), "preCompactionTokens": self.context}
        self.event("session.compaction_complete", done)
        self.context = self.overhead + 900
        return self


class Qwen(Lines):
    """Qwen Code's chat; the window is recorded with every reply."""

    def __init__(self, window: int, overhead: int = 12_000) -> None:
        super().__init__(overhead)
        self.window = window

    def record(self, kind: str, **fields: Any) -> None:
        """One record, a child of the one before."""
        n = len(self.lines)
        facts = {"uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "q1", "timestamp": clock(n)}
        self.lines.append({**facts, "type": kind, "cwd": "/garden", "version": "0.21.13", **fields})

    def prompt(self, tokens: int = 50) -> Qwen:
        """A typed prompt."""
        self.record("user", message={"role": "user", "parts": [{"text": words(tokens)}]})
        self.context += tokens
        return self

    def turn(self, tokens: int) -> Qwen:
        """A call with its result."""
        self.n += 1
        used = {"promptTokenCount": self.context, "candidatesTokenCount": 60, "cachedContentTokenCount": 0}
        call = {"functionCall": {"id": f"c{self.n}", "name": "read_file", "args": {"path": "a.md"}}}
        facts = {"model": "qwen3-coder-plus", "contextWindowSize": self.window, "usageMetadata": used}
        self.record("assistant", **facts, message={"role": "model", "parts": [call]})
        answer = {"id": f"c{self.n}", "name": "read_file", "response": {"output": words(tokens)}}
        self.record("tool_result", message={"role": "user", "parts": [{"functionResponse": answer}]})
        self.context += 60 + tokens
        return self

    def until(self, context: int, tokens: int = 20_000) -> Qwen:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 60 <= context:
            self.turn(tokens)
        return self

    def refuse(self, text: str) -> Qwen:
        """An error of the provider."""
        event = {"event.name": "qwen-code.api_error", "error_message": text, "status_code": 400}
        self.record("system", subtype="ui_telemetry", systemPayload={"uiEvent": event})
        return self

    def compress(self, before: int, after: int) -> Qwen:
        """The list replaced by a summary."""
        info = {"originalTokenCount": before, "newTokenCount": after, "compressionStatus": 1}
        history = [{"role": "user", "parts": [{"text": words(max(20, after - self.overhead))}]}]
        payload = {"info": info, "compressedHistory": history}
        self.record("system", subtype="chat_compression", systemPayload=payload)
        self.context = after
        return self


def messages_exchange(trigger: int, before: int) -> Weighed:
    """One exchange of the Messages API that compacted at the trigger that its request gives."""
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": trigger}}
    request = {
        "model": "claude-sonnet-4-6", "max_tokens": 64, "context_management": {"edits": [edit]},
        "messages": [
            {"role": "user", "content": words(before)}, {"role": "assistant", "content": "Read."},
            {"role": "user", "content": "Go on"},
        ],
    }  # fmt: skip
    steps = [
        {"type": "compaction", "input_tokens": before, "output_tokens": 900},
        {"type": "message", "input_tokens": 1_200, "output_tokens": 40},
    ]
    usage = {"input_tokens": 1_200, "output_tokens": 40, "iterations": steps}
    content = [{"type": "compaction", "content": words(800)}, {"type": "text", "text": "Done."}]
    response = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6"}
    return weighed_text(json.dumps({"request": request, "response": response | {"content": content, "usage": usage}}))


def responses_exchange(threshold: int, before: int) -> Weighed:
    """One exchange of the Responses API that compacted at its request's own threshold."""
    rule = [{"type": "compaction", "compact_threshold": threshold}]
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words(before)}]}
    request = {"model": "gpt-4.1", "context_management": rule, "input": [user]}
    said = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
    output = [
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "QUJD" * 200},
        said | {"content": [{"type": "output_text", "text": "Done."}]},
    ]
    usage = {"input_tokens": before, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20}
    response = {"id": "resp_1", "object": "response", "model": "gpt-4.1", "status": "completed", "output": output}
    return weighed_text(json.dumps({"request": request, "response": response | {"usage": usage}}))
