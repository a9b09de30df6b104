"""Cache writes of 5 minutes and of an hour: told apart, summed once, priced apart."""

from __future__ import annotations

import io
from typing import Any

import pytest

from sessions.engine.costs.cost_fit import recorded_cost
from sessions.engine.packing.pack import pack, unpack
from sessions.engine.reading.formats._counts import usage_of
from sessions.engine.reading.jsonio import dumps, loads
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reports.report import inspect_document, usage_sums
from sessions.engine.transcript.types import Parsed, Usage
from sessions.engine.weigh.calibration.calibrate import weigh
from tests.engine.claude_lines import Lines

SPLIT = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200}


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ({"cache_creation_input_tokens": 300, "cache_creation": SPLIT}, Usage(5, 0, 300, 7, cache_write_1h=200)),
        ({"cache_creation_input_tokens": 300}, Usage(5, 0, 300, 7)),
        ({"cache_creation": SPLIT}, Usage(5, 0, 300, 7, cache_write_1h=200)),
        ({"cache_creation_input_tokens": 150, "cache_creation": SPLIT}, Usage(5, 0, 150, 7, cache_write_1h=150)),
        ({"cache_creation_input_tokens": 300, "cache_creation": [1]}, Usage(5, 0, 300, 7)),
        ({"cache_creation": {"ephemeral_1h_input_tokens": "many"}}, Usage(5, 0, 0, 7)),
    ],
)
def test_the_split_is_read_and_the_sum_stays(reported: dict[str, Any], expected: Usage) -> None:
    found = usage_of({"input_tokens": 5, "output_tokens": 7, **reported})
    assert found == expected
    assert found.context == 5 + expected.cache_write


def session(split: dict[str, int] | None) -> Parsed:
    """A Claude Code session of two requests on a model of 3 dollars a million tokens."""
    lines = Lines()
    lines.prompt("Hi")
    for number in range(2):
        lines.reply(number, {"type": "text", "text": "Hello, how can I help you today?"}, output=10)
    written = [loads(line.encode()) for line in lines.lines]
    for line in written:
        usage = line["message"].get("usage")
        if usage and split:
            usage["cache_creation"] = split
    return read_transcripts(io.BytesIO("\n".join(dumps(line) for line in written).encode()))


HOUR = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 300}


def test_the_documents_say_it_where_there_is_any() -> None:
    (with_hour,), (without,) = session(HOUR).transcripts, session(None).transcripts
    assert usage_sums(with_hour.requests) == {**(usage_sums(without.requests) or {}), "cache_write_1h": 600}
    assert "cache_write_1h" not in inspect_document(session(None))["sessions"][0]["usage"]
    assert inspect_document(session(HOUR))["sessions"][0]["usage"]["cache_write_1h"] == 600


def test_a_write_of_an_hour_costs_twice_the_input() -> None:
    with_hour, without = (recorded_cost(weigh(session(s).transcripts[0])) for s in (HOUR, None))
    assert with_hour
    assert without
    assert with_hour.dollars - without.dollars == pytest.approx(600 * (2 - 1.25) * 3 / 1_000_000)


def test_it_is_packed() -> None:
    (transcript,) = session(HOUR).transcripts
    assert unpack(pack(transcript)) == transcript
