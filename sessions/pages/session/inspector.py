"""One message taken apart: its sizes under every estimator, its blocks, its raw JSON."""

from __future__ import annotations

from typing import Any

from sessions.engine.base import registry
from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.tokens.estimators import Estimator, _images
from sessions.engine.transcript.types import Block, Kind, Label, Media, Message
from sessions.engine.weigh.sizes import message_size
from sessions.pages.ui.addresses import media_url, small_url
from sessions.pages.ui.message import MessageFigures
from sessions.runs.overview import Overview, called

MOST_PICTURES = 12


class CounterRow:
    """What one estimator charges: ``factor`` against the reference tokens, None where there are none.

    ``names_unit``: the label says already what is counted: "Adjusted bytes".
    """

    def __init__(self, estimator: Estimator, size: int, reference: int) -> None:
        self.name, self.label, self.unit, self.size = estimator.name, estimator.label, estimator.unit, size
        self.factor = size / reference if reference else None
        self.names_unit = self.label.lower().endswith(self.unit)


class Picture:
    """One image or document of the message; ``url`` shows it, empty where the bytes are not stored.

    ``linked``: its bytes are elsewhere; ``type`` is PNG, JPEG, PDF; ``file_size`` that of the decoded file, in binary
    units as file managers show it.
    """

    def __init__(self, leaf: Block, media: Media, view: Overview) -> None:
        model, weighed = view.weighed.model, view.weighed
        self.kind, self.media = str(leaf.kind), media
        self.tokens, self.factor = weighed.image_tokens(leaf), weighed.overcount(leaf)
        self.patches = _patches(leaf, media, model)
        self.rule = _images.image_rule_words(model) if leaf.kind is Kind.IMAGE else ""
        self.cost = None if model.input_price is None else self.tokens * model.input_price / PER_MILLION
        self.url = media_url(leaf.kind, media.sha256, media.media_type)
        self.small = small_url(self.url)
        self.linked = bool(media.n_url and not media.n_base64)
        self.type = media.media_type.rpartition("/")[2].upper() if media.media_type else self.kind
        n_bytes = media.n_base64 * 3 // 4
        self.file_size = f"{n_bytes / 2**20:.2f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 1024:.1f} KiB"


class SizeVerdict:
    """The sentence that comes first: ``kind`` "over" (bytes run ahead of tokens), "fair" or "unknown"."""

    def __init__(self, view: Overview, index: int, over: Block | None) -> None:
        weighed = view.weighed
        self.what = called(view.messages[index], view.tools)
        self.tokens, self.n_bytes, self.factor, self.sliver = weighed.tokens[index], view.n_bytes[index], None, 0.0
        self.kind = "fair" if self.tokens else "unknown"
        if over is not None and over.media is not None:
            self.n_bytes = over.media.n_base64 + len(over.media.media_type.encode())
            self.tokens, self.factor = weighed.image_tokens(over), weighed.overcount(over)
            sliver = max(1.0, 368 * self.tokens / self.n_bytes) if self.n_bytes else 0
            self.sliver = round(min(sliver, 368), 1)
            self.kind = "over" if (self.factor or 0) >= 1 else "fair"


class InspectorView(MessageFigures):
    """Everything the inspector shows of the message at ``index`` but the text, which is read from the upload."""

    def __init__(self, view: Overview, index: int) -> None:
        super().__init__(view, index)
        message, weighed = self.message, view.weighed
        shown = [leaf for leaf in message.leaves() if leaf.media and leaf.kind in (Kind.IMAGE, Kind.DOCUMENT)]
        worst = max(shown, key=lambda leaf: weighed.overcount(leaf) or 0, default=None)
        over = worst if worst is not None and weighed.overcount(worst) else None
        self.last, self.bytes_label = len(view.messages) - 1, view.bytes_label
        self.verdict = SizeVerdict(view, index, over)
        self.pictures = [Picture(leaf, leaf.media, view) for leaf in shown[:MOST_PICTURES] if leaf.media]
        self.n_pictures_left = max(len(shown) - MOST_PICTURES, 0)
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


def _counters(view: Overview, counted: Block | Message, reference: int) -> tuple[CounterRow, ...]:
    """Every registered estimator on the same block or message, the smallest first."""
    model = view.weighed.model
    found = []
    for estimator in registry.plugins("estimators").values():
        size = estimator.size(counted, model) if isinstance(counted, Block) else message_size(counted, estimator, model)
        found.append(CounterRow(estimator, size, reference))
    return tuple(sorted(found, key=lambda counter: (counter.size, counter.name)))


def _patches(leaf: Block, media: Media, model: Any) -> str:
    """The rule's own unit where it has one: Claude's patches of 28 px."""
    if not media.width or model.family != "claude" or leaf.kind is not Kind.IMAGE:
        return ""
    width, height = _images.claude_image_size(media.width, media.height, model.image_tier)
    return f"{-(-width // 28)} × {-(-height // 28)} patches"
