"""What would have to be read again: the tool results that held what is gone and needed (the upper end of the cost)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.quality.calls import ToolCall
    from sessions.engine.quality.index import Index


@dataclass(frozen=True, slots=True)
class Refetch:
    """The estimate for one event.

    ``calls`` are those whose results would be read again, newest first, ``tokens`` what they weigh by the session's
    scale; ``n_elsewhere`` counts gone needs that no tool result held (said by the user or the agent): to be asked for.
    """

    calls: tuple[ToolCall, ...]
    tokens: int
    n_elsewhere: int


def result_tokens(weighed: Weighed, call: ToolCall) -> int:
    """Tokens of a call's result, its framing included; 0 for a call without one."""
    if call.result is None:
        return 0
    message, block = call.result
    found = weighed.transcript.messages[message].blocks[block]
    return weighed.content_tokens(found) + weighed.framing_tokens(found)


class Results:
    """Finds the tool result that held a reference.  Made once per session."""

    def __init__(self, weighed: Weighed, index: Index) -> None:
        """``weighed`` says what a result weighs."""
        self.index, self.weighed = index, weighed
        self.by_message: dict[int, list[tuple[int, ToolCall]]] = {}
        for call in index.calls:
            if call.result:
                self.by_message.setdefault(call.result[0], []).append((call.result[1], call))

    def tokens(self, call: ToolCall) -> int:
        """Tokens of a call's result, its framing included."""
        return result_tokens(self.weighed, call)

    def holding(self, reference: int, newest: int) -> ToolCall | None:
        """The newest call up to message ``newest`` whose result held the reference."""
        places = self.index.places[reference]
        for at in range(bisect_right(places, newest) - 1, -1, -1):
            for block, call in self.by_message.get(places[at], ()):
                if reference in self.index.blocks[places[at]][block]:
                    return call
        return None

    def refetch(self, gone: Iterable[int], newest: int) -> Refetch:
        """Each gone reference is had from the newest result up to ``newest`` that held it; one may answer for many."""
        chosen: dict[tuple[int, int], ToolCall] = {}
        covered: set[int] = set()
        n_elsewhere = 0
        for reference in gone:
            if reference in covered:
                continue
            call = self.holding(reference, newest)
            if call and call.result:
                chosen[call.result] = call
                covered.update(self.index.blocks[call.result[0]][call.result[1]])
            else:
                n_elsewhere += 1
        calls = tuple(chosen[place] for place in sorted(chosen, reverse=True))
        return Refetch(calls, sum(self.tokens(call) for call in calls), n_elsewhere)
