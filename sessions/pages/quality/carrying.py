"""The working set against what was carried, and the bill of what was carried after its last use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from sessions.engine.costs.prices import PER_MILLION
from sessions.engine.transcript.types import Transcript
from sessions.pages.quality.chart import Curves, carried_figure
from sessions.pages.ui.chart import figure_json
from sessions.runs.overview import tool_names

if TYPE_CHECKING:
    from sessions.engine.quality.carry import BlockUse, WorkingSet
    from sessions.runs.quality import QualityRun

MOST_BLOCKS = 12
MOST_CHARS = 160


@dataclass(frozen=True, slots=True)
class Carrying:
    """Curve and bill; percentages are of all tokens × requests carried.

    ``rows`` are blocks that were carried after their last use: what each is called, and what that cost.
    """

    figure: SafeString
    rows: tuple[tuple[BlockUse, str, float | None], ...]
    n_idle: int
    token_requests: int
    dollars: float | None
    percent_needed: float | None
    percent_unknown: float | None
    base: str


def build_carrying(found: WorkingSet, base: str, marks: list[int], judged: QualityRun) -> Carrying:
    """The working set of one base; ``marks`` are the requests of the events; priced as cache reads."""
    idle = sorted(
        (block for block in found.blocks if block.idle_token_requests), key=lambda block: -block.idle_token_requests
    )
    carried = sum(found.carried)
    transcript = judged.weighed.transcript
    tools = tool_names(transcript.messages) if idle else {}
    price = judged.prices.cache_read / PER_MILLION if judged.prices else None
    n_token_requests = sum(block.idle_token_requests for block in idle)

    def dollars(token_requests: int) -> float | None:
        return None if price is None else price * token_requests

    return Carrying(
        figure=figure_json(carried_figure(Curves(found.requests, found.carried, found.needed, found.unknown, marks))),
        rows=tuple(
            (block, _what(transcript, block, tools), dollars(block.idle_token_requests)) for block in idle[:MOST_BLOCKS]
        ),
        n_idle=len(idle),
        token_requests=n_token_requests,
        dollars=dollars(n_token_requests),
        percent_needed=100 * sum(found.needed) / carried if carried else None,
        percent_unknown=100 * sum(found.unknown) / carried if carried else None,
        base=base,
    )


def _what(transcript: Transcript, block: BlockUse, tools: dict[str, str]) -> str:
    """What a block is called: its tool and target, else how its message begins."""
    message = transcript.messages[block.message]
    known = tools.get(message.blocks[block.block].call_id or "", "")
    return (known or message.preview)[:MOST_CHARS]
