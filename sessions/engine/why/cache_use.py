"""Whether what the prompt cache holds is written anew on each request and hardly read (verdicts 3.37)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from sessions.engine.base.prompt_cache import HOUR_TTL_SECONDS, LEAST_CACHED, TTL_SECONDS
from sessions.engine.base.words import request_words
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import (
    Kind,
    RecordedClearing,
    RecordedCompaction,
    Request,
    Role,
    Transcript,
    Usage,
)

Pair = tuple[Request, Request]
FRESH = 0.2
"""The share of an input that may be new where all that was cached stands in it as well."""
NOTED = frozenset({EventKind.CACHE_UNREAD, EventKind.CACHE_NOTED})
LOST, ALIKE, NEARLY_ALL = 0.25, 0.02, 0.9
"""The share of what it held that was not read, of heads that are one, of pairs."""
LEAST_PAIRS, SHOWN, LEAST_UNREAD, UNREAD = 2, 3, 3, 3
"""Pairs that lose the cache, sizes that are told, requests in a row that read nothing, from which it is; one in so many
of prompts that came again."""
LEFT, LEFT_OFTEN, OFTEN, LEAST_BROKEN = 0.1, 0.25, 0.25, 100_000
"""The share of a cache that may still be read where it counts as lost: ``LEFT``, and ``LEFT_OFTEN`` where a share of
``OFTEN`` of the pairs lose it; tokens written anew from which that is told."""
HARDLY = 0.05
"""The share of the prompt before up to which next to nothing was read from the cache."""
STAYED = 0.35
"""The share of a prompt that may go with messages that are left out where the rest could have been read."""
_CLOCK = re.compile(r"(?:[\w' ]{0,40}[:=]? ?)?(?:\d{4}-\d\d-\d\d[T ])?\b\d{1,2}:\d\d(?::\d\d)?\b")
"""A time of day with what names it: at the front of a prompt it makes each minute another prefix."""
REST, LEAST_HEADS, MOSTLY = 4, 3, 0.75
"""Times its head that a prompt has at least; how many prompts read the head at least, and which share of them."""


def cache_sentence(transcript: Transcript) -> str:
    """What the prompt cache did not hold that it might have, in a sentence; "" where all is well or nothing is told."""
    told = [f"{event.words}." for event in transcript.events if event.kind in NOTED]
    is_told = any(event.kind == EventKind.CACHE_UNREAD for event in transcript.events)
    return " ".join(filter(None, ("" if is_told else _counted(transcript), *told)))


def _counted(transcript: Transcript) -> str:
    """The same by the counts of the requests alone."""
    if doubled := _doubled(transcript):
        return doubled
    reads = any(request.usage and request.usage.cache_read for request in transcript.requests)
    # Where nothing was ever read, no compaction is why.
    pairs = _pairs(transcript, (*transcript.compactions, *transcript.clearings) if reads else ())
    told = _one_head(transcript) or _broken(transcript, pairs) or _never_read(transcript, pairs)
    told = told or _unread(transcript, pairs) or _repeated(transcript) or _lost_with_messages(transcript)
    told = told or _hardly_read(pairs)
    return f"{told[:-1]}; {front}." if told and (front := _front(transcript)) else told


def _front(transcript: Transcript) -> str:
    """That a time of day stands at the front of the prompt, in a clause; else ""."""
    first = transcript.messages[0] if transcript.messages else None
    found = _CLOCK.search(first.preview) if first is not None and first.role is Role.SYSTEM else None
    return f'the system prompt begins with a time of day ("{found[0].strip()}")' if found else ""


def _repeated(transcript: Transcript) -> str:
    """That of requests as long as the one before, within the cache's life, some read it and some not, or ""."""
    sent = [r for r in transcript.requests if r.usage and not r.usage.placeholder and r.usage.context >= LEAST_CACHED]
    alike = [(one, other) for one, other in pairwise(sent) if _is_soon(one, other) and _are_alike(one, other)]
    reads = [other.usage.cache_read for _, other in alike if other.usage]
    read = [size for size in reads if size]
    n_unread = len(reads) - len(read)
    if min(len(read), n_unread) < LEAST_PAIRS or UNREAD * n_unread < len(reads):
        return ""
    if any(request.usage and request.usage.cache_write for request in sent):
        return ""
    size = max(other.usage.context for _, other in alike if other.usage)
    again = f"Cache: of {len(reads):,} prompts as long as the one before, up to {size:,} tokens"
    return f"{again}, {n_unread:,} read nothing from it, the others up to {max(read):,}."


def _lost_with_messages(transcript: Transcript) -> str:
    """That a request after messages were left out read nothing from the cache, though most was sent again, or ""."""
    requests = transcript.requests
    for compaction in transcript.compactions:
        now = requests[compaction.request] if compaction.request < len(requests) else None
        before = requests[compaction.request - 1] if compaction.request else None
        if now is None or before is None or not now.usage or not before.usage or not _is_soon(before, now):
            continue
        if before.usage.cache_read >= LEAST_CACHED and not now.usage.cache_read and _are_alike(before, now, STAYED):
            read = f"{request_words(now.index)} read none of {now.usage.context:,} tokens"
            were = f"{before.usage.cache_read:,} were read before messages were left out"
            return f"Cache: {read}: {were}, which makes its prefix another."
    return ""


