"""What all points of a session share: which usages cannot be right, where media stand, what every message weighs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from sessions.engine.agents.agent import (
    EVERY_REQUEST,
    Threshold,
    own_trigger,
    policy_facts,
    thresholds,
    trigger_of,
    writer_of,
)
from sessions.engine.base.session_cache import Remembered
from sessions.engine.models.model_info import ModelInfo
from sessions.engine.tokens.text_facts import n_marks
from sessions.engine.transcript.recorded_events import ErrorKind
from sessions.engine.transcript.types import Kind, Label, Message, ProviderError, Role, Transcript
from sessions.engine.weigh.calibration.context_windows import ModelWindow, windows_of
from sessions.engine.weigh.calibration.growth import JUMP_FACTOR, JUMP_FLOOR
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.outputs import reported_reasoning
from sessions.engine.weigh.sizes import estimator_named, message_sizes
from sessions.engine.why.culprits import has_media
from sessions.engine.why.falls import Fall, cutting_room, falls_of
from sessions.engine.why.runs import Runs

STILL, STILL_SHARE, STILL_CAME, STILL_GROWN, BAND, HALF = 4, 0.001, 2_000, 0.05, 0.03, 0.5
"""Requests in a row, the share within which their usage is one figure, and the tokens that came meanwhile, as a share
of it too; the share below a server's room where whole messages are left out, and what of it came then."""
N_HIDDEN, HIDDEN_FACTOR, HIDDEN_SHARE = 2, 2, 0.25
AGREES = 0.02
"""The share of the second within which two figures are one."""
CUTS = 5
"""Cuts of a list from which a usage that grows through all of them shows that they are the file's."""
LEAST_GROWTHS = 3
"""Requests of a stretch from which one growth is seen beside the last."""
SUM = 0.35
"""The share within which a usage is that of several calls together, each by what the file holds of it."""
ROUND = 1_024
"""Tokens of whose multiples windows of local servers are."""
IMPOSSIBLE = 2
"""Times a recorded window over which a usage is of no single request."""
SOON = 3
"""Requests over a threshold that may pass before a trigger is asked."""
MOST_PROMPT, MOST_WITHOUT_TOOLS, MOSTLY = 250_000, 60_000, 0.9
"""Tokens over which what was in the cache already is hardly a prompt, with tools and without, and the share it was."""
MANY = 2
"""Thresholds of one agent among which its version decides."""


class Still(NamedTuple):
    """A usage that stands still: from step ``first``, ``n`` requests report one figure while ``came`` tokens came.

    They report ``least`` to ``most`` tokens; ``is_band``: up to 3% apart, so that whole messages are left out.
    """

    first: int
    n: int
    least: int
    most: int
    came: int
    is_band: bool = False


SHARED: Remembered[Shared] = Remembered("what the points of a session share", 4)


