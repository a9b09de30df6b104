"""One session's figures as its pages need them: worked out once and kept, for this process and every other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from sessions import selectors
from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.session_cache import Remembered
from sessions.engine.packing.columns import Classes
from sessions.engine.policies.policy import Gate
from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.engine.transcript.parts import Parts
from sessions.engine.transcript.types import Kind, Label, Message
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import message_sizes
from sessions.engine.why.aftermath import Aftermath, Again, aftermaths
from sessions.engine.why.document import OVER_COUNT, VERDICTS
from sessions.engine.why.headline import headline
from sessions.engine.why.largest import Peak, peak_of
from sessions.engine.why.overcount import OverCount, over_count
from sessions.engine.why.recorded import AfterList, ComparedCompaction, Comparison, ConsistentThresholds, compare
from sessions.engine.why.verdicts import Verdict, verdicts_of
from sessions.runs.stored import keep_weighed, stored_of

T = TypeVar("T")
KEPT = 12
IN_PART = 1_024
STORED_AS = ("session", "why")
"""Names under which its values are kept: a page reads those that it needs at once."""
LARGE_TOKENS = 5_000
COMPARISON = (Comparison, ComparedCompaction, AfterList, ConsistentThresholds, Gate)
KINDS = ("tool_result", "tool_use", "text", "thinking", "summary", "document", "image", "opaque")
"""From the calmest to the rarest, as charts stack them."""
DEFAULT_BYTES_PER_TOKEN = 4.0


@dataclass(frozen=True, slots=True)
class Share:
    """One kind's part of the session: percentages of all tokens and of all bytes; ``hot`` where bytes run far ahead."""

    kind: str
    tokens: float
    n_bytes: float
    hot: bool


