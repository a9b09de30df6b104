"""OpenHands V0's own condensers."""

from __future__ import annotations

import logging
from types import SimpleNamespace

from _pipe import requests, serve, text
from openhands.events.action import CmdRunAction, MessageAction
from openhands.events.event import EventSource
from openhands.events.observation import CmdOutputObservation
from openhands.events.observation.agent import AgentCondensationObservation
from openhands.memory.condenser.condenser import Condensation
from openhands.memory.condenser.impl import (
    amortized_forgetting_condenser,
    conversation_window_condenser,
    llm_summarizing_condenser,
    observation_masking_condenser,
    recent_events_condenser,
)
from openhands.memory.view import View

logging.disable(logging.CRITICAL)


class Writer:
    """A model that writes a summary of a fixed length."""

    metrics = SimpleNamespace(get=dict)

    def __init__(self, n_chars):
        message = SimpleNamespace(content=text(n_chars))
        self.answer = SimpleNamespace(choices=[SimpleNamespace(message=message)], model_dump=dict)

    def format_messages_for_llm(self, messages):
        return messages

    def completion(self, **_facts):
        return self.answer


def built(n, given, ids):
    if given["role"] == "tool":
        (result,) = given["results"]
        event = CmdOutputObservation(content=text(result["chars"]), command="")
        event._cause = ids[result["id"]]
    elif given.get("calls"):
        event = CmdRunAction(command="", thought=text(given["chars"]))
        ids[given["calls"][0]["id"]] = n
    else:
        event = MessageAction(content=text(given["chars"]))
    event._id = n
    event._source = EventSource.USER if given["role"] == "user" else EventSource.AGENT
    return event


def condenser(case):
    params = case["params"]
    both = {"max_size": params.get("max_size"), "keep_first": params.get("keep_first")}
    kinds = {
        "openhands_amortized": lambda: amortized_forgetting_condenser.AmortizedForgettingCondenser(**both),
        "openhands_llm_summarizing": lambda: llm_summarizing_condenser.LLMSummarizingCondenser(
            Writer(4 * case["summary"]), **both
        ),
        "openhands_recent": lambda: recent_events_condenser.RecentEventsCondenser(
            params["keep_first"], params["max_events"]
        ),
        "openhands_masking": lambda: observation_masking_condenser.ObservationMaskingCondenser(
            params["attention_window"]
        ),
        "openhands_window": conversation_window_condenser.ConversationWindowCondenser,
    }
    made = kinds[case["policy"]]()
    made._llm_metadata = {}
    return made


def views(case):
    made, found, events, start, ids = condenser(case), [], [], 0, {}
    for request, k in enumerate(requests(case["messages"])):
        events += [built(n, case["messages"][n], ids) for n in range(start, k)]
        start = k
        view = View.from_events(events)
        before = list(view.events)
        view.unhandled_condensation_request = case["policy"] == "openhands_window" and case["rejected"][request]
        sent = made.condense(view)
        if isinstance(sent, Condensation):
            sent.action._id = 1_000_000 + k
            events.append(sent.action)
            sent = View.from_events(events)
        found.append(signatures(case, sent, before))
    return found


def signatures(case, view, before):
    seen, found = set(), []
    for position, event in enumerate(view.events):
        if isinstance(event, AgentCondensationObservation):
            masked = event.content == "<MASKED>"
            found.append(
                signature(case, before[position].id, masked) if masked else ["new", len(event.content), 0, [], []]
            )
        elif event.id not in seen:
            seen.add(event.id)
            found.append(signature(case, event.id, masked=False))
    return found


def signature(case, n, masked):
    given = case["messages"][n]
    calls = [[c["id"], 2] for c in given.get("calls", ())]
    results = [[r["id"], len("<MASKED>") if masked else r["chars"]] for r in given.get("results", ())]
    return [n, given.get("chars", 0), 0, calls, results]


if __name__ == "__main__":
    serve(views)
