"""Sessions from single model calls: the prompt that each call repeats is one history, each call one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sessions.engine.reading.formats import _threads
from sessions.engine.reading.formats._assembly import Assembly, with_unique_ids
from sessions.engine.reading.formats._calls import CUT_OFF, CallMessage, TracedCall
from sessions.engine.reading.formats._threads import CallThread, HistoryCut
from sessions.engine.reading.formats._values import Measured
from sessions.engine.transcript.types import Role, Transcript


def sessions_of(
    calls: Iterable[TracedCall], measure: Measured, *, format_name: str, stem: str, results: Sequence[CallMessage] = ()
) -> tuple[Transcript, ...]:
    """The sessions that the calls, in order of time, belong to; the one a sub-agent was started from is its parent.

    ``results`` are what tools gave out by spans of their own, taken where no later call sent an answer.
    What a call sends again is let go at once: a log of many calls is never held whole.
    """
    threads: list[CallThread] = []
    starts: dict[tuple[str, int], list[int]] = {}
    for call in calls:
        sent = _threads.superseded(threads, call, [said for said in call.sent if said.role is not Role.SYSTEM])
        if call.edits.asked or (call.edits.error is not None and not call.replied):
            _beside(threads, call, sent)
            continue
        position = _threads.home(threads, starts, call, sent)
        if position is None:
            position = len(threads)
            threads.append(CallThread(call.group, call))
            _threads.extend(threads[position], call, call.sent)
        thread = threads[position]
        call.sent = []
        thread.refuse(call.edits.error)
        _threads.flag(thread, call)
        _threads.reply(thread, call)
        thread.refuse(call.edits.ended)
        first = (thread.group, thread.steps[thread.live[0]].said.key if thread.live else 0)
        if position not in starts.setdefault(first, []):
            starts[first].append(position)
    for thread in threads:
        _threads.answer(thread, results)
        _threads.settle(thread)
    names = _names(threads, stem)
    owners = {c: name for thread, name in zip(threads, names, strict=True) for s in thread.steps for c in s.said.calls}
    built = []
    for thread, name in zip(threads, names, strict=True):
        caller = thread.first.caller
        owner = owners.get(caller, "")
        parent = (owner, caller) if owner and owner != name else ("", "")
        built.append(_transcript(thread, measure, name, format_name, parent))
    return with_unique_ids(built)


def _beside(threads: list[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> None:
    """A call that adds nothing to its session's list: refused, failed, or made for a summary alone."""
    position = _threads.held_by(threads, call, sent)
    if position is None:
        position = len(threads)
        threads.append(CallThread(call.group, call))
        _threads.extend(threads[position], call, call.sent)
    call.sent = []
    threads[position].refuse(call.edits.error)
    if call.edits.asked:
        _threads.summarised(threads[position], call, sent)


def _names(threads: Sequence[CallThread], stem: str) -> list[str]:
    """The group's name for its first session, with a number behind it for the others."""
    seen: Counter[str] = Counter()
    names = []
    for thread in threads:
        name = thread.group or stem
        names.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return names


def _transcript(
    thread: CallThread, measure: Measured, native_id: str, format_name: str, parent: tuple[str, str]
) -> Transcript:
    """Messages of the selected branch, requests of all, compactions where the history was cut."""
    assembly = Assembly(measure)
    index_of: dict[int, int] = {}
    replies: dict[int, list[int]] = {}
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
            replies.setdefault(step.call, []).append(index_of[number])
    n_lost = _requests(assembly, thread, replies)
    for cut in thread.cuts:
        _compaction(assembly, cut, index_of)
    for refusal, n_steps, n_calls in thread.refused:
        assembly.refused.append((refusal, sum(1 for step in index_of if step < n_steps), n_calls))
    assembly.note(n_lost, f"Requests on a branch that was left: {n_lost}, counted, not among the messages")
    if n_cut_off := sum(call.edits.is_cut_off for call in thread.calls):
        assembly.warnings.append(f"{CUT_OFF}: {n_cut_off}")
    assembly.note(
        thread.n_changed, f"Messages sent again in another form: {thread.n_changed}; their first form is kept"
    )
    system = measure(thread.first.system)
    return assembly.transcript(native_id, format_name, parent_id=parent[0], parent_call_id=parent[1], system=system)


def _requests(assembly: Assembly, thread: CallThread, replies: Mapping[int, Sequence[int]]) -> int:
    """A request for every call, and the compactions the server made; how many calls are on a branch that was left."""
    lost = {step.call for step in thread.steps if step.gone and step.call >= 0} - set(replies)
    for number, call in enumerate(thread.calls):
        facts = {"response_id": call.response_id, "model": call.model, "timestamp": call.timestamp}
        if call.edits.asked:
            assembly.request(None, call.usage, on_branch=False, **facts)
            continue
        made = replies.get(number, ())
        first = made[0] if made else None
        n_messages = max(1, sum(index - made[0] == place for place, index in enumerate(made)))
        assembly.request(first, call.usage, on_branch=number not in lost, n_messages=n_messages, **facts)
        before = len(assembly.messages) if first is None else first
        assembly.cleared += [(clearing, before, number) for clearing in call.edits.clearings]
    return len(lost)


def _compaction(assembly: Assembly, cut: HistoryCut, index_of: dict[int, int]) -> None:
    before = assembly.requests[cut.call - 1].usage if cut.call else None
    boundary = sum(1 for step in index_of if step < cut.n_steps)
    assembly.compaction(
        boundary,
        request=cut.call,
        message=index_of.get(cut.summary) if cut.summary is not None else None,
        trigger=cut.trigger,
        outside=not boundary or cut.is_unseen,
        tokens_before=cut.before or (before.context + before.output if before else None),
        preserved=tuple(
            index
            for step, index in index_of.items()
            if step < cut.n_steps and (step in cut.kept or assembly.messages[index].role is Role.SYSTEM)
        ),
    )
