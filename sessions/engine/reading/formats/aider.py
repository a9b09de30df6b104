"""aider's chat history, the Markdown file that it appends to: a session for every start (formats 43).

Lines are told apart as aider does it itself: ``####`` is the user, ``>`` aider's own output, the rest the model.  Token
counts are rounded as aider prints them.  Files, repository map and prompts that aider sends are not in the file.
"""

from __future__ import annotations

import re

from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Measured, Sniff, each_value
from sessions.engine.reading.formats._assembly import Assembly, read_as
from sessions.engine.reading.formats._counts import inclusive_usage
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._records import stem_of
from sessions.engine.reading.jsonio import TEXT, Head, Line, Source, too_long
from sessions.engine.transcript.recorded_events import ErrorKind, EventKind
from sessions.engine.transcript.types import Content, Kind, Origin, Parsed, Role, Transcript, Usage

START = "# aider chat started at "
USER, OUTPUT = "#### ", ">"
ASKING = ("/ask ", "/code ", "/architect ", "/context ", "/help ")
"""Commands whose text goes to the model; all others are aider's own."""
MODEL = re.compile(r"> (?:Main m|M)odel: (\S+) with ")
TOKENS = re.compile(r"> Tokens: (\S+) sent,(?: (\S+) cache write,)?(?: (\S+) cache hit,)? (\S+) received\b")
EXHAUSTED = re.compile(r"> (?:Input|Total) tokens: ~?([\d,]+) of ([\d,]+) -- .*exhausted context window")
INPUT = re.compile(r"> Input tokens: ~?([\d,]+) of ([\d,]+)\s*$")
OUTPUT_TOKENS = re.compile(r"> Output tokens: ~?([\d,]+) of ([\d,]+)(?: -- (possibly exceeded output limit))?")
"""After a token limit that by aider's own estimate neither the input nor the answer was near.

Where nothing was answered the request was refused; else the answer was cut off.
"""
LISTED = re.compile(r"> \$ *[\d.]+ +([\d,]+) ([a-z][a-z ]*[a-z])(?: {2}|\s*$)")
"""A part of the context as ``/tokens`` lists it."""
ROOM = re.compile(r"> +([\d,]+) tokens max context window size")
"""The model's window as ``/tokens`` tells it."""
ROUNDED = "Token counts are rounded as aider prints them (12k is 11,500 to 12,499)"


