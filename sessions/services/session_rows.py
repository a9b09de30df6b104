"""The rows of one upload's sessions: built from weighed transcripts, written in bulk."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from sessions.engine.base.moments import moment
from sessions.engine.base.registry import get
from sessions.engine.packing import pack
from sessions.engine.packing.memory import give_back
from sessions.engine.reports.report import kinds, usage_sums
from sessions.engine.transcript.session_links import SessionLinks
from sessions.engine.transcript.types import Parsed, Transcript
from sessions.engine.weigh.calibration import calibrate
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.engine.weigh.sizes import message_sizes
from sessions.engine.why.causes import CAUSES
from sessions.engine.why.headline import headline, is_trouble, leading
from sessions.engine.why.largest import peak_of
from sessions.engine.why.verdicts import Verdict, verdicts_of
from sessions.models import Session, SessionFacts, SessionFigures, SessionKey, Upload
from sessions.services import column_runs
from sessions.services.figures import figures_of, keep
from sessions.services.sharing import compared_with, keys_of, mark_shared, unmark

MAX_COUNT = 2**63 - 1
SPARK_POINTS = 60
TITLE_CHARS = 80
VERSION_CHARS = 16
PREVIEW_CHARS = 255


class PackedSession(NamedTuple):
    """One session ready to be written."""

    session: Session
    facts: bytes
    keys: Sequence[int] = ()
    media: Mapping[str, tuple[int, int] | None] = {}
    """The images and documents that it shows, by hash, and where their base64 stands in its file, where it does."""
    figures: SessionFigures | None = None
    compared: tuple[str, ...] = ()
    """The sessions stored before in which its messages were looked for."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an upload a file's sessions start, its path in an archive, its blob; ``key`` tells equal names apart."""

    start: int = 0
    member: str = ""
    sha256: str = ""
    key: str = ""


def pack_sessions(upload: Upload, parsed: Parsed, place: Place | None = None) -> list[PackedSession]:
    """Weigh and pack every transcript of a file, root first, sub-agents linked to their parent in it, branches last."""
    place = place or Place()
    ids = {
        t.id: session_id(upload, position, t.id, place.key)
        for position, t in reversed(list(enumerate(parsed.transcripts)))
    }
    kin = {one.session: one for one in parsed.kin}
    # Compressing leaves the interpreter's lock to the weighing, which takes about as long.
    with ThreadPoolExecutor(1) as beside:
        packed: list[PackedSession] = []
        for position, transcript in enumerate(parsed.transcripts):
            is_long = pack.is_folded(transcript)
            if is_long:
                give_back()
            facts = None if is_long else beside.submit(pack.pack, transcript)
            keys = keys_of(transcript)
            session, figures, compared = _weighed_session(upload, position, transcript, place, keys)
            if facts is None:
                give_back()  # packed before, its facts would only have been in the way
            data = facts.result() if facts else pack.pack(transcript)
            parent = ids.get(transcript.parent_id) if transcript.parent_id else None
            session.parent_id = parent if parent != session.id else None
            _set_kin(
                session, transcript, kin.get(transcript.id) or SessionLinks(transcript.id, transcript.parent_id or "")
            )
            session.version = hashlib.sha256(data).hexdigest()[:VERSION_CHARS]
            packed.append(PackedSession(session, data, keys, media_of(transcript, parsed), figures, compared))
        for position, transcript in enumerate(parsed.alternatives, len(parsed.transcripts)):
            facts = beside.submit(pack.pack, transcript)
            session, *_ = _weighed_session(upload, position, transcript, place)
            session.branch_of_id = ids[transcript.id]
            session.version = hashlib.sha256(facts.result()).hexdigest()[:VERSION_CHARS]
            packed.append(PackedSession(session, facts.result(), (), media_of(transcript, parsed)))
        return packed


def _set_kin(session: Session, transcript: Transcript, kin: SessionLinks) -> None:
    """What finds its family in other files; one whose parent is in its own file needs no home."""
    session.parent_call_id = plain(transcript.parent_call_id, 255) if session.parent_id else ""
    session.home_id = "" if session.parent_id else plain(kin.home, 255)
    session.prompt_hash = kin.prompt
    session.spawns = [[plain(s.call_id, 255), plain(s.agent, 255), s.prompt] for s in kin.spawns]


