"""Processor time of a slider's move on a long session, for every policy: a process that has shown the session before.

``python -m tests.bench moves FILE [CHECKOUT]`` stores FILE in a new data folder, with the code of CHECKOUT where one is
given, and moves each policy's slider to settings that it has not been at.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

from tests.bench.first import ROOT, STORE, run_in

MOVES = 5
GOAL_MS = 150
VISIT = """
import gc, json, logging, sys, time
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS.append("testserver")
logging.disable(logging.CRITICAL)
from django.test import Client
from sessions import selectors
from sessions.engine.base import registry
from sessions.models import Session
from sessions.runs import ranges, replays
from sessions.runs.replay_state import ReplayState, parse, written
session = Session.objects.order_by("-n_messages").values_list("pk", flat=True)[0]
client = Client(headers={"HX-Request": "true"})
weighed, found = None, {}
for policy in sorted(registry.plugins("policies")):
    if policy == "none":
        continue
    client.get(f"/s/{session}/replay/?policy={policy}&was={policy}")
    weighed = selectors.load_weighed(session)
    over = ranges.usual_over(ReplayState(policy=policy), weighed)
    name = "window" if over.key == "window" else f"p.{over.key}"
    taken, n_events = [], []
    for n in range(MOVES):
        value = over.low + (over.high - over.low) * (n + 0.5) / MOVES
        text = written(round(value) if over.high > 10 else value)
        started = time.process_time()
        answer = client.get(f"/s/{session}/replay/?policy={policy}&was={policy}&{name}={text}")
        taken.append(1000 * (time.process_time() - started))
        assert answer.status_code == 200, (policy, name, text)
        state = parse({"policy": policy, name: text}, weighed)
        n_events.append(len(replays.run(session, state).replay.events))
    found[policy] = [name, taken, n_events]
print(json.dumps(found))
"""


def main() -> None:
    """Print a table in milliseconds, the slowest policy first."""
    file, place = Path(sys.argv[1]).resolve(), Path(sys.argv[2] if sys.argv[2:] else ROOT).resolve()
    with tempfile.TemporaryDirectory() as data:
        run_in(place, data, STORE, "ingest", str(file))
        found = json.loads(run_in(place, data, VISIT.replace("MOVES", str(MOVES))))
    rows = [(statistics.median(taken), max(taken), policy, name, n) for policy, (name, taken, n) in found.items()]
    within = sum(middle <= GOAL_MS for middle, *_ in rows)
    print(f"{within} of {len(rows)} within {GOAL_MS} ms\n")
    print("| policy | what moves | compactions | median | slowest |\n|---|---|---|---|---|")
    for middle, most, policy, name, n in sorted(rows, reverse=True):
        moved = name.removeprefix("p.")
        print(f"| `{policy}` | {moved} | {min(n):,} to {max(n):,} | {middle:,.0f} | {most:,.0f} |")
