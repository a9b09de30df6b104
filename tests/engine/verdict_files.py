"""Writes transcripts of Claude Code, Codex and pi for the tests of verdicts, with usage that tests may bend."""

from __future__ import annotations

import base64
import io
import json
import struct
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.verdicts import Verdict, verdicts_of

if TYPE_CHECKING:
    from sessions.engine.weigh.calibration.weighed import Weighed


def words(tokens: int) -> str:
    """Text of about so many tokens."""
    return "alpha " * tokens


def png(n_base64: int, side: int) -> str:
    """Base64 of so many characters that starts like a square PNG."""
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", side, side)
    return base64.b64encode(header + bytes(n_base64 * 3 // 4 - len(header))).decode()


class Claude:
    """A Claude Code session; ``context`` is what the provider would report next."""

    def __init__(self, model: str = "claude-opus-4-5", overhead: int = 15_000) -> None:
        self.model, self.overhead, self.context = model, overhead, overhead
        self.lines: list[str] = []
        self.parent: str | None = None
        self.n = 0
        self.version, self.day = "2.1.150", "2026-10-01"

    def emit(self, kind: str, **fields: Any) -> None:
        """One chained line."""
        uuid = f"00000000-0000-4000-8000-{len(self.lines):012d}"
        base = {"parentUuid": self.parent, "isSidechain": False, "sessionId": "s1", "type": kind}
        base |= {"version": self.version, "uuid": uuid, "timestamp": f"{self.day}T08:00:00.000Z"}
        self.lines.append(json.dumps(base | fields))
        self.parent = uuid

    def prompt(self, tokens: int = 50) -> None:
        """A typed prompt."""
        self.emit("user", message={"role": "user", "content": words(tokens)})
        self.context += tokens

    def reply(self, *, call: str = "", output: int = 100, **usage: Any) -> None:
        """One answered request; ``usage`` replaces what the provider reports of its input."""
        self.n += 1
        fresh = {"input_tokens": 3, "cache_creation_input_tokens": 500, "cache_read_input_tokens": self.context - 503}
        content: list[dict[str, Any]] = [{"type": "text", "text": words(output - 30)}]
        if call:
            content.append({"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/src/{call}.py"}})
        usages = {**fresh, **usage, "output_tokens": output}
        message = {
            "id": f"msg_{self.n}", "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": "tool_use" if call else "end_turn", "usage": usages,
        }  # fmt: skip
        self.emit("assistant", message=message)
        self.context += output

    def result(self, call: str, tokens: int, *, image: tuple[int, int, int] | None = None) -> None:
        """A tool result of text, or with an image of (base64 characters, side, tokens)."""
        content: list[dict[str, Any]] = [{"type": "text", "text": words(tokens)}]
        if image:
            data = {"type": "base64", "media_type": "image/png", "data": png(image[0], image[1])}
            content.append({"type": "image", "source": data})
            self.context += image[2]
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        self.emit("user", message={"role": "user", "content": [block]})
        self.context += tokens + 12

    def turns(self, n: int, tokens: int, **usage: int) -> Claude:
        """So many tool turns with results of so many tokens."""
        for _ in range(n):
            call = f"c{self.n}"
            self.reply(call=call, **usage)
            self.result(call, tokens)
        return self

    def until(self, context: int, tokens: int = 3_000) -> Claude:
        """Tool turns until the next would pass ``context``; ends with a result."""
        while self.context + tokens + 112 <= context:
            self.turns(1, tokens)
        return self

    def compact(self, trigger: str | None = "auto", pre: int | None = None, summary: int = 2_000) -> None:
        """A boundary and its summary."""
        last, self.parent = self.parent, None
        facts = {"trigger": trigger, "preTokens": self.context if pre is None else pre}
        facts = {key: value for key, value in facts.items() if value is not None}
        self.emit("system", subtype="compact_boundary", logicalParentUuid=last, compactMetadata=facts, content="x")
        self.emit("user", isCompactSummary=True, message={"role": "user", "content": words(summary)})
        self.context = self.overhead + summary

    def refuse(self, text: str) -> None:
        """An error of the provider as the client writes it down."""
        content = [{"type": "text", "text": text}]
        message = {"id": "e", "model": "<synthetic>", "role": "assistant", "content": content, "usage": {}}
        self.emit("assistant", isApiErrorMessage=True, message=message)

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text("\n".join(self.lines) + "\n")

    def verdicts(self) -> tuple[Verdict, ...]:
        """Its verdicts."""
        return verdicts_of(self.weighed())


class Codex:
    """A Codex rollout; ``context`` is what the provider would report next."""

    def __init__(self, window: int = 258_400, model: str = "gpt-5.2", overhead: int = 12_000) -> None:
        self.window, self.overhead, self.context, self.n = window, overhead, overhead, 0
        self.live: list[dict[str, Any]] = []
        self.total = 0
        self.lines: list[str] = []
        self.line("session_meta", {"id": "t1", "cwd": "/home/me/app", "cli_version": "0.144.2"})
        self.line("turn_context", {"turn_id": "1", "model": model})

    def line(self, kind: str, payload: dict[str, Any]) -> None:
        """One line of the rollout."""
        self.lines.append(json.dumps({"timestamp": "2026-10-01T08:00:00Z", "type": kind, "payload": payload}))

    def item(self, tokens: int, **payload: Any) -> None:
        """A response item."""
        self.line("response_item", payload)
        self.live.append(payload)
        self.context += tokens

    def prompt(self, tokens: int = 50, *, image: tuple[int, int, int] | None = None) -> None:
        """A typed prompt, with an image of (base64 characters, side, tokens)."""
        content: list[dict[str, Any]] = [{"type": "input_text", "text": words(tokens)}]
        if image:
            url = f"data:image/png;base64,{png(image[0], image[1])}"
            content.append({"type": "input_image", "image_url": url})
            tokens += image[2]
        self.item(tokens, type="message", role="user", content=content)

    def turn(self, tokens: int, output: int = 80) -> None:
        """A call with its result."""
        self.n += 1
        used = {"input_tokens": self.context, "cached_input_tokens": self.context - 900, "output_tokens": output}
        call = f"call_{self.n}"
        self.item(output, type="function_call", name="shell", arguments=json.dumps({"cmd": words(20)}), call_id=call)
        self.total += self.context
        info = {
            "last_token_usage": used | {"total_tokens": used["input_tokens"] + output},
            "total_token_usage": {"total_tokens": self.total}, "model_context_window": self.window,
        }  # fmt: skip
        self.line("event_msg", {"type": "token_count", "info": info})
        self.item(tokens, type="function_call_output", call_id=call, output=words(tokens))

    def until(self, context: int, tokens: int = 4_000) -> Codex:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 80 <= context:
            self.turn(tokens)
        return self

    def compact(self, *, keep_prompts: bool = True, summary: int = 1_500) -> None:
        """A replacement history: the prompts kept (with their images), and a summary."""
        kept = [item for item in self.live if item.get("role") == "user" and keep_prompts]
        made = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words(summary)}]}
        self.line("compacted", {"message": words(summary), "replacement_history": [*kept, made]})
        self.live = [*kept, made]
        self.context = self.overhead + summary

    def refuse(self, text: str) -> None:
        """An error event."""
        self.line("event_msg", {"type": "error", "message": text})

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text("\n".join(self.lines) + "\n")

    def verdicts(self) -> tuple[Verdict, ...]:
        """Its verdicts."""
        return verdicts_of(self.weighed())


