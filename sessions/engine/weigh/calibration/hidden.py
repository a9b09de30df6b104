"""What a context holds that the transcript does not (replay-semantics 3; what a client adds, estimators 7.4).

The client's reminders, the overhead, and what came before the file: a part that is named, is no overhead, and leaves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from statistics import median
from typing import NamedTuple

from sessions.engine.transcript.types import Kind, Label, Role, Transcript
from sessions.engine.weigh.calibration.growth import Step, misses
from sessions.engine.weigh.calibration.prior import Prior

TASK_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
PLANS, PLAN_REMINDED = "EnterPlanMode", 5
"""The call that enters the plan mode, and after how many requests the client says again that it may only plan."""
_VERSION = re.compile(r"(\d+)\.(\d+)")

MIN_REPEATED, LEAST_HIDDEN = 4, 60
"""How many growths with a tool show what its client adds after it, and from how many tokens on."""

LARGE = 300
"""Growths of fewer tokens are left as they are: what no line tells of comes with work on files."""

RELISTED_SINCE = (2, 1, 29)
"""The first version of Claude Code that was measured to say its lists anew after an automatic compaction."""
LAST_SENTENCE = 14
"""Tokens of the reminder's last sentence, which 1.0 does not have: that it is never to be mentioned."""

HISTORY_LABEL = "history before this file"
SHARE, SLACK = 0.15, 1_000
"""What a list left by a compaction may weigh less than its estimate, and what tools may come and go, in tokens."""


class Patience(NamedTuple):
    """Blocks of replies, thinking aside, after which a client reminds; ``late``: before the newest reply is there."""

    since_use: int
    since_reminder: int
    late: bool = False


PATIENCE = {(1, 0): Patience(7, 3, late=True), (2, 0): Patience(7, 3), (2, 1): Patience(10, 10)}
"""By the first two numbers of Claude Code's version."""


def hidden_tokens(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], prior: Prior
) -> dict[int, int]:
    """Tokens that the client added and did not record, by request: attachments of its step (estimators 7.4)."""
    rests = {step.request: rest for step, _, rest in misses(transcript, steps, bodies, training)}
    reminders = reminded(transcript, steps) if prior.reminder else {}
    patience = _patience(transcript)
    usual = prior.reminder - (LAST_SENTENCE if patience and patience.late else 0)
    once = _once([rest - prior.reminder_task * reminders[at] for at, rest in rests.items() if at in reminders], usual)
    found = {at: round(once + prior.reminder_task * n_tasks) for at, n_tasks in reminders.items()} if once else {}
    for at in planned(transcript, steps) if prior.plan else ():
        found[at] = found.get(at, 0) + round(prior.plan)
    said_anew = relisted(transcript, steps) if prior.relisted else frozenset()
    lists = round(_once([rests[at] for at in said_anew if at in rests], prior.relisted))
    for at in said_anew if lists else ():
        found[at] = found.get(at, 0) + lists
    much = {at: rest - found.get(at, 0) for at, rest in rests.items()} if found else rests
    said = _after_tools(transcript, [step for step in steps if step.request in much], much)
    for step in steps if said else ():
        if more := sum(said.get(name, 0) for name in _tools(transcript, step)):
            found[step.request] = found.get(step.request, 0) + more
    return found


def _once(own: Sequence[float], usual: float) -> float:
    """What one addition weighs: the median of what growths with it leave over, the prior's counting twice."""
    return max(0.0, median([*own, usual, usual]))


def untold_tokens(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], prior: Prior
) -> dict[int, int]:
    """The prior's share of every unmeasured growth of more than ``LARGE`` tokens, by request (estimators 7.4).

    ``bodies`` are the contexts so far; between two requests that are trained on all that came is known.
    """
    measured = prior.clients and prior.clients[0] <= version_of(transcript.client) <= prior.clients[-1]
    if not prior.untold or not measured or not _is_silent(transcript):
        return {}
    found = {}
    for before, step in pairwise(steps):
        grown = (bodies[step.request] or 0) - (bodies[before.request] or 0)
        known = before.request in training and step.request in training
        if not step.restarts and not known and grown > LARGE:
            found[step.request] = round(prior.untold * grown)
    return found


