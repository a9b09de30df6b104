"""ShareGPT and Hugging Face chat sets, JSON or JSONL: every record is a session (formats 19).

No usage is recorded; a request is one run of assistant messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import YES, Coverage, Head, Measured, Sniff, Source
from sessions.engine.reading.formats._anthropic_blocks import contents_of
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._openai_marks import foreign_turn
from sessions.engine.reading.formats._preview import stem_of
from sessions.engine.reading.formats._records import first_records, inside, records
from sessions.engine.reading.formats._sharegpt_blocks import ROLES, n_placeholders, speaker, turn_contents
from sessions.engine.reading.formats._traces import tools_of
from sessions.engine.reading.formats._values import Record, text_of
from sessions.engine.transcript.types import Content, Message, Origin, Parsed, Role, Skipped, Transcript

TURN_KEYS = ("conversations", "conversation", "messages")
ID_KEYS = ("id", "conversation_id", "session_id", "uuid")
REQUEST_KEYS = (
    *("model", "max_tokens", "request", "response", "sessionId", "trajectory", "history", "info", "usage"),
    *("harness", "epoch"),
)
AGENT_KEYS = ("working_dir", "sessionId", "trajectory_format")
N_ROLES_SEEN = 3


class ShareGpt:
    """The format's entry in the registry."""

    name = "sharegpt"
    label = "ShareGPT"
    source = "ShareGPT conversations, Hugging Face chat records (JSON or JSONL)"
    coverage = Coverage(images=YES)

    def sniff(self, head: Head) -> Sniff | None:
        """Records with turns of ``from`` and ``value``, or with messages and nothing that a request has."""
        found = first_records(head)
        turns = [(record, key) for record in found if (key := _turn_key(record))]
        if not turns:
            named = any("conversations" in record for record in found)
            return Sniff(0, "records have conversations, but no turns with from and value") if named else None
        agent = next(filter(None, (_agent_key(record, key) for record, key in turns)), "")
        if agent:
            return Sniff(0, f"records have turns, but also {agent!r}, which an agent's own file has")
        key = turns[0][1]
        if key != "messages":
            return Sniff(90, f"{len(turns)} of the first {len(found)} records have {key} of turns")
        return _sniff_messages(head, len(found), [record for record, _ in turns])

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """One session per record."""
        skipped: list[Skipped] = []
        found: list[Transcript] = []
        for number, (record, origin) in enumerate(records(source, skipped)):
            if not _turn_key(record):
                skipped.append(Skipped(origin.line, origin.offset, "a record without a list of turns"))
                continue
            stem = f"{stem_of(source.name)}.{number}"
            found.append(_session(record, origin, stem, Assembly(measure), skipped))
        if not found:
            raise UnreadableInput("no records with conversations or messages", next_step="Check the file's format")
        return Parsed(self.name, with_unique_ids(found), tuple(skipped))

    def contents(self, values: Sequence[Any], message: Message) -> tuple[Content, ...]:
        """The blocks of a turn; the values after it are its images."""
        del message
        return turn_contents(values[0], values[1:])


def _sniff_messages(head: Head, n_records: int, fitting: Sequence[Record]) -> Sniff:
    """Records with ``messages``: a chat set where they are several or have its forms, and nothing a request has."""
    foreign = next((name for name in REQUEST_KEYS for record in fitting if name in record), "")
    foreign = foreign or next(filter(None, (foreign_turn(record["messages"]) for record in fitting)), "")
    if foreign:
        return Sniff(0, f"records have messages, but also {foreign!r}, which a chat set does not")
    if n_records > 1 or isinstance(head.document, list):
        return Sniff(80, f"{len(fitting)} of the first {n_records} records have messages and no model")
    record = fitting[0]
    if _has_value_parts(record) or "images" in record or isinstance(record.get("tools"), str):
        return Sniff(75, "one record with messages in the form of a chat set")
    return Sniff(0, "one record with messages, which could as well be a request")


def _turn_key(record: Record) -> str:
    return next((key for key in TURN_KEYS if _are_turns(record.get(key))), "")


def _agent_key(record: Record, key: str) -> str:
    """What only a session that an agent saved has: its keys, or turns with the time they were ``created``."""
    timed = any(isinstance(turn, dict) and "created" in turn and "from" not in turn for turn in record[key])
    return next((name for name in AGENT_KEYS if name in record), "created" if timed else "")


def _are_turns(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    turns = [item for item in value if isinstance(item, dict)]
    return any(_is_turn(turn) for turn in turns[:N_ROLES_SEEN])


def _is_turn(turn: Record) -> bool:
    if "from" in turn and "value" in turn:
        return True
    return speaker(turn) in ROLES and ("content" in turn or "tool_calls" in turn)


def _session(record: Record, origin: Origin, stem: str, assembly: Assembly, skipped: list[Skipped]) -> Transcript:
    key = _turn_key(record)
    listed = record.get("images")
    images = listed if isinstance(listed, list) else []
    n_used = 0
    for position, turn in enumerate(record[key]):
        if not isinstance(turn, dict):
            skipped.append(Skipped(origin.line, origin.offset, f"turn {position} is not an object"))
            continue
        n_shown = min(n_placeholders(turn), len(images) - n_used)
        shown = range(n_used, n_used + n_shown)
        n_used += n_shown
        places = [inside(origin, key, position), *(inside(origin, "images", number) for number in shown)]
        _add(assembly, turn, places, [images[number] for number in shown])
    if n_used < len(images):
        assembly.warnings.append(f"Images without a place in the text: {len(images) - n_used}, not messages")
    native_id = next((str(record[k]) for k in ID_KEYS if isinstance(record.get(k), (str, int)) and record[k]), stem)
    system = contents_of(text_of(record.get("system"))) + tools_of(record.get("tools"))
    return assembly.transcript(
        native_id, ShareGpt.name, model=text_of(record.get("model")), system=assembly.measure(system)
    )


def _add(assembly: Assembly, turn: Record, places: Sequence[Origin], images: Sequence[Any]) -> None:
    role = ROLES.get(speaker(turn), Role.USER)
    in_run = assembly.follows_reply()
    index = assembly.add(role, turn_contents(turn, images), places, id=text_of(turn.get("id")))
    if role is Role.ASSISTANT and not in_run:
        assembly.request(index)


def _has_value_parts(record: Record) -> bool:
    return any(
        isinstance(part, dict) and "value" in part and "type" in part
        for turn in record["messages"]
        if isinstance(turn, dict) and isinstance(turn.get("content"), list)
        for part in turn["content"]
    )


FORMAT = ShareGpt()
