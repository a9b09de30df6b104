"""Files in and out: upload, status, download, rejected parts, stored images, the demo."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Sequence
from typing import IO, BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sessions import selectors, tasks
from sessions.engine.base.errors import TextGone, UnreadableInput
from sessions.engine.demo.session import write_demo
from sessions.engine.reading.reading import read_transcripts, recognise
from sessions.engine.redact.escaping import csv_lines
from sessions.models import Media, Member, Session, Upload, viewer
from sessions.pages.ui.addresses import SHOWN_MEDIA, uuids
from sessions.pages.ui.uploads import UploadTable, as_sentence, status_url
from sessions.pages.ui.view import as_json, attached
from sessions.pages.uploads import context as imports
from sessions.selectors.uploads import seen_media, upload_list
from sessions.services.media import media_bytes, thumbnail_of
from sessions.services.uploads import Received, dismiss, receive

DEMO_FILENAME = "demo.jsonl"
MAX_STATUS_IDS = 500
PRIVATE = {"mine": True, "team": False}
PRIVATE_KEY = "uploads_private"
"""Where the browser's session keeps who sees its uploads."""
READ_WHOLE = 256 * 1024
"""Bytes of a pasted text that is read before it is stored, so that a wrong one can be mended where it stands."""
NO_THUMBNAIL = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90" width="160" height="90">'
    '<rect width="160" height="90" fill="#808080" fill-opacity=".12"/>'
    '<text x="80" y="50" text-anchor="middle" font-family="sans-serif" font-size="14" fill="#808080">no preview</text>'
    "</svg>"
)
"""Shown for a picture that is broken, too large or of another kind; its link still leads to the bytes."""


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    """GET: what was uploaded.  POST: store ``files`` and queue them; the table (htmx), or led to its page."""
    if request.method != "POST":
        state = imports.parse(request.GET)
        page = upload_list(start=state.start, dismissed=state.dismissed)
        response = render(request, "sessions/uploads/list.html", imports.list_context(state, page))
        response["Cache-Control"] = "no-store"
        return response
    files = request.FILES.getlist("files")
    if not files:
        return HttpResponse("No file in the request: send one or more as multipart field “files”.", status=400)
    if request.POST.get("pasted") and (wrong := _unreadable(files[0])):
        return HttpResponse(wrong, status=422, content_type="text/plain; charset=utf-8")
    private = chosen_private(request)
    return _received(
        request,
        [
            (receive(file=cast("IO[bytes]", f), filename=f.name or "", owner_id=viewer().user_id, private=private),
             f.name or "")
            for f in files
        ],
    )  # fmt: skip


def _unreadable(pasted: UploadedFile[bytes]) -> str:
    """Why a pasted text is no transcript, "" for one that is; a long one is judged by its beginning."""
    file = cast("BinaryIO", pasted.file)
    try:
        if (pasted.size or 0) <= READ_WHOLE:
            read_transcripts(file, "pasted.jsonl")
        else:
            recognise(file, "pasted.jsonl")
    except UnreadableInput as error:
        return f"{as_sentence(str(error)).rstrip('.')}. Nothing was stored."
    finally:
        file.seek(0)
    return ""


@require_POST
def dismissed(request: HttpRequest, upload_id: uuid.UUID | None = None) -> HttpResponse:
    """Take one finished upload of the viewer's off the list, or all; nothing is deleted.  Back to the list."""
    dismiss(upload_id=upload_id)
    if request.htmx and request.headers.get("HX-Target") != "uploads":  # type: ignore[attr-defined]
        return HttpResponse()  # a row above the library: htmx takes it away
    return redirect("sessions:upload")


def chosen_private(request: HttpRequest) -> bool:
    """Whether the sender keeps what is uploaded to themselves; what was said last time holds until it is said anew."""
    if request.POST.get("who") in PRIVATE:
        request.session[PRIVATE_KEY] = PRIVATE[request.POST["who"]]
    return bool(request.session.get(PRIVATE_KEY, False))


@require_POST
def demo(request: HttpRequest) -> HttpResponse:
    """Store the demo session by the way every upload takes."""
    with tempfile.TemporaryFile() as file:
        write_demo(file)
        file.seek(0)
        return _received(
            request, [(receive(file=file, filename=DEMO_FILENAME, owner_id=viewer().user_id), DEMO_FILENAME)]
        )


@require_GET
def uploads_status(request: HttpRequest) -> HttpResponse:
    """The table for ``ids`` and ``same`` (id:filename): for htmx a part, final with ``uploads-done``, else a page."""
    ids = _ids(request.GET.getlist("ids"))
    named = [value.partition(":") for value in request.GET.getlist("same")]
    same = [(found, name) for pk, _, name in named for found in _ids([pk])]
    found = {u.asked_as: u for u in selectors.upload_status([*ids, *(pk for pk, _ in same)])}
    uploads = [found[pk] for pk in ids if pk in found]
    return _table(request, uploads, [(found[pk], name) for pk, name in same if pk in found])


