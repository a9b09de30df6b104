"""Errors by which a provider refuses a request for its size, and those of an agent that gives up (formats 21).

The one recogniser of all readers.
The texts are those of the providers' own documentation and of public issue reports: Anthropic's "prompt is too long:
205148 tokens > 200000 maximum", "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000" and
``request_too_large`` (413); OpenAI's ``context_length_exceeded`` with "maximum context length is 128000 tokens.
However, your messages resulted in 130000 tokens"; Gemini's "input token count (1050000) exceeds the maximum number of
tokens allowed (1048576)"; llama.cpp's "request (446937 tokens) exceeds the available context size (250112 tokens)";
xAI's "maximum prompt length is 131072 but the request contains 537812 tokens"; Mistral's "too large for model with
32768 maximum context length"; Copilot's "exceeds the limit of 72000"; Cerebras's "413 (no body)" and "Current length is
42328 while limit is 40000"; vLLM's "your request has 99073 input tokens"; SGLang's "8071 tokens from the input";
DashScope's "Range of input length should be [1, 129024]"; Cohere's "cannot exceed 128000 - received 130000"; those of
Kimi, Groq, MiniMax, LM Studio, Ollama, Bedrock; Gemini CLI's own, said before anything is sent.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sessions.engine.reading.formats._branch import next_on_branch
from sessions.engine.reading.formats._error_body import error_body, json_object, status_of
from sessions.engine.transcript.recorded_events import ErrorKind, EventKind, RecordedEvent
from sessions.engine.transcript.types import ProviderError, Request

MAX_WORDS = 500
"""Of an error's words, so many characters are kept: what follows quotes the request."""
EVENT_KINDS = frozenset(EventKind)
MAX_CHARS = 4_000
"""An error is in the first characters of its text; what follows may quote the request."""
SMALLEST = 1_000
"""No window and no body limit is smaller."""
_BODY = re.compile(
    r"request_too_large|request (?:entity|body)? ?(?:is )?too large|payload too large|body (?:is )?too large"
    r"|string too long|exceeds? the maximum (?:allowed )?(?:number of )?bytes|maximum (?:request|body|payload) size"
    r"|413 \(no body\)|request size (?:cannot )?exceeds?"
    r"|request exceeds the maximum size|total (?:message|request) size",
    re.IGNORECASE,
)
_MEDIA = re.compile(
    r"many-image requests|dimensions? (?:limit|exceed)|image dimensions|image exceeds \d|too much media"
    r"|images? (?:was|is|are) too large|image_too_large|too many images|maximum of \d+ (?:pdf )?(?:pages|images)"
    r"|pdf (?:is |was )?too (?:large|long|many)|contains \d+ images, exceed",
    re.IGNORECASE,
)
"""A picture or document over a limit of its own: its side, its bytes, its pages, or how many there may be."""
_CONTEXT = re.compile(
    r"prompt is too long|context[_ -](?:length|window|limit)[_ -](?:was |is )?exceed|model_context_window_exceeded"
    r"|maximum context len(?:gth|ght)|exceed(?:s|ed)? (?:the |your |this )?(?:model'?s? )?max(?:imum)? context"
    r"|exceeds? (?:the |your |this )?(?:model'?s? )?(?:maximum )?context|longer than the model'?s context"
    r"|(?:exceeds? (?:the |your )?(?:context )?|session )token limit|reached (?:its|the) context window limit"
    r"|too many tokens|tokens? exceeds? (?:the |your )?(?:[a-z]{1,20} ){0,2}(?:limit|maximum)"
    r"|range of input length|prompt exceeds max length|exceed max message tokens|n_keep"
    r"|tokens?`? \+ `?max_(?:new_)?tokens|might exceed the context window|maximum input length"
    r"|loaded with context length of|current length is \d+ while limit"
    r"|input length and `?max_tokens`? exceed|input is too long|ran out of room in the model'?s context"
    r"|token count.{0,40}(?:exceeds|but model only supports)|input tokens \d+ cannot exceed"
    r"|max_prompt_tokens_exceeded|too many input tokens"
    r"|maximum number of (?:input )?tokens"
    r"|(?:prompt|input|conversation|context) (?:is )?too long|exceed_context_size|^context limit reached"
    r"|exceeds the available context|greater than the context length|context window exceeds"
    r"|maximum prompt length|exceeded model token limit|reduce the length of the messages"
    r"|n(?:ot|'t) fit (?:in|into|within) (?:the |its )?(?:model'?s )?context"
    r"|context window (?:will|has) overflow|maximum allowed input length|token count of \d+ exceeds the limit"
    r"|context shift is disabled|ContextWindowExceed|ContextOverflow|exit_context|context is too large to send",
    re.IGNORECASE,
)
_CODE = re.compile(r"context_length_exceeded")
"""A provider's own code for it, whatever words stand beside."""
_MADE = (
    r"(?:compact(?:ion|ing)?|compress(?:ion|ing)?|condens(?:ation|ing)|summari[sz](?:ation|ing|er)|overflow recovery)"
)
_NOT_MADE = (
    rf"error (?:(?:during|while|in|running)(?: [a-z]{{1,20}}){{0,2}} )?{_MADE}"
    rf"|(?:[a-z]{{1,20}}[ -]){{0,3}}{_MADE}(?: [a-z]{{1,20}}){{0,2}}"
    r"(?: (?:has |was |unexpectedly )?(?:failed|exhausted|aborted|error|blocked|could not proceed"
    r"|did not (?:reduce|shrink))|\.(?:failed|unable))"
    r"|(?:failed|unable|could not|cannot|can't)(?: to)?(?: auto-?)? ?(?:compact|compress|condense|summari[sz]e)"
)
_OF_COMPACTION = re.compile(rf"{_NOT_MADE}|too large to compact", re.IGNORECASE)
"""What was refused was the call that writes the summary."""
_FAILED = re.compile(
    r"\W*(?:(?:\d{3}|[a-z]+(?:_[a-z]+)+)\W+)?"
    r"(?:(?:execution failed|api error|context overflow|warning|[a-z]*error): *)?"
    rf"\W*(?:{_NOT_MADE})\b",
    re.IGNORECASE,
)
"""How an error begins that is a failed compaction's, whatever it failed for; a status or code may stand in front."""
_NOTHING = re.compile(r"not enough messages|nothing to compact|already compacted|too small", re.IGNORECASE)
"""There was nothing to compact: no failure."""
_STUCK = re.compile(r"could not proceed|\bpaused\b", re.IGNORECASE)
"""But one after which the agent compacts no more."""
_GAVE_UP = re.compile(r"\W*auto-?compact(?:ion)? is thrashing\b", re.IGNORECASE)
"""How Claude Code stops itself from 2.1.89 on: full again within 3 turns of a compaction, 3 times in a row."""
_RATE = re.compile(r"rate.?limit|per (?:minute|day)|too many requests|quota|(?:daily|weekly|monthly) ", re.IGNORECASE)
_NUMBER = r"(\d[\d,_.]*\d|\d)"
_COMPARED = re.compile(_NUMBER + r"\s*(?:tokens|bytes)?\s*>\s*" + _NUMBER)
_LEFT_OVER = re.compile(_NUMBER + r"\s*>\s*" + _NUMBER + r"\s*-\s*" + _NUMBER)
"""The reply's maximum against what the window leaves beside the input."""
_KEPT = re.compile(r"n_keep: *" + _NUMBER + r" *>=? *n_ctx: *" + _NUMBER)
"""LM Studio: the prompt's opening that has to stay, against the context length that the model was loaded with."""
_ADDED = re.compile(_NUMBER + r"\s*\+\s*" + _NUMBER + r"\s*>\s*" + _NUMBER)
_LIMIT = re.compile(
    r"(?:maximum context len(?:gth|ght)(?: is| of|:)?|maximum number of (?:input )?tokens allowed|context limit(?: of)?"
    r"|context window(?! exceed)(?: of)?|limit of|limit is|maximum (?:of|is)|max(?:imum)? allowed"
    r"|available context size|maximum prompt length is|model token limit:|for model with"
    r"|context length(?: (?:of|is)(?: only)?| \()"
    r"|only supports up to|context length only supports(?= \d)|max(?:imum)? size|tokens limit(?= \d)"
    r"|must be <=|should be \[1,|cannot exceed|(?<!_)maximum length|n_ctx)\D{0,12}?" + _NUMBER,
    re.IGNORECASE,
)
_SENT = re.compile(
    r"(?:resulted in|you requested(?: about)?|\(requested:|token count(?: of)?\D{0,12}|requested tokens\D{0,4}"
    r"|number of input tokens|(?:prompt|input|request) (?:has|contains)(?: at least)?|request \("
    r"|will overflow \(estimated:|estimated prompt tokens:|n_keep \(|current length is|too long:|length \(|input \("
    r"|received|with length|window exceeded:|your request has)\s*" + _NUMBER + r"(?!\d|,\d| output tokens| characters)",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"(?<![\d,.])(?!\A[45]\d\d )" + _NUMBER + r" (?:`?inputs?`? tokens|tokens from the input)", re.IGNORECASE
)
"""What the request itself had, said apart from its reply; a status may begin the words."""
_PARTS = re.compile(
    r"\(([^()]{0,60}(?:of text input|in the messages)\b[^()]{0,90})\b(?:output|completion)", re.IGNORECASE
)
_PART = re.compile(
    _NUMBER + r" (?:of (?:text|tool|image|audio|file) input|in the (?:messages|functions|tools))", re.IGNORECASE
)
"""What the request itself had, where the figure before it adds what the reply may have."""
_OWN_LIMIT = re.compile(r"session token limit exceeded: " + _NUMBER, re.IGNORECASE)
"""A limit that the client was set, which is not the provider's."""
_ROOM = re.compile(r"\(-?[\d,]+ tokens left\)")
"""What the client had left by its own count: no limit."""
_MEGABYTES = re.compile(r"\bmax(?:imum)?(?: of)? (\d{1,3}) ?MB\b", re.IGNORECASE)
SENT_KEYS, LIMIT_KEYS, FIGURE_DEPTH = ("n_prompt_tokens", "prompt_tokens"), ("n_ctx", "max_context_length"), 4
"""llama.cpp's fields of figures beside its words."""
_OF_TOKENS = re.compile(r"max(?:imum)? size:? [\d,]+ tokens", re.IGNORECASE)
"""A body that is called too large by its tokens (GitHub Models)."""
_STATUS = re.compile(r"\b(413)\b")


