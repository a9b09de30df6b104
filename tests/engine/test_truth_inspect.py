"""``inspect`` against the ground truth of every shared sample of every format, field by field, in one test.

Fields: ``n_images``; every base64 image's bytes and dimensions; the measured context of every call; usage in all;
tokens before and after every recorded compaction.  What only one format has is asserted in its own module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.reading import read_transcripts
from sessions.engine.reports.report import inspect_document
from tests.engine.truth_facts import facts, place, sample_names

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_MESSAGES = ("queue_operation", "system-summary", "system_info", "file_history_snapshot", "as-store.db")
NAMES = [name for name in sample_names() if not any(part in name for part in WITHOUT_MESSAGES)]
NO_TOTALS = ("codex-records/as-small-compacted.jsonl",)
"""Records of several versions stand one after another: its totals mean nothing."""
REFERENCES_COUNT = ("hf-sharegpt", "browser-use")
"""Truth counts bytes there; a reference to an image is an image of the conversation all the same."""


def inspected(path: Path) -> dict[str, Any]:
    """The inspect document of one file."""
    with path.open("rb") as file:
        return inspect_document(read_transcripts(file, path.name))


def contexts(truth: dict[str, Any], folder: str) -> list[int] | None:
    """Measured context of every call in ascending order, zeros left out; None where truth has no such list."""
    if folder.startswith("claude-code"):
        calls = truth["main"].get("context", []) + truth.get("sidechain", {}).get("context", [])
    elif folder == "codex":
        calls = truth["token_count"]["input"]
    elif folder == "cline":
        calls = truth["input"]
    elif folder == "pi":
        calls = truth["context"]
    elif folder == "otel-langfuse":
        calls = (
            [n for n, _ in truth["calls_by_hand"]["real_usage"]] if "calls_by_hand" in truth else truth["input_each"]
        )
    elif folder == "kimi-code":
        calls = truth["usage_records"]["context"]
    elif folder == "qwen-code":
        calls = [usage["promptTokenCount"] for usage in truth["usage"]]
    elif folder in ("gemini-cli", "entire-checkpoint") and "context" in truth:
        calls = truth["context"]
    elif folder in {"anthropic-api", "openai-chat", "openai-responses", "gemini-api"} and "usage" in truth:
        usage = truth["usage"]
        calls = [usage["input"] + usage.get("cache_creation", 0) + usage.get("cache_read", 0)]
        calls = calls if folder == "anthropic-api" else [usage["input"]]
    else:
        return None
    return sorted(call for call in calls if call)


@pytest.mark.samples
@pytest.mark.parametrize("name", NAMES)
def test_inspect_agrees_with_the_truth(name: str) -> None:
    """Where this fails, find out which of the two is wrong before changing either."""
    path = place(name)
    truth, folder = facts(name), name.split("/", 1)[0]
    document = inspected(path)
    messages = [m for s in document["sessions"] for m in s["messages"]]
    images = [image for m in messages for image in m["images"]]
    if folder not in REFERENCES_COUNT and "images" in truth:
        expected = truth["images"] + (truth.get("image_links") or 0)
        assert len(images) == sum(s["n_images"] for s in document["sessions"]) == expected
    if "image_list" in truth and folder != "inspect":
        listed = sorted((len(kind) + n_base64, w, h) for _, kind, n_base64, w, h in truth["image_list"])
        assert sorted((i["wire_bytes"], i["width"], i["height"]) for i in images if i["width"]) == listed
    calls = None if name in NO_TOTALS else contexts(truth, folder)
    if calls is not None:
        measured = [r["measured_context_tokens"] for s in document["sessions"] for r in s["requests"]]
        assert sorted(m for m in measured if m) == calls
    for before, after in recorded(truth, folder):
        found = [
            (c["tokens_before"], c["tokens_after"]) for s in document["sessions"] for c in s["recorded_compactions"]
        ]
        assert (before, after) in found


def recorded(truth: dict[str, Any], folder: str) -> list[tuple[int | None, int | None]]:
    """Tokens before and after every compaction that truth gives both of."""
    if folder == "claude-code":
        return [(c["preTokens"], c.get("after", {}).get("context")) for c in truth.get("compactions", [])]
    if folder == "pi":
        return [(c["tokensBefore"], c["context_after"]) for c in truth["compactions"]]
    return []