def _tools(transcript: Transcript, step: Step) -> set[str]:
    messages = transcript.messages[step.start : step.stop]
    return {block.name for message in messages for block in message.blocks if block.kind is Kind.TOOL_USE}


def _after_tools(transcript: Transcript, steps: Sequence[Step], rests: Mapping[int, int]) -> dict[str, int]:
    """What three growths in four leave over at least where they hold one tool, if they are enough and it is much."""
    by_tool: dict[str, list[int]] = {}
    for step in steps:
        names = _tools(transcript, step)
        if len(names) == 1:
            by_tool.setdefault(names.pop(), []).append(rests[step.request])
    quarters = {name: sorted(each)[len(each) // 4] for name, each in by_tool.items() if len(each) >= MIN_REPEATED}
    return {name: rest for name, rest in quarters.items() if rest >= LEAST_HIDDEN}


def reminded(transcript: Transcript, steps: Sequence[Step]) -> dict[int, int]:
    """Requests with a reminder of the to-do list, and its tasks; after a restart it waits for the list's use alone."""
    patience = _patience(transcript)
    if patience is None:
        return {}
    found: dict[int, int] = {}
    unused = silent = n_tasks = 0
    for step in steps:
        if step.restarts:
            unused = silent = 0
        due = unused >= patience.since_use and silent >= patience.since_reminder
        for message in transcript.messages[step.start if step.afresh is None else step.afresh : step.stop]:
            if message.resumed:
                silent = patience.since_reminder
            if message.role is not Role.ASSISTANT:
                continue
            for block in message.blocks:
                if block.kind is Kind.THINKING:
                    continue
                unused, silent = unused + 1, silent + 1
                if block.kind is Kind.TOOL_USE and block.name in TASK_TOOLS:
                    unused = int(patience.late)
                    n_tasks += block.name == "TaskCreate"
        if not patience.late:
            due = unused >= patience.since_use and silent >= patience.since_reminder
        if due:
            found[step.request], silent = n_tasks, 0
    return found


def planned(transcript: Transcript, steps: Sequence[Step]) -> frozenset[int]:
    """Requests with which a silent client said that it may only plan: a prompt in that mode, or the call into it."""
    if not _is_silent(transcript):
        return frozenset()
    found: list[int] = []
    told = -PLAN_REMINDED
    for number, step in enumerate(steps):
        messages = transcript.messages[step.start : step.stop]
        if number - told >= PLAN_REMINDED and (any(m.planned for m in messages) or PLANS in _tools(transcript, step)):
            found.append(step.request)
            told = number
    return frozenset(found)


def relisted(transcript: Transcript, steps: Sequence[Step]) -> frozenset[int]:
    """Requests with which a silent client says its lists anew: the second after an automatic compaction."""
    if not _is_silent(transcript) or version_of(transcript.client) < RELISTED_SINCE:
        return frozenset()
    return frozenset(
        after.request
        for step, after in pairwise(steps)
        if step.compaction is not None and after.compaction is None
        and transcript.compactions[step.compaction].trigger == "auto"
    )  # fmt: skip


def version_of(client: str) -> tuple[int, ...]:
    """The numbers of a client's version, () where it says none."""
    return tuple(map(int, re.findall(r"\d+", client)[:3]))


def _patience(transcript: Transcript) -> Patience | None:
    """The client's, None for another client and for one that records what it attaches."""
    version = _VERSION.match(transcript.client)
    return PATIENCE.get((int(version[1]), int(version[2]))) if version and _is_silent(transcript) else None


def _is_silent(transcript: Transcript) -> bool:
    """Whether Claude Code wrote it in a version that does not record what it attaches."""
    return transcript.format == "claude_code" and not any(m.attachment for m in transcript.messages)


class Base(NamedTuple):
    """The overhead and the history before the file, in tokens; ``left_at`` is the request that no longer held that."""

    overhead: int
    label: Label
    warning: str = ""
    history: int = 0
    left_at: int | None = None


class _Seen(NamedTuple):
    """A measured context, the estimate of its messages, and of its system messages, which never leave; in tokens."""

    step: Step
    context: int
    body: int
    system: int

    @property
    def room(self) -> int:
        """What the context can hold beside its system messages, at least 0."""
        return max(0, self.context - self.system)

    @property
    def beside(self) -> int:
        """What the context holds beside its messages, at least 0."""
        return max(0, self.context - self.body)


def base_of(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], ratio: float
) -> Base:
    """The first measured context less its messages, at most what others leave; without usage what the file has."""
    seen = _measured(transcript, steps, bodies, training, ratio)
    if seen:
        return _bounded(transcript, seen)
    if transcript.system:
        return Base(round(sum(b.n_tokens for b in transcript.system) * ratio), Label.ESTIMATED)
    told = any(message.role is Role.SYSTEM for message in transcript.messages)
    missing, unknown = ("tools", "tools, hidden text") if told else ("system prompt", "system prompt, tools")
    warning = f"no usage and no {missing} in the file: the fixed overhead ({unknown}) is unknown, shown as 0"
    return Base(0, Label.ESTIMATED, warning)


def with_base(bodies: Sequence[int | None], steps: Sequence[Step], base: Base) -> tuple[int | None, ...]:
    """The estimated contexts: messages, overhead and, until it left or all did, the history before the file."""
    contexts: list[int | None] = [None] * len(bodies)
    beside = base.overhead + base.history
    for step in steps:
        if step.request == base.left_at or step.afresh is not None:
            beside = base.overhead
        body = bodies[step.request]
        contexts[step.request] = None if body is None else body + beside
    return tuple(contexts)


def _measured(
    transcript: Transcript, steps: Sequence[Step], bodies: Sequence[int | None], training: frozenset[int], ratio: float
) -> list[_Seen]:
    found: list[_Seen] = []
    system = 0
    for step in steps:
        for message in transcript.messages[step.start : step.stop]:
            if message.role is Role.SYSTEM:
                system += ceil(sum(block.n_tokens for block in message.leaves()) * ratio)
        usage, body = transcript.requests[step.request].usage, bodies[step.request]
        if usage and body is not None and step.request in training:
            found.append(_Seen(step, usage.context, body, system))
    return found


def _bounded(transcript: Transcript, seen: Sequence[_Seen]) -> Base:
    first, *later = seen
    whole = first.beside
    # The list that the first compaction left is known and small: what its context holds beside it is the overhead.
    restart = next((one for one in later if one.step.compaction is not None), None)
    left_there = restart if restart and _is_shorter(transcript, restart, whole) else None
    overhead = min([whole, *([left_there.beside] if left_there else []), *(one.room for one in later)])
    left = whole - overhead
    if first.step.compaction is not None or left <= SLACK:
        return Base(overhead, Label.CALIBRATED)
    if left_there:
        at = left_there.step.request
        words = f"this session goes on from an earlier one, and they left at the compaction before request {at}"
        return Base(overhead, Label.CALIBRATED, f"{HISTORY_LABEL}: {left:,} tokens; {words}", left, at)
    smaller = next(one for one in later if one.room < whole)
    at = smaller.step.request
    words = f"request {at} sent {smaller.context:,} tokens in all, so they are no overhead"
    return Base(overhead, Label.CALIBRATED, f"{HISTORY_LABEL} (likely): {left:,} tokens; {words}", left, at)


def _is_shorter(transcript: Transcript, one: _Seen, whole: int) -> bool:
    """Whether a context right after a compaction cannot hold ``whole`` tokens beside its messages, errors allowed."""
    number = one.step.compaction
    known = number is not None and not transcript.compactions[number].outside
    return known and one.context - (1 - SHARE) * one.body + SLACK < whole
