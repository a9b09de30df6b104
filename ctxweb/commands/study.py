"""``ctxweb study``: does "needed later and gone" come true in a corpus of recordings?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ctxweb.commands._engine import emit
from ctxweb.commands._files import inputs
from ctxweb.commands._options import AS_JSON, CORPUS
from ctxweb.terminal import patience, say, tell
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.quality.index import Index


@click.command("study")
@CORPUS
@click.option(
    "--calls", "n_calls", type=click.IntRange(min=1), default=20, show_default=True, help="Calls to look ahead."
)
@AS_JSON
def command(corpus: tuple[str, ...], n_calls: int, as_json: bool) -> None:
    """Hold the warnings of the recorded compactions in CORPUS (files or folders) against what was fetched again.

    Files that are no transcripts are left out and counted on standard error; hidden files in folders are not looked at.
    """
    from sessions.engine.quality.corpus import markdown, study_corpus, study_document

    left_out: list[str] = []
    found = study_corpus(sessions_of(corpus, left_out), n_calls=n_calls)
    if left_out:
        say(f"left out, no transcripts that can be read: {len(left_out)}")
    if as_json:
        emit(study_document(found))
    else:
        tell(markdown(found))


def sessions_of(corpus: Sequence[str | Path], left_out: list[str]) -> Iterator[tuple[Weighed, Index]]:
    """Every session of every file, weighed and indexed, one at a time."""
    from sessions.engine.base.errors import EngineError
    from sessions.engine.quality.index import build_index
    from sessions.engine.reading.reading import read_transcripts
    from sessions.engine.reading.texts import Texts
    from sessions.engine.weigh.calibration.calibrate import weigh

    seen: set[str] = set()
    for given in inputs(corpus):
        path = given.path
        if given.shown in seen:
            continue
        seen.add(given.shown)
        try:
            with path.open("rb") as stream, patience(f"Reading {given.shown}"):
                parsed = read_transcripts(stream, given.name)
            with path.open("rb") as stream:
                for transcript in parsed.transcripts:
                    texts = Texts(lambda stream=stream: stream, parsed.format)  # type: ignore[misc]
                    yield weigh(transcript), build_index(transcript, texts.of)
        except EngineError:
            left_out.append(given.shown)
