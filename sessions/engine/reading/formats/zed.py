"""Zed's threads: its database threads.db, a thread a row, as JSON or as JSON packed by zstd (formats 86).

Written by zed-industries/zed ``crates/agent/src/db.rs`` and ``thread.rs`` (version 0.3.0: messages are User, Agent,
Resume, Compaction); before that ``thread_store.rs``, which ``legacy_thread.rs`` still reads (0.1.0, 0.2.0 and no
version: messages with a role).  A message of the agent is one call.  Zed keeps the usage of the newest call after each
prompt, and no refusal but the older versions' ``exceeded_window_error``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt, opaque, result_of, tool_use
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.formats._provider_errors import Refusal
from sessions.engine.reading.formats._records import has_columns, inside, rows_of, unread_notes
from sessions.engine.reading.formats._traces import decoded
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, seconds, text_of, written
from sessions.engine.transcript.recorded_events import ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

TABLE, RESULTS = "threads", "tool_results"
COMPACTED = "The previous conversation was compacted. Use this summary as context:\n\n"
RETAINED_BYTES = 80_000
"""So much of the newest prompts is sent again, word for word, in front of a summary."""
LEGACY_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
PROVIDERS = {"copilot_chat": "github-copilot"}
"""Sellers under the names that other transcripts have for them."""


class _Format(Format):
    label = "Zed"
    source = "Zed's threads, threads/threads.db in its data folder (SQLite)"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, refusals=PARTLY, subagents=YES,
        error="exceeded_window_error (before 0.3.0)", compaction="message Compaction",
        who="an empty User in front of it: manual", model="model of the thread",
        end="tool_use_limit_reached",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if has_columns(head, TABLE, "id", "summary", "updated_at", "data_type", "data"):
            return Sniff(95, "a database of threads with a summary, a data_type and data")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        found = []
        for row, origin in rows_of(source, TABLE, "ORDER BY updated_at, rowid"):
            thread = decoded(row.get("data"))
            if isinstance(thread, dict):
                found.append(_Thread(thread, inside(origin, "data"), measure).transcript(row))
            else:
                kind = text_of(row.get("data_type"))
                source.skip(f"the thread {row.get('id')} is no object in JSON, packed as {kind!r}")
        return read_as(found)

    contents = each_place(lambda value, origin, _: _read(value, origin.path))


class _Thread:
    """One thread in the making; ``prompts`` are the messages that the user typed, with their bytes."""

    def __init__(self, value: Record, origin: Origin, measure: Measured) -> None:
        self.value, self.history = value, Assembly(measure)
        self.unread: dict[str, int] = {}
        self.prompts: list[tuple[int, int]] = []
        self.messages = as_list(value.get("messages"))
        model = as_dict(value.get("model"))
        seller = text_of(model.get("provider"))
        self.model, self.provider = text_of(model.get("model")), PROVIDERS.get(seller, seller)
        usages, self.last_calls = value.get("request_token_usage"), _last_calls(self.messages)
        self.by_prompt, self.by_place = as_dict(usages), as_list(usages)
        self.prompt, self.is_manual = "", False
        for place, message in enumerate(self.messages):
            self._add(place, message, inside(origin, "messages", place))
        self._end()

    def _add(self, place: int, message: Any, at: Origin) -> None:
        kind, said = _tagged(message)
        if kind == "User":
            self._prompt(as_dict(said), inside(at, "User"))
        elif kind == "Agent":
            usage = self.by_prompt.get(self.prompt) if self.last_calls.get(self.prompt) == place else None
            self._reply(as_dict(said), inside(at, "Agent"), usage_of(usage))
        elif kind == "Resume":
            self.history.add(Role.USER, _read(message, at.path), (at,), typed=False)
        elif kind == "Compaction":
            self._compaction(said, inside(at, "Compaction"))
        elif isinstance(message, dict) and text_of(message.get("role")) in LEGACY_ROLES:
            self._legacy(place, message, at)
        else:
            self.unread[kind or "unknown"] = self.unread.get(kind or "unknown", 0) + 1
        self.is_manual = kind == "User" and not as_list(as_dict(said).get("content"))

    def _prompt(self, message: Record, at: Origin) -> None:
        self.prompt, at = text_of(message.get("id")), inside(at, "content")
        contents = _read(message.get("content"), at.path)
        if contents:
            index = self.history.add(Role.USER, contents, (at,), id=self.prompt)
            n_bytes = sum(len(content.text.encode("utf-8", "replace")) + len(content.data) for content in contents)
            self.prompts.append((index, n_bytes))
        usage = usage_of(self.by_prompt.get(self.prompt))
        if usage and self.prompt not in self.last_calls:
            # The call was made, and ended before it said anything.
            self._request(None, usage)

    def _reply(self, message: Record, at: Origin, usage: Usage | None) -> None:
        place = inside(at, "content")
        contents = _read(message.get("content"), place.path)
        if contents:
            self.history.answer(contents, (place,), usage=usage, model=self.model, provider=self.provider)
        elif usage:
            self._request(None, usage)
        self._results(message.get(RESULTS), inside(at, RESULTS))

    def _results(self, results: Any, at: Origin) -> None:
        """What tools gave out, one message of the user; the list of older versions, or by the call's id."""
        keys = list(results) if isinstance(results, dict) else range(len(as_list(results)))
        places = [inside(at, key) for key in keys]
        contents = [c for key, place in zip(keys, places, strict=True) for c in _read(results[key], place.path)]
        if contents:
            self.history.add(Role.USER, contents, places, typed=False)

    def _compaction(self, said: Any, at: Origin) -> None:
        """A summary, behind the newest prompts as they were; or the provider's own items, which stand for all."""
        contents = _read(said, at.path)
        is_summary = isinstance(as_dict(said).get("Summary"), str)
        kept = self._retained() if is_summary else frozenset[int]()
        gone = [index for index in range(len(self.history.messages)) if index not in kept]
        number = self.history.forget(gone, trigger="manual" if self.is_manual else "auto")
        if contents:
            self.history.summary(contents, (at,), number)

    def _retained(self) -> frozenset[int]:
        """The newest prompts that fit; the first that does not is cut by Zed, and counts as gone."""
        kept, left = [], RETAINED_BYTES
        for index, n_bytes in reversed(self.prompts):
            left -= n_bytes
            if left < 0:
                break
            kept.append(index)
        return frozenset(kept)

    def _legacy(self, place: int, message: Record, at: Origin) -> None:
        role, contents = LEGACY_ROLES[message["role"]], _read(message, at.path)
        native = message.get("id")
        name = f"m{native}" if isinstance(native, int) else ""
        if role is Role.ASSISTANT:
            if contents:
                usage = self._legacy_usage(place)
                self.history.answer(contents, (at,), id=name, usage=usage, model=self.model, provider=self.provider)
            self._results(message.get(RESULTS), inside(at, RESULTS))
            return
        results = as_list(message.get(RESULTS))
        self._results(results, inside(at, RESULTS))
        if contents:
            typed = role is Role.USER and is_prompt(contents) and not results and message.get("is_hidden") is not True
            self.history.add(role, contents, (at,), id=name, typed=typed)

    def _legacy_usage(self, place: int) -> Usage | None:
        """The usage beside a message; what was reported for none is that of the one before, again."""
        if place >= len(self.by_place) or (place and self.by_place[place] == self.by_place[place - 1]):
            return None
        return usage_of(self.by_place[place])

    def _request(self, message: int | None, usage: Usage) -> None:
        self.history.request(message, usage, model=self.model, provider=self.provider)

    def _end(self) -> None:
        exceeded = as_dict(self.value.get("exceeded_window_error"))
        if exceeded:
            sent, model = count_of(exceeded.get("token_count")), text_of(exceeded.get("model_id"))
            self.history.refuse(Refusal(ErrorKind.CONTEXT, sent or None, code="exceeded_window_error", model=model))
        if self.value.get("tool_use_limit_reached") is True and self.messages:
            self.history.event(EventKind.SESSION_END, "tool_use_limit_reached: Zed's limit of calls of tools in a turn")
        total = usage_of(self.value.get("cumulative_token_usage"))
        if total:
            words = f"Zed's sum over all calls of the thread: {total.added_up:,} tokens sent, {total.output:,} received"
            self.history.warnings.append(words)
        mode = text_of(self.value.get("completion_mode"))
        self.history.note(mode not in ("", "normal"), f"Zed's completion mode: {mode}")
        self.history.warnings += unread_notes(self.unread)

    def transcript(self, row: Record) -> Transcript:
        around = as_dict(self.value.get("subagent_context"))
        updated = seconds(row.get("updated_at")) or seconds(self.value.get("updated_at"))
        return self.history.transcript(
            text_of(row.get("id")),
            title=text_of(self.value.get("title")) or text_of(row.get("summary")),
            parent_id=text_of(row.get("parent_id")) or text_of(around.get("parent_thread_id")),
            model=self.model,
            project=text_of(row.get("folder_paths")).split("\n")[0],
            started_at=seconds(row.get("created_at")) or updated,
            ended_at=updated,
        )


