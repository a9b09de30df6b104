"""One pass over a Codex rollout: its items, its model calls and its compactions, in file order (formats 7).

``/compact`` is a turn of its own, in which nothing is said; Codex itself compacts before or within a turn that works.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.reading.byte_breakdown import AROUND, SYSTEM, Tally, weights
from sessions.engine.reading.formats import _items as items
from sessions.engine.reading.formats._blocks import is_prompt, preview_of
from sessions.engine.reading.formats._codex_cut import Cut, cut_contents, cut_of
from sessions.engine.reading.formats._counts import openai_usage
from sessions.engine.reading.formats._provider_errors import Refusal, error_of
from sessions.engine.reading.formats._thread import Call, Entry, Mark, Thread, entry_of
from sessions.engine.reading.formats._values import Measured, Record, as_dict, count_of, parsed, seconds, text_of
from sessions.engine.reading.jsonio import Line, Source, dumps
from sessions.engine.reading.measure import utf8_length
from sessions.engine.transcript.recorded_events import EventKind
from sessions.engine.transcript.types import Block, Kind, Origin, Role

AUTO, MANUAL = "auto", "manual"
WRAPPERS = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
    "<subagent_notification>", "<user_shell_command>", "<permissions instructions>", "<INSTRUCTIONS>",
)  # fmt: skip
NOT_ITEMS = frozenset({
    "session_meta", "turn_context", "event_msg", "world_state", "compacted", "response_item", "token_usage_record",
})  # fmt: skip
ENDS = frozenset({"task_complete", "turn_complete", "turn_aborted"})
ERRORS = {"error": EventKind.ERROR, "stream_error": EventKind.RETRY}
CUT_TYPES = frozenset({"function_call_output", "custom_tool_call_output"})
CUT_OFF = "tool output that the agent cuts off before it sends it"
KEPT_PROMPT_BYTES = 80_000
"""What a compaction without a replacement history keeps of the prompts: 20,000 tokens of 4 bytes (policies 6.2)."""
_SAME = ("role", "content", "call_id", "name", "arguments", "input", "output", "encrypted_content", "summary")


@dataclass(slots=True)
class Turn:
    """The turn that a reading stands in.

    ``is_open`` where its start was recorded, ``has_work`` where a prompt, a reply or a result stands in it; ``waiting``
    are compactions at its start, told when something follows or it ends; ``is_running`` after a tool's result.
    """

    is_open: bool = False
    has_work: bool = False
    is_running: bool = False
    waiting: list[Mark] = field(default_factory=list)

    def start(self) -> None:
        """A turn began; whoever started a compaction in one without an end is not known."""
        self.is_open, self.has_work, self.is_running = True, False, False
        self.waiting.clear()

    def take(self, entry: Entry) -> None:
        """An item: a prompt, a reply or a result is work, what is put around it (instructions, wrappers) is none."""
        is_result = any(block.call_id for block in entry.blocks) and entry.role is Role.USER
        self.is_running = is_result
        if not (entry.typed or is_result or entry.role is Role.ASSISTANT):
            return
        self.has_work = True
        for mark in self.waiting:
            mark.trigger = AUTO
        self.waiting.clear()

    def compacted(self, mark: Mark) -> None:
        """A compaction where the turn stands; one whose item and line are both recorded comes twice."""
        if mark.trigger is not None or any(known is mark for known in self.waiting):
            return
        if self.is_running or (self.is_open and self.has_work):
            mark.trigger = AUTO
        elif self.is_open:
            self.waiting.append(mark)

    def end(self, *, is_whole: bool) -> None:
        """The turn ended, broken off unless ``is_whole``: one that held nothing but compactions was ``/compact``."""
        for mark in self.waiting if is_whole else ():
            mark.trigger = MANUAL
        self.is_open = self.has_work = self.is_running = False
        self.waiting.clear()


@dataclass(slots=True)
class CodexReading:
    """What one pass over the file collects."""

    source: Source
    measure: Measured
    thread: Thread = field(default_factory=Thread)
    turn: Turn = field(default_factory=Turn)
    live: list[int] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    meta: Record = field(default_factory=dict)
    model: str = ""
    window: int = 0
    n_repeats: int = 0
    n_estimates: int = 0
    times: list[float] = field(default_factory=list)
    is_open: bool = False
    total: Any = None
    tally: Tally = field(default_factory=Tally)
    spawned: dict[str, str] = field(default_factory=dict)
    cut: Cut | None = None
    n_cut: int = 0
    n_cut_bytes: int = 0
    before_item: list[int] = field(default_factory=list)


def read_line(reading: CodexReading, line: Line, value: Record) -> None:
    """Take one line; old rollouts have items without an envelope."""
    n_entries, n_skipped, n_cut = len(reading.thread.entries), len(reading.source.skipped), reading.n_cut_bytes
    kind, payload = text_of(value.get("type")), value.get("payload")
    timestamp = seconds(value.get("timestamp"))
    if timestamp is not None:
        reading.times.append(timestamp)
    if not isinstance(payload, dict):
        _read_bare(reading, line, value, kind)
    elif kind == "response_item":
        _read_item(reading, payload, line.at("payload"), timestamp)
    elif kind == "compacted":
        _read_compaction(reading, payload, line, timestamp)
    elif kind == "event_msg":
        _read_event(reading, payload, timestamp)
    elif kind == "session_meta":
        reading.meta = reading.meta or payload
    elif kind == "turn_context":
        reading.model = text_of(payload.get("model")) or reading.model
        reading.cut = cut_of(reading.model, payload.get("truncation_policy"))
    elif kind not in NOT_ITEMS:
        reading.unknown[kind] += 1
    if len(reading.source.skipped) == n_skipped:
        blocks = [block for e in reading.thread.entries[n_entries:] for block in e.blocks]
        _tally(reading, line, value, blocks, reading.n_cut_bytes - n_cut)


def _tally(reading: CodexReading, line: Line, value: Record, blocks: list[Block], n_cut: int) -> None:
    """Account for a line: by the items it brought and what was cut off them, else by its type."""
    kind, payload = text_of(value.get("type")), value.get("payload")
    if blocks:
        around = "copies of items in compactions" if kind == "compacted" else AROUND
        reading.tally.message(blocks, line.length - n_cut, around)
        if n_cut:
            reading.tally.add(CUT_OFF, 1, n_cut, part=True)
    elif kind == "event_msg" and isinstance(payload, dict):
        reading.tally.add(f"{text_of(payload.get('type')) or 'untyped'} events", 1, line.length)
    elif kind == "session_meta" and isinstance(payload, dict):
        n_text = min(utf8_length(instructions_of(payload)), line.length) if payload is reading.meta else 0
        if n_text:
            reading.tally.add(SYSTEM, 1, n_text, context=True, part=True)
        reading.tally.add("session_meta records", 1, line.length - n_text)
    elif kind in NOT_ITEMS or not kind or kind in items.ITEM_TYPES:
        reading.tally.add(f"{kind or 'untyped'} records", 1, line.length)
    else:
        reading.tally.add(f"unknown type {kind!r}", 1, line.length, opaque=True)


def _read_bare(reading: CodexReading, line: Line, value: Record, kind: str) -> None:
    if kind in items.ITEM_TYPES or (kind not in NOT_ITEMS and isinstance(value.get("role"), str)):
        _read_item(reading, value, line.at(), seconds(value.get("timestamp")))
    elif kind in NOT_ITEMS:
        reading.source.skip(f"a line of type {kind} without a payload", line)
    elif "id" in value and not reading.meta:
        reading.meta = value
    else:
        reading.unknown[kind or text_of(value.get("record_type"))] += 1


def _read_item(reading: CodexReading, item: Record, origin: Origin, timestamp: float | None) -> None:
    if items.item_type(item) == "ghost_snapshot":
        return
    entry = _entry(reading, item, origin, timestamp, cut=reading.cut if items.item_type(item) in CUT_TYPES else None)
    output = item.get("output")
    if isinstance(output, str) and output.startswith("{") and '"agent_id"' in output[:200]:
        # The result of a call that spawns a sub-agent gives its id.
        agent = text_of(as_dict(parsed(output)).get("agent_id"))
        reading.spawned |= {text_of(item.get("call_id")): agent} if agent else {}
    place = len(reading.thread.entries)
    reading.thread.entries.append(entry)
    reading.live.append(place)
    if items.item_type(item) in items.COMPACTION_TYPES:
        # It stands for all before it, unless a ``compacted`` line says more.
        entry.typed, entry.summary, entry.compaction = False, True, len(reading.thread.marks)
        reading.thread.marks.append(Mark(place, len(reading.thread.calls), summary=place))
        reading.turn.compacted(reading.thread.marks[-1])
        reading.before_item, reading.live = reading.live[:-1], [place]
    else:
        reading.turn.take(entry)
    if entry.role is not Role.ASSISTANT:
        reading.is_open = False
    elif reading.is_open:
        reading.thread.calls[-1].stop = place + 1
    else:
        window = raw_window(reading.window)
        reading.thread.calls.append(Call(place, place + 1, reading.model, timestamp, window=window))
        reading.is_open = True


def _entry(
    reading: CodexReading, item: Record, origin: Origin, timestamp: float | None, *, cut: Cut | None = None
) -> Entry:
    """One item; a tool's output as ``cut`` leaves it (``Codex.contents`` cuts it alike, by the blocks' mark)."""
    whole = items.item_contents(item)
    contents = cut_contents(whole, cut) if cut else whole
    blocks = reading.measure(contents)
    if cut and any(new is not old for new, old in zip(contents, whole, strict=True)):
        blocks = tuple(replace(block, cut=str(cut)) for block in blocks)
        n_whole = sum(utf8_length(part.text) for content in whole for part in (content, *content.parts))
        reading.n_cut += 1
        reading.n_cut_bytes += max(0, n_whole - weights(blocks)[0])
    role = items.item_role(item)
    first = next((content.text for content in contents if content.kind is Kind.TEXT), "")
    prompt = role is Role.USER and items.item_type(item) == "message" and is_prompt(contents)
    wrapped = prompt and first.lstrip().startswith(WRAPPERS)
    return entry_of(
        contents,
        role,
        origin,
        lambda _: blocks,
        prompt=prompt,
        meta=wrapped,
        key=hash((items.item_type(item), *(dumps(_plain(item.get(key))) for key in _SAME))),
        native_id=text_of(item.get("id")),
        timestamp=timestamp,
    )


def _plain(value: Any) -> Any:
    """The parts of an item, their keys in order, without how sharp a picture is to be seen.

    A history that keeps an item may not repeat the last, and what wrote the file again may have sorted the keys.
    """
    if not isinstance(value, list):
        return value
    return [{k: part[k] for k in sorted(part) if k != "detail"} if isinstance(part, dict) else part for part in value]


def _read_event(reading: CodexReading, event: Record, timestamp: float | None) -> None:
    """The events that say something about the context: the others repeat it for the screen."""
    kind = text_of(event.get("type"))
    if kind in ENDS:
        reading.turn.end(is_whole=kind != "turn_aborted")
    if kind in ERRORS:
        info = event.get("codex_error_info")
        code = info if isinstance(info, str) else next(iter(as_dict(info)), "")
        error = error_of({**event, "code": code}, kind=ERRORS[kind])
        reading.thread.refuse(error or Refusal(ERRORS[kind]))
    if kind == "turn_aborted":
        reason = text_of(event.get("reason"))
        by_user = reason in ("", "interrupted", "replaced", "review_ended")
        told = (EventKind.INTERRUPTION, reason) if by_user else (EventKind.SESSION_END, f"turn aborted: {reason}")
        reading.thread.event(*told)
    if kind == "token_count" and isinstance(event.get("info"), dict):
        _read_usage(reading, event["info"], timestamp)
    elif kind in ("task_started", "turn_started"):
        reading.turn.start()
        reading.window = count_of(event.get("model_context_window")) or reading.window
    elif kind in ("turn_aborted", "error") and reading.thread.calls and not reading.thread.calls[-1].usage:
        reading.thread.calls[-1].failed = True
        reading.is_open = False
    elif kind == "thread_rolled_back":
        _roll_back(reading, max(0, count_of(event.get("num_turns"))))


def _read_usage(reading: CodexReading, info: Record, timestamp: float | None) -> None:
    """Usage of the newest call; a repeated total is the same call again, all zeros an estimate of the client."""
    reading.window = count_of(info.get("model_context_window")) or reading.window
    total, last = info.get("total_token_usage"), info.get("last_token_usage")
    usage, thread = openai_usage(last), reading.thread
    if thread.marks and thread.marks[-1].n_calls == len(thread.calls) and (usage is None or total == reading.total):
        # What Codex counts right after a compaction, before anything is asked.
        thread.marks[-1].tokens_after = count_of(last.get("total_tokens")) or None if isinstance(last, dict) else None
    if usage is None:
        reading.n_estimates += isinstance(last, dict)
        return
    if total is not None and total == reading.total:
        reading.n_repeats += 1
        return
    reading.total = total
    reading.is_open = False
    newest = thread.calls[-1] if thread.calls else None
    is_past = bool(thread.marks) and thread.marks[-1].n_calls == len(thread.calls)
    if newest is None or newest.usage or newest.failed or is_past:
        place = len(thread.entries)
        thread.calls.append(Call(place, place, reading.model, timestamp))
    call = thread.calls[-1]
    call.usage, call.window = usage, raw_window(reading.window)
    call.model = text_of(info.get("model")) or call.model


def instructions_of(meta: Record) -> str:
    """The system prompt that a session's head holds."""
    base = meta.get("base_instructions")
    return text_of(base.get("text")) if isinstance(base, dict) else text_of(base)


