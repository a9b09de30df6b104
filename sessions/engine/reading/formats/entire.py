"""Entire's condensed transcripts: ``transcript.jsonl`` of a checkpoint, whichever agent made it (formats 66).

A call and its result stand in one block: they are two messages.  Thinking and what the cache read are not kept, so that
no request has its usage; the agent's own transcript, ``full.jsonl`` beside it, has them.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.reading.formats import PARTLY, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats._anthropic_blocks import block_of
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import blocks_of
from sessions.engine.reading.formats._items import plain_result
from sessions.engine.reading.formats._records import first_objects, objects, stem_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Content, Parsed, Role

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
OWN_KEYS = ("v", "agent", "cli_version")


class _Format(Format):
    label = "Entire"
    source = "Condensed transcripts of Entire's checkpoints, transcript.jsonl (JSONL)"
    coverage = Coverage("0.5 to 0.11", usage=PARTLY, images=PARTLY)

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        fitting = [value for value in lines if _is_turn(value)]
        if fitting and 2 * len(fitting) > len(lines):
            n, agent = len(fitting), fitting[0]["agent"]
            return Sniff(93, f"{n} of the first {len(lines)} lines are turns of {agent}, as Entire keeps them")
        named = any(all(key in value for key in OWN_KEYS) for value in lines)
        return Sniff(0, "lines have Entire's keys, but no turn with content") if named else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        made, agent = Assembly(measure), ""
        for line, value in objects(source, _is_turn, "no turn with content"):
            agent = agent or value["agent"]
            role, time = ROLES[value["type"]], seconds(value.get("ts"))
            if contents := _contents(value, role):
                made.say(role, contents, [line.at()], {"response_id": text_of(value.get("id"))}, timestamp=time)
            if results := _contents(value, Role.USER) if role is Role.ASSISTANT else ():
                made.add(Role.USER, results, [line.at()], timestamp=time)
        made.note(agent, f"Entire's view of a session of {agent}; full.jsonl beside it has the usage")
        return read_as([made.transcript(stem_of(source.name))])

    contents = each_place(lambda value, _, message: _contents(as_dict(value), message.role))


def _is_turn(value: Record) -> bool:
    own = all(key in value for key in OWN_KEYS) and isinstance(value["agent"], str)
    return own and text_of(value.get("type")) in ROLES and isinstance(value.get("content"), list)


def _contents(value: Record, role: Role) -> tuple[Content, ...]:
    if value.get("type") == "assistant" and role is Role.USER:
        blocks = map(as_dict, as_list(value.get("content")))
        calls = [(block, as_dict(block.get("result"))) for block in blocks if block.get("type") == "tool_use"]
        return tuple(
            plain_result(text_of(block.get("id")), result.get("output"), is_error=result.get("status") == "error")
            for block, result in calls
            if isinstance(block.get("result"), dict)
        )
    return blocks_of(value.get("content"), _block)


def _block(block: Any) -> Content:
    """A block of the Messages API's; one without a type is text."""
    return block_of({"type": "text", **block} if isinstance(block, dict) else block)