class _Format(Format):
    label = "aider"
    source = "Chat history of aider, .aider.chat.history.md (Markdown)"
    coverage = Coverage(
        usage=PARTLY, compactions=YES, refusals=YES, live=YES,
        error="lines of > that tell a provider's refusal", compaction="a summary's prompt",
        who="the command", window="/tokens", model="Model:",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        text = head.data.removeprefix(b"\xef\xbb\xbf").lstrip()
        return Sniff(95, "line 1 says when an aider chat started") if text.startswith(START.encode()) else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        sessions: list[_Reading] = []
        for line in source.lines():
            if line.data is None:
                source.skip(too_long(line), line)
                continue
            text = line.data.decode("utf-8", errors="replace").removeprefix("\ufeff")
            if text.startswith(START):
                sessions.append(_Reading(measure, text.removeprefix(START).strip()))
            elif sessions:
                sessions[-1].take(text, line)
            elif text.strip():
                source.skip("stands before the first start of aider", line)
        return read_as([reading.finish(stem_of(source.name)) for reading in sessions])

    contents = each_value(lambda value: [Content(Kind.TEXT, text=_said(value))] if isinstance(value, str) else [])


class _Reading:
    """One session in the making: the lines of the message that is being read, and where it starts."""

    def __init__(self, measure: Measured, started: str) -> None:
        self.history = Assembly(measure)
        self.started = started
        self.model = ""
        self.lines: list[str] = []
        self.first: Line | None = None
        self.last: Line | None = None
        self.is_user = False
        self.reply: int | None = None
        self.n_commands = 0
        self.n_counted = 0
        self.fitting: re.Match[str] | None = None
        self.listed: list[str] = []
        self.room = 0

    def take(self, text: str, line: Line) -> None:
        if text.startswith(OUTPUT):
            self._flush()
            self._output(text)
            return
        is_user = text.startswith(USER)
        if is_user != self.is_user and (text.strip() or is_user):
            self._flush()
        if not text.strip() and self.first is None:
            return
        self.is_user = is_user if text.strip() else self.is_user
        self.first, self.last = self.first or line, line
        self.lines.append(text)

    def finish(self, stem: str) -> Transcript:
        self._flush()
        self._close(None)
        self.history.note(self.n_counted, ROUNDED)
        self.history.note(self.n_commands, f"Commands to aider itself: {self.n_commands}, not context")
        native = f"aider {self.started}" if self.started else stem
        return self.history.transcript(native, model=self.model, room=self.room or None)

    def _flush(self) -> None:
        """Make a message of the lines read so far."""
        first, last, lines, self.first, self.lines = self.first, self.last, self.lines, None, []
        if first is None or last is None:
            return
        said = _said("\n".join(lines))
        if self.is_user and said.startswith("/") and not said.startswith(ASKING):
            self.n_commands += 1
            self._close(None)
            command = said.split(maxsplit=1)[0]
            if command in ("/clear", "/reset") and self.history.messages:
                self.history.forget(range(len(self.history.messages)), trigger="manual", reason=command)
            return
        origin = Origin(first.number, first.offset, last.offset + last.length - first.offset, (TEXT,))
        contents = (Content(Kind.TEXT, text=said),)
        if self.is_user:
            self._close(None)
            self.history.add(Role.USER, contents, [origin], typed=True)
        else:
            index = self.history.add(Role.ASSISTANT, contents, [origin])
            self.reply = index if self.reply is None else self.reply

    def _output(self, text: str) -> None:
        """What aider says of itself: the model, what a call weighed, that it was too large."""
        if model := MODEL.match(text):
            self.model = model[1]
        elif counts := TOKENS.match(text):
            self.n_counted += 1
            # What was sent is the whole context; the part read from the cache is in it.
            sent, read, received = (_count(counts[n]) for n in (1, 3, 4))
            self._close(inclusive_usage(sent, received, cache_read=min(read, sent)))
        elif exhausted := EXHAUSTED.match(text):
            sent, limit = (int(exhausted[n].replace(",", "")) for n in (1, 2))
            if limit:
                self.history.refuse(Refusal(ErrorKind.CONTEXT, sent, limit))
            elif text.startswith("> Input"):
                # Of a model whose limits aider does not know it says "of 0", and that they may be passed.
                self.fitting = exhausted
        elif self.listed and "tokens total" in text:
            self.history.event(EventKind.CONTEXT_LISTED, "; ".join(self.listed))
            self.listed = []
        elif room := ROOM.match(text):
            self.room = int(room[1].replace(",", ""))
        elif part := LISTED.match(text):
            self.listed.append(f"{part[2]}: {part[1]} tokens")
        elif fitting := INPUT.match(text):
            self.fitting = fitting
        elif (answer := OUTPUT_TOKENS.match(text)) and self.fitting:
            self._cut_off(self.fitting, answer)
            self.fitting = None
        else:
            error = error_of(text)
            self.history.refuse(error if error and error.of_size else None)

    def _cut_off(self, sent: re.Match[str], answer: re.Match[str]) -> None:
        """A call that met a token limit, of which aider knows neither which nor where: its own figures are told."""
        if int(answer[1].replace(",", "")):
            self._close(None)
            what = "the answer may have passed its limit" if answer[3] else "a token limit was hit"
            sizes = f"{answer[1]} of {answer[2]} tokens of output, {sent[1]} of {sent[2]} of input"
            what = "a token limit was hit, of which aider knows none (of 0)" if sent[2] == answer[2] == "0" else what
            self.history.event(EventKind.ERROR, f"{what}: {sizes}, by aider's estimate")
        else:
            words = "; ".join(line[0].strip("> ") for line in (sent, answer))
            self.history.refuse(Refusal(ErrorKind.CONTEXT, int(sent[1].replace(",", "")), words=words))

    def _close(self, usage: Usage | None) -> None:
        """The call of the reply read so far is complete."""
        if self.reply is not None:
            n = len(self.history.messages) - self.reply
            self.history.request(self.reply, usage, model=self.model, n_messages=n)
        elif usage is not None:
            self.history.request(None, usage, on_branch=False, model=self.model)
        self.reply = None


def _said(text: str) -> str:
    """What a message says: without the marks of a user's lines."""
    lines = [line.removeprefix(USER).rstrip("\r") for line in text.split("\n")]
    return "\n".join(line.removesuffix("  ") for line in lines).strip()


def _count(text: str | None) -> int:
    """A count as aider prints it: 812, 1.2k, 12k, 1.2M."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([kM]?)", (text or "").replace(",", ""))
    return round(float(match[1]) * {"": 1, "k": 1_000, "M": 1_000_000}[match[2]]) if match else 0
