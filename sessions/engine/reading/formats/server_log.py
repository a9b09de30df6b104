"""Text logs of servers and agents, line by line: LM Studio, llama.cpp, Ollama, vLLM, Hermes, others (formats 95).

Lines count that tell of a call and its size, of the room for a prompt, of one that was cut, of a compaction, of a
reply that ended at a limit, of an error.  LM Studio's bodies of requests are the session's messages; any other log has
requests alone.  Of a prompt that the server cut the size counts that was sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sessions.engine.base.limits import MAX_LINE_BYTES
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_place
from sessions.engine.reading.formats import _log_lines as lines
from sessions.engine.reading.formats import _wire_exchanges as wire
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import TracedCall
from sessions.engine.reading.formats._counts import exclusive_usage, inclusive_usage
from sessions.engine.reading.formats._end_reasons import cut_in
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal
from sessions.engine.reading.formats._records import misread, stem_of
from sessions.engine.reading.formats._values import Record, parsed, seconds
from sessions.engine.reading.jsonio import Line, too_long
from sessions.engine.transcript.recorded_events import CUT_OFF, CUTS, SERVER, STILL_OVER, EventKind
from sessions.engine.transcript.types import Origin, Parsed, Transcript, Usage

_MARK = re.compile(rf"\b(?:{lines.LEVEL}) \[([\w-]{{8,}})\] [\w.]+: ")
"""The session that Hermes puts on its lines."""
_BODY = re.compile(r"(Received request: POST to /\S+ with body|Generated prediction|Generated packet):?\s*(?=\{)")
_SENT = re.compile(r"\bTotal prompt tokens: (\d+)")
_NEW = re.compile(r"task (-?\d+) \| new prompt, n_ctx_slot = (\d+),.*?(?:n_prompt_tokens|task\.n_tokens) = (\d+)")
_CUT = re.compile(r"task (-?\d+) \| input truncated, n_ctx = \d+,.*?n_prompt_tokens = (\d+)")
_OLLAMA_CUT = re.compile(r"truncating input prompt\"? limit=(\d+) prompt=(\d+) keep=-?\d+(?: new=(\d+))?")
_MADE = re.compile(r"(?<!prompt )\beval time = *[\d.]+ ms / *(\d+) (?:tokens|runs)")
_TIMING = re.compile(r"print_timing: id +\d+ \| task (\d+) \|")
_TASK = re.compile(r"\btask(?: id =)? (-?\d+)\b")
_SLOTS = re.compile(r"\b(?:n_slots|n_parallel|n_seq_max) *= *(\d+)")
_SLOT = re.compile(r"(?:\bn_ctx_(?:slot|per_seq|seq)|new slot, n_ctx) *= *(\d+)")
_WHOLE = re.compile(r"(?<!slot, )\bn_ctx *= *(\d+)")
_API_CALL = re.compile(r"API call #\d+:? model=(\S+).*? in=([\d,]+) out=([\d,]+)")
_COUNTS = re.compile(
    r"\b(?:input|prompt)_tokens['\"]?[=:] ?([\d,]+)\b.*?\b(?:output|completion)_tokens['\"]?[=:] ?([\d,]+)\b"
)
_CACHED = re.compile(r"\bcache=(\d+)/|\bcached_tokens['\"]?[=:] ?(\d+)")
_APART = re.compile(r"\bcache_read_input_tokens['\"]?[=:] ?(\d+)")
_WRITTEN = re.compile(r"\b(?:write|cache_creation_input_tokens['\"]?)[=:] ?(\d+)")
_SUM = re.compile(r"\b(?:session|cumulative|totals?|so far)\b(?!=)", re.IGNORECASE)
"""Counts of several calls together."""
_MODEL = re.compile(r"\bmodel=([\w./:@-]+)")
_WINDOW = re.compile(
    r"context length \S+ -> ([\d,]+) tokens|\b(?:context_(?:length|window)|max_(?:model|seq)_len)['\"]?[=:] ?([\d,]+)"
    r"|\b[Uu]sing max model len (\d+)|\bcontext (?:length|window)\b(?!.{0,60}(?:exceed|us(?:ed|age)|remain|left))"
    r"[^.\d]{0,60}\b(\d[\d,]{3,})\b(?! ?/)"
)
_SHRINKS = re.compile(r"context compression started: .*?tokens=~?([\d,]+)")
_SHRUNK = re.compile(
    r"context compression done: .*?messages=\d+->\d+ \w*tokens=~?([\d,]+)"
    r"|(?:compact|compress|condens|summari[sz])\w*\b.{0,80}?(\d[\d,]{3,})(?: tokens)? *(?:->|→|to) *~?([\d,]+) tokens",
    re.IGNORECASE,
)
_WEIGHED = re.compile(r"\bcached_tokens=(\d+) threshold=(\d+)|\btoken count: (\d+)/(\d+)")
"""What an agent counts before it compacts, and its threshold."""
_DONE = re.compile(r"\bcompact\w* (?:complete|done|finished)\b.*?tokens=(\d+) threshold=(\d+)")
_STANDING = re.compile(r"\bsystem prompt\b.{0,20}\btokens=(\d+)")
_OFF = re.compile(r"\b(?:auto\w* )?(?:summari[sz]|compact|compress)\w*(?: is)? (?:disabled|off)\b", re.IGNORECASE)
_ANSWERED = re.compile(r"\bLLM API call successful\b")
SOON = 5
"""Seconds within which an error without a size tells again of the refusal before it."""
_ENDED = re.compile(r"(?:finish|stop|done)_?reason['\"]?[=:] ?['\"]?(\w+)", re.IGNORECASE)
_TOLD = (_BODY, _SENT, _NEW, _CUT, _OLLAMA_CUT, _API_CALL, _COUNTS, _SHRINKS, _SHRUNK, _DONE)
"""What no other log has than a server's of a model, or an agent's."""
_RAISED = re.compile(r"[\w.]+(?:Error|Exception)\b")
SHARE, CALLS, ERRORS = 0.3, 60, 15
"""Share of the lines that have to begin as a log's do; scores where a call is told, and an error alone."""


