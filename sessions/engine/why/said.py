"""What failed a request, in its own words: quoted, and what they mean where they name a cause (verdicts 3.17)."""

from __future__ import annotations

import re
from typing import NamedTuple

from sessions.engine.transcript.recorded_events import (
    EMBEDDING,
    NOT_SHRUNK,
    SILENT,
    UNCOUNTED,
    ErrorKind,
    EventKind,
    RecordedEvent,
)
from sessions.engine.transcript.types import ProviderError
from sessions.engine.why.causes import CHANGES, GREW

MOST_QUOTED = 120
UNFINISHED = "it began and never ended"
PASSED_OWN, OVERDRAWN, STILL_OVER = r"session token limit exceeded", r"\(-[\d,]+ tokens left\)", r"still exceeds"
NOTHING_LEFT = r"already compacted|nothing to compact"
PRUNED = r"pruning removed all messages"
UNSENT = r"too (?:large|long|big) to (?:be )?sen[dt]\b"
"""An agent that did not ask the provider, by a limit of its own or a wrong count; one that compacted in vain."""
_LEAD = re.compile(
    r"^\W*(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12} )?"
    r"(?:(?:reason|execution failed|api error|[a-z]*error(?: (?!code)[a-z-]+){0,5}): *)+",
    re.IGNORECASE,
)
"""What clients put before the words of whoever refused."""
_TYPE = re.compile(r"(?<=\S) (?:\w+\.)*[A-Z]\w*(?:Exception|Error)$")
"""The name of an exception's class behind its words."""
_FIGURE = re.compile(r"\d[\d,]{3,}")
_SENTENCE = re.compile(r"[.\]*] |: (?=[A-Za-z])")
_TAG = re.compile(r"</?[a-z-]+>")
_NAMED = re.compile(
    r"(?:unrecognized|unknown|unsupported|unexpected)\b.{0,20}?(?:argument|param\w*|field)(?:\(s\))?(?: supplied)?"
    r"(?:: ?['\"`]?| ['\"`])(\w[\w.]{1,40}\w)(?![\[\w.])",
    re.IGNORECASE,
)
"""The setting that an error names as one that is not known."""
_RELAY = re.compile(
    r"[^\d:]{0,60}(?:error from|upstream|provider|request failed|calling the|validation)\b[^\d:]{0,40}: (?:\[\w+\] )?"
    r"(?=\w)",
    re.IGNORECASE,
)
"""Who passed an error on, in front of its words."""
LITERAL_CHARS = 24
_LITERAL = re.compile(r"""['"][^\s'"]{45,}(['"])""")
"""Data that an error repeats."""
_COUNT = r"(\d[\d,]*\d)"
_PARTS = re.compile(
    _COUNT + r"\)? (?:of|in|for) (?:the |your )?((?:text|tool|image|file) input|messages|functions|tools|prompt)"
)
_REPLY = re.compile(
    rf"{_COUNT}(?: tokens)?\)? (?:in|for) (?:the |your )?(?:completion|output|reply|response)"
    rf"|requested {_COUNT} output tokens|\d \+ {_COUNT} > \d|{_COUNT} > \d[\d,]* - \d|and {_COUNT} `?max_new_tokens"
    rf"|max_tokens ?[=:] ?{_COUNT}\b"
)
_WHOLE = re.compile(r"(?:requested|resulted in)(?: about| a total of)? " + _COUNT + r" tokens")
_ALLOWED = re.compile(r"(?:maximum|limit)\D{0,30}" + _COUNT, re.IGNORECASE)
_GREW = re.compile(r"\bfrom (\d[\d,]{2,}) to (\d[\d,]{3,})\b")

