"""The sessions of strangers: which first lines have what their readers asked for; the set can only grow."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from pathlib import Path

import pytest

from sessions.engine.reading.reading import NotATranscript, read_transcripts
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.headline import headline, order
from sessions.engine.why.verdicts import verdicts_of
from tests.engine.test_why_reports import ALL

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
    "strangers-13",
    "strangers-14",
    "strangers-15",
    "strangers-16",
    "strangers-17",
    "strangers-18",
    "strangers-19",
)
WRONG = {
    "01-claude-code-base64.jsonl", "01-claude-code-blocked-165k.jsonl", "01-claude-code-cache-prefix-only.jsonl",
    "01-claude-code-resume-rewrites.jsonl", "01-claude-code-thrash.jsonl", "02-claude-code-resume-cache.jsonl",
    "02-claude-code-resume.jsonl", "03-codex-compacted-at-388k.jsonl", "03-codex-router-estimate-116k.jsonl",
    "03-codex-total-over-window.jsonl", "03-opencode-413-images.json", "04-codex-exec-resume-sums.jsonl",
    "04-codex-images-kept-loop.jsonl", "05-codex-4280k-of-570k.jsonl", "05-copilot-mcp-tools-573k.jsonl",
    "05-gemini-cut-at-8192.json", "05-gemini-image-refused-locally.json", "06-copilot-cli-deleted-binary-diff.jsonl",
    "07-qwen-session-limit.jsonl", "08-aider-within-its-limits.md", "08-copilot-four-compactions-healthy.jsonl",
    "08-copilot-sdk-8192-cut.jsonl", "08-cursor-summary-lost-rules.vscdb", "08-openclaw-cache-10752.jsonl",
    "09-opencode-compacts-every-step-1m.json", "09-opencode-pinned-196608.json", "09-pi-context-shift-65k.jsonl",
    "09-vscode-compacts-at-half.json", "09-vscode-early-tools.jsonl", "09-vscode-tools-over-8192.json",
    "10-cline-litellm-200k.json", "10-goose-limit-200k.db", "11-kilo-switched-model.json",
    "11-pi-thinking-kept-90k-chars.jsonl", "11-qwen-code-summary-300-tokens.jsonl", "12-roo-210k-to-12k-healthy.json",
    "12-zoo-folder-condense-loop.json", "13-crush-wrong-original-request.db", "13-hermes-413.json",
    "13-hermes-cannot-compress.log", "13-kilo-compaction-exhausted.json", "14-cline-truncates-at-26k.json",
    "14-copilot-cli-hook.jsonl", "14-crush-counters-frozen.db", "15-cline-local.json",
    "15-copilot-app-undercount.jsonl", "15-goose-compacts-each-message.db", "15-openhands-nine-condensations.jsonl",
    "15-openhands-nothing-to-condense.jsonl", "16-antigravity-checkpoint-early.jsonl", "16-goose-128k-default.json",
    "16-kimi-one-compaction.jsonl", "16-openclaw-msg-attachment.jsonl", "16-openhands-condensation-loop.json",
    "16-pi-hook-compaction.jsonl", "16-qwen-code-resumed-after-compress.jsonl", "17-hermes-vllm-max-tokens.json",
    "17-inspect-vllm-1000.json", "17-openhands-condense-by-count.jsonl", "17-roo-usage-alternates.json",
    "17-zed-grep-result.db", "18-antigravity-model-switch.jsonl", "18-cursor-summarized-59.vscdb",
    "18-zed-short-prompt-refused.log", "19-adk-interval.json", "19-claude-code-total-2m-healthy.jsonl",
    "19-codex-long-day.jsonl", "19-hermes-lost-current-task.db", "19-openclaw-local-server.jsonl",
    "19-qwen-hard-limit-0.json", "19-zoo-code-mcp-git-diff.json", "20-codex-total-1.36m-healthy.jsonl",
    "20-copilot-cli-log-review.jsonl", "20-openclaw-counts-double.json", "20-roo-first-prompt-kept.json",
    "21-copilot-cli-second-compact-healthy.jsonl", "21-qwen-code-pdf.jsonl", "22-agents-sdk-minimax-2013.jsonl",
    "23-claude-code-367k.jsonl", "26-claude-code-drop-18k.jsonl", "26-tau2-infrastructure-error.json",
    "51-adk-orphan-call.session.json", "51-deepagents-offload-lost.json", "52-langfuse-cached-counted-twice.json",
    "52-mlflow-strands-counted-twice.json", "52-nanobot-never-consolidated.jsonl", "53-adk-cache-never-engages.json",
    "53-litellm-stream-cache-read-full-price.json", "53-nanobot-no-reply.jsonl",
    "54-agent-framework-opening-message-missing.json", "54-hermes-early.db", "54-pydantic-ai-agent-span-sum.jsonl",
    "55-chatlas-ollama-max-tokens-2048.jsonl", "55-lmstudio-responses-chain-doubles.har",
    "55-responses-tool-image-as-text.jsonl", "56-open-webui-reasoning-as-summary.json",
    "56-openclaw-second-compaction-stale-usage.jsonl", "57-helicone-gemini-thoughts.jsonl",
    "57-librechat-window-17100.md", "57-mastra-fresh-turn.json", "57-vllm-max-tokens-whole-window.jsonl",
    "58-adk-claude-output-1024.session.json", "58-llamaindex-no-question.jsonl",
    "59-mastra-single-message-never-observed.db", "59-openai-agents-compact.log", "60-gemini-thoughts-ate-50.jsonl",
    "60-lobehub-never-compressed-200215.json", "61-aiderdesk-screenshot.context.json",
    "61-langsmith-gemini-thinking-cap.json", "61-lmstudio-prompt-111490-vs-32768.log",
    "61-loca-sonnet-cut-at-4096.json", "62-inspect-answers-cut-at-1024.json", "62-litellm-fallback-too-small.jsonl",
    "62-llamacpp-new-chat.log", "63-cherrystudio-one-token-over.data.json",
    "64-bedrock-conversestream-input-with-cache.jsonl", "64-cherry-tool-gone.json",
    "64-litellm-gpt51-input-limit-272k.jsonl", "64-openai-autobot-clock-cache.jsonl",
    "64-openhands-condense-loop.json", "65-benchflow-500-no-body.jsonl",
    "65-cherry-studio-tool-results-uncounted.json", "65-genkit-anthropic-input-7.json",
    "65-nanobot-never-consolidated.jsonl", "65-smolagents-24-images-over-20.memory.json",
    "66-astrbot-history-34-content-3.db", "66-letta-no-summary.log", "66-lmstudio-keep-error-no-figures.log",
    "66-openwebui-history-not-sent-unknown.json", "67-langfuse-agno-zero-input-usage.trace.json",
    "67-librechat-answers-short-unknown.json", "68-browser-use-healthy.json", "68-chatgpt-branches.json",
    "68-openai-agents-677-tokens-unknown.db", "69-aisdk-cache-write.json", "69-aisdk-total-usage-sum.result.json",
    "69-mastra-length.trace.json", "69-semantic-kernel-results-twice-healthy.json",
    "69-vercel-usage-of-last-step-healthy.json", "70-chatgpt-pasted-error-healthy.json",
    "70-ollama-num-predict.jsonl", "70-phoenix-strands-double-total.spans.json",
    "71-deepagents-full-state-healthy.json", "71-phoenix-stream-counts-too-low.json",
}  # fmt: skip
"""Those whose first line lacks something; one that is mended leaves the set, none enters it."""
_LABEL = re.compile(r"([\w.-]+) (\d{4,6})\b")
_REPORT = re.compile(r"([\w.-]+/[\w.-]+)(?:/(?:issues|pull|discussions)/|#)(\d{4,6})\b")
KNOWN = {
    "strangers-10/01-claude-mcp-cached-input.jsonl",
    "strangers-10/05-codex-model-switch-compact.jsonl",
    "strangers-10/07-codex-autocompact-off.jsonl",
    "strangers-10/08-gemini-compress-nothing-gained.json",
    "strangers-10/09-qwen-hard-limit-1536.jsonl",
    "strangers-10/12-opencode-overflow-loop.db",
    "strangers-10/14-cline-never-condensed.json",
    "strangers-12/02-claude-code-compacted-at-171k.jsonl",
    "strangers-12/04-codex-spark-cannot-compact.jsonl",
    "strangers-12/05-opencode-auto-off-compacts.json",
    "strangers-12/09-openclaw-305k-no-compaction.jsonl",
    "strangers-12/16-openhands-condensation-loop.json",
    "strangers-12/18-opencode-overflow-stuck.json",
    "strangers-14/16-roo-condense-grew.json",
    "strangers-19/05-gemini-minus-31-million.jsonl",
    "strangers-19/08-aider-within-its-limits.md",
    "strangers-19/11-goose-a-million-declared.json",
    "strangers-19/13-qwen-empty-summary.jsonl",
    "strangers-19/15-openhands-condenses-in-a-row.json",
    "strangers-19/18-zed-over-272k.log",
    "strangers-3/15-codex-compact-makes-it-larger.jsonl",
    "strangers-3/18-gemini-cli-compress-1237145.json",
    "strangers-3/19-crush-sourcegraph-412533.db",
    "strangers-4/09-opencode-pinned-196608.json",
    "strangers-4/10-gemini-cli-1058724.json",
    "strangers-4/11-qwen-code-output-64000.jsonl",
    "strangers-4/14-aider-deepseek-65536.md",
    "strangers-5/04-codex-95-percent.jsonl",
    "strangers-5/08-copilot-16-failures.jsonl",
    "strangers-5/10-gemini-over-1m.json",
    "strangers-5/18-openhands-loop.json",
    "strangers-5/23-claude-code-367k.jsonl",
    "strangers-5/24-opencode-128k.json",
    "strangers-6/03-claude-code-doubled-usage.jsonl",
    "strangers-6/20-langchain-tools-uncounted.jsonl",
    "strangers-6/27-kilo-exhausted.json",
    "strangers-7/05-copilot-mcp-tools-573k.jsonl",
    "strangers-7/06-gemini-negative-tokens-left.json",
    "strangers-8/01-codex-compaction-cycle.jsonl",
    "strangers-8/09-kimi-code-compaction-cancelled.jsonl",
    "strangers-8/10-opencode-too-large-to-compact.json",
    "strangers-8/14-goose-window-1m.db",
    "strangers-8/16-pi-no-usage.jsonl",
    "strangers-8/18-vscode-chat-prompt-too-long.json",
    "strangers-9/06-qwen-compress-400.jsonl",
    "strangers-9/08-copilot-empty-compaction.jsonl",
    "strangers-9/10-cline-litellm-200k.json",
    "strangers-9/14-goose-lmstudio-not-recognised.db",
    "strangers-9/17-claude-code-auto-468k.jsonl",
    "strangers-9/19-opencode-never-97.json",
    "strangers-9/57-letta-post-step.jsonl",
    "strangers/04-gemini-cli-doubled.json",
    "strangers/06-opencode-940k.json",
    "strangers/08-cline-cerebras-40k.json",
    "strangers/09-roo-openrouter-256k.json",
    "strangers/10-kilo-codex-plan.json",
    "strangers/11-copilot-cli-5mb.jsonl",
    "strangers/12-qwen-code-llama-cpp.jsonl",
    "strangers/14-goose-first-message.json",
    "strangers/15-openhands-condensation-loop.json",
    "strangers/16-pi-silent-failures.jsonl",
}
"""Sessions that rebuild a report of which a case of ours had been made before: a first try on them is no stranger's."""


