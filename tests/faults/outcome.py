"""What became of uploads, by looking at the database and the stored files alone."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from sessions.adapters import frames
from tests.faults.figures import Figure, none, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.faults.files import File
    from tests.faults.place import Place

SWEPT_SECONDS = 90.0
UPLOADS = """
select u.sha256, count(distinct u.id), min(u.status), max(u.error),
  (select count(*) from agent_sessions_session s join agent_sessions_upload v on v.id = s.upload_id
    where v.sha256 = u.sha256),
  (select coalesce(sum(s.n_messages), 0) from agent_sessions_session s join agent_sessions_upload v
    on v.id = s.upload_id where v.sha256 = u.sha256),
  (select coalesce(sum(s.n_messages), 0) from agent_sessions_sessionfacts f
    join agent_sessions_session s on s.id = f.session_id
    join agent_sessions_upload v on v.id = s.upload_id where v.sha256 = u.sha256)
from agent_sessions_upload u group by u.sha256
"""
AMCHECK = """
select count(bt_index_check(c.oid, true)::text) from pg_index i join pg_class c on c.oid = i.indexrelid
join pg_am a on a.oid = c.relam join pg_namespace n on n.oid = c.relnamespace
where a.amname = 'btree' and n.nspname = 'public' and i.indisready and i.indisvalid
"""


def outcome(place: Place, files: Sequence[File]) -> list[Figure]:
    """Each of ``files`` must be there once, done, with all its messages; call when nothing is unsettled any more."""
    found = {row[0]: row[1:] for row in place.rows(UPLOADS)}
    lost, doubled, failed = [], [], []
    for file in files:
        n_uploads, status, error, n_sessions, n_messages, n_rows = found.get(file.sha256, (0, "", "", 0, 0, 0))
        if status == "failed":
            failed.append(f"{file.name}: {error}")
        elif (status, min(1, n_sessions)) != ("done", 1) or min(n_messages, n_rows) < file.n_messages:
            lost.append(f"{file.name}: {status or 'not there'}, {n_rows} of {file.n_messages} messages")
        elif n_uploads > 1 or n_sessions > 1 or max(n_messages, n_rows) > file.n_messages:
            doubled.append(f"{file.name}: {n_sessions} sessions, {n_rows} of {file.n_messages} messages")
    ((counted,),) = place.rows("select count(*) from agent_sessions_job where attempts > 0")
    return [
        none("uploads lost", lost),
        none("uploads doubled", doubled),
        none("uploads wrongly failed", failed),
        none("attempts wrongly counted", counted),
    ]


def settled(place: Place, patience: float) -> list[Figure]:
    """Wait, looking at the database only, until nothing is under way; how long that took and what is stuck."""
    try:
        took = place.until(lambda: place.n_unsettled() == 0, "all is settled", patience)
    except AssertionError:
        took = patience
    stuck = place.rows("select id, state, claims, worker from agent_sessions_job where state in ('queued', 'reading')")
    return [
        none("uploads stuck with no page open", stuck),
        seconds("until all was settled, after the last fault", took),
    ]


def integrity(place: Place) -> list[Figure]:
    """Whether the database is sound and every stored file holds what its name says."""
    blobs = [path for path in (place.data / "blobs").glob("??/??/*") if path.is_file()]
    wrong = [path.name for path in blobs if _sha256(path) != path.name]
    kept = {path.name for path in blobs}
    needed = [sha256 for (sha256,) in place.rows("select sha256 from agent_sessions_upload")]
    return [
        *(_postgresql(place) if place.ground.database == "PostgreSQL" else _sqlite(place)),
        none("stored files whose bytes are not those of their name", wrong),
        none("stored files missing", [sha256 for sha256 in needed if sha256 not in kept]),
    ]


def leftovers(place: Place) -> list[Figure]:
    """Temporary files that nobody needs any more; call after a start that followed the faults.

    A start removes those that are ten seconds old, its workers' timer looks again after a minute.
    """
    deadline = time.monotonic() + SWEPT_SECONDS
    while (left := _temporary(place)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return [none("temporary files left after the next start", left)]


def _temporary(place: Place) -> list[str]:
    parts = (place.data / "blobs").glob(".part-*")
    return [path.name for path in (*parts, *(place.data / "tmp").iterdir())]


def counts(place: Place) -> str:
    """How often work was taken, lost and counted, in words."""
    row = place.rows("select count(*), sum(claims), sum(losses), sum(attempts) from agent_sessions_job")[0]
    n_jobs, n_claims, n_losses, n_attempts = (int(value or 0) for value in row)
    return f"{n_jobs:,} uploads, taken {n_claims:,} times, lost {n_losses:,} times, counted {n_attempts:,} times"


def _sqlite(place: Place) -> list[Figure]:
    said = [str(row[0]) for row in place.rows("pragma integrity_check")]
    foreign = place.rows("pragma foreign_key_check")
    return [
        Figure("database integrity", ", ".join(said[:3]), "ok", said == ["ok"]),
        none("rows that refer to nothing", foreign),
    ]


def _postgresql(place: Place) -> list[Figure]:
    """Constraints are checked at each write; here, that none is unchecked and that indexes agree with their tables."""
    unchecked = place.rows("select conname from pg_constraint where not convalidated")
    indexes = place.rows("select indexrelid::regclass::text from pg_index where not (indisvalid and indisready)")
    figures = [none("constraints not validated", unchecked), none("indexes not valid", indexes)]
    if place.rows("select 1 from pg_available_extensions where name = 'amcheck'"):
        place.rows("create extension if not exists amcheck")
        ((n_indexes,),) = place.rows(AMCHECK)
        figures.append(Figure("indexes compared with their tables, row by row", f"{n_indexes:,} agree", "all agree"))
    return figures


def _sha256(path: Path) -> str:
    """The hash of the bytes as they came, "" where they cannot be unpacked."""
    with path.open("rb") as file:
        try:
            return hashlib.sha256(frames.original(file).read()).hexdigest()
        except frames.Damaged:
            return ""
