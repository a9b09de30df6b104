"""The words of a summary that nobody wrote: an extract of what it stands for, made when somebody asks for them.

A replay needs only what such a summary weighs, and that is known without reading a message (replay-semantics 5).  Its
words are asked for by whoever judges what it keeps, shows it or hands it out; they are the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.policies.anchored import AnchoredSummary, merge, parse, render, render_nine
from sessions.engine.policies.extracting import Sketch, extract, fixes, sketch
from sessions.engine.policies.policy import Item
from sessions.engine.transcript.types import Content, Kind, Message

T = TypeVar("T")

CHARS_PER_TOKEN = 4
"""Characters that a token of a summary without words stands for, in estimators and as the room of an extract."""
OPAQUE_SHARE = 50
"""An opaque string is at most a fiftieth of what it stands for: 98% are gone (stated: 95 to 99%)."""
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
"""Of every section, tried in this order until an extract fits into its size."""


class Outline(NamedTuple):
    """A summary without words yet: what it stands for, what it weighs, its ``mode`` (``anthropic_summaries.MODES``).

    ``previous`` are the ids of the last summary that still stands, for "merge"; ``suffix`` the policy's own end.
    """

    dropped: Sequence[Item]
    tokens: int
    mode: str = "fresh"
    previous: tuple[str, ...] = ()
    suffix: str = ""


def compose(said: Sequence[Sketch], mode: str, previous: str, dropped_tokens: int, most: int | None = None) -> str:
    """The extract of some messages; ``previous`` is the summary to merge into, ``most`` a bound in characters."""
    facts = extract(said)
    if mode == "merge" and (old := parse(previous)) is not None:
        facts = merge(old, facts)
    if mode == "opaque":
        budget = max(16, dropped_tokens // OPAQUE_SHARE) * CHARS_PER_TOKEN
        return _dense(facts)[: budget if most is None else min(budget, most)]
    typed = [s.first for s in said if s.is_typed and s.first]
    fixed = fixes(said)
    text = ""
    for share in SHARES:
        short = facts if share == 1 else _shortened(facts, share)
        text = render_nine(short, _latest(typed, share), _latest(fixed, share)) if mode == "nine" else render(short)
        if most is None or len(text) <= most:
            return text
    return text[:most]


def _dense(facts: AnchoredSummary) -> str:
    """One string: intent, then as many facts as fit."""
    parts = [facts.intent, facts.state, *facts.rules, *(f"{path}={','.join(done)}" for path, done in facts.files)]
    parts += [*(what for what, _ in facts.decisions), *facts.errors, *facts.next_steps]
    return "|".join(part for part in parts if part)


def _shortened(facts: AnchoredSummary, share: float) -> AnchoredSummary:
    """Every section at a share of its lines: of rules and files the first, of the others the latest."""
    return replace(
        facts, rules=facts.rules[: _n(facts.rules, share)], files=facts.files[: _n(facts.files, share)],
        decisions=_latest(facts.decisions, share), technical=_latest(facts.technical, share),
        blockers=_latest(facts.blockers, share), errors=_latest(facts.errors, share),
        next_steps=_latest(facts.next_steps, share),
    )  # fmt: skip


def _n(lines: Sequence[object], share: float) -> int:
    return max(1, int(len(lines) * share))


def _latest(lines: Sequence[T], share: float) -> tuple[T, ...]:
    return tuple(lines[-_n(lines, share) :])


class Wording(Mapping[str, str]):
    """The texts of what a replay inserted, by item id: as written, or made of an outline when asked for."""

    def __init__(
        self, written: Mapping[str, str], outlines: Mapping[str, Outline], sketch_of: Callable[[Message], Sketch]
    ) -> None:
        """``sketch_of`` gives the sketch of an original message."""
        self._known, self._outlines, self._sketch_of = dict(written), outlines, sketch_of

    def __getitem__(self, item_id: str) -> str:
        """The text; KeyError where the item has none."""
        waiting = [] if item_id in self._known else [item_id]
        while waiting:
            outline = self._outlines[waiting[-1]]
            before = [one for one in self._needed(outline) if one not in waiting]
            waiting += before
            if not before:
                self._known[waiting.pop()] = self._made(outline)
        return self._known[item_id]

    def _needed(self, outline: Outline) -> Iterator[str]:
        """Earlier summaries that are part of this one and have no words yet: a chain is as long as its compactions."""
        inside = (item.id for item in outline.dropped if item.message.index < 0)
        return (one for one in (*outline.previous, *inside) if one in self._outlines and one not in self._known)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._known, *self._outlines)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _made(self, outline: Outline) -> str:
        previous = "\n".join(self._known[one] for one in outline.previous if one in self._known)
        said = [self._sketch(item) for item in outline.dropped]
        most = max(outline.tokens * CHARS_PER_TOKEN - len(outline.suffix), 0)
        return (
            compose(said, outline.mode, previous, sum(item.tokens for item in outline.dropped), most) + outline.suffix
        )

    def _sketch(self, item: Item) -> Sketch:
        if item.message.index < 0:
            return sketch(item.message, [(Kind.TEXT, self._known.get(item.id, item.message.preview))])
        return self._sketch_of(item.message)


def kinds_and_texts(contents: Sequence[Content], inside: Kind | None = None) -> Iterator[tuple[Kind, str]]:
    """(kind, text) of blocks and of their parts; what stands in a tool result is one."""
    for content in contents:
        kind = inside or content.kind
        if content.text:
            yield kind, content.text
        yield from kinds_and_texts(content.parts, Kind.TOOL_RESULT if kind is Kind.TOOL_RESULT else None)


def sketch_of(message: Message, read: Callable[[Message], Sequence[Content]]) -> Sketch:
    """The sketch of an original message: of its text, of its preview where that cannot be read."""
    try:
        return sketch(message, kinds_and_texts(read(message)))
    except UnreadableInput:
        return preview_sketch(message)


def preview_sketch(message: Message) -> Sketch:
    """The sketch of a message by its preview."""
    kind = Kind.TOOL_RESULT if message.result_ids() else Kind.TEXT
    return sketch(message, [(kind, message.preview)])
