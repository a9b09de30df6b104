"""Upload a transcript to a ctxweb server and print why it compacted; the standard library is enough."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any

URL, TOKEN = os.environ["CTXWEB_URL"].rstrip("/"), os.environ.get("CTXWEB_TOKEN", "")


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is for this server alone."""

    def redirect_request(self, *_: Any) -> None:
        """None: the answer is an HTTPError that says where it points."""


OPENER = urllib.request.build_opener(Stay)


def ask(path: str, body: bytes | None = None, kind: str = "") -> Any:
    """The document at a path of the server; raises HTTPError with the problem document as its body."""
    if not path.startswith("/"):
        raise SystemExit(f"{path!r} is no path of {URL}")
    headers = {"Content-Type": kind} if kind else {}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    with OPENER.open(urllib.request.Request(URL + path, body, headers)) as answer:
        return json.load(answer)


def upload(path: Path) -> list[str]:
    """Send one file, wait until it is read, and return the ids of its sessions."""
    edge = uuid.uuid4().hex
    head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{path.name}"\r\n\r\n'
    body = head.encode() + path.read_bytes() + f"\r\n--{edge}--\r\n".encode()
    entry = ask("/api/uploads", body, f"multipart/form-data; boundary={edge}")["uploads"][0]
    while entry["status"] in ("queued", "reading"):
        time.sleep(0.5)
        entry = ask(f"/api/uploads/{entry['id']}")["uploads"][0]
    if entry["error"]:
        raise SystemExit(entry["error"])
    return list(entry["sessions"])


def why(session: str) -> list[str]:
    """The headlines of a session; how to read them where the token may only upload."""
    try:
        return [one["headline"] for one in ask(f"/api/sessions/{session}/why")["sessions"]]
    except urllib.error.HTTPError as error:
        if error.code != 403:
            raise
        return [f"stored. {json.load(error)['detail']}"]


if __name__ == "__main__":
    try:
        for stored in upload(Path(sys.argv[1])):
            for headline in why(stored):
                print(f"{stored}: {headline}")
    except urllib.error.HTTPError as refusal:
        raise SystemExit(f"The server answered {refusal.code}: {refusal.read(1_000).decode()}") from None
    except urllib.error.URLError as failure:
        raise SystemExit(f"The server cannot be reached: {failure.reason}") from None