class Refusal(NamedTuple):
    """What an error says: ``kind`` and, where given, the size sent and the limit (tokens or bytes).

    One of an ``EventKind`` was refused for no size; ``code`` and ``words`` are the error's own.
    """

    kind: str
    tokens: int | None = None
    limit: int | None = None
    status: int = 0
    of_compaction: bool = False
    code: str = ""
    words: str = ""
    model: str = ""

    @property
    def of_size(self) -> bool:
        """Whether it was refused for its size, or a compaction failed."""
        return self.kind not in EVENT_KINDS

    @property
    def sizes(self) -> str:
        """Sent and allowed in words; "" where one of them is not given."""
        return f"{self.tokens:,} of {self.limit:,} tokens" if self.tokens and self.limit else ""

    def error(self, request: int, message: int, count: int = 1) -> ProviderError:
        """The same before request ``request``, behind so many messages, told ``count`` times."""
        figures, said = (self.tokens, self.limit, self.status), (self.code, self.words, self.model)
        return ProviderError(self.kind, request, message, *figures, count, self.of_compaction, *said)


def error_of(
    value: Any, status: int = 0, *, of_compaction: bool = False, kind: EventKind = EventKind.ERROR
) -> Refusal | None:
    """What an error in any shape says; None where it says nothing and has no status of an error.

    ``of_compaction``: it is known to be a compaction's.  ``kind`` is what one is that was refused for no size.
    """
    body = error_body(value)
    said = " ".join(filter(None, (body.words, *(code for code in body.codes if code not in body.words))))
    status = status_of(status) or body.status
    found = refusal_of(said, status) if said or status else None
    if found and found.kind == ErrorKind.CONTEXT and isinstance(value, dict) and not (found.tokens or found.limit):
        found = found._replace(tokens=_beside(value, SENT_KEYS), limit=_beside(value, LIMIT_KEYS))
    if found is None and isinstance(value, str) and (found := refusal_of(value, status)):
        # What stands behind an error's JSON tells it.
        body = body._replace(words=" ".join(value.split()))
    if of_compaction:
        found = (found or Refusal(ErrorKind.COMPACTION, status=status))._replace(of_compaction=True)
    elif found is None and (said or status):
        found = Refusal(kind, status=status)
    return found._replace(code=body.code, words=body.words[:MAX_WORDS]) if found else None