def raw_window(recorded: int) -> int:
    """The model's window of what a rollout records: Codex has taken its 5% reserve off (policies 6.1)."""
    return round(recorded * 100 / 95)


def _read_compaction(reading: CodexReading, payload: Record, line: Line, timestamp: float | None) -> None:
    mark = Mark(len(reading.thread.entries), len(reading.thread.calls))
    last = reading.thread.marks[-1] if reading.thread.marks else None
    if last and last.summary == len(reading.thread.entries) - 1 and reading.before_item:
        # The line tells the compaction whose item came before it.
        mark, reading.live = reading.thread.marks.pop(), [*reading.before_item, len(reading.thread.entries) - 1]
    reading.turn.compacted(mark)
    reading.before_item = []
    number, reading.is_open = len(reading.thread.marks), False
    summary, history = text_of(payload.get("message")), payload.get("replacement_history")
    made: list[Entry] = []
    if isinstance(history, list):
        waiting: dict[int, deque[int]] = {}
        for place in reading.live:
            waiting.setdefault(reading.thread.entries[place].key, deque()).append(place)
        for position, item in enumerate(history):
            if not isinstance(item, dict):
                continue
            entry = _entry(reading, item, line.at("payload", "replacement_history", position), timestamp)
            twins = waiting.get(entry.key)
            if not twins:
                text = "\n".join(content.text for content in items.item_contents(item))
                is_summary = items.item_type(item) in items.COMPACTION_TYPES or (bool(summary) and summary in text)
                entry.typed, entry.summary, entry.compaction = False, is_summary, number
                made.append(entry)
            elif (twin := twins.popleft()) != mark.summary:
                mark.preserved.append(twin)
    else:
        mark.preserved = _kept_prompts(reading)
        if summary:
            said = items.parts_of(summary)
            entry = Entry((line.at("payload", "message"),), Role.USER, reading.measure(said), preview_of(said))
            entry.timestamp, entry.summary, entry.compaction = timestamp, True, number
            made.append(entry)
    mark.preserved.sort()
    reading.thread.entries += made
    first = len(reading.thread.entries) - len(made)
    reading.live = mark.preserved + list(range(mark.boundary, len(reading.thread.entries)))
    summaries = [first + position for position, entry in enumerate(made) if entry.summary]
    mark.summary = summaries[-1] if summaries else mark.summary
    reading.thread.marks.append(mark)


def _kept_prompts(reading: CodexReading) -> list[int]:
    """What a compaction without a replacement history kept: the initial context, and the newest typed prompts."""
    live, entries = reading.live, reading.thread.entries
    start = next((n for n, place in enumerate(live) if entries[place].typed), len(live))
    kept = [place for place in live[:start] if entries[place].role is not Role.ASSISTANT and not entries[place].summary]
    left = KEPT_PROMPT_BYTES
    for place in reversed(live[start:]):
        if entries[place].typed and left > 0:
            kept.append(place)
            left -= sum(block.n_bytes for block in entries[place].blocks)
    return kept


def _roll_back(reading: CodexReading, n_turns: int) -> None:
    """The last ``n_turns`` turns left the conversation: everything from that prompt on."""
    prompts = [position for position, place in enumerate(reading.live) if reading.thread.entries[place].typed]
    if not n_turns or not prompts:
        return
    start = prompts[-min(n_turns, len(prompts))]
    for place in reading.live[start:]:
        reading.thread.entries[place].dropped = True
    reading.live, reading.is_open = reading.live[:start], False
