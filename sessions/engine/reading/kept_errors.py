"""Refusals that a client keeps as a reply's or a result's text, in any format (formats 21.1).

Only where nothing answered after them, or where the result is that of a subagent, whose refusal is no refusal of the
session that asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from sessions.engine.base.errors import EngineError
from sessions.engine.reading.formats._provider_errors import BODY, CONTEXT, MAX_WORDS, Refusal, error_of
from sessions.engine.transcript.recorded_events import EventKind, RecordedEvent
from sessions.engine.transcript.types import Block, Content, Kind, Message, Parsed, ProviderError, Role, Transcript

Contents = Callable[[Message], tuple[Content, ...]]

MOST_CHARS, MOST_BEFORE = 2_000, 16
"""Characters of a text that is an error and nothing else; messages before the end that are looked at."""
_SHAPE = re.compile(
    r"[^\w]*(?:(?:[a-z]+ ){0,3}(?:error|exception|failed|failure)\b|[a-z.]+(?:error|exception)\b|(?:http )?[45]\d\d\b"
    r"|(?:sorry|oops|unable|could not|cannot|an error)\b[^:]{0,60}:)",
    re.IGNORECASE,
)
"""How an error begins."""
_BARE = re.compile(
    r"(?:request|prompt|input)\b[^.]{0,30}\d+ tokens\)? (?:exceeds|is (?:larger|longer|greater))", re.IGNORECASE
)
"""A server's own sentence, in the place of an answer."""
_AGENT = re.compile(r"agent|^task$|delegate|explore|spawn", re.IGNORECASE)
_SHELL = re.compile(r"bash|shell|exec|run|terminal|command|python", re.IGNORECASE)
"""Tools whose result is what a program printed."""


def noted_errors(parsed: Parsed, contents: Contents) -> Parsed:
    """The same, each session with the refusals that stand at its end as text, and with those of its subagents."""
    return replace(parsed, transcripts=tuple(_noted(transcript, contents) for transcript in parsed.transcripts))


def _noted(transcript: Transcript, contents: Contents) -> Transcript:
    messages, n = transcript.messages, len(transcript.requests)
    told = tuple(_of_subagents(transcript, contents))
    if told:
        events = sorted((*transcript.events, *told), key=lambda event: (event.request, event.message))
        transcript = replace(transcript, events=tuple(events))
    if any(error.request >= n for error in transcript.errors) or not messages:
        return transcript
    found: list[tuple[Refusal, int]] = []
    for index in range(len(messages) - 1, max(-1, len(messages) - 1 - MOST_BEFORE), -1):
        message = messages[index]
        refusal = _refusal(message, contents) if message.role is not Role.USER or not found else None
        if refusal:
            found.append((refusal, index))
        elif not message.typed:
            break
    if not found or _is_shells(transcript, messages[found[0][1]]):
        return transcript
    return _refused(transcript, found)


def _refused(transcript: Transcript, found: list[tuple[Refusal, int]]) -> Transcript:
    """The same with the refusals, the newest first, in the place of the requests that had no other answer."""
    refusal, first = found[0][0], found[-1][1]
    requests = transcript.requests
    n = next((r.index for r in requests if r.message is not None and r.message >= first), len(requests))
    if any(c.request > n for c in transcript.compactions) or any(r.usage for r in requests[n:]):
        return transcript
    figures = refusal.tokens, refusal.limit, refusal.status
    error = ProviderError(
        refusal.kind, n, first, *figures, len(found), refusal.of_compaction, refusal.code, refusal.words, refusal.model
    )
    events = tuple(replace(event, request=min(n, event.request)) for event in transcript.events)
    # Those that its reader knows among them are the same.
    earlier = tuple(one for one in transcript.errors if one.message < first)
    return replace(transcript, requests=requests[:n], errors=(*earlier, error), events=events)


def _of_subagents(transcript: Transcript, contents: Contents) -> Iterator[RecordedEvent]:
    """The refusals that the results of subagents tell, each before the next request."""
    agents: set[str] = set()
    for message in transcript.messages:
        agents |= {b.call_id for b in message.blocks if b.kind is Kind.TOOL_USE and b.call_id and _AGENT.search(b.name)}
        if not agents or agents.isdisjoint(message.result_ids()):
            continue
        if refusal := _refusal(message, contents):
            at = next((r.index for r in transcript.requests if (r.message or 0) > message.index), None)
            request = len(transcript.requests) if at is None else at
            sizes = f"{refusal.tokens:,} of {refusal.limit:,} tokens" if refusal.tokens and refusal.limit else ""
            words = sizes or refusal.words
            yield RecordedEvent(EventKind.SUBAGENT, request, message.index, words, refusal.code, refusal.status)


def _is_shells(transcript: Transcript, message: Message) -> bool:
    """Whether a message is the result of a program, or of a subagent: no refusal of the session's own."""
    ids = message.result_ids()
    names = [b.name for m in transcript.messages for b in m.blocks if b.kind is Kind.TOOL_USE and b.call_id in ids]
    return any(_SHELL.search(name) or _AGENT.search(name) for name in names)


def _refusal(message: Message, contents: Contents) -> Refusal | None:
    """What a message says that is an error by its shape and a refusal for size by its words; None for any other."""
    kinds = {block.kind for block in message.blocks}
    is_short = sum(_n_chars(block) for block in message.blocks) <= MOST_CHARS
    # What somebody typed may quote an error; what calls a tool is an answer.
    is_bare = message.role is Role.ASSISTANT and kinds == {Kind.TEXT} and _BARE.match(message.preview)
    is_error = is_bare or _SHAPE.match(message.preview)
    if message.typed or not is_short or not kinds <= {Kind.TEXT, Kind.TOOL_RESULT} or not is_error:
        return None
    try:
        said = [text for content in contents(message) for text in (content.text, *(p.text for p in content.parts))]
    except EngineError:
        return None
    words = " ".join("\n".join(filter(None, said)).split())
    found = error_of(words) if _SHAPE.match(words) or _BARE.match(words) else None
    if found is None or found.kind not in (CONTEXT, BODY) or not (found.tokens or found.limit or found.status):
        return None
    return found._replace(words=found.words[:MAX_WORDS])


def _n_chars(block: Block) -> int:
    return block.n_chars + sum(part.n_chars for part in block.parts)
