"""The shapes in which chat completions are kept: documents, lists of exchanges, trajectories, lines (formats 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sessions.engine.reading.formats import Sniff
from sessions.engine.reading.formats._conversation import Conversation, Exchange, Part
from sessions.engine.reading.formats._exchanges import conversations_of
from sessions.engine.reading.formats._openai_chat_messages import CHAT_WIRE, displayed
from sessions.engine.reading.formats._openai_marks import chat_mark, foreign_key, foreign_turn, message_mark
from sessions.engine.reading.formats._openai_usage import local_usage, openai_usage
from sessions.engine.reading.formats._records import inside
from sessions.engine.reading.formats._server_edits import error_in
from sessions.engine.reading.formats._times import seconds
from sessions.engine.reading.formats._values import as_list, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sessions.engine.reading.formats import Measured
    from sessions.engine.reading.jsonio import Line

    Document = Mapping[str, Any]


def shape_of(document: Any) -> Sniff | None:
    """How much a document looks like chat completions, and why."""
    if isinstance(document, list):
        return _list_shape(document)
    if not isinstance(document, dict):
        return None
    request, response = _pair(document)
    if response is not None:
        pair = " with its request" if request is not None else ""
        return Sniff(90, f"a response{pair}: choices with a message")
    if request is None:
        return Sniff(0, "it has choices, but none holds a message") if "choices" in document else None
    foreign = foreign_key(document) or foreign_turn(as_list(request.get("messages")))
    if foreign:
        return Sniff(0, f"chat messages, but beside {foreign!r}, which no chat request has")
    mark = chat_mark(request)
    return Sniff(85, f"a request: messages, and {mark}") if mark else Sniff(0, "messages without a mark of OpenAI's")


def is_chat_document(document: Any) -> bool:
    """Whether there is anything to read as chat completions, however little it looks like it."""
    if isinstance(document, dict):
        return _pair(document) != (None, None)
    return isinstance(document, list) and any(
        is_chat_line(item) or _trajectory(item) is not None or (isinstance(item, dict) and _pair(item) != (None, None))
        for item in document
    )


def is_chat_line(value: Any) -> bool:
    """Whether a value is one message."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and ("content" in value or "tool_calls" in value)
        and "type" not in value
        and "parts" not in value
    )


def exchanges_of(document: Any, whole: Origin) -> list[list[Exchange]]:
    """Exchanges by group: sessions of different groups have nothing to do with each other."""
    if isinstance(document, dict):
        return [[_exchange(document, whole)]]
    trajectories = [(n, t) for n, item in enumerate(document) if (t := _trajectory(item)) is not None]
    if trajectories:
        return [[_log(messages, inside(whole, n, "traj"))] for n, messages in trajectories]
    pairs = [(n, item) for n, item in enumerate(document) if isinstance(item, dict) and _pair(item) != (None, None)]
    if pairs:
        return [[_exchange(item, inside(whole, n)) for n, item in pairs]]
    return [[_log(document, whole)]]


def line_conversation(
    lines: Iterable[tuple[Line, Document]], display: str, measure: Measured, skipped: list[Skipped]
) -> list[Conversation]:
    """One session of all lines that are messages, then one for each flattened conversation."""
    parts: list[Part] = []
    logs: list[Exchange] = []
    for line, value in lines:
        origin = Origin(line.number, line.offset, line.length)
        text = value.get(display)
        if isinstance(text, str):
            said = displayed(text)
            # The place in the text is no step of a path; it goes into the message's id.
            place = inside(origin, display)
            logs.append(
                Exchange([Part({**m, "id": f"L{line.number}.{n}"}, place) for n, m in enumerate(said)], is_log=True)
            )
        elif is_chat_line(value):
            parts.append(Part(value, origin, seconds(value.get("timestamp"))))
        else:
            skipped.append(Skipped(line.number, line.offset, "an object that is not a chat message"))
    groups = [[Exchange(parts, is_log=True)]] if parts else []
    groups += [[log] for log in logs]
    return [known for group in groups for known in conversations_of(group, CHAT_WIRE, measure)]


