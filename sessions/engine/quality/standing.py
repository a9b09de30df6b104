"""What stands in a context: messages that are whole, blocks that an edit left, and texts that a compaction wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from sessions.engine.policies.policy import Item
from sessions.engine.quality.index import Index
from sessions.engine.transcript.types import Block, Kind, Message, Role, Transcript

VERBATIM, MENTIONED, GONE, OPEN = "verbatim", "mentioned", "gone", "open"
STATES = (VERBATIM, MENTIONED, OPEN, GONE)
"""The states (product words): never added up.  "open" is what depends on a summary whose text is not known: it is in no
message that stands, and nothing proves that it is lost (replay-semantics 5)."""
RE_INJECTED = "re-injected"
"""How a rule can be mentioned: word for word, in something that the harness put back."""
PLAIN_STATE = {VERBATIM: VERBATIM, RE_INJECTED: MENTIONED, MENTIONED: MENTIONED, OPEN: OPEN, GONE: GONE}
"""A rule's states as those of a need: what was put back is not in a kept message."""
SUMMARY, RE_ATTACHED, RETURNED = "summary", "re-attached", "returned"
"""How it can be mentioned: in the summary, in what was put back, or by the user or a tool again before its use."""


class Insertion(NamedTuple):
    """What a compaction put in: ids of references ``found`` in it, the (message, block) whose content it ``holds``."""

    id: str
    text: str
    is_summary: bool
    found: frozenset[int]
    holds: frozenset[tuple[int, int]] = frozenset()


Known = dict[str, Insertion]
"""Inserted items by id, remembered from one list to the next."""


@dataclass(frozen=True)
class Standing:
    """A message list as quality sees it.

    ``whole`` are indices of original messages that stand as recorded, ``parts`` the blocks that an edit left of others;
    ``inserted`` is in list order; ``n_silent`` counts summaries without text (stubs), ``n_unread`` what was put back
    without it being known what of.  ``newest`` is the index of the last original message, -1 where there is none.
    """

    whole: frozenset[int]
    parts: Mapping[int, frozenset[int]]
    inserted: tuple[Insertion, ...] = ()
    n_silent: int = 0
    n_unread: int = 0
    newest: int = -1

    def has(self, index: Index, reference: int) -> bool:
        """Whether the reference stands verbatim in an original message."""
        places = index.places[reference]
        if not self.whole.isdisjoint(places):
            return True
        return bool(self.parts) and any(
            reference in index.blocks[m][b] for m in places for b in self.parts.get(m, ()) if b < len(index.blocks[m])
        )

    @property
    def missing(self) -> str:
        """The state of what stands nowhere: gone, or open where a summary without text may hold it."""
        return OPEN if self.n_silent else GONE

    def has_block(self, message: int, block: int) -> bool:
        """Whether one block of an original message stands."""
        return message in self.whole or block in self.parts.get(message, ())

    @cached_property
    def put_back(self) -> tuple[str, ...]:
        """What was inserted that is no summary, ``flat``."""
        return tuple(flat(inserted.text) for inserted in self.inserted if not inserted.is_summary and inserted.text)

    @cached_property
    def named(self) -> dict[int, Insertion]:
        """By reference the first inserted text that names it, a summary before others."""
        found: dict[int, Insertion] = {}
        for inserted in sorted(self.inserted, key=lambda inserted: not inserted.is_summary):
            for reference in inserted.found:
                found.setdefault(reference, inserted)
        return found

    def mentions(self, reference: int) -> Insertion | None:
        """The first inserted text that names the reference, a summary before others."""
        return self.named.get(reference)


def flat(text: str) -> str:
    """A text in which a sentence is looked for, however it is broken into lines."""
    return " ".join(text.lower().split())


