"""The OpenHands SDK's own summarizing condenser."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import openhands.sdk.context.condenser.llm_summarizing_condenser as module
import openhands.sdk.context.condenser.utils as counting
from _pipe import requests, serve
from openhands.sdk import LLM
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent
from openhands.sdk.event.condenser import Condensation

logging.disable(logging.CRITICAL)
SIZES: dict[str, int] = {}
MODEL = LLM(model="parity", api_key="none", usage_id="parity")


def count(events, _llm):
    return sum(SIZES[event.id] for event in events)


def generate(_self, forgotten_events, summary_offset, max_event_str_length=None):
    assert forgotten_events
    return Condensation.model_construct(
        id="c", forgotten_event_ids={event.id for event in forgotten_events}, summary="s", summary_offset=summary_offset
    )


module.get_total_token_count = counting.get_total_token_count = count
module.LLMSummarizingCondenser._generate_condensation = generate


def built(n, given):
    facts = {"id": f"m{n}", "source": "agent"}
    if given["role"] == "tool":
        return ObservationEvent.model_construct(tool_call_id=given["results"][0]["id"], **facts)
    if given.get("calls"):
        thinking = ["t"] if given["thinking"] else []
        return ActionEvent.model_construct(
            tool_call_id=given["calls"][0]["id"], llm_response_id=f"r{n}", thinking_blocks=thinking, **facts
        )
    return MessageEvent.model_construct(**facts)


def views(case):
    params, held, found, start = case["params"], [], [], 0
    SIZES.clear()
    SIZES.update({f"m{n}": size for n, size in enumerate(case["sizes"])})
    condenser = module.LLMSummarizingCondenser.model_construct(
        llm=MODEL, max_size=params["max_size"], keep_first=params["keep_first"], max_tokens=params["max_tokens"],
        minimum_progress=params["minimum_progress"], hard_context_reset_max_retries=5,
        hard_context_reset_context_scaling=0.8,
    )  # fmt: skip
    agent = SimpleNamespace(effective_max_input_tokens=case["window"])
    for request, k in enumerate(requests(case["messages"])):
        held += [built(n, case["messages"][n]) for n in range(start, k)]
        start = k
        view = View.model_construct(events=list(held), unhandled_condensation_request=case["rejected"][request])
        made = condenser.condense(view, agent_llm=agent)
        if isinstance(made, Condensation):
            held = [event for event in held if event.id not in made.forgotten_event_ids]
            summary = MessageEvent.model_construct(id=f"s{request}", source="agent")
            SIZES[summary.id] = case["summary_size"]
            held.insert(made.summary_offset, summary)
        found.append([signature(case, event.id) for event in held])
    return found


def signature(case, event_id):
    if event_id.startswith("s"):
        return ["new", 4 * case["summary"], 0, [], []]
    n = int(event_id[1:])
    given = case["messages"][n]
    calls = [[c["id"], 2] for c in given.get("calls", ())]
    results = [[r["id"], r["chars"]] for r in given.get("results", ())]
    return [n, given.get("chars", 0), given.get("thinking", 0), calls, results]


if __name__ == "__main__":
    serve(views)
