"""Reads for views, API and CLI: nothing here writes; what the viewer (``models.viewer``) may not see does not exist."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import BinaryIO

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from sessions.adapters import own_models, storage
from sessions.adapters.cache import Cache
from sessions.engine.base.errors import TextGone
from sessions.engine.base.session_cache import Remembered
from sessions.engine.models.model_info import own_changes
from sessions.engine.reading.texts import Texts
from sessions.engine.sweeps.fleet.values import NOT_RECORDED, RULES, Part, Tried
from sessions.engine.sweeps.regret import FIXED_SIZE
from sessions.engine.transcript.types import Content
from sessions.engine.weigh.calibration.weighed import Weighed
from sessions.models import Continuation, ReplayLink, SavedView, Session, SessionFacts, Upload, viewer
from sessions.models.session import SessionQuerySet
from sessions.selectors import columns, files, library
from sessions.selectors import search as texts_found
from sessions.selectors.library import CHOICES, FILTERS

PAGE = 100
"""Rows of a page of messages or sessions unless the view asks for fewer."""

CACHED_MESSAGES = 150_000
"""Messages of weighed sessions kept in one process; the newest session is kept whatever its length."""

FIGURE_FILTERS = {
    "false": "n_false", "refused": "n_refused", "missed": "n_missed", "thrashing": "n_thrash", "again": "tokens_again",
    "above": "dollars_above",
}  # fmt: skip
"""Filters by a figure that is not nothing."""

FIGURES = "figures__"
ALIKE = {
    "agent": "figures__agent", "client": "figures__client", "model": "model", "project": "figures__project",
    "week": "figures__week",
}  # fmt: skip
"""What sessions are grouped and filtered by, and where it is kept."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Rows ``start`` to ``start + limit`` of the ``total`` that match; each has ``n_children``.

    ``groups``: sessions that stand for all of their file, by id; then ``total`` counts rows, ``n_sessions`` sessions.
    Of a search: ``hits`` of the rows by id, and all that was ``found``.  ``projects``: the rows are theirs, and
    ``start`` and ``total`` count projects (``total`` up to one more than are shown).
    """

    sessions: tuple[Session, ...]
    total: int
    start: int
    limit: int
    n_sessions: int = 0
    groups: Mapping[str, files.FileGroup] = field(default_factory=dict)
    hits: Mapping[str, texts_found.SessionHits] = field(default_factory=dict)
    found: texts_found.Found | None = None
    projects: tuple[library.Project, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionVersion:
    """``version`` changes with the session's facts; ``watched`` while a file is followed for it."""

    version: str
    n_messages: int
    watched: bool


def session_list(
    *,
    search: str = "",
    only: str = "",
    format: str = "",
    model: str = "",
    alike: Mapping[str, str] | None = None,
    sort: str = "",
    file: str = "",
    start: int = 0,
    limit: int = PAGE,
    grouped: bool = False,
) -> SessionPage:
    """Root sessions for the library: three queries, in which nothing but the page is read from the sessions' rows.

    ``file`` leaves those of one file; ``grouped``: one row for a file with many, with their sums, by a query or more.
    ``only`` is of ``library.FILTERS`` or ``FIGURE_FILTERS``, ``sort`` of ``models.SORTS`` (``-`` in front reverses it),
    ``alike`` are values by the names of ``ALIKE``; unknown names mean no filter and the default order.
    """
    mine = Session.objects.seen_by(viewer())
    found = mine.latest_branches() if search else mine.roots()
    found = files.only(_filtered(found, only, format, model, alike), file)
    if search:
        every = texts_found.find(found, search, sort, open_text)
        having = _listed(every.ids[start : start + limit])
        hits = texts_found.shown(having, every, open_text) if limit <= texts_found.MOST_ROWS else {}
        return SessionPage(having, len(every.ids), start, limit, len(every.ids), hits=hits, found=every)
    if grouped and not file:
        ids, totals = files.rows(found, sort, start, limit)
        sessions = _listed(ids)
        groups = files.groups(found, [one for one in sessions if one.file_key in totals.by_file])
        return SessionPage(sessions, totals.n_rows, start, limit, totals.n_sessions, groups)
    total = found.count()
    return SessionPage(_listed(files.ids(found, sort, start, limit)), total, start, limit, total)