def _weighed_session(
    upload: Upload, position: int, transcript: Transcript, place: Place, keys: Sequence[int] = ()
) -> tuple[Session, SessionFigures | None, tuple[str, ...]]:
    weighed = calibrate.weigh(transcript)
    verdicts = verdicts_of(weighed)
    left = bool(transcript.branches) and not transcript.branches[0].selected
    wire = _wire_bytes(weighed)
    session = _session(weighed, wire, verdicts)
    if left:  # it keeps its id whatever other branches the file has
        session.id = _short_id(upload, f"{transcript.id}/branch/{transcript.branch}", place.key)
    else:
        session.id = session_id(upload, position, transcript.id, place.key)
    session.upload, session.position = upload, place.start + position
    session.private = upload.private
    session.member, session.text_sha256 = place.member, place.sha256
    name = (place.member or upload.filename).rpartition("/")[2]
    session.title = plain(transcript.title or _first_prompt(transcript) or name, 255)
    session.branch = plain(transcript.branch, 64)
    if left:
        return session, None, ()
    compared = mark_shared(session, upload, weighed, wire, keys)
    figures = None if column_runs.is_always_asked(session) else figures_of(session, weighed, verdicts)
    return session, figures, compared


def compared_anew(upload: Upload, packed: Sequence[PackedSession]) -> list[PackedSession]:
    """The same sessions, compared with what other processes have stored since they were packed."""
    return [one if one.session.branch_of_id else _compared_anew(upload, one) for one in packed]


def _compared_anew(upload: Upload, one: PackedSession) -> PackedSession:
    if compared_with(one.keys, upload) == one.compared:
        return one
    weighed = calibrate.weigh(pack.unpack(one.facts))
    unmark(one.session)
    compared = mark_shared(one.session, upload, weighed, _wire_bytes(weighed), one.keys)
    return one._replace(figures=one.figures and figures_of(one.session, weighed), compared=compared)


def _wire_bytes(weighed: Weighed) -> Sequence[int]:
    return message_sizes(weighed, get("estimators", "wire_bytes"))


def insert_sessions(upload: Upload, packed: Sequence[PackedSession]) -> None:
    """Replace the upload's sessions by these: ids that stay keep links and viewers.  Call inside a transaction."""
    write_sessions(packed, drop_sessions(upload, [p.session.id for p in packed]))


def drop_sessions(upload: Upload, kept: Iterable[str]) -> set[str]:
    """Delete the upload's sessions that are not among ``kept``; the ids that stay.  Call inside a transaction."""
    before = set(Session.objects.filter(upload=upload).values_list("pk", flat=True))
    stay = before & set(kept)
    Session.objects.filter(pk__in=before - stay).delete()
    return stay


def write_sessions(packed: Sequence[PackedSession], there: Iterable[str]) -> None:
    """Write these, in place of what is stored of those that are ``there``.  Call inside a transaction."""
    before = set(there)
    fields = [f.name for f in Session._meta.concrete_fields if f.name not in {"id", "created_at", "private"}]
    Session.objects.bulk_create(
        [p.session for p in packed], update_conflicts=True, unique_fields=["id"], update_fields=fields
    )
    SessionFacts.objects.bulk_create(
        [SessionFacts(session_id=p.session.id, packed=p.facts) for p in packed],
        update_conflicts=True,
        unique_fields=["session_id"],
        update_fields=["packed"],
    )
    keep([p.figures for p in packed if p.figures], [p.session.id for p in packed if not p.figures])
    if before:
        SessionKey.objects.filter(session__in=before).delete()
    SessionKey.objects.bulk_create(
        [SessionKey(session_id=p.session.id, key=key) for p in packed for key in p.keys], batch_size=400
    )
    # A branch that a rewind left, and one that grew while its file is watched, wait until somebody looks at them.
    main = [p.session for p in packed if not p.session.branch_of_id]
    column_runs.ask(one for one in main if one.id not in before or not one.upload.followed)


def media_of(transcript: Transcript, parsed: Parsed) -> dict[str, tuple[int, int] | None]:
    """The images and documents that its messages show, by hash, with their places."""
    leaves = (leaf for message in transcript.messages for leaf in message.leaves())
    shown = {leaf.media.sha256 for leaf in leaves if leaf.media and leaf.media.sha256}
    return {sha256: parsed.places.get(sha256) for sha256 in sorted(shown)}


