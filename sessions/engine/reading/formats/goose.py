"""goose sessions: its database, ``goose session export --format json``, older JSONL (formats 9).

Usage is a total of the session only; a request is one run of assistant messages.  A compaction hides older messages
from the agent (``agentVisible`` false) and adds a summary that only the agent sees (``userVisible`` false).

What is meant for the user alone (notifications, confirmations, results whose audience is the user) was never sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import part_of
from sessions.engine.reading.formats._counts import first_count, usage_at
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal
from sessions.engine.reading.formats._records import first_objects, has_columns, inside, noted, rows_of, stem_of, values
from sessions.engine.reading.formats._values import Path, Record, as_dict, as_list, count_of, parsed, seconds, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, OWN_COUNT, ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

NOT_SENT = frozenset({"systemNotification", "actionRequired", "toolConfirmationRequest", "conversationCompacted"})
METADATA_KEYS = ("working_dir", "description", "message_count", "total_tokens", "accumulated_total_tokens")
LEDGER = "usage_ledger"
AUTO_NOTICE, REFUSED_NOTICE = "Exceeded auto-compact threshold", "Context limit reached"
ENDED = "complete"
"""The type of the line that ends a stream and counts its tokens."""
FAILED_NOTICE, ERROR_NOTICE = "Ran into this error trying to compact", "Ran into this error: "
ITEM_TYPES = frozenset({"toolRequest", "toolResponse", "redactedThinking", "systemNotification", "actionRequired"})


def _unpacked(value: Any) -> Any:
    """A row of the database as the message that an export has; anything else as it is."""
    if not isinstance(value, dict) or "content_json" not in value:
        return value
    content, flags = (parsed(text_of(value.get(key))) for key in ("content_json", "metadata_json"))
    found = {"role": value.get("role"), "content": content, "created": value.get("created_timestamp")}
    return found | {"id": value.get("message_id"), "metadata": flags}


def is_message(value: Any) -> bool:
    """A role, a list of typed items, and a time, as goose writes them."""
    held = as_dict(value)
    is_said = held.get("role") in ("user", "assistant") and isinstance(held.get("content"), list)
    return is_said and "created" in held


def contents_of_message(message: Record) -> tuple[Content, ...]:
    """The blocks of a message that the model is sent."""
    return tuple(block for item in as_list(message.get("content")) for block in _item(item))


def _item(item: Any) -> tuple[Content, ...]:
    held = as_dict(item)
    kind = text_of(held.get("type"))
    if kind in NOT_SENT:
        return ()
    if kind in ("toolRequest", "frontendToolRequest"):
        return (_request(held),)
    if kind == "toolResponse":
        return (_response(held),)
    if kind == "redactedThinking":
        return (Content(Kind.OPAQUE, name="redacted_thinking", payload=text_of(held.get("data"))),)
    resource = as_dict(held.get("resource"))
    if kind == "resource" and isinstance(resource.get("text"), str):
        return (Content(Kind.TEXT, text=resource["text"], name=text_of(resource.get("uri"))),)
    return (part_of(item),)


def _request(item: Record) -> Content:
    """A call; one that the model wrote wrongly holds an error in place of its arguments."""
    call = as_dict(item.get("toolCall"))
    value, call_id = as_dict(call.get("value")), text_of(item.get("id"))
    if not value:
        return Content(Kind.TOOL_USE, text=text_of(call.get("error")), call_id=call_id)
    return tool_use(value.get("arguments"), value.get("name"), call_id)


def _response(item: Record) -> Content:
    """A result: the list of older files, or an object with ``content``."""
    result = as_dict(item.get("toolResult"))
    value = result.get("value")
    held, failed = as_dict(value), result.get("status") == "error"
    listed = value if isinstance(value, list) else as_list(held.get("content"))
    parts = tuple(block for part in listed if _for_the_model(part) for block in _item(part))
    if failed and text_of(result.get("error")):
        parts = (Content(Kind.TEXT, text=result["error"]),)
    return result_of(parts, item.get("id"), is_error=failed or bool(held.get("isError")))


def _for_the_model(part: Any) -> bool:
    """The audience of a part, where it names one, has to include the assistant."""
    audience = as_dict(as_dict(part).get("annotations")).get("audience", as_dict(part).get("audience"))
    return not isinstance(audience, list) or not audience or "assistant" in audience


class GooseHistory(Assembly):
    """A session in the making; ``announced`` is who starts the compaction that goose has told the user of."""

    announced: str | None = None


class _Format(Format):
    label = "goose"
    source = "sessions/sessions.db; goose session export --format json; sessions/*.jsonl; stream-json of goose run"
    coverage = Coverage(
        usage=PARTLY, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        error="notice: Ran into this error", compaction="agentVisible false, conversationCompacted",
        failed="notice: error trying to compact", who="notice: Exceeded auto-compact threshold",
        begun="the same notice", window="model_config.context_limit",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        if has_columns(head, "messages", "session_id", "content_json", "created_timestamp"):
            return Sniff(95, "a database whose messages have content_json and created_timestamp")
        document = as_dict(head.document)
        messages, _ = _messages_of(document)
        values = [_streamed(value)[0] for value in first_objects(head)]
        if not document and values:
            document, messages = values[0], values[1:]
        found = [message for message in messages if is_message(message)]
        named = [key for key in METADATA_KEYS if key in document]
        kinds = {text_of(as_dict(item).get("type")) for message in found for item in message["content"]}
        flagged = any("agentVisible" in as_dict(message.get("metadata")) for message in found)
        if found and (len(named) > 1 or kinds & ITEM_TYPES or flagged):
            return Sniff(90, f"{named[0] if named else 'messages'}, and messages with created and typed content")
        if found:
            return Sniff(0, "messages have a role, created and content, but no metadata or content type of goose")
        return None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions of the database; or the one of an export's conversation, or of the lines after the first."""
        found: list[Transcript] = []
        n_notifications = 0
        for metadata, entries in _sessions(source):
            history = GooseHistory(measure)
            for value, origin in entries:
                if as_dict(value).get("type") == "error":
                    history.fail(value)
                elif not is_message(value):
                    source.skip("neither a message nor the session's metadata", origin)
                elif value["content"] and all(text_of(as_dict(i).get("type")) in NOT_SENT for i in value["content"]):
                    # It holds nothing but notifications and confirmations, which the user alone saw.
                    n_notifications += 1
                    said = (text_of(as_dict(item).get("msg")) for item in value["content"])
                    _notice(history, next(filter(None, said), ""))
                else:
                    _add(history, value, origin)
            found.append(_transcript(history, metadata, stem_of(source.name)))
        notes = noted((n_notifications, f"Messages that only the user saw (notifications): {n_notifications}"))
        return read_as(found, warnings=notes)

    contents = each_value(lambda value: contents_of_message(_unpacked(value)))


