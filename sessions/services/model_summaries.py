"""Summaries for a replay by a model: looked up among those kept, asked for only with access and consent.

A summary is kept under the hash of its whole request: model, prompt, conversation, the summary before it.  So a replay
is deterministic once all of its summaries are there, and a change of anything asks anew.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction

from sessions.adapters import anthropic_summaries, storage
from sessions.adapters.calls import never
from sessions.engine.base.words import counted
from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.models.model_info import model_info
from sessions.engine.policies.policy import Item
from sessions.engine.replays.summaries import Brief, Letter
from sessions.engine.replays.summarizers.anthropic import stand_in_tokens
from sessions.engine.reports.export import edited_contents
from sessions.engine.transcript.types import Content, Kind, Message
from sessions.models import AnswerUse, ModelAnswer, Session
from sessions.services import blobs
from sessions.services.model_access import bucket

if TYPE_CHECKING:
    from sessions.adapters.anthropic_client import Access
    from sessions.engine.reading.texts import Texts

PROMPT_TOKENS = 700
"""About what the instructions around the conversation weigh."""
KIND = "summary"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A summary that is not written yet: the request it is for, and about what its call takes and brings in tokens."""

    request: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What writing the missing summaries takes: calls, tokens, US dollars at list prices (None where unknown)."""

    model: str
    n_calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None

    @property
    def each(self) -> int:
        """What one summary is taken to weigh until it is written."""
        return self.output_tokens // self.n_calls if self.n_calls else 0

    @property
    def words(self) -> str:
        """In a sentence's words, for the command line."""
        price = "price unknown" if self.dollars is None else f"about ${self.dollars:,.2f} at list prices"
        calls = counted(self.n_calls, "call")
        return f"{calls} to {self.model}, about {self.input_tokens:,} tokens in and {self.output_tokens:,} out, {price}"


def estimate(model: str, wanted: tuple[Wanted, ...]) -> Estimate:
    """What is wanted, in sum."""
    n_in, n_out = sum(w.input_tokens for w in wanted), sum(w.output_tokens for w in wanted)
    info = model_info(model)
    priced = info.input_price is not None and info.output_price is not None
    dollars = (n_in * (info.input_price or 0) + n_out * (info.output_price or 0)) / PER_MILLION if priced else None
    return Estimate(model, len(wanted), n_in, n_out, dollars)


@dataclass(slots=True, eq=False)
class SummaryWriter:
    """Finds what ``model`` wrote for a brief (``engine.summaries.Writer``); with ``access`` it has the rest written.

    ``wanted`` collects what was not there and not asked for, ``n_found`` and ``n_written`` count the others.
    What it finds and has written goes with the session ``session_id``, where it is given: it writes then.
    ``on_progress`` hears the calls finished and the characters of the one under way.
    """

    model: str
    _: KW_ONLY
    instructions: str = ""
    access: Access | None = None
    session_id: str = ""
    on_progress: Callable[[int, int], None] = lambda _calls, _chars: None
    cancel: Callable[[], bool] = never
    wanted: list[Wanted] = field(default_factory=list, init=False)
    n_found: int = field(default=0, init=False)
    n_written: int = field(default=0, init=False)

    def __call__(self, brief: Brief) -> Letter | None:
        """The summary, None where it is wanted; raises CallFailed where asking for it failed."""
        prompt = anthropic_summaries.instructed(anthropic_summaries.MODES[brief.mode], self.instructions)
        previous = brief.previous if brief.mode == "merge" else ""
        shown = anthropic_summaries.as_text(conversation(brief))
        body = anthropic_summaries.request_body(shown, prompt, self.model, previous)
        key = anthropic_summaries.request_key(body)
        kept = kept_answer(key, KIND)
        if kept is not None:
            self.n_found += 1
            if self.session_id:
                use_answer(key, self.session_id)
            return Letter(kept.decode("utf-8"), self.model)
        if self.access is None:
            self.wanted.append(Wanted(brief.request, _n_tokens(brief, self.model), stand_in_tokens(brief)))
            return None
        summary = anthropic_summaries.summarize(
            self.access, body, on_progress=lambda n_chars: self.on_progress(self.n_written, n_chars),
            cancel=self.cancel, bucket=bucket(self.access),
        )  # fmt: skip
        text = summary.text.encode("utf-8", "replace")
        n_in, n_out = summary.input_tokens, summary.output_tokens
        keep_answer(key, KIND, text, self.model, n_in, n_out, self.session_id)
        self.n_written += 1
        self.on_progress(self.n_written, 0)
        return Letter(summary.text, self.model)


