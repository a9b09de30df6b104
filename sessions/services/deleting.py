"""Deleting sessions and uploads: what would go is told first, exactly; then the rows go, then the bytes nobody names.

A session goes with the branches that a rewind left and with its subagents.  An upload goes once no session of it is
left; an archive that keeps some stays, and with it the bytes of those that went.  A watched file is not followed again.

Where accounts are required, each viewer deletes what is theirs and an admin everything: what they do not see is passed
over, what they see is refused by the name of its owner.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from sessions import selectors
from sessions.adapters import storage
from sessions.models import (
    UNFINISHED,
    AnswerUse,
    Job,
    LiveSource,
    Media,
    MediaUse,
    Member,
    ModelAnswer,
    ReplayLink,
    SavedView,
    Session,
    StoppedSource,
    SweepRun,
    Upload,
    viewer,
)
from sessions.services import blobs, search
from sessions.services.media import together

MAX_FAMILY_DEPTH = 50
"""Generations of subagents that are looked for; a chain that long is a broken family."""


@dataclass(frozen=True, slots=True)
class PartialUpload:
    """An upload that stays without ``n_gone`` of its sessions: ``n_left`` need it, so that all its bytes stay."""

    upload: Upload
    n_gone: int
    n_left: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A session, or an upload, that cannot be deleted, and why."""

    target: Session | Upload
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes.  ``sessions`` are counted without the ``n_branches`` that a rewind left; ``n_bytes`` are of blobs.

    ``chosen`` are the sessions named, ``subagents`` those that go along, ``partly`` the uploads that stay in part.
    ``n_unfinished`` uploads are not read yet.
    """

    chosen: tuple[Session, ...]
    subagents: tuple[Session, ...]
    n_branches: int
    uploads: tuple[Upload, ...]
    partly: tuple[PartialUpload, ...]
    refused: tuple[Refused, ...]
    sweeps: tuple[uuid.UUID, ...]
    blob_hashes: frozenset[str]
    n_messages: int = 0
    n_links: int = 0
    n_saved: int = 0
    n_answers: int = 0
    n_media: int = 0
    n_unfinished: int = 0
    n_watched: int = 0
    n_blobs: int = 0
    n_bytes: int = 0

    @property
    def sessions(self) -> tuple[Session, ...]:
        """All sessions that go, each once."""
        return (*self.chosen, *self.subagents)

    @property
    def is_empty(self) -> bool:
        return not self.sessions and not self.uploads


def stale(days: int) -> tuple[list[str], list[uuid.UUID]]:
    """The viewer's sessions, by last message else upload, and empty finished uploads, more than ``days`` days old."""
    before, who = timezone.now() - dt.timedelta(days=days), viewer()
    sessions = Session.objects.roots().annotate(last=Coalesce("ended_at", "upload__created_at")).filter(last__lt=before)
    uploads = Upload.objects.filter(created_at__lt=before, sessions__isnull=True).exclude(status__in=UNFINISHED)
    if not who.is_admin:
        sessions, uploads = sessions.filter(upload__owner=who.user_id), uploads.filter(owner=who.user_id)
    return list(sessions.order_by("last").values_list("pk", flat=True)), list(uploads.values_list("pk", flat=True))