class _Format(Format):
    label = "Log"
    source = "Logs of servers (LM Studio, llama.cpp, Ollama, vLLM) and agents (Hermes, others), as text"
    coverage = Coverage(
        usage=PARTLY, compactions=PARTLY, refusals=YES, live=YES,
        error="lines that tell of one", compaction="a line with its sizes", begun="Hermes: compression started",
        window="n_ctx, n_ctx_slot, max_model_len, context length", model="model=", end="finish_reason",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        text = head.data.decode("utf-8", "replace")
        # Another format's lines may stand behind those of a log.
        plain = (lines.CONTAINER.sub("", line) for line in text.split("\n"))
        held = [line for line in plain if line.strip() and not line.startswith(("{", '["', "[{"))]
        n = sum(bool(lines.LOGGED.match(line)) for line in held)
        # A body is printed over any number of lines.
        is_log = n and (n >= SHARE * len(held) or _BODY.search(text))
        if head.document is not None or not is_log or 2 * len(head.values) > len(held):
            return None
        if lines.PROSE.search(text):
            return Sniff(0, "lines of a log in a document")
        if any(pattern.search(line) for line in held for pattern in _TOLD):
            return Sniff(CALLS, f"{n:,} lines as a log has, and a model's call or a compaction among them")
        is_told = any(map(lines.error_in, held))
        return Sniff(ERRORS, f"{n:,} lines as a log has, and a refusal for size among them") if is_told else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        reading = _Reading(source)
        for line in source.lines():
            reading.take(line)
        found = reading.transcripts(measure, stem_of(source.name))
        if not found:
            raise misread("no line of the log tells of a call of a model, or of an error")
        return Parsed(found)

    contents = each_place(lambda value, origin, _: wire.wire_contents(value, origin.path))


@dataclass(slots=True)
class _Session:
    """What the lines of one session told, in order: calls, errors, sizes before and after a compaction (0: unknown).

    ``weighed`` is what the agent counted last, and its threshold, ``standing`` its count of system prompt and tools.
    """

    told: list[TracedCall | Refusal | tuple[int, int]] = field(default_factory=list)
    last: TracedCall | None = None
    weighed: tuple[int, int] = (0, 0)
    standing: int = 0
    shrinks: int | None = None

    def transcript(self, measure: Measured, name: str, settings: Refusal | None, room: int) -> Transcript:
        """Its requests, without messages; a reply that was cut off ends it where no other call follows."""
        history = Assembly(measure)
        history.refuse(settings)
        for one in self.told:
            if isinstance(one, Refusal):
                history.refuse(one)
            elif isinstance(one, tuple):
                history.compaction(tokens_before=one[0] or None, tokens_after=one[1] or None)
            elif one.edits.error:
                history.refuse(one.edits.error)
            else:
                history.request(None, one.usage, model=one.model, timestamp=one.timestamp, window=one.window)
                kind = EventKind.SESSION_END if one is self.last else EventKind.REPLY_CUT
                history.refuse(one.edits.ended and one.edits.ended._replace(kind=kind))
        if self.shrinks is not None:
            history.event(EventKind.COMPACTION_STARTED, f"compression of about {self.shrinks:,} tokens")
        times = [one.timestamp for one in self.told if isinstance(one, TracedCall) and one.timestamp]
        return history.transcript(
            name, room=room or None, started_at=min(times, default=None), ended_at=max(times, default=None)
        )


class _Body(NamedTuple):
    """A JSON object that is printed over lines: what it is, its first line, where it begins there, what is read."""

    what: str
    line: Line
    start: int
    data: bytearray


class _Reading:
    """A log in the making: sessions by the mark on their lines, calls by task, the ``newest`` that has no answer yet.

    ``cut`` is a prompt that Ollama cut, before its server tells of it, ``cuts`` the sizes sent and kept of all.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.by_mark = {"": _Session()}
        self.session = self.by_mark[""]
        self.tasks: dict[int, TracedCall] = {}
        self.newest: TracedCall | None = None
        self.cut: TracedCall | None = None
        self.body: _Body | None = None
        self.level, self.is_trace = "", False
        self.time: float | None = None
        self.window = self.whole = self.n_slots = 0
        self.cuts: list[tuple[int, int]] = []
        self.last_error: tuple[str, float | None] = ("", None)
        self.refused_at: float | None = None
        self.off = ""

    def transcripts(self, measure: Measured, stem: str) -> tuple[Transcript, ...]:
        """The sessions: of the messages where bodies of requests were printed, else of the calls alone."""
        calls = [one for session in self.by_mark.values() for one in session.told if isinstance(one, TracedCall)]
        if any(call.sent for call in calls):
            return sessions_of(calls, measure, stem=stem)
        words = self._room()
        settings = Refusal(EventKind.SETTINGS, words=words, code=CUTS if self.cuts else SERVER) if words else None
        kept = [(mark or stem, one) for mark, one in self.by_mark.items() if one.told or one.shrinks is not None]
        return with_unique_ids(one.transcript(measure, name, settings, self.window) for name, one in kept)

    def _room(self) -> str:
        """How the server divides its context, and what it did with a longer prompt, in words; "" for neither."""
        words = f"the server's context is {self.window:,} tokens" if self.cuts and self.window else self.off
        if self.n_slots > 1 and 0 < self.window * self.n_slots <= self.whole:
            words = f"the context of {self.whole:,} is divided among {self.n_slots} slots, {self.window:,} each"
        if not self.cuts:
            return words
        sent, kept = max(self.cuts)
        more = f", and {len(self.cuts) - 1:,} more" if len(self.cuts) > 1 else ""
        return f"{words or 'the server has too little room'}; it cut a prompt of {sent:,} to {kept:,}{more}"

    def take(self, line: Line) -> None:
        """One line more."""
        if line.data is None:
            self.source.skip(too_long(line), line)
            return
        text = lines.CONTAINER.sub("", line.data.decode("utf-8", "replace").removeprefix("\ufeff"))
        timed = lines.TIMED.match(text)
        if self.body and not timed and len(self.body.data) <= MAX_LINE_BYTES:
            self._more(self.body, line, line.data)
            return
        if self.body:
            self.source.skip("a body that does not end", self.body.line)
            self.body = None
        if timed:
            self.level, self.time = "", seconds(re.sub(r" - |T", " ", timed[1].replace("/", "-").replace(",", ".")))
        if level := lines.LEVELLED.search(text[:80]):
            self.level = level[1]
        if mark := _MARK.search(text[:120]):
            self.session = self.by_mark.setdefault(mark[1], _Session())
        if found := _BODY.search(text):
            start = len(line.data) - len(text[found.end() :].encode("utf-8", "replace"))
            self.body = _Body(found[1], line, start, bytearray())
            self._more(self.body, line, line.data[start:])
        elif not any((m := rule[0].search(text)) and rule[1](self, m, text) is not False for rule in _RULES):
            self._failed(text)

    def _more(self, body: _Body, line: Line, data: bytes) -> None:
        """One line more of a printed body, which ends with a brace of its own or on its first line."""
        is_first = not body.data
        body.data.extend(data if is_first else b"\n" + data)
        value = parsed(body.data.decode("utf-8", "replace")) if is_first or data.rstrip() == b"}" else None
        if isinstance(value, dict):
            self.body, start = None, body.line.offset + body.start
            self._call(body.what, value, Origin(body.line.number, start, line.offset + line.length - start))

    def _call(self, what: str, value: Record, origin: Origin) -> None:
        """A request that was received, or what came of the newest one."""
        if what.startswith("Received"):
            if wire.is_request(value):
                self._opened(wire.call_at(wire.HttpExchange({}, value, (), None, ()), origin))
            return
        said = wire.call_at(wire.HttpExchange({}, {}, (), value, ()), origin)
        call = self.newest or (self._opened(TracedCall([], [])) if said.usage else None)
        if call is not None:
            call.usage, call.replied = said.usage or call.usage, said.replied or call.replied
            call.model, call.response_id = said.model or call.model, said.response_id or call.response_id
        if "prediction" in what:
            self.newest = None

    def _opened(self, call: TracedCall) -> TracedCall:
        call.timestamp, call.window = self.time, self.window
        self.session.told.append(call)
        self.session.last = self.newest = call
        return call

    def _failed(self, text: str) -> None:
        """An error, of the call that it names or that is open; one that is printed twice counts once."""
        found, words = lines.error_in(text, self.level), lines.words_of(text)[:MAX_WORDS]
        is_inside = self.is_trace and self.level in lines.LOUD and not _RAISED.match(words)
        self.is_trace = is_inside or words.startswith("Traceback")
        if found is None and words and self.level in lines.LOUD and not self.is_trace:
            found = Refusal(EventKind.ERROR, words=words)
        if found is None or (found.words, self.time) == self.last_error:
            return
        is_again = self.refused_at is not None and self.time is not None and self.time - self.refused_at <= SOON
        if not found.of_size and is_again:
            return
        self.last_error, self.refused_at = (found.words, self.time), self.time if found.of_size else None
        task = _TASK.search(text)
        call = self.tasks.get(int(task[1])) if task else self.newest
        if call is None or call.replied:
            self.session.told.append(found)
            return
        if found.of_size and call.usage and call.usage.placeholder:
            found = found._replace(tokens=found.tokens or call.usage.input, limit=found.limit or call.window or None)
        call.edits = replace(call.edits, error=found)
        self.newest = None

    def prompt(self, found: re.Match[str], _: str) -> None:
        """llama.cpp begins a prompt; one that Ollama cut before is the same."""
        task, self.window, sent = (lines.count(digits) for digits in found.groups())
        call, self.cut = self.cut, None
        if call is None or sent != self.cuts[-1][1]:
            call = self._opened(TracedCall([], [], Usage(sent, placeholder=True)))
        call.window = self.window
        self.tasks[task] = self.newest = call

    def truncated(self, found: re.Match[str], _: str) -> None:
        """llama.cpp cut the prompt of a task."""
        call = self.tasks.get(lines.count(found[1]))
        self.cuts.append((call.usage.input if call and call.usage else 0, lines.count(found[2])))

    def truncating(self, found: re.Match[str], text: str) -> None:
        """Ollama cuts a prompt: its own runner at the window, before llama.cpp's server at about half of it."""
        limit, sent, kept = (lines.count(digits) for digits in found.groups())
        self.window = limit if "source=llama_server" not in text else self.window
        self.cut = self._opened(TracedCall([], [], Usage(sent, placeholder=True)))
        self.newest = None
        self.cuts.append((sent, kept or limit))

    def sent(self, found: re.Match[str], _: str) -> None:
        """LM Studio counts the prompt of the newest request."""
        call = self.newest or self._opened(TracedCall([], []))
        call.usage = call.usage or Usage(lines.count(found[1]), placeholder=True)

    def timing(self, found: re.Match[str], _: str) -> bool:
        """The task whose counts are on this line, or on those behind it."""
        self.newest = self.tasks.get(lines.count(found[1]), self.newest)
        return False

    def made(self, found: re.Match[str], _: str) -> None:
        """The tokens of the newest call's answer."""
        call = self.newest
        if call is not None and call.usage and call.usage.placeholder:
            call.usage = replace(call.usage, output=lines.count(found[1]), placeholder=False)

    def room(self, found: re.Match[str], _: str) -> bool:
        """The room for a prompt, of the newest call too where none was told before; a line may tell more."""
        self.window = next((n for digits in found.groups() if (n := lines.count(digits))), self.window)
        if self.newest is not None and not self.newest.window:
            self.newest.window = self.window
        return False

    def context(self, found: re.Match[str], text: str) -> bool:
        """The whole context of the server, which is the room where none of a slot is told behind it."""
        self.whole = lines.count(found[1])
        return self.room(found, text)

    def slots(self, found: re.Match[str], _: str) -> bool:
        """How many requests share the context; the line may tell the room of each, too."""
        self.n_slots = lines.count(found[1])
        return False

    def counted(self, found: re.Match[str], text: str) -> bool:
        """A call with its counts; one that is told twice counts once."""
        sent, output = (lines.count(digits) for digits in found.groups()[-2:])
        read, apart, written = (lines.first_count(one, text) for one in (_CACHED, _APART, _WRITTEN))
        build = exclusive_usage if apart else inclusive_usage
        usage, last = build(sent, output, cache_read=apart or read, cache_write=written), self.session.last
        is_same = last is not None and (last.usage, last.timestamp) == (usage, self.time)
        if usage is not None and not is_same and not (found.re is _COUNTS and _SUM.search(text)):
            model = _MODEL.search(text)
            self._opened(TracedCall([], [], usage, model[1] if model else ""))
            self.newest = None
        return False

    def shrinking(self, found: re.Match[str], _: str) -> None:
        """A compaction began."""
        self.session.shrinks = lines.count(found[1])

    def shrunk(self, found: re.Match[str], _: str) -> None:
        """A compaction came about."""
        *before, after = (lines.count(digits) for digits in found.groups() if digits)
        self.session.told.append((next(iter(before), self.session.shrinks or 0), after))
        self.session.shrinks = None

    def weighed(self, found: re.Match[str], text: str) -> None:
        """What the agent counted, and the threshold that it held it against."""
        size, limit = (lines.count(digits) for digits in found.groups() if digits)
        if _DONE.search(text):
            own = f", and its system prompt alone has {n:,}" if (n := self.session.standing) >= limit else ""
            over = f", {STILL_OVER} of {limit:,}{own}" if size >= limit else ""
            words = f"it left {size:,} tokens{over}"
            self.session.told += [Refusal(EventKind.COMPACTION_LEFT, words=words), (self.session.weighed[0], size)]
        self.session.weighed = size, limit

    def stands(self, found: re.Match[str], _: str) -> None:
        """What the agent counts of its system prompt and tools."""
        self.session.standing = lines.count(found[1])

    def is_off(self, found: re.Match[str], _: str) -> None:
        """That the agent does not compact by itself, with what it counted and its own limit."""
        size, limit = self.session.weighed
        counted = f", at {size:,} tokens by its own count, where its own limit is {limit:,}" if limit else ""
        self.off = f'the log says "{found[0]}"{counted}'

    def answered(self, _: re.Match[str], __: str) -> bool:
        """A call that was answered, without counts; how it ended may stand behind it."""
        self._opened(TracedCall([], []))
        self.newest = None
        return False

    def ended(self, found: re.Match[str], _: str) -> bool:
        """How the newest reply ended, where that was at a limit."""
        reason, call = cut_in([found[1]]), self.session.last
        if reason and call is not None:
            told = Refusal(EventKind.SESSION_END, code=reason, words=f"{CUT_OFF}: {reason}")
            call.edits = replace(call.edits, ended=told)
        return bool(reason)


_RULES: tuple[tuple[re.Pattern[str], Callable[[_Reading, re.Match[str], str], bool | None]], ...] = (
    (_NEW, _Reading.prompt), (_CUT, _Reading.truncated), (_OLLAMA_CUT, _Reading.truncating),
    (_TIMING, _Reading.timing), (_MADE, _Reading.made), (_SENT, _Reading.sent),
    (_SLOTS, _Reading.slots), (_WHOLE, _Reading.context), (_SLOT, _Reading.room), (_WINDOW, _Reading.room),
    (_API_CALL, _Reading.counted), (_COUNTS, _Reading.counted), (_SHRINKS, _Reading.shrinking),
    (_WEIGHED, _Reading.weighed), (_STANDING, _Reading.stands), (_OFF, _Reading.is_off),
    (_ANSWERED, _Reading.answered), (_SHRUNK, _Reading.shrunk), (_ENDED, _Reading.ended),
)  # fmt: skip
"""What lines tell, and who takes it; the first that does not say that a line may tell more (False) ends it."""
