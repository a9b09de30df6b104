"""What no compaction takes away: fixed overhead, messages that were kept, the bytes of a body (verdicts 3.15, 3.24)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sessions.engine.base.words import counted
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Kind, Label, ProviderError
from sessions.engine.why.account import AFTER, COUNTED, STANDING, UNLISTED, Explanation, Fact
from sessions.engine.why.case import MISSING, Case
from sessions.engine.why.causes import BODY, CAUSES, OVERHEAD, RETAINED, WINDOW, Evidence
from sessions.engine.why.culprits import has_media
from sessions.engine.why.runs import source_of
from sessions.engine.why.said import quoted

LEAST_BODY = 4_000_000
"""Bytes under which no known limit of request bodies lies."""
LARGEST_BYTES, LARGEST_PART = 10_000, 0.3
"""Bytes, and the share of a request's, from which the largest message of one that was refused for them is named."""
PART_OF_LIMIT = 0.5
"""Share of a limit that a refusal names under which what the transcript holds does not explain it."""
NEARLY_ALL, HALF = 0.9, 0.5
LARGER = 1.02
"""Times the context before from which a compaction made it larger: what came since is in the one after it."""
LONG_RUN = 40
CAME = "what came since"
WORDS = COUNTED | Fact.WORDS
BEFORE = "a conversation that this file does not hold"
LEAST_CONTEXT = 8_000
"""Tokens: a context smaller than this is a test's, not one that a fixed overhead fills."""


def overhead(case: Case) -> Iterable[Explanation]:
    """System prompt and tools alone take most of the threshold, so that little conversation is enough."""
    limit = case.met or (case.larger if case.what != MISSING else case.window)
    if case.error is not None and case.error.kind == ErrorKind.CONTEXT:
        limit = case.error.limit or case.window
    own, is_seen_again = case.shared.standing, case.shared.is_compacted
    if case.counted_overhead:
        yield _counted_overhead(case, case.counted_overhead)
        return
    if case.shared.is_hidden_growing:
        # Files that the agent sends and does not write down come and go: what is hidden is not fixed.
        return
    if case.threshold is None and case.error is None and (case.usage is None or case.true < LEAST_CONTEXT):
        return
    answered = case.shared.runs.most
    if not limit or own < 0.5 * limit or case.true < 0.9 * limit:
        return
    share = f"{100 * own / limit:.0f}% of {limit:,}"
    text = f"System prompt, tools and hidden text weigh {own:,} tokens, {share}"
    row = Evidence(text, None, None, own, "tokens", case.weighed.overhead_label.value)
    is_from_before = case.shared.begins_inside
    left = [CAME] if own < NEARLY_ALL * limit or is_from_before else []
    if not is_seen_again:
        left.append("what only the first request held")
    if any(has_media(m) for step in case.weighed.steps[:1] for m in case.weighed.transcript.messages[: step.stop]):
        # What they weigh beyond the image rule stands in the overhead.
        left.append("pictures that weigh more than their rule")
    if case.what == MISSING:
        # It makes compactions frequent; that none came, it hardly explains.
        left.append("a trigger that was off")
    if case.threshold is None and case.error is None:
        # Held against itself only: a trigger that counts something else fires anywhere.
        left.append("a trigger that is not known")
    if not case.window_is_known and (case.error is None or not case.error.limit):
        left.append(CAUSES[WINDOW])
    because = f"fixed overhead is {own:,} of {limit:,} tokens"
    if is_from_before:
        left.append(BEFORE)
        because = f"the first request that this file holds had {own:,} tokens before anything in it, of {limit:,}"
    first = case.shared.measured[0] if case.shared.measured else None
    if case.threshold is None and case.error is None and first == 0:
        because += f"; the first request had {case.weighed.recorded.context[first]:,}"
    against: tuple[str, ...] = (
        (f"{answered:,} tokens were answered",) if own > case.window and answered > case.window else ()
    )
    least = min((case.shared.runs.contexts[k] for k in case.shared.measured), default=own)
    against += (f"a request had {least:,} tokens in all",) if least < NEARLY_ALL * own else ()
    yield Explanation(OVERHEAD, STANDING, because, (row,), tuple(left), against)


