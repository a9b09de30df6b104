"""The list of uploads; the import report of one: its lines, its bytes by fate, its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from sessions.engine.reading import byte_breakdown as engine_fates
from sessions.engine.transcript.types import Fate
from sessions.models import Member, MemberStatus, Session, Upload
from sessions.pages.ui import figures
from sessions.pages.ui.addresses import whole
from sessions.pages.ui.uploads import UploadTable, as_sentence, fates_of, upload_format
from sessions.selectors.uploads import UploadPage

SHOWN = 500
"""Files, sessions and skipped parts listed on the page; the JSON document has all that are stored."""

BADGES = {MemberStatus.READ: "badge-ok", MemberStatus.FAILED: "badge-danger"}
WORDS = {
    MemberStatus.WAITS: "waits", MemberStatus.READ: "read", MemberStatus.OTHER: "not a transcript",
    MemberStatus.FAILED: "failed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListState:
    """Which uploads are listed: from which one on, and whether those that were dismissed are, too."""

    start: int = 0
    dismissed: bool = False

    def query(self) -> str:
        pairs = [("start", self.start), ("dismissed", int(self.dismissed))]
        said = urlencode([pair for pair in pairs if pair[1]])
        return f"?{said}" if said else ""


def parse(query: Mapping[str, str]) -> ListState:
    """The state that a query string asks for; what makes no sense is left out."""
    return ListState(whole(query.get("start"), 6) or 0, query.get("dismissed") == "1")


def list_context(state: ListState, page: UploadPage) -> dict[str, Any]:
    """The list of uploads, where it polls while one is being read, and the ways to the others."""
    table, end = UploadTable(page.uploads), page.start + len(page.uploads)
    return {
        "table": table,
        "listing": True,
        "page": page,
        "state": state,
        "poll_url": f"{reverse('sessions:upload')}{state.query()}" if table.poll_url else "",
        "older": replace(state, start=end).query() if end < page.n_listed and page.uploads else "",
        "newer": f"{reverse('sessions:upload')}{replace(state, start=0).query()}" if state.start else "",
        "n_older": page.n_listed - end,
        "toggle": replace(state, start=0, dismissed=not state.dismissed).query(),
    }


def lines_of(upload: Upload, fates: Sequence[Fate]) -> dict[str, int]:
    """Whole lines by what became of them; a skipped one was read, ``opaque`` may lie in lines that are used."""
    whole_lines = [fate for fate in fates if not fate.is_part]
    return {
        "read": sum(fate.n_lines for fate in whole_lines),
        "used": sum(fate.n_lines for fate in whole_lines if fate.is_context),
        "not_context": sum(f.n_lines for f in whole_lines if not f.is_context and f.name != engine_fates.SKIPPED),
        "opaque": sum(fate.n_lines for fate in fates if fate.is_opaque),
        "skipped": upload.n_skipped,
    }


def report_context(upload: Upload, members: Sequence[Member], sessions: Sequence[Session]) -> dict[str, Any]:
    """What the page shows; a list that is cut has its whole length beside it."""
    fates = fates_of(upload)
    n_unsent, n_all = engine_fates.unsent(fates)
    return {
        "upload": upload,
        "format": upload_format(upload),
        "why_failed": as_sentence(upload.error),
        "sentence": engine_fates.sentence(fates),
        "lines": lines_of(upload, fates),
        "n_unsent": n_unsent,
        "n_all": n_all,
        "unsent_share": figures.percent(n_unsent, n_all),
        "unpacked": n_all if members and n_all != upload.n_bytes else None,
        "fates": [(f, engine_fates.share(f.n_bytes, n_all), 100 * f.n_bytes / n_all) for f in fates if n_all],
        "members": [_member_row(member) for member in members[:SHOWN]],
        "n_members": len(members),
        "n_read": sum(member.status == MemberStatus.READ for member in members),
        "sessions": sessions[:SHOWN],
        "n_sessions": len(sessions),
    }


def report_document(upload: Upload, members: Sequence[Member], sessions: Sequence[Session]) -> dict[str, Any]:
    """``ctxweb.import/1`` of an upload."""
    fates = fates_of(upload)
    n_unsent, n_all = engine_fates.unsent(fates)
    return {
        "schema": "ctxweb.import/1",
        "id": str(upload.pk),
        "file": upload.filename,
        "sha256": upload.sha256,
        "n_bytes": upload.n_bytes,
        "status": upload.status,
        "format": upload.format or None,
        "reason": upload.reason,
        "error": upload.error or None,
        "sentence": engine_fates.sentence(fates),
        "lines": lines_of(upload, fates),
        "bytes": {"accounted": n_all, "never_sent": n_unsent},
        "fates": [asdict(fate) for fate in fates],
        "members": [_member_document(member) for member in members],
        "sessions": [
            {"id": s.pk, "native_id": s.native_id, "parent_id": s.parent_id, "parent_call_id": s.parent_call_id or None,
             "title": s.title, "format": s.format, "member": s.member or None, "n_messages": s.n_messages}
            for s in sessions
        ],
        "n_skipped": upload.n_skipped,
        "skipped": [{"line": line, "offset": offset, "reason": reason} for line, offset, reason in upload.skipped],
        "warnings": upload.warnings,
    }  # fmt: skip


def _member_row(member: Member) -> tuple[Member, str, str, str]:
    """A file of an archive, what it turned out to be, the badge of that, and why it is no transcript."""
    status = MemberStatus(member.status)
    cut = status is MemberStatus.READ and member.error
    badge = "badge-warn" if cut or member.n_skipped else BADGES.get(status, "")
    return member, WORDS[status], badge, member.error.removeprefix(f"{WORDS[MemberStatus.OTHER]}: ")


def _member_document(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "n_bytes": member.n_bytes,
        "status": member.status,
        "format": member.format or None,
        "sessions": member.n_sessions,
        "skipped": member.n_skipped,
        "error": member.error or None,
    }
