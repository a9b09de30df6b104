"""Amp threads: one JSON document each, with Anthropic's blocks and usage of every call (formats 42).

A thread that grew too long goes on in another one (a handoff), which is another file.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import blocks_of
from sessions.engine.reading.formats._counts import exclusive_usage, inclusive_usage
from sessions.engine.reading.formats._records import misread, stem_of
from sessions.engine.reading.formats._values import (
    Record,
    as_dict,
    as_list,
    count_of,
    first_text,
    seconds,
    text_of,
    written,
)
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Usage

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "info": Role.USER}
OWN_KEYS = ("messageId", "state", "meta")


def _contents(entry: Any) -> tuple[Content, ...]:
    return blocks_of(as_dict(entry).get("content"), _block)


class _Format(Format):
    label = "Amp"
    source = "Threads of Amp, ~/.local/share/amp/threads/T-….json"
    coverage = Coverage(
        "0.0.17", usage=YES, images=YES, compactions=YES, refusals=YES, live=PARTLY,
        error="state.error", compaction="info with a summary", model="usage.model",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        document = as_dict(head.document)
        entries = [entry for entry in as_list(document.get("messages")) if _is_entry(entry)]
        if not text_of(document.get("id")).startswith("T-") or not entries:
            return None
        if own := next((key for entry in entries for key in OWN_KEYS if key in entry), ""):
            return Sniff(92, f"the id starts with T-, and {len(entries)} messages have {own!r} beside role and content")
        return Sniff(0, "the id starts with T-, but no message has " + ", ".join(OWN_KEYS))

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = source.document()
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            raise misread("not a thread: no list of messages")
        history = Assembly(measure)
        for position, entry in enumerate(document["messages"]):
            if _is_entry(entry):
                _add(history, entry, Origin(1, 0, source.size, ("messages", position)))
            else:
                source.skip(f"message {position} has no role and content of Amp's")
        links = map(as_dict, as_list(document.get("relationships")))
        related = [(text_of(link.get("type")) or "unknown", text_of(link.get("threadID"))) for link in links]
        history.warnings += [f"Related thread ({kind}): {thread}" for kind, thread in related if thread]
        entries = [as_dict(entry) for entry in document["messages"]]
        n_files = sum(len(as_list(as_dict(entry.get("fileMentions")).get("files"))) for entry in entries)
        history.note(n_files, f"Files that the user mentioned: {n_files}; sent besides, not among the messages")
        costs_alone = as_dict(document.get("usageLedger")) and not any(as_dict(entry.get("usage")) for entry in entries)
        history.note(costs_alone, "The file's ledger of costs is no usage of calls")
        platform = as_dict(as_dict(as_dict(document.get("env")).get("initial")).get("platform"))
        transcript = history.transcript(
            text_of(document.get("id")) or stem_of(source.name),
            title=text_of(document.get("title")),
            client=text_of(platform.get("clientVersion")),
        )
        return Parsed((transcript,) if history.messages else ())

    contents = each_value(_contents)


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and text_of(entry.get("role")) in ROLES and isinstance(entry.get("content"), list)


def _add(history: Assembly, entry: Record, origin: Origin) -> None:
    contents, role = _contents(entry), ROLES[entry["role"]]
    usage = as_dict(entry.get("usage"))
    time = seconds(as_dict(entry.get("meta")).get("sentAt") or usage.get("timestamp"))
    history.fail(as_dict(entry.get("state")).get("error"))
    if entry["role"] == "info":
        if any(content.name == "summary" for content in contents):
            history.summary(contents, [origin], history.forget(range(len(history.messages))), timestamp=time)
        elif contents:
            history.add(role, contents, [origin], typed=False, meta=True, timestamp=time)
        return
    index = history.add(role, contents, [origin], timestamp=time)
    found = usage_of(usage)
    if role is Role.ASSISTANT and (contents or found):
        history.request(index, found, model=text_of(usage.get("model")))


def usage_of(usage: Record) -> Usage | None:
    """Usage with the cache apart, unless ``totalInputTokens`` says that ``inputTokens`` is all that was sent."""
    keys = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "totalInputTokens")
    sent, read, written, output, total = (count_of(usage.get(key)) for key in keys)
    counted = inclusive_usage if total and total == sent else exclusive_usage
    return counted(sent, output, cache_read=read, cache_write=written)


def _block(block: Any) -> Content:
    if not isinstance(block, dict):
        return block_of(block)
    if block.get("type") == "tool_result" and "run" in block:
        return _result(block)
    if block.get("type") == "manual_bash_invocation":
        # A command that the user ran, which the model is told with what it printed, as the user's words.
        result = as_dict(block.get("toolRun")).get("result")
        said = text_of(as_dict(block.get("args")).get("cmd")), written(as_dict(result).get("output", result))
        return Content(Kind.TEXT, text="\n".join(filter(None, said)))
    summary = as_dict(block.get("summary"))
    if block.get("type") == "summary" and isinstance(summary.get("summary"), str):
        return Content(Kind.TEXT, text=summary["summary"], name="summary")
    source = as_dict(block.get("source")) or block
    if block.get("type") == "image" and text_of(source.get("data")):
        # The type is in the source, or beside the data.
        return Content(Kind.IMAGE, media_type=first_text(source, "mediaType", "mimeType"), data=source["data"])
    return block_of(block)


def _result(block: Record) -> Content:
    """What the tool returned; of an unfinished or failed run its error."""
    run = as_dict(block.get("run"))
    result, error = run.get("result"), run.get("error")
    call_id, failed = text_of(block.get("toolUseID")), run.get("status") in ("error", "cancelled", "rejected-by-user")
    if isinstance(result, list) and any(isinstance(item, dict) and "type" in item for item in result):
        return Content(Kind.TOOL_RESULT, call_id=call_id, is_error=failed, parts=blocks_of(result, _block))
    value = result if result is not None else text_of(as_dict(error).get("message")) or error
    return Content(Kind.TOOL_RESULT, text=written(value), call_id=call_id, is_error=failed)
