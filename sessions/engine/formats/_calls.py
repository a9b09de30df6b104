"""Sessions from single model calls: each call sends its whole prompt again, which is one history (formats 16, 20).

A call that sends what a session has so far, and more, continues it; one that sends less is a recorded compaction, one
that goes another way from an earlier message on a branch; one that shares nothing starts a session of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sessions.engine.formats._anthropic_blocks import is_prompt
from sessions.engine.formats._assembly import Assembly, with_unique_ids
from sessions.engine.types import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sessions.engine.formats import Measured
    from sessions.engine.types import Content, Origin, Transcript, Usage

CONTINUED = "This session is being continued from a previous conversation"


@dataclass(slots=True)
class Said:
    """One message of a call, with its blocks while the file is read."""

    role: Role
    contents: tuple[Content, ...]
    origins: tuple[Origin, ...]
    id: str = ""
    key: int = 0
    calls: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.key = hash((self.role, tuple(part for content in self.contents for part in _key(content))))
        self.calls = frozenset(c.call_id for c in self.contents if c.kind is Kind.TOOL_USE and c.call_id)


@dataclass(slots=True)
class Call:
    """One model call: what was sent, what came back, what it cost.

    ``caller`` is the tool call it was made inside, ``continues`` the response whose history the server keeps for it,
    ``compacted`` what the server's own compaction took in (0 unknown), None where there was none.
    """

    sent: list[Said]
    replied: list[Said]
    usage: Usage | None = None
    model: str = ""
    response_id: str = ""
    timestamp: float | None = None
    group: str = ""
    caller: str = ""
    system: tuple[Content, ...] = ()
    continues: str = ""
    compacted: int | None = None


@dataclass(slots=True)
class Step:
    """A message of a session in the making; ``gone`` once a later call left it for another branch."""

    said: Said
    timestamp: float | None
    call: int = -1
    made_by: int | None = None
    summary: bool = False
    gone: bool = False


@dataclass(slots=True)
class Cut:
    """A recorded compaction in the making, before call ``call``: how many steps stood there, which of them stayed."""

    call: int
    n_steps: int
    kept: tuple[int, ...]
    summary: int | None = None


@dataclass(slots=True)
class Thread:
    """A session in the making: its steps in order of arrival, and the list that is sent (``live``)."""

    group: str
    steps: list[Step] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    n_changed: int = 0

    def keys(self) -> list[int]:
        """Keys of the live messages."""
        return [self.steps[step].said.key for step in self.live]


def answered(calls: Iterable[Call]) -> list[Call]:
    """The calls in order of time, without those that failed: no reply and no usage (replay-semantics 1)."""
    found = sorted(calls, key=lambda call: call.timestamp or 0)
    return [call for call in found if call.replied or call.usage] or found[-1:]


def sessions_of(calls: Sequence[Call], measure: Measured, *, format_name: str, stem: str) -> tuple[Transcript, ...]:
    """The sessions that the calls, in order of time, belong to; the one a sub-agent was started from is its parent."""
    threads: list[Thread] = []
    for call in calls:
        sent = [said for said in call.sent if said.role is not Role.SYSTEM]
        thread = _home(threads, call, sent)
        if thread is None:
            thread = Thread(call.group)
            threads.append(thread)
            _extend(thread, call, call.sent)
        _reply(thread, call)
    names = [f"{thread.group or stem}" for thread in threads]
    owners = {c: name for thread, name in zip(threads, names, strict=True) for s in thread.steps for c in s.said.calls}
    built = []
    for position, thread in enumerate(threads):
        name = names[position] if position == names.index(names[position]) else f"{names[position]}.{position}"
        names[position] = name
        caller = thread.calls[0].caller
        owner = owners.get(caller)
        parent = (owner, caller) if owner and owner != name else ("", "")
        built.append(_transcript(thread, measure, name, format_name, parent))
    return with_unique_ids(built)


def _home(threads: Sequence[Thread], call: Call, sent: Sequence[Said]) -> Thread | None:
    """The session a call continues, already brought to what the call sends; None where it starts one."""
    ranked = sorted(
        ((_shared(thread, sent), position) for position, thread in enumerate(threads) if thread.group == call.group),
        reverse=True,
    )
    for shared, position in ranked:
        thread = threads[position]
        if _goes_on(thread, call, sent) if not shared else _joins(thread, call, sent, shared):
            return thread
    return None


def _shared(thread: Thread, sent: Sequence[Said]) -> int:
    """How many messages at the start of the session are sent again; its newest reply may be in another form."""
    n_same = 0
    for position, step in enumerate(thread.live):
        if position >= len(sent):
            break
        known = thread.steps[step]
        echo = position == len(thread.live) - 1 and known.call >= 0 and sent[position].role is Role.ASSISTANT
        if known.said.key != sent[position].key and not (echo and n_same):
            break
        n_same += 1
    return n_same


def _goes_on(thread: Thread, call: Call, sent: Sequence[Said]) -> bool:
    """A call that shares no beginning: only what is new was sent, or the rest of a history that was cut."""
    last = thread.calls[-1]
    asked = {c for said in last.replied for c in said.calls}
    answered = {c.call_id for said in sent for c in said.contents if c.kind is Kind.TOOL_RESULT}
    if asked & answered and not any(said.calls & asked for said in sent):
        _extend(thread, call, sent)
        return True
    if call.continues and call.continues == last.response_id:
        _extend(thread, call, sent)
        return True
    kept = _survivors(thread.live, thread, sent)
    told = bool(sent) and any(content.text.lstrip().startswith(CONTINUED) for content in sent[0].contents)
    if told or (len(kept) >= 2 and len(sent) < len(thread.live)):
        _cut(thread, call, sent, kept)
        return True
    return False


def _joins(thread: Thread, call: Call, sent: Sequence[Said], shared: int) -> bool:
    """A call that shares a beginning: more of the same, less of it, or another way from there."""
    if shared == len(thread.live):
        _extend(thread, call, sent[shared:])
        return True
    kept = _survivors(thread.live[shared:], thread, sent[shared:])
    if kept and len(sent) >= len(thread.live):
        thread.n_changed += len(thread.live) - shared - len(kept)
        _extend(thread, call, sent[len(thread.live) :])
        return True
    if kept:
        _cut(thread, call, sent, {position: position for position in range(shared)} | _shifted(kept, shared))
        return True
    if thread.calls[0].system != call.system:
        return False
    for step in thread.live[shared:]:
        thread.steps[step].gone = True
    del thread.live[shared:]
    _extend(thread, call, sent[shared:])
    return True


def _survivors(live: Sequence[int], thread: Thread, sent: Sequence[Said]) -> dict[int, int]:
    """Positions in ``sent`` of messages that were live, to their positions among ``live``, both ascending."""
    found: dict[int, int] = {}
    start = 0
    keys = [thread.steps[step].said.key for step in live]
    for position, said in enumerate(sent):
        if said.key in keys[start:]:
            start = keys.index(said.key, start) + 1
            found[position] = start - 1
    return found


def _shifted(kept: dict[int, int], by: int) -> dict[int, int]:
    return {position + by: place + by for position, place in kept.items()}


def _cut(thread: Thread, call: Call, sent: Sequence[Said], kept: dict[int, int]) -> None:
    """The history was cut before this call: what is not sent left, what stands before something kept was made."""
    old = list(thread.live)
    cut = Cut(len(thread.calls), len(thread.steps), tuple(sorted(old[place] for place in kept.values())))
    thread.cuts.append(cut)
    last_kept = max(kept, default=0)
    live = []
    for position, said in enumerate(sent):
        if position in kept:
            live.append(old[kept[position]])
            continue
        made = position <= last_kept
        summary = made and cut.summary is None and is_prompt(said.contents)
        if summary:
            cut.summary = len(thread.steps)
        made_by = len(thread.cuts) - 1 if made else None
        thread.steps.append(Step(said, call.timestamp, made_by=made_by, summary=summary))
        live.append(len(thread.steps) - 1)
    thread.live = live


def _extend(thread: Thread, call: Call, sent: Sequence[Said]) -> None:
    """What is new goes behind; the reply to a call that was logged without one is the first of it."""
    unanswered = len(thread.calls) - 1 if thread.calls and not thread.calls[-1].replied else -1
    for position, said in enumerate(sent):
        is_reply = not position and said.role is Role.ASSISTANT
        thread.steps.append(Step(said, call.timestamp, call=unanswered if is_reply else -1))
        if said.role is not Role.SYSTEM:
            thread.live.append(len(thread.steps) - 1)


def _reply(thread: Thread, call: Call) -> None:
    number = len(thread.calls)
    thread.calls.append(call)
    for said in call.replied:
        thread.steps.append(Step(said, call.timestamp, call=number))
        thread.live.append(len(thread.steps) - 1)


def _transcript(
    thread: Thread,
    measure: Measured,
    native_id: str,
    format_name: str,
    parent: tuple[str, str],
) -> Transcript:
    """Messages of the selected branch, requests of all, compactions where the history was cut."""
    assembly = Assembly(measure)
    index_of: dict[int, int] = {}
    replies: dict[int, int] = {}
    for number, step in enumerate(thread.steps):
        if step.gone:
            continue
        made = step.made_by is not None
        index_of[number] = assembly.add(
            step.said.role,
            step.said.contents,
            step.said.origins,
            id=step.said.id,
            timestamp=step.timestamp,
            typed=False if made else None,
            summary=step.summary,
            compaction=step.made_by,
        )
        if step.said.role is Role.ASSISTANT and step.call >= 0:
            replies.setdefault(step.call, index_of[number])
    lost = {step.call for step in thread.steps if step.gone and step.call >= 0} - set(replies)
    for number, call in enumerate(thread.calls):
        facts = {"response_id": call.response_id, "model": call.model, "timestamp": call.timestamp}
        assembly.request(replies.get(number), call.usage, on_branch=number not in lost, **facts)
        if call.compacted is not None and number in replies:
            place, spent = replies[number], call.compacted or None
            assembly.compaction(place, request=number, message=place, trigger="auto", tokens_before=spent)
    for cut in thread.cuts:
        _compaction(assembly, cut, index_of)
    if lost:
        assembly.warnings.append(f"Requests on a branch that was left: {len(lost)}, counted, not among the messages")
    if thread.n_changed:
        assembly.warnings.append(f"Messages sent again in another form: {thread.n_changed}; their first form is kept")
    system = measure(thread.calls[0].system)
    return assembly.transcript(native_id, format_name, parent_id=parent[0], parent_call_id=parent[1], system=system)


def _compaction(assembly: Assembly, cut: Cut, index_of: dict[int, int]) -> None:
    before = assembly.requests[cut.call - 1].usage if cut.call else None
    boundary = sum(1 for step in index_of if step < cut.n_steps)
    assembly.compaction(
        boundary,
        request=cut.call,
        message=index_of.get(cut.summary) if cut.summary is not None else None,
        tokens_before=before.context + before.output if before else None,
        preserved=tuple(
            index
            for step, index in index_of.items()
            if step < cut.n_steps and (step in cut.kept or assembly.messages[index].role is Role.SYSTEM)
        ),
    )


def _key(content: Content) -> tuple[object, ...]:
    """What makes two blocks the same although one is an echo: not the thinking, not how arguments are written."""
    if content.kind is Kind.THINKING:
        return ()
    if content.kind is Kind.TOOL_USE:
        return (content.kind, content.name, content.call_id or "".join(content.text.split()))
    parts = tuple(part for inner in content.parts for part in _key(inner))
    return (content.kind, content.call_id, content.text.strip(), content.data, content.url, parts)
