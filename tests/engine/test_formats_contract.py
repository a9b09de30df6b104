"""What every registered format must keep: its fixtures, its own recognition, messages that can be read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base import registry
from sessions.engine.reading.database import is_database
from sessions.engine.reading.formats import Coverage, Format
from sessions.engine.reading.formats._marks import LAST
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.measure import Measure, settle
from sessions.engine.reading.reading import read_contents, read_transcripts
from sessions.engine.tokens.tokenizer import TokenCounter
from sessions.engine.transcript.types import Kind, Message, Parsed, Role, Transcript

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Block, Content

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
FORMATS = sorted(registry.plugins("formats"))
FILES = [(name, path) for name in FORMATS for path in sorted((FIXTURES / name).glob("*"))]
TEXTS = [(name, path) for name, path in FILES if not is_database(path.read_bytes())]
LABEL_CHARS = 20  # what a narrow column of a table has room for
IDS = [f"{name}/{path.name}" for name, path in FILES]


def read(path: Path) -> Parsed:
    with path.open("rb") as file:
        return read_transcripts(file, path.name)


def measured(contents: tuple[Content, ...]) -> tuple[Block, ...]:
    with TokenCounter() as counter:
        message = Message(0, "", Role.USER, Measure(counter)(contents))
        parsed = Parsed(format="", transcripts=(Transcript("", "", (message,)),))
        return settle(parsed, counter).transcripts[0].messages[0].blocks


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_fixtures_and_says_what_it_is(name: str) -> None:
    plugin = registry.get("formats", name)
    assert any(name == of for of, _ in FILES), f"tests/fixtures/transcripts/{name} holds no file"
    assert 0 < len(plugin.label) <= LABEL_CHARS
    assert plugin.source


def test_no_two_formats_look_the_same_in_a_table() -> None:
    assert len({plugin.label for plugin in registry.plugins("formats").values()}) == len(FORMATS)


@pytest.mark.parametrize(("name", "path"), FILES, ids=IDS)
def test_a_fixture_is_recognised_by_its_own_format_alone(name: str, path: Path) -> None:
    with path.open("rb") as file:
        head = Source(file).head()
    guesses = {of: plugin.sniff(head) for of, plugin in registry.plugins("formats").items()}
    claimed = {of: guess.reason for of, guess in guesses.items() if guess and guess.score > 0}
    others = {of: why for of, why in claimed.items() if of != LAST or name == LAST}
    assert list(others) == [name], f"a fixture of {name}, which these take for theirs: {others}"


@pytest.mark.parametrize(("name", "path"), FILES, ids=IDS)
def test_indices_requests_and_compactions_point_where_they_say(name: str, path: Path) -> None:
    parsed = read(path)
    assert parsed.format == name
    assert parsed.reason
    assert len({transcript.id for transcript in parsed.transcripts}) == len(parsed.transcripts)
    for transcript in parsed.transcripts:
        messages, requests = transcript.messages, transcript.requests
        assert transcript.format == name
        assert [message.index for message in messages] == list(range(len(messages)))
        assert len({message.id for message in messages}) == len(messages)
        assert [request.index for request in requests] == list(range(len(requests)))
        replies = [request.message for request in requests if request.message is not None]
        assert all(messages[reply].role is Role.ASSISTANT for reply in replies)
        assert len(set(replies)) == len(replies)
        assert all(request.message is None for request in requests if not request.on_branch)
        for compaction in transcript.compactions:
            assert 0 <= compaction.boundary <= len(messages)
            assert 0 <= compaction.request <= len(requests)
            assert all(index < compaction.boundary for index in compaction.preserved)
        assert {m.compaction for m in messages} - {None} <= set(range(len(transcript.compactions)))


def as_read(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Blocks without what a result learns from its call, which stands in another message."""
    return tuple(replace(b, target="") if b.kind is Kind.TOOL_RESULT else b for b in blocks)


@pytest.mark.parametrize(("name", "path"), FILES, ids=IDS)
def test_every_message_can_be_read_again_to_the_same_sizes(name: str, path: Path) -> None:
    parsed = read(path)
    with path.open("rb") as file:
        for transcript in parsed.transcripts:
            for message in transcript.messages:
                assert message.origins, f"{name}, message {message.id}: no origin (CONTRIBUTING, step 2)"
                again = measured(read_contents(file, name, message))
                assert again == as_read(message.blocks), (
                    f"{name}, message {message.id}: contents() finds other blocks than parse() (CONTRIBUTING, step 2)"
                )


@pytest.mark.parametrize(("name", "path"), FILES, ids=IDS)
def test_reading_twice_gives_the_same(name: str, path: Path) -> None:
    del name
    assert read(path) == read(path)


@pytest.mark.parametrize(("name", "path"), TEXTS, ids=[f"{name}/{path.name}" for name, path in TEXTS])
def test_a_byte_order_mark_changes_only_offsets(name: str, path: Path, tmp_path: Path) -> None:
    marked = tmp_path / path.name
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    before, after = read(path).transcripts, read(marked).transcripts
    assert [bare(m) for t in before for m in t.messages] == [bare(m) for t in after for m in t.messages]
    with marked.open("rb") as file:
        for message in after[0].messages:
            read_contents(file, name, message)


def bare(message: Message) -> Message:
    return replace(message, origins=())


def test_a_format_of_another_package_may_be_a_class_with_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Acme(Format):
        name, label, source, coverage = "acme", "Acme", "Acme's logs", Coverage()

    point = SimpleNamespace(load=lambda: Acme)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "ctxweb.formats" else [])
    found = registry._foreign.__wrapped__("formats")
    assert [(type(one), one.name) for one in found] == [(Acme, "acme")]