def _hardly_read(near: list[Pair]) -> str:
    """That prompts no shorter than the one before read next to nothing, though the cache is counted, or ""."""
    grown = [(one.usage, other.usage) for one, other in near if one.usage and other.usage]
    grown = [(one, other) for one, other in grown if LEAST_CACHED <= one.context <= other.context]
    reads = [other.cache_read for _, other in grown]
    if len(reads) < LEAST_UNREAD or not max(reads) or any(one.cache_write for pair in grown for one in pair):
        return ""
    if any(other.cache_read > HARDLY * one.context for one, other in grown):
        return ""
    most, largest = max(reads), max(other.context for _, other in grown)
    told = f"Cache: {len(reads):,} prompts came right after one that was no longer"
    return f"{told}, and read at most {most:,} of up to {largest:,} tokens from it; nothing in the file says why."


def _are_alike(one: Request, other: Request, share: float = ALIKE) -> bool:
    """Whether the prompts of two requests are as long, within a share of the first."""
    sizes = [request.usage.context if request.usage else 0 for request in (one, other)]
    return abs(sizes[1] - sizes[0]) <= share * sizes[0]


def counts_twice(usages: Sequence[Usage]) -> bool:
    """Whether the input of three requests or more holds the cached tokens that are added to it (verdicts 3.2, 3.37)."""
    cached = [usage.cache_read + usage.cache_write for usage in usages]
    if len(usages) < LEAST_HEADS or any(
        not 0 <= u.input - n < FRESH * u.input for u, n in zip(usages, cached, strict=True)
    ):
        return False
    grown = cached[-1] - cached[0]
    return grown > 0 and grown >= 0.5 * (usages[-1].input - usages[0].input)


def _cached_usages(transcript: Transcript) -> list[Usage]:
    """Of the requests that cached something."""
    return [u for r in transcript.requests if (u := r.usage) and u.cache_read + u.cache_write >= LEAST_CACHED]


def is_doubled(transcript: Transcript) -> bool:
    """Whether the usage of a session counts twice what was cached, at every request that cached something."""
    return counts_twice(_cached_usages(transcript))


def _doubled(transcript: Transcript) -> str:
    """The same in a sentence; else ""."""
    if not is_doubled(transcript):
        return ""
    most = max(_cached_usages(transcript), key=lambda usage: usage.context)
    cached = f"of {most.context:,} tokens {most.cache_read + most.cache_write:,} stand there twice"
    return f"Cache: the usage counts what was cached twice: {cached}, so {most.input:,} were sent."


def _unread(transcript: Transcript, near: list[Pair]) -> str:
    """The longest stretch that read nothing, of a session whose other requests read the cache, in a sentence; or ""."""
    sent = [r for r in transcript.requests if r.on_branch and r.usage and not r.usage.placeholder]
    reads = [bool(one.usage and 2 * one.usage.cache_read >= one.usage.context) for one in sent]
    soon = {other.index for _, other in near}
    sizes = [u.context if (u := one.usage) and not (u.cache_read or u.cache_write) else 0 for one in sent]
    unread = [size >= LEAST_CACHED and one.index in soon for one, size in zip(sent, sizes, strict=True)]
    begun = reads.index(True) if any(reads) else len(sent)
    grouped = groupby(range(begun, len(sent)), unread.__getitem__)
    found = max((list(places) for is_unread, places in grouped if is_unread), key=len, default=[])
    if len(found) < LEAST_UNREAD or sum(reads) < LEAST_HEADS:
        return ""
    where = f"on {len(found):,} requests in a row, {sent[found[0]].index:,} to {sent[found[-1]].index:,}"
    tokens = f"{sum(sizes[n] for n in found):,} tokens in all"
    after = " and after" if any(reads[found[-1] :]) else ""
    return f"Cache: nothing was read from it {where}, {tokens}; before{after} them it was."


def lost_at(transcript: Transcript) -> dict[int, int]:
    """Tokens that a request sent anew soon after one that had read most of its own from the cache, by its number."""
    near = _pairs(transcript, changes=transcript.compactions)
    pairs = ((other.index, one.usage, other.usage) for one, other in near if one.usage and other.usage)
    return {
        index: now.context - now.cache_read
        for index, before, now in pairs
        if 2 * before.cache_read >= before.context and now.cache_read <= LEFT * before.cache_read
    }


