"""The recorded cost against the file's own lines: usage of each reply once, times the list price, added up by hand."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.costs.cost_fit import recorded_cost
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.every import EVERY
from tests.recordings import content, recordings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPUS, SONNET, HAIKU = (5, 25, 0.5, 6.25, 10), (3, 15, 0.3, 3.75, 6), (1, 5, 0.1, 1.25, 2)
PRICES = {
    "claude-opus-4-5": OPUS, "claude-opus-4-6": OPUS, "claude-sonnet-4-5": SONNET, "claude-sonnet-4-6": SONNET,
    "claude-haiku-4-5": HAIKU,
}  # fmt: skip
"""Dollars per million tokens: input, output, cache read, cache write, write for an hour
(https://platform.claude.com/docs/en/about-claude/pricing, 2026-11-22)."""


def records(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a file; two writers at once leave two on a line."""
    decode, at = json.JSONDecoder().raw_decode, 0
    while at < len(text):
        record, at = decode(text, at)
        yield record
        at += len(text[at : at + 2]) - len(text[at : at + 2].lstrip())


def by_hand(data: bytes) -> float:
    """Dollars of a Claude Code file: the last usage of every reply's id."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for record in records(data.decode()):
        message = record.get("message") or {}
        usage = message.get("usage") if isinstance(message, dict) else None
        if usage and message.get("model") != "<synthetic>":
            before = found.get(message["id"], ("", {}))[1].get("output_tokens", 0)
            if usage["output_tokens"] >= before:
                found[message["id"]] = message["model"], usage
    total = 0.0
    for model, usage in found.values():
        price = next(price for name, price in PRICES.items() if model.startswith(name))
        for_an_hour = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens", 0)
        for_minutes = usage.get("cache_creation_input_tokens", 0) - for_an_hour
        counts = usage["input_tokens"], usage["output_tokens"], usage.get("cache_read_input_tokens", 0)
        total += sum(n * one for n, one in zip((*counts, for_minutes, for_an_hour), price, strict=True)) / 1e6
    return total


@pytest.mark.samples
@pytest.mark.parametrize("path", recordings("corpus/claude-code")[:: 1 if EVERY else 30], ids=lambda path: path.name)
def test_recorded_cost_is_usage_times_list_price(path: Path) -> None:
    data = content(path)
    parsed = read_transcripts(BytesIO(data), path.name.removesuffix(".gz"))
    costs = [recorded_cost(weigh(one)) for one in parsed.transcripts]
    told = sum(cost.dollars for cost in costs if cost is not None)
    assert told > 0
    assert told == pytest.approx(by_hand(data), rel=0.005)