def plan(*, sessions: Iterable[str] = (), uploads: Iterable[uuid.UUID] = ()) -> Plan:
    """What deleting these would take away; ids that there are not (any more) are passed over.  Nothing is changed."""
    visible = Upload.objects.seen_by(viewer()).filter(pk__in=list(uploads)).select_related("live", "owner")
    own_uploads = [upload for upload in visible if viewer().owns(upload.owner_id)]
    own_upload_ids = {upload.pk for upload in own_uploads}
    refused_uploads = [Refused(upload, only_for(upload)) for upload in visible if not viewer().owns(upload.owner_id)]
    chosen, refused = _split_by_permission(_latest_branches(sessions), own_upload_ids)
    chosen_ids = {session.pk for session in chosen}
    chosen += [s for s in _sessions(Q(upload__in=own_uploads, branch_of__isnull=True)) if s.pk not in chosen_ids]
    subagents, refused_subagents = _split_by_permission(_subagents(chosen), own_upload_ids, beside=chosen)
    gone = [session.pk for session in (*chosen, *subagents)]
    branches = list(Session.objects.filter(branch_of__in=gone).values_list("pk", flat=True))
    rows = [*gone, *branches]
    emptied, partly = _split_uploads(rows, own_upload_ids)
    every = (*own_uploads, *emptied)
    answers = ModelAnswer.objects.filter(pk__in=_exclusive_answer_keys(gone))
    shown = set(MediaUse.objects.filter(session__in=rows).values_list("sha256", flat=True))
    elsewhere = MediaUse.objects.filter(sha256__in=shown).exclude(session__in=rows).values_list("sha256", flat=True)
    media = shown - set(elsewhere)
    texts = set(Session.objects.filter(pk__in=rows).values_list("text_sha256", flat=True))
    hashes = media | texts | {upload.sha256 for upload in every}
    hashes |= {upload.live.previous_sha256 for upload in every if hasattr(upload, "live")}
    hashes |= set(Member.objects.filter(upload__in=every).values_list("sha256", flat=True))
    hashes |= set(answers.values_list("text_sha256", flat=True))
    hashes -= {""}
    unshared = _unshared_hashes(hashes, rows, every)
    sizes = [size for sha256 in unshared if (size := storage.size(sha256)) is not None]
    return Plan(
        tuple(chosen), tuple(subagents), len(branches), every, partly,
        (*refused_uploads, *refused, *refused_subagents),
        sweeps=tuple(run for run, o in SweepRun.objects.values_list("pk", "options") if {*rows} & {*o["sessions"]}),
        blob_hashes=frozenset(hashes),
        n_messages=Session.objects.filter(pk__in=gone).aggregate(n=Sum("n_messages", default=0))["n"],
        n_links=ReplayLink.objects.filter(session__in=rows).count(),
        n_saved=_saved_about(gone).count(),
        n_answers=answers.count(),
        n_media=len(media),
        n_unfinished=sum(upload.status in UNFINISHED for upload in every),
        n_watched=sum(hasattr(upload, "live") for upload in every),
        n_blobs=len(sizes),
        n_bytes=sum(sizes),
    )  # fmt: skip


def delete(*, sessions: Iterable[str] = (), uploads: Iterable[uuid.UUID] = ()) -> Plan:
    """Delete these and say what went; work under way on them is cut off, since its job is gone.

    The rows go in one transaction, the bytes in short ones then: what an end in between leaves, ``doctor`` finds.
    """
    with transaction.atomic():
        going = plan(sessions=sessions, uploads=uploads)
        keys = [session.pk for session in going.sessions]
        upload_ids = [upload.pk for upload in going.uploads]
        # In the order in which readers and watchers take them: whoever comes later finds its row gone.
        watched = list(LiveSource.objects.select_for_update().filter(upload__in=upload_ids))
        list(Job.objects.select_for_update().filter(upload__in=upload_ids))
        list(Session.objects.select_for_update().filter(Q(pk__in=keys) | Q(branch_of__in=keys)))
        for source in watched:
            StoppedSource.objects.update_or_create(key=source.key, defaults={"path": source.path})
        SweepRun.objects.filter(pk__in=going.sweeps).delete()
        _saved_about(keys).delete()
        ModelAnswer.objects.filter(pk__in=_exclusive_answer_keys(keys)).delete()
        gone = Session.objects.filter(Q(pk__in=keys) | Q(branch_of__in=keys) | Q(upload__in=upload_ids))
        shown_media = set(MediaUse.objects.filter(session__in=gone).values_list("sha256", flat=True))
        gone.delete()
        Upload.objects.filter(pk__in=upload_ids).delete()
        for part in going.partly:
            Upload.objects.filter(pk=part.upload.pk).update(n_deleted=F("n_deleted") + part.n_gone)
        hashes = going.blob_hashes
        unused = hashes - set(MediaUse.objects.filter(sha256__in=hashes).values_list("sha256", flat=True))
        Media.objects.filter(pk__in=unused).delete()
        freed = together(shown_media - unused)
        if keys:
            search.ask()
    blobs.remove_unnamed({*hashes, *freed})
    for key in keys:
        selectors.weighed_cache.forget(key)
    return going


def only_for(upload: Upload) -> str:
    """Who may change what came with an upload, as a sentence."""
    return f"Only {upload.owner} or an admin may do this." if upload.owner else "Only an admin may do this."


def _sessions(chosen: Q) -> list[Session]:
    return list(
        Session.objects.filter(chosen).select_related("upload__live", "upload__owner").order_by("upload_id", "position")
    )


def _latest_branches(ids: Iterable[str]) -> list[Session]:
    """The sessions of these ids, each on its latest branch; one that a rewind left stands for its session."""
    given = Session.objects.seen_by(viewer()).filter(pk__in=list(ids))
    return _sessions(Q(pk__in=[latest or pk for pk, latest in given.values_list("pk", "branch_of_id")]))


