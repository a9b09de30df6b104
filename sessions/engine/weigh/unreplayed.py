"""What a replay cannot go through and what it assumes, in words (replay-semantics 2)."""

from __future__ import annotations

from itertools import pairwise

from sessions.engine.transcript.types import Transcript
from sessions.engine.weigh.calibration.context_windows import ANSWER, DEFAULT, REFUSAL, source_words
from sessions.engine.weigh.calibration.weighed import Weighed


def not_replayed(transcript: Transcript, base: str) -> list[str]:
    """What a replay on a base warns of: compactions that end the session, and those whose originals are missing."""
    compactions = transcript.compactions
    found: list[str] = []
    ending = [n for n, c in enumerate(compactions) if c.request >= len(transcript.requests)]
    if ending:
        which = " and ".join(str(number) for number in ending)
        words = "ends" if len(ending) == 1 else "end"
        found.append(
            f"recorded compaction {which} {words} the session: no request was sent after it, so no trigger is asked"
        )
    if base == "full":
        found += [
            f"recorded compaction {number}: what it removed is not in this session, so its result stays"
            for number, compaction in enumerate(compactions)
            if compaction.outside
        ]
    return found


def assumed_windows(weighed: Weighed, given: int | None) -> list[str]:
    """A window that is assumed or raised by evidence, and changes with the model; ``given`` replaces the session's."""
    found: list[str] = []
    if not given and weighed.window_source == DEFAULT and weighed.model.known:
        found.append("the context window is not recorded: 200,000 tokens are assumed")
    if not given and weighed.window_source in {ANSWER, REFUSAL}:
        words = source_words(weighed.transcript, weighed.window_source)
        found.append(f"the context window of {weighed.window:,} tokens is {words}")
    for k, (before, held) in enumerate(pairwise(weighed.held), 1):
        if held is not before and before.model.name != held.model.name and (given or before.window != held.window):
            request, took = weighed.steps[k].request, "as given" if given else f"{held.window:,} tokens from there on"
            found.append(
                f"request {request}: the model changes from {before.model.name} to {held.model.name}; window {took}"
            )
    return found
