"""Chats of VS Code and Copilot in it: rounds of tool calls and their results, summaries (formats 54).

Each round is one request.  A turn tells the usage of its last one alone.

A log starts with the whole document (kind 0); then values are set (1), lists cut and appended to (2), values deleted
(3).  Each piece keeps the place where it was written last, so that its text is found again in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of, text_blocks, tool_use
from sessions.engine.reading.formats._counts import sdk_usage
from sessions.engine.reading.formats._records import inside, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, seconds, text_of
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

Placed = tuple[Any, Origin]
INITIAL, SET, PUSH, DELETE = range(4)
REQUESTS, RESPONSE = "requests", "response"
OWN_KEYS = ("requesterUsername", "responderUsername", "creationDate", "initialLocation")
ROUNDS, RESULTS = "toolCallRounds", "toolCallResults"
MAX_DEPTH = 60
_SUMMARISED = re.compile(r"(?:Summari[sz]ed|Compacted) conversation")
"""What an answer shows where the conversation was summarised, which the file of some versions has nowhere else."""


@dataclass(slots=True)
class Turn:
    """One request of the user's: its fields, and the parts of the answer, each with its place."""

    fields: dict[str, Placed] = field(default_factory=dict)
    parts: list[Placed] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """The value of a field, None where it has none."""
        return self.fields[name][0] if name in self.fields else None


class _ChatLog:
    """The document in the making; ``n_inside`` are changes inside a piece that are not followed."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.turns: list[Turn] = []
        self.n_inside = 0

    def load(self, document: Record, origin: Origin) -> None:
        self.facts = {key: value for key, value in document.items() if key != REQUESTS}
        turns = enumerate(as_list(document.get(REQUESTS)))
        self.turns = [_turn(value, inside(origin, REQUESTS, position)) for position, value in turns]

    def change(self, entry: Record, origin: Origin) -> bool:
        """Apply one line of a log; False where it is none."""
        kind, path, value = entry.get("kind"), as_list(entry.get("k")), entry.get("v")
        if isinstance(kind, bool) or kind not in (INITIAL, SET, PUSH, DELETE):
            return False
        at = inside(origin, "v")
        if kind == INITIAL:
            self.load(as_dict(value), at)
        elif path == [REQUESTS]:
            start = _index(entry.get("i"), self.turns) if kind == PUSH else 0
            self.turns[start:] = [_turn(one, inside(at, n)) for n, one in enumerate(as_list(value))]
        elif path[:1] == [REQUESTS]:
            self._change_turn(kind, path[1:], entry, at)
        elif len(path) == 1 and isinstance(path[0], str):
            self.facts[path[0]] = value
        return True

    def _change_turn(self, kind: int, path: list[Any], entry: Record, at: Origin) -> None:
        position = _index(path[0], self.turns)
        if position == len(self.turns):
            self.n_inside += 1
            return
        turn, value, names = self.turns[position], entry.get("v"), path[1:]
        if not names:
            self.turns[position] = _turn(value, at)
        elif names == [RESPONSE]:
            start = _index(entry.get("i"), turn.parts) if kind == PUSH else 0
            turn.parts[start:] = [(one, inside(at, n)) for n, one in enumerate(as_list(value))]
        elif len(names) == 2 and names[0] == RESPONSE and kind == SET:
            place = _index(names[1], turn.parts)
            turn.parts[place : place + 1] = [(value, at)]
        elif len(names) == 1 and isinstance(names[0], str) and kind in (SET, DELETE):
            turn.fields[names[0]] = (value, at)
        else:
            self.n_inside += 1


def _turn(value: Any, origin: Origin) -> Turn:
    held = as_dict(value)
    fields = {key: (item, inside(origin, key)) for key, item in held.items() if key != RESPONSE}
    parts = [(part, inside(origin, RESPONSE, n)) for n, part in enumerate(as_list(held.get(RESPONSE)))]
    return Turn(fields, parts)


def _index(value: Any, items: list[Any]) -> int:
    """A position in a list, its end where ``value`` names none."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(items)
    return value if known else len(items)