@require_GET
def upload_report(request: HttpRequest, upload_id: uuid.UUID) -> HttpResponse:
    """The import report: what was read, used, left out and skipped, and where the bytes went."""
    stored = _upload_or_404(upload_id)
    return render(request, "sessions/uploads/report.html", imports.report_context(stored, *_contents(stored)))


@require_GET
def upload_report_json(request: HttpRequest, upload_id: uuid.UUID) -> JsonResponse:
    """The import report as one document (``ctxweb.import/1``)."""
    stored = _upload_or_404(upload_id)
    return as_json(imports.report_document(stored, *_contents(stored)))


@require_GET
def upload_download(request: HttpRequest, upload_id: uuid.UUID) -> FileResponse:
    """The uploaded bytes, unchanged, only ever as a file to save."""
    stored = _upload_or_404(upload_id)
    file = selectors.open_whole_upload(stored)
    response = FileResponse(file, as_attachment=True, filename=stored.filename, content_type="application/octet-stream")
    response["X-Content-Type-Options"] = "nosniff"
    return response


@require_GET
def upload_rejected(request: HttpRequest, upload_id: uuid.UUID) -> HttpResponseBase:
    """The skipped parts of an upload as CSV: line, offset in bytes, reason (the first 200)."""
    stored = _upload_or_404(upload_id)
    rows = [("line", "offset", "reason"), *(tuple(part) for part in stored.skipped)]
    response = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    response["X-Content-Type-Options"] = "nosniff"
    return attached(response, f"rejected-{stored.pk}.csv")


@require_GET
def media(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """A stored image of a type that browsers show safely; immutable, because its name is its hash."""
    stored = _media_or_404(sha256)
    try:
        data = media_bytes(stored)
    except FileNotFoundError as error:
        raise TextGone(error, "this image") from error
    return _picture(HttpResponse(data, content_type=stored.media_type))


@require_GET
def thumbnail(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """The image at 10 KB or less, made now for a session that was stored before; a drawing where there can be none."""
    small = thumbnail_of(_media_or_404(sha256))
    if small:
        return _picture(HttpResponse(small, content_type="image/webp"))
    return _picture(HttpResponse(NO_THUMBNAIL, content_type="image/svg+xml"), seconds=3_600)


def _media_or_404(sha256: str) -> Media:
    try:
        stored = seen_media().get(pk=sha256)
    except Media.DoesNotExist:
        raise Http404("There is no such image.") from None
    if stored.media_type not in SHOWN_MEDIA:
        raise Http404("Only PNG, JPEG, GIF and WebP images are shown.")
    return stored


def _picture(response: HttpResponseBase, seconds: int = 31_536_000) -> HttpResponseBase:
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = f"private, max-age={seconds}{', immutable' if seconds > 86_400 else ''}"
    response["Content-Security-Policy"] = "default-src 'none'"
    return response


def _upload_or_404(upload_id: uuid.UUID) -> Upload:
    try:
        return selectors.get_upload(upload_id)
    except Upload.DoesNotExist:
        raise Http404("There is no such upload.") from None


def _contents(stored: Upload) -> tuple[tuple[Member, ...], tuple[Session, ...]]:
    return tuple(stored.members.all()), selectors.upload_sessions(stored)


def _received(request: HttpRequest, received: Sequence[tuple[Received, str]]) -> HttpResponse:
    fresh = [r.upload for r, _ in received if not r.duplicate]
    same = [(r.upload, name) for r, name in received if r.duplicate]
    tasks.wake(len(fresh))
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx sets it
        return redirect(status_url(fresh, same))
    found = {u.asked_as: u for u in selectors.upload_status([u.pk for u in (*fresh, *(u for u, _ in same))])}
    return _table(request, [found[u.pk] for u in fresh], [(found[u.pk], name) for u, name in same])


def _table(request: HttpRequest, uploads: Sequence[Upload], same: Sequence[tuple[Upload, str]]) -> HttpResponse:
    table = UploadTable(uploads, same)
    whole = not request.htmx or request.htmx.boosted  # type: ignore[attr-defined]
    response = render(
        request, "sessions/uploads/page.html" if whole else "sessions/uploads/_table.html", {"table": table}
    )
    response["Cache-Control"] = "no-store"
    if not table.poll_url and not whole:
        response["HX-Trigger"] = "uploads-done"
    return response


def _ids(values: Iterable[str]) -> list[uuid.UUID]:
    """``values`` may hold several each, separated by commas."""
    return uuids(",".join(values).split(",")[:MAX_STATUS_IDS])
