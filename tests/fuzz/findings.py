"""One damaged input through the readers: the only error allowed is the one that is meant for people."""

from __future__ import annotations

import io
import json
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sessions.engine.base import registry
from sessions.engine.base.errors import EngineError
from sessions.engine.reading.jsonio import Source
from sessions.engine.reading.reading import claims, read_contents, read_transcripts
from sessions.engine.reading.unpacking import packing, unpack
from sessions.engine.replays.replay import replay
from sessions.engine.reports.report import inspect_document, replay_document
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.why.document import why_document
from tests.engine.test_formats_mutations import measure

if TYPE_CHECKING:
    from sessions.engine.transcript.types import Parsed

ROOT = Path(__file__).resolve().parent.parent.parent


class Inconsistent(Exception):
    """What a reader made of a file contradicts itself."""


def read_as(name: str, data: bytes) -> bool:
    """Sniff by every format, parse as ``name``, read every message again; False where the file is refused."""
    source = Source(io.BytesIO(data), "mutant")
    try:
        head = source.head()
        for plugin in registry.plugins("formats").values():
            plugin.sniff(head)
        parsed: Parsed = registry.get("formats", name).read(source, measure)
    except EngineError:
        return False
    for transcript in parsed.transcripts:
        if len({message.id for message in transcript.messages}) != len(transcript.messages):
            raise Inconsistent("two messages of a session have one id")
        for message in transcript.messages:
            if measure(read_contents(source, name, message)) != message.blocks:
                raise Inconsistent("a message read again is another")
    return bool(parsed.transcripts)


def reported(data: bytes) -> bool:
    """The whole way of ``ctxweb inspect`` and ``ctxweb why``, to a document that is JSON; False where refused."""
    try:
        parsed = read_transcripts(io.BytesIO(data), "mutant")
        for document in (inspect_document(parsed), why_document(parsed)):
            json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except EngineError:
        return False
    return True


def unpacked(data: bytes) -> bool:
    """Every member of an archive, as an upload would take them, read where it can be; False where it is refused."""
    file = io.BytesIO(data)
    try:
        if not packing(file) or claims(file):
            return False
        for member in unpack(file, "mutant.zip", is_whole=lambda _: False):
            member.name.encode("utf-8")
            if member.file is not None:
                with suppress(EngineError):
                    Source(member.file, member.name).head()
    except EngineError:
        return False
    return True


def replayed(data: bytes, seed: int) -> bool:
    """The largest session replayed under one of the policies, to a document that is JSON; False where refused."""
    names = list(registry.plugins("policies"))
    try:
        parsed = read_transcripts(io.BytesIO(data), "mutant")
        weighed = weigh(max(parsed.transcripts, key=lambda t: len(t.requests)))
        made = replay(weighed, names[seed % len(names)], window=(1_000, 20_000, 200_000)[seed % 3])
        json.dumps(replay_document(made), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except EngineError:
        return False
    return True


def place_of(error: BaseException) -> str:
    """The exception's type and the innermost line of ours that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename.startswith(str(ROOT / "sessions"))] or frames[-1:]
    at = ours[-1]
    where = Path(at.filename)
    shown = where.relative_to(ROOT) if where.is_relative_to(ROOT) else Path(where.name)
    return f"{type(error).__name__} at {shown}:{at.lineno} ({at.name})"
