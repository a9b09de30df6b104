"""Writes what a policy inserts, through the summarizer chosen for the replay (replay-semantics 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter, UnreadableInput
from sessions.engine.base.session_cache import Remembered
from sessions.engine.policies.edits import thinks
from sessions.engine.policies.outlines import CHARS_PER_TOKEN, Outline
from sessions.engine.policies.policy import Draft, Item, SummaryFailed
from sessions.engine.tokens.text_facts import json_escapes
from sessions.engine.tokens.tokenizer import count
from sessions.engine.transcript.copies import remade
from sessions.engine.transcript.types import Block, Kind, Message, Role
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.calibration.weights import message_estimate
from sessions.engine.weigh.outputs import reported_reasoning
from sessions.engine.weigh.sizes import message_size, message_sizes

if TYPE_CHECKING:
    from sessions.engine.reading.texts import Texts
    from sessions.engine.tokens.estimators import Estimator


class Letter(NamedTuple):
    """A summary that somebody wrote elsewhere, and who: a model by its name."""

    text: str
    author: str


class Brief(NamedTuple):
    """What a summarizer is told.

    ``dropped`` is what the summary stands for, ``argument`` the number after the colon, if any.  ``mode`` is one of
    those of ``Tools.summarize``; ``previous`` is the text of the last summary that still stands, "" where none does or
    it has no text; ``n_before`` how many summaries came before.  ``texts`` reads messages, None where only previews
    are at hand; ``written`` has the texts of what this replay inserted.  ``most`` caps the summary in display tokens.
    ``writer`` finds what a model wrote, None where nothing is there to be found.
    """

    weighed: Weighed
    request: int
    dropped: Sequence[Item]
    argument: int | None
    mode: str = "fresh"
    previous: str = ""
    n_before: int = 0
    texts: Texts | None = None
    most: int | None = None
    written: Mapping[str, str] = {}
    writer: Callable[[Brief], Letter | None] | None = None


Writer = Callable[[Brief], Letter | None]
"""Finds the summary of a brief, None where it is not written yet; what it returns must not change between replays."""


class WrittenSummary(NamedTuple):
    """What a summarizer wrote: drafts or recorded messages, and its source in words.

    ``messages`` are recorded products, which stand in place of what the policy would insert; ``room`` is what they
    leave, in tokens, for files that the recorder put back without writing them down (0: none, None: not known).
    ``unseen`` is what the last of them weighs beyond what the file has of it: an encrypted item without its content.
    ``is_outline``: its drafts have sizes, and words only when somebody asks for them (``outlines``).
    """

    drafts: tuple[Draft, ...] = ()
    messages: tuple[Message, ...] = ()
    source: str = ""
    room: int | None = 0
    unseen: int = 0
    is_outline: bool = False


@dataclass(frozen=True, slots=True)
class Summarizer:
    """Who writes summaries: ``write`` is deterministic and calls no model; ``takes_number`` allows ``name:N``.

    ``needs_writer``: it passes on what a model wrote, which whoever runs the replay has to find (``Brief.writer``).
    """

    name: str
    label: str
    source: str
    write: Callable[[Brief], WrittenSummary]
    takes_number: bool = False
    needs_writer: bool = False


Made = tuple[Item, object, Item]
"""A message, how it is edited, and what that makes of it."""
N_EDITS = 4
"""Kinds of edits of which a session keeps what they made: those of the policy just replayed and of one beside it."""
EDITS: Remembered[dict[str, dict[int, Made]]] = Remembered("edited messages")


def _made_of(weighed: Weighed, edit: str) -> dict[int, Made]:
    """What a kind of edit made of a session's messages so far, by their index; that of earlier kinds is let go."""
    known = weighed.cache.value(EDITS, dict[str, dict[int, Made]])
    found = known.pop(edit, None) or {}
    for older in list(known)[: -(N_EDITS - 1)]:
        known.pop(older, None)
    known[edit] = found
    return found