def _beside(value: Any, keys: Sequence[str], depth: int = 0) -> int | None:
    """A figure that an error's body gives in a field of its own."""
    is_json = isinstance(value, str) and "{" in value
    held = json_object(value[value.find("{") : value.rfind("}") + 1]) if is_json else value
    held = held if isinstance(held, dict) and depth < FIGURE_DEPTH else {}
    own = next((n for key in keys if isinstance(n := held.get(key), int) and n >= SMALLEST), None)
    return own or next((n for inner in held.values() if (n := _beside(inner, keys, depth + 1))), None)


def end_of(status: Any) -> Refusal | None:
    """How a run ended, as SWE-agent's ``exit_status`` and the like say; None where it came to its end."""
    error = error_of(status, kind=EventKind.SESSION_END)
    return None if error is None or error.words.lower().startswith("submitted") else error


def refusal_of(text: str, status: int = 0) -> Refusal | None:
    """The refusal for size, failed compaction or giving up that an error's text or status tells; None for any other."""
    head = text[:MAX_CHARS]
    if _GAVE_UP.match(head):
        return Refusal(ErrorKind.GAVE_UP, status=status)
    if status == 429 or _RATE.search(head):
        return _failed(head, status)
    own = bool(_OF_COMPACTION.search(head))
    if _MEDIA.search(head) and not _CONTEXT.search(head):
        return _failed(head, status) or Refusal(ErrorKind.MEDIA, status=status)
    in_text = 413 if not status and _STATUS.search(head) and re.search(r"error|too large", head, re.IGNORECASE) else 0
    of_context = _CONTEXT.search(head) and (not _BODY.search(head) or _CODE.search(head))
    if of_context or _OF_TOKENS.search(head):
        return Refusal(ErrorKind.CONTEXT, *_figures(head), status, own)
    if status == 413 or in_text or _BODY.search(head):
        sent, limit = _figures(head)
        named = _MEGABYTES.search(head)
        limit = int(named[1]) * 1_000_000 if named and limit is None else limit
        return Refusal(ErrorKind.BODY, sent, limit, status or in_text, own)
    return _failed(head, status)


