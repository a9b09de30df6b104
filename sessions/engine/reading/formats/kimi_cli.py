"""Kimi CLI sessions: ``context.jsonl``, what the model has, a message or a mark a line (formats 91).

A count before a reply is of what was sent, one behind it of the reply as well.  What a compaction took is in another
file: here it is a user's message that says so.
"""

from __future__ import annotations

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._chat_blocks import chat_contents
from sessions.engine.reading.formats._counts import exclusive_usage
from sessions.engine.reading.formats._records import first_objects, folder_of, objects
from sessions.engine.reading.formats._values import Record, count_of, text_of
from sessions.engine.transcript.types import Content, Origin, Parsed, Role

PROMPT, COUNT, POINT = "_system_prompt", "_usage", "_checkpoint"
ROLES = {"user": Role.USER, "tool": Role.USER, "assistant": Role.ASSISTANT}
OWN, COMPACTED = "<system>", "<system>Previous context has been compacted"


class _Format(Format):
    label = "Kimi CLI"
    source = "Sessions of Kimi CLI, ~/.kimi/sessions/<folder>/<id>/context.jsonl (JSONL)"
    coverage = Coverage(usage=PARTLY, images=YES, compactions=YES, live=YES, compaction="its opening")

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        marks = [role for value in lines if (role := text_of(value.get("role"))) in (PROMPT, COUNT, POINT)]
        return Sniff(92, f"lines of the roles {', '.join(sorted(set(marks)))}") if marks else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = KimiCliReading(source, measure)
        for line, entry in objects(source):
            reading.take(entry, line.at())
        reading.answered(0)
        transcript = reading.history.transcript(folder_of(source.name, "context"), system=measure(reading.system))
        return read_as([transcript])

    contents = each_value(chat_contents)


class KimiCliReading:
    """What one pass over the file collects: ``count`` of the list so far, ``reply`` the newest without a request."""

    def __init__(self, source: Source, measure: Measured) -> None:
        self.source = source
        self.history = Assembly(measure)
        self.system: tuple[Content, ...] = ()
        self.count = 0
        self.reply: int | None = None

    def take(self, entry: Record, origin: Origin) -> None:
        """One line of the file."""
        role = text_of(entry.get("role"))
        if role == COUNT:
            self.answered(count_of(entry.get("token_count")))
        elif role == PROMPT:
            self.system = chat_contents(entry)
        elif role in ROLES:
            self._say(ROLES[role], chat_contents(entry), origin)
        elif role != POINT:
            self.source.skip("no role that Kimi CLI writes", origin)

    def answered(self, total: int) -> None:
        """The newest reply is whole; ``total`` counts the list with it, 0 where the file does not say."""
        sent, made = (self.count, total - self.count) if 0 < self.count < total else (self.count or total, 0)
        if self.reply is not None:
            self.history.request(self.reply, exclusive_usage(sent, made))
            self.reply, self.count = None, 0
        else:
            self.count = total

    def _say(self, role: Role, contents: tuple[Content, ...], origin: Origin) -> None:
        if self.reply is not None:
            self.answered(0)
        if role is Role.USER and contents and contents[0].text.startswith(COMPACTED):
            self.history.summary(contents, [origin], self.history.compaction(outside=True))
            return
        is_own = bool(contents) and contents[0].text.startswith(OWN)
        typed = role is Role.USER and is_prompt(contents) and not is_own
        index = self.history.add(role, contents, [origin], typed=typed, meta=is_own)
        self.reply = index if role is Role.ASSISTANT else None
