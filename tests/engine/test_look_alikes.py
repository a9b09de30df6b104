"""No format takes another's file for its own when it is cut, reordered, put into a list or under another key."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from sessions.engine.reading.jsonio import JsonProblem, dumps, loads
from sessions.engine.reading.reading import NotATranscript, recognise
from tests.engine.test_formats_contract import TEXTS
from tests.engine.test_sniffing import claimed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTS = {
    "anthropic_messages": {"wire_capture", "role_content"},
    "cline": {"anthropic_messages", "role_content"},
    "codex": {"openai_responses"},
    "ctxweb_jsonl": {"anthropic_messages", "role_content"},
    "gemini_api": {"wire_capture"},
    "letta": {"openai_chat"},
    "litellm": {"openai_chat", "wire_capture"},
    "message_lists": {"openai_chat", "role_content"},
    "mini_swe_agent": {"anthropic_messages", "openai_chat", "role_content"},
    "openai_chat": {"wire_capture"},
    "openai_responses": {"wire_capture"},
    "role_content": {"anthropic_messages"},
    "sharegpt": {"anthropic_messages", "openai_chat", "role_content"},
    "swe_agent": {"role_content"},
    "wire_capture": {"openai_chat"},
}
"""Formats whose parts are another's to the letter: plain messages, an API's items or calls without what held them."""
BARE = {*PARTS, "amp", "gemini_cli", "hermes", "hf_traces", "inspect", "tau2"}
"""Formats whose messages, taken out of what held them, are messages with roles and nothing else."""
LINE_KEYS = ("record", "message", "items", "messages", "data")
LIST_KEYS = ("records", "items", "messages", "data", "events")
DOCUMENT_KEYS = ("record", "payload", "result", "messages", "data")


def lines_of(values: list[Any]) -> bytes:
    return b"".join(dumps(value).encode() + b"\n" for value in values)


def of_lines(values: list[Any]) -> Iterator[tuple[str, bytes]]:
    """What becomes of a log: its halves, its lines backwards, in a list, each or all under a key."""
    half = (len(values) + 1) // 2
    yield "its first half", lines_of(values[:half])
    yield "its second half", lines_of(values[len(values) // 2 :])
    yield "backwards", lines_of(values[::-1])
    yield "in a list", dumps(values).encode()
    for key in LINE_KEYS:
        yield f"each line under {key!r}", lines_of([{key: value} for value in values])
    for key in LIST_KEYS:
        yield f"a list under {key!r}", dumps({key: values}).encode()


def of_document(document: Any) -> Iterator[tuple[str, bytes]]:
    """What becomes of a document: in a list, under a key, its lists alone or under another name."""
    yield "in a list", dumps([document]).encode()
    yield "twice in a list", dumps([document, document]).encode()
    for key in DOCUMENT_KEYS:
        yield f"under {key!r}", dumps({key: document}).encode()
    if isinstance(document, list):
        yield "its entries as lines", lines_of(document)
        yield "backwards", dumps(document[::-1]).encode()
        yield "its first half", dumps(document[: (len(document) + 1) // 2]).encode()
        return
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{key!r} alone", dumps(value).encode()
            yield f"{key!r} as lines", lines_of(value)
            yield f"{key!r} renamed", dumps({"records" if k == key else k: v for k, v in document.items()}).encode()


def changed(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        yield from of_document(loads(data))
        return
    except JsonProblem:
        values = []
    for line in data.splitlines():
        try:
            values.append(loads(line))
        except JsonProblem:
            continue
    if len(values) > 1:
        yield from of_lines(values)


@pytest.mark.parametrize(("name", "path"), TEXTS, ids=[f"{name}/{path.name}" for name, path in TEXTS])
def test_a_changed_file_is_its_own_formats_or_nobodys(name: str, path: Path) -> None:
    data = path.read_bytes()
    if data.startswith(b"PK"):
        pytest.skip("an archive has no lines")
    own = PARTS.get(name, set()) | {name}
    taken = {what: found for what, data in changed(data) if (found := set(claimed(data)) - own)}
    assert not taken, f"a fixture of {name} is taken for another's: {taken}"


@pytest.mark.parametrize(
    ("name", "path"),
    [pair for pair in TEXTS if pair[0] not in BARE],
    ids=[f"{name}/{path.name}" for name, path in TEXTS if name not in BARE],
)
def test_a_changed_file_of_an_agent_is_no_list_of_messages(name: str, path: Path) -> None:
    data = path.read_bytes()
    if data.startswith(b"PK"):
        pytest.skip("an archive has no lines")
    taken = [what for what, data in changed(data) if is_list(data)]
    assert not taken, f"a fixture of {name} is read as a list of messages: {taken}"


def is_list(data: bytes) -> bool:
    """Whether a file is read for want of a format that knows it."""
    with suppress(NotATranscript):
        return recognise(BytesIO(data)).endswith("what else the file records is not known")
    return False
