"""What a policy put back without saying its text: recognised by the words it leaves, and found in the before list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from sessions.engine.policies.policy import Item
from sessions.engine.transcript.types import Role

if TYPE_CHECKING:
    from sessions.engine.quality.index import Index

_FILE = re.compile(r"^\[file read before the compaction: (?P<path>.+)\]$")
_RECENT = re.compile(r"^\[(?P<n>\d+) recent messages, as text\]$")


def attached(item: Item, sources: Sequence[Item], index: Index) -> frozenset[tuple[int, int]]:
    """The (message, block) of the originals whose content an inserted item holds; empty where that is not known.

    ``sources`` is the before list.  A file that was put back cut holds an unknown part of its result: nothing here.
    """
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
