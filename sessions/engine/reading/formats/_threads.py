"""Which session a call belongs to, and what of it is new: each call sends its whole prompt again (formats 16, 20).

A call that sends what a session has so far, and more, continues it; one that sends less is a recorded compaction, one
that goes another way from an earlier message a branch; one that shares nothing starts a session of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, groupby

from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._calls import CallMessage, ServerEdits, TracedCall, is_compaction
from sessions.engine.reading.formats._provider_errors import Refusal, Told
from sessions.engine.transcript.types import Content, Kind, Role

N_RECENT = 32
"""Sessions that a call without a shared beginning is compared with: the newest ones."""
LEAST_REST, LEAST_SUMMARY = 2, 40
"""Messages of a history that a call has a rest of; characters of an answer that is known again as a summary."""
ASKED_CHARS = 2_000
_ASKS_FOR = re.compile(
    r"\b(?:summar|condens|compress|compact|extract)\w*\b.{0,120}\b(?:conversation|history|messages|context|transcript)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(r"summar|compact|condens|compress", re.IGNORECASE)
CONTINUED = "This session is being continued from a previous conversation"


@dataclass(slots=True)
class CallStep:
    """A message of a session in the making; ``gone`` once a later call left it for another branch."""

    said: CallMessage
    timestamp: float | None
    call: int = -1
    made_by: int | None = None
    summary: bool = False
    gone: bool = False


@dataclass(slots=True)
class HistoryCut:
    """A recorded compaction in the making, before call ``call``: how many steps stood there, which of them stayed.

    ``before`` is what the summary's own call took in, where there was one, or the recorder's own figure.
    ``is_unseen``: what left is not in the list that was sent.
    """

    call: int
    n_steps: int
    kept: tuple[int, ...]
    summary: int | None = None
    trigger: str | None = None
    before: int | None = None
    is_unseen: bool = False


@dataclass(slots=True)
class Awaited:
    """A summary that call ``call`` asked for alone: a later one sends it in place of the first ``n_sent`` messages."""

    call: int
    n_sent: int
    block: Content


@dataclass(slots=True)
class CallThread:
    """A session in the making: its steps in order of arrival, and the list that is sent (``live``).

    ``runs``: each run of replies that is sent is a call, too (replay-semantics 1).
    """

    group: str
    opened: TracedCall
    runs: bool = False
    steps: list[CallStep] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    calls: list[TracedCall] = field(default_factory=list)
    cuts: list[HistoryCut] = field(default_factory=list)
    n_changed: int = 0
    awaited: Awaited | None = None
    refused: list[Told] = field(default_factory=list)

    def put(self, step: CallStep) -> int:
        """A step more at the end of the list that is sent; its number."""
        self.steps.append(step)
        self.live.append(len(self.steps) - 1)
        return self.live[-1]

    def time_of(self, said: CallMessage, call: TracedCall) -> float | None:
        """When a message was sent: of a request's document only the call's own time is known."""
        return said.timestamp if self.runs else call.timestamp

    def refuse(self, refusal: Refusal | None) -> None:
        """Note the error of a call's answer, or with which its run ended; None is no error."""
        if refusal is not None:
            self.refused.append((refusal, len(self.steps), len(self.calls)))

    @property
    def first(self) -> TracedCall:
        """The first call that was answered, else the refused one that opened the session."""
        return self.calls[0] if self.calls else self.opened

    @property
    def newest(self) -> TracedCall:
        """The newest call that is not one for a summary alone."""
        return next((known for known in reversed(self.calls) if not known.edits.asked), self.first)


def home(
    threads: Sequence[CallThread],
    starts: Mapping[tuple[str, int], Sequence[int]],
    call: TracedCall,
    sent: Sequence[CallMessage],
) -> int | None:
    """The session a call continues, already brought to what the call sends; None where it starts one."""
    if (position := _swapped(threads, call, sent)) is not None:
        return position
    alike = starts.get((call.group, sent[0].key), ()) if sent else ()
    ranked = sorted(((len(_shared(threads[position], sent)), position) for position in alike), reverse=True)
    for shared, position in ranked:
        if shared and _joins(threads[position], call, sent):
            return position
    recent = list(_recent(threads, call))
    going_on = next((n for n in recent if _goes_on(threads[n], call, sent)), None)
    if going_on is None and (going_on := _beside(threads, call, sent)) is not None:
        extend(threads[going_on], call, sent)
    return going_on


