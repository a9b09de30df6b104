"""What the upload table says about each file: a badge, a size or a progress, one sentence, one action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from sessions.engine.reading import byte_breakdown as engine_fates
from sessions.engine.transcript.types import Fate
from sessions.models import Continuation, Session, State, Upload
from sessions.models.upload import MIXED
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import Link
from sessions.pages.ui.labelled import format_label

PHASES = {
    "unpacking": "unpacking it",
    "reading": "counting tokens while it is read",
    "counting": "counting the last tokens",
    "packing": "weighing and packing its sessions",
    "writing": "writing its sessions",
}
"""What a worker is at, by ``Job.phase``."""


@dataclass(frozen=True, slots=True)
class UploadRow:
    """One row: ``percent`` is 0 to 100 while it is read, ``dismiss`` where it is told to leave, "" if it may not."""

    state: str
    badge: str
    filename: str
    size: str
    percent: int | None
    format: str
    sentence: str
    actions: tuple[Link, ...] = ()
    dismiss: str = ""


class UploadTable:
    """Rows for uploads (``job`` and ``sessions`` loaded) and for files that were here before (upload, new name).

    It polls for its next state, unless every row is final; ``status`` counts the rows.
    """

    def __init__(self, uploads: Sequence[Upload], same: Sequence[tuple[Upload, str]] = ()) -> None:
        self.rows = [_row(upload) for upload in uploads] + [_same_row(upload, name) for upload, name in same]
        shown = [*uploads, *(upload for upload, _ in same)]
        self.n_done = sum(upload.finished for upload in shown)
        n_left, n_failed = len(shown) - self.n_done, sum(upload.status == State.FAILED for upload in shown)
        self.poll_url = status_url(uploads, same) if n_left else ""
        said = [f"{figures.count(n)} {words}" for n, words in ((n_left, "being read"), (n_failed, "failed")) if n]
        self.status = f"{figures.plural(len(shown), 'file')}{': ' if said else ', all read'}{', '.join(said)}"


def status_url(uploads: Sequence[Upload], same: Sequence[tuple[Upload, str]] = ()) -> str:
    """The URL that shows these rows again."""
    query = {"ids": [str(u.asked_as) for u in uploads], "same": [f"{upload.asked_as}:{name}" for upload, name in same]}
    return reverse("sessions:uploads_status", query={key: value for key, value in query.items() if value})


def _row(upload: Upload) -> UploadRow:
    if upload.status == State.FAILED:
        row = _shown(upload, "failed", "badge-danger", as_sentence(upload.error), (_report(upload), _download(upload)))
        return row if upload.format else replace(row, format="")
    if not upload.finished:
        return _reading_row(upload)
    if upload.came_as:
        return _continued_row(upload, upload.came_as)
    state, badge = ("new", "badge-ok")
    if upload.n_skipped:
        state, badge = f"new, {figures.count(upload.n_skipped)} skipped", "badge-warn"
    rejected = Link("Rejected parts", reverse("sessions:upload_rejected", args=[upload.pk]))
    actions = (*_open(upload), _report(upload), *((rejected,) if upload.n_skipped else ()))
    return _shown(upload, state, badge, _found(upload), actions)


def as_sentence(error: str) -> str:
    """Why nothing could be read; that it is so from the first byte on goes without saying."""
    words = error.removeprefix("line 1, byte 0: ").partition(". This shape is read")[0]
    return f"{words[:1].upper()}{words[1:]}"


def _reading_row(upload: Upload) -> UploadRow:
    job = upload.job
    percent = min(100, round(100 * job.done_bytes / job.total_bytes)) if job.total_bytes else 0
    if upload.status == State.QUEUED:
        before = f"; last time {job.ending}" if job.ending else "; its worker was stopped" if job.losses else ""
        return UploadRow("queued", "", upload.filename, _size(upload), 0, "", f"waiting for the worker{before}")
    done, unit = figures.size(job.done_bytes)
    progress = f"{done} {unit} of {_size(upload)}"
    sentence = f"bytes are stored; {PHASES.get(job.phase, PHASES['reading'])}"
    return UploadRow("reading", "badge-accent", upload.filename, progress, percent, "", sentence)


def _continued_row(upload: Upload, came_as: Continuation) -> UploadRow:
    """A file that went on where one that was here before ended, or that is the beginning of one."""
    actions = (*_open(upload), _report(upload))
    if came_as.is_beginning:
        sentence = f"the beginning of {upload.filename}, which is here; nothing stored twice"
        return _shown(upload, "same file", "", sentence, actions)
    brought = f"{figures.plural(came_as.n_new, 'new message')}" if came_as.n_new else "no new message"
    return _shown(upload, "continued", "badge-ok", f"the same file as before, {brought}. {_found(upload)}", actions)


def _same_row(upload: Upload, filename: str) -> UploadRow:
    sentence = f"same bytes as {upload.filename}, nothing stored twice"
    row = _shown(upload, "same file", "", sentence, (*(_open(upload) or (_download(upload),)), _report(upload)))
    return replace(row, filename=filename, dismiss="")


def _shown(upload: Upload, state: str, badge: str, sentence: str, actions: tuple[Link, ...]) -> UploadRow:
    dismiss = "" if upload.dismissed or upload.followed else reverse("sessions:upload_dismiss", args=[upload.pk])
    words = (upload.filename, _size(upload), None, upload_format(upload), sentence)
    return UploadRow(state, badge, *words, actions, dismiss)


def _found(upload: Upload) -> str:
    """What was found: "1 session, 412 messages, 2 compactions. Recognised: …; line 12 …"."""
    sessions = [s for s in upload.sessions.all() if s.branch_of_id is None]
    messages, compactions = sum(s.n_messages for s in sessions), sum(s.n_compactions for s in sessions)
    parts = [figures.plural(len(sessions), "session"), figures.plural(messages, "message")]
    if compactions:
        parts.append(figures.plural(compactions, "compaction"))
    sentences = [", ".join(parts), *([f"Recognised: {upload.reason}"] if upload.reason else [])]
    if upload.skipped:
        line, offset, reason = upload.skipped[0]
        sentences.append(f"line {line:,}, byte {offset:,}: {reason}")
    return ". ".join(sentences)


def _open(upload: Upload) -> tuple[Link, ...]:
    """The root session, or the first of several; the page opens one that is alone by itself."""
    roots: list[Session] = [s for s in upload.sessions.all() if s.parent_id is None and s.branch_of_id is None]
    first = min(roots, key=lambda s: s.position, default=None)
    return (Link("Open" if len(roots) == 1 else "Open first", first.get_absolute_url()),) if first else ()


def _download(upload: Upload) -> Link:
    return Link("Download", upload.get_absolute_url())


def _report(upload: Upload) -> Link:
    return Link("Report", reverse("sessions:upload_report", args=[upload.pk]))


def _size(upload: Upload) -> str:
    return " ".join(figures.size(upload.n_bytes))


def upload_format(upload: Upload) -> str:
    """The format's label as the registry knows it, "none" where no format was recognised."""
    if not upload.format:
        return "none"
    if upload.format == MIXED:
        return "several formats"
    return format_label(upload.format)


def fates_of(upload: Upload) -> tuple[Fate, ...]:
    """The stored fates, the largest first."""
    return tuple(Fate(*row) for row in upload.fates)


def unsent_share(upload: Upload) -> str:
    """The share of an upload's bytes that never reaches a model, "" where it was not accounted for."""
    n_unsent, n_all = engine_fates.unsent(fates_of(upload))
    return engine_fates.share(n_unsent, n_all) if n_all else ""