def _counted_overhead(case: Case, own: int) -> Explanation:
    """What the agent itself counted of the system prompt and the tools, before anything that a compaction can take."""
    said = case.said or own
    row = case.row(f"The agent counted {own:,} tokens of system prompt and tools, {said:,} in all", own)
    because = f"system prompt and tools are {own:,} of the {said:,} tokens that the agent counted"
    reached = [one for one in case.thresholds if one.tokens <= own]
    over = f", over {reached[0].name}, {reached[0].tokens:,}" if reached else f"; the window is {case.window:,}"
    because += over if case.window_is_known else ""
    against: tuple[str, ...] = () if own >= HALF * said else (f"{said - own:,} tokens are messages",)
    lowest = min((one.tokens for one in case.thresholds), default=0) if case.window_is_known else 0
    against += (f"{said:,} tokens are far under {lowest:,}, the threshold",) if said < HALF * lowest else ()
    left: tuple[str, ...] = () if case.compaction is not None and case.compaction.standing is not None else (UNLISTED,)
    left += () if reached and case.window_is_known else (CAUSES[WINDOW],)
    return Explanation(OVERHEAD, STANDING | Fact.FIGURE, because, (row,), left, against)


def left_by_compaction(case: Case) -> int:
    """The first context of this run, in tokens, without what was typed or came since the compaction; 0 if not known."""
    previous, weighed, messages = case.previous, case.weighed, case.weighed.transcript.messages
    if previous is None or not case.run or case.request_of(case.run[0]).index in case.shared.spikes:
        return 0
    span = (messages[i] for i in range(previous.boundary, weighed.steps[case.run[0]].stop))
    came = (m.index for m in span if m.compaction is None and not m.meta and not m.attachment)
    return max(0, weighed.recorded.context[case.run[0]] - sum(weighed.tokens[i] for i in came))


def retained(case: Case) -> Iterable[Explanation]:
    """The previous compaction left most of the threshold standing, so that it was soon reached again."""
    if case.previous is None or case.what == MISSING:
        return
    if case.error is not None and not case.run:
        yield from _refused_at_once(case, case.error)
        return
    floor = left_by_compaction(case)
    limit = case.met or case.larger
    if case.error is not None:
        limit = case.error.limit or case.window
    is_overhead = case.weighed.overhead >= 0.5 * limit and not _kept_media(case)
    if floor < 0.6 * limit or case.true < 0.9 * limit or is_overhead:
        return
    first = case.weighed.steps[case.run[0]].request
    label = case.weighed.recorded.labels[case.run[0]]
    text = f"Right after the last compaction, request {first} already held {floor:,} tokens, {100 * floor / limit:.0f}%"
    rows = [Evidence(f"{text} of {limit:,}", first, None, floor, "tokens", label.value), *_kept_media(case)]
    text = f"Requests since then: {len(case.run)}"
    rows.append(Evidence(text, first, None, len(case.run), "requests", "recorded"))
    left = [] if floor >= NEARLY_ALL * limit else [CAME]
    left += ["the many requests since"] if len(case.run) > LONG_RUN else []
    because = f"the last compaction left {floor:,} of {limit:,} tokens{_freed(case)}"
    yield Explanation(RETAINED, STANDING, because, tuple(rows), tuple(left))


def _freed(case: Case) -> str:
    """That the compaction before freed nothing, or next to nothing, by the record's figures, in a clause; else ""."""
    before = case.previous.tokens_before if case.previous else None
    after = case.previous.tokens_after if case.previous else None
    if not before or not after or after < NEARLY_ALL * before:
        return ""
    return f": {freed(before, after)}, {before:,} became {after:,}"


def freed(before: int, after: int, *, larger: float = LARGER) -> str:
    """What a compaction came to that left nearly all, or more than ``larger`` times what there was, in a clause."""
    if after > larger * before:
        return "it freed nothing, and made the context larger"
    return f"it freed {'nothing' if after >= before else 'next to nothing'}"


def _refused_at_once(case: Case, error: ProviderError) -> Iterable[Explanation]:
    """Refused before anything was answered since the compaction: it left more than fits (verdicts 3.15)."""
    if error.kind != ErrorKind.CONTEXT or not error.tokens or not error.limit or error.tokens < error.limit:
        return
    messages = case.weighed.transcript.messages
    new = sum(case.weighed.tokens[i] for i in case.tail if messages[i].compaction is None)
    left = error.tokens - new
    if left < NEARLY_ALL * error.limit:
        return
    text = f"The first request since the last compaction was refused with {error.tokens:,} of {error.limit:,} tokens"
    row = case.row(text, error.tokens)
    because = f"the last compaction left {left:,} tokens{_freed(case)}; {error.limit:,} are allowed"
    yield Explanation(RETAINED, STANDING | Fact.FIGURE, because, (row,))