def _failed(head: str, status: int) -> Refusal | None:
    """A compaction that failed for another reason than its size, as its error says."""
    is_failed = _FAILED.match(head) and (not _NOTHING.search(head) or _STUCK.search(head))
    return Refusal(ErrorKind.COMPACTION, status=status, of_compaction=True) if is_failed else None


def _figures(text: str) -> tuple[int | None, int | None]:
    """Size sent and limit, in the text's own unit."""
    text = _ROOM.sub("", text)
    if passed := _OWN_LIMIT.search(text):
        return _count(passed[1]), None
    if added := _ADDED.search(text):
        return _count(added[1], least=1), _count(added[3])
    if kept := _KEPT.search(text):
        return _count(kept[1], least=1), _count(kept[2], least=1)
    if left := _LEFT_OVER.search(text):
        return _count(left[3], least=1), _count(left[2])
    if compared := _COMPARED.search(text):
        return _count(compared[1]), _count(compared[2])
    said, limit, listed = _INPUT.search(text), _LIMIT.search(text), _PARTS.search(text)
    sent = next((n for found in _SENT.finditer(text) if (n := _count(found[1]))), None)
    # The request itself is the sum of its text, tools and pictures, where its parts are listed.
    parts = sum(_count(part) or 0 for part in _PART.findall(listed[1])) if listed else 0
    own = parts or (_count(said[1], least=1) if said else None)
    return own or sent, (_count(limit[1]) if limit else None)