def _never_read(transcript: Transcript, near: list[Pair]) -> str:
    """That nearly every request writes the cache anew, and reads nothing or one head alone, in a sentence; else ""."""
    pairs = [(one.usage, other.usage) for one, other in near if one.usage and other.usage]
    lost = [(one, other) for one, other in pairs if _is_lost(one, other)]
    if len(lost) < LEAST_PAIRS or (len(lost) < NEARLY_ALL * len(pairs) and not _lost_at_prompts(transcript, near)):
        return ""
    heads = [other.cache_read for _, other in lost]
    if max(heads) - min(heads) > ALIKE * max(heads):
        return ""
    written = ", ".join(f"{usage.cache_write:,}" for _, usage in lost[:SHOWN])
    more = " …" if len(lost) > SHOWN else ""
    if not max(heads):
        return f"The cache is written on {len(lost):,} requests and never read: {written}{more} tokens; {FRONT}."
    share = 100 * sum(heads) / sum(other.context for _, other in lost)
    read = f"of each prompt only the first {heads[-1]:,} tokens, {share:.0f}%, are read from the cache"
    return f"Cache: {read}, and {written}{more} are written anew; something behind them changes each time."


FRONT = "something at the front of the prompt changes each time"


def _lost_at_prompts(transcript: Transcript, near: list[Pair]) -> bool:
    """Whether the cache is lost wherever somebody typed between two requests, and nowhere else."""
    messages = transcript.messages
    return all(
        _is_lost(one.usage, other.usage) == any(m.typed for m in messages[one.message or 0 : other.message or 0])
        for one, other in near
        if one.usage and other.usage
    )


def _one_head(transcript: Transcript) -> str:
    """That each prompt reads one head alone from a cache whose writes are not told, in a sentence; else ""."""
    sent = [r.usage for r in transcript.requests if r.on_branch and r.usage and not r.usage.placeholder]
    heads = [usage.cache_read for usage in sent if usage.cache_read]
    if transcript.compactions or transcript.clearings or any(usage.cache_write for usage in sent):
        return ""
    if len(heads) < max(LEAST_HEADS, MOSTLY * len(sent)) or min(heads) < LEAST_CACHED:
        return ""
    if max(heads) - min(heads) > ALIKE * max(heads) or any(usage.context < REST * max(heads) for usage in sent):
        return ""
    rest = max(usage.context for usage in sent) - heads[-1]
    read = f"only the first {heads[-1]:,} tokens of each prompt are read from the cache, on {len(heads):,} requests"
    return f"Cache: {read}; all behind them, up to {rest:,}, is paid for in full each time."


def _broken(transcript: Transcript, pairs: list[Pair]) -> str:
    """Where a cache that was alive was written anew as a whole, where it is not always so, in a sentence; else ""."""
    often = _lost(pairs, LEFT_OFTEN)
    found = often if len(often) >= OFTEN * len(pairs) else _lost(pairs, LEFT)
    sizes = [other.usage.cache_write for _, other in found if other.usage]
    if sum(sizes) < LEAST_BROKEN or 2 * len(found) > len(pairs):
        return ""
    times = "once" if len(found) == 1 else f"{len(found):,} times"
    written = " and ".join(f"{size:,}" for size in sizes) if len(sizes) <= SHOWN - 1 else f"{sum(sizes):,} in all"
    one, other = found[0]
    replies = () if one.message is None else transcript.messages[one.message : one.message + one.n_messages]
    calls = [block.name for message in replies for block in message.blocks if block.kind is Kind.TOOL_USE]
    after = f", after {calls[-1]}" if calls and calls[-1] else ""
    where = f"{'' if len(found) == 1 else 'first '}at request {other.index:,}{after}"
    return f"The cache was lost {times} within its life, {where}: {written} tokens were written anew."


def _lost(pairs: list[Pair], most: float) -> list[Pair]:
    """Those of which the second read at most that share of what the first left in the cache."""
    return [
        (one, other)
        for one, other in pairs
        if one.usage and other.usage and other.usage.cache_read <= most * (one.usage.cache_read + one.usage.cache_write)
        and _is_lost(one.usage, other.usage)
    ]  # fmt: skip


def _pairs(transcript: Transcript, changes: Iterable[RecordedCompaction | RecordedClearing]) -> list[Pair]:
    """Requests one after the other within the cache's life, with none of the ``changes`` between them."""
    changed = {one.request for one in changes}
    sent = [request for request in transcript.requests if request.on_branch and request.usage]
    found = []
    for one, other in pairwise(sent):
        if _is_soon(one, other) and changed.isdisjoint(range(one.index + 1, other.index + 1)):
            found.append((one, other))
    return found


def _is_soon(one: Request, other: Request) -> bool:
    """Whether the second request, of the same model, came within the life of what the first left in the cache."""
    life = HOUR_TTL_SECONDS if one.usage and one.usage.cache_write_1h else TTL_SECONDS
    if one.timestamp is None or other.timestamp is None or one.model != other.model:
        return False
    return 0 <= other.timestamp - one.timestamp <= life


def _is_lost(one: Usage, other: Usage) -> bool:
    """Whether a good part of what the first left in the cache was not read by the second, but written again."""
    held = one.cache_read + one.cache_write
    lost = held - other.cache_read
    return held >= LEAST_CACHED and lost >= max(LEAST_CACHED, LOST * held) and other.cache_write >= LOST * held
