"""Sessions from single model calls: the prompt that each call repeats is one history, each call one request."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats import _calls, _threads
from sessions.engine.reading.formats._assembly import Assembly, Kept, with_unique_ids
from sessions.engine.reading.formats._calls import CallMessage, TracedCall
from sessions.engine.reading.formats._error_body import error_body
from sessions.engine.reading.formats._gemini_parts import MASKED
from sessions.engine.reading.formats._provider_errors import MAX_WORDS, Refusal, error_of, failed_compaction
from sessions.engine.reading.formats._records import cleared_before, inside, noted, records, stem_of
from sessions.engine.reading.formats._threads import CallThread, HistoryCut
from sessions.engine.reading.formats._traces import replied_in, result_said, said_in, told_in, usage_in
from sessions.engine.reading.formats._values import Measured, Record, as_dict, as_list
from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.recorded_events import EMBEDDING, EventKind
from sessions.engine.transcript.types import Kind, Origin, Parsed, Role, Transcript, Usage

Found = Iterator[tuple[Record, tuple[str | int, ...]]]
CALL, TOOL, AGENT = "llm", "tool", "agent"
ENDS = ("outputs", "error", "end_time")
"""What a record of a run's end holds."""
EMPTY_ANSWER = "the answer is empty; no usage and no finish reason is recorded"
"""What is noted of a call whose answer has nothing in it."""
TWICE = 2
"""Times the first system prompt from which a later one stands for it."""
MAX_COMPARED = 40
"""Characters by which an error is known again that another span repeats."""
_FIGURE = re.compile(r"\d{5,}")
"""Tokens that an error names: with the same ones it is the same error."""
_EMBEDS = re.compile("embed", re.IGNORECASE)


def sessions_of(
    calls: Iterable[TracedCall],
    measure: Measured,
    *,
    stem: str,
    results: Sequence[CallMessage] = (),
    runs: bool = False,
) -> tuple[Transcript, ...]:
    """The sessions that the calls, in order of time, belong to; the one a sub-agent was started from is its parent.

    ``results`` are what tools gave out by spans of their own, taken where no later call sent an answer.  ``runs``: each
    run of replies in what a session's first call sends is a call, too (replay-semantics 1).
    What a call sends again is let go at once: a log of many calls is never held whole.
    """
    threads: list[CallThread] = []
    starts: dict[tuple[str, int], list[int]] = {}
    for call in calls:
        sent = _threads.superseded(threads, call, [said for said in call.sent if said.role is not Role.SYSTEM])
        if call.edits.asked or (call.edits.error is not None and not call.replied):
            _beside(threads, call, sent, runs=runs)
            continue
        bare = len(threads) - 1 if runs and threads and not call.sent and not call.continues else None
        position = _threads.home(threads, starts, call, sent) if bare is None else bare
        if position is None and (position := _threads.after_summary(threads, call, sent)) is not None:
            made = threads.pop()
            for known in starts.values():
                known[:] = (n for n in known if n < len(threads))
            _threads.take_summary(threads[position], made.calls[0], call, sent)
        if position is None:
            position = _opened(threads, call, runs=runs)
        thread = threads[position]
        _change_system(thread, call)
        call.sent = []
        thread.refuse(call.edits.error)
        _threads.flag(thread, call)
        if not call.is_log:
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
        owner = owners.get(thread.first.caller, "")
        parent = {"parent_id": owner, "parent_call_id": thread.first.caller} if owner not in ("", name) else {}
        built.append(_transcript(thread, measure, name, **parent))
    return with_unique_ids(built)


def _opened(threads: list[CallThread], call: TracedCall, *, runs: bool) -> int:
    """The place of a session that begins with what the call sends."""
    threads.append(CallThread(call.group, call, runs))
    _threads.extend(threads[-1], call, call.sent)
    return len(threads) - 1


