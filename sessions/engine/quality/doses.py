"""What would have to be read again, and the dose of a dropped result (decision "What counts as lost")."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sessions.engine.costs.prices import PER_MILLION, Prices
from sessions.engine.quality.again_table import CHANCES, KINDS, N_CALLS, SHARES
from sessions.engine.quality.calls import ToolCall
from sessions.engine.quality.index import Index
from sessions.engine.quality.standing import OPEN, Standing
from sessions.engine.weigh.calibration.weighed import Weighed

CENT = 0.005
LEAST_SHARE = 0.001
BINS = ((0, 0), (1, 2), (3, 5), (6, None))
"""Doses told apart: from, to (None: or more)."""


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
        return Refetch(calls, sum(result_tokens(self.weighed, call) for call in calls), n_elsewhere)


def chance_words(kind: str) -> str:
    """How often a lost thing of a kind is used again, and one where nothing was compacted; "" where unknown."""
    if kind not in CHANCES:
        return ""
    lost, anyway = (f"{share:.1%}" if share >= LEAST_SHARE else "under 0.1%" for share in CHANCES[kind])
    return f"{lost} within 20 calls, {anyway} without a compaction"


class Later:
    """What the agent names in the calls after a point, and in what it says beside them."""

    def __init__(self, index: Index, calls: Sequence[ToolCall]) -> None:
        """``calls`` are the first after the point, in order."""
        self.index, self.calls = index, calls
        places = {(call.message, call.block) for call in calls}
        self.spoken = {
            reference
            for message in {call.message for call in calls}
            for number, block in enumerate(index.blocks[message])
            if (message, number) not in places
            for reference in block
        }
        self.called = Counter(r for call in calls for r in index.blocks[call.message][call.block])

    def uses(self, old: ToolCall, repeat: ToolCall | None) -> set[int]:
        """References of an old result that are named later, without its target and what only ``repeat`` says."""
        if old.result is None:
            return set()
        held = set(self.index.blocks[old.result[0]][old.result[1]]) - {self.index.id_of(old.key)}
        alone = set(self.index.blocks[repeat.message][repeat.block]) if repeat else set()
        return {r for r in held if r in self.spoken or self.called[r] > (r in alone)}


@dataclass(frozen=True, slots=True)
class Likely:
    """Dropped results with something in them that is lost and used within the next 20 calls, ``calls`` newest first.

    ``share`` of such results were fetched again in the recordings of ``again_table``, ``anyway`` where nothing was
    dropped, both from 0 to 1; ``tokens`` is what all of them weigh.
    """

    calls: tuple[ToolCall, ...] = ()
    share: float = 0.0
    anyway: float = 0.0
    tokens: int = 0

    @property
    def n(self) -> int:
        """How many results."""
        return len(self.calls)

    def dollars(self, prices: Prices | None) -> float | None:
        """What it costs to send all of them once more as input; None without a price, or where there are none."""
        return None if prices is None or not self.calls else self.tokens * prices.input / PER_MILLION

    def words(self, prices: Prices | None) -> str:
        """One sentence, "" where there are none."""
        if not self.calls:
            return ""
        what = "1 dropped file read" if self.n == 1 else f"{self.n:,} dropped file reads"
        usd = self.dollars(prices)
        cost = "" if usd is None else f", ${usd:,.2f}" if usd >= CENT else ", under 1 cent"
        return (
            f"{what} may be re-read ({self.share:.0%}; {self.anyway:.0%} would be anyway), "
            f"about {self.tokens:,} tokens{cost}"
        )


NOTHING = Likely()


class Doses:
    """Finds the dropped results of an event, and their doses.  Made once per session."""

    def __init__(self, index: Index, results: Results) -> None:
        """``results`` finds calls by where their result stands."""
        self.index, self.results = index, results
        self._at = [call.message for call in index.calls]
        self._fetches: dict[tuple[str, str], list[ToolCall]] = {}
        for call in index.calls:
            if call.result and call.key and call.verb in KINDS:
                self._fetches.setdefault((call.verb, call.key), []).append(call)

    def likely(self, before: Standing, after: Standing) -> Likely:
        """Which dropped results may be fetched again; nothing where that depends on a summary without text."""
        if after.missing == OPEN:
            return NOTHING
        first = bisect_right(self._at, before.newest)
        later = Later(self.index, self.index.calls[first : first + N_CALLS])
        warned = []
        for call in self._dropped(before, after):
            lost = [r for r in later.uses(call, None) if not after.has(self.index, r) and not after.mentions(r)]
            if lost:
                warned.append((call, SHARES[call.verb][bin_of(len(lost))]))
        return likely_of(warned, self.results)

    def _dropped(self, before: Standing, after: Standing) -> Iterator[ToolCall]:
        """The newest fetch of each target in the list, where its result left it and was not put back."""
        newest_of: dict[tuple[str, str], ToolCall | None] = {}
        for message in (before.whole | before.parts.keys()) - after.whole:
            for block, call in self.results.by_message.get(message, ()):
                if call.verb not in KINDS or not before.has_block(message, block) or after.has_block(message, block):
                    continue
                key = call.verb, call.key
                if key not in newest_of:
                    same = reversed(self._fetches.get(key, ()))
                    newest_of[key] = next((c for c in same if c.result and before.has_block(*c.result)), None)
                if newest_of[key] == call and not is_put_back(call, after, self.index):
                    yield call


def is_put_back(call: ToolCall, after: Standing, index: Index) -> bool:
    """Whether the compaction put the result back, or something under the name of its target."""
    if any(call.result in inserted.holds for inserted in after.inserted):
        return True
    target = index.id_of(call.key)
    return target is not None and any(target in i.found and not i.is_summary for i in after.inserted)


def bin_of(dose: int) -> int:
    """The number of the dose in ``BINS``."""
    return next(k for k, (low, high) in enumerate(BINS) if low <= dose and (high is None or dose <= high))


def likely_of(warned: Iterable[tuple[ToolCall, tuple[float, float]]], results: Results) -> Likely:
    """Results with their (share, share anyway) as one: the mean of the shares, the sum of the tokens."""
    found = sorted(warned, key=lambda pair: pair[0].message, reverse=True)
    n = len(found)
    if not n:
        return NOTHING
    share, anyway = (sum(pair[1][side] for pair in found) / n for side in (0, 1))
    calls = tuple(call for call, _ in found)
    return Likely(calls, share, anyway, sum(result_tokens(results.weighed, call) for call in calls))
