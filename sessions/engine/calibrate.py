"""What every message and every context of a session weighs in tokens, and how that is known (replay-semantics 1, 3).

A reply weighs its recorded output.  Other text weighs tiktoken's count times one ratio, fitted on this session's clean
growths (estimators 7.2) or, where there are too few, the model family's prior; a tool result weighs its framing too.
Images weigh what the provider's rule says.  The overhead (system prompt, tools, what the harness hides) is what the
first request weighs beyond its messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.estimators._images import document_tokens, image_tokens
from sessions.engine.growth import Step, contexts, find_flagged, fit_ratio, n_results, steps_of, training_requests
from sessions.engine.model_info import ModelInfo, model_info
from sessions.engine.series import Recorded, left_out, recorded_series
from sessions.engine.sizes import message_size
from sessions.engine.types import Kind, Label, Role

if TYPE_CHECKING:
    from typing import Any

    from sessions.engine.policy import Item
    from sessions.engine.types import Block, Message, Request, Transcript

DEFAULT_WINDOW = 200_000
SUMMARY = "summary"


CLAUDE_WRAPPER = 12
"""Tokens of a tool result beside its content on Claude where they cannot be fitted (measured: mostly 10 to 16)."""


class Scale(NamedTuple):
    """How text becomes tokens: × ``ratio``, and ``wrapper`` tokens for every tool result."""

    ratio: float
    wrapper: int


@dataclass(frozen=True)
class Weighed:
    """A transcript with the weight of every message and of every request's context.

    ``tokens[i]`` and ``labels[i]`` are of message i; ``estimated[k]`` is the context of request k by estimate alone,
    None off the selected branch; ``flagged`` holds requests whose usage jumps beyond what its content can explain.
    ``ratio`` multiplies tiktoken's count of text, ``wrapper`` is what a tool result weighs beside its content.  All
    token figures are whole numbers.
    """

    transcript: Transcript
    model: ModelInfo
    tokens: tuple[int, ...]
    labels: tuple[Label, ...]
    thinking: tuple[int, ...]
    ratio: float
    wrapper: int
    ratio_label: Label
    n_growths: int
    overhead: int
    overhead_label: Label
    steps: tuple[Step, ...]
    estimated: tuple[int | None, ...]
    flagged: frozenset[int]
    warnings: tuple[str, ...]

    @property
    def scale(self) -> Scale:
        """How this session's text becomes tokens."""
        return Scale(self.ratio, self.wrapper)

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
    def window(self) -> int:
        """Context window in tokens: recorded, else the model's, else 200,000."""
        if self.transcript.window:
            return self.transcript.window
        if self.window_source == "model, long window":
            return self.model.long_window or self.model.window
        return self.model.window or DEFAULT_WINDOW

    @cached_property
    def window_source(self) -> str:
        """Where ``window`` comes from: "recorded", "model", "model, long window" or "default".

        Transcripts name a model without saying that its long window was asked for: a measured context that the plain
        window cannot hold shows it.
        """
        if self.transcript.window:
            return "recorded"
        if not self.model.known or not self.model.window:
            return "default"
        largest = max(
            (r.usage.context for r in self.transcript.requests if r.usage and r.index not in self.flagged), default=0
        )
        return "model, long window" if self.model.long_window and largest > self.model.window else "model"

    @cached_property
    def _size_cache(self) -> dict[str, list[int]]:
        return {}

    def sizes(self, estimator: Any) -> list[int]:
        """Size of every message by an estimator, in its unit; computed once per estimator."""
        if estimator.name not in self._size_cache:
            self._size_cache[estimator.name] = [
                message_size(m, estimator, self.model) for m in self.transcript.messages
            ]
        return self._size_cache[estimator.name]

    @cached_property
    def recorded(self) -> Recorded:
        """The recorded context as a series, and what each step of it weighs."""
        return recorded_series(self)

    @cached_property
    def left_out(self) -> frozenset[int]:
        """Indices of the messages that a full replay leaves out: what a recorded compaction made."""
        return left_out(self)

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
    def item_cache(self) -> dict[str, list[Item]]:
        """Items of all messages by the name of the estimator that sized them; filled by the replay."""
        return {}

    def measured(self, request: Request) -> int | None:
        """Provider-reported context of a request in tokens, None where not reported."""
        return request.usage.context if request.usage else None

    def image_tokens(self, block: Block) -> int:
        """Tokens of an image or document by the provider's rule, never scaled; 0 for other blocks."""
        return media_tokens(block, self.model)

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
        shares = _estimate_by_kind(message, self.scale, self.model)
        hidden = total - sum(shares.values())
        if hidden > 0 and any(_is_hidden_thinking(b) for b in message.blocks):
            shares[Kind.THINKING] = shares.get(Kind.THINKING, 0) + hidden
        return _fill(shares, total)


