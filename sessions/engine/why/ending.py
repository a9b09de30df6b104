"""How a session breaks off, which is no fault by itself: it may still run (verdicts 3.39)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import CUT_OFF, ENDS, EventKind, RecordedEvent
from sessions.engine.transcript.types import Kind, Message, Role, Transcript
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.why.case import COMPACTION, Case
from sessions.engine.why.filled import GIANT
from sessions.engine.why.said import MOST_QUOTED, quoted

COMMAND = re.compile(r"/(?:compact|compress|condense|summarize)(?=\s|$)")
"""How what is typed begins that asks for a compaction."""
ALIKE = 30
"""Characters of an event's words by which it is known to be told already."""
_TRIMS = re.compile(r"\bunable to (?:trim|reduce|truncate)\b", re.IGNORECASE)
"""What an agent says of itself that could take nothing out."""
LEAST_SIZE, LEAST_OF_ONE = 1_000, 2
"""Tokens of replies, and how many of them, that are told where they have exactly as many."""
FEW = 4
"""Messages up to which a file may end inside its first call of a tool."""
TRACES = frozenset({"langfuse", "langsmith", "otel", "mastra", "braintrust", "genkit"})
"""Formats in which a tool's result stands beside the call that asked for it, in a span of its own."""
LEAST_CHARS = 20
"""Characters of a reply that is told where it comes again; one too long to be quoted is an answer."""


def ending_sentence(weighed: Weighed) -> str:
    """That the last reply is empty, or alike again and again, or what stands unanswered at the end; else ""."""
    return _empty(weighed.transcript) or _unanswered(weighed) or _of_one_size(weighed.transcript)


def end_in_other_words(transcript: Transcript, told: str) -> str:
    """What else the record says at the end of a session that an error ended, in sentences; else ""."""
    newest: dict[str, RecordedEvent] = {}
    for event in transcript.events:
        is_end = event.kind in (EventKind.ERROR, EventKind.SESSION_END) and event.request >= len(transcript.requests)
        if is_end and not event.words.startswith(CUT_OFF):
            newest[event.kind] = event
    found = []
    for event in newest.values():
        words = quoted(event).replace('."', '"')
        if words and words.strip('"…')[:ALIKE] not in told:
            times = f" {event.count:,} times" if event.count > 1 else ""
            is_end = event.kind == EventKind.SESSION_END
            found.append(f"{'The run ended with' if is_end else f'The record also says{times}'} {words}.")
    is_vain = any(_TRIMS.search(event.words) for event in newest.values())
    return " ".join([*found, *([_of_tools(transcript)] if is_vain else [])])


def _of_tools(transcript: Transcript) -> str:
    """How few messages are more than calls of tools and results, where a history may be cut, in a sentence."""
    said = [message for message in transcript.messages if message.role is not Role.SYSTEM]
    n = sum(1 for message in said if not message.call_ids() and not message.result_ids())
    return f"Of its {len(said):,} messages all but {n:,} are calls of tools and their results."


def _unanswered(weighed: Weighed) -> str:
    """What stands unanswered at the end, in a sentence; or a last reply that comes again and again; else ""."""
    transcript = weighed.transcript
    said = [m for m in transcript.messages if m.blocks and not m.meta and not m.attachment]
    last = max((place for place, message in enumerate(said) if message.role is Role.ASSISTANT), default=-1)
    if last < 0:
        n = len(_prompts(said))
        return f"{counted(n, 'prompt')} stand in the file, and no answer." if n > 1 and not transcript.requests else ""
    if _was_stopped(transcript, said[last]):
        return ""
    sent = [request for request in transcript.requests if request.on_branch]
    if not sent or any(request.message is None for request in sent):
        return ""  # a trace may hold what was sent alone
    behind = said[last + 1 :]
    answered = frozenset[str]().union(*(message.result_ids() for message in behind))
    open_calls = [b for b in said[last].blocks if b.kind is Kind.TOOL_USE and b.call_id and b.call_id not in answered]
    if prompts := _prompts(behind):
        n, tokens = len(prompts), sum(weighed.tokens[message.index] for message in prompts)
        size = f", about {tokens:,} tokens," if tokens >= GIANT else ""
        return f"The file ends with {counted(n, 'prompt')}{size} that {'has' if n == 1 else 'have'} no answer."
    came = sum(weighed.tokens[message.index] for message in behind)
    # A result that names no call may stand there as text.
    is_answered = any(not message.typed and not message.result_ids() for message in behind)
    # A file that has no result of any call says nothing of this one's.
    has_results = any(message.result_ids() for message in said) or len(said) <= FEW
    is_open = bool(open_calls) and not is_answered and has_results and not _is_span(transcript)
    told = f"inside a call of {open_calls[0].name or 'a tool'}: no result of it is recorded" if is_open else ""
    told = told or (f"with results of about {came:,} tokens that have no answer" if came >= GIANT else "")
    return f"The file ends {told}." if told else _alike(said[: last + 1])


