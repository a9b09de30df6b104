"""ShareGPT and Hugging Face chat sets, JSON or JSONL: every record is a session (formats 19).

No usage is recorded; a request is one run of assistant messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, all_values
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import media_link, result_of, tool_use
from sessions.engine.reading.formats._chat_blocks import chat_contents, part_of
from sessions.engine.reading.formats._marks import foreign_turn
from sessions.engine.reading.formats._records import first_records, inside, objects_in, records, stem_of
from sessions.engine.reading.formats._traces import tools_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, parsed, text_of
from sessions.engine.reading.jsonio import dumps
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript

ROLES = {
    **dict.fromkeys(("human", "user", "observation", "tool", "function_response"), Role.USER),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard", "function_call"), Role.ASSISTANT),
    "system": Role.SYSTEM,
}
RESULT_ROLES = frozenset({"observation", "function_response", "tool"})
PLACEHOLDER = "<image>"
TEXT_KINDS = {"text": Kind.TEXT, "reasoning": Kind.THINKING}
REQUEST_KEYS = (
    *("model", "max_tokens", "request", "response", "sessionId", "trajectory", "history", "info", "usage"),
    *("harness", "epoch"),
)
AGENT_KEYS = ("working_dir", "sessionId", "trajectory_format", "llm_config")


def turn_contents(turn: Record, images: Sequence[Any] = ()) -> tuple[Content, ...]:
    """The blocks of a turn; each ``<image>`` in its text stands for one of ``images``, in order."""
    speaker_name = speaker(turn)
    if "value" in turn:
        said = turn["value"] if isinstance(turn["value"], str) else dumps(turn["value"])
        kind = Kind.TOOL_RESULT if speaker_name in RESULT_ROLES else Kind.TEXT
        plain = (Content(kind, text=said),) if said or kind is Kind.TOOL_RESULT else ()
        contents = _calls(said) if speaker_name == "function_call" else plain
    elif isinstance(turn.get("content"), list):
        parts = tuple(_part(part) for part in turn["content"])
        contents = (result_of(parts, turn.get("tool_call_id")),) if speaker_name in RESULT_ROLES else parts
        contents += chat_contents({**turn, "content": None}) if turn.get("tool_calls") else ()
    else:
        contents = chat_contents(turn)
    return _with_images(contents, images) if images else contents


def speaker(turn: Record) -> str:
    """Who a turn says it is from."""
    return text_of(turn.get("from")) or text_of(turn.get("role"))


def n_placeholders(turn: Any) -> int:
    """How many images a turn's text stands for."""
    texts = (turn.get("value"), turn.get("content")) if isinstance(turn, dict) else ()
    return sum(text.count(PLACEHOLDER) for text in texts if isinstance(text, str))


def _calls(text: str) -> tuple[Content, ...]:
    """Calls written as JSON: one, or a list; text that is none stays text."""
    value = parsed(text)
    calls = value if isinstance(value, list) else [value]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("name"), str) for call in calls):
        return (Content(Kind.TEXT, text=text),)
    return tuple(tool_use(call.get("arguments"), call["name"], call.get("id")) for call in calls)


def _part(part: Any) -> Content:
    """A part with its content in ``value``; any other as chat APIs write it."""
    value = as_dict(part).get("value")
    kind = text_of(as_dict(part).get("type"))
    if not isinstance(value, str):
        return part_of(part)
    if kind in TEXT_KINDS:
        return Content(TEXT_KINDS[kind], text=value)
    if kind == "tool_call":
        calls = _calls(value)
        return calls[0] if len(calls) == 1 else Content(Kind.OPAQUE, text=value, name=kind)
    return media_link(value, kind=Kind.IMAGE) if kind in {"image_url", "image"} and value else part_of(part)


def _with_images(contents: Sequence[Content], images: Sequence[Any]) -> tuple[Content, ...]:
    waiting = [_image(image) for image in images]
    shown: list[Content] = []
    for content in contents:
        if content.kind is not Kind.TEXT or not waiting:
            shown.append(content)
            continue
        pieces = content.text.split(PLACEHOLDER, len(waiting))
        for number, piece in enumerate(pieces):
            shown += [waiting.pop(0)] if number else []
            shown += [Content(Kind.TEXT, text=piece)] if piece else []
    return (*shown, *waiting)


def _image(image: Any) -> Content:
    """A path or address, or Hugging Face's ``{"path", "bytes"}``."""
    held = as_dict(image)
    if text_of(held.get("bytes")):
        return Content(Kind.IMAGE, data=held["bytes"], url=text_of(held.get("path")))
    link = held.get("path") or held.get("url") if isinstance(image, dict) else image
    if isinstance(link, str):
        return media_link(link, kind=Kind.IMAGE)
    return Content(Kind.OPAQUE, text=dumps(link), name="image")