@dataclass(frozen=True, eq=False)
class Shared:
    """What all points of a session share.

    ``spikes`` are requests whose usage cannot be right, ``media`` the messages with images or documents, ascending,
    ``windows`` what the client took every model for as far as the other usages say, "" of the session's own.
    """

    weighed: Weighed
    spikes: frozenset[int]
    media: list[int]
    windows: dict[str, ModelWindow]

    @cached_property
    def runs(self) -> Runs:
        """Sums over the stretches between compactions."""
        return Runs(self.weighed, self.spikes)

    @cached_property
    def falls(self) -> tuple[Fall, ...]:
        """Where the measured context fell and nothing says why."""
        return falls_of(self.weighed, self.spikes)

    @cached_property
    def measured(self) -> list[int]:
        """The steps whose context was measured, and can be right."""
        steps, labels = self.weighed.steps, self.weighed.recorded.labels
        return [k for k, s in enumerate(steps) if labels[k] is Label.MEASURED and s.request not in self.spikes]

    @cached_property
    def standing(self) -> int:
        """The overhead as far as every request carries it.

        The first request of a resumed session may hold a history that the transcript does not: that goes with the next
        compaction, which fixed overhead does not.
        """
        context = self.weighed.recorded.context
        return min([self.weighed.overhead, *(context[k] for k in self.measured)])

    @cached_property
    def begins_inside(self) -> bool:
        """Whether more than a prompt may stand before the first message: nobody asked, or most was in the cache."""
        weighed, first = self.weighed, next(iter(self.measured), None)
        if first is None:
            return False
        before = weighed.transcript.messages[: weighed.steps[first].stop]
        usage, own = weighed.transcript.requests[weighed.steps[first].request].usage, self.standing
        most = MOST_PROMPT if weighed.transcript.n_tool_calls else MOST_WITHOUT_TOOLS
        is_cached = usage is not None and own >= most and usage.cache_read >= MOSTLY * own
        return is_cached or not any(message.role is Role.USER for message in before)

    @cached_property
    def lacks_content(self) -> bool:
        """Whether the usage of a stretch grew by more than the file holds: a compaction may be of what it lacks."""
        return _lacks_content(self.weighed)

    @cached_property
    def is_hidden_growing(self) -> bool:
        """Whether what the transcript does not hold grows by more than a quarter: files that are sent, and not told."""
        weighed, recorded, run = self.weighed, self.weighed.recorded, self.measured
        until = next((n for n, k in enumerate(run) if n and weighed.steps[k].compaction is not None), len(run))
        if until < N_HIDDEN:
            return False
        first, last = run[0], run[until - 1]
        grown = recorded.context[last] - recorded.context[first]
        told = sum(weighed.tokens[weighed.steps[first].stop : weighed.steps[last].stop])
        return grown - HIDDEN_FACTOR * told > HIDDEN_SHARE * recorded.context[first]

    @cached_property
    def still(self) -> Still | None:
        """The longest stretch whose requests report one figure, with or without the reply, though messages came."""
        steps, requests = self.weighed.steps, self.weighed.transcript.requests
        found: list[Still] = []
        for with_output, share in ((False, STILL_SHARE), (True, STILL_SHARE), (False, BAND)):
            sizes = [u.context + with_output * u.output if (u := requests[step.request].usage) else 0 for step in steps]
            for start, stop in pairwise(self._breaks(sizes, share)):
                came = sum(self.weighed.tokens[steps[start].stop : steps[stop - 1].stop])
                low, most = min(sizes[start:stop]), max(sizes[start:stop])
                is_round = low == most > ROUND and not most % ROUND
                least = max(STILL_CAME, (STILL_GROWN if share < BAND else HALF) * most)
                if stop - start >= STILL and came and (is_round or came >= least):
                    found.append(Still(start, stop - start, low, most, came, share == BAND))
        return max(found, key=lambda still: (not still.is_band, still.n), default=None)

    def _breaks(self, sizes: Sequence[int], share: float) -> Iterator[int]:
        """Where stretches begin, and the end: within one all sizes lie within a share of its largest, none unknown."""
        low, most = 0, 0
        for k, (step, size) in enumerate(zip(self.weighed.steps, sizes, strict=True)):
            low, most = min(low, size), max(most, size)
            if not low or step.compaction is not None or most - low > share * most:
                low = most = size
                yield k
        yield len(sizes)

    @cached_property
    def is_shortened(self) -> bool:
        """Whether each list is cut while every usage grows: the file has the newest messages alone (verdicts 3.36)."""
        compactions, context = self.weighed.transcript.compactions, self.weighed.recorded.context
        if len(compactions) < CUTS or any(c.trigger or c.message is not None for c in compactions):
            return False
        places = [position_of(self.weighed, c.request) for c in compactions]
        known = frozenset(self.measured)
        return all(k in known and k - 1 in known and context[k] > context[k - 1] for k in places)

    @cached_property
    def is_compacted(self) -> bool:
        """Whether a compaction of the branch shows what stays through one."""
        return any(step.compaction is not None for step in self.weighed.steps)

    @cached_property
    def bytes_until(self) -> list[int]:
        """Transcript bytes of the first n messages, for every n."""
        return [0, *accumulate(message_sizes(self.weighed, estimator_named("wire_bytes")))]

    @cached_property
    def tool_of(self) -> dict[str, str]:
        """The tool that every call names."""
        calls = (b for m in self.weighed.transcript.messages for b in m.blocks if b.kind is Kind.TOOL_USE)
        return {block.call_id: block.name for block in calls if block.call_id}

    @cached_property
    def windows_until(self) -> list[int]:
        """The largest window that the first n requests record, or the session, for every n; 0 where none does."""
        requests, usual = self.weighed.transcript.requests, self.weighed.transcript.window or 0
        return [0, *accumulate((requests[step.request].window or usual for step in self.weighed.steps), max)]

    @cached_property
    def text_until(self) -> list[int]:
        """Tokens of the text of the first n messages by tiktoken alone, thinking left out, for every n."""
        kept = (Kind.TEXT, Kind.TOOL_USE, Kind.TOOL_RESULT)
        each = (sum(b.n_tokens for b in m.leaves() if b.kind in kept) for m in self.weighed.transcript.messages)
        return [0, *accumulate(each)]

    @cached_property
    def figures(self) -> list[int]:
        """What the recorder wrote down, or else the usage before, of every compaction nobody asked for, ascending."""
        requests, steps = self.weighed.transcript.requests, self.weighed.steps
        found = []
        for compaction in self.weighed.transcript.compactions:
            if compaction.trigger == "manual" or compaction.outside:
                continue
            k = position_of(self.weighed, compaction.request) - 1
            usage = requests[steps[k].request].usage if 0 <= k < len(steps) else None
            figure = compaction.tokens_before or (usage.context + usage.output if usage else 0)
            found += [figure] if figure else []
        return sorted(found)

    @cached_property
    def reported(self) -> dict[int, int]:
        """Tokens of reasoning that each reply reports, by the index of its message that thinks."""
        return reported_reasoning(self.weighed.transcript)

    @cached_property
    def n_at_once(self) -> int:
        """How many compactions came one request after the one before."""
        places = [position_of(self.weighed, c.request) for c in self.weighed.transcript.compactions]
        return sum(later - earlier == 1 for earlier, later in pairwise(places))

    @cached_property
    def n_models(self) -> int:
        """How many models the requests of the branch name."""
        return len({r.model for r in self.weighed.transcript.requests if r.model and r.on_branch})

    @cached_property
    def has_usage(self) -> bool:
        """Whether any request reports its usage."""
        return any(request.usage for request in self.weighed.transcript.requests)


