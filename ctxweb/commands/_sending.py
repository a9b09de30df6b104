"""Files sent to another ctxweb server over its HTTP API, from a build or a machine that keeps nothing."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
import uuid
from typing import Any
from urllib.parse import urljoin, urlsplit

import click

from ctxweb.commands._files import Given, entry
from ctxweb.terminal import say
from sessions.adapters.calls import pointed_to
from sessions.engine.reading import jsonio

WAIT_SECONDS, PATIENCE_SECONDS = 0.5, 60.0
STATES = {"done": "new", "duplicate": "duplicate"}
"""How an upload ended, in the words of `ctxweb ingest`; anything else is a failure."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is for one server, and a file that is sent twice begins again as a GET."""

    def redirect_request(self, *_: Any) -> None:
        """None: the answer is an error."""


class Server:
    """A ctxweb server at ``url`` (its path included where it has one), asked with a personal token."""

    def __init__(self, url: str, token: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise click.UsageError(f"{url!r} is no address of a server. Write https://ctxweb.example.org/.")
        self._base, self._token = f"{url.rstrip('/')}/", token
        self._opener = urllib.request.build_opener(_Stay)

    def send(self, given: Given, *, who: str) -> dict[str, Any]:
        """Upload one file and wait until it is read; its entry in ``uploads[]``.  Raises ClickException."""
        edge = uuid.uuid4().hex
        name = given.name.replace("\\", "/").replace('"', "'").replace("\r", "").replace("\n", "")
        try:
            data = given.path.read_bytes()
        except OSError as error:
            return _entry(given, {"error": f"{error.strerror}: check that the file can be read"})
        head = f'--{edge}\r\nContent-Disposition: form-data; name="who"\r\n\r\n{who}\r\n'
        head += f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + f"\r\n--{edge}--\r\n".encode()
        found = self._ask("api/uploads", body, f"multipart/form-data; boundary={edge}")["uploads"][0]
        return _entry(given, self._read(found))

    def _read(self, found: dict[str, Any]) -> dict[str, Any]:
        """What the server says of a stored file once it is read, or as far as it says anything within a minute."""
        begun = time.monotonic()
        while found["status"] in ("queued", "reading") and time.monotonic() - begun < PATIENCE_SECONDS:
            time.sleep(WAIT_SECONDS)
            try:
                found = self._ask(f"api/uploads/{found['id']}")["uploads"][0]
            except click.ClickException as error:
                say(f"The file is stored. How far it is read is not known: {error.message}")
                break
        return found

    def _ask(self, path: str, body: bytes | None = None, kind: str = "") -> Any:
        headers = {"Content-Type": kind} if kind else {}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        url = urljoin(self._base, path)
        try:
            with self._opener.open(urllib.request.Request(url, body, headers), timeout=600) as answer:  # noqa: S310
                return jsonio.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                moved = 300 <= error.code < 400
                said = _moved(url, path, error) if moved else f"answered {error.code}: {_said(error)}"
            raise click.ClickException(f"{self._base} {said}") from error
        except (OSError, jsonio.JsonProblem, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise click.ClickException(f"{self._base} cannot be reached: {reason}. Check --to.") from error


def _moved(url: str, path: str, error: urllib.error.HTTPError) -> str:
    """Where a redirect points, and what to do about it."""
    place = pointed_to(url, error.headers.get("Location") or "")
    there = place.removesuffix(path) if place.endswith(path) else place
    if not there:
        return f"answered {error.code}: it sends files elsewhere, and does not say where. Check --to."
    return f"points to {there}. Nothing was sent there. If that is your server, pass --to {there}"


def _said(error: urllib.error.HTTPError) -> str:
    """What a problem document says, with the next step where a token is missing."""
    try:
        found = jsonio.loads(error.read(10_000))
        said = str(found.get("detail") or found.get("title") or error.reason)
    except (jsonio.JsonProblem, ValueError, AttributeError, OSError):
        said = str(error.reason)
    hint = " Pass --token, or set CTXWEB_TOKEN." if error.code == 401 else ""
    return f"{said}{hint}"


def _entry(given: Given, found: dict[str, Any]) -> dict[str, Any]:
    status = "failed" if found.get("error") else STATES.get(found.get("status", ""), "queued")
    if status == "new" and found.get("new_messages") is not None:
        status = "continued"
    names = ("sha256", "format", "sessions", "new_messages", "skipped", "error")
    return entry(given.shown, status, **{name: found[name] for name in names if name in found})
