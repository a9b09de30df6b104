"""GitHub Copilot CLI sessions: ``events.jsonl`` of session-state, and what the Copilot SDK writes (formats 23).

Only outputs are reported for a request, and the sum of all at the end, so contexts are estimates.  A compaction runs
beside the work: what was written between its start and its end stays.  A sub-agent's events are a session of their own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import PARTLY, YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats._assembly import Assembly
from sessions.engine.reading.formats._blocks import blocks_of, plain_part, text_blocks, title_of, tool_use
from sessions.engine.reading.formats._counts import exclusive_usage, inclusive_usage, usage_at
from sessions.engine.reading.formats._provider_errors import error_of
from sessions.engine.reading.formats._records import first_objects, inside, objects, stem_of, unread_notes
from sessions.engine.reading.formats._values import Record, as_dict, as_list, count_of, parsed, seconds, text_of
from sessions.engine.transcript.recorded_events import OWN_ESTIMATE, ErrorKind, EventKind, own_reason
from sessions.engine.transcript.types import Block, Content, Kind, Origin, Parsed, Role, Transcript, Usage

ENVELOPE = "raw"
USER, REPLY, RESULT, SYSTEM = "user.message", "assistant.message", "tool.execution_complete", "system.message"
NOT_CONTEXT = words("""
    assistant.turn_start assistant.turn_end assistant.reasoning assistant.intent assistant.usage tool.execution_start
    tool.execution_progress tool.execution_partial_result tool.user_requested subagent.started subagent.completed
    subagent.failed subagent.selected system.notification
""")
IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
MESSAGES = frozenset({USER, REPLY, RESULT, SYSTEM})
PARTS = (("systemTokens", "system"), ("toolDefinitionsTokens", "tools"), ("conversationTokens", "conversation"))


def event_of(value: Any) -> Record | None:
    """The event of a line, taken out of a collector's envelope; None where it is none."""
    for event in (value, as_dict(value).get(ENVELOPE)):
        found = as_dict(event)
        kind = text_of(found.get("type"))
        if ("." in kind or kind == "abort") and isinstance(found.get("data"), dict) and "timestamp" in found:
            return found
    return None


def event_contents(value: Any) -> tuple[Content, ...]:
    """The blocks of an event, or of the summary that a compaction's event holds."""
    if isinstance(value, str):
        return (Content(Kind.TEXT, text=value),)
    event = as_dict(value)
    kind, data = text_of(event.get("type")), as_dict(event.get("data"))
    if kind == REPLY:
        payload = text_of(data.get("reasoningOpaque")) + text_of(data.get("encryptedContent"))
        thoughts = text_blocks(text_of(data.get("reasoningText")), Kind.THINKING, payload)
        return (*thoughts, *blocks_of(data.get("content"), plain_part), *map(_call, as_list(data.get("toolRequests"))))
    if kind == RESULT:
        # ``detailedContent`` is for the screen.
        result, error = data.get("result"), as_dict(data.get("error"))
        text = text_of(result) or text_of(as_dict(result).get("content")) or text_of(error.get("message"))
        call_id, failed = text_of(data.get("toolCallId")), data.get("success") is False
        return (Content(Kind.TOOL_RESULT, text=text, call_id=call_id, is_error=failed),)
    sent = data.get("transformedContent") if kind == USER else None
    said = sent if isinstance(sent, str) else data.get("content")
    return blocks_of(said, plain_part) + tuple(filter(None, map(_attachment, as_list(data.get("attachments")))))


def summary_usage(data: Record) -> Usage | None:
    """Usage of the call that wrote a summary; its bill tells what the cache wrote where the counts say nothing."""
    used = as_dict(data.get("compactionTokensUsed"))
    sent, output, read = (count_of(used.get(key)) for key in ("inputTokens", "outputTokens", "cacheReadTokens"))
    rows = [as_dict(row) for row in as_list(as_dict(used.get("copilotUsage")).get("tokenDetails"))]
    billed = {text_of(row.get("tokenType")): count_of(row.get("tokenCount")) for row in rows}
    fresh, written = billed.get("input", 0), billed.get("cache_write", 0)
    if billed and fresh + read + written == sent:
        return exclusive_usage(fresh, output, cache_read=read, cache_write=written)
    return inclusive_usage(sent, output, cache_read=read, cache_write=count_of(used.get("cacheWriteTokens")))