def project_page(
    *, only: str = "", format: str = "", model: str = "", alike: Mapping[str, str] | None = None, start: int = 0
) -> SessionPage | None:
    """Root sessions by project, values as in ``session_list``, with a page of those of none; None for one project."""
    found = _filtered(Session.objects.seen_by(viewer()).roots(), only, format, model, alike)
    some = library.projects(found, start)
    if not start and len(some) < 2:
        return None
    shown = some[: library.PROJECTS]
    ids = library.newest(found, [one.name for one in shown if one.name])
    files_of: Mapping[str, int] = {}
    nameless = found.filter(library.NAMELESS)
    if not all(one.name for one in shown):
        rows, totals = files.rows(nameless, "", 0, PAGE // 2)
        ids[""], files_of = tuple(rows), totals.by_file
    sessions = _listed([pk for one in shown for pk in ids.get(one.name, ())])
    groups = files.groups(nameless, [one for one in sessions if one.pk in ids.get("", ()) and one.file_key in files_of])
    return SessionPage(
        sessions, start + len(some), start, library.PROJECTS, found.count(), groups,
        projects=tuple(replace(one, ids=ids.get(one.name, ())) for one in shown),
    )  # fmt: skip


def _filtered(
    found: SessionQuerySet, only: str, format: str, model: str, alike: Mapping[str, str] | None
) -> SessionQuerySet:
    if only in FILTERS:
        found = found.filter(FILTERS[only])
    figures = {f"{FIGURE_FILTERS[only]}__gt": 0} if only in FIGURE_FILTERS else {}
    if format:
        found = found.filter(format=format)
    return _alike(found, {**(alike or {}), "model": model}, figures)


def _n_replies() -> Coalesce:
    """How many open replies there are to links of a session."""
    replies = ReplayLink.objects.open().filter(session=OuterRef("pk"), reply_to__isnull=False)
    return Coalesce(Subquery(replies.order_by().values("session").values(n=Count("pk"))), 0)


def _listed(ids: Sequence[str]) -> tuple[Session, ...]:
    """The sessions of these ids in this order, with their upload, ``n_children`` and ``n_replies``: one query."""
    children = Session.objects.filter(parent=OuterRef("pk")).order_by().values("parent").values(n=Count("pk"))
    found = Session.objects.filter(pk__in=ids).select_related("upload", "figures")
    by_id = {row.pk: row for row in found.annotate(n_children=Coalesce(Subquery(children), 0), n_replies=_n_replies())}
    return tuple(by_id[pk] for pk in ids if pk in by_id)


def _alike(
    found: SessionQuerySet, values: Mapping[str, str], figures: Mapping[str, object] | None = None
) -> SessionQuerySet:
    """Those that have these values in common; "" asks for none, NOT_RECORDED for what is not recorded."""
    wanted: dict[str, object] = {
        ALIKE[name]: "" if value == NOT_RECORDED else value for name, value in values.items() if value
    }
    having = {name.removeprefix(FIGURES): wanted.pop(name) for name in [*wanted] if name.startswith(FIGURES)}
    having |= figures or {}
    return (found.with_figures(**having) if having else found).filter(**wanted)


def fleet_parts(alike: Mapping[str, str]) -> Iterator[Part]:
    """What every root session adds that has the values of ``alike``, one after the other: one query."""
    names = [f.name for f in fields(Part)]
    paths = ["pk" if name == "id" else ALIKE.get(name, f"figures__{name}") for name in names]
    roots = _alike(Session.objects.seen_by(viewer()).roots(), alike)
    known = roots.filter(figures__rules=RULES).order_by("pk")  # sums and lists come out the same each time
    for row in known.values_list(*paths).iterator():
        part = dict(zip(names, row, strict=True))
        yield Part(**part | {"tried": tuple(Tried(*one) for one in part["tried"])})


def n_without_figures() -> int:
    """Root sessions whose figures are not worked out yet: two queries."""
    every = Session.objects.seen_by(viewer()).roots()
    return every.count() - every.filter(figures__rules=RULES).count()


def get_session(session_id: str) -> Session:
    """The session with its upload, relatives that may be seen, watched file, ``project`` and ``n_replies``, one query.

    Raises Session.DoesNotExist, also where the viewer may not see it; forgets what was cached of older facts.
    """
    if "\0" in session_id:
        raise Session.DoesNotExist  # PostgreSQL takes no such text, not even to look for it
    who = viewer()
    found = Session.objects.seen_by(who).select_related("upload__live", "parent__upload", "shares_with__upload")
    session = found.annotate(n_replies=_n_replies(), project=F("figures__project")).get(pk=session_id)
    for name in ("parent", "shares_with"):
        relative = getattr(session, name)
        if relative is not None and relative.private and not who.owns(relative.upload.owner_id):
            setattr(session, name, None)  # in memory alone: whoever writes a session reads it by itself
    notice(session)
    return session


def notice(session: Session) -> None:
    """Forget what this process cached of the session before its facts last changed (its file may be watched)."""
    cached = weighed_cache.get(session.pk)
    if cached is not None and cached[0] != session.version:
        weighed_cache.forget(session.pk)


def session_version(session_id: str) -> SessionVersion | None:
    """What whoever waits for a change compares, one small query; None without the session."""
    rows = Session.objects.seen_by(viewer()).filter(pk=session_id)
    found = rows.values_list("version", "n_messages", "upload__live").first()
    return SessionVersion(found[0], found[1], found[2] is not None) if found else None


def child_sessions(session: Session) -> tuple[Session, ...]:
    """The sub-agent sessions of ``session`` in file order."""
    return children_of([session]).get(session.pk, ())


def children_of(parents: Sequence[Session]) -> dict[str, tuple[Session, ...]]:
    """The same of several by the parent, in one query."""
    found: dict[str, list[Session]] = {}
    for child in Session.objects.seen_by(viewer()).filter(parent__in=parents).order_by("position"):
        found.setdefault(str(child.parent_id), []).append(child)
    return {parent: tuple(children) for parent, children in found.items()}


def branch_sessions(session: Session) -> dict[str, Session]:
    """The branches of ``session`` by their leaf, itself included; empty where nothing was rewound."""
    if not session.branch:
        return {}
    home = session.branch_of_id or session.pk
    found = Session.objects.seen_by(viewer()).filter(Q(pk=home) | Q(branch_of_id=home)).only("id", "branch")
    return {one.branch: one for one in found}


def compacted_sessions(limit: int) -> tuple[Session, ...]:
    """The newest sessions with recorded compactions, branches once: one query."""
    found = Session.objects.seen_by(viewer()).latest_branches().filter(FILTERS["compacted"])
    found = found.select_related("upload").order_by("-created_at", "pk")
    return tuple(found[:limit])


def n_compacted() -> int:
    return Session.objects.seen_by(viewer()).filter(CHOICES["compacted"]).count()


weighed_cache: Cache[str, tuple[str, Weighed]] = Cache(
    lambda kept: sum(len(weighed.transcript.messages) for _, weighed in kept) > CACHED_MESSAGES,
    on_evict=lambda kept: kept[1].cache.clear(),  # a replay leads back to its session: neither would go by itself
)
"""Weighed sessions by id, each with the version of the facts it was made from; what else is held of it goes with it."""
ANEW: Remembered[bool] = Remembered("weighed anew")
"""That this process weighed the session itself, because what was kept of it no longer held; ``runs`` keeps it."""
_made_under = [0]
"""The user's model table that they were made under, by its number."""


def load_weighed(session_id: str) -> Weighed:
    """The session with every message weighed, from this process's cache or one query, by the models as they stand.

    ``get_session`` sees to it that the cache is not behind.  Raises UnreadablePack, also where nothing is stored of it,
    and Session.DoesNotExist where it was deleted meanwhile.
    """
    own_models.refresh()
    if _made_under[0] != own_changes():
        weighed_cache.clear()
        _made_under[0] = own_changes()
    return weighed_cache.get_or_make(session_id, lambda: _weigh(session_id))[1]


def version_of(session_id: str) -> str:
    """The version of the facts that the session was loaded from, "" where this process has not loaded it."""
    cached = weighed_cache.get(session_id)
    return cached[0] if cached else ""


def _weigh(session_id: str) -> tuple[str, Weighed]:
    from sessions.engine.packing import pack
    from sessions.engine.weigh.calibration import calibrate, kept

    facts = SessionFacts.objects.select_related("session").only("packed", "session__version", "session__n_messages")
    row = facts.filter(pk=session_id).first()
    if row is None:
        if not Session.objects.filter(pk=session_id).exists():
            raise Session.DoesNotExist
        raise pack.UnreadablePack("it is missing")
    version, transcript = row.session.version, pack.unpack(bytes(row.packed))
    if row.session.n_messages < columns.LEAST_MESSAGES:
        return version, calibrate.weigh(transcript)
    sections = columns.sections(session_id, "weighed", version)
    if sections is not None:
        return version, kept.weighed_of(transcript, sections)
    weighed = calibrate.weigh(transcript)
    weighed.cache.put(ANEW, True)
    return version, weighed


def message_contents(session: Session, index: int) -> tuple[Content, ...]:
    """The blocks of one message with their text, read again from the upload; raises IndexError, UnreadableInput."""
    from sessions.engine.reading.reading import read_contents

    message = load_weighed(session.pk).transcript.messages[index]
    with open_text(session) as file:
        return read_contents(file, session.format, message)


def load_texts(session: Session) -> Texts:
    """The texts of a session, read from its upload when asked for."""
    return Texts(lambda: open_text(session), session.format)


def texts_read_by(summarizer: str, session_id: str) -> AbstractContextManager[Texts | None]:
    """A session's texts while it is replayed, where the summarizer reads any."""
    if summarizer.partition(":")[0] in FIXED_SIZE:
        return nullcontext()
    return load_texts(Session.objects.select_related("upload").get(pk=session_id))


def open_upload(upload: Upload) -> BinaryIO:
    """The upload's bytes, those of a watched file as they are by now; raises FileNotFoundError."""
    try:
        return storage.open_blob(upload.sha256)
    except FileNotFoundError:
        upload.refresh_from_db(fields=["sha256"])
        return storage.open_blob(upload.sha256)


def open_text(session: Session) -> BinaryIO:
    """The bytes that a session's texts are read from: its file in an archive, else its upload.  Raises TextGone."""
    try:
        return storage.open_blob(session.text_sha256) if session.text_sha256 else open_upload(session.upload)
    except OSError as error:
        raise TextGone(error, session.filename) from error


def open_whole_text(session: Session) -> BinaryIO:
    """The same, read to its end first, for an answer that cannot be taken back once it has begun.  Raises TextGone."""
    return _whole(open_text(session), session.text_sha256 or session.upload.sha256, session.filename)


def open_whole_upload(upload: Upload) -> BinaryIO:
    """The upload's bytes, read to their end first.  Raises TextGone."""
    try:
        file = open_upload(upload)
    except OSError as error:
        raise TextGone(error, upload.filename) from error
    return _whole(file, upload.sha256, upload.filename)


def _whole(file: BinaryIO, sha256: str, name: str) -> BinaryIO:
    try:
        return storage.checked(file, sha256)
    except OSError as error:
        file.close()
        raise TextGone(error, name) from error


def upload_status(ids: Iterable[uuid.UUID]) -> tuple[Upload, ...]:
    """The uploads in the order asked for, unknown ids left out, a continuing file's with ``came_as``: three queries."""
    wanted = list(dict.fromkeys(ids))
    came_as = Continuation.objects.in_bulk(wanted)
    led = {pk: came_as[pk].upload_id if pk in came_as else pk for pk in wanted}
    named = Upload.objects.seen_by(viewer()).filter(pk__in=set(led.values())).select_related("job")
    found = {upload.pk: upload for upload in named.prefetch_related("sessions")}
    shown = [(pk, copy(found[led[pk]])) for pk in wanted if led[pk] in found]
    for pk, upload in shown:
        upload.came_as = came_as.get(pk)
    return tuple(upload for _, upload in shown)


def get_upload(upload_id: uuid.UUID) -> Upload:
    """The upload; raises Upload.DoesNotExist, also for one that the viewer may not see."""
    return Upload.objects.seen_by(viewer()).called(upload_id)


def upload_sessions(upload: Upload) -> tuple[Session, ...]:
    """The sessions of an upload in file order, their parents loaded: one query."""
    return tuple(upload.sessions.select_related("parent").order_by("position"))


def saved_views(owner_id: int | None) -> tuple[SavedView, ...]:
    """The newest hundred saved views of an account (None: of everybody), their sessions loaded: one query."""
    found = SavedView.objects.seen_by(owner_id)
    if not viewer().is_admin:
        found = found.filter(session__in=Session.objects.seen_by(viewer()))
    return tuple(found.select_related("session")[:PAGE])


def session_links(session: Session) -> tuple[ReplayLink, ...]:
    """The session's links, newest first, revoked ones included."""
    return tuple(session.links.select_related("reply_to").defer("results", "reply_to__results"))


def links_seen(session: Session | None = None) -> tuple[ReplayLink, ...]:
    """The newest hundred links of one session, or of all that the viewer sees, revoked ones included."""
    found = ReplayLink.objects.filter(session__in=Session.objects.seen_by(viewer()))
    if session is not None:
        found = found.filter(session=session)
    return tuple(
        found.select_related("maker", "reply_to", "session__upload").defer("results", "reply_to__results")[:PAGE]
    )
