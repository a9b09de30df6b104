"""Replays a session under a policy, request by request, holding the trajectory constant (replay-semantics 2 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sessions.engine.base import registry
from sessions.engine.base.errors import BadParameter
from sessions.engine.base.words import no_compaction
from sessions.engine.policies.outlines import Outline, Wording
from sessions.engine.policies.policy import Gate, Policy
from sessions.engine.replays import initial_params
from sessions.engine.replays.summaries import Summaries, Writer
from sessions.engine.replays.walk import Attempt, Sent, Walk
from sessions.engine.transcript.types import Label, Message
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import counted

if TYPE_CHECKING:
    from sessions.engine.policies.extracting import Sketch
    from sessions.engine.reading.texts import Texts
    from sessions.engine.replays.events import Event
    from sessions.engine.replays.leaving import ClearedInPlace

__all__ = ["BASES", "Attempt", "Replay", "replay"]

BASES = ("full", "recorded")


@dataclass(frozen=True)
class Replay:
    """A session under a policy.

    ``context_tokens``, ``labels`` and ``gates`` have one entry per request (None off the branch); ``sent`` one per
    step of the branch.  All tokens are display tokens; triggers are in the estimator's unit.  ``attempts`` are edits
    that failed; ``written`` has the texts of inserted items by id, where they have one, ``outlines`` those whose words
    are made when asked for (``wording``).  ``windows`` has the window of every request sent, in tokens: a change of
    model changes it; ``window`` is that of the session's own model.  ``cleared`` is what really left at every clearing
    that the recording has: nothing of what an event had taken out before.
    """

    weighed: Weighed
    policy: Policy
    params: Any
    base: str
    estimator: str
    summarizer: str
    window: int
    window_source: str
    context_tokens: tuple[int | None, ...]
    labels: tuple[Label | None, ...]
    gates: Sequence[Gate | None]
    events: tuple[Event, ...]
    attempts: tuple[Attempt, ...]
    sent: Sent
    warnings: tuple[str, ...]
    written: Mapping[str, str]
    windows: tuple[int, ...] = ()
    cleared: tuple[ClearedInPlace, ...] = ()
    outlines: Mapping[str, Outline] = field(default_factory=dict)

    def wording(self, sketch_of: Callable[[Message], Sketch]) -> Mapping[str, str]:
        """The texts of everything inserted, by item id; ``sketch_of`` gives the sketch of an original message."""
        return Wording(self.written, self.outlines, sketch_of) if self.outlines else self.written

    def event(self, number: int) -> Event:
        """The compaction of that number, from 0; raises BadParameter where there is none."""
        if 0 <= number < len(self.events):
            return self.events[number]
        raise BadParameter(no_compaction(number, len(self.events)))

    @property
    def fits(self) -> bool:
        """Whether every request sent is within the window of its own model."""
        return all(tokens <= window for tokens, window in zip(self.sent.tokens, self.windows, strict=True))

    @property
    def as_recorded(self) -> str:
        """The threshold of the client that recorded the session, in words; "" where it is not this policy's."""
        return initial_params.as_recorded(self.weighed, self.policy, self.window)


class Options(TypedDict, total=False):
    """How a replay is made; what is left out is as ``walk_of`` has it.

    ``window`` in tokens replaces the recorded window; ``estimator`` replaces the one the trigger measures with.
    ``texts`` reads messages for summarizers that need their words; ``fail`` makes summary calls fail: "always",
    "every:N" or "first:N"; ``writer`` finds what a model wrote, for the summarizer that passes it on.  ``start`` is
    where parameters start from that are not given: the recording's client, or the policy's "defaults".
    """

    params: Mapping[str, object] | None
    base: str
    estimator: str | None
    summarizer: str
    window: int | None
    texts: Texts | None
    fail: str
    writer: Writer | None
    start: str


def replay(weighed: Weighed, policy: str | Policy, **options: Unpack[Options]) -> Replay:
    """Replay ``weighed`` under a policy, registered under its name or given; raises UnknownName or BadParameter."""
    walk = walk_of(weighed, policy, **options)
    walk.run()
    return replay_of(walk, options.get("summarizer", "recorded"))


def replay_of(walk: Walk, summarizer: str) -> Replay:
    """What a walk has come to so far, its summaries written by ``summarizer``."""
    return Replay(
        walk.weighed, walk.policy, walk.params, walk.base, walk.estimator, summarizer, walk.window, walk.window_source,
        tuple(walk.context_tokens), tuple(walk.labels), tuple(walk.gates), tuple(walk.events), tuple(walk.attempts),
        Sent(*map(list, walk.sent)), tuple(dict.fromkeys(walk.warnings)), walk.summaries.written, tuple(walk.windows),
        tuple(walk.leaving.cleared), walk.summaries.outlines,
    )  # fmt: skip


def walk_of(
    weighed: Weighed,
    policy: str | Policy,
    *,
    params: Mapping[str, object] | None = None,
    base: str = "full",
    estimator: str | None = None,
    summarizer: str = "recorded",
    window: int | None = None,
    texts: Texts | None = None,
    fail: str = "",
    writer: Writer | None = None,
    start: str = initial_params.AS_RECORDED,
) -> Walk:
    """The walk of ``replay`` before its first request; takes and raises the same."""
    if base not in BASES:
        raise BadParameter(f"base is one of {', '.join(BASES)}, not {base!r}")
    if window is not None and window <= 0:
        raise BadParameter(f"window is a positive number of tokens, not {window}")
    chosen: Policy = registry.get("policies", policy) if isinstance(policy, str) else policy
    built = initial_params.built(weighed, chosen, params or {}, start)
    measure = counted(registry.get("estimators", estimator or chosen.measured_by(built)), weighed, texts)
    summaries = Summaries(weighed, summarizer, measure, texts, fail, writer=writer)
    return Walk(weighed, chosen, built, measure, summaries, base=base, window=window)
