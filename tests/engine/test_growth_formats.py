"""Reading grows with the file, whatever there is more of in it: every list, bad usage, branches, texts, depth.

Work is counted as in ``test_growth``.  A format that is registered is covered by its fixtures, or fails.
"""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.engine.base.errors import EngineError
from sessions.engine.base.registry import plugins
from sessions.engine.reading.formats import _claude_build, _claude_ways
from sessions.engine.reading.reading import read_transcripts
from tests.engine.growing import TEXTS, growths
from tests.engine.test_growth import MOST, work
from tests.every import EVERY

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed
    from tests.engine.growing import Grown

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
FILES = [(name, path) for name in plugins("formats") for path in sorted((FIXTURES / name).glob("*"))]
FIRST = dict(reversed(FILES))
SOME = FILES if EVERY else FILES[::3]
"""What is looked at for everything there may be more of."""
TIMES = (1, 2, 4, 8) if EVERY else (1, 2)
FEW = {"lines", "lines in a chain", "bad usage", "[]", "rows", "bubbles", "blocks"}
"""What every day is looked at in each format's first file."""


@pytest.fixture(autouse=True)
def few_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """More branches than are made or looked for are in every file: the limits are no part of how work grows."""
    monkeypatch.setattr(_claude_build, "MOST_BRANCHES", 2)
    monkeypatch.setattr(_claude_ways, "MOST_WAYS", 4)


def read(name: str, path: Path, data: bytes) -> Parsed | None:
    """What the file holds; None where it is refused, which is no growth."""
    try:
        return read_transcripts(io.BytesIO(data), path.name, format=name)
    except EngineError:
        return None


def faults(name: str, path: Path, what: str, made: Grown, times: tuple[int, ...]) -> list[str]:
    files = [made(n) for n in times]
    counts = [work(lambda data=data: read(name, path, data)) for data in files]
    rises = [large / small for small, large in pairwise(counts)]
    return [f"{path.name}, {what}: {counts}"] if max(rises) > MOST else []


def grows(name: str, path: Path, made: Grown) -> bool:
    """Whether twice the thing is about twice the messages, or the requests of a log without any."""
    small, large = (read(name, path, made(n)) for n in (1, 2))
    return bool(small and large) and n_held(large) > 1.5 * n_held(small)


def n_held(parsed: Parsed | None) -> int:
    transcripts = parsed.transcripts if parsed else ()
    return sum(len(transcript.messages or transcript.requests) for transcript in transcripts)


@pytest.mark.parametrize("name", list(plugins("formats")))
def test_each_format_has_a_growth_case(name: str) -> None:
    """In one of its files something becomes more and the session longer: without it nothing is counted."""
    found = ((path, made) for of, path in FILES if of == name for what, made in growths(path) if what not in TEXTS)
    assert any(grows(name, path, made) for path, made in found), f"no growth case for {name}"


@pytest.mark.parametrize("name", list(FIRST))
def test_reading_a_longer_file_grows_with_it(name: str) -> None:
    path = FIRST[name]
    found = [fault for what, made in growths(path) if what in FEW for fault in faults(name, path, what, made, (1, 2))]
    assert not found, "\n".join(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "path"), SOME, ids=[f"{name}/{path.name}" for name, path in SOME])
def test_reading_grows_with_whatever_there_is_more_of(name: str, path: Path) -> None:
    found = [fault for what, made in growths(path) for fault in faults(name, path, what, made, TIMES)]
    assert not found, "\n".join(found)