def media_tokens(block: Block, model: ModelInfo) -> int:
    """Tokens of an image or of a document without text, by the provider's rule; 0 for other blocks."""
    if block.media is None:
        return 0
    if block.kind is Kind.IMAGE:
        return image_tokens(block.media, model)
    return document_tokens(block.media, model) if block.kind is Kind.DOCUMENT and not block.n_tokens else 0


def weigh(transcript: Transcript, *, train_fraction: float = 1.0) -> Weighed:
    """Weigh a transcript, calibrated on the input-side usage of the first ``train_fraction`` of its requests.

    ``train_fraction`` is from 0 to 1 (replay-semantics 1: at least two requests with usage are used).
    """
    model = model_info(transcript.model)
    steps = steps_of(transcript)
    flagged = find_flagged(transcript, steps)
    training = training_requests(transcript, train_fraction) - flagged
    fitted = fit_ratio(transcript, steps, training)
    scale = Scale(fitted.ratio, fitted.wrapper) if fitted else prior_scale(model)
    ratio_label = Label.CALIBRATED if fitted else Label.ESTIMATED
    tokens, labels = _message_tokens(transcript, scale, ratio_label, model)
    thinking = tuple(_thinking_tokens(m, tokens[m.index], labels[m.index], scale, model) for m in transcript.messages)
    bodies = contexts(transcript, steps, tokens, thinking, keeps_thinking=model.keeps_thinking)
    overhead, overhead_label, warning = _overhead(transcript, bodies, training, scale.ratio)
    estimated = tuple(None if body is None else body + overhead for body in bodies)
    warnings = (*transcript.warnings, *([warning] if warning else []), *_model_warnings(model))
    n_growths = fitted.n_growths if fitted else 0
    return Weighed(
        transcript, model, tokens, labels, thinking, scale.ratio, scale.wrapper, ratio_label, n_growths,
        overhead, overhead_label, steps, estimated, flagged, warnings,
    )  # fmt: skip


def prior_scale(model: ModelInfo) -> Scale:
    """What is assumed where a session's own usage cannot say."""
    return Scale(model.text_prior, CLAUDE_WRAPPER if model.family == "claude" else 0)


def _message_tokens(
    transcript: Transcript, scale: Scale, ratio_label: Label, model: ModelInfo
) -> tuple[tuple[int, ...], tuple[Label, ...]]:
    """Tokens and label of every message: recorded output for replies, else text by ratio and images by rule."""
    outputs, parts = _recorded_outputs(transcript, scale, model)
    tokens: list[int] = []
    labels: list[Label] = []
    for message in transcript.messages:
        if message.index in outputs:
            tokens.append(outputs[message.index])
            labels.append(ratio_label if message.index in parts else Label.MEASURED)
            continue
        shares = _estimate_by_kind(message, scale, model)
        tokens.append(sum(shares.values()))
        only_media = bool(shares) and not any(leaf.n_tokens for leaf in message.leaves())
        labels.append(Label.ESTIMATED if only_media else ratio_label)
    return tuple(tokens), tuple(labels)


def _recorded_outputs(transcript: Transcript, scale: Scale, model: ModelInfo) -> tuple[dict[int, int], frozenset[int]]:
    """Recorded output by message, and the messages that hold only their share of one.

    A reply of several messages (Codex and Responses items) shares its output out by their estimates; what the
    estimates leave over is reasoning whose text is hidden, where the reply has such.
    """
    outputs: dict[int, int] = {}
    parts: set[int] = set()
    for request in transcript.requests:
        usage, first = request.usage, request.message
        if first is None or not usage or usage.placeholder or not usage.output:
            continue
        if request.n_messages == 1:
            outputs[first] = usage.output
            continue
        reply = transcript.messages[first : first + request.n_messages]
        shares = {str(m.index): sum(_estimate_by_kind(m, scale, model).values()) for m in reply}
        hidden = next((m for m in reply if m.blocks and all(_is_hidden_thinking(b) for b in m.blocks)), None)
        if hidden:
            shares[str(hidden.index)] += max(0, usage.output - sum(shares.values()))
        outputs |= {int(index): tokens for index, tokens in _fill(shares, usage.output).items()}
        parts |= {m.index for m in reply}
    return outputs, frozenset(parts)


