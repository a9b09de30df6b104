"""A link as somebody opened it: what it holds, what they look at, and where its own addresses lead."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.http import QueryDict
from django.urls import reverse

from sessions.models import LinkedView
from sessions.pages.ui.addresses import Urls
from sessions.runs import replay_state, replays
from sessions.runs.overview import overview
from sessions.runs.steered import moved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sessions.engine.redact import Choice
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.replay import Replay
    from sessions.engine.weigh.calibration.weighed import Weighed
    from sessions.models import ReplayLink, Session
    from sessions.runs.replay_state import ReplayState

COMPACT_AT = "compact_at"
"""The part of an address that says where a recipient has moved the threshold to."""
MOST_DIGITS = 12


def stored(state: str) -> ReplayState:
    """The replay of a link's frozen query string."""
    return replay_state.parse(QueryDict(state).dict())


@dataclass(frozen=True)
class Opened:
    """A link under its address (``token``) with the query of whoever looks."""

    link: ReplayLink
    token: str
    looking: Mapping[str, str]

    @property
    def session(self) -> Session:
        """The session that it shows."""
        found: Session = self.link.session
        return found

    @property
    def choice(self) -> Choice:
        """What is taken out."""
        return self.link.choice

    @property
    def alone(self) -> bool:
        """Whether it shows one compaction and nothing beside it."""
        return self.link.view == LinkedView.DIFF

    @cached_property
    def compaction(self) -> Event | None:
        """The one compaction that it shows alone; None of two other lists, and where the setting compacts nothing."""
        state = self.senders
        events = replays.run(self.session.pk, state).replay.events if state.between is None else ()
        return events[min(state.event or 0, len(events) - 1)] if events else None

    def compactions_of(self, replay: Replay) -> Sequence[Event]:
        """The compactions of a replay that it shows: all of them, or the one alone."""
        if not self.alone:
            return replay.events
        return () if self.compaction is None else (self.compaction,)

    @cached_property
    def messages(self) -> frozenset[int]:
        """The messages of that compaction's lists, before and after: no other text is shown alone."""
        event = self.compaction
        items = () if event is None else (*event.before, *event.after)
        return frozenset(item.message.index for item in items if item.message.index >= 0)

    @cached_property
    def weighed(self) -> Weighed:
        """The session's weights."""
        return overview(self.session.pk).weighed

    @cached_property
    def senders(self) -> ReplayState:
        """The sender's setting."""
        return stored(self.link.state)

    @property
    def moves(self) -> bool:
        """Whether a recipient may move the threshold: one compaction alone would become another one."""
        return self.link.moves and not self.alone

    @property
    def takes_replies(self) -> bool:
        """Whether it takes replies: a replay does, where the sender allows it, and a reply does not."""
        return self.link.takes_replies and self.link.view == LinkedView.REPLAY and self.link.reply_to_id is None

    @cached_property
    def compact_at(self) -> int | None:
        """Where the recipient has moved the threshold to; None: it stands where the sender set it."""
        asked = self.looking.get(COMPACT_AT, "").replace(",", "")
        known = self.moves and asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS
        return int(asked) if known else None

    @cached_property
    def setting(self) -> ReplayState:
        """What is replayed: the sender's setting, or the recipient's where the sender lets them move it."""
        return self.senders if self.compact_at is None else moved(self.weighed, self.senders, self.compact_at)

    @cached_property
    def state(self) -> ReplayState:
        """The setting with what is looked at; of a single compaction only how its lists are laid out."""
        looking = {name: self.looking[name] for name in self.looking}
        if self.alone:
            looking.pop("event", None)
            looking.pop("request", None)
        return replay_state.frozen(self.setting, replay_state.parse(looking))

    @cached_property
    def urls(self) -> Urls:
        """Where replay, diff and messages of the link lead; they keep the recipient's setting."""
        return Urls(
            replay="" if self.alone else self.to("link_replay"),
            diff=self.to("link_diff"),
            message=self.to("link_message", 0),
            kept="" if self.compact_at is None else f"{COMPACT_AT}={self.compact_at}",
            frozen=True,
        )

    def to(self, name: str, *more: object) -> str:
        """The path of one of the link's pages."""
        return reverse(f"sessions:{name}", args=[self.token, *more])
