"""One format and no other claims each shared sample; files that several could read go to the right one."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.formats._marks import LAST
from sessions.engine.reading.jsonio import Source, dumps
from sessions.engine.reading.reading import meant
from tests.engine.test_formats_contract import FILES, FIXTURES
from tests.samples import find_samples, samples_dir

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.reading.formats import Sniff

FORMAT_OF = {
    "anthropic-api": "anthropic_messages",
    "atif": "atif",
    "browser-use": "browser_use",
    "claude-code": "claude_code",
    "claude-code-records": "claude_code",
    "cline": "cline",
    "codex": "codex",
    "gemini-api": "gemini_api",
    "gemini-cli": "gemini_api",
    "hf-sharegpt": "sharegpt",
    "inspect": "inspect",
    "learn-claude-code": "role_content",
    "mini-swe-agent": "mini_swe_agent",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "openhands": "openhands",
    "otel-langfuse": "langfuse",
    "pi": "pi",
    "swe-agent": "swe_agent",
}
"""Format by folder; Gemini CLI's two samples are what it sent to the API and a checkpoint in the API's own form."""

CALL = {"model": "gpt-5", "messages": [{"role": "user", "content": "Bees?"}], "max_completion_tokens": 9}
SAID = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Yes."}}]}
ASKED = {"model": "gpt-5", "input": "Bees?"}
DONE = {"object": "response", "output": [{"type": "message", "role": "assistant", "content": []}]}
MESSAGES_CALL = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Bees?"}]}
MESSAGES_SAID = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
CHAT_PAIR = {"request": CALL, "response": SAID}
RESPONSES_PAIR = {"request": ASKED, "response": DONE}
MESSAGES_PAIR = {"request": MESSAGES_CALL, "response": MESSAGES_SAID}
STREAMED_PAIR = {"request": CALL, "response": 'data: {"object": "chat.completion.chunk", "choices": []}\n\n'}
TURN = {"role": "user", "content": "Paint the fence"}


def sample_names() -> list[str]:
    """Every sample's path; one placeholder where there are none, so that the tests show as skipped."""
    root = find_samples()
    if root is None:
        return ["(no samples)"]
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and path.parent != root)


def guesses(data: bytes) -> dict[str, Sniff]:
    """What each format but the one of last resort says of a file, near misses included."""
    head = Source(io.BytesIO(data)).head()
    found = {name: plugin.sniff(head) for name, plugin in registry.plugins("formats").items() if name != LAST}
    claiming = {name for name, guess in found.items() if guess and guess.score > 0}
    assert claiming <= {plugin.name for plugin in meant(head)}, "its marks rule out a format that would take the file"
    return {name: guess for name, guess in found.items() if guess}


def claimed(data: bytes) -> list[str]:
    """The formats that would read the file."""
    return [name for name, guess in guesses(data).items() if guess.score > 0]


def best(value: Any) -> str:
    """The format that a document goes to; fails where two claim it equally."""
    scores = {name: guess.score for name, guess in guesses(dumps(value).encode()).items()}
    (name,) = [name for name, score in scores.items() if score == max(scores.values())]
    return name


@pytest.mark.samples
@pytest.mark.parametrize("name", sample_names())
def test_a_sample_is_claimed_by_the_format_of_its_folder_alone(name: str) -> None:
    data = (samples_dir() / name).read_bytes()
    assert claimed(data) == [FORMAT_OF[name.partition("/")[0]]]