def _subagents(parents: Sequence[Session]) -> list[Session]:
    """The subagents of the sessions, theirs, and so on, without those that are named themselves."""
    seen_ids = {session.pk for session in parents}
    subagents: list[Session] = []
    level = set(seen_ids)
    for _ in range(MAX_FAMILY_DEPTH):
        children = [s for s in _sessions(Q(parent__in=level, branch_of__isnull=True)) if s.pk not in seen_ids]
        if not children:
            break
        subagents += children
        level = {session.pk for session in children}
        seen_ids |= level
    return subagents


def _split_by_permission(
    asked: list[Session], whole_upload_ids: set[uuid.UUID], beside: Sequence[Session] = ()
) -> tuple[list[Session], list[Refused]]:
    """Those that may go, with those ``beside`` them and the whole uploads that go already; and those that may not.

    The watcher would bring back one session of a file that it goes on following.
    """
    allowed, refused = [], []
    family = {session.pk for session in (*asked, *_subagents(asked), *beside)}
    for session in asked:
        upload = session.upload
        if not viewer().owns(upload.owner_id):
            refused.append(Refused(session, only_for(upload)))
            continue
        is_followed = upload.followed and hasattr(upload, "live") and upload.pk not in whole_upload_ids
        n_others = upload.sessions.latest_branches().exclude(pk__in=family).count() if is_followed else 0
        if n_others:
            followed = f"`ctxweb watch` follows its file, {upload.filename}, with {n_others} more."
            refused.append(Refused(session, f"{followed} Delete the whole upload."))
        else:
            allowed.append(session)
    return allowed, refused


def _split_uploads(gone: list[str], whole_upload_ids: set[uuid.UUID]) -> tuple[list[Upload], tuple[PartialUpload, ...]]:
    """The uploads that have no other session than those ``gone``, and those that have."""
    touched = Upload.objects.filter(sessions__in=gone).exclude(pk__in=whole_upload_ids).distinct()
    emptied, partly = [], []
    for upload in touched.select_related("live"):
        n_gone = upload.sessions.latest_branches().filter(pk__in=gone).count()
        n_left = upload.sessions.latest_branches().exclude(pk__in=gone).count()
        if n_left:
            partly.append(PartialUpload(upload, n_gone, n_left))
        else:
            emptied.append(upload)
    return emptied, tuple(partly)


def _saved_about(keys: Sequence[str]) -> QuerySet[SavedView]:
    """Saved views of the sessions, those that set another session beside one of them included."""
    about = Q(session__in=keys) | Q(session__branch_of__in=keys)
    others = SavedView.objects.exclude(about).values_list("pk", "state")
    other = [pk for pk, state in others if any(key in state for key in keys)]
    return SavedView.objects.filter(about | Q(pk__in=other))


def _exclusive_answer_keys(keys: Sequence[str]) -> list[str]:
    """The keys of what a model wrote for these sessions and for no other."""
    of_these = Q(session__in=keys) | Q(session__branch_of__in=keys)
    mine = AnswerUse.objects.filter(of_these).values_list("answer_id", flat=True).distinct()
    others = set(AnswerUse.objects.filter(answer__in=list(mine)).exclude(of_these).values_list("answer_id", flat=True))
    return [key for key in mine if key not in others]


def _unshared_hashes(hashes: set[str], rows: list[str], uploads: tuple[Upload, ...]) -> set[str]:
    """The blobs of ``hashes`` that nothing else names once the rows and uploads are gone."""
    upload_ids = [upload.pk for upload in uploads]
    mine = AnswerUse.objects.filter(session__in=rows).values_list("answer_id", flat=True)
    others: tuple[tuple[QuerySet[Model], str], ...] = (
        (Upload.objects.exclude(pk__in=upload_ids), "sha256"),
        (Session.objects.exclude(pk__in=rows), "text_sha256"),
        (LiveSource.objects.exclude(upload__in=upload_ids), "previous_sha256"),
        (Member.objects.exclude(upload__in=upload_ids), "sha256"),
        (MediaUse.objects.exclude(session__in=rows), "sha256"),
        (ModelAnswer.objects.exclude(pk__in=list(mine)), "text_sha256"),
    )
    named = (found.filter(**{f"{field}__in": hashes}).values_list(field, flat=True) for found, field in others)
    return hashes.difference(*named)
