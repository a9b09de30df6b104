"""Every browser-use sample against ``truth.json``."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.engine.reading.jsonio import Source
from sessions.engine.transcript.types import Kind
from tests.engine.truth_facts import fact, leaves, one_session, parsed, place, sample_names

pytestmark = pytest.mark.samples

NAMES = sample_names("browser-use")


def raw_steps(name: str) -> list[dict[str, Any]]:
    with place(name).open("rb") as file:
        return list(Source(file).document()["history"])


@pytest.mark.parametrize("name", NAMES)
def test_truth_of_steps_actions_results_and_images(name: str) -> None:
    found = one_session(name)
    assert parsed(name).skipped == ()
    assert len(found.requests) == len(raw_steps(name)) == fact(name, "steps")
    assert len(leaves(name, Kind.TOOL_USE)) == fact(name, "actions")
    assert len(leaves(name, Kind.TOOL_RESULT)) == fact(name, "results")
    images = [
        [m.origins[0].path[1], leaf.media.media_type, leaf.media.n_base64, leaf.media.width, leaf.media.height]
        for m in found.messages
        for leaf in m.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media
    ]
    assert images == fact(name, "image_list")
    assert len(images) == fact(name, "images")
    assert sum(row[2] for row in images) == fact(name, "image_base64_chars")


@pytest.mark.parametrize("name", NAMES)
def test_truth_of_estimates_that_are_no_usage(name: str) -> None:
    estimates = fact(name, "estimated_input_tokens")
    assert [step["metadata"]["input_tokens"] for step in raw_steps(name)] == estimates
    assert not any(request.usage for request in one_session(name).requests)
    span = f"({min(estimates):,} to {max(estimates):,} tokens a step)"
    assert any(span in note for note in one_session(name).warnings)
