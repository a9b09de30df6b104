"""Chat completions: a request, a response, both, a list of these; plain lists of messages; tau-bench runs (formats 5).

Messages that each request repeats are one message.  Reported input includes cached tokens; ``Usage.input`` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._assembly import with_unique_ids
from sessions.engine.reading.formats._blocks import definitions, opaque
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ProviderApi, TracedCall
from sessions.engine.reading.formats._counts import local_usage, openai_usage
from sessions.engine.reading.formats._items import ROLES, call_content, parts_of, plain_result
from sessions.engine.reading.formats._marks import chat_mark, foreign_key, foreign_turn, message_mark
from sessions.engine.reading.formats._records import closest, first_objects, inside, misread, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.reading.jsonio import Line
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role

DISPLAY = "messages_display"
_SPEAKER = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)


def _contents(message: Any) -> tuple[Content, ...]:
    """The blocks of one message: reasoning, content, tool calls; or the result of one call."""
    if not isinstance(message, dict):
        return parts_of(message)
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        call_id = text_of(message.get("tool_call_id")) or text_of(message.get("name"))
        return (plain_result(call_id, content),)
    return (*_reasoning(message), *parts_of(content), *_refusal(message), *_calls(message))


def _said_at(message: Any, at: Origin, time: float | None = None) -> CallMessage:
    held = as_dict(message)
    role = ROLES.get(text_of(held.get("role")), Role.USER)
    return CallMessage(role, _contents(message), (at,), text_of(held.get("id")), timestamp=time)


def displayed(text: str) -> list[dict[str, str]]:
    """Messages of a conversation flattened to lines that begin with ``user: `` and the like, the first the user's."""
    found = list(_SPEAKER.finditer(text))
    starts = [match.start() for match in found]
    before = text[: starts[0]] if starts else text
    said = [{"role": "user", "content": before.removesuffix("\n")}] if before.strip() else []
    for match, end in zip(found, [*starts[1:], len(text)], strict=False):
        said.append({"role": match[1], "content": text[match.end() : end].removesuffix("\n")})
    return said


def _reasoning(message: Record) -> Iterator[Content]:
    key = next((key for key in ("reasoning_content", "reasoning") if message.get(key)), "")
    if key and isinstance(message[key], str):
        yield Content(Kind.THINKING, text=message[key])
    elif key and isinstance(message[key], dict):
        yield opaque(message[key], key)


def _refusal(message: Record) -> Iterator[Content]:
    if text_of(message.get("refusal")):
        yield Content(Kind.TEXT, text=message["refusal"])
    if isinstance(message.get("audio"), dict):
        yield opaque(message["audio"], "audio")


def _calls(message: Record) -> Iterator[Content]:
    for call in as_list(message.get("tool_calls")):
        if not isinstance(call, dict):
            yield from parts_of(call)
            continue
        inner: Record = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), {})
        arguments = inner.get("arguments", inner.get("input"))
        yield call_content(text_of(inner.get("name")), text_of(call.get("id")), arguments)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        name = text_of(legacy.get("name"))
        yield call_content(name, name, legacy.get("arguments"))


def _request_shape(document: Record, request: Record | None) -> Sniff | None:
    if request is None:
        return Sniff(0, "it has choices, but none holds a message") if "choices" in document else None
    if foreign := foreign_key(document) or foreign_turn(as_list(request.get("messages"))):
        return Sniff(0, f"chat messages, but beside {foreign!r}, which no chat request has")
    mark = chat_mark(request)
    return Sniff(85, f"a request: messages, and {mark}") if mark else Sniff(0, "messages without a mark of OpenAI's")


def _is_document(document: Any) -> bool:
    """Whether there is anything to read as chat completions, however little it looks like it."""
    if isinstance(document, dict):
        return API.pair(document) != (None, None)
    shapes = (_is_line, lambda item: API.pair(item) != (None, None), lambda item: _trajectory(item) is not None)
    return isinstance(document, list) and any(fits(item) for item in document for fits in shapes)


def _is_line(value: Any) -> bool:
    """Whether a value is one message."""
    held = as_dict(value)
    is_said = isinstance(held.get("role"), str) and ("content" in held or "tool_calls" in held)
    return is_said and "type" not in held and "parts" not in held


def _groups(document: Any, whole: Origin) -> list[list[TracedCall]]:
    """Calls by group: sessions of different groups have nothing to do with each other."""
    if isinstance(document, dict):
        return [[API.call(document, whole)]]
    if trajectories := [(n, t) for n, item in enumerate(document) if (t := _trajectory(item)) is not None]:
        return [[API.log(messages, inside(whole, n, "traj"))] for n, messages in trajectories]
    return [API.calls(document, whole)]