class Summaries:
    """The summarizer of one replay: makes what policies insert, with ids and sizes, and the tools of their edits."""

    def __init__(
        self,
        weighed: Weighed,
        spec: str,
        estimator: Any,
        texts: Texts | None = None,
        fail: str = "",
        *,
        writer: Writer | None = None,
    ) -> None:
        """``spec`` is a summarizer's name, with ``:N`` where it takes a number; ``fail`` injects failures.

        Raises UnknownName or BadParameter.
        """
        name, _, number = spec.partition(":")
        self.summarizer: Summarizer = registry.get("summarizers", name)
        self.argument = _number(self.summarizer, number)
        if self.summarizer.needs_writer and (writer is None or texts is None):
            raise BadParameter(f"summarizer {name} takes its summaries from a model; a replay by itself asks for them")
        self.writer = writer
        self.weighed, self.estimator, self.texts = weighed, estimator, texts
        self.fails = _failing(fail)
        self.request, self.event, self.source, self.n_inserted = 0, 0, "", 0
        self.n_calls, self.calls_here, self.n_summaries = 0, 0, 0
        self.last: tuple[Item, ...] = ()
        self._others: dict[str, tuple[Estimator, list[int]]] = {}
        self._made: dict[str, dict[int, Made]] = {}
        self._reported: dict[int, int] | None = None
        self.written: dict[str, str] = {}
        """Texts of inserted items by id, where they have one."""
        self.taken: set[int] = set()
        """Messages of the recording that stand for what the policy would have inserted."""
        self.outlines: dict[str, Outline] = {}
        """Summaries by id whose words are made when asked for."""

    def at(self, request: int, event: int) -> None:
        """The event about to be edited: its request and its number."""
        self.request, self.event = request, event
        self.source, self.n_inserted, self.calls_here = "", 0, 0

    def summarize(
        self,
        dropped: Sequence[Item],
        attachments: Sequence[Draft] = (),
        *,
        mode: str = "fresh",
        calls: int = 1,
        most: int | None = None,
        role: str = "user",
        suffix: str = "",
        suffix_tokens: int = 0,
    ) -> tuple[Item, ...]:
        """See ``policy.Tools.summarize``."""
        self.calls_here += calls
        if calls:
            self.n_calls += 1
            if self.fails(self.n_calls):
                raise SummaryFailed(f"summary call {self.n_calls} failed (injected)")
        previous = "\n".join(self.written[item.id] for item in self.last if item.id in self.written)
        # Notes that exist already have a size of their own.
        argument = self.argument if calls or most is None else most
        brief = Brief(
            self.weighed, self.request, dropped, argument, mode, previous, self.n_summaries, self.texts, most,
            self.written, self.writer,
        )  # fmt: skip
        written = self.summarizer.write(brief)
        self.source = written.source
        self.n_summaries += 1
        if written.messages:
            put_back = (self.draft(draft) for draft in _within(attachments, written.room))
            *first, last = written.messages
            made = (*(self._recorded(m) for m in first), self._recorded(last, written.unseen), *put_back)
        else:
            bound = [d if most is None else d._replace(tokens=min(d.tokens, most)) for d in written.drafts]
            # What the policy adds to its end; a stub keeps having no text.
            drafts = [
                d._replace(role=role, tokens=d.tokens + suffix_tokens, text=d.text + suffix if d.text else "")
                for d in bound
            ]
            made = tuple(self.draft(d) for d in (*drafts, *attachments))
        if written.is_outline:
            held, standing = tuple(dropped), tuple(item.id for item in self.last)
            for item in made[: len(written.drafts)]:
                tried = self.outlines.get(item.id)  # an attempt that failed: what it wrote never stood
                self.outlines[item.id] = Outline(held, item.tokens, mode, tried.previous if tried else standing, suffix)
        self.last = tuple(item for item in made if item.message.summary)
        return made

    def _next_id(self) -> str:
        self.n_inserted += 1
        return f"e{self.event}.{self.n_inserted - 1}"

    def _recorded(self, message: Message, unseen: int = 0) -> Item:
        self.taken.add(message.index)
        size, tokens = message_size(message, self.estimator, self.weighed.model), self.weighed.tokens[message.index]
        return Item(self._next_id(), message, tokens + unseen, size, -1, inserted=True)

    def draft(self, draft: Draft) -> Item:
        """See ``policy.Tools.draft``."""
        message = drafted_message(draft, self._next_id(), self.weighed.ratio)
        if draft.text:
            self.written[message.id] = draft.text
        size = message_size(message, self.estimator, self.weighed.model)
        return Item(message.id, message, draft.tokens, size, -1, inserted=True)

    def rewrite(self, item: Item, blocks: Sequence[Block], preview: str | None = None) -> Item:
        """See ``policy.Tools.rewrite``; a reply's recorded output shrinks in proportion to its estimate."""
        old = item.message
        new = remade(Message, old, blocks=tuple(blocks), preview=old.preview if preview is None else preview)
        scale, model = self.weighed.own_rules(old.index)
        held = item.tokens
        if not item.edited and not item.inserted and thinks(old) and not thinks(new):
            # Of a message of which something left already, as much of the thinking left as of the rest.
            whole = self.weighed.tokens[old.index]
            held -= self.weighed.thinking[old.index] * held // whole if whole else 0
            held = max(0, held)
            old = remade(Message, old, blocks=tuple(b for b in old.blocks if b.kind is not Kind.THINKING))
        estimate, before = message_estimate(new, scale, model), message_estimate(old, scale, model)
        tokens = estimate if before == held else held * estimate // before if before else estimate
        size = message_size(new, self.estimator, self.weighed.model)
        return Item(item.id, new, tokens, size, item.step, item.inserted, edited=True)

    def once(self, item: Item, edit: str, detail: object, make: Callable[[], Item]) -> Item:
        """See ``policy.Tools.once``."""
        if item.edited or item.inserted:
            return make()
        if edit not in self._made:
            self._made[edit] = _made_of(self.weighed, f"{edit} {self.estimator.key}")
        made = self._made[edit]
        held = made.get(item.message.index)
        if held is None or held[0] is not item or held[1] != detail:
            held = made[item.message.index] = (item, detail, make())
        return held[2]

    def text(self, item: Item) -> str:
        """See ``policy.Tools.text``."""
        if item.message.index < 0:
            return self.written.get(item.id, item.message.preview)
        if self.texts is None or not item.message.origins:
            return item.message.preview
        try:
            return self.texts.plain(item.message)
        except UnreadableInput:
            return item.message.preview

    def weigh(self, text: str) -> int:
        """See ``policy.Tools.weigh``."""
        return round(count(text).n_tokens * self.weighed.ratio)

    def size_by(self, item: Item, estimator: str) -> int:
        """See ``policy.Tools.size_by``."""
        found = self._others.get(estimator)
        if found is None:
            other = registry.get("estimators", estimator)
            found = self._others[estimator] = other, message_sizes(self.weighed, other)
        if not item.inserted and not item.edited:
            return found[1][item.message.index]
        return message_size(item.message, found[0], self.weighed.model)

    def reported_reasoning(self, item: Item) -> int:
        """See ``policy.Tools.reported_reasoning``."""
        if self._reported is None:
            self._reported = reported_reasoning(self.weighed.transcript)
        return self._reported.get(item.message.index, 0)