def _kept_media(case: Case) -> list[Evidence]:
    """Images and documents that the previous compaction kept."""
    previous = case.previous
    messages = case.weighed.transcript.messages
    kept = previous.preserved if previous else ()
    made = [i for i in range(previous.boundary, case.stop) if messages[i].compaction is not None] if previous else []
    media = [leaf for i in (*kept, *made) for leaf in messages[i].leaves() if leaf.kind in (Kind.IMAGE, Kind.DOCUMENT)]
    if not media:
        return []
    tokens = sum(case.weighed.image_tokens(leaf) for leaf in media)
    text = f"It kept {len(media)} images or documents, {tokens:,} tokens by the provider's rule"
    return [Evidence(text, None, None, tokens, "tokens", Label.ESTIMATED.value)]


def body_size(case: Case) -> Iterable[Explanation]:
    """The request's bytes, not its tokens: the provider said so, or refused megabytes at few tokens."""
    said = [e for e in case.refused if e.kind == ErrorKind.BODY]
    n_bytes = _wire_bytes(case)
    text = f"The messages alone weigh {n_bytes:,} bytes as base64 and text"
    row = case.row(text, n_bytes, "bytes", label="transcript")
    if case.error is not None:
        if case.error.kind == ErrorKind.BODY:
            yield _refused_for_bytes(case, case.error, n_bytes, row)
        return
    if said:
        because = "the provider had refused the request for its bytes"
        yield Explanation(BODY, WORDS, because, (_refusal_row(case, said[-1].status), row))
        return
    if case.what == MISSING or case.true >= 0.7 * (case.threshold or case.window):
        return
    if case.weighed.transcript.errors and case.refusal is not None and n_bytes >= LEAST_BODY:
        because = f"the provider had refused a request of {n_bytes:,} bytes at {case.share(case.true)}"
        yield Explanation(BODY, AFTER | Fact.FIGURE, because, (row,), ("too many tokens",))


def _refused_for_bytes(case: Case, error: ProviderError, n_bytes: int, row: Evidence) -> Explanation:
    """The provider's own word, unless the limit that it names is far from what the file holds: then only likely."""
    rows = (_refusal_row(case, error.status), row)
    if error.limit and n_bytes < PART_OF_LIMIT * error.limit:
        sent = f"{error.tokens:,} of " if error.tokens else "it was called larger than "
        because = f"{sent}{error.limit:,} bytes or characters, of which the transcript shows {n_bytes:,}"
        named = case.row(f"The refusal names {error.limit:,} bytes", error.limit, "bytes")
        return Explanation(BODY, WORDS, because, (named, *rows), ("what the file lacks", "a limit of another kind"))
    words = f": {quoted(error)}" if error.words else ""
    because = f"the provider refused the request for its bytes, not for its tokens{status_of(error, words)}{words}"
    held = held_in_bytes(case)
    return Explanation(BODY, WORDS, f"{because}{held}", rows, advice=less_in_bytes(held))


MEDIA_KINDS = {Kind.IMAGE: "picture", Kind.DOCUMENT: "document"}


def held_in_bytes(case: Case) -> str:
    """What of a request refused for its bytes the file shows: its pictures, else its largest message, in a clause."""
    messages, until = case.weighed.transcript.messages, case.shared.bytes_until
    kinds = Counter(leaf.kind for i in case.media for leaf in messages[i].leaves() if leaf.kind in MEDIA_KINDS)
    if kinds:
        names = [counted(n, MEDIA_KINDS[kind]) for kind, n in kinds.most_common()]
        return f"; {' and '.join(names)} in it"
    listed = (*case.kept, *range(min(case.start, case.stop), case.stop))
    largest = max(listed, key=lambda i: until[i + 1] - until[i], default=0)
    n_bytes = until[largest + 1] - until[largest] if listed else 0
    if n_bytes < max(LARGEST_BYTES, LARGEST_PART * _wire_bytes(case)):
        return ""
    source = source_of(messages[largest], case.shared.tool_of)
    return f"; message {largest:,}, {source}, is {n_bytes:,} bytes of what the file holds"


def less_in_bytes(held: str) -> str | None:
    """What helps where pictures or documents are in what was refused for its bytes; None else."""
    kinds = " and ".join(f"{word}s" for word in MEDIA_KINDS.values() if word in held)
    return f"Start a new session, or go back to before the {kinds}." if kinds and held.endswith("in it") else None


def status_of(error: ProviderError, words: str = "") -> str:
    """The HTTP status of an error in brackets, where its words do not name it."""
    return f" ({error.status})" if error.status and str(error.status) not in words else ""


def _refusal_row(case: Case, status: int) -> Evidence:
    text = f"The provider refused the request as too large{f' (HTTP {status})' if status else ''}"
    return case.row(text, status or None, "")


def _wire_bytes(case: Case) -> int:
    until = case.shared.bytes_until
    return sum(until[i + 1] - until[i] for i in case.kept) + until[case.stop] - until[min(case.start, case.stop)]