def _count(digits: str, least: int = SMALLEST) -> int | None:
    """The number; None for one that counts megabytes or is no size at all.

    What the words call the input's, or weigh against a limit, may be small (``least``).
    """
    plain = re.sub(r"[,_.]", "", digits)
    return int(plain) if len(plain) <= 12 and int(plain) >= least else None


def once(errors: Iterable[ProviderError], boundaries: Collection[int] = ()) -> tuple[ProviderError, ...]:
    """Errors in order, those of one kind before the same answer as one with its count.

    A compaction between two of them (``boundaries`` are numbers of messages) tells them apart; of several the first
    that gives figures stays.
    """
    kept: list[ProviderError] = []
    newest: dict[tuple[str, int | None, bool], int] = {}
    places = sorted(boundaries)
    for error in errors:
        kind = error.kind, error.request, error.of_compaction
        at = newest.get(kind)
        if at is None or is_between(places, kept[at].message, error.message):
            newest[kind] = len(kept)
            kept.append(error)
            continue
        first = kept[at]
        better = error if (first.tokens is None and error.tokens is not None) or not first.words else first
        kept[at] = replace(better, message=first.message, count=first.count + error.count)
    return tuple(kept)


def failed_compaction(status: int = 0, error: Refusal | None = None) -> Refusal:
    """A compaction that was tried and failed; ``error`` is what was told of it, if anything."""
    told = error or Refusal(ErrorKind.COMPACTION, status=status)
    return told._replace(kind=ErrorKind.COMPACTION, of_compaction=True)


def is_between(boundaries: Sequence[int], first: int, message: int) -> bool:
    """Whether one of the ``boundaries``, in order, is ``first`` or stands between it and ``message``."""
    at = bisect_left(boundaries, first)
    return at < len(boundaries) and boundaries[at] < message


Told = tuple[Refusal, int, int]
"""An error, the number of messages and of requests before it."""


class Telling:
    """A session in the making, which is told what happens beside its messages."""

    __slots__ = ()

    def refuse(self, refusal: Refusal | None) -> None:
        """Note an error where the reading stands; None is no error."""
        raise NotImplementedError

    def fail(self, value: Any, status: int = 0, model: str = "", **facts: Any) -> None:
        """Note the error that ``value`` tells (``error_of``), if any, where the reading stands; ``model`` gave it."""
        error = error_of(value, status, **facts)
        self.refuse(error and error._replace(model=model))

    def event(self, kind: EventKind, words: str = "") -> None:
        """Note what is no error of a provider: an interruption, a compaction begun or cancelled, the session's end."""
        self.refuse(Refusal(kind, words=words[:MAX_WORDS]))


def settled(
    told: Iterable[Told], requests: Sequence[Request], boundaries: Collection[int] = ()
) -> tuple[tuple[ProviderError, ...], tuple[RecordedEvent, ...]]:
    """Refusals for size and failed compactions, and the other events, each before the next request of the branch."""
    errors: list[ProviderError] = []
    events: list[RecordedEvent] = []
    for what, message, n_before in told:
        request = next_on_branch(requests, n_before)
        if what.of_size:
            errors.append(what.error(request, message))
            continue
        event = RecordedEvent(what.kind, request, message, what.words, what.code, what.status)
        if events and replace(events[-1], message=message, count=1) == event:
            events[-1] = replace(events[-1], count=events[-1].count + 1)
        else:
            events.append(event)
    return once(errors, boundaries), tuple(events)
