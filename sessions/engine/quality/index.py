"""Everything quality needs to know of a session's text, read once: an index of plain values that can be cached.

It holds which references stand in which block, who used them, the rules, the facts, the tool calls, and the text of
what recorded compactions wrote; no other text.  After it is built, judging an event reads nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from operator import attrgetter
from typing import NamedTuple

from sessions.engine.policies.extracting import Sketch, sketch
from sessions.engine.policies.outlines import kinds_and_texts
from sessions.engine.quality import facts as fact_kinds
from sessions.engine.quality.calls import (
    READ,
    RUN,
    Breaking,
    ToolCall,
    arguments_of,
    command_of,
    make_call,
    names_in,
    strings_of,
)
from sessions.engine.quality.facts import Fact, facts_in, make_fact
from sessions.engine.quality.references import (
    COMMAND,
    ERROR,
    IDENTIFIER,
    PATH,
    QUOTED,
    Reference,
    all_references,
    command_references,
    is_common,
    merge_paths,
    phrase_references,
    token_references,
    tokens_of,
)
from sessions.engine.quality.rules import MAX_RULES, Rule, is_reminder, rules_in, source_of
from sessions.engine.transcript.types import Content, Kind, Message, Role, Transcript

Read = Callable[[Message], tuple[Content, ...]]
"""Gives the blocks of a message with their text."""

_WORDS = re.compile(r"\w+")
TEXT_KINDS = frozenset({Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_RESULT, Kind.DOCUMENT})
"""Thinking is left out: providers drop it from the context by rules of their own, and it is no act of the agent."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule, every (message, block) where it is said, and the session's calls that do what it forbids, in order."""

    rule: Rule
    places: tuple[tuple[int, int], ...]
    breaking: tuple[ToolCall, ...] = ()

    @property
    def message(self) -> int:
        """Index of the message that said it first."""
        return self.places[0][0]

    def broken_in(self, start: int, stop: int) -> ToolCall | None:
        """The first call after message ``start`` and before message ``stop`` that does what it forbids."""
        at = bisect_right(self.breaking, start, key=attrgetter("message"))
        return self.breaking[at] if at < len(self.breaking) and self.breaking[at].message < stop else None


Places = Sequence[Sequence[int]]

BUCKET = 64


class Gap(NamedTuple):
    """A reference stood in message ``start`` (−1: only in what a compaction wrote) and is named next in ``stop``."""

    stop: int
    reference: int
    start: int