def _list_shape(items: list[Any]) -> Sniff | None:
    if any(_trajectory(item) is not None for item in items):
        return Sniff(85, f"item {_first(items, _trajectory)} has `traj`, a list of messages")
    pairs = [item for item in items if isinstance(item, dict)]
    shapes = [shape for item in pairs if not is_chat_line(item) and (shape := shape_of(item))]
    if shapes and max(shape.score for shape in shapes) > 0:
        best = max(shapes, key=lambda shape: shape.score)
        return Sniff(best.score - 5, f"a list of calls, not a proxy's log; one item is {best.reason}")
    if items and all(is_chat_line(item) for item in items):
        mark, foreign = message_mark(items), foreign_turn(items)
        if foreign:
            return Sniff(0, f"chat messages, but with {foreign!r}, which no chat message has")
        return (
            Sniff(75, f"a list of chat messages: {mark}") if mark else Sniff(0, "messages without a mark of OpenAI's")
        )
    return None


def _first(items: list[Any], test: Any) -> int:
    return next(n for n, item in enumerate(items) if test(item) is not None)


def _trajectory(item: Any) -> list[Any] | None:
    found = item.get("traj") if isinstance(item, dict) else None
    return found if isinstance(found, list) and any(is_chat_line(part) for part in found) else None


def _pair(document: Document) -> tuple[Document | None, Document | None]:
    """The request and the response in ``document``, None for what is not there."""
    request, response = document.get("request"), document.get("response")
    if isinstance(request, dict) or isinstance(response, dict):
        return (
            request if isinstance(request, dict) and _is_request(request) else None,
            response if isinstance(response, dict) and _reply(response) is not None else None,
        )
    return document if _is_request(document) else None, document if _reply(document) is not None else None


def _is_request(document: Document) -> bool:
    messages = document.get("messages")
    return isinstance(messages, list) and any(is_chat_line(part) for part in messages)


def _reply(response: Document) -> tuple[Document, tuple[str | int, ...]] | None:
    """The message of the first choice that holds one, or of Ollama's own ``/api/chat``, and the path to it."""
    for n, choice in enumerate(as_list(response.get("choices"))):
        if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
            return choice["message"], ("choices", n, "message")
    message = response.get("message")
    return (message, ("message",)) if "done" in response and isinstance(message, dict) else None


def _exchange(document: Document, whole: Origin) -> Exchange:
    request, response = _pair(document)
    named = isinstance(document.get("request"), dict) or isinstance(document.get("response"), dict)
    sent_at = inside(whole, "request") if named else whole
    reply_at = inside(whole, "response") if named else whole
    exchange = Exchange(error=error_in(document))
    if request is not None:
        exchange.sent = list(_parts(request["messages"], inside(sent_at, "messages")))
        exchange.system = tuple(_definitions(request.get("tools")))
        exchange.model = text_of(request.get("model"))
    if response is not None and (found := _reply(response)) is not None:
        message, path = found
        exchange.timestamp = seconds(response.get("created") or response.get("created_at"))
        exchange.reply = [Part(message, inside(reply_at, *path), exchange.timestamp)]
        exchange.usage = openai_usage(response.get("usage")) or local_usage(response)
        exchange.model = text_of(response.get("model")) or exchange.model
        exchange.response_id = text_of(response.get("id"))
    return exchange


def _log(messages: list[Any], at: Origin) -> Exchange:
    return Exchange(list(_parts(messages, at)), is_log=True)


def _parts(messages: list[Any], at: Origin) -> Iterator[Part]:
    for position, message in enumerate(messages):
        yield Part(message, inside(at, position))


def _definitions(tools: Any) -> Iterator[Content]:
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get("function") if isinstance(tool, dict) else None
        name = text_of(inner.get("name")) if isinstance(inner, dict) else ""
        yield Content(Kind.TEXT, text=dumps(tool), name=name)
