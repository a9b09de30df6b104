"""The target table of a compaction, with its red flags (seeds 3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sessions.engine.quality.probes import Score
    from sessions.engine.replays.events import Event

GREEN, AMBER, RED, UNKNOWN = "green", "amber", "red", "not measured"


class QualityTarget(NamedTuple):
    """One row: ``value`` is a share from 0 to 1, None where a replay cannot know it; ``status`` a colour's name."""

    name: str
    value: float | None
    target: str
    red_flag: str
    status: str


def targets(event: Event, overhead: int, score: Score) -> tuple[QualityTarget, ...]:
    """Probe pass rate, compression ratio of the messages (overhead in tokens left out), and what no replay measures."""
    before = event.before_tokens - overhead
    ratio = 1 - (event.after_tokens - overhead) / before if before > 0 else None
    return (
        QualityTarget("probe pass rate", score.score, "> 90%", "< 70%", _pass_rate(score.score)),
        QualityTarget("compression ratio", ratio, "60–80%", "> 95%", _ratio(ratio)),
        QualityTarget("task completion", None, "same as uncompressed", "degraded", UNKNOWN),
        QualityTarget("latency overhead", None, "< 2 s", "> 5 s", UNKNOWN),
    )


def _pass_rate(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return GREEN if value > 0.9 else RED if value < 0.7 else AMBER


def _ratio(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return GREEN if 0.6 <= value <= 0.8 else RED if value > 0.95 else AMBER