def _within(drafts: Sequence[Draft], room: int | None) -> list[Draft]:
    """The drafts that fit into ``room`` tokens, the first of them first; what is over is cut."""
    if room is None:
        return list(drafts)
    kept: list[Draft] = []
    for draft in drafts:
        tokens = min(draft.tokens, room)
        room -= tokens
        kept += [draft._replace(tokens=tokens)] if tokens else []
    return kept


def _failing(spec: str) -> Callable[[int], bool]:
    """Which summary calls fail, numbered from 1: "always", "every:N", "first:N", none for ""."""
    word, _, number = spec.partition(":")
    if not spec:
        return lambda _call: False
    if word == "always" and not number:
        return lambda _call: True
    if word in {"every", "first"} and number.isascii() and number.isdigit() and 0 < int(number) < 1_000_000:
        n = int(number)
        return (lambda call: call % n == 0) if word == "every" else (lambda call: call <= n)
    raise BadParameter(f"injected failures are written always, every:N or first:N, not {spec!r}")


def drafted_message(draft: Draft, message_id: str, ratio: float) -> Message:
    """A message for a draft: of its text, or of ``tokens`` × 4 characters where it is a stub."""
    text, n_tokens = draft.text, round(draft.tokens / ratio)
    n_chars = len(text) if text else draft.tokens * CHARS_PER_TOKEN
    n_bytes = len(text.encode("utf-8", "replace")) if text else n_chars
    block = Block(Kind.TEXT, n_chars=n_chars, n_bytes=n_bytes, n_tokens=n_tokens, n_json=json_escapes(text))
    return Message(-1, message_id, Role(draft.role), (block,), preview=draft.preview, summary=draft.summary)


def _number(summarizer: Summarizer, text: str) -> int | None:
    if not text:
        return None
    if not summarizer.takes_number:
        raise BadParameter(f"summarizer {summarizer.name} takes no number: write {summarizer.name!r}")
    if not text.isascii() or not text.isdigit() or int(text) > 1_000_000:
        raise BadParameter(f"{summarizer.name}:N takes a number of tokens from 0 to 1,000,000, not {text!r}")
    return int(text)