def _beside(threads: list[CallThread], call: TracedCall, sent: Sequence[CallMessage], *, runs: bool) -> None:
    """A call without an answer: refused, failed, or made for a summary alone."""
    position = _threads.held_by(threads, call, sent)
    position = _tried_again(threads, call) if position is None else position
    if position is None and (position := _threads.after_summary(threads, call, sent)) is not None:
        _threads.take_summary(threads[position], threads.pop().calls[0], call, sent)
    if position is None and (summarising := _threads.of_summary(threads, call, sent)) is not None:
        error = call.edits.error
        failed = error._replace(of_compaction=True) if error and error.of_size else failed_compaction(error=error)
        threads[summarising].refuse(failed)
        return
    if position is None:
        position = _opened(threads, call, runs=runs)
    elif not call.edits.asked:
        _threads.heard(threads[position], call, sent)
    call.sent = []
    threads[position].refuse(call.edits.error)
    threads[position].refuse(call.edits.ended)
    if call.edits.asked:
        _threads.summarised(threads[position], call, sent)


def _change_system(thread: CallThread, call: TracedCall) -> None:
    """A system prompt that later calls send at twice the length, or more, stands in place of the first one."""
    new = next((said for said in call.sent if said.role is Role.SYSTEM), None)
    first = thread.steps[0].said if thread.steps else None
    if new is None or first is None or first.role is not Role.SYSTEM or first.key == new.key:
        return
    n_new, n_first = (sum(len(content.text) for content in said.contents) for said in (new, first))
    if n_new >= TWICE * n_first:
        thread.steps[0].said = new


def _tried_again(threads: Sequence[CallThread], call: TracedCall) -> int | None:
    """The session of an agent's calls, none of which was answered yet, that another one of it tries again."""
    of_group = (n for n, thread in enumerate(threads) if thread.group == call.group and not thread.calls)
    own = (n for n in of_group if threads[n].opened.owner == call.owner)
    return next(own, None) if call.owner else None


def _names(threads: Sequence[CallThread], stem: str) -> list[str]:
    """The group's name for its first session, with a number behind it for the others."""
    seen: Counter[str] = Counter()
    names = []
    for name in (thread.group or stem for thread in threads):
        names.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return names


def _transcript(thread: CallThread, measure: Measured, native_id: str, **parent: str) -> Transcript:
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
            typed=False if made or step.said.meta else None,
            meta=step.said.meta,
            summary=step.summary,
            compaction=step.made_by,
        )
        if step.said.role is Role.ASSISTANT and step.call >= 0:
            replies.setdefault(step.call, []).append(index_of[number])
    n_lost = _requests(assembly, thread, replies)
    kept = Kept()
    for cut in thread.cuts:
        _compaction(assembly, cut, index_of, kept)
    steps = list(index_of)
    for refusal, n_steps, n_calls in thread.refused:
        assembly.refused.append((refusal, bisect_left(steps, n_steps), n_calls))
    assembly.note(n_lost, f"Requests on a branch that was left: {n_lost}, counted, not among the messages")
    n_gone = 0 if n_lost else sum(step.gone for step in thread.steps)
    assembly.note(n_gone, f"Messages that a later request left out at the end (tried again): {n_gone}, not counted")
    n_cut_off, n_changed = sum(call.edits.is_cut_off for call in thread.calls), thread.n_changed
    assembly.note(n_cut_off, f"{_calls.CUT_OFF}: {n_cut_off}")
    assembly.note(n_changed, f"Messages sent again in another form: {n_changed}; their first form is kept")
    contents = (content for step in thread.steps for content in step.said.contents)
    n_cleared = sum(c.kind is Kind.TOOL_RESULT and c.text.startswith(MASKED) for c in contents)
    assembly.note(*cleared_before(n_cleared))
    told = (note for call in thread.calls for note in call.notes)
    assembly.warnings[:0] = dict.fromkeys(told)
    trigger_at = next((call.trigger_at for call in reversed(thread.calls) if call.trigger_at), None)
    facts = {"room": thread.opened.window or None, "trigger_at": trigger_at, **parent}
    return assembly.transcript(native_id, system=measure(thread.first.system), **facts)