class Pi:
    """A pi session, version 3; ``context`` is what the provider would report next."""

    def __init__(self, model: str = "claude-opus-4-5", overhead: int = 6_000) -> None:
        self.model, self.overhead, self.context, self.n = model, overhead, overhead, 0
        self.lines = [json.dumps({"type": "session", "version": 3, "id": "p1", "cwd": "/home/me/app"})]
        self.last: str | None = None

    def entry(self, kind: str, **fields: Any) -> str:
        """One entry."""
        ident = f"{len(self.lines):08x}"
        base = {"type": kind, "id": ident, "parentId": self.last, "timestamp": "2026-10-01T08:00:00Z"}
        self.lines.append(json.dumps(base | fields))
        self.last = ident
        return ident

    def prompt(self, tokens: int = 50) -> str:
        """A typed prompt."""
        self.context += tokens
        content = [{"type": "text", "text": words(tokens)}]
        return self.entry("message", message={"role": "user", "content": content})

    def turn(self, tokens: int, output: int = 100, *, image: tuple[int, int, int] | None = None, **usage: int) -> str:
        """A call with its result, which may hold an image of (base64 characters, side, tokens)."""
        self.n += 1
        used = {"input": 10, "output": output, "cacheRead": self.context - 10, "cacheWrite": 0, **usage}
        content: list[dict[str, Any]] = [{"type": "text", "text": words(output - 30)}]
        content.append({"type": "toolCall", "id": f"c{self.n}", "name": "read", "arguments": {"path": f"/{self.n}.py"}})
        message = {
            "role": "assistant", "content": content, "model": self.model, "usage": used, "stopReason": "toolUse",
        }  # fmt: skip
        ident = self.entry("message", message=message)
        held: list[dict[str, Any]] = [{"type": "text", "text": words(tokens)}]
        if image:
            held.append({"type": "image", "data": png(image[0], image[1]), "mimeType": "image/png"})
            tokens += image[2]
        self.entry("message", message={"role": "toolResult", "toolCallId": f"c{self.n}", "content": held})
        self.context += output + tokens + 12
        return ident

    def until(self, context: int, tokens: int = 4_000) -> Pi:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 112 <= context:
            self.turn(tokens)
        return self

    def compact(self, before: int | None, kept: str | None = None, summary: int = 1_500) -> None:
        """A compaction entry; ``kept`` is the id of the first entry that stays."""
        fields = {"summary": words(summary), "firstKeptEntryId": kept or "ffffffff"}
        self.entry("compaction", **fields, **({} if before is None else {"tokensBefore": before}))
        self.context = self.overhead + summary

    def refuse(self, text: str) -> None:
        """A reply that failed."""
        message = {"role": "assistant", "content": [], "model": self.model, "usage": {}, "stopReason": "error"}
        self.entry("message", message=message | {"errorMessage": text})

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        return weighed_text("\n".join(self.lines) + "\n")

    def verdicts(self) -> tuple[Verdict, ...]:
        """Its verdicts."""
        return verdicts_of(self.weighed())


