"""A link as somebody opened it: what it holds, what they look at, and where its own addresses lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.http import QueryDict
from django.urls import reverse

from sessions.engine.policies.params import specs
from sessions.engine.redact import Choice
from sessions.engine.replays.events import Event
from sessions.engine.replays.replay import Replay
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import LinkedView, ReplayLink, Session
from sessions.pages.ui.addresses import Urls, whole
from sessions.runs import replay_state, replays
from sessions.runs.overview import overview
from sessions.runs.ranges import threshold_param, threshold_table
from sessions.runs.recognised import with_known

COMPACT_AT = "compact_at"
"""The part of an address that says where a recipient has moved the threshold to."""
MOST_DIGITS = 12


def stored(state: str) -> replay_state.ReplayState:
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

    @cached_property
    def choice(self) -> Choice:
        """What is taken out."""
        return with_known(self.link.choice, self.session)

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
    def senders(self) -> replay_state.ReplayState:
        """The sender's setting; a reply's is that of who replied."""
        return stored(self.link.state)

    @property
    def whose(self) -> str:
        """Whose setting ``senders`` is: that of who shares it, or of who replied."""
        return "the sender's" if self.link.reply_to_id is None else f"{self.link.author}'s"

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
        return whole(self.looking.get(COMPACT_AT, "").replace(",", ""), MOST_DIGITS) if self.moves else None

    @cached_property
    def setting(self) -> replay_state.ReplayState:
        """What is replayed: the sender's setting, or the recipient's where the sender lets them move it."""
        return self.senders if self.compact_at is None else moved(self.weighed, self.senders, self.compact_at)

    @cached_property
    def state(self) -> replay_state.ReplayState:
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


def moved(weighed: Weighed, state: replay_state.ReplayState, threshold: int) -> replay_state.ReplayState:
    """The state with its trigger at ``threshold`` (in the trigger's own unit), or as near as its parameter allows.

    Between two known places of the threshold the parameter lies between theirs.  Where nothing moves it, the state
    itself.
    """
    name, table = threshold_param(weighed, state), threshold_table(weighed, state)
    spec = next((spec for spec in specs(state.plugin.params) if spec.name == name), None)
    if spec is None or not table:
        return state
    value = _value_at(sorted(table, key=lambda row: row[1]), threshold, spec.step or 1)
    query = QueryDict(replay_state.query(state)).dict()
    query[f"p.{name}"] = replay_state.written(int(value) if value == int(value) else value)
    found = replay_state.parse(query, weighed)
    return state if found.errors else found


def _value_at(rows: list[tuple[float, int]], wanted: int, step: float) -> float:
    """The parameter whose threshold is the wanted one, in whole steps; rows by threshold."""
    above = next((at for at, row in enumerate(rows) if row[1] >= wanted), len(rows))
    if above == 0:
        return rows[0][0]
    if above == len(rows):
        return rows[-1][0]
    low, high = rows[above - 1], rows[above]
    value = low[0] + (wanted - low[1]) / (high[1] - low[1]) * (high[0] - low[0])
    return round(round(value / step) * step, 9)
