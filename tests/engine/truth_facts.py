"""What ``truth.json`` says about a sample of either shared folder, and what we read from it, in the same words."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sessions.engine.reading.jsonio import Source, loads
from sessions.engine.reading.reading import read_transcripts
from sessions.engine.transcript.types import Kind
from tests.samples import ROOT, find_samples, samples_dir

if TYPE_CHECKING:
    from pathlib import Path

    from sessions.engine.transcript.types import Block, Message, Parsed, Request, Transcript

FIXTURES = ROOT / "tests" / "fixtures" / "transcripts"


@cache
def _known() -> dict[str, tuple[Path, dict[str, Any]]]:
    """Folder and facts of every sample: the older ones, and those of late 2026 that lie beside them."""
    older = find_samples()
    roots = (older, older.parent / "samples-2026") if older else ()
    listed = {root: loads((root / "truth.json").read_bytes())["files"] for root in roots if root.is_dir()}
    return {name: (root, facts) for root, files in listed.items() for name, facts in files.items()}


def sample_names(folder: str = "", suffix: str = "") -> list[str]:
    """Names of a folder's samples, of all where it is empty; one placeholder where there are none, so that the tests
    show as skipped.
    """
    found = [name for name in _known() if name.endswith(suffix) and (not folder or name.startswith(f"{folder}/"))]
    return found or ["(no samples)"]


def place(name: str) -> Path:
    """The file of a sample, or one beside it; skips visibly where there are no samples."""
    samples_dir()
    root = _known()[name][0] if name in _known() else samples_dir().parent / "samples-2026"
    return root / name


def facts(name: str) -> dict[str, Any]:
    """Every fact of a sample; skips visibly where there are no samples."""
    samples_dir()
    return _known()[name][1]


def fact(name: str, key: str, default: Any = None) -> Any:
    """One fact of a sample."""
    return facts(name).get(key, default)


@cache
def parsed(name: str) -> Parsed:
    """What we read from a sample."""
    with place(name).open("rb") as file:
        return read_transcripts(file, name)


def fixture(name: str) -> Parsed:
    """What we read from a fixture of ours."""
    with (FIXTURES / name).open("rb") as file:
        return read_transcripts(file, name.rpartition("/")[2])


def lines(name: str) -> list[dict[str, Any]]:
    """The records of a sample, one a line."""
    return [loads(line) for line in place(name).read_bytes().splitlines() if line.strip()]


def n_of(session: Transcript, *kinds: Kind) -> int:
    """How many blocks of these kinds the messages have, those inside results left out."""
    return sum(block.kind in kinds for message in session.messages for block in message.blocks)


def one_session(name: str) -> Transcript:
    (found,) = parsed(name).transcripts
    return found


def raw_values(name: str, messages: tuple[Message, ...]) -> list[Any]:
    """The JSON each message stands for in the file."""
    with place(name).open("rb") as file:
        source = Source(file)
        return [source.read(message.origins[0]) for message in messages]


def all_messages(name: str) -> list[Message]:
    return [message for transcript in parsed(name).transcripts for message in transcript.messages]


def leaves(name: str, *kinds: Kind) -> list[Block]:
    return [leaf for message in all_messages(name) for leaf in message.leaves() if leaf.kind in kinds]


def used(name: str) -> list[Request]:
    """Requests with usage."""
    return [r for t in parsed(name).transcripts for r in t.requests if r.usage]


def check_images(name: str) -> None:
    """Inline images with type, length and size, and linked ones."""
    images = [
        (message.index, leaf.media)
        for message in all_messages(name)
        for leaf in message.leaves()
        if leaf.kind is Kind.IMAGE and leaf.media
    ]
    inline = [[index, m.media_type, m.n_base64, m.width, m.height] for index, m in images if m.n_base64]
    assert inline == fact(name, "image_list", [])
    assert len(inline) == fact(name, "images", 0)
    assert len(images) - len(inline) == fact(name, "image_links", 0)
    assert sum(m.n_base64 for _, m in images) == fact(name, "image_base64_chars", 0)
    assert sum(t.n_images for t in parsed(name).transcripts) == len(images)


def check_call_pairs(name: str, expected: dict[str, Any], calls: str = "calls", results: str = "results") -> None:
    """Tool calls, results, and those without the other."""
    made = [block.call_id for block in leaves(name, Kind.TOOL_USE)]
    answered = [block.call_id for block in leaves(name, Kind.TOOL_RESULT)]
    assert len(made) == sum(t.n_tool_calls for t in parsed(name).transcripts) == expected[calls]
    assert len(answered) == expected[results]
    assert sorted(set(made) - set(answered)) == sorted(expected.get("calls_without_result", []))
    assert sorted(set(answered) - set(made)) == sorted(expected.get("results_without_call", []))


def check_single_usage(name: str) -> None:
    """The usage of a file that is one response."""
    (request,) = used(name)
    expected = fact(name, "usage")
    usage = request.usage
    assert usage
    assert (usage.context, usage.cache_read, usage.output, usage.reasoning) == tuple(
        expected.get(key, 0) for key in ("input", "cached", "output", "reasoning")
    )
    assert usage.context + usage.output == expected["total"]
