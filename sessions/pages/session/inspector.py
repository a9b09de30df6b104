"""One message taken apart: its sizes under every estimator, its blocks, its raw JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions.engine.base import registry
from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.tokens.estimators import _images
from sessions.engine.transcript.types import Block, Kind, Label, Media, Message
from sessions.engine.weigh.sizes import message_size
from sessions.pages.ui.addresses import media_url, small_url
from sessions.pages.ui.message import MessageFigures
from sessions.runs.overview import Overview, called

MOST_PICTURES = 12


@dataclass(frozen=True, slots=True)
class CounterRow:
    """What one estimator charges: ``factor`` against the reference tokens, None for the reference itself."""

    name: str
    label: str
    size: int
    unit: str
    factor: float | None

    @property
    def names_unit(self) -> bool:
        """Whether the label says already what is counted: "Adjusted bytes"."""
        return self.label.lower().endswith(self.unit)


@dataclass(frozen=True, slots=True)
class Picture:
    """One image or document of the message; ``url`` shows it, empty where the bytes are not stored."""

    kind: str
    media: Media
    tokens: int
    patches: str
    rule: str
    cost: float | None
    factor: float | None
    url: str

    @property
    def linked(self) -> bool:
        """Whether its bytes are elsewhere."""
        return bool(self.media.n_url and not self.media.n_base64)

    @property
    def small(self) -> str:
        """Where its thumbnail is."""
        return small_url(self.url)

    @property
    def type(self) -> str:
        """The media type as people say it: PNG, JPEG, PDF."""
        return self.media.media_type.rpartition("/")[2].upper() if self.media.media_type else self.kind

    @property
    def file_size(self) -> str:
        """Size of the decoded file, in binary units as file managers show it."""
        n_bytes = self.media.n_base64 * 3 // 4
        return f"{n_bytes / 2**20:.2f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 1024:.1f} KiB"


@dataclass(frozen=True, slots=True)
class SizeVerdict:
    """The sentence that comes first: ``kind`` "over" (bytes run ahead of tokens), "fair" or "unknown"."""

    kind: str
    factor: float | None
    n_bytes: int
    tokens: int
    what: str
    sliver: float


class InspectorView(MessageFigures):
    """Everything the inspector shows of the message at ``index`` but the text, which is read from the upload."""

    def __init__(self, view: Overview, index: int) -> None:
        super().__init__(view, index)
        message, weighed = self.message, view.weighed
        found = (leaf for leaf in message.leaves() if leaf.kind in (Kind.IMAGE, Kind.DOCUMENT))
        media = [leaf for leaf in found if leaf.media is not None]
        worst = max(media, key=lambda leaf: weighed.overcount(leaf) or 0, default=None)
        over = worst if worst is not None and weighed.overcount(worst) else None
        self.last, self.bytes_label = len(view.messages) - 1, view.bytes_label
        self.verdict = _verdict(view, index, over, called(message, view.tools))
        self.pictures = [_picture(leaf, view) for leaf in media[:MOST_PICTURES]]
        self.n_pictures_left = max(len(media) - MOST_PICTURES, 0)
        self.reference = _reference(view, index, over)
        self.reference_label = str(Label.ESTIMATED) if over else self.label
        self.counters = _counters(view, over or message, weighed.image_tokens(over) if over else self.tokens)
        self.answers = index - 1 if view.pairs[index] == "b" else None
        self.answered_by = index + 1 if view.pairs[index] == "a" else None
        self.request, self.context, self.context_label = reply_to(view, index)


def reply_to(view: Overview, index: int) -> tuple[int | None, int | None, str]:
    """The request that a message is the reply to, its context and how that is known; None where it answers none."""
    request, context, label = view.contexts.get(index, (None, None, ""))
    is_reply = request is not None and view.weighed.transcript.requests[request].message == index
    return (request, context, str(label)) if is_reply else (None, None, str(label))


def _reference(view: Overview, index: int, over: Block | None) -> str:
    if over is not None:
        return view.weighed.model.name or "unknown model"
    scale, _ = view.weighed.own_rules(index)
    how = "o200k tokens and characters weighed" if scale.by_characters else f"o200k × {scale.ratio:.2f}"
    return {
        Label.MEASURED: "recorded output of this reply",
        Label.CALIBRATED: f"{how}, fitted to this session",
        Label.ESTIMATED: f"{how}, the family's prior",
    }[view.weighed.labels[index]]


def _verdict(view: Overview, index: int, over: Block | None, what: str) -> SizeVerdict:
    weighed = view.weighed
    if over is None or over.media is None:
        tokens, size = weighed.tokens[index], view.n_bytes[index]
        return SizeVerdict("fair" if tokens else "unknown", None, size, tokens, what, 0)
    size = over.media.n_base64 + len(over.media.media_type.encode())
    tokens, factor = weighed.image_tokens(over), weighed.overcount(over)
    sliver = max(1.0, 368 * tokens / size) if size else 0
    return SizeVerdict("over" if (factor or 0) >= 1 else "fair", factor, size, tokens, what, round(min(sliver, 368), 1))


def _counters(view: Overview, counted: Block | Message, reference: int) -> tuple[CounterRow, ...]:
    """Every registered estimator on the same block or message, the smallest first."""
    model = view.weighed.model
    found = []
    for estimator in registry.plugins("estimators").values():
        size = estimator.size(counted, model) if isinstance(counted, Block) else message_size(counted, estimator, model)
        factor = size / reference if reference else None
        found.append(CounterRow(estimator.name, estimator.label, size, estimator.unit, factor))
    return tuple(sorted(found, key=lambda counter: (counter.size, counter.name)))


def _picture(leaf: Block, view: Overview) -> Picture:
    media, model = leaf.media, view.weighed.model
    if media is None:
        raise ValueError("a picture needs its media")
    tokens = view.weighed.image_tokens(leaf)
    price = model.input_price
    return Picture(
        kind=str(leaf.kind),
        media=media,
        tokens=tokens,
        patches=_patches(leaf, media, model),
        rule=_images.image_rule_words(model) if leaf.kind is Kind.IMAGE else "",
        cost=tokens * price / PER_MILLION if price is not None else None,
        factor=view.weighed.overcount(leaf),
        url=media_url(leaf.kind, media.sha256, media.media_type),
    )


def _patches(leaf: Block, media: Media, model: Any) -> str:
    """The rule's own unit where it has one: Claude's patches of 28 px."""
    if not media.width or model.family != "claude" or leaf.kind is not Kind.IMAGE:
        return ""
    width, height = _images.claude_image_size(media.width, media.height, model.image_tier)
    return f"{-(-width // 28)} × {-(-height // 28)} patches"