class Gaps:
    """All gaps of a session, found by a message inside them: what a compaction there can make the agent miss."""

    def __init__(self, n_messages: int, uses: Places, given: Places, places: Places) -> None:
        """By reference, in order: the messages that use it, those that a tool gave it in, those where it stands."""
        self._buckets: list[list[Gap]] = [[] for _ in range(n_messages // BUCKET + 1)]
        for gap in _all_gaps(uses, given, places):
            for bucket in range(max(0, gap.start) // BUCKET, (gap.stop - 1) // BUCKET + 1):
                self._buckets[bucket].append(gap)

    def near(self, message: int) -> Sequence[Gap]:
        """Gaps among which those with ``start`` ≤ ``message`` < ``stop`` are, in no order."""
        return self._buckets[message // BUCKET] if message >= 0 else ()


def _all_gaps(uses: Places, given: Places, places: Places) -> Iterator[Gap]:
    for reference, used in enumerate(uses):
        if not used:
            continue
        said = list(merge(used, given[reference]))
        for use in used:
            at = bisect_left(said, use)
            if at:
                yield Gap(use, reference, said[at - 1])
            elif places[reference][0] < use:
                yield Gap(use, reference, -1)


@dataclass(frozen=True)
class Index:
    """References, rules, facts and calls of one session.

    ``references[i]`` has id i.  ``blocks[m]`` holds, for each block of message m, the sorted ids in it; ``places[i]``
    the messages in which reference i stands, ``uses[i]`` those in which the agent says or calls it, ``given[i]`` those
    in which the user, a tool or the harness does (without what compactions made): message indices, ascending.
    ``products`` is the text of what recorded compactions wrote, by message; ``aliases`` finds a reference's id under
    every name it has.  ``n_unread`` messages had no text to read.  ``sketches[m]`` is what an extract takes from
    message m.  ``n_more_rules`` times a rule was said that is none of the ``MAX_RULES`` that are tracked.
    """

    n_messages: int
    references: tuple[Reference, ...]
    blocks: tuple[tuple[tuple[int, ...], ...], ...]
    places: tuple[tuple[int, ...], ...]
    uses: tuple[tuple[int, ...], ...]
    given: tuple[tuple[int, ...], ...]
    constraints: tuple[Constraint, ...]
    facts: tuple[Fact, ...]
    calls: tuple[ToolCall, ...]
    products: Mapping[int, str]
    aliases: Mapping[Reference, int]
    n_unread: int = 0
    sketches: tuple[Sketch, ...] = ()
    n_more_rules: int = 0

    @cached_property
    def used_again(self) -> tuple[tuple[int, int], ...]:
        """(last use, reference) of those that stood somewhere before their last use, the latest first."""
        again = ((uses[-1], i) for i, uses in enumerate(self.uses) if uses and self.places[i][0] < uses[-1])
        return tuple(sorted(again, reverse=True))

    @cached_property
    def gaps(self) -> Gaps:
        """The gaps of all references, made when first asked for."""
        return Gaps(self.n_messages, self.uses, self.given, self.places)

    def sketch_of(self, message: Message) -> Sketch:
        """What an extract takes from an original message."""
        return self.sketches[message.index]

    def found_in(self, text: str) -> frozenset[int]:
        """Ids of the references of this session that a text names (relative paths by their full name)."""
        return frozenset(i for r in all_references(text) if (i := self.aliases.get(r)) is not None)

    def mentioned_in(self, text: str) -> frozenset[int]:
        """The same, and commands, quotes and errors that stand in the text without any mark around them."""
        plain = " ".join(text.split())
        words = set(_WORDS.findall(plain))
        near = (pair for word in words & self._phrases.keys() for pair in self._phrases[word])
        return self.found_in(text) | {i for i, phrase in near if phrase in plain}

    @cached_property
    def _phrases(self) -> dict[str, list[tuple[int, str]]]:
        """References of several words that are used again, by their first word."""
        found: dict[str, list[tuple[int, str]]] = {}
        for _, i in self.used_again:
            kind, text = self.references[i]
            if kind in {COMMAND, QUOTED, ERROR} and (first := _WORDS.search(text)):
                found.setdefault(first.group(), []).append((i, text))
        return found

    def id_of(self, text: str) -> int | None:
        """The id of a reference by its text, of any kind; None where the session has none such."""
        return self._by_text.get(text)

    @cached_property
    def reads(self) -> dict[str, list[tuple[int, ToolCall]]]:
        """Calls that read a file, with their number, by what they read."""
        found: dict[str, list[tuple[int, ToolCall]]] = {}
        for number, call in enumerate(self.calls):
            if call.verb == READ:
                found.setdefault(call.key, []).append((number, call))
        return found

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {r.text: i for r, i in self.aliases.items()}


def build_index(transcript: Transcript, read: Read) -> Index:
    """Read every message of the session once through ``read`` (its blocks with their text) and index it."""
    builder = IndexBuilder(transcript)
    for message in transcript.messages:
        builder.add(message, read(message))
    return builder.done()


def flat_text(content: Content) -> str:
    """The text of a block, that of its parts included."""
    if not content.parts:
        return content.text
    return "\n".join([content.text, *(flat_text(part) for part in content.parts if part.kind in TEXT_KINDS)])


class IndexBuilder:
    """Collects; used once: every message is added in order, then it is done."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.ids: dict[Reference, int] = {}
        self.tokens: dict[str, tuple[int, ...]] = {}
        self.blocks: list[tuple[tuple[int, ...], ...]] = []
        self.constraints: dict[str, tuple[Rule, list[tuple[int, int]]]] = {}
        self.facts: list[Fact] = []
        self.calls: list[ToolCall] = []
        self.call_at: dict[str, int] = {}
        self.tool_words: set[str] = set()
        self.products: dict[int, str] = {}
        self.n_unread = self.n_more_rules = 0
        self.sketches: list[Sketch] = []
        self.has_intent = False

    def add(self, message: Message, contents: tuple[Content, ...]) -> None:
        """One message: references per block, then what its role adds."""
        found: list[tuple[int, ...]] = []
        product: list[str] = []
        for number, content in enumerate(contents):
            if content.kind not in TEXT_KINDS:
                found.append(())
                continue
            if content.kind is Kind.TOOL_USE:
                found.append(self._call(message, number, content))
                continue
            text = flat_text(content)
            found.append(self._references(text))
            if message.compaction is not None:
                product.append(text)
            elif message.role is Role.ASSISTANT:
                self.facts += facts_in(text, message.index, number)
            else:
                self._given(message, number, content, text)
        if product:
            self.products[message.index] = "\n".join(product)
        self.n_unread += bool(message.blocks) and not any(flat_text(c) for c in contents)
        self.blocks.append(tuple(found))
        self.sketches.append(sketch(message, kinds_and_texts(contents)))

    def _references(self, text: str) -> tuple[int, ...]:
        if not text:
            return ()
        found: set[int] = set()
        for token in tokens_of(text):
            known = self.tokens.get(token)
            if known is None:
                known = self.tokens[token] = tuple(self._id(r) for r in token_references(token))
            if known:
                found.update(known)
        found.update(self._id(r) for r in phrase_references(text))
        return tuple(found)

    def _id(self, reference: Reference) -> int:
        return self.ids.setdefault(reference, len(self.ids))

    def _call(self, message: Message, number: int, content: Content) -> tuple[int, ...]:
        arguments = arguments_of(content)
        call = make_call(message.index, number, content, arguments)
        self.tool_words.update(names_in(arguments))
        self.call_at[call.call_id] = len(self.calls)
        self.calls.append(call)
        found = set(self._references("\n".join(strings_of(arguments))))
        if call.verb == RUN:
            found.update(self._id(r) for r in command_references(command_of(arguments, call.verb)))
        return tuple(found)

    def _given(self, message: Message, number: int, content: Content, text: str) -> None:
        """What the user, a tool or the harness says: the result of a call, rules, the first prompt's intent."""
        path = content.target if message.attachment else ""
        at = self.call_at.get(content.call_id) if content.kind is Kind.TOOL_RESULT else None
        if at is not None:
            n_tokens = sum(leaf.n_tokens for leaf in message.blocks[number].leaves())
            self.calls[at] = self.calls[at]._replace(result=(message.index, number), n_tokens=n_tokens)
            path = self.calls[at].key
        if message.typed and not self.has_intent and text.strip() and not is_reminder(text):
            self.has_intent = True
            self.facts.append(make_fact(fact_kinds.INTENT, " ".join(text.split()), message.index, number))
        source = source_of(message, read_path=path) if path else ""
        if not source and content.kind is not Kind.TOOL_RESULT:
            source = source_of(message, text)
        if source:
            for rule in rules_in(text, source):
                self._rule(rule, (message.index, number))

    def _rule(self, rule: Rule, place: tuple[int, int]) -> None:
        known = self.constraints.get(rule.text.lower())
        if known is None and len(self.constraints) == MAX_RULES:
            self.n_more_rules += 1
        elif known is None:
            self.constraints[rule.text.lower()] = rule, [place]
        else:
            known[1].append(place)

    def done(self) -> Index:
        """The index: paths merged, common references taken out."""
        renamed = merge_paths(list(self.ids))
        n = len(self.transcript.messages)
        per_message = [{renamed[i] for block in blocks for i in block} for blocks in self.blocks]
        counts = Counter(i for found in per_message for i in found)
        references = list(self.ids)
        named = (i for i, at in enumerate(renamed) if at == i and self._is_of_the_task(references[i], counts[i]))
        kept = {i: k for k, i in enumerate(named)}
        blocks = tuple(
            tuple(tuple(sorted({kept[renamed[i]] for i in block if renamed[i] in kept})) for block in message)
            for message in self.blocks
        )
        full_name = {r.text: references[renamed[i]].text for i, r in enumerate(references) if r.kind == PATH}
        calls = tuple(call._replace(key=full_name.get(call.key, call.key)) for call in self.calls)
        breaking = Breaking(calls)
        places, uses, given = _occurrences(self.transcript.messages, blocks, len(kept))
        return Index(
            n, tuple(references[i] for i in kept), blocks, places, uses, given,
            tuple(Constraint(rule, tuple(found), breaking.of(rule)) for rule, found in self.constraints.values()),
            tuple(self.facts), calls, self.products,
            {references[i]: kept[renamed[i]] for i in range(len(references)) if renamed[i] in kept}, self.n_unread,
            tuple(self.sketches), self.n_more_rules,
        )  # fmt: skip

    def _is_of_the_task(self, reference: Reference, n_messages: int) -> bool:
        """Whether it is no word of a tool, and stands in few enough messages to say anything."""
        is_tool_word = reference.kind == IDENTIFIER and reference.text in self.tool_words
        return not is_tool_word and not is_common(reference.kind, n_messages, len(self.transcript.messages))


def _occurrences(
    messages: Sequence[Message], blocks: tuple[tuple[tuple[int, ...], ...], ...], n: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """For every reference: where it stands, where the agent used it, where it was given to the agent."""
    places: list[list[int]] = [[] for _ in range(n)]
    uses: list[list[int]] = [[] for _ in range(n)]
    given: list[list[int]] = [[] for _ in range(n)]
    for message in messages:
        found = {i for block in blocks[message.index] for i in block}
        side = uses if message.role is Role.ASSISTANT else given
        for i in found:
            places[i].append(message.index)
            if message.compaction is None:
                side[i].append(message.index)
    return tuple(map(tuple, places)), tuple(map(tuple, uses)), tuple(map(tuple, given))