def shared_facts(weighed: Weighed) -> Shared:
    """What the points of a session share, worked out once while the session is held."""
    return weighed.cache.value(SHARED, lambda: _shared(weighed))


def _shared(weighed: Weighed) -> Shared:
    spikes, transcript = spikes_of(weighed), weighed.transcript
    windows = windows_of(transcript, spikes, as_client_assumes=True)
    media = [message.index for message in transcript.messages if has_media(message)]
    return Shared(weighed, spikes, media, windows)


def spikes_of(weighed: Weighed) -> frozenset[int]:
    """Flagged requests, and those just before a compaction or the end that jump beyond what their content explains.

    There no later usage can show the fall back that a flag needs (estimators 7.2), so a jump of at least three quarters
    of the context before it is asked for, and no image or document may stand in the step.  A server's log of prompts
    that it cut has the right sizes, and no content.
    """
    if not weighed.transcript.messages and cutting_room(weighed.transcript):
        return frozenset()
    found = set(weighed.flagged)
    messages, requests = weighed.transcript.messages, weighed.transcript.requests
    at_end = {k - 1 for k, step in enumerate(weighed.steps) if step.compaction is not None} | {len(weighed.steps) - 1}
    if _lacks_content(weighed):
        return frozenset(found)
    for k in at_end:
        if k < 1 or weighed.steps[k].compaction is not None:
            continue
        step = weighed.steps[k]
        now, then = requests[step.request].usage, requests[weighed.steps[k - 1].request].usage
        if now and not then and calls_added(weighed, k):
            found.add(step.request)
        if not now or not then or weighed.steps[k - 1].request in found:
            continue
        span = messages[step.start : step.stop]
        explained = JUMP_FACTOR * sum(leaf.n_tokens for m in span for leaf in m.leaves()) + JUMP_FLOOR
        jump = now.context - then.context
        if jump > explained and jump >= 0.75 * then.context and not any(has_media(m) for m in span):
            found.add(step.request)
    return frozenset(found)


