"""What a jump needs of a session's requests and messages, in columns: a process reads these and unpacks no message."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from sessions.engine.caching import CacheUse, cache_use, know_cache_use
from sessions.engine.calibration.held import Held
from sessions.engine.calibration.kept import MODEL
from sessions.engine.outputs import know_outputs, outputs
from sessions.engine.parts import without_gc
from sessions.engine.sweeps.fast.table import Facts, facts_of, know_facts
from sessions.engine.sweeps.fast.track import Reuse, Track, know_track, track_of

if TYPE_CHECKING:
    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.sweeps.fast.jump import Kept

Column = tuple[Any, ...]


def know(weighed: Weighed, kept: Kept) -> None:
    """Have at hand what holds at every request of the branch and the track, from ``kept`` or worked out for it."""
    helds, places, out, at, by, are, use = kept("session", lambda: _session(weighed), (Held, MODEL, CacheUse))
    asked, guessed, replied = kept("branch", lambda: _branch(weighed))
    held, produced = tuple(map(helds.__getitem__, places)), tuple(zip(at, by, are, strict=True))
    vars(weighed).update(held=held, asked=asked, guessed=guessed, left_out=out, produced=produced)
    know_outputs(weighed, replied)
    know_cache_use(weighed, use)
    know_facts(weighed, kept("facts", lambda: facts_of(weighed), (Facts,)))
    with without_gc():
        know_track(weighed, _track_of(*kept("track", lambda: _track(weighed), (Track, Reuse)), use))


def _session(weighed: Weighed) -> Column:
    """Models held with their windows and which at every step; what is left out, or was produced; the cache."""
    helds = {id(held): held for held in weighed.held}
    place = {each: n for n, each in enumerate(helds)}
    produced = (tuple(one[n] for one in weighed.produced) for n in range(3))
    places = tuple(place[id(held)] for held in weighed.held)
    return (tuple(helds.values()), places, weighed.left_out, *produced, cache_use(weighed))


def _branch(weighed: Weighed) -> tuple[Column, Column, Column]:
    """By step: the model named, whether the output is guessed, the output."""
    return weighed.asked, weighed.guessed, outputs(weighed)


def _track(weighed: Weighed) -> tuple[Track | None, Column]:
    """The track without its cache and uses of targets; those as columns: targets, how many each, where, by which."""
    track = track_of(weighed)
    if track is None:
        return None, ()
    uses = [use for found in track.target_uses.values() for use in found]
    names = tuple(dict.fromkeys(name for _, name in uses))
    place = {name: n for n, name in enumerate(names)}
    columns = (
        tuple(track.target_uses), tuple(map(len, track.target_uses.values())), tuple(at for at, _ in uses), names,
        tuple(place[name] for _, name in uses),
    )  # fmt: skip
    return replace(track, target_uses={}, use=None), columns  # type: ignore[arg-type]


def _track_of(track: Track | None, columns: Column, use: CacheUse) -> Track | None:
    """The track that ``_track`` was given."""
    if track is None:
        return None
    targets, lengths, ats, names, places = columns
    uses = list(zip(ats, map(names.__getitem__, places), strict=True))
    starts = accumulate(lengths, initial=0)
    found = {target: uses[start:stop] for target, (start, stop) in zip(targets, pairwise(starts), strict=True)}
    return replace(track, target_uses=found, use=use)