def rows() -> list[dict[str, str]]:
    """The tables of what each line must and must not say."""
    found = []
    for name in SETS:
        with (FOLDER / name / "README.tsv").open(encoding="utf-8", newline="") as file:
            found += [row | {"set": name} for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return found


def told(path: Path) -> str:
    """The first lines about the sessions of a file, as `ctxweb why` orders them; "" of one that is no known format."""
    with path.open("rb") as file, suppress(NotATranscript):
        found = [weigh(transcript) for transcript in read_transcripts(file, path.name).transcripts]
        judged = [(weighed, verdicts_of(weighed)) for weighed in found]
        judged.sort(key=lambda one: order(one[1], len(one[0].transcript.requests)))
        return " ".join(headline(weighed, verdicts) for weighed, verdicts in judged)
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


def test_no_set_has_a_report_that_a_case_of_ours_was_made_of_but_those_that_are_told() -> None:
    """The collectors search for the number of a report; this holds whatever they found."""
    labels = [found.groups() for name in ALL if (found := _LABEL.match(name))]
    ours = {(agent.partition("-")[0].lower(), number) for agent, number in labels}
    found = set()
    for row in rows():
        report = _REPORT.search(row["report"])
        if report and any(agent in report[1].lower() for agent, number in ours if number == report[2]):
            found.add(f"{row['set']}/{row['file']}")
    assert found == KNOWN


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"])
def test_a_strangers_first_line(row: dict[str, str]) -> None:
    said = told(FOLDER / row["set"] / row["file"])
    lacks = [one for one in patterns(row, "must contain") if not re.search(one, said, re.IGNORECASE)]
    wrong = [one for one in patterns(row, "must not say") if re.search(one, said, re.IGNORECASE)]
    assert bool(lacks or wrong) == (row["file"] in WRONG), (said, lacks, wrong)