def calls_added(weighed: Weighed, k: int) -> int:
    """How many calls the usage of step ``k`` adds up, where those right before it have none; 0 where it does not.

    By what the file holds of each: the sum, within ``SUM``, is far from any one of them.
    """
    requests, before = weighed.transcript.requests, k - 1
    while before > 0 and weighed.steps[before].compaction is None and not requests[weighed.steps[before].request].usage:
        before -= 1
    now, then = (requests[weighed.steps[n].request].usage for n in (k, before))
    if not now or not then or k - before < 2:
        return 0
    context, total = then.context, 0
    for step in weighed.steps[before + 1 : k + 1]:
        context += sum(weighed.tokens[step.start : step.stop])
        total += context
    return k - before if agree(now.context, total, SUM) else 0


def _lacks_content(weighed: Weighed) -> bool:
    """Whether the usage of a stretch between compactions grew by more than the file holds, its last request aside."""
    starts = [0, *(n for n, step in enumerate(weighed.steps) if n and step.compaction is not None)]
    for start, stop in pairwise([*starts, len(weighed.steps)]):
        if stop - start < LEAST_GROWTHS:
            continue
        first, last = (weighed.transcript.requests[weighed.steps[n].request].usage for n in (start, stop - 2))
        span = weighed.transcript.messages[weighed.steps[start].stop : weighed.steps[stop - 2].stop]
        held = sum(leaf.n_tokens for message in span for leaf in message.leaves())
        if first and last and last.context - first.context > JUMP_FACTOR * held + JUMP_FLOOR:
            return True
    return False


def position_of(weighed: Weighed, request: int) -> int:
    """The first step whose request is ``request`` or later, the number of steps if none."""
    return bisect_left(weighed.steps, request, key=lambda step: step.request)


def thresholds_of(
    transcript: Transcript, window: int, model: ModelInfo, n_over: Callable[[int], int] = lambda _: 0
) -> tuple[Threshold, ...]:
    """Thresholds of the agent that wrote a transcript: its version's alone, where that is known (policies 4.11).

    ``n_over`` says how many requests stood over one unhindered: where the file refutes its version's, they are all.
    """
    agent = writer_of(transcript)
    found = thresholds(agent, window, model)
    own = own_trigger(transcript) if len(found) >= MANY else None
    if own is None or not policy_facts(own.policy).client(transcript).words:
        return found
    at = own_threshold(transcript, window, model)
    if at is not None and agent.asked == EVERY_REQUEST and n_over(at) > SOON:
        return found
    return tuple(one for one in found if one.tokens == at) or found


def own_threshold(transcript: Transcript, window: int, model: ModelInfo) -> int | None:
    """The threshold of the trigger that a transcript ran under, as its client had it; None where it is not known."""
    trigger = trigger_of(transcript)
    return None if trigger is None else trigger.threshold(window, model)


def newest_refusal(errors: Sequence[ProviderError]) -> ProviderError | None:
    """The newest of them that refused a request for its tokens."""
    return next((error for error in reversed(errors) if error.kind == ErrorKind.CONTEXT), None)


def threshold_at(transcript: Transcript, window: int, model: ModelInfo) -> int:
    """The threshold of the agent's present version at a window, nearly all of it where its trigger is not known."""
    known = thresholds_of(transcript, window, model)
    return known[0].tokens if known else nearly_all(window)


def nearly_all(window: int) -> int:
    """Where a window counts as passed whose agent's trigger is not known."""
    return window * 49 // 50


def withheld(message: Message) -> bool:
    """Whether words of a message are encrypted, or were taken out before the file was passed on."""
    return any(block.kind is Kind.OPAQUE or n_marks(block.classes) for block in message.leaves())


def agree(one: int, other: int, share: float = AGREES) -> bool:
    """Whether two figures are the same within a share of the second."""
    return abs(one - other) <= share * max(1, other)