def _call(request: Any) -> Content:
    request = as_dict(request)
    arguments, name, call_id = request.get("arguments"), request.get("name"), request.get("toolCallId")
    return tool_use(parsed(arguments, arguments) if isinstance(arguments, str) else arguments, name, call_id)


def _attachment(value: Any) -> Content | None:
    """A picture that was attached; other files stand in the text that was sent."""
    place, data = text_of(as_dict(value).get("path")), text_of(as_dict(value).get("data"))
    named = text_of(as_dict(value).get("mimeType")) or IMAGES.get(place.lower().rpartition(".")[2], "")
    if not named.startswith("image/") or not (place or data):
        return None
    return Content(Kind.IMAGE, media_type=named, data=data, url=place)


@dataclass(slots=True)
class CopilotRun:
    """One conversation: the main one, or a sub-agent's.  ``started`` is where a running compaction began."""

    history: Assembly
    system: tuple[Block, ...] = ()
    started: int | None = None
    before: int = 0
    standing: int = 0
    reason: str = ""
    window: int = 0
    model: str = ""
    n_output: int = 0
    truncated: list[int] = field(default_factory=list)
    n_unsure: int = 0
    ended: dict[str, tuple[int, Usage]] = field(default_factory=dict)


@dataclass(slots=True)
class CopilotFile:
    """What one pass over the file collects; ``runs`` by the call that started them, "" is the main one."""

    measure: Measured
    runs: dict[str, CopilotRun] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    totals: dict[str, int] = field(default_factory=dict)
    session: str = ""
    client: str = ""

    def run(self, agent: str) -> CopilotRun:
        """The conversation of an agent, made at its first event."""
        return self.runs.setdefault(agent, CopilotRun(Assembly(self.measure)))


