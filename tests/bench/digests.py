"""Whether two checkouts replay alike: ``python -m tests.bench digests FILE [N]`` writes a digest of each of N replays.

Policy, parameters, window, base, summarizer and session are drawn with a fixed seed, the sessions from the shared
recordings and from generated ones; run it in both and compare the files.  A digest holds all that a replay tells: every
request, gate, event, attempt, warning and total, what was written, and the lists before and after twenty events.
"""

from __future__ import annotations

import hashlib
import math
import random
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions.engine.base.errors import EngineError
from sessions.engine.base.registry import plugins
from sessions.engine.costs.cost import totals
from sessions.engine.policies.params import specs
from sessions.engine.replays.replay import replay
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.sessions import Build, image
from tests.recordings import recordings, transcripts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sessions.engine.policies.params import Spec
    from sessions.engine.policies.policy import Item
    from sessions.engine.replays.replay import Replay
    from sessions.engine.transcript.types import Message
    from sessions.engine.weigh.calibration.weighed import Weighed

N_REPLAYS, N_GENERATED, N_LISTS, MOST_SESSIONS, N_REQUESTS = 4_000, 40, 20, 5, range(3, 1_500)
SUMMARIZERS = ("recorded", "recorded", "stub:500", "stub:20000", "extractive")
NAMES = ("Read", "Bash", "Edit", "Read", "Grep")


def main() -> None:
    """Write the digests, one replay a line."""
    draw = random.Random(18)
    generated = [_generated(draw) for _ in range(N_GENERATED)]
    recorded = _recorded() or [generated]
    policies = sorted(plugins("policies"))
    n_replays = int(sys.argv[2]) if sys.argv[2:] else N_REPLAYS
    with Path(sys.argv[1]).open("w", encoding="utf-8") as out:
        for n in range(n_replays):
            name, weighed = draw.choice(draw.choice(recorded) if n % 2 else generated)
            policy = policies[n // 2 % len(policies)]
            params = _params(draw, plugins("policies")[policy].params)
            how = {"window": _window(draw, weighed), "base": draw.choice(("full", "full", "recorded")),
                   "summarizer": draw.choice(SUMMARIZERS), "fail": draw.choice(("",) * 7 + ("every:2",))}  # fmt: skip
            print(n, policy, params, how, name, _digest(weighed, policy, params, how), sep="\t", file=out, flush=True)
            if n % 500 == 499:
                _contents.cache_clear()


def _recorded() -> list[list[tuple[str, Weighed]]]:
    """The first sessions of every file that are neither tiny nor huge."""
    found: list[list[tuple[str, Weighed]]] = []
    for name, parsed in transcripts(recordings()):
        own = [one for one in parsed.transcripts if len(one.requests) in N_REQUESTS and one.messages][:MOST_SESSIONS]
        found += [[(f"{name} {one.id}", weigh(one)) for one in own]] if own else []
    return found


def _generated(draw: random.Random) -> tuple[str, Weighed]:
    """Prompts, parallel calls answered in any order, images, compactions; some without usage."""
    n_turns = draw.choice((20, 60, 150, 300))
    session = Build(overhead=draw.choice((0, 4_000, 20_000)), usage=draw.random() < 0.7, ratio=draw.choice((1, 1, 1.4)))
    session.prompt(draw.randrange(1, 900))
    for turn in range(n_turns):
        calls = [f"c{turn}.{n}" for n in range(draw.choice((0, 1, 1, 1, 2, 3)))]
        session.reply(draw.randrange(1, 900), *calls, name=draw.choice(NAMES), target=f"/f{draw.randrange(9)}.py")
        draw.shuffle(calls)
        for call in calls:
            parts = [image(draw.randrange(1_000, 4_000_000), 500)] if draw.random() < 0.1 else []
            session.result(call, draw.choice((0, 20, 300, 2_000, 9_000)), *parts)
        if draw.random() < 0.15:
            session.prompt(draw.randrange(1, 900))
        if draw.random() < 0.02:
            session.compact(draw.randrange(1, 3_000))
    session.reply()
    return f"generated {n_turns}", weigh(session.done())


def _window(draw: random.Random, weighed: Weighed) -> int | None:
    """None, or one that the session fills a few times."""
    peak = max(weighed.recorded.context, default=50_000)
    return draw.choice((None, *(max(5_000, int(peak * share)) for share in (0.1, 0.3, 0.6, 0.9))))


def _params(draw: random.Random, params: type) -> dict[str, object]:
    """Values of some parameters."""
    return {spec.name: _value(draw, spec) for spec in specs(params) if draw.random() < 0.25}


def _value(draw: random.Random, spec: Spec) -> object:
    if spec.optional and draw.random() < 0.3:
        return None
    if spec.choices:
        return draw.choice(spec.choices)
    if spec.words:
        return draw.choice(("", "Read", "Bash Edit"))
    low, high = spec.low or 0, spec.high or 1_000_000
    value = low + math.expm1(draw.random() * math.log1p(high - low))
    if spec.default and draw.random() < 0.7:
        value = min(high, max(low, spec.default * 2 ** draw.uniform(-3, 2)))
    return round(value) if spec.is_whole else round(value, 3)


def _digest(weighed: Weighed, policy: str, params: dict[str, object], how: dict[str, Any]) -> str:
    try:
        made = replay(weighed, policy, params=params, **how)
    except EngineError as error:
        return f"{type(error).__name__}: {error}"
    found = hashlib.sha256()
    for told in (made.params, made.estimator, made.context_tokens, made.labels, made.gates, made.attempts, made.sent,
                 made.warnings, dict(made.written), made.windows, totals(made)):  # fmt: skip
        found.update(repr(told).encode())
    for event in made.events:
        found.update(repr(event).encode())
    for event in made.events[:: max(1, len(made.events) // N_LISTS)]:
        found.update(repr((_list(event.before), _list(event.after))).encode())
        changes = event.history.changes_at(event.index, event.before)
        found.update(repr([(at, _item(old), new and _item(new)) for at, old, new in changes]).encode())
    return f"{len(made.events)} {_outlined(made)} {found.hexdigest()[:24]}"


def _outlined(made: Replay) -> str:
    told = [(name, _list(outline.dropped), outline[1:]) for name, outline in made.outlines.items()]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:8] if told else "-"


def _list(items: Iterable[Item]) -> list[object]:
    return [_item(item) for item in items]


def _item(item: Item) -> object:
    content = _contents(item.message) if item.inserted or item.edited else item.message.index
    return (item.id, item.tokens, item.size, item.step, item.inserted, item.edited, content)


@cache
def _contents(message: Message) -> str:
    return repr((message.index, message.role, message.blocks, message.preview, message.summary, message.typed))
