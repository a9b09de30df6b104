"""The documentation under /docs/: the built site, with a policy that names each page's own inline scripts by hash.

Where no site is built, the same pages from their Markdown.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from csp.constants import NONE, SELF
from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.static import serve

from sessions.pages.manual.text import contents, text_of

MOST_CHARS = 200
"""Of a name below /docs/; what is longer, no file system takes."""

INLINE = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)


@require_safe
def manual(request: HttpRequest, name: str = "") -> HttpResponseBase:
    """A file of the site, or of the text that it is built from."""
    site = Path(settings.DOCS)
    if ".." in name.split("/") or len(name) > MOST_CHARS or not name.isprintable():
        raise Http404("no such page")
    if not (site / "index.html").is_file():
        return _unbuilt(request, name)
    if name and not name.endswith("/") and (site / name).is_dir():
        return redirect("sessions:manual_page", f"{name}/")
    if name.endswith("/") or not name:
        name += "index.html"
    found = serve(request, name, document_root=str(site))
    if not name.endswith(".html") or found.status_code != HttpResponse.status_code:
        return found
    page = HttpResponse(b"".join(found), headers={key: found[key] for key in ("Content-Type", "Last-Modified")})
    # Closing the response would end the request, and with it the database's connection.
    if isinstance(found, FileResponse) and found.file_to_stream is not None:
        found.file_to_stream.close()
    page._csp_config = _policy(page.content)  # type: ignore[attr-defined]  # how django-csp is told of one response
    return page


def _unbuilt(request: HttpRequest, name: str) -> HttpResponseBase:
    """The document of that name, or a file beside the documents, as their images are."""
    if name and not name.endswith("/"):
        return serve(request, name, document_root=str(settings.MANUAL))
    found = text_of(name)
    if found is None:
        raise Http404("no such page")
    return render(request, "sessions/manual/page.html", {"text": found, "contents": contents() if not name else ()})


def _policy(page: bytes) -> dict[str, list[str]]:
    """What this page may load: our own files, its own inline scripts, and the styles that its theme writes."""
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in INLINE.findall(page))
    scripts = [f"'sha256-{digest}'" for digest in dict.fromkeys(hashes)]
    return {
        "default-src": [SELF], "script-src": [SELF, *scripts], "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:"], "object-src": [NONE], "base-uri": [NONE], "form-action": [SELF],
        "frame-ancestors": [NONE],
    }  # fmt: skip