def _tagged(message: Any) -> tuple[str, Any]:
    """The tag of a message and what stands under it; a role's messages have none."""
    if isinstance(message, dict) and len(message) == 1:
        return next(iter(message.items()))
    return (message, None) if isinstance(message, str) else ("", None)


def _last_calls(messages: list[Any]) -> Mapping[str, int]:
    """The place of the last answer to each prompt: the usage that Zed keeps is that call's."""
    found: dict[str, int] = {}
    prompt = ""
    for place, message in enumerate(messages):
        kind, said = _tagged(message)
        if kind == "User":
            prompt = text_of(as_dict(said).get("id"))
        elif kind == "Agent":
            found[prompt] = place
    return found


def _read(value: Any, path: Path) -> tuple[Content, ...]:
    if value == "Resume":
        return (Content(Kind.TEXT, text="Continue where you left off"),)
    if path[-1:] == ("Compaction",):
        held = as_dict(value)
        if isinstance(held.get("Summary"), str):
            return (Content(Kind.TEXT, text=COMPACTED + held["Summary"]),)
        return tuple(map(opaque, as_list(as_dict(held.get("ProviderNative")).get("items"))))
    if path[-2:-1] == (RESULTS,):
        return (_result(as_dict(value)),)
    if isinstance(value, list):
        return tuple(_part(part) for part in value)
    return _legacy_contents(as_dict(value))