FIGURES = (
    (
        re.compile(rf"message \({_COUNT} tokens\) might exceed the remaining.{{0,30}}\({_COUNT} tokens\)"),
        "{0:,} tokens were to be sent, {1:,} were left",
    ),
    (
        re.compile(rf"per min(?:ute)?\b\D{{0,12}}: limit {_COUNT}, requested {_COUNT}", re.IGNORECASE),
        "{1:,} tokens were requested, {0:,} are allowed in a minute",
    ),
    (
        re.compile(rf"exceeded the {_COUNT} output token|quota exceeded for .{{0,120}}limit: {_COUNT}", re.IGNORECASE),
        "{0:,} are allowed",
    ),
    (re.compile(rf"prompt tokens: {_COUNT}\W{{1,5}}hard limit: {_COUNT}"), "{0:,} of {1:,} tokens"),
    (re.compile(rf"\({_COUNT} tokens\) exceed \w+ \({_COUNT}\)"), "{0:,} of {1:,} tokens"),
    (re.compile(rf"{_COUNT} bytes > {_COUNT}"), "{0:,} of {1:,} bytes"),
    (re.compile(rf"range of max_tokens should be \[\d+, {_COUNT}", re.IGNORECASE), "{0:,} are allowed"),
    (re.compile(r"(\d[\d.]*) ?MB request\W+(\d[\d.]*) ?MB limit", re.IGNORECASE), "{0} MB of {1} MB"),
    (re.compile(rf"{_COUNT} tokens > {_COUNT} limit"), "{0:,} of {1:,} tokens"),
    (re.compile(rf"{_COUNT} > {_COUNT}"), "{0:,} of {1:,}"),
    (re.compile(rf"_tokens_limit of {_COUNT} \(\w+={_COUNT}\)"), "{1:,} of {0:,} tokens"),
    (_GREW, "{0:,} tokens became {1:,}"),
)
"""Figures that errors give in words, and the clause that tells them with separators; the first that fits counts."""


class Meaning(NamedTuple):
    """What an error's words say, in a clause, and what to do about it."""

    pattern: re.Pattern[str]
    because: str
    advice: str


GO_BACK = "Go back to before it, or start a new session."


def _meaning(pattern: str, because: str, advice: str) -> Meaning:
    return Meaning(re.compile(pattern, re.IGNORECASE), because, advice)


