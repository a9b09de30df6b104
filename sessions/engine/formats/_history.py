"""A session whose replies may share a response id, and whose compactions take single messages out of the context."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sessions.engine.formats._assembly import Assembly
from sessions.engine.types import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.formats import Measured
    from sessions.engine.types import Content, Origin, Usage


class History(Assembly):
    """One session in the making: ``gone`` are the indices of messages that left the context.

    ``hidden`` are those that the file marks as out of it, for formats that mark them before the compaction shows.
    """

    def __init__(self, measure: Measured) -> None:
        super().__init__(measure)
        self.gone: set[int] = set()
        self.hidden: set[int] = set()
        self.by_id: dict[str, int] = {}
        self._responses: set[str] = set()
        self._run_open = False

    def reply(
        self,
        contents: Sequence[Content],
        origins: Sequence[Origin],
        *,
        response_id: str = "",
        usage: Usage | None = None,
        model: str = "",
        **facts: Any,
    ) -> int:
        """An assistant's message; its index.

        It makes a request, unless an earlier message has its response id or, without ids, is of the same run
        (replay-semantics 1).
        """
        same_run = self.follows_reply() and self._run_open and not response_id
        index = self.add(Role.ASSISTANT, contents, origins, **facts)
        if not same_run and (not response_id or response_id not in self._responses):
            self.request(index, usage, response_id=response_id, model=model)
        else:
            self._extend(index, response_id)
        self._responses.add(response_id)
        self._run_open = not response_id
        return index

    def _extend(self, index: int, response_id: str) -> None:
        """Count the message as part of the newest reply where it follows it directly."""
        last = self.requests[-1]
        if last.response_id == response_id and last.message is not None and last.message + last.n_messages == index:
            self.requests[-1] = replace(last, n_messages=last.n_messages + 1)

    def remember(self, native_id: str, index: int) -> None:
        """Let ``forget`` find the message at ``index`` by its native id; the first of equal ids counts."""
        if native_id:
            self.by_id.setdefault(native_id, index)

    def forget(self, gone: Iterable[int], **facts: Any) -> int:
        """A recorded compaction that takes the messages ``gone`` out of the context; its index.

        What neither it nor an earlier one took stays; ``facts`` are other fields of RecordedCompaction.
        """
        place = len(self.messages)
        self.gone.update(gone)
        kept = tuple(index for index in range(place) if index not in self.gone)
        return self.compaction(preserved=kept, **facts)

    def next_request(self, compaction: int) -> None:
        """Let ``compaction`` come before the next request, though one was added since (the summary's own call)."""
        self.compactions[compaction] = replace(self.compactions[compaction], request=len(self.requests))

    def summary(self, contents: Sequence[Content], origins: Sequence[Origin], compaction: int, **facts: Any) -> int:
        """The summary that recorded compaction ``compaction`` made, a user's message; its index.

        An earlier summary that is still in the context leaves it.
        """
        earlier = [m.index for m in self.messages if m.summary and m.index not in self.gone]
        self.gone.update(earlier)
        index = self.add(
            Role.USER, contents, origins, **{"typed": False, "summary": True, "compaction": compaction, **facts}
        )
        made = self.compactions[compaction]
        kept = tuple(i for i in made.preserved if i not in self.gone)
        self.compactions[compaction] = replace(made, message=index, preserved=kept)
        return index
