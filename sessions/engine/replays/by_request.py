"""What a replay says of every request: columns that make a row when it is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.outputs import outputs


class SentRequest(NamedTuple):
    """One request as sent in the replay, what the cost model needs.

    ``tokens`` is the context in display tokens, ``cached`` the longest common prefix with the request before it as
    sent: what a cache may hold.  ``output`` is the reply as it was, ``written`` its tokens as the transcript has them
    (a streaming placeholder too), None where it has none.  ``timestamp`` is in seconds, None where not recorded.
    """

    request: int
    tokens: int
    cached: int
    output: int
    timestamp: float | None
    written: int | None = None


class SentRequests(Sequence[SentRequest]):
    """Every request of the branch as sent, from two columns of display tokens; the rest is the recording's."""

    def __init__(self, weighed: Weighed, tokens: list[int], cached: list[int]) -> None:
        self.weighed, self.tokens, self.cached = weighed, tokens, cached

    def copy(self) -> SentRequests:
        """The same, to which nothing is added any more."""
        return SentRequests(self.weighed, list(self.tokens), list(self.cached))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.tokens)

    @overload
    def __getitem__(self, index: int) -> SentRequest: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SentRequest, ...]: ...
    def __getitem__(self, index: int | slice) -> SentRequest | tuple[SentRequest, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        k = range(len(self))[index]
        request = self.weighed.transcript.requests[self.weighed.steps[k].request]
        written = request.usage.output if request.usage else None
        output = outputs(self.weighed)[k]
        return SentRequest(request.index, self.tokens[k], self.cached[k], output, request.timestamp, written)


def sent_tokens(sent: Sequence[SentRequest]) -> tuple[Sequence[int], Sequence[int]]:
    """The contexts sent and what a cache may hold of them, in display tokens, by step."""
    if isinstance(sent, SentRequests):
        return sent.tokens, sent.cached
    return [one.tokens for one in sent], [one.cached for one in sent]
