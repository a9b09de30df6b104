"""A transcript with what every message and every context of it weighs: a plain value (replay-semantics 1, 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from sessions.engine.agents.agent import writer_of
from sessions.engine.base.session_cache import SessionCache
from sessions.engine.models.model_info import UNKNOWN_WINDOW, ModelInfo
from sessions.engine.transcript.types import Block, Kind, Label, Message, Transcript
from sessions.engine.weigh.calibration.context_windows import ModelWindow, window_of, windows_at_steps
from sessions.engine.weigh.calibration.growth import Step
from sessions.engine.weigh.calibration.scale import Scale
from sessions.engine.weigh.calibration.series import Known, RecordedSeries, left_out, recorded_series, weak_label
from sessions.engine.weigh.calibration.stays import Stays, Way
from sessions.engine.weigh.calibration.weights import Own, estimate_by_kind, fill, is_hidden_thinking, media_tokens

DEFAULT_WINDOW = UNKNOWN_WINDOW
SUMMARY = "summary"


@dataclass(frozen=True, eq=False)
class Weighed:
    """A transcript with the weight of every message and of every request's context.

    ``tokens[i]`` and ``labels[i]`` are of message i; ``estimated[k]`` is the context of request k by estimate alone,
    None off the selected branch; ``flagged`` holds requests whose usage jumps beyond what its content can explain.
    ``history`` is what the first context held of a conversation before the file, 0 where it begins with it. ``hidden``
    are tokens that the client added by request and did not record, ``shifts`` those by which a measured context left
    its estimate for good; both are in ``estimated``, and the share that no line tells of.  ``way`` is what of a reply
    stays in the context. ``scale`` makes tokens of content, ``n_growths`` is on how many growths it rests; ``others``
    is by index what weighs messages that came under another model. ``known`` are window and series where they were
    worked out before.  All token figures are whole numbers.  Nobody writes into one: what others work out of it is in
    its ``cache``.  It is equal to itself alone.
    """

    transcript: Transcript
    model: ModelInfo
    tokens: tuple[int, ...]
    labels: tuple[Label, ...]
    thinking: tuple[int, ...]
    scale: Scale
    ratio_label: Label
    n_growths: int
    overhead: int
    overhead_label: Label
    steps: Sequence[Step]
    estimated: tuple[int | None, ...]
    flagged: frozenset[int]
    warnings: tuple[str, ...]
    history: int = 0
    hidden: Mapping[int, int] = field(default_factory=dict)
    shifts: Mapping[int, int] = field(default_factory=dict)
    way: Way = field(default_factory=lambda: Way(Stays.TURN))
    others: Mapping[int, Own] = field(default_factory=dict)
    known: tuple[ModelWindow, RecordedSeries] | None = None
    cache: SessionCache = field(default_factory=SessionCache, init=False, repr=False)

    @property
    def ratio(self) -> float:
        """Provider tokens per tiktoken token of text."""
        return self.scale.ratio

    @property
    def wrapper(self) -> int:
        """Tokens of a tool result beside its content."""
        return self.scale.wrapper

    @property
    def total_tokens(self) -> int:
        """Sum of all messages' tokens, without overhead."""
        return sum(self.tokens)

    @property
    def total_label(self) -> Label:
        """The weakest label among the messages; measured for an empty session."""
        for label in (Label.ESTIMATED, Label.CALIBRATED):
            if label in self.labels:
                return Label.CALIBRATED if self.ratio_label is Label.CALIBRATED else label
        return Label.MEASURED

    @cached_property
    def weak_label(self) -> Label:
        """What a context that the recording does not measure is called."""
        return weak_label(self.transcript)

    @cached_property
    def window(self) -> int:
        """Context window in tokens, by the ranking of ``held``."""
        return self.holds.window

    @cached_property
    def window_source(self) -> str:
        """Where ``window`` comes from: one of the sources of ``held``."""
        return self.holds.source

    @cached_property
    def holds(self) -> ModelWindow:
        """The model and the window of the session as a whole."""
        return self.known[0] if self.known else window_of(self.transcript, "", self.flagged)

    @cached_property
    def places(self) -> dict[int, int]:
        """The step of every request on the selected branch."""
        return {step.request: k for k, step in enumerate(self.steps)}

    @cached_property
    def held(self) -> tuple[ModelWindow, ...]:
        """The model and the window at every step's request: a change of model counts from there on."""
        return windows_at_steps(self.transcript, self.steps, self.flagged)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The model that every step's request names, "" where it names none."""
        return tuple(self.transcript.requests[step.request].model for step in self.steps)

    @cached_property
    def guessed(self) -> tuple[bool, ...]:
        """By step: the usage does not say what the reply had, for there is none or it is a placeholder."""
        usages = (self.transcript.requests[step.request].usage for step in self.steps)
        return tuple(usage is None or usage.placeholder for usage in usages)

    @cached_property
    def models(self) -> tuple[ModelInfo, ...]:
        """The model that every message came under: that of the request it was first sent with."""
        found = [self.model] * len(self.transcript.messages)
        for step, held in zip(self.steps, self.held, strict=True):
            found[step.start : step.stop] = [held.model] * (step.stop - step.start)
        return tuple(found)

    @cached_property
    def recorded(self) -> RecordedSeries:
        """The recorded context as a series, and what each step of it weighs."""
        if self.known:
            return self.known[1]
        known = Known(
            self.estimated, self.flagged, self.overhead, self.history, self.tokens, self.thinking, self.way.thinking,
            self.shifts, self.content_tokens,
        )  # fmt: skip
        return recorded_series(self.transcript, self.steps, known)

    @property
    def own_window(self) -> int:
        """The window as its agent takes and records it: what it uses of the model's."""
        return writer_of(self.transcript).own_window(self.window)

    @cached_property
    def left_out(self) -> frozenset[int]:
        """Indices of the messages that a full replay leaves out: what a recorded compaction made."""
        return left_out(self.transcript)

    @cached_property
    def produced(self) -> tuple[tuple[int, int | None, bool], ...]:
        """Messages that a recorded compaction made, or that are summaries: index, compaction or None, is a summary."""
        messages = self.transcript.messages
        return tuple((m.index, m.compaction, m.summary) for m in messages if m.compaction is not None or m.summary)

    @cached_property
    def kind_sums(self) -> dict[str, list[int]]:
        """Tokens of the first n messages by kind of block, for every n; what a compaction made weighs nothing here."""
        n = len(self.transcript.messages)
        found: dict[str, list[int]] = {}
        for message in self.transcript.messages:
            shares = {} if message.index in self.left_out else self.block_tokens(message)
            for kind, tokens in shares.items():
                sums = found.get(str(kind))
                if sums is None:
                    sums = found[str(kind)] = [0] * (n + 1)
                sums[message.index + 1] += tokens
        return {kind: list(accumulate(each)) for kind, each in found.items()}

    @cached_property
    def target_uses(self) -> dict[str, list[tuple[int, str]]]:
        """For every file path or command: the tool calls that name it, as (message index, tool name), in order."""
        uses: dict[str, list[tuple[int, str]]] = {}
        for message in self.transcript.messages:
            for block in message.blocks:
                if block.kind is Kind.TOOL_USE and block.target:
                    uses.setdefault(block.target, []).append((message.index, block.name))
        return uses

    @cached_property
    def repeated_calls(self) -> frozenset[str]:
        """Call ids that more than one call of the session has."""
        seen = Counter(b.call_id for m in self.transcript.messages for b in m.blocks if b.kind is Kind.TOOL_USE)
        return frozenset(call_id for call_id, n in seen.items() if n > 1)

    def own_rules(self, index: int) -> tuple[Scale, ModelInfo]:
        """The scale and the model that the message at ``index`` weighs by; the session's own for one that is none."""
        own = self.others.get(index)
        return (own.scale, own.model) if own else (self.scale, self.model)

    def image_tokens(self, block: Block) -> int:
        """Tokens of an image or document by the provider's rule, never scaled; 0 for other blocks."""
        return media_tokens(block, self.model)

    def content_tokens(self, block: Block) -> int:
        """Tokens of what a block holds: its texts by the scale, its images and documents by rule."""
        leaves = list(block.leaves())
        texts = [self.scale.tokens_of(leaf) for leaf in leaves if leaf.n_tokens or leaf.n_payload]
        return round(sum(texts)) + sum([self.image_tokens(leaf) for leaf in leaves])

    def framing_tokens(self, block: Block) -> int:
        """Tokens of a call or a result beside what it holds: ids, wrappers, the frames of its images."""
        if block.kind is Kind.TOOL_USE:
            return round(self.scale.prior.call)
        if block.kind is not Kind.TOOL_RESULT:
            return 0
        return self.scale.wrapper + self.scale.frame * sum(leaf.kind is Kind.IMAGE for leaf in block.leaves())

    def overcount(self, block: Block) -> float | None:
        """Wire bytes of an image over its tokens (replay-semantics 1); None for other blocks and linked images."""
        media = block.media
        if block.kind is not Kind.IMAGE or media is None or not media.n_base64:
            return None
        tokens = self.image_tokens(block)
        return (media.n_base64 + len(media.media_type.encode())) / tokens if tokens else None

    def worst_overcount(self, message: Message) -> float | None:
        """The largest over-count factor among a message's images, None where it has none."""
        factors = [f for leaf in message.leaves() if (f := self.overcount(leaf)) is not None]
        return max(factors, default=None)

    def block_tokens(self, message: Message) -> dict[str, int]:
        """Tokens of a message by block kind (``summary`` for a compaction's summary); they add up to its tokens.

        A reply's recorded output is shared out by each kind's estimate; what the estimates leave over is thinking
        where the reply has a signed thinking block whose text is hidden.
        """
        total = self.tokens[message.index]
        if message.summary:
            return {SUMMARY: total}
        shares = estimate_by_kind(message, *self.own_rules(message.index))
        hidden = total - sum(shares.values())
        if hidden > 0 and any(is_hidden_thinking(b) for b in message.blocks):
            shares[Kind.THINKING] = shares.get(Kind.THINKING, 0) + hidden
        return fill(shares, total)