def _result(value: Record) -> Content:
    said = value.get("content")
    parts = [] if said in (None, "", []) else said if isinstance(said, list) else [said]
    return result_of(tuple(map(_part, parts)), value.get("tool_use_id"), is_error=value.get("is_error") is True)


def _part(part: Any) -> Content:
    """A part of a message or of a result: a tag and what stands under it, or plain text."""
    if isinstance(part, str):
        return Content(Kind.TEXT, text=part)
    held = as_dict(part)
    tag, said = next(((name.lower(), held[name]) for name in held if name[:1].isupper()), ("", held))
    if tag == "redactedthinking":
        return Content(Kind.OPAQUE, name="redacted_thinking", payload=text_of(said))
    reader = {"thinking": _thinking, "tooluse": _call, "mention": _mention}.get(tag)
    if reader and isinstance(said, dict):
        return reader(said)
    return _plain({"text": said} if isinstance(said, str) else as_dict(said)) or opaque(held or {"part": part})


def _plain(said: Record) -> Content | None:
    """Text, or a picture with or without its tag; None for anything else."""
    image = as_dict(said.get("image")) or said
    if isinstance(said.get("text"), str):
        return Content(Kind.TEXT, text=said["text"])
    if text_of(image.get("source")):
        return Content(Kind.IMAGE, media_type=text_of(image.get("mime_type")) or "image/png", data=image["source"])
    return None


def _thinking(said: Record) -> Content:
    return Content(Kind.THINKING, text=text_of(said.get("text")), payload=text_of(said.get("signature")))


def _call(said: Record) -> Content:
    """A call; one whose arguments were cut off has what came of them."""
    whole = said.get("is_input_complete") is not False and "input" in said
    arguments = said.get("input") if whole else text_of(said.get("raw_input"))
    return tool_use(arguments, said.get("name"), said.get("id"), payload=text_of(said.get("thought_signature")))


def _mention(said: Record) -> Content:
    """A file, a symbol or the like that was attached: its content under its address."""
    uri = said.get("uri")
    tag, fields = next(iter(uri.items())) if isinstance(uri, dict) and uri else (text_of(uri), {})
    known = (as_dict(fields).get(key) for key in ("abs_path", "path", "url", "name", "id"))
    address = next((text for text in map(text_of, known) if text), text_of(tag))
    return Content(Kind.TEXT, text=text_of(said.get("content")) or address, name=address)


def _legacy_contents(message: Record) -> tuple[Content, ...]:
    """The blocks of a message with a role: what was attached, its segments or text, its calls."""
    said = [text_of(message.get(key)) for key in ("context", "text")]
    found = [Content(Kind.TEXT, text=text) for text in said if text]
    for segment in map(as_dict, as_list(message.get("segments"))):
        kind, text = text_of(segment.get("type")), text_of(segment.get("text"))
        if kind == "thinking":
            found.append(_thinking(segment))
        elif kind == "RedactedThinking":
            found.append(Content(Kind.OPAQUE, name="redacted_thinking", payload=written(segment.get("data"))))
        elif kind != "text":
            found.append(opaque(segment))
        elif text:
            found.append(Content(Kind.TEXT, text=text))
    found += [_call(as_dict(call)) for call in as_list(message.get("tool_uses"))]
    return tuple(found)