class _Format(Format):
    label = "ShareGPT"
    source = "ShareGPT conversations, Hugging Face chat records (JSON or JSONL)"
    coverage = Coverage(images=YES)

    def sniff(self, head: Head) -> Sniff | None:
        first = first_records(head)
        turns = [(record, key) for record in first if (key := _turn_key(record))]
        if not turns:
            has_key = any("conversations" in record for record in first)
            return Sniff(0, "records have conversations, but no turns with from and value") if has_key else None
        agent = next(filter(None, (_agent_key(record, key) for record, key in turns)), "")
        if agent:
            return Sniff(0, f"records have turns, but also {agent!r}, which an agent's own file has")
        key = turns[0][1]
        if key != "messages":
            return Sniff(90, f"{len(turns)} of the first {len(first)} records have {key} of turns")
        return _sniff_messages(head, len(first), [record for record, _ in turns])

    def parse(self, source: Source, measure: Measured) -> Parsed:
        transcripts: list[Transcript] = []
        for number, (record, origin) in enumerate(records(source)):
            if _turn_key(record):
                stem = f"{stem_of(source.name)}.{number}"
                transcripts.append(_session(record, origin, stem, Assembly(measure), source))
            else:
                source.skip("a record without a list of turns", origin)
        return read_as(transcripts, "no records with conversations or messages")

    contents = all_values(lambda values, _: turn_contents(values[0], values[1:]))


def _sniff_messages(head: Head, n_records: int, fitting: Sequence[Record]) -> Sniff:
    """Records with ``messages``: a chat set where they are several or have its forms, and nothing a request has."""
    foreign = next((name for name in REQUEST_KEYS for record in fitting if name in record), "")
    foreign = foreign or next(filter(None, (foreign_turn(record["messages"]) for record in fitting)), "")
    if foreign:
        return Sniff(0, f"records have messages, but also {foreign!r}, which a chat set does not")
    if n_records > 1 or isinstance(head.document, list):
        return Sniff(80, f"{len(fitting)} of the first {n_records} records have messages and no model")
    record = fitting[0]
    parts = (as_dict(part) for turn in record["messages"] for part in as_list(as_dict(turn).get("content")))
    has_values = any("value" in part and "type" in part for part in parts)
    if has_values or "images" in record or isinstance(record.get("tools"), str):
        return Sniff(75, "one record with messages in the form of a chat set")
    return Sniff(0, "one record with messages, which could as well be a request")


def _turn_key(record: Record) -> str:
    """Under what a record has a list with a turn among its first objects; "" where it has none."""
    for key in ("conversations", "conversation", "messages"):
        for entry in [entry for entry in as_list(record.get(key)) if isinstance(entry, dict)][:3]:
            is_said = speaker(entry) in ROLES and ("content" in entry or "tool_calls" in entry)
            if is_said or ("from" in entry and "value" in entry):
                return key
    return ""


def _agent_key(record: Record, key: str) -> str:
    """What only a session that an agent saved has: its keys, or turns with the time they were ``created``."""
    timed = any(isinstance(turn, dict) and "created" in turn and "from" not in turn for turn in record[key])
    return next((name for name in AGENT_KEYS if name in record), "created" if timed else "")


def _session(record: Record, origin: Origin, stem: str, assembly: Assembly, source: Source) -> Transcript:
    key = _turn_key(record)
    images = [(one, inside(origin, "images", n)) for n, one in enumerate(as_list(record.get("images")))]
    waiting = iter(images)
    for turn, place in objects_in(record[key], inside(origin, key), source, "turn"):
        shown = list(islice(waiting, n_placeholders(turn)))
        contents = turn_contents(turn, [image for image, _ in shown])
        in_run = assembly.follows_reply()
        role, places = ROLES.get(speaker(turn), Role.USER), [place, *(at for _, at in shown)]
        index = assembly.add(role, contents, places, id=text_of(turn.get("id")))
        if role is Role.ASSISTANT and not in_run:
            assembly.request(index)
    n_left = len(list(waiting))
    assembly.note(n_left, f"Images without a place in the text: {n_left}, not messages")
    # The first id that is a text or a number counts, 0 included.
    ids = (record.get(name) for name in ("id", "conversation_id", "session_id", "uuid"))
    native = next((str(v) for v in ids if isinstance(v, (str, int)) and (v or type(v) is int)), "")
    system = contents_of(text_of(record.get("system"))) + tools_of(record.get("tools"))
    return assembly.transcript(native or stem, model=text_of(record.get("model")), system=assembly.measure(system))
