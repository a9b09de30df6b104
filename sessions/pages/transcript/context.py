"""What the transcript shows: messages to read, the cuts that compactions made, places to go to, matches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sessions.engine.base.moments import moment
from sessions.engine.search.terms import Query, marker, said, without_secrets
from sessions.engine.transcript.speaker import speaker
from sessions.engine.transcript.types import Content, Message, RecordedCompaction
from sessions.pages.ui import figures
from sessions.pages.ui.blocks import ShownBlock, marked, shown
from sessions.pages.ui.causes import held
from sessions.pages.ui.message import MessageFigures
from sessions.runs.overview import Overview, called

Read = Callable[[Message], tuple[Content, ...]]

PAGE, LEAD = 30, 3
MOST_MATCHES, MOST_HEAVY = 200, 5


class Turn(MessageFigures):
    """One message with who says it, when, and after which compaction it is gone (0: it stays)."""

    def __init__(
        self, view: Overview, index: int, blocks: tuple[ShownBlock, ...], cut: Cut | None, *, is_match: bool
    ) -> None:
        super().__init__(view, index)
        self.role = "summary" if self.message.summary else speaker(self.message)
        self.at = moment(self.message.timestamp)
        self.blocks, self.cut, self.is_match = blocks, cut, is_match
        compactions = enumerate(view.weighed.transcript.compactions, 1)
        gone = (n for n, one in compactions if index < one.boundary and index not in one.preserved)
        self.gone_after = next(gone, 0)


class Cut:
    """A recorded compaction: ``number`` from 1; ``counted`` is the recorded figure of a false one.

    ``label`` says how the tokens ``before`` are known.
    """

    def __init__(self, number: int, compaction: RecordedCompaction, before: int | None, *, is_false: bool) -> None:
        self.number, self.request, self.is_false = number, compaction.request, is_false
        self.counted, self.before, self.after = compaction.tokens_before, before, compaction.tokens_after
        self.n_gone = max(compaction.boundary - len(compaction.preserved), 0)
        self.label = "measured" if before == self.counted else "estimated"


class Place:
    """A way to a message, ``anchor`` on its page; ``cut`` is the number of the compaction before it, 0 for none."""

    def __init__(self, words: str, message: int, *, alarm: bool = False, note: str = "", cut: int = 0) -> None:
        self.words, self.message, self.alarm, self.note = words, message, alarm, note
        self.anchor = f"#cut-{cut}" if cut else f"#m-{message}"


def cuts(view: Overview, false: frozenset[int]) -> dict[int, Cut]:
    """Every recorded compaction by the message that it stands before; ``false`` are the numbers of false ones."""
    found = {}
    for number, (compaction, before) in enumerate(zip(view.weighed.transcript.compactions, held(view), strict=True)):
        at = compaction.boundary if compaction.message is None else compaction.message
        found[at] = Cut(number + 1, compaction, before, is_false=number in false)
    return found


def turns(
    view: Overview, indices: Sequence[int], read: Read, marks: dict[int, Cut], query: Query, *, found: Collection[int],
    words: bool,
) -> tuple[Turn, ...]:  # fmt: skip
    """The messages at ``indices``, with ``query`` marked in those ``found``; ``words``: no calls, results, thinking."""

    def turn(index: int) -> Turn:
        contents = read(view.messages[index])
        blocks = shown(contents, view.messages[index].blocks, whole=False)
        if index in found:
            pattern = marker(query, said(contents))
            blocks = tuple(marked(block, pattern) for block in blocks)
        blocks = tuple(block for block in blocks if not words or block.kind in ("text", "image"))
        return Turn(view, index, blocks, marks.get(index), is_match=index in found)

    return tuple(map(turn, indices))


def places(view: Overview, marks: dict[int, Cut]) -> tuple[Place, ...]:
    """Where it turned: start, the worst message, every compaction, end."""
    last = max(len(view.messages) - 1, 0)
    found = [Place("Start", 0)]
    if view.worst is not None:
        name = called(view.messages[view.worst], view.tools).capitalize()
        found.append(Place(f"{name} {figures.factor(view.factors[view.worst])}", view.worst))
    found += [
        Place(
            f"Compaction {cut.number}{', false alarm' if cut.is_false else ''}", at, alarm=cut.is_false, cut=cut.number
        )
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
