"""The artifact trail: which files were read, written and created before an event, and which are named after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.quality.calls import READ, WRITE
from sessions.engine.quality.standing import MENTIONED, VERBATIM, Standing

if TYPE_CHECKING:
    from sessions.engine.quality.index import Index


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file: what was done to it ("read", "written" or "created"), where last, and its path's state after an event."""

    path: str
    done: str
    source_message: int
    state: str


def trail(index: Index, newest: int, after: Standing) -> tuple[Artifact, ...]:
    """Files of the tool calls up to message ``newest``, in the order first touched.

    Created: the first call that names it writes it; a file that is written after it was read is "written".
    """
    done: dict[str, str] = {}
    last: dict[str, int] = {}
    for call in index.calls:
        if call.message > newest or call.verb not in {READ, WRITE} or not call.key or " " in call.key:
            continue
        if call.verb == WRITE:
            done[call.key] = "written" if done.get(call.key, "created") in {"read", "written"} else "created"
        else:
            done.setdefault(call.key, "read")
        last[call.key] = call.message
    return tuple(Artifact(path, what, last[path], _state(index, path, after)) for path, what in done.items())


def _state(index: Index, path: str, after: Standing) -> str:
    known = index.id_of(path)
    if known is not None and after.has(index, known):
        return VERBATIM
    if known is not None and after.mentions(known):
        return MENTIONED
    return MENTIONED if any(path in inserted.text for inserted in after.inserted) else after.missing
