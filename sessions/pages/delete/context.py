"""What deleting takes away, in sentences for people and as a document for programs."""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import counted
from sessions.models import Upload
from sessions.pages.ui.figures import listed, size
from sessions.services.deleting import Plan

SHOWN = 50
"""Sessions, and uploads, listed by name on the page."""


def what_goes(plan: Plan) -> list[str]:
    """One sentence for each kind of thing that goes."""
    n = len(plan.sessions)
    if plan.is_empty:
        return ["Nothing matches, so nothing is deleted."]
    extra = listed((
        counted(len(plan.subagents), "subagent") if plan.subagents else "",
        counted(plan.n_branches, "branch", "branches") if plan.n_branches else "",
    ))  # fmt: skip
    said = []
    if n:
        said.append(f"{counted(n, 'session')} with {counted(plan.n_messages, 'message')}.")
    if extra:
        said.append(f"This includes {extra}.")
    said.append(
        f"{counted(len(plan.uploads), 'upload')} and {counted(plan.n_blobs, 'stored file')}, "
        f"{' '.join(size(plan.n_bytes))} on disk, packed."
    )
    rest = listed((
        counted(plan.n_links, "replay link") if plan.n_links else "",
        counted(plan.n_saved, "saved view") if plan.n_saved else "",
        counted(len(plan.sweeps), "sweep") if plan.sweeps else "",
        counted(plan.n_answers, "summary or judgement", "summaries and judgements") if plan.n_answers else "",
    ))  # fmt: skip
    if rest:
        said.append(f"{rest} of these sessions.")
    if plan.n_media:
        said.append(
            f"{counted(plan.n_media, 'image or document', 'images and documents')} that no other session shows."
        )
    return said


def what_to_know(plan: Plan) -> list[str]:
    """What stays although one may think otherwise, what is cut off, and what is refused."""
    said = [
        f"The bytes of {part.upload.filename} stay: {counted(part.n_left, 'other session')} "
        f"{'needs' if part.n_left == 1 else 'need'} them. Delete the upload to remove them."
        for part in plan.partly
    ]
    if plan.n_unfinished:
        said.append(f"{counted(plan.n_unfinished, 'upload')} not read yet: reading stops.")
    if plan.n_watched:
        files = counted(plan.n_watched, "watched file")
        said.append(f"{files} will not be followed again. `ctxweb watch DIR --again` changes that.")
    return said + [f"{refusal.target} stays: {refusal.reason}" for refusal in plan.refused]


def title(plan: Plan) -> str:
    """What is deleted, in a few words: "Delete 3 sessions"."""
    if plan.sessions:
        return f"Delete {counted(len(plan.sessions), 'session')}"
    return f"Delete {counted(len(plan.uploads), 'upload')}" if plan.uploads else "Delete"


def done(plan: Plan) -> str:
    """What went, as the next page says it."""
    gone = (
        counted(len(plan.sessions), "session") if plan.sessions else "",
        counted(len(plan.uploads), "upload"),
    )
    return f"Deleted {listed(gone)}, {' '.join(size(plan.n_bytes))}."


def page(plan: Plan) -> dict[str, Any]:
    """What the confirming page shows; long lists are cut and counted."""
    rows, files = plan.sessions, plan.uploads
    return {
        "title": title(plan),
        "empty": plan.is_empty,
        "goes": what_goes(plan),
        "know": what_to_know(plan),
        "sessions": [(one, one in plan.subagents) for one in rows[:SHOWN]],
        "uploads": files[:SHOWN],
        "n_more": max(0, len(rows) - SHOWN) + max(0, len(files) - SHOWN),
        "back": plan.chosen[0].get_absolute_url() if len(plan.chosen) == 1 else "",
    }


def document(plan: Plan, *, deleted: bool) -> dict[str, Any]:
    """``ctxweb.delete/1``: ``bytes`` are of the stored files that go."""
    return {
        "schema": "ctxweb.delete/1",
        "deleted": deleted,
        "sessions": [
            {"id": s.pk, "title": str(s), "upload": str(s.upload_id), "subagent": s in plan.subagents}
            for s in plan.sessions
        ],
        "uploads": [{"id": str(u.pk), "file": u.filename, "sha256": u.sha256} for u in plan.uploads],
        "branches": plan.n_branches,
        "messages": plan.n_messages,
        "links": plan.n_links,
        "saved_views": plan.n_saved,
        "sweeps": [str(run) for run in plan.sweeps],
        "answers": plan.n_answers,
        "media": plan.n_media,
        "blobs": plan.n_blobs,
        "bytes": plan.n_bytes,
        "stays": [
            {"upload": str(p.upload.pk), "file": p.upload.filename, "sessions_left": p.n_left} for p in plan.partly
        ],
        "refused": [
            {"upload" if isinstance(one.target, Upload) else "session": str(one.target.pk), "reason": one.reason}
            for one in plan.refused
        ],
    }