MEANINGS = (
    _meaning(
        f"^{EMBEDDING}", f"{EMBEDDING}, not the conversation's", "Cut the text into pieces before it is embedded."
    ),
    _meaning(
        PASSED_OWN, "the limit that this session was set was passed",
        "Start a new session, or raise the limit that it was set.",
    ),
    _meaning(
        OVERDRAWN,
        "the agent held it back: by its own count less than nothing is left, so it is wrong",
        "Start a new session, and update the agent.",
    ),
    _meaning(
        PRUNED, "the agent left every message out before it was sent, for by its own count none fits",
        "Send less at once, or raise the limit that the agent counts with.",
    ),
    _meaning(
        UNSENT, "the agent held it back by a limit of its own",
        "Raise that limit, or lower what is kept free for the reply.",
    ),
    _meaning(
        r"might exceed the remaining", "the agent held it back before it was sent",
        "Send less at once: pictures and large files one by one.",
    ),
    _meaning(
        r"exceeded the \d+ output token maximum", "the reply passed its own maximum",
        "Raise the reply's maximum, or ask for less at once.",
    ),
    _meaning(
        rf"{STILL_OVER}|after \d+ attempts", "compacting did not free enough",
        "Start a new session, or take a model with a larger window.",
    ),
    _meaning(
        r"no lowest priority node found", "the prompt did not fit, whatever was left out of it",
        "Turn off tools, or raise what the model's configuration allows as input.",
    ),
    _meaning(
        r"block(?:ed|s)? (?:by|the) .{0,30}hook|hook .{0,30}block", "a hook blocked it",
        "Remove the hook, or let it pass.",
    ),
    _meaning(
        rf"{NOTHING_LEFT}|not enough messages|unable to compute forgotten",
        "there was nothing left to compact",
        "Start a new session, or take a model with a larger window.",
    ),
    _meaning(
        r"load the model with a larger context", "the server has loaded the model with too short a context",
        "Load the model with a larger context length.",
    ),
    _meaning(r"quota exceeded for metric", "a limit on use was met", "Wait until the limit resets."),
    _meaning(
        r"extra usage|billing|credit balance|insufficient.{0,20}(?:quota|funds|balance)|payment"
        r"|not (?:in|on) your plan",
        "the plan does not cover it", "Enable it in the plan, or choose a model that the plan covers.",
    ),
    _meaning(
        r"inflat|increased (?:from|during)|(?:larger|longer|bigger) than (?:the )?(?:original|before)|not beneficial"
        r"|(?:did|does) not (?:reduce|shrink)",
        "the summary was no smaller than what it was to replace", CHANGES[GREW],
    ),
    _meaning(r"(?:cancel+ed|aborted)\W*$", "it was broken off, and no reason is recorded", ""),
    _meaning(r"cancel+ed|aborted|interrupted by", "it was broken off", ""),
    _meaning(r"^compaction started$", UNFINISHED, ""),
    _meaning(
        r"without its required .{0,3}reasoning", "a message is sent without the reasoning that belongs to it",
        "Update the SDK, or send such messages without their ids.",
    ),
    _meaning(
        r"no tool call found for|tool.{0,40}must (?:be a response to|follow)|unexpected .?tool_use_id",
        "a tool result in it stands without its call", GO_BACK,
    ),
    _meaning(
        r"no tool output found for|tool_use.{0,60}without.{0,20}tool_result"
        r"|(?:tool_call_ids?|tool_calls).{0,60}(?:did not have|must be followed)",
        "a call in it stands without its result", GO_BACK,
    ),
    _meaning(
        r"function response parts .{0,40}function call parts|function call turn comes immediately after",
        "a call and its result were parted", GO_BACK,
    ),
    _meaning(
        r"max_(?:output_|completion_)?tokens.{0,60}below minimum",
        "no room was left for the reply", "Compact, or start a new session: the agent asks for what is left.",
    ),
    _meaning(
        r"request contains an invalid argument\W*$", "the request was not accepted as it was made",
        "Start a new session, or go back to before it: the error does not say what in it was wrong.",
    ),
    _meaning(
        r"UsageLimitExceeded|\b(?:input|output|total)_tokens_limit\b", "the run's own limit on added-up usage was met",
        "Raise the limit that the run was given, or do the work in several runs.",
    ),
    _meaning(
        r"maximum allowed number of output tokens|range of max_tokens should be"
        r"|max_tokens is too large.{0,60}(?:completion|output) tokens"
        r"|maxOutputTokens value of \d+ but the supported range",
        "the reply was to be longer than the model writes", "Lower the reply's maximum.",
    ),
    _meaning(
        r"per min(?:ute)?\b.{0,12}: limit [\d,]+, requested [\d,]+", "a limit on use was met, not the context's",
        "Send less at once, or raise the limit: one request alone may pass it.",
    ),
    _meaning(
        r"rate.?limit|too many requests|\b429\b|quota|(?:usage|session|weekly|daily) limit"
        r"|hit your limit|tokens per minute",
        "a limit on use was met", "Wait until the limit resets.",
    ),
    _meaning(
        r"high demand|overloaded|at capacity|\b5(?:02|03|29)\b|unavailable|try again later",
        "the service was overloaded", "Try again later.",
    ),
    _meaning(r"time.?out|timed out", "no answer came in time", "Try again, or wait longer for an answer."),
    _meaning(
        r"network|connection|socket|\bstream (?:disconnected|closed|ended|error)|ECONN|fetch failed"
        r"|terminated|broken pipe|premature",
        "the connection broke", "Try again on a stable connection.",
    ),
    _meaning(
        r"\b40[13]\b|unauthori[sz]ed|authentication|api key|(?:key|token) (?:has )?expired|forbidden|not logged in",
        "the sign-in was refused", "Sign in again.",
    ),
    _meaning(
        r"model.{0,60}(?:not found|not supported|does not exist|not available)|unknown model|no such model",
        "the model was not to be had", "Choose a model that the provider offers.",
    ),
    _meaning(
        r"(?:empty|no|without) summary|compact.{0,40}(?:empty|no|without) (?:response|reply|content|text)",
        SILENT, "Compact with another model.",
    ),
    _meaning(UNCOUNTED, UNCOUNTED, "Compact with another model."),
    _meaning(
        r"empty (?:response|reply)|(?:no|without) (?:content|text)", "the model answered nothing",
        "Try again, or choose another model.",
    ),
    _meaning(
        r"data:.{0,120}not a valid .{0,20}ur[il]",
        "the provider refused the address of a picture or file, not the size",
        "Upload it, or send it smaller.",
    ),
    _meaning(
        r"max_tokens|max_completion_tokens|invalid.{0,40}(?:request|param|value|argument)|unsupported|not (?:a )?valid"
        r"|(?:unrecognized|unknown|unexpected).{0,20}(?:argument|param)",
        "the request was not accepted as it was made", "",
    ),
)  # fmt: skip
"""The first that fits counts."""

_BARE = re.compile(r"(?:\W|\d|error|bad|invalid|request|_)*", re.IGNORECASE)
"""An error that says that the request was not accepted, and nothing of why."""


def meaning_of(words: str) -> Meaning | None:
    """What the words of an error say beside any size; None where they name no cause that is known."""
    if re.search("invalid", words, re.IGNORECASE) and _BARE.fullmatch(words):
        return None
    return next((one for one in MEANINGS if one.pattern.search(words)), None)


