"""The working set against what was carried, and the bill of what was carried after its last use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from sessions.engine.transcript.types import Transcript
from sessions.pages.quality.chart import Curves, carried_figure
from sessions.pages.quality.lost import PER_MILLION, Place
from sessions.pages.ui.chart import figure_json
from sessions.pages.ui.figures import count
from sessions.runs.overview import tool_names

if TYPE_CHECKING:
    from sessions.engine.quality.carry import BlockUse, WorkingSet
    from sessions.pages.quality.lost import Link
    from sessions.runs.quality import QualityRun

MOST_BLOCKS = 12
MOST_CHARS = 160


@dataclass(frozen=True, slots=True)
class IdleRow:
    """A block that was carried after its last use: ``first`` sent and last ``used`` at which requests.

    ``words`` are its tokens × requests.
    """

    place: Place
    what: str
    kind: str
    tokens: int
    first: int
    used: int
    n_uses: int
    n_requests: int
    words: str
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Carrying:
    """Curve and bill; percentages are of all tokens × requests carried."""

    figure: SafeString
    rows: tuple[IdleRow, ...]
    n_idle: int
    words: str
    dollars: float | None
    percent_needed: float | None
    percent_unknown: float | None
    base: str


def build_carrying(found: WorkingSet, base: str, marks: list[int], judged: QualityRun, link: Link) -> Carrying:
    """The working set of one base; ``marks`` are the requests of the events; priced as cache reads."""
    idle = sorted(
        (block for block in found.blocks if block.idle_token_requests), key=lambda block: -block.idle_token_requests
    )
    carried = sum(found.carried)
    transcript = judged.weighed.transcript
    tools = tool_names(transcript.messages) if idle else {}
    price = judged.prices.cache_read / PER_MILLION if judged.prices else None
    n_token_requests = sum(block.idle_token_requests for block in idle)
    rows = [_row(block, _what(transcript, block, tools), price, link) for block in idle[:MOST_BLOCKS]]
    return Carrying(
        figure=figure_json(carried_figure(Curves(found.requests, found.carried, found.needed, found.unknown, marks))),
        rows=tuple(rows),
        n_idle=len(idle),
        words=count(n_token_requests),
        dollars=None if price is None else price * n_token_requests,
        percent_needed=100 * sum(found.needed) / carried if carried else None,
        percent_unknown=100 * sum(found.unknown) / carried if carried else None,
        base=base,
    )


def _row(block: BlockUse, what: str, price: float | None, link: Link) -> IdleRow:
    dollars = None if price is None else price * block.idle_token_requests
    return IdleRow(
        Place(block.message, link(block.message)), what, block.kind, block.tokens, block.entered, block.last_use,
        block.n_uses, block.idle_requests, count(block.idle_token_requests), dollars,
    )  # fmt: skip


def _what(transcript: Transcript, block: BlockUse, tools: dict[str, str]) -> str:
    """What a block is called: its tool and target, else how its message begins."""
    message = transcript.messages[block.message]
    known = tools.get(message.blocks[block.block].call_id or "", "")
    return (known or message.preview)[:MOST_CHARS]