def _sessions(source: Source) -> Iterator[tuple[dict[str, Any], Iterable[tuple[Any, Origin]]]]:
    """What is known of each session, and its messages; the first entry of lines is known once they are read."""
    if source.database() is None:
        metadata: dict[str, Any] = {}
        yield metadata, _entries(source, metadata)
        return
    for row, _ in rows_of(source, "sessions", "ORDER BY created_at, rowid"):
        settings = parsed(text_of(row.get("model_config_json")))
        order = "WHERE session_id = ? ORDER BY created_timestamp, id"
        found = ((_unpacked(value), at) for value, at in rows_of(source, "messages", order, (row.get("id"),)))
        yield {**row, "model_config": settings}, _with_usage(source, text_of(row.get("id")), found)


def _with_usage(source: Source, session: str, found: Iterable[tuple[Any, Origin]]) -> Iterator[tuple[Any, Origin]]:
    """The messages, each reply with the call that the ledger has of its second; newer versions write one a call."""
    database = source.database()
    calls: dict[int, Record] = {}
    if database is not None and LEDGER in database.tables:
        for call, _ in rows_of(source, LEDGER, "WHERE session_id = ? AND NOT is_compaction", (session,)):
            calls.setdefault(count_of(call.get("created_timestamp")), call)
    for value, at in found:
        at_second = count_of(as_dict(value).get("created"))
        is_counted = at_second in calls and as_dict(value).get("role") == "assistant"
        yield ({**value, "call": calls.pop(at_second)} if is_counted else value), at