def advice_of(words: str) -> str:
    """What to do about an error, by what its words mean; by the setting that they name, where one was not accepted."""
    found, named = meaning_of(words), _NAMED.search(words)
    if found is None or found.advice or named is None or "instead" in words:
        return found.advice if found else ""
    return f"Leave {named[1]} out, or change to a model that takes it."


def figures_of(error: ProviderError) -> str:
    """What its words say was passed, or that a compaction made its list larger, in a clause; "" without figures."""
    if error.words.startswith(EMBEDDING):
        whole, allowed = _WHOLE.search(error.words), _ALLOWED.search(error.words)
        return f"{_number(whole[1]):,} of {_number(allowed[1]):,} tokens: " if whole and allowed else ""
    for pattern, clause in FIGURES:
        if found := pattern.search(error.words):
            named = [figure for figure in found.groups() if figure]
            figures = [_number(figure) if figure.replace(",", "").isdigit() else figure for figure in named]
            is_smaller = pattern is _GREW and _number(named[0]) >= _number(named[1])
            return "" if is_smaller else f"{clause.format(*figures)}: "
    return ""


def counted_before(error: ProviderError) -> int:
    """What a failed compaction's words say its list had before it, in tokens; 0 where they do not."""
    found = _GREW.search(error.words) if error.of_compaction else None
    return _number(found[1]) if found else 0


class Asked(NamedTuple):
    """What the words of a refusal say was asked for, in tokens: ``whole`` of it, and ``reply`` what may come back.

    ``parts`` lists the rest in words, "" where it is told in one figure.
    """

    whole: int
    reply: int
    parts: str


def asked_for(error: ProviderError) -> Asked:
    """The figures of a refusal for tokens that stand beside its size and its limit; 0 where it names none."""
    answer = _reply(error)
    whole = _WHOLE.search(error.words)
    sent = error.tokens or 0
    total = _number(whole[1]) if whole else sent if sent > (error.limit or 0) else sent + answer
    answer = answer if answer < total else 0
    parts = ", ".join(f"{_number(figure):,} in the {what}" for figure, what in _PARTS.findall(error.words))
    return Asked(max(total, sent), answer, parts)


def _reply(error: ProviderError) -> int:
    """What may come back by its words, in tokens; 0 where they do not say."""
    found = _REPLY.search(error.words)
    return next((_number(figure) for figure in found.groups() if figure), 0) if found else 0


def reply_alone(error: ProviderError) -> int:
    """What was asked for the reply, in tokens, where that alone is all that is allowed; else 0."""
    answer = _reply(error)
    return answer if error.limit and answer >= error.limit else 0


def over_limit(error: ProviderError) -> str:
    """What was asked for, of what is allowed, and what of it is the reply's, in a clause; "" without both figures."""
    whole, reply, parts = asked_for(error)
    if error.kind != ErrorKind.CONTEXT or not error.limit or whole <= error.limit:
        return ""
    rest = f", {reply:,} of them for the reply" if reply else ""
    listed = f" ({parts})" if ", " in parts and (not reply or "image" in parts) else ""
    return f"{whole:,} of {error.limit:,} tokens{rest}{listed}"


def unit_of(error: ProviderError) -> str:
    """What its figures count."""
    return "bytes" if error.kind == ErrorKind.BODY else "tokens"


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


def quoted(error: ProviderError | RecordedEvent) -> str:
    """Its own words between quotes, at most 120 characters: of longer ones the sentence with their first figure.

    "" of what has none: a kind of event, or two counts.
    """
    if error.words.startswith((NOT_SHRUNK, SILENT, UNCOUNTED, EventKind.COMPACTION_STARTED)):
        return ""
    said = " ".join(_TAG.sub(" ", error.words.removeprefix(f"{EMBEDDING}: ")).split())
    said = _LEAD.sub("", said).strip(" :[]") or said
    said = _TYPE.sub("", said)
    said = _LITERAL.sub(lambda found: f"{found[0][:LITERAL_CHARS]}…{found[1]}", said)
    while len(said) > MOST_QUOTED and (relay := _RELAY.match(said)):
        said = said[relay.end() :]
    figure = _FIGURE.search(said)
    end = _SENTENCE.search(said, figure.end()) if figure else None
    if figure and (end.start() if end else len(said)) > MOST_QUOTED:
        said = said[max((mark.end() for mark in _SENTENCE.finditer(said, 0, figure.start())), default=0) :]
    return f'"{shortened(said)}"' if said else ""


def shortened(words: str) -> str:
    """What of words is quoted: 120 characters at most."""
    return words if len(words) <= MOST_QUOTED else f"{words[: MOST_QUOTED - 1].rstrip()}…"