def _beside(threads: Sequence[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> int | None:
    """The newest session beside a call that was recorded without the beginning of its prompt, or before any prompt."""
    made = {c for said in sent for c in said.calls}
    is_rest = any(c.kind is Kind.TOOL_RESULT and c.call_id not in made for said in sent[:1] for c in said.contents)
    fits = (n for n in _recent(threads, call) if not call.sent or is_rest or not threads[n].steps)
    return next((n for n in fits if call.group and _is_beside(threads[n], call)), None)


def _is_beside(thread: CallThread, call: TracedCall) -> bool:
    """Whether a call whose prompt was not recorded may follow: of the same agent, or tool and spans, and model."""
    last = thread.newest
    same = (
        last.owner == call.owner if last.owner or call.owner else (last.caller, last.above) == (call.caller, call.above)
    )
    return same and last.model == call.model and thread.first.system == call.system


def _recent(threads: Sequence[CallThread], call: TracedCall, n_newer: int = 0) -> Iterator[int]:
    """Positions of the call's group among the newest sessions, ``n_newer`` of them left out, the newest first."""
    last = len(threads) - 1 - n_newer
    return (n for n in range(last, max(-1, last - N_RECENT), -1) if threads[n].group == call.group)


def after_summary(threads: Sequence[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> int | None:
    """The session that a call continues which sends the answer of the call for a summary right before it; else None.

    That call is a session of its own until then: it shares no message with the history that it was given as text.
    """
    made = threads[-1] if threads else None
    if made is None or made.group != call.group or len(made.calls) != 1 or made.refused:
        return None
    asked = " ".join(step.said.contents[0].text for step in made.steps if step.said.contents and step.call < 0)
    reply_text = "".join(content.text for said in made.calls[0].replied for content in said.contents).strip()
    heads = [content.text for said in sent[:2] for content in said.contents]
    if len(reply_text) < LEAST_SUMMARY or not _ASKS.search(asked) or not any(reply_text in text for text in heads):
        return None
    return next((n for n in _recent(threads, call, 1) if threads[n].first.system == call.system), None)


def of_summary(threads: Sequence[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> int | None:
    """The session whose history a refused call was to summarise, given as text; None where it asks for no summary."""
    asked = " ".join(content.text[:ASKED_CHARS] for said in (*call.sent[:1], *sent[:1]) for content in said.contents)
    if call.edits.asked or len(sent) > 1 or not _ASKS_FOR.search(asked):
        return None
    return next((n for n in _recent(threads, call) if threads[n].calls), None)


def take_summary(thread: CallThread, made: TracedCall, call: TracedCall, sent: Sequence[CallMessage]) -> None:
    """The call for a summary is one of the session, whose history it stands for from the next call on."""
    spent = thread.newest.usage
    made.edits = replace(made.edits, asked=True)
    thread.calls.append(made)
    _cut(thread, call, sent, _survivors(thread.live, thread, sent))
    thread.cuts[-1].before = spent.context + spent.output if spent else None


def extend(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage]) -> None:
    """What is new goes behind; the reply to a call that was logged without one is the first of it.

    Where runs count, any other run of replies is that of a call that was not recorded.
    """
    last = thread.calls[-1] if thread.calls else None
    unanswered = len(thread.calls) - 1 if last and not last.replied and not last.edits.asked else -1
    runs = [(role, list(run)) for role, run in groupby(sent, lambda said: said.role)]
    for n, (role, run) in enumerate(runs):
        is_reply = role is Role.ASSISTANT and not n
        before = thread.steps[-1] if thread.steps else None
        # The model's answer to a summary that the client wrote was never asked for.
        made_by = before.made_by if before and before.said.is_summary and role is Role.ASSISTANT else None
        is_call = made_by is None and (n + 1 < len(runs) or not call.prefills) and (n or unanswered < 0)
        if thread.runs and role is Role.ASSISTANT and is_call:
            made = any(is_compaction(content) for said in run for content in said.contents)
            known = TracedCall([], run, model=call.model, timestamp=run[0].timestamp, system=call.system)
            known.caller, known.edits = call.caller, ServerEdits(compacted=made)
            reply(thread, known)
            continue
        for said in run:
            if said.is_summary:
                stands = HistoryCut(len(thread.calls), len(thread.steps), tuple(thread.live), len(thread.steps))
                stands.is_unseen, made_by = True, len(thread.cuts)
                thread.cuts.append(stands)
            step = CallStep(said, thread.time_of(said, call), unanswered if is_reply else -1, made_by, said.is_summary)
            thread.steps.append(step)
            is_reply, made_by = False, made_by if role is Role.ASSISTANT else None
            if role is not Role.SYSTEM:
                thread.live.append(len(thread.steps) - 1)
            if thread.runs and any(map(is_compaction, said.contents)):
                _on_server(thread, call, len(thread.calls))


def reply(thread: CallThread, call: TracedCall) -> None:
    """The call is the session's newest, and what came back stands behind everything."""
    number = len(thread.calls)
    thread.calls.append(call)
    for said in call.replied:
        thread.put(CallStep(said, call.timestamp, call=number))
        if call.edits.compacted and any(map(is_compaction, said.contents)):
            _on_server(thread, call, number)


def held_by(threads: Sequence[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> int | None:
    """The session of a call without an answer: it names it, answers its last call, shares most of it, has a rest."""
    told = next((n for n in _recent(threads, call) if _follows(threads[n].newest, call, sent)), None)
    if (position := _swapped(threads, call, sent)) is not None or told is not None:
        return told if position is None else position
    if not sent:
        return _beside(threads, call, sent)
    ranked = [(len(_shared(thread, sent)), n) for n, thread in enumerate(threads) if thread.group == call.group]
    shared, position = max(ranked, default=(0, 0))
    if shared:
        return position
    rest = ((len(_survivors(threads[n].live, threads[n], sent)), n) for _, n in ranked)
    kept, position = max(rest, default=(0, 0))
    return position if kept >= LEAST_REST else _beside(threads, call, sent)


def summarised(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage]) -> None:
    """A call that asked for a summary alone: the list stays until a later call sends it, if it brought one."""
    heard(thread, call, sent)
    blocks = [content for said in call.replied for content in said.contents if is_compaction(content)]
    if blocks:
        thread.awaited = Awaited(len(thread.calls), len(sent), blocks[0])
    thread.calls.append(call)


def heard(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage]) -> None:
    """What a call without an answer sent behind all that the session has stands in its list: the next sends it too."""
    shared = _shared(thread, sent)
    if _left(thread, shared) == []:
        extend(thread, call, sent[len(shared) :])


def flag(thread: CallThread, call: TracedCall) -> None:
    """A tracer says that the conversation was compacted: by the cut seen here, by a block, or out of sight.

    The block stands in this call's reply, or in the last one's and is now sent: one compaction, whichever span tells.
    """
    if not call.edits.is_flagged or (thread.calls and thread.newest.edits.is_flagged):
        return
    if call.edits.compacted:
        return
    number, seen = len(thread.calls), thread.cuts[-1] if thread.cuts else None
    by_last_reply = seen is not None and seen.call == number - 1 and thread.live[:1] == [seen.summary]
    if seen is None or not (seen.call == number or by_last_reply):
        seen = HistoryCut(number, len(thread.steps), tuple(thread.live), is_unseen=True)
        thread.cuts.append(seen)
    seen.before = call.edits.tokens_before or seen.before


def settle(thread: CallThread) -> None:
    """A summary that no later call sent stands for what its call held."""
    if thread.awaited is not None:
        call = thread.calls[thread.awaited.call]
        rest = [thread.steps[step].said for step in thread.live[thread.awaited.n_sent :]]
        sent = [*call.replied, *rest]
        _cut(thread, call, sent, _survivors(thread.live, thread, sent))


def superseded(threads: Sequence[CallThread], call: TracedCall, sent: list[CallMessage]) -> list[CallMessage]:
    """What counts of a list: what stands before the server's own compaction may be sent again, and counts no more."""
    for thread in threads[-N_RECENT:]:
        first = thread.steps[thread.live[0]].said if thread.live and thread.group == call.group else None
        if first is not None and any(map(is_compaction, first.contents)):
            place = next((n for n, said in enumerate(sent) if said.key == first.key), 0)
            if place:
                return sent[place:]
    return sent


def _on_server(thread: CallThread, call: TracedCall, number: int) -> None:
    """The server compacted by itself: its block, the newest step, stands for all before it."""
    step = len(thread.steps) - 1
    alone = all(map(is_compaction, thread.steps[step].said.contents))
    thread.steps[step].summary, thread.steps[step].made_by = alone, len(thread.cuts) if alone else None
    before = call.edits.spent.context if call.edits.spent else call.edits.tokens_before
    cut = HistoryCut(number + call.edits.from_next, step, (), step, "auto", before)
    thread.cuts.append(cut)
    thread.live = [step]


def _swapped(threads: Sequence[CallThread], call: TracedCall, sent: Sequence[CallMessage]) -> int | None:
    """The session whose awaited summary the call sends, brought to what it sends."""
    said = {(content.kind, content.text) for one in sent for content in one.contents if is_compaction(content)}
    for position in _recent(threads, call) if said else ():
        thread = threads[position]
        if thread.awaited and (thread.awaited.block.kind, thread.awaited.block.text) in said:
            _cut(thread, call, sent, _survivors(thread.live, thread, sent))
            return position
    return None


def answer(thread: CallThread, results: Sequence[CallMessage]) -> None:
    """Behind the newest reply, the results of its calls that the file tells elsewhere."""
    asked = {c for said in thread.newest.replied for c in said.calls}
    for said in results:
        answered = {content.call_id for content in said.contents}
        if answered & asked:
            asked -= answered
            thread.put(CallStep(said, None))


def _shared(thread: CallThread, sent: Sequence[CallMessage]) -> list[int]:
    """Places in the list of what is sent again at its start; the newest reply may be in another form.

    What the model only thought may be left out.
    """
    found: list[int] = []
    for place, step in enumerate(thread.live):
        known = thread.steps[step]
        if len(found) == len(sent):
            break
        said = sent[len(found)]
        echo = place == len(thread.live) - 1 and known.call >= 0 and said.role is Role.ASSISTANT
        if known.said.key == said.key or (echo and found):
            found.append(place)
        elif not _is_thought(known):
            break
    return found


def _is_thought(step: CallStep) -> bool:
    return step.call >= 0 and all(content.kind is Kind.THINKING for content in step.said.contents)


def _left(thread: CallThread, shared: Sequence[int]) -> list[int]:
    """What stands in the list behind the shared beginning, but for thoughts right behind it."""
    rest = thread.live[shared[-1] + 1 if shared else 0 :]
    return list(dropwhile(lambda step: _is_thought(thread.steps[step]), rest))


def _goes_on(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage]) -> bool:
    """A call that shares no beginning: what is new, behind the reply in other words, or the rest of a cut history."""
    last = thread.newest
    if _follows(last, call, sent):
        is_echo = len(sent) > 1 and sent[0].role is Role.ASSISTANT and not call.continues
        extend(thread, call, sent[is_echo:])
        return True
    kept = _survivors(thread.live, thread, sent)
    told = bool(sent) and any(
        content.text.lstrip().startswith(CONTINUED) or is_compaction(content) for content in sent[0].contents
    )
    if told or (len(kept) >= 2 and len(sent) < len(thread.live)):
        _cut(thread, call, sent, kept)
        return True
    return False


def _follows(last: TracedCall, call: TracedCall, sent: Sequence[CallMessage]) -> bool:
    """Whether a call names the last one as what it continues, or sends what a tool answered it, without the call."""
    asked = {c for said in last.replied for c in said.calls}
    answered = {c.call_id for said in sent for c in said.contents if c.kind is Kind.TOOL_RESULT}
    is_answer = bool(asked & answered) and not any(said.calls & asked for said in sent)
    return is_answer or (bool(call.continues) and call.continues == last.response_id)


def _joins(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage]) -> bool:
    """A call that shares a beginning: more of the same, less of it, or another way from there."""
    shared = _shared(thread, sent)
    left, new = _left(thread, shared), sent[len(shared) :]
    if not left:
        extend(thread, call, new)
        return True
    start = len(thread.live) - len(left)
    kept = _survivors(left, thread, new)
    if kept and len(new) >= len(left):
        changed = len(left) - len(kept)
        thread.n_changed += changed
        others = [said for position, said in enumerate(new) if position not in kept]
        extend(thread, call, others[changed:])
        return True
    if kept:
        later = {position + len(shared): place + start for position, place in kept.items()}
        _cut(thread, call, sent, dict(enumerate(shared)) | later)
        return True
    if thread.first.system != call.system:
        return False
    for step in left:
        thread.steps[step].gone = True
    del thread.live[start:]
    extend(thread, call, new)
    return True


def _survivors(live: Sequence[int], thread: CallThread, sent: Sequence[CallMessage]) -> dict[int, int]:
    """Positions in ``sent`` of messages that were live, to their positions among ``live``, both ascending."""
    found, start = dict[int, int](), 0
    keys = [thread.steps[step].said.key for step in live]
    places = {key: place for place, key in enumerate(keys)}
    for position, said in enumerate(sent):
        if places.get(said.key, -1) >= start:
            place = keys.index(said.key, start)
            found[position] = place
            start = place + 1
    return found


def _cut(thread: CallThread, call: TracedCall, sent: Sequence[CallMessage], kept: dict[int, int]) -> None:
    """The history was cut before this call: what is not sent left, what stands before something kept was made."""
    old = list(thread.live)
    cut = HistoryCut(len(thread.calls), len(thread.steps), tuple(sorted(old[place] for place in kept.values())))
    thread.cuts.append(cut)
    blocks = [position for position, said in enumerate(sent) if any(map(is_compaction, said.contents))]
    last_made = max([*kept, *blocks], default=0)
    if thread.awaited is not None:
        spent = thread.calls[thread.awaited.call].usage
        cut.trigger, cut.before, thread.awaited = "manual", spent.context if spent else None, None
    thread.live = []
    for position, said in enumerate(sent):
        if position in kept:
            thread.live.append(old[kept[position]])
            continue
        made = position <= last_made
        says = position in blocks if blocks else is_prompt(said.contents)
        summary, made_by = made and cut.summary is None and says, len(thread.cuts) - 1 if made else None
        step = thread.put(CallStep(said, thread.time_of(said, call), made_by=made_by, summary=summary))
        cut.summary = step if summary else cut.summary