@dataclass(frozen=True)
class Overview:
    """Arrays over a session's messages, made when first asked for; kept under ``session_id``, "" for nowhere."""

    weighed: Weighed
    session_id: str = ""
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def kinds(self) -> Sequence[dict[str, int]]:
        """Tokens of every message by kind."""
        shapes, places, counts = self.kept("kinds", self._kinds)
        starts = tuple(accumulate((len(shapes[place]) for place in places), initial=0))

        def read(part: int) -> tuple[dict[str, int], ...]:
            here = range(part * IN_PART, min(len(places), (part + 1) * IN_PART))
            return tuple(dict(zip(shapes[places[i]], counts[starts[i] : starts[i + 1]], strict=True)) for i in here)

        return Parts(len(places), IN_PART, read)

    def _kinds(self) -> tuple[tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...]]:
        """The shapes that occur, that of every message, and the tokens of all messages behind each other."""
        shapes: dict[tuple[str, ...], int] = {}
        places: list[int] = []
        counts: list[int] = []
        for message in self.messages:
            tokens = self.weighed.block_tokens(message)
            places.append(shapes.setdefault(tuple(map(str, tokens)), len(shapes)))
            counts += tokens.values()
        return tuple(shapes), tuple(places), tuple(counts)

    @cached_property
    def n_bytes(self) -> tuple[int, ...]:
        """Transcript bytes of every message."""
        wire = registry.get("estimators", "wire_bytes")
        return self.kept("bytes", lambda: tuple(message_sizes(self.weighed, wire)))

    @cached_property
    def factors(self) -> tuple[float | None, ...]:
        """The worst over-count of a block of every message, None where nothing is over-counted."""
        wire = registry.get("estimators", "wire_bytes")
        return self.kept("factors", lambda: tuple(_factor(message, self.weighed, wire) for message in self.messages))

    @cached_property
    def contexts(self) -> dict[int, tuple[int, int, Label]]:
        """The (request, tokens, label) that a message is the reply to, by its number."""
        at, requests = self.kept("replies", self._replies)
        series = self.weighed.recorded
        return dict(zip(at, zip(requests, series.context, series.labels, strict=True), strict=True))

    @cached_property
    def recorded(self) -> tuple[int | None, ...]:
        """The recorded context of every request in tokens, None where no message is shown as its reply."""
        at, requests = self.kept("replies", self._replies)
        context = self.weighed.recorded.context
        found: list[int | None] = [None] * len(self.weighed.transcript.requests)
        for k in dict(zip(at, range(len(at)), strict=True)).values():
            found[requests[k]] = context[k]
        return tuple(found)

    def _replies(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """By step: the message that is the reply, and the request."""
        requests, steps = self.weighed.transcript.requests, self.weighed.steps
        replies = ((step, requests[step.request].message) for step in steps)
        at = tuple(step.stop if reply is None else reply for step, reply in replies)
        return at, tuple(step.request for step in steps)

    @cached_property
    def pairs(self) -> str:
        """A letter for every message: "a" for a call that the next one answers, "b" for that answer, else a blank."""
        return self.kept("pairs", lambda: _pairs(self.messages))

    @property
    def messages(self) -> Sequence[Message]:
        return self.weighed.transcript.messages

    @cached_property
    def bytes_label(self) -> str:
        """What its bytes are: "transcript", or "wire" where the file is a capture."""
        return bytes_label(self.weighed.transcript.format)

    @property
    def tokens_label(self) -> str:
        """How sums of its tokens are known."""
        return str(self.weighed.total_label)

    @cached_property
    def per_token(self) -> float:
        """Bytes per token of this session's text: messages without images, documents or opaque blocks."""
        return self.kept("per token", lambda: bytes_per_token(self.kinds, self.n_bytes))

    @cached_property
    def full_weight(self) -> int:
        """Tokens that fill a weight bar: the 95th percentile, at least 1."""

        def made() -> int:
            ordered = sorted(self.weighed.tokens)
            return max(ordered[int(0.95 * (len(ordered) - 1))] if ordered else 1, 1)

        return self.kept("full weight", made)

    @cached_property
    def worst(self) -> int | None:
        """The message with the largest factor of those that are over-counted."""
        return max(self.only["overcount"], key=lambda i: self.factors[i] or 0, default=None)

    @cached_property
    def n_images(self) -> int:
        return self.kept("images", lambda: self.weighed.transcript.n_images)

    @cached_property
    def tools(self) -> dict[str, str]:
        return self.kept("tools", lambda: tool_names(self.messages))

    @cached_property
    def only(self) -> dict[str, tuple[int, ...]]:
        """Message indices of each filter of the list."""
        tokens = self.weighed.tokens
        over = tuple(i for i, factor in enumerate(self.factors) if factor is not None and factor >= OVERCOUNTED)
        return {"overcount": over, "large": tuple(i for i, n in enumerate(tokens) if n > LARGE_TOKENS)}

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """Legend and composition: kinds that occur, the widest share first."""
        return self.kept("shares", self._shares, (Share,))

    def _shares(self) -> tuple[Share, ...]:
        tokens, sizes = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        for kinds, message in zip(self.kinds, self.messages, strict=True):
            for kind, count in kinds.items():
                tokens[kind] += count
            for kind, count in _bytes_by_kind(message, self.weighed).items():
                sizes[kind] += count
        all_tokens, all_bytes = sum(tokens.values()) or 1, sum(sizes.values()) or 1
        found = [(kind, 100 * tokens[kind] / all_tokens, 100 * sizes[kind] / all_bytes) for kind in KINDS]
        found = [share for share in found if tokens[share[0]] or sizes[share[0]]]
        found.sort(key=lambda share: -max(share[1], share[2]))
        media = ("image", "document")
        return tuple(Share(k, t, b, hot=k in media and b > 10 and b > 5 * t) for k, t, b in found)

    @cached_property
    def context_label(self) -> str:
        """How the contexts are known, in words for the figure."""
        labels = [label for _, _, label in self.contexts.values()]
        measured = sum(label is Label.MEASURED for label in labels)
        if not labels or measured == len(labels):
            return str(Label.MEASURED) if labels else "none recorded"
        other = next(label for label in labels if label is not Label.MEASURED)
        return f"{measured} of {len(labels)} measured, the rest {other}" if measured else str(other)

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """The byte measures of the chart, each with its words; a transcript's own bytes are not those of the wire."""
        return ("wire_bytes", f"{self.bytes_label} bytes"), ("pressure_bytes", "adjusted bytes")

    def measured(self, measure: str) -> tuple[Sequence[int], Sequence[float | None]]:
        """Sizes and over-count factors under a byte measure."""
        if measure == "wire_bytes":
            return self.n_bytes, self.factors
        estimator = registry.get("estimators", measure)
        sizes = message_sizes(self.weighed, estimator)
        return sizes, [_factor(message, self.weighed, estimator) for message in self.messages]

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Why it compacted: one for every recorded, refused or missing compaction."""
        return self.kept("verdicts", lambda: verdicts_of(self.weighed), VERDICTS)

    @cached_property
    def peak(self) -> Peak | None:
        """The largest context."""
        index, tokens, label = self.kept("peak", self._peak)
        return Peak(index, tokens, Label(label)) if tokens else None

    def _peak(self) -> tuple[int, int, str]:
        found = peak_of(self.weighed)
        return (0, 0, "") if found is None else (found.request, found.tokens, str(found.label))

    @cached_property
    def headline(self) -> str:
        return self.kept("headline", lambda: headline(self.weighed, self.verdicts))

    @cached_property
    def gates(self) -> OverCount:
        return self.kept("gates", lambda: over_count(self.weighed), OVER_COUNT, on="why")

    @cached_property
    def aftermaths(self) -> tuple[Aftermath, ...]:
        return self.kept("aftermath", lambda: aftermaths(self.weighed), (Aftermath, Again), on="why")

    @cached_property
    def comparison(self) -> Comparison | None:
        """Its recorded compactions beside the client's own policy; None where none is recorded, or none is known."""
        return self.kept("comparison", self._comparison, COMPARISON, on="why")

    def _comparison(self) -> Comparison | None:
        try:
            return compare(self.weighed, calibrate=True) if self.weighed.transcript.compactions else None
        except BadParameter:
            return None

    def kept(self, name: str, make: Callable[[], T], classes: Classes = (), on: str = "session") -> T:
        """What any process works out once, stored as ``on``; ``classes`` are those that the value is made of."""
        stored = self.once(f"stored {on}", lambda: stored_of(self.session_id, self.weighed, on))
        return stored.value(name, make, classes)

    def keep(self) -> None:
        """Keep what this process had to work out itself; called when a page has everything that it shows."""
        if self.session_id:
            keep_weighed(self.session_id, self.weighed)
        for name in STORED_AS:
            if (found := self._made.get(f"stored {name}")) is not None:
                found.keep()

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What a page makes of these figures, made when it is first asked for and kept beside them."""
        if name not in self._made:
            self._made[name] = make()
        found: T = self._made[name]
        return found


OVERVIEW: Remembered[Overview] = Remembered("overview", KEPT)


def overview(session_id: str) -> Overview:
    """The figures of a session, while it is held."""
    weighed = selectors.load_weighed(session_id)
    return weighed.cache.value(OVERVIEW, lambda: Overview(weighed, session_id))


def _factor(message: Message, weighed: Weighed, estimator: object) -> float | None:
    """The worst over-count of a message's images; wire bytes by the engine's own rule."""
    if getattr(estimator, "name", "") == "wire_bytes":
        return weighed.worst_overcount(message)
    factors = [
        estimator.size(leaf, weighed.model) / tokens  # type: ignore[attr-defined]
        for leaf in message.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media and (tokens := weighed.image_tokens(leaf))
    ]
    return max(factors, default=None)


def _bytes_by_kind(message: Message, weighed: Weighed) -> dict[str, int]:
    """Wire bytes by kind: an image inside a tool result is an image, everything of a summary is summary."""
    estimator = registry.get("estimators", "wire_bytes")
    found: dict[str, int] = {}
    for block in message.blocks:
        whole = estimator.size(block, weighed.model)
        for part in block.parts:
            if part.kind in (Kind.IMAGE, Kind.DOCUMENT):
                size = estimator.size(part, weighed.model)
                found[part.kind] = found.get(part.kind, 0) + size
                whole -= size
        kind = "summary" if message.summary else str(block.kind)
        found[kind] = found.get(kind, 0) + whole
    return found


def _pairs(messages: Sequence[Message]) -> str:
    marks = [" "] * len(messages)
    for i, (before, message) in enumerate(pairwise(messages)):
        if before.call_ids() & message.result_ids():
            marks[i], marks[i + 1] = "a", "b"
    return "".join(marks)


def called(message: Message, tools: dict[str, str]) -> str:
    """What an over-counted message is called: a screenshot where the tool that made it says so."""
    kinds = {leaf.kind for leaf in message.leaves()}
    if Kind.IMAGE in kinds:
        names = " ".join(tools.get(call, "") for call in message.result_ids()).lower()
        return "screenshot" if "screenshot" in names else "image"
    return "document" if Kind.DOCUMENT in kinds else "message"


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Name and target of every tool call by its id."""
    return {
        block.call_id: f"{block.name} {block.target}".strip()
        for message in messages
        for block in message.blocks
        if block.kind is Kind.TOOL_USE and block.call_id
    }


def kinds_of(message: Message) -> tuple[str, ...]:
    """The kinds of a message in order of appearance, those inside tool results included; a summary is a summary."""
    if message.summary:
        return ("summary",)
    inner = [leaf.kind for leaf in message.leaves()]
    nested = {part.kind for block in message.blocks for part in block.parts if part.kind is Kind.TEXT}
    own = {block.kind for block in message.blocks}
    return tuple(dict.fromkeys(str(kind) for kind in inner if kind in own or kind not in nested))


def bytes_per_token(kinds: Sequence[Mapping[str, int]], sizes: Sequence[int]) -> float:
    """This session's bytes per token of text, from its messages without media; 4 where it has none."""
    media = {Kind.IMAGE, Kind.DOCUMENT, Kind.OPAQUE}
    texts = [(size, sum(held.values())) for held, size in zip(kinds, sizes, strict=True) if not media & set(held)]
    n_bytes = sum(size for size, tokens in texts if tokens > 0)
    n_tokens = sum(tokens for _, tokens in texts if tokens > 0)
    return n_bytes / n_tokens if n_tokens and n_bytes else DEFAULT_BYTES_PER_TOKEN


def bytes_label(format_name: str) -> str:
    """What a format's bytes are: "wire" where its files are captures of the wire, else "transcript"."""
    return "wire" if getattr(registry.plugins("formats").get(format_name), "is_wire", False) else "transcript"
