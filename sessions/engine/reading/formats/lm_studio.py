"""LM Studio conversations: ``*.conversation.json``, messages in versions, replies in steps (formats 90).

Of a message the version that is selected counts.  A step with ``genInfo`` is a call of the model, with the server's own
counts; results of tools stand in steps of their own.  The context length is that with which the model was loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as, with_room
from sessions.engine.reading.formats._blocks import media_link, opaque, result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import SPEAKERS, parts_of
from sessions.engine.reading.formats._counts import exclusive_usage
from sessions.engine.reading.formats._records import inside, object_of, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, text_of
from sessions.engine.transcript.recorded_events import CUT_OFF, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role

LENGTH, OVERFLOW = "llm.load.contextLength", "llm.prediction.contextOverflowPolicy"
CUT_SHORT = frozenset({"maxPredictedTokensReached", "contextLengthReached"})
"""Reasons to stop that leave an answer unfinished."""
STOPS, FAILED = "stopAtLimit", "failed"
POLICIES = {
    "truncateMiddle": "cuts the middle of a prompt that is longer", "rollingWindow": "drops the oldest of one",
    STOPS: "stops at the limit",
}  # fmt: skip


Part = tuple[Role, Record, Origin]
"""What one message is made of: a message without steps, or a step of a reply."""


def _blocks(content: Any) -> tuple[Content, ...]:
    return tuple(_block(one) for one in content) if isinstance(content, list) else parts_of(content)


def _block(value: Any) -> Content:
    part = as_dict(value)
    kind = part.get("type")
    if kind == "toolCallRequest":
        return tool_use(part.get("parameters"), part.get("name"), _call_id(part.get("callId")))
    if kind == "toolCallResult":
        return result_of(parts_of(part.get("content") or ""), _call_id(part.get("toolCallId")))
    if kind == "text" and isinstance(part.get("text"), str):
        is_thought = as_dict(part.get("isStructural")) or part.get("isThinking") is True
        return Content(Kind.THINKING if is_thought else Kind.TEXT, text=part["text"])
    if kind == "file" and text_of(part.get("fileIdentifier")):
        return media_link(part["fileIdentifier"], kind=Kind.IMAGE if part.get("fileType") == "image" else Kind.DOCUMENT)
    return opaque(value)


def _call_id(value: Any) -> str:
    return str(value) if isinstance(value, int) else text_of(value)


class _Format(Format):
    label = "LM Studio"
    source = "LM Studio conversations (conversation.json)"
    coverage = Coverage(
        usage=YES, images=PARTLY,
        window="loadModelConfig contextLength", end="genInfo.stats.stopReason", model="genInfo.identifier",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        held = [as_dict(one) for one in as_list(as_dict(head.document).get("messages"))]
        found = [one for one in held if isinstance(one.get("versions"), list) and "currentlySelected" in one]
        return Sniff(90, f"{len(found)} messages in versions, with the one selected") if found else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        document = object_of(source, "a conversation")
        history = Assembly(measure)
        if prompt := text_of(document.get("systemPrompt")):
            history.add(Role.SYSTEM, parts_of(prompt), [Origin(1, 0, source.size, ("systemPrompt",))])
        settings: dict[str, Any] = _fields(as_dict(document.get("lastUsedModel")).get("instanceLoadTimeConfig"))
        for n, entry in enumerate(as_list(document.get("messages"))):
            parts = list(_parts(as_dict(entry), Origin(1, 0, source.size, ("messages", n))))
            if not parts:
                source.skip(f"message {n} has no version with a role")
            for part in parts:
                settings |= _add(history, *part)
        # Each call may say with what length its model was loaded; else it is the last one's.
        last, title = text_of(as_dict(document.get("lastUsedModel")).get("identifier")), text_of(document.get("name"))
        made = history.transcript(
            stem_of(source.name), title=title, room=count_of(settings.get(LENGTH)), otherwise=last
        )
        policy = text_of(settings.get(OVERFLOW))
        if policy in POLICIES:
            made = with_room(made, f"LM Studio {POLICIES[policy]}", cuts=policy != STOPS)
        return read_as([made], "no messages in versions")

    contents = each_value(_blocks)


def _parts(entry: Record, origin: Origin) -> Iterator[Part]:
    """The selected version, or its steps."""
    versions, n = as_list(entry.get("versions")), count_of(entry.get("currentlySelected"))
    version = as_dict(versions[n]) if 0 <= n < len(versions) else {}
    role = SPEAKERS.get(text_of(version.get("role")))
    place = inside(origin, "versions", n)
    if role is None:
        return
    if "content" in version:
        yield role, version, place
        return
    for k, step in enumerate(map(as_dict, as_list(version.get("steps")))):
        if step.get("content"):
            said = Role.USER if step.get("roleOverride") == "tool" else role
            yield said, step, inside(place, "steps", k)


def _add(history: Assembly, role: Role, value: Record, origin: Origin) -> dict[str, Any]:
    """A message; what its call says of the model's settings."""
    contents, made = _blocks(value.get("content")), as_dict(value.get("genInfo"))
    place = [inside(origin, "content")]
    if role is not Role.ASSISTANT:
        history.add(role, contents, place)
        return {}
    stats = as_dict(made.get("stats"))
    usage = exclusive_usage(count_of(stats.get("promptTokensCount")), count_of(stats.get("predictedTokensCount")))
    settings = _fields(made.get("loadModelConfig")) | _fields(made.get("predictionConfig"))
    if made:
        history.end_run()
    window = max(0, count_of(settings.get(LENGTH)))
    history.reply(contents, place, usage=usage, model=text_of(made.get("identifier")), window=window)
    if (reason := text_of(stats.get("stopReason"))) in CUT_SHORT:
        history.event(EventKind.SESSION_END, f"{CUT_OFF}: {reason}")
    if reason == FAILED:
        history.event(EventKind.ERROR, "the generation failed (stopReason failed)")
    return settings


def _fields(config: Any) -> dict[str, Any]:
    """The settings of a list of keys and values."""
    pairs = [as_dict(one) for one in as_list(as_dict(config).get("fields"))]
    return {pair["key"]: pair.get("value") for pair in pairs if isinstance(pair.get("key"), str)}
