"""Google ADK's own compaction, asked before every request and after every invocation."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from _pipe import arguments, requests, serve, text
from google.adk.apps import compaction
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.base_events_summarizer import BaseEventsSummarizer
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.flows.llm_flows.context._compaction import _process_compaction_events
from google.adk.sessions.session import Session
from google.genai import types


class Writer(BaseEventsSummarizer):
    """Writes a summary of a fixed length."""

    def __init__(self, n_chars):
        self.n_chars = n_chars

    async def maybe_summarize_events(self, *, events):
        content = types.Content(role="model", parts=[types.Part(text=text(self.n_chars))])
        span = EventCompaction(
            start_timestamp=events[0].timestamp, end_timestamp=events[-1].timestamp, compacted_content=content
        )
        return Event(author="model", invocation_id="summary", actions=EventActions(compaction=span))


def built(n, given, invocation, names, used):
    parts, usage = [], None
    if given.get("chars"):
        parts.append(types.Part(text=text(given["chars"])))
    for call in given.get("calls", ()):
        names[call["id"]] = call["name"]
        made = types.FunctionCall(id=call["id"], name=call["name"], args=arguments(call["args"]))
        parts.append(types.Part(function_call=made))
    for result in given.get("results", ()):
        made = types.FunctionResponse(
            id=result["id"], name=names[result["id"]], response={"result": text(result["chars"])}
        )
        parts.append(types.Part(function_response=made))
    reply = given["role"] == "assistant"
    if reply:
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=used)
    content = types.Content(role="model" if reply else "user", parts=parts)
    return Event(
        id=f"m{n}", author="model" if reply else "user", invocation_id=f"i{invocation}", content=content,
        timestamp=float(n + 1), usage_metadata=usage,
    )  # fmt: skip


def signature(event, given):
    if not event.id.startswith("m") or not event.id[1:].isdigit():
        return ["new", len(event.content.parts[0].text), 0, [], []]
    n = int(event.id[1:])
    calls = [[c["id"], 2] for c in given[n].get("calls", ())]
    return [n, given[n].get("chars", 0), 0, calls, [[r["id"], r["chars"]] for r in given[n].get("results", ())]]


class Store:
    async def append_event(self, *, session, event):
        session.events.append(event)


async def views(case):
    params, given = case["params"], case["messages"]
    how = {}
    if params["trigger"] != "invocations":
        how |= {"token_threshold": params["token_threshold"], "event_retention_size": params["retention"]}
    if params["trigger"] != "tokens":
        how |= {"compaction_interval": params["interval"], "overlap_size": params["overlap"]}
    config = EventsCompactionConfig.model_construct(
        summarizer=Writer(4 * case["summary"]),
        **{"token_threshold": None, "event_retention_size": None, "compaction_interval": None, "overlap_size": None}
        | how,
    )
    session = Session(id="s", app_name="a", user_id="u", events=[])
    app = SimpleNamespace(events_compaction_config=config, root_agent=SimpleNamespace(name="a"))
    compaction._estimate_prompt_token_count = lambda **_: estimate(session)
    sizes = {f"m{n}": size for n, size in enumerate(case["sizes"])}

    def estimate(session):
        shown = _process_compaction_events(session.events)
        return sum(sizes.get(event.id, case["summary_size"]) for event in shown)

    found, start, names, invocation, replies = [], 0, {}, -1, 0
    for k in requests(given):
        for n in range(start, k):
            if given[n]["role"] == "user":
                invocation += 1
                if n + 1 == k or all(m["role"] == "user" for m in given[n:k]):
                    await ended(app, session, given, n, k)
            used = case["usage"][replies][0] if given[n]["role"] == "assistant" else 0
            session.events.append(built(n, given[n], invocation, names, used))
            replies += given[n]["role"] == "assistant"
        start = k
        if params["trigger"] != "invocations":
            await compaction._run_compaction_for_token_threshold_config(
                config=config, session=session, session_service=Store(), agent=app.root_agent
            )
        found.append([signature(event, given) for event in _process_compaction_events(session.events)])
    return found


async def ended(app, session, given, n, k):
    """Before the first of the newest prompts; by tokens it is asked anew before the request, with the prompt."""
    if n and given[n - 1]["role"] == "user":
        return
    config = app.events_compaction_config
    if config.compaction_interval is None:
        return
    alone = config.model_copy(update={"token_threshold": None, "event_retention_size": None})
    app = SimpleNamespace(events_compaction_config=alone, root_agent=app.root_agent)
    async for event in compaction._run_compaction_for_sliding_window(app, session, Store()):
        session.events.append(event)


if __name__ == "__main__":
    serve(lambda case: asyncio.run(views(case)))
