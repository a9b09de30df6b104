"""What the transcript shows: messages to read, the cuts that compactions made, places to go to, matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions.engine.base.moments import moment
from sessions.engine.search.terms import Query, marker, said, without_secrets
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Content, Message
from sessions.pages.ui import figures
from sessions.pages.ui.blocks import ShownBlock, marked, shown
from sessions.pages.ui.causes import held
from sessions.runs.overview import KINDS, Overview, called

Read = Callable[[Message], tuple[Content, ...]]

PAGE, LEAD = 30, 3
MOST_MATCHES, MOST_HEAVY = 200, 5


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: who says what, what it weighs, after which compaction it is gone (0: it stays), when it was made."""

    index: int
    role: str
    tokens: int
    label: str
    n_bytes: int
    factor: float | None
    parts: tuple[tuple[str, int], ...]
    blocks: tuple[ShownBlock, ...]
    gone_after: int
    is_match: bool
    cut: Cut | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A recorded compaction: ``number`` from 1; ``counted`` is the recorded figure of a false one."""

    number: int
    request: int
    is_false: bool
    counted: int | None
    before: int | None
    after: int | None
    n_gone: int

    @property
    def label(self) -> str:
        """How the tokens before are known."""
        return "measured" if self.before == self.counted else "estimated"


@dataclass(frozen=True, slots=True)
class Place:
    """A way to a message; ``cut`` is the number of the compaction before it, 0 for none."""

    words: str
    message: int
    alarm: bool = False
    note: str = ""
    cut: int = 0

    @property
    def anchor(self) -> str:
        """Where on the page it is."""
        return f"#cut-{self.cut}" if self.cut else f"#m-{self.message}"


def cuts(view: Overview, false: frozenset[int]) -> dict[int, Cut]:
    """Every recorded compaction by the message that it stands before; ``false`` are the numbers of false ones."""
    found = {}
    for number, (compaction, before) in enumerate(zip(view.weighed.transcript.compactions, held(view), strict=True)):
        at = compaction.boundary if compaction.message is None else compaction.message
        found[at] = Cut(
            number + 1, compaction.request, number in false, compaction.tokens_before, before,
            compaction.tokens_after, max(compaction.boundary - len(compaction.preserved), 0),
        )  # fmt: skip
    return found


def turns(
    view: Overview, indices: Sequence[int], read: Read, marks: dict[int, Cut], query: Query, *, found: Collection[int],
    words: bool,
) -> tuple[Turn, ...]:  # fmt: skip
    """The messages at ``indices``, with ``query`` marked in those ``found``; ``words``: no calls, results, thinking."""

    compactions = list(enumerate(view.weighed.transcript.compactions, 1))

    def turn(index: int) -> Turn:
        message, kinds = view.messages[index], view.kinds[index]
        contents = read(message)
        blocks = shown(contents, message.blocks, whole=False)
        if index in found:
            pattern = marker(query, said(contents))
            blocks = tuple(marked(block, pattern) for block in blocks)
        return Turn(
            index=index,
            role="summary" if message.summary else speaker(message),
            tokens=view.weighed.tokens[index],
            label=str(view.weighed.labels[index]),
            n_bytes=view.n_bytes[index],
            factor=view.factors[index],
            parts=tuple((kind, kinds[kind]) for kind in KINDS if kinds.get(kind)),
            blocks=tuple(block for block in blocks if not words or block.kind in ("text", "image")),
            gone_after=next((n for n, c in compactions if index < c.boundary and index not in c.preserved), 0),
            is_match=index in found,
            cut=marks.get(index),
            at=moment(message.timestamp),
        )

    return tuple(map(turn, indices))


def places(view: Overview, marks: dict[int, Cut]) -> tuple[Place, ...]:
    """Where it turned: start, the worst message, every compaction, end."""
    last = max(len(view.messages) - 1, 0)
    found = [Place("Start", 0)]
    if view.worst is not None:
        name = called(view.messages[view.worst], view.tools).capitalize()
        found.append(Place(f"{name} {figures.factor(view.factors[view.worst])}", view.worst))
    found += [
        Place(f"Compaction {cut.number}{', false alarm' if cut.is_false else ''}", at, cut.is_false, cut=cut.number)
        for at, cut in marks.items()
    ]
    return (*sorted(found, key=lambda place: place.message), Place("End", last))


def heaviest(view: Overview) -> tuple[Place, ...]:
    """The messages of the most tokens."""
    tokens = view.weighed.tokens
    ranked = sorted(range(len(tokens)), key=lambda i: -tokens[i])[:MOST_HEAVY]
    return tuple(Place(view.messages[i].preview or "no text", i, note=figures.count(tokens[i])) for i in ranked)


def matching(view: Overview, query: Query, read: Read, indexed: Sequence[int] | None) -> tuple[tuple[int, ...], bool]:
    """The messages that have what ``query`` asks for, and whether there may be more.

    ``indexed`` are those with all its words; None where the session is not indexed: then all are read, up to the two
    hundredth that has it.
    """
    if not query:
        return (), False
    if indexed is not None:
        found = [i for i in indexed if not query.phrases or query.says(said(read(view.messages[i])))]
        return tuple(found), False
    found = []
    for message in view.messages:
        text = said(read(message))
        if query.may_stand_in(text) and query.holds(without_secrets(text)):
            found.append(message.index)
            if len(found) == MOST_MATCHES:
                break
    return tuple(found), len(found) == MOST_MATCHES
