"""The sessions of strangers: which first lines have what their readers asked for; the set can only grow."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from pathlib import Path

import pytest

from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline
from sessions.engine.why.verdicts import verdicts_of

FOLDER = Path(__file__).parent.parent / "why"
SETS = (
    "strangers",
    "strangers-2",
    "strangers-3",
    "strangers-4",
    "strangers-5",
    "strangers-6",
    "strangers-7",
    "strangers-8",
    "strangers-9",
    "strangers-10",
    "strangers-11",
    "strangers-12",
)
WRONG = {
    "01-claude-code-base64.jsonl", "01-claude-code-thrash.jsonl", "02-claude-code-resume-cache.jsonl",
    "02-claude-code-resume.jsonl", "03-codex-token-budget-no-summary.jsonl",
    "04-codex-images-kept-loop.jsonl", "05-codex-4280k-of-570k.jsonl",
    "05-copilot-mcp-tools-573k.jsonl", "05-gemini-image-refused-locally.json",
    "06-copilot-cli-lost-tool-output.jsonl", "07-gemini-cli-resume-invalid.json", "07-qwen-session-limit.jsonl",
    "08-openclaw-cache-10752.jsonl", "09-opencode-pinned-196608.json",
    "09-vscode-early-tools.jsonl", "10-cline-litellm-200k.json", "11-kilo-switched-model.json",
    "12-cline-cache-counted-twice.json", "12-zoo-folder-condense-loop.json", "13-crush-wrong-original-request.db",
    "13-hermes-413.json", "14-copilot-cli-hook.jsonl", "15-copilot-app-undercount.jsonl",
    "15-pi-hung-after-compaction.jsonl", "16-antigravity-checkpoint-early.jsonl",
    "16-goose-128k-default.json", "16-gsd-summed.jsonl", "16-openclaw-msg-attachment.jsonl",
    "17-hermes-vllm-max-tokens.json", "17-inspect-vllm-1000.json",
    "17-zed-grep-result.db", "18-cursor-summarized-59.vscdb", "19-adk-interval.json", "19-codex-long-day.jsonl",
    "20-copilot-cli-log-review.jsonl", "21-lobechat-image-174643.json", "21-qwen-code-pdf.jsonl",
    "22-agents-sdk-minimax-2013.jsonl", "23-claude-code-367k.jsonl", "25-agno-metrics-doubled.json",
    "26-claude-code-drop-18k.jsonl", "26-tau2-infrastructure-error.json", "51-adk-orphan-call.session.json",
    "52-langfuse-cached-counted-twice.json", "52-nanobot-never-consolidated.jsonl",
    "53-nanobot-no-reply.jsonl", "54-hermes-early.db", "55-responses-tool-image-as-text.jsonl",
    "57-librechat-window-17100.md",
    "57-vllm-max-tokens-whole-window.jsonl", "60-langfuse-cached-twice.json",
    "60-lobehub-never-compressed-200215.json", "61-aiderdesk-screenshot.context.json",
    "61-langsmith-gemini-thinking-cap.json", "64-openhands-condense-loop.json",
    "64-pydantic-ai-orphan-tool.json", "65-benchflow-500-no-body.jsonl", "65-nanobot-never-consolidated.jsonl",
    "66-langfuse-zero-input.trace.json", "68-browser-use-healthy.json", "69-mastra-length.trace.json",
    "70-chatgpt-pasted-error-healthy.json",
    "06-pi-length-stop-at-268k.jsonl",
    "15-openhands-nothing-to-condense.jsonl",
    "16-openhands-condensation-loop.json",
    "19-qwen-code-healthy-compressed.jsonl",
    "21-crush-healthy-summarized.db",
    "55-litellm-cache-counted-twice.json",
        "58-letta-over-its-window.af",
        "60-vercel-cached-tokens-not-counted.json",
    "61-pydantic-ai-input-without-cache.json",
        "63-adk-orphan-tool-result.json",
    "67-librechat-answers-short-unknown.json",
    "62-inspect-answers-cut-at-1024.json",
}  # fmt: skip
"""Those whose first line lacks something; one that is mended leaves the set, none enters it."""


def rows() -> list[dict[str, str]]:
    """The tables of what each line must and must not say."""
    found = []
    for name in SETS:
        with (FOLDER / name / "README.tsv").open(encoding="utf-8", newline="") as file:
            found += [row | {"set": name} for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return found


def told(path: Path) -> str:
    """The first lines about the sessions of a file; "" of one that is no known format."""
    with path.open("rb") as file, suppress(NotATranscript):
        found = [weigh(transcript) for transcript in read_transcripts(file, path.name).transcripts]
        return " ".join(headline(weighed, verdicts_of(weighed)) for weighed in found)
    return ""


def patterns(row: dict[str, str], column: str) -> list[str]:
    """The regular expressions of a column, by how its name begins."""
    cell = next(value for name, value in row.items() if name.startswith(column))
    return [pattern.strip() for pattern in cell.split(" ; ") if pattern.strip()]


def test_what_a_line_must_say_is_read_as_it_was_meant() -> None:
    """A semicolon that stands in no class of characters parts two expressions, and has a space on both sides."""
    for row in rows():
        for column in ("must contain", "must not"):
            bare = re.sub(r"\[[^\]]*\]", "", " ".join(patterns(row, column)))
            assert ";" not in bare, (row["set"], row["file"], bare)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_a_strangers_first_line(row: dict[str, str]) -> None:
    said = told(FOLDER / row["set"] / row["file"])
    lacks = [one for one in patterns(row, "must contain") if not re.search(one, said, re.IGNORECASE)]
    wrong = [one for one in patterns(row, "must not say") if re.search(one, said, re.IGNORECASE)]
    assert bool(lacks or wrong) == (row["file"] in WRONG), (said, lacks, wrong)