def conversation(brief: Brief) -> Iterator[anthropic_summaries.Said]:
    """What the model reads: the dropped messages as they stand; an earlier summary too, where it is not merged into."""
    for place, item in enumerate(brief.dropped):
        if item.message.index >= 0:
            yield anthropic_summaries.Said(place, str(item.message.role), _contents(brief, item))
        elif not (item.message.summary and brief.mode == "merge"):
            text = brief.written.get(item.id, item.message.preview)
            yield anthropic_summaries.Said(place, str(item.message.role), (Content(Kind.TEXT, text=text),))


def _contents(brief: Brief, item: Item) -> tuple[Content, ...]:
    original = brief.weighed.transcript.messages[item.message.index]
    if brief.texts is None or not original.origins:
        return (Content(Kind.TEXT, text=original.preview),)
    return contents_of(item, original, brief.texts)


def contents_of(item: Item, original: Message, texts: Texts) -> tuple[Content, ...]:
    """The blocks of a message with their text, as they stand in a list: edited ones as they are left."""
    found = texts.of(original)
    is_whole = item.message.blocks == original.blocks
    return found if is_whole else tuple(edited_contents(item.message.blocks, original.blocks, found))


def _n_tokens(brief: Brief, model: str) -> int:
    """About what the conversation weighs for ``model``: its text without thinking and media."""
    leaves = [leaf for item in brief.dropped for leaf in item.message.leaves()]
    text = sum(leaf.n_tokens for leaf in leaves if leaf.kind not in (Kind.THINKING, Kind.OPAQUE))
    return round(text * model_info(model).text_prior) + PROMPT_TOKENS


def kept_answer(key: str, kind: str) -> bytes | None:
    """What a model answered, as it was kept; None where nothing is, or its blob is gone."""
    sha256 = ModelAnswer.objects.filter(pk=key, kind=kind).values_list("text_sha256", flat=True).first()
    if sha256:
        with suppress(FileNotFoundError), storage.open_blob(sha256) as file:
            return file.read()
    return None


def keep_answer(  # noqa: PLR0917
    key: str, kind: str, data: bytes, model: str, input_tokens: int = 0, output_tokens: int = 0, session_id: str = ""
) -> None:  # fmt: skip
    """Keep an answer; its text is a blob, because the database holds none.  It goes with the last session it is for."""
    kept = {"kind": kind, "model": model, "input_tokens": input_tokens, "output_tokens": output_tokens}
    sha256 = storage.put(io.BytesIO(data)).sha256
    with transaction.atomic():
        blobs.naming()
        stored = bool(session_id) and Session.objects.select_for_update().filter(pk=session_id).exists()
        if stored or not session_id:
            if blobs.missing([sha256]):
                storage.put(io.BytesIO(data))
            ModelAnswer.objects.update_or_create(key=key, defaults=kept | {"text_sha256": sha256})
        if stored:
            AnswerUse.objects.get_or_create(session_id=session_id, answer_id=key)
    if session_id and not stored:
        blobs.remove_unnamed([sha256])  # the session was deleted while the model wrote


def use_answer(key: str, session_id: str) -> None:
    """Note that an answer is for a session; nothing where either is not (or no longer) stored."""
    with transaction.atomic():
        stored = Session.objects.select_for_update().filter(pk=session_id).exists()
        if stored and ModelAnswer.objects.filter(pk=key).exists():
            AnswerUse.objects.get_or_create(session_id=session_id, answer_id=key)