def _transcript(history: GooseHistory, metadata: Record, stem: str) -> Transcript:
    """The session; of its totals those that are not accumulated are of the newest call."""
    sent, made = count_of(metadata.get("input_tokens")), count_of(metadata.get("output_tokens"))
    total = first_count(metadata, "accumulated_total_tokens", *(() if sent else ("total_tokens",)))
    history.note(total, f"The file reports a total of the session only ({total:,} tokens): no usage of calls")
    settings = as_dict(metadata.get("model_config"))
    window, last = count_of(settings.get("context_limit")), count_of(metadata.get("total_tokens"))
    whole = f", {last:,} in all" if last else ""
    history.note(sent, f"goose's {OWN_COUNT}: {sent:,} tokens sent, {made:,} received{whole}")
    if history.follows_reply() and last == window > 0:
        history.event(EventKind.SESSION_END, f"{CUT_OFF}: {last:,} of {window:,} tokens were in use")
    return history.transcript(
        text_of(metadata.get("id")) or stem,
        title=text_of(metadata.get("name")) or text_of(metadata.get("description")),
        model=text_of(settings.get("model_name")),
        window=window or None,
        project=text_of(metadata.get("working_dir")),
    )


def _messages_of(document: Record) -> tuple[list[Any], Path]:
    conversation = document.get("conversation", document.get("messages"))
    name = "conversation" if "conversation" in document else "messages"
    if isinstance(conversation, dict):
        return as_list(conversation.get("messages")), (name, "messages")
    return as_list(conversation), (name,)


def _entries(source: Source, metadata: dict[str, Any]) -> Iterator[tuple[Any, Origin]]:
    """Every message with its origin; ``metadata`` receives what the file says of the session."""
    document = as_dict(source.head().document)
    messages, stem = _messages_of(document)
    if messages:
        metadata.update(document)
        for position, message in enumerate(messages):
            yield message, Origin(1, 0, source.size, (*stem, position))
        return
    for line, whole in values(source):
        value, path = _streamed(whole)
        if as_dict(value).get("type") == ENDED or (
            not metadata and isinstance(value, dict) and not is_message(value) and "type" not in value
        ):
            metadata.update(value)
        else:
            yield value, inside(line.at(), *path)


def _streamed(value: Any) -> tuple[Any, Path]:
    """The message in a line of ``goose run --output-format stream-json``, and where; any other value as it is."""
    said = as_dict(value).get("message")
    return (said, ("message",)) if as_dict(value).get("type") == "message" and is_message(said) else (value, ())


def _notice(history: GooseHistory, said: str) -> None:
    """What goose tells the user of its compactions: that one is due, that the window was full, that one failed."""
    if said.startswith(REFUSED_NOTICE):
        history.refuse(Refusal(ErrorKind.CONTEXT, words=said[:MAX_WORDS]))
    if said.startswith((AUTO_NOTICE, REFUSED_NOTICE)):
        history.announced = "auto"
    if said.startswith(AUTO_NOTICE):
        history.event(EventKind.COMPACTION_STARTED, said)


def _add(history: GooseHistory, message: Record, origin: Origin) -> None:
    contents = contents_of_message(message)
    if message["role"] == "assistant" and contents and contents[0].text.startswith(FAILED_NOTICE):
        history.fail(contents[0].text, of_compaction=True)
        history.announced = None
    elif message["role"] == "assistant" and contents and contents[0].text.startswith(ERROR_NOTICE):
        history.fail(contents[0].text)
    flags = as_dict(message.get("metadata"))
    seen_by_user, seen_by_agent = flags.get("userVisible") is not False, flags.get("agentVisible") is not False
    facts: dict[str, Any] = {"id": text_of(message.get("id")), "timestamp": seconds(message.get("created"))}
    made_by = history.messages[-1].compaction if history.messages else None
    is_text = bool(contents) and all(content.kind is Kind.TEXT for content in contents)
    is_new = made_by is None or history.announced is not None
    # Hidden are messages before here that the agent no longer sees and that no earlier compaction took.
    is_summary = not seen_by_user and is_new and is_text
    if is_summary and (hidden := history.hidden - history.gone):
        compaction = history.forget(hidden, trigger=history.announced)
        history.announced = None
        history.summary(contents, [origin], compaction, **facts)
    elif not seen_by_user and made_by is not None:
        # What goose tells the model about the summary: made by the compaction, no reply and no prompt.
        history.add(Role(message["role"]), contents, [origin], typed=False, compaction=made_by, **facts)
    else:
        counts = as_dict(message.get("call"))
        call = {"usage": usage_at(counts, "goose ledger"), "model": text_of(counts.get("model"))} if counts else {}
        history.say(Role(message["role"]), contents, [origin], call, **facts)
    if not seen_by_agent:
        history.hidden.add(len(history.messages) - 1)
