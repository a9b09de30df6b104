"""Whether two checkouts read alike: ``python -m tests.bench readings FILE [PATH...]`` writes a digest of each file.

A digest holds all that an upload leaves behind: every field of every session, its packed facts, keys,
figures, media, what was skipped and why, where the bytes went.  Read are the fixtures, the shared
recordings, and the files named; run it in both checkouts and compare the files.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from tests.recordings import content, recordings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.db.models import Model

    from sessions.models import Upload
    from sessions.services.session_rows import PackedSession

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "transcripts"
CLOCK = {"created_at", "id", "upload", "heartbeat_at", "finished_at"}


def main() -> None:
    """Write the digests, one file a line."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-readings-") as data:
        os.environ.update(CTXWEB_DATA=data, DATABASE_URL="")
        from ctxweb.startup import load_django, migrate

        load_django()
        migrate()
        fixtures = sorted(path for path in FIXTURES.rglob("*") if path.is_file())
        with Path(sys.argv[1]).open("w", encoding="utf-8") as out:
            for path in [*fixtures, *recordings(), *map(Path, sys.argv[2:])]:
                print(path.name, digest(path), sep="\t", file=out, flush=True)


def digest(path: Path) -> str:
    """How many sessions and messages a file has, and the digest of all that is kept of it; else why it is refused."""
    from sessions.engine.base.errors import EngineError
    from sessions.services.ingest import read_upload

    upload = _upload(path)
    try:
        read = read_upload(upload)
    except EngineError as error:
        return f"{type(error).__name__}: {error}"
    found, outcome = hashlib.sha256(), read.outcome
    for told in _told(outcome.packed):
        found.update(told.encode("utf-8", "replace"))
    for part in (outcome.format, outcome.reason, outcome.skipped, outcome.fates, outcome.warnings,
                 sorted((row.sha256, row.media_type, row.n_bytes, row.width, row.height) for row in read.media),
                 [_fields(member) for member in outcome.members]):  # fmt: skip
        found.update(repr(part).encode("utf-8", "replace"))
    n_rows = sum(one.session.n_messages for one in outcome.packed)
    return f"{len(outcome.packed)} {n_rows} {len(read.media)} {found.hexdigest()[:32]}"


def _upload(path: Path) -> Upload:
    """An upload of the same id in every run, its bytes stored and nothing of it in the database."""
    from io import BytesIO

    from sessions.adapters import storage
    from sessions.models import Upload

    blob = storage.put(BytesIO(content(path)))
    key = uuid.uuid5(uuid.NAMESPACE_OID, f"{path.name} {blob.sha256}")
    return Upload(pk=key, sha256=blob.sha256, n_bytes=blob.n_bytes, filename=path.name.removesuffix(".gz"))


def _told(packed: Sequence[PackedSession]) -> Iterator[str]:
    from sessions.engine.packing.pack import unpack

    for one in packed:
        yield repr((one.session.pk, _fields(one.session), unpack(one.facts), [*one.keys], [*one.media]))
        yield repr(_fields(one.figures)) if one.figures else "-"


def _fields(row: Model) -> list[tuple[str, object]]:
    return [(f.name, getattr(row, f.attname)) for f in row._meta.concrete_fields if f.name not in CLOCK]
