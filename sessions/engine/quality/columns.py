"""Losses as columns of a sweep: what a setting loses over all its compactions, smaller is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sessions.engine.quality.constraints import state_of
from sessions.engine.quality.doses import Results
from sessions.engine.quality.index import Index
from sessions.engine.quality.needs import gone_of, used_later
from sessions.engine.quality.recall import COUNTS, decoys_at
from sessions.engine.quality.standing import GONE, OPEN, Known, standing
from sessions.engine.replays.replay import Replay
from sessions.engine.weigh.calibration.weighed import Weighed


@dataclass(frozen=True, slots=True)
class Lost:
    """What the compactions of one replay lose, by name.

    ``rules`` are those that any compaction lost, ``things`` the references needed and gone, one for every compaction
    that lost it; ``read_again_tokens`` what would have to be read again for them; ``n_open`` rules and references
    depend on a summary without text, and are in none of the others.  ``counts`` are those of recall.
    """

    rules: tuple[str, ...]
    things: tuple[str, ...]
    read_again_tokens: int
    n_open: int
    counts: Mapping[str, float]


def loss_columns(weighed: Weighed, index: Index) -> Callable[[Replay], Mapping[str, float]]:
    """A function to give to ``sweep(columns=...)``: the counts of ``losses_by``."""
    return counts_of(losses_by(weighed, index))


def counts_of(lost_by: Callable[[Replay], Lost]) -> Callable[[Replay], Mapping[str, float]]:
    """The columns that count what ``lost_by`` names."""

    def columns(replay: Replay) -> Mapping[str, float]:
        lost = lost_by(replay)
        return {
            "rules_gone": len(lost.rules), "needs_gone": len(lost.things), "read_again_tokens": lost.read_again_tokens,
            "losses_open": lost.n_open, **lost.counts,
        }  # fmt: skip

    return columns


def losses_by(weighed: Weighed, index: Index) -> Callable[[Replay], Lost]:
    """What a replay of this session loses, to its end."""
    results = Results(weighed, index)
    first_places = sorted(places[0] for places in index.places)

    def lost(replay: Replay) -> Lost:
        known: Known = {}
        rules: dict[int, None] = {}
        open_rules: set[int] = set()
        things: list[int] = []
        n_tokens = 0
        counts = dict.fromkeys(COUNTS, 0)
        texts = replay.wording(index.sketch_of)
        for event in replay.events:
            listed = event.before
            before = standing(listed, weighed.transcript, index, texts, known=known)
            after = standing(event.after, weighed.transcript, index, texts, sources=listed, known=known)
            used = used_later(before, index)
            missing = [reference for _, reference in gone_of(used, after, index)]
            gone = missing if after.missing == GONE else []
            things += gone
            n_tokens += results.refetch(gone, before.newest).tokens
            decoys = decoys_at(before, after, index, first_places)
            found = (len(used), len(missing) - len(gone), *decoys, event.after_tokens)
            for name, count in zip(COUNTS, found, strict=True):
                counts[name] += count
            for k, constraint in enumerate(index.constraints):
                state = state_of(constraint, after) if constraint.message <= before.newest and k not in rules else ""
                if state in {GONE, OPEN} and state_of(constraint, before) != GONE:
                    if state == GONE:
                        rules[k] = None
                    else:
                        open_rules.add(k)
        return Lost(
            tuple(index.constraints[k].rule.text for k in rules), tuple(index.references[i].text for i in things),
            n_tokens, counts["needs_open"] + len(open_rules - rules.keys()), counts,
        )  # fmt: skip

    return lost