class _Format(Format):
    label = "VS Code chat"
    source = "Chats of VS Code with Copilot, workspaceStorage/…/chatSessions (JSON or JSONL)"
    coverage = Coverage(
        usage=PARTLY, compactions=YES, refusals=YES, images=PARTLY, live=PARTLY,
        error="result.errorDetails", compaction="metadata.summary", model="resolvedModel",
        window="selectedModel.metadata.maxInputTokens",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        first = as_dict(head.document) or as_dict(next(iter(head.values), None))
        logged = first.get("kind") == INITIAL and not isinstance(first.get("kind"), bool)
        chat = as_dict(first.get("v")) if logged else first
        if not isinstance(chat.get("requests"), list) or not any(key in chat for key in OWN_KEYS):
            return None
        return Sniff(94, "a log of changes to a chat of VS Code" if logged else "a chat of VS Code: requests, answers")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        log = _read(source)
        history, ends = Assembly(measure), dict[str, int]()
        for turn in log.turns:
            _add(history, turn, ends)
        history.note(log.n_inside, f"Changes inside a message that are not followed: {log.n_inside:,}")
        n_attached = sum(len(as_list(as_dict(turn.get("variableData")).get("variables"))) for turn in log.turns)
        history.note(n_attached, f"Attached files and selections: {n_attached:,}, whose text is not in the file")
        native, title = text_of(log.facts.get("sessionId")), text_of(log.facts.get("customTitle"))
        selected = as_dict(as_dict(log.facts.get("inputState")).get("selectedModel"))
        room = count_of(as_dict(selected.get("metadata")).get("maxInputTokens")) or None
        return read_as([history.transcript(native or stem_of(source.name), title=title, room=room)])

    contents = each_place(lambda value, origin, _: _contents(value, origin.path))


def _read(source: Source) -> _ChatLog:
    log = _ChatLog()
    document = source.head().document
    if isinstance(document, dict) and "requests" in document:
        log.load(document, Origin(1, 0, source.size))
        return log
    for line, value in objects(source):
        if not log.change(value, line.at()):
            source.skip("no change to a chat", line)
    return log


def _add(history: Assembly, turn: Turn, ends: dict[str, int]) -> None:
    """A turn; ``ends`` are the messages up to each round so far, by its id."""
    native, at = text_of(turn.get("requestId")), seconds(turn.get("timestamp"))
    prompt, origin = turn.fields.get("message", (None, Origin(1, 0, 0)))
    if contents := _contents(prompt, origin.path):
        history.add(Role.USER, contents, (origin,), id=native, timestamp=at)
    result, origin = turn.fields.get("result", (None, Origin(1, 0, 0)))
    metadata, place = as_dict(as_dict(result).get("metadata")), inside(origin, "metadata")
    model = text_of(metadata.get("resolvedModel")) or text_of(turn.get("modelId")).rpartition("/")[2]
    rounds = [(as_dict(one), inside(place, ROUNDS, n)) for n, one in enumerate(as_list(metadata.get(ROUNDS)))]
    summaries = dict(_summaries(metadata, place))
    told = as_dict(result).get("usage") or turn.get("usage")
    noted = () if summaries else frozenset(_noted(turn))
    usage = sdk_usage(told) or sdk_usage({**metadata, "completionTokens": metadata.get("outputTokens")})
    for ident in [ident for ident in summaries if ident in ends]:
        # Made in this turn of all up to a round of one before.
        _summarise(history, summaries.pop(ident), ends[ident])
    n_calls = 0
    for number, (one, where) in enumerate(rounds):
        n_calls += len(as_list(one.get("toolCalls")))
        said = _contents(one, where.path)
        if said:
            response = text_of(one.get("id")) or f"{native}.{number}"
            counted = usage if number == len(rounds) - 1 else None
            history.reply(said, (where,), id=f"{native}.{number}", response_id=response, model=model, usage=counted)
        results = as_dict(metadata.get(RESULTS))
        for ident in (call.call_id for call in said if call.kind is Kind.TOOL_USE and call.call_id in results):
            answered = inside(place, RESULTS, ident)
            history.add(Role.USER, _contents(results[ident], answered.path), (answered,), typed=False)
        of_round = summaries.pop(text_of(one.get("id")), None)
        if isinstance(one.get("summary"), str):
            of_round = one["summary"], inside(where, "summary"), of_round[2] if of_round else {}
        ends[text_of(one.get("id"))] = len(history.messages)
        if of_round:
            _summarise(history, of_round, len(history.messages))
        elif n_calls in noted:
            history.forget(range(len(history.messages)), unseen=True)
    history.fail(as_dict(result).get("errorDetails"))
    if not rounds:
        parts = [(told, where) for part, where in turn.parts if (told := _contents(part, where.path))]
        if answer := [content for told, _ in parts for content in told]:
            history.reply(
                answer, [where for _, where in parts], response_id=f"{native}.reply", model=model, usage=usage
            )


def _noted(turn: Turn) -> Iterator[int]:
    """After how many calls of a turn its answer shows that the conversation was summarised."""
    n_calls = 0
    for part, _ in turn.parts:
        held = as_dict(part)
        n_calls += held.get("kind") == "toolInvocationSerialized"
        if held.get("kind") == "progressTask" and _SUMMARISED.match(text_of(as_dict(held.get("content")).get("value"))):
            yield n_calls


def _summarise(history: Assembly, summary: tuple[Any, Origin, dict[str, Any]], stop: int) -> None:
    """The summary in place of the messages before ``stop``."""
    text, origin, size = summary
    made = history.forget(range(stop), stop, **size)
    history.summary(_contents(text, origin.path), (origin,), made)


def _summaries(metadata: Record, place: Origin) -> Iterator[tuple[str, tuple[Any, Origin, dict[str, Any]]]]:
    """The round that each summary came after, with its text, where it stands, and the size before by the client."""
    listed = [(one, inside(place, "summaries", n)) for n, one in enumerate(as_list(metadata.get("summaries")))]
    # Of two of one round the listed one has the size.
    for one, where in ((metadata.get("summary"), inside(place, "summary")), *listed):
        if text_of(as_dict(one).get("text")):
            before = count_of(one.get("contextLengthBefore"))
            # System prompt and tools are in the count, and not in the file.
            size = {"tokens_before": before, "unseen": True} if before else {}
            yield text_of(one.get("toolCallRoundId")), (one["text"], inside(where, "text"), size)


def _contents(value: Any, path: tuple[str | int, ...]) -> tuple[Content, ...]:
    """What stands at ``path``: its last steps tell what it is."""
    if path[-2:-1] == (RESULTS,):
        texts = [_text(part) for part in as_list(as_dict(value).get("content"))]
        parts = tuple(Content(Kind.TEXT, text=text) for text in texts if text)
        return (result_of(parts, str(path[-1])),)
    if path[-2:-1] == (ROUNDS,):
        told = as_dict(as_dict(value).get("thinking"))
        thought = told.get("text")
        thoughts = "".join(text_of(text) for text in (thought if isinstance(thought, list) else [thought]))
        payload = text_of(as_dict(told.get("metadata")).get("encrypted_content")) or text_of(told.get("encrypted"))
        found = text_blocks(thoughts, Kind.THINKING, payload) + text_blocks(text_of(as_dict(value).get("response")))
        calls = [as_dict(call) for call in as_list(as_dict(value).get("toolCalls"))]
        return (*found, *(tool_use(c.get("arguments"), c.get("name"), c.get("id")) for c in calls if c))
    held = {"text": value} if isinstance(value, str) else as_dict(value)
    kind = held.get("kind")
    if kind == "toolInvocationSerialized":
        return (tool_use(None, held.get("toolId"), held.get("toolCallId")),)
    if kind is not None and kind not in ("markdownContent", "thinking", "text"):
        return ()
    said = held.get("text") if "text" in held else held.get("content", held.get("value"))
    text = text_of(said) or text_of(as_dict(said).get("value")) or "".join(text_of(one) for one in as_list(said))
    return text_blocks(text, Kind.THINKING if kind == "thinking" else Kind.TEXT)


def _text(part: Any, depth: int = 0) -> str:
    """The text of a part of a result: plain, or a tree as prompts are rendered."""
    held = as_dict(part)
    for key in ("text", "value"):
        if isinstance(held.get(key), str):
            return str(held[key])
    inner = as_dict(held.get("value")) or held
    inner = as_dict(inner.get("node")) or inner
    children = as_list(inner.get("children")) if depth < MAX_DEPTH else []
    return text_of(inner.get("text")) + "".join(_text(child, depth + 1) for child in children)
