"""Files that look a little different: read by their own format or by none, and never half understood in silence."""

from __future__ import annotations

import gzip
import io
import itertools
import re
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import UnreadableInput
from sessions.engine.reading.formats._marks import LAST
from sessions.engine.reading.formats.ctxweb_jsonl import NO_HEAD
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind
from tests.engine.test_formats_contract import FILES, FORMATS
from tests.engine.test_sniffing import claimed
from tests.engine.truth_facts import place, sample_names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.engine.transcript.types import Parsed

PER_FORMAT = 3
MOST = 0.2
"""Share of blocks that may be of unknown types in a file that is accepted without a word."""
LEAST_STRANGE = 25
TYPE = re.compile(rb'("type"\s*:\s*)"(\w+)"')


def without(n: int) -> Callable[[bytes], bytes]:
    """Without the first ``n`` lines."""
    return lambda data: b"".join(data.splitlines(keepends=True)[n:])


def cut(percent: int) -> Callable[[bytes], bytes]:
    """The first bytes alone."""
    return lambda data: data[: len(data) * percent // 100]


SAME: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "other line ends": lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "blanks behind": lambda data: data + b"\n \n\n",
    "a preamble": lambda data: b"Running the agent, output follows\n" + data,
    "a log in front": lambda data: b"[INFO] Running the agent\n[INFO] Output follows\n\n" + data,
}
"""Changes after which a file is still the same transcript."""
LESS: dict[str, Callable[[bytes], bytes]] = {
    "a preamble in JSON": lambda data: b'{"level": "info", "note": "started"}\n' + data,
    "its first line lost": without(1),
    "its first two lines lost": without(2),
    "its first four lines lost": without(4),
    "its last line cut": lambda data: data[: -len(data.splitlines()[-1]) // 2 - 1],
    "cut at 30%": cut(30),
    "cut at 60%": cut(60),
    "cut at 90%": cut(90),
    "its first line twice": lambda data: data.splitlines(keepends=True)[0] + data,
    "its lines upside down": lambda data: b"\n".join(reversed(data.splitlines())),
}
PREAMBLES = {"a preamble", "a log in front"}
NOT_BEHIND_A_PREAMBLE = {"aider"}
"""Markdown: what stands in front of it is part of it."""


ALIKE = {
    "ai_sdk": ("role_content",),  # a first prompt alone
    "codex": ("openai_responses",),  # items without the header: those of the API
    "kimi_cli": ("role_content",),  # messages without the marks between them
    "langsmith": ("message_lists",),  # the end of a run alone, with the messages that it gave
    "message_lists": ("openai_chat", "role_content"),  # without the line that is no message
    "openai_chat": ("message_lists", "role_content"),  # with a line that is no message; prompts alone
    "openai_responses": ("wire_capture",),  # calls one a line, which is that format; its own reader takes one document
    "pi": ("role_content",),  # a first prompt alone, where messages stand without entries
    "wire_capture": ("openai_chat",),  # one request alone
}
"""Formats whose files are the other's once a part is lost: both readers say the same of them (the test at the end)."""

REFUSED = {("openai_responses", "wire_capture"), ("langsmith", "message_lists")}
"""Pairs of them of which the first refuses what is left."""


def smallest() -> list[tuple[str, Path]]:
    """The smallest fixtures of each format that are text."""
    found: list[tuple[str, Path]] = []
    for name in FORMATS:
        own = [path for of, path in FILES if of == name and is_text(path)]
        found += [(name, path) for path in sorted(own, key=lambda path: (path.stat().st_size, path.name))[:PER_FORMAT]]
    return found


def is_text(path: Path) -> bool:
    return Source(io.BytesIO(path.read_bytes())).is_lines()


CORPUS = smallest()
IDS = [f"{name}/{path.name}" for name, path in CORPUS]


@pytest.mark.parametrize(("name", "path"), [pair for pair in CORPUS if pair[0] != LAST])
def test_the_same_transcript_is_claimed_by_its_own_format_alone(name: str, path: Path) -> None:
    data = path.read_bytes()
    behind = PREAMBLES if name in NOT_BEHIND_A_PREAMBLE else set()
    wrong = {change: found for change, make in SAME.items() if (found := claimed(make(data))) != [name]}
    assert set(wrong) <= behind


@pytest.mark.parametrize(("name", "path"), CORPUS, ids=IDS)
def test_what_is_accepted_is_understood_or_says_how_much_is_not(name: str, path: Path) -> None:
    data, silent, other = path.read_bytes(), list[str](), list[tuple[str, str]]()
    for change, make in {**SAME, **LESS}.items():
        try:
            parsed = read_transcripts(io.BytesIO(make(data)), f"renamed-{len(change)}.txt")
        except UnreadableInput:
            continue
        other += [(change, parsed.format)] * (parsed.format not in {name, *ALIKE.get(name, ())})
        silent += [change] * (opaque_share(parsed) > MOST and not all(t.gaps for t in parsed.transcripts))
    assert (silent, other) == ([], [])


def of_tomorrow(data: bytes) -> bytes:
    """Every second type of a block or a message is one that nobody knows yet."""
    numbers = itertools.count()
    return TYPE.sub(
        lambda found: found[0] if next(numbers) % 2 else found[1] + b'"of_tomorrow_' + found[2] + b'"', data
    )


def opaque_share(parsed: Parsed) -> float:
    """Share of the blocks, or of the lines, that the reading itself calls unknown; counted here, not by the engine."""
    leaves = [leaf for t in parsed.transcripts for m in t.messages for block in m.blocks for leaf in block.leaves()]
    strange = sum(leaf.kind is Kind.OPAQUE and not leaf.n_payload for leaf in leaves)
    lost = len(parsed.skipped)
    return (strange + lost) / (len(leaves) + lost) if leaves or lost else 1.0


def test_types_of_tomorrow_are_read_with_the_amber_line_or_refused() -> None:
    """Files of which a fifth is of types that nobody knows: some are accepted, none of them without a word."""
    accepted, silent = [], []
    for name, path in CORPUS:
        try:
            parsed = read_transcripts(io.BytesIO(of_tomorrow(path.read_bytes())), "notes.txt")
        except UnreadableInput:
            continue
        if opaque_share(parsed) > MOST:
            accepted.append(f"{name}/{path.name}")
            silent += [accepted[-1]] * (not all(t.gaps for t in parsed.transcripts))
    assert silent == []
    assert len(accepted) >= LEAST_STRANGE, "too few files are strange enough to try it"


@pytest.mark.parametrize(("name", "path"), CORPUS, ids=IDS)
def test_another_name_and_a_preamble_change_no_session(name: str, path: Path) -> None:
    data = path.read_bytes()
    plain = read_transcripts(io.BytesIO(data), path.name)
    behind = set() if name in NOT_BEHIND_A_PREAMBLE else PREAMBLES
    for change in ("as it is", "a byte order mark", *sorted(behind)):
        parsed = read_transcripts(io.BytesIO(SAME[change](data)), "notes.txt")
        counts = [(len(t.messages), len(t.requests), len(t.compactions)) for t in parsed.transcripts]
        assert counts == [(len(t.messages), len(t.requests), len(t.compactions)) for t in plain.transcripts], change


def test_every_format_that_is_text_is_in_the_corpus() -> None:
    assert {name for name, _ in CORPUS} == {name for name, path in FILES if is_text(path)}


def test_a_packed_transcript_is_no_other_formats() -> None:
    for _, path in CORPUS[:PER_FORMAT]:
        assert claimed(gzip.compress(path.read_bytes())) == []


@pytest.mark.samples
@pytest.mark.parametrize("name", sample_names())
def test_no_sample_is_claimed_by_two_formats(name: str) -> None:
    assert len(claimed(place(name).read_bytes())) <= 1


def heard(parsed: Parsed) -> list[tuple[str, str, int]]:
    """What a reading says was sent: each message's role, the kind and the bytes of its blocks."""
    return [
        (message.role.value, leaf.kind.value, leaf.n_bytes)
        for transcript in parsed.transcripts
        for message in transcript.messages
        for block in message.blocks
        for leaf in block.leaves()
    ]


def test_an_export_without_its_first_line_says_what_is_missing() -> None:
    path = next(path for name, path in CORPUS if name == "ctxweb_jsonl")
    whole, less = reading(path.read_bytes()), reading(without(1)(path.read_bytes()))
    assert whole is not None
    assert less is not None
    assert heard(whole) == heard(less)
    assert [t.warnings for t in whole.transcripts] == [()]
    assert [t.warnings for t in less.transcripts] == [(NO_HEAD,)]


def reading(data: bytes, name: str | None = None) -> Parsed | None:
    """What a reader makes of it, that of the format ``name`` or the one that claims it; None where it is refused."""
    try:
        return read_transcripts(io.BytesIO(data), "notes.txt", format=name)
    except UnreadableInput:
        return None


def test_where_a_lost_part_makes_it_the_other_both_read_the_same() -> None:
    """The pairs of ``ALIKE``: no byte of what is left tells the two apart, and either reader says the same of it."""
    met: dict[str, set[str]] = {}
    for name, path in CORPUS:
        for make in LESS.values():
            data = make(path.read_bytes())
            found = reading(data)
            if found is None or found.format == name:
                continue
            own = reading(data, name)
            assert own is None or heard(found) == heard(own), (name, path.name, found.format)
            assert own is not None or (name, found.format) in REFUSED
            met.setdefault(name, set()).add(found.format)
    assert met == {name: set(others) for name, others in ALIKE.items()}


NAMED = (
    "acp", "ag_ui", "agents_sdk", "autogen", "codex_exec", "cursor_db", "dsh", "entire", "gemini_cli", "langsmith",
    "managed_agents", "opencode", "otel", "tau2",
)  # fmt: skip
"""Readers whose files hold what no other format's do."""


@pytest.mark.parametrize("name", NAMED)
def test_a_reader_refuses_the_files_of_every_other_format_though_it_is_named(name: str) -> None:
    others = [(of, path) for of, path in FILES if of != name]
    taken = [f"{of}/{path.name}" for of, path in others if reading(path.read_bytes(), name) is not None]
    assert taken == []