@pytest.mark.parametrize(("name", "path"), [pair for pair in FILES if pair[0] != LAST])
def test_no_two_formats_say_the_same_of_a_fixture(name: str, path: Path) -> None:
    found = {of: guess.score for of, guess in guesses(path.read_bytes()).items()}
    scores = sorted(found.values(), reverse=True)
    assert scores[0] > (scores[1] if len(scores) > 1 else 0), f"a fixture of {name} is as much another's: {found}"


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ([CHAT_PAIR, CHAT_PAIR], "openai_chat"),
        ([CALL, CALL], "openai_chat"),
        ([RESPONSES_PAIR, RESPONSES_PAIR], "openai_responses"),
        ([MESSAGES_PAIR, MESSAGES_PAIR], "anthropic_messages"),
        ([MESSAGES_PAIR, {"note": "rotated"}], "wire_capture"),
        ([CHAT_PAIR, RESPONSES_PAIR], "wire_capture"),
        ([CHAT_PAIR, MESSAGES_PAIR], "wire_capture"),
        ([STREAMED_PAIR, STREAMED_PAIR], "wire_capture"),
        ([{"timestamp": 1770000000, **CHAT_PAIR}], "wire_capture"),
        ([{"url": "/v1/responses", **RESPONSES_PAIR}], "wire_capture"),
    ],
)
def test_a_list_of_calls_is_the_apis_own_unless_a_proxy_added_something(document: Any, name: str) -> None:
    assert best(document) == name


@pytest.mark.parametrize("pair", [CHAT_PAIR, RESPONSES_PAIR, MESSAGES_PAIR])
def test_calls_one_a_line_are_a_log(pair: dict[str, Any]) -> None:
    assert claimed(b"\n".join([dumps(pair).encode()] * 2)) == ["wire_capture"]


def test_who_reads_a_list_of_calls_is_said() -> None:
    found = guesses(dumps([CHAT_PAIR, CHAT_PAIR]).encode())
    assert found["openai_chat"].reason.startswith("a list of calls, not a proxy's log; one item is a response")
    assert found["wire_capture"].reason.endswith("which openai_chat reads")


@pytest.mark.parametrize(
    "document",
    [
        {"working_dir": "/w", "conversation": [TURN, {"role": "assistant", "content": "Brush."}]},
        {"conversation": [{**TURN, "created": 1770000000}]},
        {"sessionId": "s", "messages": [{**TURN, "ts": 1770000000000}, {"role": "assistant", "tool_calls": []}]},
        {"trajectory_format": "mini-swe-agent-1.1", "messages": [TURN, {"role": "tool", "content": "ok"}]},
        {"info": {"mini_version": "1.2"}, "messages": [TURN, {"role": "tool", "content": "ok"}]},
        [{**TURN, "ts": 1770000000000}, {"role": "tool", "content": "ok"}],
        [{**TURN, "ts": 1770000000000}, {"type": "reasoning", "role": "assistant", "ts": 1770000000001}],
    ],
)
def test_sessions_of_agents_are_no_requests_and_no_chat_sets(document: Any) -> None:
    others = {"anthropic_messages", "openai_chat", "openai_responses", "sharegpt", "wire_capture"}
    assert not others & set(claimed(dumps(document).encode()))


def test_turns_of_a_chat_set_may_have_a_time() -> None:
    turn = {"from": "human", "value": "Bees?", "created": 1770000000}
    assert best([{"conversations": [turn]}]) == "sharegpt"
    assert guesses(dumps([{"conversations": [turn]}, {}]).encode())["sharegpt"].reason.startswith("1 of the first 2")


LOADED = """
import sys
from sessions.engine.reading.reading import read_transcripts
with open(sys.argv[1], "rb") as file:
    read_transcripts(file, sys.argv[1])
names = [name.rpartition(".")[2] for name in sys.modules if name.startswith("sessions.engine.reading.formats.")]
print(*(name for name in names if not name.startswith("_")))
"""


@pytest.mark.parametrize(
    ("name", "most"), [("claude_code/rewind.jsonl", 9), ("crush/crush.db", 4), ("aider/history.md", 5)]
)
def test_no_reader_is_loaded_that_a_file_cannot_be_meant_for(name: str, most: int) -> None:
    """Of more than fifty: those whose shape and names it has, and what these share."""
    said = subprocess.run([sys.executable, "-c", LOADED, FIXTURES / name], capture_output=True, text=True, check=True)
    loaded = said.stdout.split()
    assert name.split("/", maxsplit=1)[0] in loaded
    assert len(loaded) <= most, loaded