def _requests(assembly: Assembly, thread: CallThread, replies: Mapping[int, Sequence[int]]) -> int:
    """A request for every call, and the compactions the server made; how many calls are on a branch that was left."""
    lost = {step.call for step in thread.steps if step.gone and step.call >= 0} - set(replies)
    for number, call in enumerate(thread.calls):
        facts = {
            "response_id": call.response_id, "model": call.model, "timestamp": call.timestamp, "window": call.window,
        }  # fmt: skip
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


def _compaction(assembly: Assembly, cut: HistoryCut, index_of: dict[int, int], kept: Kept) -> None:
    before = assembly.requests[cut.call - 1].usage if cut.call else None
    boundary = sum(1 for step in index_of if step < cut.n_steps)
    assembly.compaction(
        boundary,
        request=cut.call,
        message=index_of.get(cut.summary) if cut.summary is not None else None,
        trigger=cut.trigger,
        outside=not boundary or cut.is_unseen,
        tokens_before=cut.before or (before.context + before.output if before else None),
        preserved=kept.of(
            index
            for step, index in index_of.items()
            if step < cut.n_steps and (step in cut.kept or assembly.messages[index].role is Role.SYSTEM)
        ),
    )


def found_in(record: Record, is_one: Callable[[Any], bool], lists: Iterable[str]) -> Found:
    """A record itself where it is one, else those that it lists, with the paths to them."""
    if is_one(record):
        yield record, ()
        return
    for key in lists:
        for position, value in enumerate(as_list(record.get(key))):
            if is_one(value):
                yield value, (key, position)


@dataclass(frozen=True, slots=True)
class Run:
    """A run; ``sent`` and ``made`` name its input and output, ``call_id`` is the call that a tool's run answers."""

    value: Record
    origin: Origin
    id: str
    parent: str
    group: str
    kind: str
    sent: str
    made: str
    started: float | None = None
    model: str = ""
    usage: Usage | None = None
    call_id: str = ""
    error: str = ""
    ended: Origin | None = None

    @property
    def made_at(self) -> Origin:
        """Where its output stands: a tracer may send it after the run itself, in a record of its own."""
        return inside(self.ended or self.origin, self.made)


class RunEnd(NamedTuple):
    """The error of a span that is no model call; ``is_root``: nothing is around it; ``kind`` is its kind or name."""

    trace: str
    error: str
    is_root: bool
    kind: str


def end_calls(calls: Sequence[TracedCall], ends: Iterable[RunEnd]) -> None:
    """Tell the last call of each trace of the error that its root ended with, or that a call for embeddings had."""
    newest = {call.trace or call.group: call for call in calls}
    for end in sorted(ends, key=lambda end: not end.is_root):
        last = newest.get(end.trace)
        if not end.error or last is None:
            continue
        if last.edits.error is not None:
            if end.is_root and last.edits.ended is None:
                last.edits = replace(last.edits, ended=_other_end(end.error, last.edits.error))
            continue
        if _EMBEDS.search(end.kind):
            words = f"{EMBEDDING}: {error_body(end.error).words}"[:MAX_WORDS]
            last.edits = replace(last.edits, ended=Refusal(EventKind.SESSION_END, words=words))
        elif end.is_root:
            last.edits = replace(last.edits, ended=error_of(end.error, kind=EventKind.SESSION_END))


def _other_end(error: str, refused: Refusal) -> Refusal | None:
    """The end of a run whose last call failed, where it was told in other words than that call's error."""
    words = error_body(error).words[:MAX_WORDS]
    is_same = not words or words[:MAX_COMPARED] in refused.words or refused.words[:MAX_COMPARED] in words
    is_same = is_same or bool({*_FIGURE.findall(words)} & {*_FIGURE.findall(refused.words)})
    return None if is_same else Refusal(EventKind.SESSION_END, words=words)