class Opencode:
    """An opencode export; ``context`` is what the provider would report next."""

    def __init__(self, model: str = "claude-sonnet-4-5", overhead: int = 12_000) -> None:
        self.model, self.overhead, self.context, self.last = model, overhead, overhead, ""
        self.messages: list[dict[str, Any]] = []

    def add(self, parts: list[dict[str, Any]], **info: Any) -> str:
        """One message."""
        number = len(self.messages)
        time = 1_772_359_200_000 + 1_000 * number
        base = {"id": f"msg_{number:05d}", "sessionID": "ses_1", "time": {"created": time, "completed": time + 100}}
        self.messages.append({"info": base | info, "parts": parts})
        return str(base["id"])

    def prompt(self, tokens: int = 50) -> None:
        """A typed prompt."""
        self.last = self.add([{"type": "text", "text": words(tokens)}], role="user")
        self.context += tokens

    def reply(self, used: dict[str, Any], parts: list[dict[str, Any]], **info: Any) -> None:
        """A reply with its usage."""
        facts = {"parentID": self.last, "modelID": self.model, "providerID": "p", "tokens": used, "cost": 0}
        self.add(parts, role="assistant", **facts, **info)

    def turn(self, tokens: int, output: int = 100, *, whole: int | None = None, cached: int | None = None) -> Opencode:
        """A call with its result; ``whole`` and ``cached`` replace the input and what the cache read of it."""
        read = self.context - 3 if cached is None else cached
        fresh, cache = 3 if whole is None else whole, {"read": read, "write": 0}
        used = {"input": fresh, "output": output, "reasoning": 0, "cache": cache}
        number = len(self.messages)
        state = {"status": "completed", "input": {"filePath": f"/{number}.py"}, "output": words(tokens)}
        call = {"type": "tool", "callID": f"c{number}", "tool": "read", "state": state}
        self.reply(used, [{"type": "text", "text": words(output - 30)}, call], finish="tool-calls")
        self.context += output + tokens + 12
        return self

    def until(self, context: int, tokens: int = 3_000) -> Opencode:
        """Turns until the next would pass ``context``."""
        while self.context + tokens + 112 <= context:
            self.turn(tokens)
        return self

    def compact(self, *, auto: bool = True, summary: int = 1_500) -> None:
        """The mark, the call that wrote the summary, and the prompt to go on."""
        self.last = self.add([{"type": "compaction", "auto": auto}], role="user")
        used = {"input": self.context, "output": summary, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        self.reply(used, [{"type": "text", "text": words(summary)}], summary=True, finish="stop")
        self.context = self.overhead + summary
        self.last = self.add([{"type": "text", "text": "Continue", "synthetic": True}], role="user")

    def weighed(self) -> Weighed:
        """The session, read and weighed."""
        info = {"id": "ses_1", "title": "t", "version": "1.1.34", "time": {"created": 1, "updated": 2}}
        return weighed_text(json.dumps({"info": info, "messages": self.messages}))

    def verdicts(self) -> tuple[Verdict, ...]:
        """Its verdicts."""
        return verdicts_of(self.weighed())


def weighed_text(text: str) -> Weighed:
    """The first session of a file, read and weighed."""
    return weigh(read_transcripts(io.BytesIO(text.encode())).transcripts[0])


def told(verdicts: tuple[Verdict, ...]) -> list[tuple[str, int, str, str]]:
    """What, where, cause and certainty of every verdict."""
    return [(v.what, v.request, v.cause, v.certainty) for v in verdicts]


def compacted(session: Claude, trigger: str = "auto", pre: int | None = None) -> Claude:
    """The session with a compaction and three turns after it."""
    session.compact(trigger, pre)
    return session.turns(3, 500)


def claude_to(context: int, model: str = "claude-opus-4-5") -> Claude:
    """A session whose context stands just over ``context``, by one last result."""
    session = Claude(model)
    session.prompt()
    session.until(context)
    session.reply(call="last")
    session.result("last", max(1, context - session.context))
    return session