class _Format(Format):
    label = "Copilot CLI"
    source = "Sessions of GitHub Copilot CLI 0.0.420 to 1.0.77, ~/.copilot/session-state/…/events.jsonl (JSONL)"
    coverage = Coverage(
        "0.0.420 to 1.0.77", usage=PARTLY, images=YES, compactions=YES, refusals=YES, subagents=YES, live=YES,
        error="session.error", compaction="session.compaction_complete, session.truncation",
        failed="session.compaction_complete, success false",
        who="customInstructions, or its place beside the work",
        begun="session.compaction_start and no end", window="tokenLimit of session events",
        interruption="abort", end="session.shutdown errorReason", model="session.model_change",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        """Events with a dotted type, data, an id and a parent; a collector may have put each into ``raw``."""
        lines = first_objects(head)
        events = [event for value in lines if (event := event_of(value)) and "id" in event and "parentId" in event]
        if not events or 2 * len(events) < len(lines):
            return None
        if any(e["type"] == "session.start" and "copilot" in text_of(e["data"].get("producer")) for e in events):
            return Sniff(97, "session.start names copilot-agent as its producer, and events follow")
        if n_messages := sum(event["type"] in MESSAGES for event in events):
            return Sniff(88, f"{n_messages} of the first {len(lines)} lines are Copilot's messages with data")
        return Sniff(0, "events with a dotted type and data, but none of Copilot's messages")

    def parse(self, source: Source, measure: Measured) -> Parsed:
        file = CopilotFile(measure)
        for line, value in objects(source):
            if (event := event_of(value)) is None:
                source.skip("not an event with a dotted type and data", line)
            else:
                _read(file, event, line.at() if event is value else line.at(ENVELOPE))
        native = file.session or stem_of(source.name)
        found: list[Transcript] = []
        for agent, run in sorted(file.runs.items(), key=lambda item: bool(item[0])):
            if run.history.messages:
                found.append(_transcript(file, run, agent, native, found[0].id if found else None))
        return Parsed(tuple(found), warnings=unread_notes(file.unknown))

    contents = each_value(event_contents)


def _read(file: CopilotFile, event: Record, origin: Origin) -> None:
    kind, data = event["type"], event["data"]
    # The call that started the sub-agent whose event this is, "" for the main conversation's.
    agent = text_of(event.get("agentId")) or text_of(data.get("parentToolCallId"))
    if kind == "session.start":
        file.session = text_of(data.get("sessionId")) or file.session
        file.client = text_of(data.get("copilotVersion")) or file.client
        file.run("").model = text_of(data.get("selectedModel"))
    elif kind == "subagent.completed":
        file.totals[text_of(data.get("toolCallId"))] = count_of(data.get("totalTokens"))
    elif kind in MESSAGES:
        _add(file.run(agent), event, origin)
    elif kind.startswith("session."):
        _session_event(file.run(agent), event, origin)
    elif kind == "abort":
        file.run(agent).history.event(EventKind.INTERRUPTION, text_of(data.get("reason")))
    elif kind not in NOT_CONTEXT and not kind.startswith(("hook.", "permission.")):
        file.unknown[kind] += 1


def _add(run: CopilotRun, event: Record, origin: Origin) -> None:
    kind, data, history = event["type"], event["data"], run.history
    contents = event_contents(event)
    facts: dict[str, Any] = {"id": text_of(event.get("id")), "timestamp": seconds(event.get("timestamp"))}
    if kind == SYSTEM:
        run.system = history.measure(contents)
    elif kind == REPLY:
        call_id = text_of(data.get("apiCallId"))
        if not call_id:
            history.end_run()
        history.reply(contents, (origin,), response_id=call_id, model=text_of(data.get("model")) or run.model, **facts)
        run.n_output += count_of(data.get("outputTokens"))
    elif kind == USER:
        history.title = history.title or title_of(text_of(data.get("content")))
        history.add(Role.USER, contents, (origin,), typed=bool(contents), **facts)
    else:
        # Only of the text of a result is it known that it was sent.
        beside = as_list(as_dict(data.get("result")).get("contents"))
        run.n_unsure += sum(as_dict(item).get("type") == "image" for item in beside)
        history.add(Role.USER, contents, (origin,), typed=False, **facts)


def _session_event(run: CopilotRun, event: Record, origin: Origin) -> None:
    kind, data = event["type"].removeprefix("session."), event["data"]
    run.window = max(0, count_of(data.get("tokenLimit"))) or run.window
    if kind == "model_change":
        run.model = text_of(data.get("newModel")) or run.model
    elif kind == "error":
        run.history.fail(data)
    elif kind in ("warning", "info"):
        told = error_of(data.get("message"))
        run.history.refuse(told if told and told.of_compaction else None)
    elif kind == "compaction_start":
        _unended(run)
        run.started, run.before = len(run.history.messages), sum(count_of(data.get(key)) for key, _ in PARTS)
        run.reason = text_of(data.get("trigger"))
        run.standing = sum(count_of(data.get(key)) for key in ("systemTokens", "toolDefinitionsTokens"))
        run.history.warnings += _told(data, run.before, "Before a compaction")
    elif kind == "compaction_complete":
        _compaction(run, event, origin)
    elif kind == "truncation":
        gone = count_of(data.get("tokensRemovedDuringTruncation")) or count_of(data.get("droppedTokens"))
        if gone > 0:
            run.truncated.append(gone)
            run.history.compaction(0, trigger="auto", tokens_before=None, outside=True)
    elif kind == "shutdown":
        # Requests and usage of a whole session by model; models without any are left out.
        run.ended = {}
        for model, metrics in as_dict(data.get("modelMetrics")).items():
            usage = usage_at(as_dict(as_dict(metrics).get("usage")), "copilot shutdown")
            if usage is not None and usage.context:
                run.ended[model] = count_of(as_dict(as_dict(metrics).get("requests")).get("count")), usage
        run.history.fail(data.get("errorReason"), kind=EventKind.SESSION_END)
        run.history.warnings += _told(data, count_of(data.get("currentTokens")), "At its end")


def _unended(run: CopilotRun) -> None:
    """A compaction that began and neither came about nor failed."""
    if run.started is not None:
        run.history.event(EventKind.COMPACTION_STARTED)
    run.started = None


def _compaction(run: CopilotRun, event: Record, origin: Origin) -> None:
    """What stood there at its start left; its summary, and what was written since, stay."""
    data, history, started = event["data"], run.history, run.started
    run.started = None
    if data.get("success") is not True:
        error = error_of(data.get("error"), of_compaction=True)
        size = count_of(data.get("preCompactionTokens")) or None
        history.refuse(error._replace(tokens=size) if error and error.kind == ErrorKind.COMPACTION else error)
        return
    at, usage = seconds(event.get("timestamp")), summary_usage(data)
    if usage is not None:
        model = text_of(as_dict(data.get("compactionTokensUsed")).get("model")) or run.model
        history.request(None, usage, on_branch=False, model=model, timestamp=at)
    boundary, before = len(history.messages), count_of(data.get("preCompactionTokens")) or run.before or None
    asked = next((m.preview for m in reversed(history.messages) if m.typed), "").startswith("/compact")
    trigger = "manual" if data.get("customInstructions") or asked else None
    if started is not None and started < boundary:
        # Nobody can ask for one while the agent works: it began by itself.
        boundary, trigger = started, trigger or "auto"
    number = history.compaction(
        boundary,
        trigger=trigger,
        tokens_before=before,
        unseen=before is not None,
        standing=run.standing or None,
        reason=own_reason(run.reason),
        tokens_after=count_of(data.get("postCompactionTokens")) or None,
    )
    if summary := text_of(data.get("summaryContent")):
        place = inside(origin, "data", "summaryContent")
        history.summary(event_contents(summary), (place,), number, id=text_of(event.get("id")), timestamp=at)


def _told(data: Record, total: int, when: str) -> list[str]:
    """What the client itself counted, by its own estimate."""
    parts = ", ".join(f"{name} {count_of(data.get(key)):,}" for key, name in PARTS)
    return [f"{when} the context had {total:,} tokens by Copilot's {OWN_ESTIMATE}: {parts}"] if total else []


def _transcript(file: CopilotFile, run: CopilotRun, agent: str, native: str, parent: str | None) -> Transcript:
    history = run.history
    _unended(run)
    # The usage of a whole session is a request's where there was one; of several it is told as their sum.
    is_alone, requests = not agent and len(file.runs) == 1, history.requests
    own = [request for request in requests if request.on_branch]
    for model, (n, usage) in run.ended.items():
        if is_alone and n == len(own) == len(requests) == 1 and own[0].model in {"", model}:
            requests[own[0].index] = replace(own[0], usage=usage)
        else:
            history.warnings.append(
                f"Copilot reported of {n:,} requests to {model} together: {usage.context:,} tokens of input, "
                f"{usage.cache_read:,} of them cached, and {usage.output:,} of output"
            )
    n = sum(request.on_branch for request in history.requests)
    history.note(run.n_output, f"Only outputs are reported: {run.n_output:,} tokens over {n:,} requests")
    gone = f"{sum(run.truncated):,} tokens; which messages is not recorded"
    history.note(run.truncated, f"Truncations: {len(run.truncated)}, which removed {gone}")
    history.note(run.n_unsure, f"Pictures in results: {run.n_unsure:,}; whether the model got them is not recorded")
    facts: dict[str, Any] = {"client": file.client, "window": run.window, "system": run.system, "otherwise": run.model}
    n_own = file.totals.get(agent, 0) if agent else 0
    history.note(n_own, f"Copilot counted {n_own:,} tokens over all requests of this sub-agent")
    if agent and parent:
        facts |= {"parent_id": parent, "parent_call_id": agent}
    return history.transcript(f"{native}.{agent}" if agent else native, **facts)