@dataclass(frozen=True, slots=True)
class Tracer:
    """A format of runs: those in a record with their paths, how one is read, ``word`` for one and what to try next.

    ``ends_in`` finds what a record adds to runs that began in others, by their id: their output, error and end.
    """

    word: str
    runs_in: Callable[[Record], Found]
    run: Callable[[Record, Origin], Run]
    next_step: str
    ends_in: Callable[[Record], Found] = lambda _: iter(())

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions that the model calls belong to; raises UnreadableInput where there is no call."""
        begun: list[tuple[Record, Origin]] = []
        ends: dict[str, tuple[Record, Origin]] = {}
        for record, origin in records(source):
            found = [(run, inside(origin, *path)) for run, path in self.runs_in(record)]
            later = [(end, inside(origin, *path)) for end, path in self.ends_in(record)]
            begun += found
            ends |= {end["id"]: (end, place) for end, place in later}
            if not found and not later:
                source.skip(f"a record that is no {self.word}", origin)
        runs = [self._whole(run, origin, ends) for run, origin in begun]
        calls = calls_of(runs)
        if not calls:
            raise UnreadableInput(f"no model calls among the {self.word}s", next_step=self.next_step)
        stem, results = stem_of(source.name), results_of(runs)
        transcripts = sessions_of(calls, measure, stem=stem, results=results)
        n_others = len(runs) - len(calls)
        notes = noted((n_others, f"{self.word.capitalize()}s that are no requests: {n_others}"))
        return Parsed(transcripts, warnings=notes)

    def _whole(self, run: Record, origin: Origin, ends: Mapping[str, tuple[Record, Origin]]) -> Run:
        """A run with what a later record told of its end, where it was not told before."""
        native = run.get("id")
        end, place = ends.get(native, ({}, origin)) if isinstance(native, str) else ({}, origin)
        told = {key: end[key] for key in ENDS if end.get(key) and not run.get(key)}
        whole = self.run({**run, **told}, origin)
        return replace(whole, ended=place) if whole.made in told else whole


def calls_of(runs: Sequence[Run]) -> list[TracedCall]:
    """The model calls in order of time, each once."""
    by_id = {run.id: run for run in runs if run.id}
    return _calls.one_layer(_calls.answered(_call(run, by_id) for run in runs if run.kind == CALL))


def results_of(runs: Iterable[Run]) -> list[CallMessage]:
    """What tools gave out, for the calls that no later one answers."""
    return [
        result_said(run.value[run.made], run.made_at, run.call_id, run.id, is_error=bool(run.error))
        for run in runs
        if run.kind == TOOL and run.call_id and run.value.get(run.made)
    ]


def _call(run: Run, by_id: Mapping[str, Run]) -> TracedCall:
    around = _calls.ancestors(run.parent, by_id, lambda one: one.parent)
    tool = next((above for above in around if above.kind == TOOL), None)
    made, sent = run.value.get(run.made), run.value.get(run.sent)
    raw = usage_in(made)
    return TracedCall(
        sent=said_in(sent, inside(run.origin, run.sent), Role.USER, f"{run.id}.in" if run.id else ""),
        replied=[] if run.error else replied_in(made, run.made_at, run.id),
        usage=raw or run.usage,
        model=run.model,
        response_id=run.id,
        timestamp=run.started,
        group=run.group,
        caller=tool.call_id if tool else "",
        system=told_in(sent) or told_in(as_dict(run.value.get("extra")).get("invocation_params")),
        span=run.id,
        above=tuple(above.id for above in itertools.takewhile(lambda one: one.kind not in (TOOL, AGENT), around)),
        owner=next((above.id for above in around if above.kind in (TOOL, AGENT)), ""),
        is_counted=raw is not None,
        edits=_calls.ServerEdits(error=error_of(run.error)),
    )