def session_id(upload: Upload, position: int, native_id: str, member: str = "") -> str:
    """A short id, hard to guess (the upload's is random), the same at each reading; ``member``: if in an archive."""
    return _short_id(upload, f"{position}/{native_id}", member)


def _short_id(upload: Upload, name: str, member: str) -> str:
    inside = f"{member}/" if member else ""
    digest = hashlib.sha256(f"{upload.pk}/{inside}{name}".encode("utf-8", "replace")).digest()
    return "s_" + base64.b32encode(digest)[:12].decode().lower()


def opening_of(transcript: Transcript) -> str:
    """Role, kinds and preview of the first message, "" where there is none: ``Session.opening``."""
    if not transcript.messages:
        return ""
    first = transcript.messages[0]
    return f"{first.role} {','.join(kinds(first))} {plain(first.preview, PREVIEW_CHARS)}"


def _session(weighed: Weighed, wire: Sequence[int], verdicts: Sequence[Verdict]) -> Session:
    transcript = weighed.transcript
    overcounts = ((weighed.worst_overcount(message), message.index) for message in transcript.messages)
    worst, worst_message = max(
        ((factor, at) for factor, at in overcounts if factor is not None), key=itemgetter(0), default=(None, None)
    )
    peak = peak_of(weighed)
    usage = usage_sums(transcript.requests) or {}
    trouble = leading([verdict for verdict in verdicts if is_trouble(verdict)], len(transcript.requests))
    return Session(
        native_id=plain(transcript.id, 255),
        format=transcript.format,
        model=plain(transcript.model, 100),
        client=plain(transcript.client, 100),
        n_messages=len(transcript.messages),
        n_requests=len(transcript.requests),
        n_images=transcript.n_images,
        n_tool_calls=transcript.n_tool_calls,
        opening=opening_of(transcript),
        wire_bytes=sum(wire),
        pressure_bytes=sum(message_sizes(weighed, get("estimators", "pressure_bytes"))),
        tokens=bounded(weighed.total_tokens),
        tokens_label=str(weighed.total_label),
        usage_input=known(usage.get("input")),
        usage_cache_read=known(usage.get("cache_read")),
        usage_cache_write=known(usage.get("cache_write")),
        usage_output=known(usage.get("output")),
        worst_overcount=worst,
        worst_message=worst_message,
        n_compactions=len(transcript.compactions),
        headline=plain(headline(weighed, verdicts), 400),
        wrong_cause=CAUSES[trouble.cause] if trouble else "",
        peak_context=known(peak and peak.tokens),
        peak_label=str(peak.label) if peak else "",
        window=bounded(weighed.own_window),
        started_at=moment(transcript.started_at),
        ended_at=moment(transcript.ended_at),
        spark=_spark(weighed, worst_message),
        warnings=[plain(warning) for warning in weighed.warnings],
    )


def _spark(weighed: Weighed, worst_message: int | None) -> dict[str, Any]:
    """The library's small curve: see ``Session.spark``."""
    transcript = weighed.transcript
    points = weighed.recorded.context
    n_bins = min(SPARK_POINTS, len(points))
    edges = [len(points) * i // n_bins for i in range(n_bins + 1)] if n_bins else []
    n_requests, n_messages = max(1, len(transcript.requests)), max(1, len(transcript.messages))
    return {
        "points": [max(points[low:high]) for low, high in pairwise(edges)],
        "compactions": [round(min(1.0, c.request / n_requests), 4) for c in transcript.compactions],
        "worst": None if worst_message is None else round(worst_message / n_messages, 4),
    }


def plain(text: str, limit: int | None = None) -> str:
    """``text`` as a database keeps it: PostgreSQL has no place for NUL, and columns have a width."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:limit]


def bounded(count: int) -> int:
    """A recorded count within what an integer column holds: a broken file may claim any number."""
    return max(0, min(count, MAX_COUNT))


def known(count: int | None) -> int | None:
    """``bounded``, for counts that a recording may lack."""
    return None if count is None else bounded(count)


def _first_prompt(transcript: Transcript) -> str:
    """The first prompt typed by the user, as a title where the recording has none."""
    first = " ".join(next((m.preview for m in transcript.messages if m.typed and m.preview), "").split())
    return first if len(first) <= TITLE_CHARS else first[: TITLE_CHARS - 1].rstrip() + "…"
