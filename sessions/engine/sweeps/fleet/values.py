"""What one session adds to the figures over many, as a value; nothing is worked out here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

BY = ("agent", "client", "model", "project", "week")
NOT_RECORDED = "-"
"""What an address or a command gives for a value that the transcript does not have."""
RULES = 4
"""Rises when a figure is worked out in another way: what was kept before is then worked out again."""
ABOVE = 100_000
"""Requests with a larger context than this many tokens are counted apart."""
OVERCOUNTED = 10.0
"""From this factor on, a message's image is overcounted."""
THRESHOLDS = (50_000, 75_000, 100_000, 125_000, 150_000, 175_000, 200_000, 300_000, 500_000, None)
"""Thresholds in tokens that every session is replayed at; None: never compacted."""
RECORDED = 0
"""Stands among the thresholds for the sessions as recorded, which all others are held against."""
POLICY, SUMMARIZER = "parametric", "stub:4000"
"""What the thresholds are tried with: a summary of the same size in every session."""


class Tried(NamedTuple):
    """A session at one threshold, or as recorded (``RECORDED``); dollars are None without a price."""

    threshold: int | None
    compactions: int
    low: float | None
    high: float | None
    fits: bool


@dataclass(frozen=True, slots=True)
class Part:
    """What one session adds.

    Texts are "" where the transcript does not say; ``client`` is the agent with its version, ``week`` as ISO 8601
    writes it, by the start.  ``n_false`` are false alarms among the compactions, likely or certain; ``n_refused``
    requests refused for their size; ``n_missed`` compactions that did not come; ``n_thrash`` those after which the
    next came within three requests; ``n_overcounted`` messages with an image of ten times its tokens.  ``dollars`` is
    the recorded usage at list prices, ``dollars_above`` that of requests with a context over 100,000 tokens; None
    without a price, or where most requests have no usage.  ``id`` is what finds the session again.
    """

    agent: str
    client: str
    model: str
    project: str
    week: str
    n_requests: int
    n_compactions: int
    n_false: int
    n_refused: int
    n_missed: int
    n_thrash: int
    n_overcounted: int
    tokens_again: int
    dollars: float | None
    dollars_above: float | None
    tried: tuple[Tried, ...] = ()
    id: str = ""