def _is_hidden_thinking(block: Block) -> bool:
    return block.kind is Kind.THINKING and not block.n_chars


def _estimate_by_kind(message: Message, scale: Scale, model: ModelInfo) -> dict[str, int]:
    """Estimated tokens by kind: text × ratio (rounded once per kind), images and documents by rule.

    Text inside a tool result counts as tool_result, an image inside it as image; what a result weighs beside its
    content (ids, framing) is tool_result too.
    """
    raw: dict[str, int] = {}
    media: dict[str, int] = {}
    kind: str
    for block in message.blocks:
        for leaf in block.leaves():
            if leaf.kind is Kind.IMAGE or leaf.kind is Kind.DOCUMENT:
                media[leaf.kind] = media.get(leaf.kind, 0) + media_tokens(leaf, model)
            if leaf.n_tokens:
                kind = block.kind if leaf.kind is Kind.TEXT else leaf.kind
                raw[kind] = raw.get(kind, 0) + leaf.n_tokens
    shares = {kind: round(count * scale.ratio) for kind, count in raw.items()}
    if scale.wrapper and (results := n_results(message)):
        shares[Kind.TOOL_RESULT] = shares.get(Kind.TOOL_RESULT, 0) + scale.wrapper * results
    for kind, count in media.items():
        shares[kind] = shares.get(kind, 0) + count
    return shares


def message_estimate(message: Message, scale: Scale, model: ModelInfo) -> int:
    """What a message weighs by estimate alone, in tokens: its text by ratio, images and documents by rule."""
    return sum(_estimate_by_kind(message, scale, model).values())


def _fill(shares: dict[str, int], total: int) -> dict[str, int]:
    """Shares scaled so that they add up to ``total``; the largest takes the rounding."""
    whole = sum(shares.values())
    if not shares or whole == total:
        return shares or ({Kind.TEXT: total} if total else {})
    if whole == 0:
        return {next(iter(shares)): total}
    scaled = {kind: value * total // whole for kind, value in shares.items()}
    largest = max(scaled, key=lambda kind: scaled[kind])
    scaled[largest] += total - sum(scaled.values())
    return scaled


def _thinking_tokens(message: Message, tokens: int, label: Label, scale: Scale, model: ModelInfo) -> int:
    """Tokens of a reply's thinking: its text by ratio, or what the recorded output leaves over where it is hidden."""
    if message.role is not Role.ASSISTANT or not any(b.kind is Kind.THINKING for b in message.blocks):
        return 0
    shares = _estimate_by_kind(message, scale, model)
    others = sum(shares.values()) - shares.get(Kind.THINKING, 0)
    if all(b.kind is Kind.THINKING for b in message.blocks):
        return tokens
    if label is Label.MEASURED:
        return max(0, tokens - others)
    return shares.get(Kind.THINKING, 0)


def _overhead(
    transcript: Transcript, bodies: tuple[int | None, ...], training: frozenset[int], ratio: float
) -> tuple[int, Label, str]:
    """System prompt, tools and what the harness hides, in tokens: U of the first usage minus its messages, at least 0.

    Without usage: the system and tools that the file holds, else 0 with a warning (replay-semantics 3).
    """
    for request in transcript.requests:
        body = bodies[request.index]
        if request.index in training and request.usage and body is not None:
            return max(0, request.usage.context - body), Label.CALIBRATED, ""
    if transcript.system:
        return round(sum(b.n_tokens for b in transcript.system) * ratio), Label.ESTIMATED, ""
    warning = "no usage and no system prompt in the file: the overhead (system prompt, tools) is unknown, shown as 0"
    return 0, Label.ESTIMATED, warning


def _model_warnings(model: ModelInfo) -> tuple[str, ...]:
    return (model.note,) if model.note else ()