def _is_span(transcript: Transcript) -> bool:
    """Whether it is one call of a trace, whose tools have spans of their own."""
    return len(transcript.requests) == 1 and transcript.format in TRACES


def _empty(transcript: Transcript) -> str:
    """That the last reply has nothing in it by its usage and by its content, in a sentence; else ""."""
    last = next((request for request in reversed(transcript.requests) if request.on_branch), None)
    usage = last.usage if last is not None else None
    if last is None or usage is None or usage.placeholder or usage.output or last.aborted:
        return ""
    if last.message is not None and transcript.messages[last.message].blocks:
        return ""
    if any(event.kind in ENDS or event.kind == EventKind.INTERRUPTION for event in transcript.events):
        return ""
    after = f"nothing came after a prompt of {usage.context:,} tokens"
    return f"The last reply is empty: {after}; the file does not say why."


def _of_one_size(transcript: Transcript) -> str:
    """That half of the replies, two at least, have exactly as many tokens, though none was cut off, in a sentence."""
    outputs = Counter(r.usage.output for r in transcript.requests if r.usage and not r.usage.placeholder)
    size, n = max(outputs.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
    is_told = any(event.kind == EventKind.REPLY_CUT or event.words.startswith(CUT_OFF) for event in transcript.events)
    if is_told or size < LEAST_SIZE or n < LEAST_OF_ONE or 2 * n < outputs.total():
        return ""
    return f"{n:,} replies have exactly {size:,} tokens, and no limit is recorded: why they end alike is not known."


def _prompts(said: Sequence[Message]) -> list[Message]:
    """What somebody typed, commands and what a client wraps left out."""
    return [message for message in said if message.typed and not message.preview.startswith(("/", "<", "!"))]


def _alike(said: Sequence[Message]) -> str:
    """That the last replies are one sentence again and again, which an agent writes in place of an answer; else ""."""
    replies = [one for one in said if one.role is Role.ASSISTANT]
    words = replies[-1].preview.strip()
    if not LEAST_CHARS <= len(words) <= MOST_QUOTED:
        return ""
    same = (one.preview.strip() == words and all(b.kind is Kind.TEXT for b in one.blocks) for one in reversed(replies))
    n = sum(1 for _ in takewhile(bool, same))
    return f'The last {n:,} replies are alike: "{words}".' if n > 1 else ""


def _was_stopped(transcript: Transcript, reply: Message) -> bool:
    """Whether the record says that its user stopped it, or how it ended."""
    kinds = EventKind.INTERRUPTION, EventKind.SESSION_END
    return any(event.kind in kinds and event.message >= reply.index for event in transcript.events)


def command_before(case: Case) -> str:
    """The command to compact that somebody typed as the newest message before a point; else ""."""
    messages = case.weighed.transcript.messages
    newest = next((messages[i] for i in reversed(case.tail) if messages[i].role is not Role.SYSTEM), None)
    found = COMMAND.match(newest.preview) if newest is not None and newest.typed else None
    return found[0] if found else ""


def in_vain(case: Case) -> str:
    """The command that was typed since the last answer, and that no compaction followed, in a clause; else ""."""
    compactions, messages = case.weighed.transcript.compactions, case.weighed.transcript.messages
    if case.what == COMPACTION or (case.error and case.error.of_compaction):
        return ""
    if case.previous not in (*compactions[-1:], None):
        return ""
    typed = (messages[i].preview for i in range(case.tail.start, len(messages)) if messages[i].role is Role.USER)
    given = next((found[0] for preview in typed if (found := COMMAND.match(preview))), "")
    return f"{given} was typed, and no compaction followed" if given else ""