def _lines(lines: Iterable[tuple[Line, Record]], source: Source) -> list[list[TracedCall]]:
    """One session of all lines that are messages, then one for each flattened conversation."""
    whole = TracedCall([], [], is_log=True)
    logs: list[TracedCall] = []
    for line, value in lines:
        origin = line.at()
        text = value.get(DISPLAY)
        if isinstance(text, str):
            # The place in the text is no step of a path; it goes into the message's id.
            said = [{**message, "id": f"L{line.number}.{n}"} for n, message in enumerate(displayed(text))]
            place = inside(origin, DISPLAY)
            logs.append(TracedCall([_said_at(message, place) for message in said], [], is_log=True))
        elif _is_line(value):
            whole.sent.append(_said_at(value, origin, seconds(value.get("timestamp"))))
        else:
            source.skip("an object that is not a chat message", line)
    return [[log] for log in (whole, *logs) if log.sent]


def _list_shape(items: list[Any]) -> Sniff | None:
    first = next((n for n, item in enumerate(items) if _trajectory(item) is not None), None)
    if first is not None:
        return Sniff(85, f"item {first} has `traj`, a list of messages")
    shapes = (API.shape(item) for item in items if isinstance(item, dict) and not _is_line(item))
    if best := closest(shapes, "a list of calls, not a proxy's log"):
        return best
    if items and all(_is_line(item) for item in items):
        if foreign := foreign_turn(items):
            return Sniff(0, f"chat messages, but with {foreign!r}, which no chat message has")
        mark = message_mark(items)
        score, reason = (75, f"a list of chat messages: {mark}") if mark else (0, "messages without a mark of OpenAI's")
        return Sniff(score, reason)
    return None


def _trajectory(item: Any) -> list[Any] | None:
    found = as_dict(item).get("traj")
    return found if isinstance(found, list) and any(_is_line(part) for part in found) else None


def _is_request(document: Record) -> bool:
    return any(map(_is_line, as_list(document.get("messages"))))


def _reply(response: Record) -> tuple[Record, tuple[str | int, ...]] | None:
    """The message of the first choice that holds one, or of Ollama's own ``/api/chat``, and the path to it."""
    for n, choice in enumerate(as_list(response.get("choices"))):
        if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
            return choice["message"], ("choices", n, "message")
    message = response.get("message")
    return (message, ("message",)) if "done" in response and isinstance(message, dict) else None


def _ask(call: TracedCall, request: Record, at: Origin) -> None:
    call.sent, call.prefills = API.log(request["messages"], inside(at, "messages")).sent, True
    call.system = definitions(request.get("tools"))
    call.model = text_of(request.get("model"))


def _answer(call: TracedCall, response: Record, at: Origin) -> None:
    message, path = _reply(response) or ({}, ())
    call.timestamp = seconds(response.get("created") or response.get("created_at"))
    call.replied = [_said_at(message, inside(at, *path))]
    call.usage = openai_usage(response.get("usage")) or local_usage(response)
    call.model = text_of(response.get("model")) or call.model
    call.response_id = text_of(response.get("id"))


API = ProviderApi(
    _said_at, _is_request, _reply, _ask, _answer, 90, lambda _: "choices with a message", _request_shape, _list_shape
)


class _Format(Format):
    label = "OpenAI chat"
    source = "POST /v1/chat/completions: request, response, both, lists of these, messages; tau-bench's trajectories"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="error in place of an answer", compaction="a summary in place of messages", model="model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if head.document is not None:
            return API.shape(head.document)
        lines = first_objects(head)
        if lines and all(isinstance(value.get(DISPLAY), str) for value in lines):
            return Sniff(70, f"line 1 has {DISPLAY}: a conversation as text")
        if lines and all(_is_line(value) for value in lines):
            mark, foreign = message_mark(lines), foreign_turn(lines)
            if foreign:
                return Sniff(0, f"lines are chat messages, but with {foreign!r}, which no chat message has")
            return Sniff(75, f"lines are chat messages: {mark}") if mark else None
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.head().document
        if document is None or (isinstance(document, dict) and isinstance(document.get(DISPLAY), str)):
            groups = _lines(objects(source), source)
        elif _is_document(document):
            groups = _groups(document, Origin(1, 0, source.size))
        else:
            raise misread("neither a chat request, a response nor messages")
        stem = stem_of(source.name)
        found = [session for group in groups for session in sessions_of(group, measure, stem=stem, runs=True)]
        return Parsed(with_unique_ids(found))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of one message; one of a flattened conversation is found by its number."""
        if message.origins[0].path == (DISPLAY,):
            said = displayed(text_of(values[0]))
            position = int(message.id.rpartition(".")[2])
            return _contents(said[position]) if position < len(said) else ()
        return tuple(content for value in values for content in _contents(value))