def standing(
    items: Sequence[Item],
    transcript: Transcript,
    index: Index,
    texts: Mapping[str, str],
    *,
    sources: Sequence[Item] = (),
    known: Known | None = None,
) -> Standing:
    """What stands in a list; ``texts`` by id of inserted items, ``sources`` the list before, for what was put back."""
    whole: set[int] = set()
    parts: dict[int, frozenset[int]] = {}
    inserted: list[Insertion] = []
    n_silent, n_unread, newest = 0, 0, -1
    for item in items:
        at = item.message.index
        product = index.products.get(at) if at >= 0 else None
        if item.inserted or product is not None:
            made = None if known is None or item.edited else known.get(item.id)
            made = made or _inserted(item, texts.get(item.id) or product or "", sources, index)
            if known is not None:
                known[item.id] = made
            n_silent += made.is_summary and not made.text
            n_unread += not made.is_summary and not made.text and not made.holds
            inserted.append(made)
            continue
        newest = at
        original = transcript.messages[at]
        if item.message is original or item.message.blocks == original.blocks:
            whole.add(at)
        else:
            parts[at] = _unchanged(item.message, original)
            if item.id in texts:
                inserted.append(Insertion(item.id, texts[item.id], False, index.mentioned_in(texts[item.id])))
    return Standing(frozenset(whole), parts, tuple(inserted), n_silent, n_unread, newest)


def _inserted(item: Item, text: str, sources: Sequence[Item], index: Index) -> Insertion:
    """An inserted item; one without text is known by its preview and by the originals it holds."""
    if text or item.message.summary:
        return Insertion(item.id, text, item.message.summary, index.mentioned_in(text))
    holds = attached(item, sources, index)
    found = index.found_in(item.message.preview).union(*(index.blocks[m][b] for m, b in holds))
    return Insertion(item.id, "", False, found, holds)


def _unchanged(edited: Message, original: Message) -> frozenset[int]:
    """Numbers of the original's blocks whose text the edit left as it was (media may be gone)."""
    waiting = list(enumerate(original.blocks))
    found: set[int] = set()
    for block in edited.blocks:
        same = next((k for k, (_, old) in enumerate(waiting) if old == block or _same_text(block, old)), None)
        if same is not None:
            found.add(waiting.pop(same)[0])
    return frozenset(found)


def _same_text(edited: Block, original: Block) -> bool:
    """Whether every text inside a block is still inside it."""
    if edited.kind is not original.kind or edited.n_chars != original.n_chars or not original.parts:
        return False
    left = [part for part in edited.parts if part.n_chars]
    return all(part in left for part in original.parts if part.n_chars and part.kind is Kind.TEXT)


_FILE = re.compile(r"^\[file read before the compaction: (?P<path>.+)\]$")
_RECENT = re.compile(r"^\[(?P<n>\d+) recent messages, as text\]$")


def attached(item: Item, sources: Sequence[Item], index: Index) -> frozenset[tuple[int, int]]:
    """The (message, block) of the originals, in the list before, whose content an inserted item holds whole."""
    originals = [source for source in sources if not source.inserted]
    recent = _RECENT.match(item.message.preview)
    if recent:
        rest = [source for source in originals if source.message.role is not Role.SYSTEM][-int(recent.group("n")) :]
        return frozenset((s.message.index, b) for s in rest for b in range(len(s.message.blocks)))
    named = _FILE.match(item.message.preview)
    return _file(named.group("path"), item.tokens, originals, index) if named else frozenset()


def _file(path: str, tokens: int, originals: Sequence[Item], index: Index) -> frozenset[tuple[int, int]]:
    """The newest result of reading a file, if as many tokens were put back as it weighs."""
    known = index.id_of(path)
    name = index.references[known].text if known is not None else path
    weights = {source.message.index: source.tokens for source in originals}
    reads = [one for key in {name, path} for one in index.reads.get(key, ())]
    for _, call in sorted(reads, key=itemgetter(0), reverse=True):
        if call.result and call.result[0] in weights:
            whole = len(index.blocks[call.result[0]]) == 1 and tokens >= weights[call.result[0]]
            return frozenset({call.result}) if whole or tokens > call.n_tokens else frozenset()
    return frozenset()
