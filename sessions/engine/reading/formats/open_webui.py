"""Chats exported by Open WebUI: a tree of messages for every chat, one or a list of them (formats 81).

The branch is the way from ``currentId`` up to the root.  Beside an Ollama model's answer stand its own counts, beside
others OpenAI's usage; where an answer called tools, they are those of its last call.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, media_link
from sessions.engine.reading.formats._branch import way_to
from sessions.engine.reading.formats._chat_blocks import parts_of, role_of
from sessions.engine.reading.formats._counts import local_usage, openai_usage
from sessions.engine.reading.formats._items import item_contents, item_role
from sessions.engine.reading.formats._records import first_records, inside, records, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Message, Origin, Parsed, Role, Transcript, Usage

SUMMARY = "contextSummary"
"""Where a message has the summary that is sent in place of all before it."""
OUTPUT = "output"
"""Where a message keeps what its calls gave, as items of the Responses API."""
SOURCES = "sources"
"""Where an answer keeps the documents and pages whose texts were put into its question, and sent with no later one."""


def _contents(value: Any) -> tuple[Content, ...]:
    message = as_dict(value)
    return (*parts_of(message.get("content")), *(_file(file) for file in as_list(message.get("files"))))


def _texts(value: Any) -> tuple[Content, ...]:
    """The texts of a source, under its name."""
    source = as_dict(value)
    name = text_of(as_dict(source.get("source")).get("name"))
    return tuple(Content(Kind.TEXT, text=text_of(text), name=name) for text in as_list(source.get("document")) if text)


def _blocks(value: Any, origin: Origin, _: Message) -> tuple[Content, ...]:
    """A message, an item of its output, a source of its answer, or the summary of what stood before it."""
    if SOURCES in origin.path[-2:-1]:
        return _texts(value)
    if origin.path[-1:] == (SUMMARY,):
        return parts_of(value)
    return item_contents(value) if OUTPUT in origin.path[-2:-1] else _contents(value)


class _Format(Format):
    label = "Open WebUI"
    source = "Chats exported by Open WebUI, one or a list (JSON)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="error of a message", compaction=SUMMARY, model="model of a message",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        found = first_records(head)
        n = sum(_is_chat(record) for record in found)
        said = f"{n} of the first {len(found)} entries have a history of messages by childrenIds"
        return Sniff(95, said) if n else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        placed = records(source, _is_chat, "no chat: it has no history of messages")
        found = [_session(record, origin, stem_of(source.name), measure) for record, origin in placed]
        return read_as(found, "no chat with messages")

    contents = each_place(_blocks)


def _chat(record: Record) -> dict[str, Any]:
    """The chat in a record, which is one itself in older exports."""
    return as_dict(record.get("chat")) or dict(record)


def _messages(record: Record) -> dict[str, Any]:
    return as_dict(as_dict(_chat(record).get("history")).get("messages"))


def _is_chat(record: Record) -> bool:
    nodes = [as_dict(node) for node in _messages(record).values()]
    return any("childrenIds" in node and text_of(node.get("role")) for node in nodes)


def _session(record: Record, origin: Origin, stem: str, measure: Measured) -> Transcript:
    history, chat, nodes = ChatHistory(measure), _chat(record), _messages(record)
    place = inside(origin, *(["chat"] if as_dict(record.get("chat")) else []), "history", "messages")
    branch = way_to(nodes, text_of(as_dict(chat.get("history")).get("currentId")), "parentId", "childrenIds")
    asked = max((n for n, key in enumerate(branch, 1) if role_of(nodes[key]) is Role.USER), default=0)
    for n, (above, key) in enumerate(zip(["", *branch], branch, strict=False), 1):
        for other in as_list(as_dict(nodes.get(above)).get("childrenIds")):
            if text_of(other) != key and (message := as_dict(nodes.get(text_of(other)))):
                _fail(history, message)
        found = _sources(nodes[branch[n]]) if n == asked < len(branch) else []
        sources = [(one, inside(place, branch[n], SOURCES, at)) for at, one in found]
        _add(history, as_dict(nodes[key]), inside(place, key), sources)
    earlier = sum(len(_sources(nodes[key])) for n, key in enumerate(branch) if n != asked)
    history.note(earlier, f"Sources whose texts were sent with an earlier question alone: {earlier}, not counted")
    left = len(nodes) - len(branch)
    history.note(left, f"Messages on branches that the conversation left: {left}")
    system = text_of(as_dict(chat.get("params")).get("system")) or text_of(chat.get("system"))
    return history.transcript(
        text_of(record.get("id")) or text_of(chat.get("id")) or stem,
        title=text_of(record.get("title")) or text_of(chat.get("title")),
        system=measure(parts_of(system)),
    )


def _sources(message: Any) -> list[tuple[int, Any]]:
    """The sources of an answer with texts, by number; those of one that called tools stand in its results."""
    held = as_dict(message)
    is_called = any(as_dict(item).get("type") == "function_call" for item in as_list(held.get(OUTPUT)))
    return [] if is_called else [(n, one) for n, one in enumerate(as_list(held.get(SOURCES))) if _texts(one)]


class ChatHistory(Assembly):
    """A chat in the making; ``waiting`` are the summary, its place and the first message that it left."""

    waiting: tuple[str, Origin, int] | None = None

    def compact(self, usage: Usage | None) -> None:
        """The summary stands from the first answer on that was sent less than the one before had with its reply."""
        before = self.requests[-1].usage if self.requests else None
        if self.waiting is None or (usage and before and usage.context >= before.context + before.output):
            return
        summary, place, kept = self.waiting
        self.summary(parts_of(summary), [place], self.forget(range(kept)))
        self.waiting = None


def _add(history: ChatHistory, message: Record, origin: Origin, sources: list[tuple[Any, Origin]]) -> None:
    """A message; ``sources`` are what was put into it, with their places."""
    role, start = role_of(message), len(history.messages)
    facts: dict[str, Any] = {"timestamp": seconds(message.get("timestamp"))}
    _fail(history, message)
    if role is not Role.ASSISTANT:
        said = _contents(message)
        contents = (*said, *(content for source, _ in sources for content in _texts(source)))
        places, is_typed = [origin, *(place for _, place in sources)], role is Role.USER and is_prompt(said)
        history.add(role, contents, places, id=text_of(message.get("id")), typed=is_typed, **facts)
    elif message.get("error") is not True:
        history.compact(_usage(message))
        _reply(history, message, origin, facts)
    if summary := text_of(message.get(SUMMARY)):
        history.waiting = (summary, inside(origin, SUMMARY), start)


def _fail(history: Assembly, message: Record) -> None:
    """The error of a message, on whatever branch; in older versions its words are the content."""
    if error := message.get("error"):
        words = message.get("content") if error is True else as_dict(error).get("content") or error
        history.fail(words, model=text_of(message.get("model")))


def _reply(history: Assembly, message: Record, origin: Origin, facts: dict[str, Any]) -> None:
    """An answer: what was thought, said and called up to the next results is one call."""
    native, model = text_of(message.get("id")), text_of(message.get("model"))
    output = list(enumerate(as_list(message.get(OUTPUT))))
    runs = [(role, list(run)) for role, run in groupby(output, lambda item: item_role(as_dict(item[1])))]
    n_calls = sum(role is Role.ASSISTANT for role, _ in runs)
    for role, run in runs:
        contents = [content for _, item in run for content in item_contents(item)]
        places = [inside(origin, OUTPUT, position) for position, _ in run]
        if role is not Role.ASSISTANT:
            history.add(role, contents, places, typed=False, **facts)
            continue
        n_calls -= 1
        usage = None if n_calls else _usage(message)
        history.answer(contents, places, usage=usage, model=model, id="" if n_calls else native, **facts)
    if not runs and (said := _contents(message)):
        history.answer(said, [origin], usage=_usage(message), model=model, id=native, **facts)


def _usage(message: Record) -> Usage | None:
    """OpenAI's usage, or Ollama's own counts; before 0.4 both stood in ``info``."""
    told = [as_dict(message.get("usage")), as_dict(message.get("info"))]
    counts = [*told, *(as_dict(held.get("usage")) for held in told)]
    return next((found for held in counts if (found := openai_usage(held) or local_usage(held))), None)


def _file(value: Any) -> Content:
    """A file beside what was asked: a picture, or a document by its name."""
    file = as_dict(value)
    is_picture = file.get("type") == "image" or text_of(file.get("content_type")).startswith("image/")
    link, kind = text_of(file.get("url")) or text_of(file.get("id")), Kind.IMAGE if is_picture else Kind.DOCUMENT
    return media_link(link, kind=kind, name=text_of(file.get("name")))
